"""The documentation site; CONTRIBUTING.md has the command that builds it."""

import inspect
import sys
import tomllib
from pathlib import Path

import fastsel

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = SETTINGS["tool"]["fastsel"]["address"]  # of the repository, or ""

project = "fastsel"
author = "The fastsel developers"
release = version = fastsel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have them in words
numpydoc_class_members_toctree = False
default_role = "code"  # what stands in single backticks in the docstrings

html_theme = "furo"
html_title = f"fastsel {release}"
exclude_patterns = ["generated/*.md"]
html_show_copyright = False
# 100 columns of code have room.
html_theme_options = {"light_css_variables": {"code-font-size": "0.75rem"}}

if ADDRESS:
    extensions.append("sphinx.ext.linkcode")
    html_theme_options |= {
        "source_repository": ADDRESS,
        "source_branch": "main",
        "source_directory": "docs/",
        "footer_icons": [
            {
                "name": "Issues",
                "url": f"{ADDRESS}/issues/new/choose",
                "html": "Report a bug",
                "class": "",
            }
        ],
    }


def linkcode_resolve(domain, info):
    """The lines of a Python object in the repository, at the tag of this version."""
    found = sys.modules.get(info["module"])
    for name in info["fullname"].split("."):
        found = getattr(found, name, None)
    try:
        found = inspect.unwrap(found)
        lines, first = inspect.getsourcelines(found)
        path = Path(inspect.getsourcefile(found)).relative_to(Path(fastsel.__file__).parents[1])
    except (TypeError, OSError, ValueError):  # a value, a kernel, or of another package
        return None
    last = first + len(lines) - 1
    return f"{ADDRESS}/blob/v{release}/{path.as_posix()}#L{first}-L{last}"


def setup(app):
    """Pages that autosummary writes are not in the repository: they get no link to it."""

    def without_link(app, page, template, context, doctree):
        if page.startswith("generated/"):
            context["theme_source_repository"] = ""

    app.connect("html-page-context", without_link)
