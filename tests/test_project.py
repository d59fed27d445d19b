"""Files beside the package say the same as the package."""

import re
from pathlib import Path

import fastsel

ROOT = Path(__file__).parents[1]


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == fastsel.__version__


def test_the_changelog_has_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{fastsel.__version__}]" in text
