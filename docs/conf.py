"""The documentation site; CONTRIBUTING.md has the command that builds it."""

import fastsel

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
