"""A build that cannot succeed ends before it begins, and says why in its last line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("Cython", reason="needs what a build needs: pip install cython setuptools")

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("cc")
NEEDS_CC = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="MSVC is not chosen by variables")


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


def test_without_a_compiler(tmp_path):
    line = last_line_of_build(tmp_path, CC="/nonexistent/cc")
    assert line.startswith("error: fastsel needs a C compiler, and '/nonexistent/cc'")


@NEEDS_CC
@pytest.mark.parametrize(
    ("macro", "value"),
    [("__SIZEOF_POINTER__", "4"), ("__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__")],
)
def test_for_a_platform_that_no_kernel_is_for(tmp_path, macro, value):
    line = last_line_of_build(tmp_path, CC=COMPILER, CFLAGS=f"-U{macro} -D{macro}={value}")
    assert line.startswith("error: fastsel is for 64-bit, little-endian platforms, and")


def compiler_that(folder, script):
    """A compiler that does to its arguments what the script of the shell says."""
    compiler = folder / "cc"
    compiler.write_text(f'#!/bin/sh\n{script}\nexec {COMPILER} "$@"\n')
    compiler.chmod(0o700)
    return str(compiler)


@NEEDS_CC
def test_without_the_headers_of_python(tmp_path):
    compiler = compiler_that(
        tmp_path,
        'for word; do shift; case $word in -I*) ;; *) set -- "$@" "$word" ;; esac; done',
    )
    line = last_line_of_build(tmp_path, CC=compiler)
    assert line.startswith("error: fastsel needs the C headers of Python")


@NEEDS_CC
def test_without_the_openmp_that_is_required(tmp_path):
    compiler = compiler_that(tmp_path, 'for word; do [ "$word" != -fopenmp ] || exit 1; done')
    line = last_line_of_build(
        tmp_path, CC=compiler, FASTSEL_REQUIRE_OPENMP="1", FASTSEL_NO_OPENMP="0"
    )
    assert line.startswith(
        f"error: FASTSEL_REQUIRE_OPENMP asks for OpenMP, which {compiler!r} does not have"
    )


@NEEDS_CC
def test_openmp_is_linked_from_where_ldflags_say(tmp_path):
    found = tmp_path / "found"
    compiler = compiler_that(  # has OpenMP in one folder alone, and fails once it has linked that
        tmp_path,
        f"""[ ! -e {found} ] || exit 1
        case "$* " in
        *" -c "*) ;;
        *"-fopenmp"*" -L/opt/openmp "* | *" -L/opt/openmp "*"-fopenmp"*) touch {found} ;;
        *"-fopenmp"*) exit 1 ;;
        esac""",
    )
    variables = {"FASTSEL_REQUIRE_OPENMP": "1", "FASTSEL_NO_OPENMP": "0", "FASTSEL_ONLY": "levels"}
    done = failing_build(tmp_path, CC=compiler, LDFLAGS="-L/opt/openmp", **variables)
    assert found.exists(), done.stderr


@NEEDS_CC
def test_openmp_cannot_be_required_and_left_out(tmp_path):
    line = last_line_of_build(tmp_path, FASTSEL_REQUIRE_OPENMP="1", FASTSEL_NO_OPENMP="1")
    assert line.endswith("FASTSEL_REQUIRE_OPENMP for one with it: unset one of them")
