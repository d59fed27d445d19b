"""The documentation site: ``sphinx-build -W docs build/site``, with fastsel installed."""

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
myst_heading_anchors = 2
autosummary_generate = True
numpydoc_class_members_toctree = False
default_role = "code"  # what stands in single backticks in the docstrings

html_theme = "furo"
html_title = f"fastsel {release}"
exclude_patterns = ["generated/*.md"]
html_show_copyright = False
