"""The metadata of a distribution: which links it has with and without a public address."""

import email
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastsel

pytest.importorskip("Cython", reason="needs what a build needs: pip install cython setuptools")

ROOT = Path(__file__).parents[2]
ADDRESS = "https://github.com/Someone/fastsel"
PICTURES = ("times.svg", "times-dark.svg")
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)]*)\)")


def metadata(folder, address):
    """The metadata that setup.py writes in a clone with this address, or the errors it prints."""
    for name in ("README.md", "LICENSE", "setup.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "fastsel").mkdir()
    shutil.copy(ROOT / "fastsel" / "_version.py", folder / "fastsel")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings, count = re.subn(r'^address = ".*"$', f'address = "{address}"', settings, flags=re.M)
    assert count == 1
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "egg_info"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.stderr
    text = (folder / "fastsel.egg-info" / "PKG-INFO").read_text(encoding="utf-8")
    return email.message_from_string(text)


def test_an_address_gives_links(tmp_path):
    message = metadata(tmp_path, ADDRESS)
    assert dict(url.split(", ") for url in message.get_all("Project-URL")) == {
        "Documentation": "https://someone.github.io/fastsel/",
        "Homepage": ADDRESS,  # pip show prints it
        "Source": ADDRESS,
        "Issues": f"{ADDRESS}/issues",
        "Changelog": f"{ADDRESS}/blob/main/CHANGELOG.md",
    }
    text = message.get_payload()
    assert RELATIVE_LINK.findall(text) == []
    tag = f"v{fastsel.__version__}"
    assert f"]({ADDRESS}/blob/{tag}/docs/getting-started.md)" in text
    pictures = re.findall(r'(?:src|srcset|!\[[^]]*\]\()="?([^")]*)', text)
    assert {f"{ADDRESS}/raw/{tag}/docs/{name}" for name in PICTURES} == {*pictures}


def test_without_an_address_there_are_no_links(tmp_path):
    message = metadata(tmp_path, "")
    assert message.get_all("Project-URL") is None
    assert message["License-Expression"] == "BSD-3-Clause"
    assert message.get_payload().strip() == (ROOT / "README.md").read_text("utf-8").strip()
    assert message["Version"] == fastsel.__version__


def test_an_address_of_another_form_is_an_error(tmp_path):
    errors = metadata(tmp_path, "example.org/fastsel")
    assert "must be empty or like https://github.com/OWNER/fastsel" in errors
