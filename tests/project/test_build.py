"""A build without a compiler, without Python's headers, without the OpenMP that it requires, or for
an unsupported platform ends before it compiles, and its last line says why. A build links OpenMP
from the folder in LDFLAGS."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython", reason="needs what a build needs: pip install cython setuptools")

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("cc")
NEEDS_CC = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="on Windows, CC does not choose the compiler"
)


def failing_build(folder, **variables):
    done = subprocess.run(
        [sys.executable, "setup.py", "build", "--build-base", folder],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    return done


def last_line_of_build(folder, **variables):
    done = failing_build(folder, **variables)
    assert "Cythonizing" not in done.stdout + done.stderr
    return done.stderr.splitlines()[-1]


def test_a_build_without_a_compiler_says_so(tmp_path):
    line = last_line_of_build(tmp_path, CC="/nonexistent/cc")
    assert line.startswith("error: fastsel needs a C compiler, and '/nonexistent/cc'")


@NEEDS_CC
@pytest.mark.parametrize(
    ("macro", "value"),
    [("__SIZEOF_POINTER__", "4"), ("__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__")],
)
def test_a_build_for_an_unsupported_platform_says_so(tmp_path, macro, value):
    line = last_line_of_build(tmp_path, CC=COMPILER, CFLAGS=f"-U{macro} -D{macro}={value}")
    assert line.startswith("error: fastsel is for 64-bit, little-endian platforms, and")


def compiler_with(folder, script):
    """A compiler that first runs the shell script, which may change its arguments."""
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\n{script}\nexec {COMPILER} "$@"\n')
    compiler.chmod(0o700)
    return str(compiler)


@NEEDS_CC
def test_a_build_without_the_headers_of_python_says_so(tmp_path):
    compiler = compiler_with(
        tmp_path,
        'for word; do shift; case $word in -I*) ;; *) set -- "$@" "$word" ;; esac; done',
    )
    line = last_line_of_build(tmp_path, CC=compiler)
    assert line.startswith("error: fastsel needs the C headers of Python")


@NEEDS_CC
def test_a_build_without_the_required_openmp_says_so(tmp_path):
    compiler = compiler_with(tmp_path, 'for word; do [ "$word" != -fopenmp ] || exit 1; done')
    line = last_line_of_build(
        tmp_path, CC=compiler, FASTSEL_REQUIRE_OPENMP="1", FASTSEL_NO_OPENMP="0"
    )
    assert line.startswith(
        f"error: FASTSEL_REQUIRE_OPENMP asks for OpenMP, which {compiler!r} does not have"
    )


@NEEDS_CC
def test_openmp_is_linked_from_the_folder_in_ldflags(tmp_path):
    linked = tmp_path / "linked"
    compiler = compiler_with(  # links OpenMP only from /opt/openmp; then, every later call fails
        tmp_path,
        f"""[ ! -e {linked} ] || exit 1
        case "$* " in
        *" -c "*) ;;
        *"-fopenmp"*" -L/opt/openmp "* | *" -L/opt/openmp "*"-fopenmp"*) touch {linked} ;;
        *"-fopenmp"*) exit 1 ;;
        esac""",
    )
    variables = {"FASTSEL_REQUIRE_OPENMP": "1", "FASTSEL_NO_OPENMP": "0", "FASTSEL_ONLY": "levels"}
    done = failing_build(tmp_path, CC=compiler, LDFLAGS="-L/opt/openmp", **variables)
    assert linked.exists(), done.stderr


@NEEDS_CC
def test_openmp_that_is_required_and_left_out_is_an_error(tmp_path):
    line = last_line_of_build(tmp_path, FASTSEL_REQUIRE_OPENMP="1", FASTSEL_NO_OPENMP="1")
    assert line.endswith("FASTSEL_REQUIRE_OPENMP for one with it: unset one of them")


def test_a_cpu_level_is_used_only_if_the_cpu_has_each_feature_that_the_compiler_may_use():
    source = (ROOT / "fastsel/_simd/levels.h").read_text()
    targets = re.findall(r'target\("([a-z0-9,]+)"\)', source)
    tested = re.findall(r'__builtin_cpu_supports\("([a-z0-9]+)"\)', source)
    assert len(targets) == 4  # two levels, each for clang and for gcc
    assert {*",".join(targets).split(",")} == {*tested}
