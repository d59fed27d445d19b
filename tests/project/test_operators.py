"""Each operator has all that the recipe in CONTRIBUTING.md lists. Only operators and the names of
NO_OPERATORS are exported."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from operators import EXAMPLES, NUMPY_NAMES

import fastsel
from fastsel._core._operators import OPERATORS

ROOT = Path(__file__).parents[2]
# The exported names that are no operators: classes, settings, patches, the adapters, the version.
NO_OPERATORS = {
    *("GroupIndices", "NonzeroCoordinates", "__version__", "show_config"),
    *("threads", "set_num_threads", "get_num_threads"),
    *("set_keep_mb", "get_keep_mb", "release_memory"),
    *("patch_numpy", "unpatch_numpy", "patched", "register_adapter"),
}
# The last column of the recipe's table: whether an operator needs what the row says.
NEEDS_ROW = {
    "all": lambda operator: True,
    "with kernels": lambda operator: not operator.variant_of,
    "in dask": lambda operator: operator.in_dask,
}


def recipe():
    """The rows of the table: (file or folder, its part, pattern of the part, key of NEEDS_ROW)."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text[text.index("## Add an operator") : text.index("## Add a CPU level")]
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.+) \|$", section, re.MULTILINE)
    for where, part, operators in rows:
        pattern = re.search("`([^`]*NAME[^`]*)`", part)
        yield where, part, pattern[1] if pattern else "NAME", operators


def text_of(where):
    path = ROOT / where
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return "".join(file.read_text(encoding="utf-8") for file in files)


def has(where, pattern, name):
    """Whether a file, or a file of a folder, has the pattern with this name, which is not part of a
    longer name there."""
    expression = re.escape(pattern).replace("NAME", rf"(?<!\w){name}(?!\w)")
    return re.search(expression, text_of(where)) is not None


def described(name, rows):
    return "".join(f"\n  {where}: {part.replace('NAME', name)}" for where, part, *_ in rows)


@pytest.mark.parametrize("name", sorted({*OPERATORS, *fastsel.__all__} - NO_OPERATORS))
def test_an_operator_has_all_that_the_recipe_lists(name):
    operator = OPERATORS.get(name)
    rows = [row for row in recipe() if operator is None or NEEDS_ROW[row[3]](operator)]
    lacking = [row for row in rows if not has(row[0], row[2], name)]
    present = [row for row in rows if row not in lacking]
    if name not in fastsel.__all__:
        pytest.fail(f"{name} is no longer exported, but still in{described(name, present)}")
    assert not lacking, (
        f"{name} is exported. If it is no operator, add it to NO_OPERATORS of "
        f"{Path(__file__).name}. If it is one, add these parts of the recipe in CONTRIBUTING.md:"
        f"{described(name, lacking)}"
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_the_entry_in_the_tests_has_what_the_operator_needs(name):
    examples = EXAMPLES[name]
    assert examples.calls or examples.calls_for_fewer_dtypes
    if not OPERATORS[name].variant_of:
        assert examples.huge, f"EXAMPLES[{name!r}] needs `huge`: sizes beyond memory"
        assert examples.large, f"EXAMPLES[{name!r}] needs `large`: calls that release the GIL"


def test_names_that_are_no_operators_are_exported():
    assert set(fastsel.__all__) >= NO_OPERATORS
    assert not NO_OPERATORS & {*OPERATORS}


def test_the_rows_of_the_recipe_are_read():
    """A new operator touches at most 12 places."""
    rows = [*recipe()]
    assert 10 < len(rows) <= 12
    assert {row[3] for row in rows} == {*NEEDS_ROW}
    for where, _, _, _ in rows:
        assert (ROOT / where).exists(), where


@pytest.mark.parametrize("name", OPERATORS)
def test_entries_of_the_registry_fit_the_signatures(name):
    """The arguments of an entry are parameters; a variant is of an operator that is no variant; a
    function that NumPy has, too, has NumPy's parameters and then the extra arguments."""
    operator = OPERATORS[name]
    parameters = inspect.signature(getattr(fastsel, name)).parameters
    assert set(operator.arrays) <= set(parameters)
    if operator.variant_of:
        assert not OPERATORS[operator.variant_of].variant_of
    if operator.in_numpy:
        of_numpy = [*inspect.signature(getattr(np, name)).parameters]
        ours = [key for key in parameters if key != "sorted" or key in of_numpy]  # new in NumPy 2.3
        assert [*of_numpy, *operator.extra_arguments] == ours


def test_the_docstring_of_the_patch_names_its_functions():
    text = inspect.getdoc(fastsel.patch_numpy)
    assert set(re.findall(r"``(\w+)``", text[: text.index("Calls")])) == {*NUMPY_NAMES}


def test_fastsel_dask_has_the_operators_that_the_registry_says():
    pytest.importorskip("dask", reason="needs pip install dask")
    import fastsel.dask

    names = {name for name in fastsel.dask.__all__ if name.islower()}
    assert names == {name for name, operator in OPERATORS.items() if operator.in_dask}
