"""``fastsel run``: the script's NumPy is patched, and all else is as Python would have it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import fastsel
from fastsel.__main__ import main

REPORT = """
import sys
from pathlib import Path

import numpy as np
import beside
from fastsel import _patch

print(_patch.is_patched(), beside.unique_values([2, 1, 2]))
print(__name__, Path(__file__).name, Path(sys.path[0]).name, sys.argv[1:])
"""


@pytest.fixture
def script(tmp_path):
    """Function that writes a script, beside a module that imports from NumPy: its path."""

    def write(text):
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "beside.py").write_text("from numpy import unique_values\n")
        path = folder / "script.py"
        path.write_text(text)
        return str(path)

    return write


def python_m_fastsel(*arguments):
    return subprocess.run(
        [sys.executable, "-P", "-m", "fastsel", "run", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_script_and_its_modules_see_fastsel(script):
    done = python_m_fastsel(script(REPORT), "--size", "3", "-h", "--", "x")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True [2 1]",
        "__main__ script.py folder ['--size', '3', '-h', '--', 'x']",
    ]


@pytest.mark.parametrize(
    ("text", "status"), [("pass", 0), ("import sys; sys.exit(7)", 7), ("raise KeyError(3)", 1)]
)
def test_exit_status_is_the_scripts(text, status, script):
    done = python_m_fastsel(script(text))
    assert done.returncode == status
    assert ("KeyError: 3" in done.stderr) == (status == 1)


def test_the_process_is_left_as_it_was(script, capsys, monkeypatch):
    before = np.nonzero.__wrapped__.__code__, sys.argv, list(sys.path), sys.modules["__main__"]
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    assert main(["run", script(REPORT)]) == 0
    monkeypatch.delitem(sys.modules, "beside")
    assert capsys.readouterr().out.startswith("True [2 1]")
    assert (
        np.nonzero.__wrapped__.__code__,
        sys.argv,
        list(sys.path),
        sys.modules["__main__"],
    ) == before
    with pytest.raises(RuntimeError):
        fastsel.unpatch_numpy()


def test_missing_script(capsys):
    assert main(["run", "no/such/script.py"]) == 2
    assert "no/such/script.py" in capsys.readouterr().err
