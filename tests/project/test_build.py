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


def last_line_of_build(folder, **variables):
    done = subprocess.run(
        [sys.executable, "setup.py", "build", "--build-base", folder],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
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


@NEEDS_CC
def test_without_the_headers_of_python(tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text(
        "#!/bin/sh\n"
        "for word; do shift\n"
        'case $word in -I*) ;; *) set -- "$@" "$word" ;; esac; done\n'
        f'exec {COMPILER} "$@"\n'
    )
    compiler.chmod(0o700)
    line = last_line_of_build(tmp_path, CC=str(compiler))
    assert line.startswith("error: fastsel needs the C headers of Python")
