"""Python in a clone, where the source folder comes before an installed fastsel."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastsel

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "import": ["-c", "import fastsel; print('fastsel', end='')"],
    "info": ["-m", "fastsel", "info"],
}


def run_in_clone(folder, command):
    """The finished process of a command in a folder that has the package as a subfolder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, *COMMANDS[command]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_clone_with_kernels_works(tmp_path, command):
    package = Path(fastsel.__path__[0])
    shutil.copytree(package, tmp_path / "fastsel")
    libraries = package.with_name("fastsel.libs")  # beside an installed wheel
    if libraries.exists():
        shutil.copytree(libraries, tmp_path / libraries.name)
    done = run_in_clone(tmp_path, command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("fastsel")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_clone_without_kernels_says_what_to_do(tmp_path, command):
    shutil.copytree(
        fastsel.__path__[0], tmp_path / "fastsel", ignore=shutil.ignore_patterns("*.so", "*.pyd")
    )
    done = run_in_clone(tmp_path, command)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: the kernels of fastsel are not built in {tmp_path}")
    assert "pip install -e ." in last


def test_an_error_of_a_kernel_is_not_hidden(tmp_path):
    """If Python cannot load the file of a kernel, the message is Python's."""
    shutil.copytree(fastsel.__path__[0], tmp_path / "fastsel")
    (kernel,) = (tmp_path / "fastsel" / "_core").glob("parallel.cp*")
    kernel.write_bytes(b"no module")
    last = run_in_clone(tmp_path, "import").stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "not built" not in last


def test_the_commands_of_the_readme_install_the_clone_in_place():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(
        r"^python3 -m venv .venv && .venv/bin/pip install (.*?) ", text, re.MULTILINE
    )
    assert commands == ["-e", "-e"]
