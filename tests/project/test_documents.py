"""Every example of the README, the other pages and the documentation shows what it prints. What the
pages name exists: options, links, pictures, steps, tests. Every public function is on the pages."""

import doctest
import importlib
import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest

import fastsel
from fastsel._cli import _commands as command_line

pytestmark = pytest.mark.thread_unsafe(reason="captures what an example prints")

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
DOCUMENTS = sorted(
    path
    for path in [
        *(ROOT.glob("*.md")),
        *(ROOT / "benchmarks").glob("*.md"),
        *(ROOT / "tests").glob("*.md"),
        *DOCS.rglob("*.md"),
    ]
    if DOCS / "generated" not in path.parents
)
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r"\{.*\}$")
PACKAGES = {
    "coming-from.md": ("pandas", "polars"),
    "onnx.md": ("onnx", "onnxruntime", "onnxruntime_extensions"),
    "dask.md": ("dask", "scipy"),
}

# Each public module, and a package that it needs.
MODULES = {
    "fastsel": "numpy",
    "fastsel.dask": "dask",
    "fastsel.onnx": "numpy",
    "fastsel.sparse": "scipy",
}


def text_of(document):
    assert document.is_file(), f"{document} is missing: run the tests in a clone"
    return document.read_text(encoding="utf-8")


def examples_of(document):
    """The examples of a document as one doctest, each with its line number."""
    parser = doctest.DocTestParser()
    return parser.get_doctest(text_of(document), {}, document.name, str(document), 0)


def commands():
    """Each command of the shell blocks: (name of the document, words of the command)."""
    for document in DOCUMENTS:
        for language, block in BLOCK.findall(text_of(document)):
            if language == "sh":
                for line in block.replace("\\\n", " ").splitlines():
                    for command in line.split("&&"):
                        yield document.name, shlex.split(command, comments=True)


def name_of(document):
    return document.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_examples_print_what_they_show(document):
    for package in PACKAGES.get(document.name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{document.name} needs pip install {package}")
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples_of(document), out=report.append)
    assert not runner.failures, "".join(report)


def public_functions():
    """The public functions: each with its module, and the package that it needs."""
    for module, package in MODULES.items():
        if importlib.util.find_spec(package):
            names = importlib.import_module(module).__all__
            yield from (
                (module, package, name) for name in names if name.islower() and name[0] != "_"
            )
    yield "fastsel.onnx", "onnxruntime_extensions", "onnxruntime_session"


@pytest.mark.parametrize(("module", "package", "name"), [*public_functions()])
def test_the_examples_of_a_docstring_run_alone(module, package, name):
    """A reader may paste the examples of one docstring into a new session."""
    pytest.importorskip(package, reason=f"needs pip install {package}")
    docstring = inspect.getdoc(getattr(importlib.import_module(module), name))
    examples = doctest.DocTestParser().get_doctest(docstring, {}, name, None, None)
    assert examples.examples
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_block_of_python_is_a_doctest_or_a_program(document):
    """A block of Python is a doctest, or a program with `if __name__ == "__main__":`. Any other
    block is of sh or text, has no language, or is a directive."""
    for language, block in BLOCK.findall(text_of(document)):
        assert language in ("python", "sh", "text", "") or DIRECTIVE.match(language), language
        assert language != "python" or block.startswith(">>> ") or '"__main__":' in block, block


def test_options_of_shown_commands_exist():
    checked = [
        command_line.parsed(words[1:])
        for document, words in commands()
        if words and Path(words[0]).name == "fastsel"
    ]
    assert len(checked) > 5


def test_options_of_shown_benchmarks_exist(monkeypatch):
    checked = 0
    for document, words in commands():
        script = next((word for word in words if word.startswith("benchmarks/")), None)
        if script is None or not script.endswith(".py"):
            continue
        assert (ROOT / script).is_file(), (document, script)
        options = words[words.index(script) + 1 :]
        if options and options != ["--help"]:
            monkeypatch.syspath_prepend((ROOT / script).parent)
            importlib.import_module(Path(script).stem).arguments().parse_args(options)
            checked += 1
    assert checked > 3


def test_documentation_has_an_example_of_every_public_function():
    pages = [examples_of(DOCS / name) for name in ("guide.md", "patch.md", "dask.md")]
    source = "".join(example.source for page in pages for example in page.examples)
    functions = [name for name in fastsel.__all__ if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"fastsel.{name}(" not in source] == []


def test_reference_has_every_public_name():
    reference = (DOCS / "reference.md").read_text(encoding="utf-8")
    names = [name for name in fastsel.__all__ if name[0] != "_"]
    assert [name for name in names if f"\n   {name}\n" not in reference] == []


def test_pages_are_few_and_short():
    """At most 21 pages; the pages that newcomers to the code read first have a limit."""
    assert len([path for path in DOCUMENTS if DOCS in path.parents]) <= 21
    assert len(text_of(DOCS / "internals.md").split()) <= 1500
    assert len(text_of(ROOT / "CONTRIBUTING.md").split()) <= 1200


def test_readme_is_short():
    assert len(README.read_bytes()) <= 8500


def test_readme_names_every_public_function():
    text = text_of(README)
    functions = [name for name in fastsel.__all__ if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"`{name}" not in text] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_to_files_and_sections_that_exist(document):
    text = BLOCK.sub("", text_of(document))
    for target in re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"\s]+)", text):
        path, _, section = target.partition("#")
        if re.match(r"[a-z]+:", path) or not path:
            continue
        file = document.parent / path
        assert file.is_file(), target
        if section and file.suffix == ".md" and "{include}" not in text_of(file):
            headings = re.findall(r"^#+ (.*)$", text_of(file), re.MULTILINE)
            slugs = [re.sub(r"[^a-z0-9-]", "", h.lower().replace(" ", "-")) for h in headings]
            assert section in slugs, target


def test_gallery_has_the_pictures_that_are_drawn(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="needs pip install matplotlib")
    monkeypatch.syspath_prepend(DOCS / "gallery")
    draw = importlib.import_module("draw")
    draw.main(tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in (DOCS / "gallery").glob("*.png"))
    for name in drawn:
        assert f"{{image}} gallery/{name}" in text_of(DOCS / "gallery.md")


def test_tests_that_promises_name_exist():
    """Each test that the table names exists, and every promise names a test or a step of the check,
    as `.ci/run STEP`."""
    steps = {path.stem for path in (ROOT / ".ci" / "steps").iterdir()}
    n_tests = 0
    for line in text_of(ROOT / "tests" / "promises.md").splitlines():
        if not line.startswith("| ") or line.startswith("| promise"):
            continue
        tests = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", line)
        named_steps = set(re.findall(r"\.ci/run ([\w-]+)`", line))
        assert named_steps <= steps, line
        assert tests or named_steps, line
        for file, test in tests:
            defined = re.findall(r"^def (test_\w+)", text_of(ROOT / file), re.MULTILINE)
            assert not test or test in defined, (file, test)
            n_tests += 1
    assert n_tests > 60
