"""The documentation site; CONTRIBUTING.md has the command that builds it."""

import inspect
import re
import sys
import tomllib
from html import escape, unescape
from pathlib import Path

import fastsel

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from see_also import see_also, write_inventory  # noqa: E402

ROOT = HERE.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = SETTINGS["tool"]["fastsel"]["address"]  # of the repository, or ""
DESCRIPTION = SETTINGS["project"]["description"]

project = "fastsel"
author = "The fastsel developers"
release = version = fastsel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings describe the types in words
numpydoc_show_class_members = False  # the classes are named tuples, whose signature has the members
templates_path = ["templates"]
toc_object_entries = False  # the page of a function has its name already
default_role = "py:obj"  # a name in single backticks is a link, or code if it is not found

# For a build that cannot reach numpy.org, this inventory has the links to NumPy's functions.
write_inventory(HERE / "generated" / "numpy.inv")
intersphinx_mapping = {"numpy": ("https://numpy.org/doc/stable/", (None, "generated/numpy.inv"))}
intersphinx_timeout = 5
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"fastsel {release}"
html_logo = html_favicon = "logo.svg"
html_extra_path = ["card.png"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "search.js")
pygments_dark_style = "github-dark"
exclude_patterns = ["generated/*.md"]
html_show_copyright = False
# With this size, lines of 100 columns fit.
html_theme_options = {"light_css_variables": {"code-font-size": "0.75rem"}}

if ADDRESS:
    owner, repository = re.fullmatch("https://github.com/(.*)/(.*)", ADDRESS).groups()
    html_baseurl = f"https://{owner.lower()}.github.io/{repository}/"
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
    """The address of the source of a Python object, in the repository at the tag of this version;
    None if the object has no Python source in fastsel."""
    found = sys.modules.get(info["module"])
    for name in info["fullname"].split("."):
        found = getattr(found, name, None)
    try:
        found = inspect.unwrap(found)
        lines, first = inspect.getsourcelines(found)
        path = Path(inspect.getsourcefile(found)).relative_to(Path(fastsel.__file__).parents[1])
    except (TypeError, OSError, ValueError):  # a value, of a kernel, or of another package
        return None
    last = first + len(lines) - 1
    return f"{ADDRESS}/blob/v{release}/{path.as_posix()}#L{first}-L{last}"


def add_see_also(app, what, name, found, options, lines):
    """Append the section "See Also". numpydoc runs later, and moves the section to its place."""
    lines += see_also(name)


def trim_examples(app, page, source):
    """Remove the empty line at the end of each doctest."""
    source[0] = re.sub(r"(?ms)(^```python\n.*?)\n+(?=^```$)", r"\1\n", source[0])


def plain(title):
    """The text of a title, without its HTML tags."""
    return unescape(re.sub("<[^>]*>", "", title))


def card(title):
    """The tags from which chats and search engines describe a link to the page. The picture needs a
    public address."""
    about = {"og:site_name": project, "og:title": title, "og:description": DESCRIPTION}
    if ADDRESS:
        about |= {"og:image": f"{html_baseurl}card.png", "twitter:card": "summary_large_image"}
    tags = [f'<meta property="{name}" content="{escape(words)}">' for name, words in about.items()]
    return "\n".join([f'<meta name="description" content="{escape(DESCRIPTION)}">', *tags])


def prepare_page(app, page, template, context, doctree):
    """Add the tags of `card`, and show the headings of the reference in the sidebar, before furo
    makes the sidebar."""
    if page.startswith("generated/"):  # autosummary writes it: the repository does not have it
        context["theme_source_repository"] = ""
    context["metatags"] = context.get("metatags", "") + card(plain(context.get("title", project)))
    if "toctree" in context:
        # The headings of the reference group its names. index.md hides the headings of other pages.
        tree = context["toctree"]
        context["toctree"] = lambda **asked: tree(**asked | {"titles_only": False})


def setup(app):
    app.connect("autodoc-process-docstring", add_see_also, priority=400)
    app.connect("source-read", trim_examples)
    app.connect("html-page-context", prepare_page, priority=400)
