"""The "See Also" sections, the inventory of NumPy's pages, and the times on the pages of the
gallery. No test needs Sphinx."""

import importlib
import re
import zlib
from pathlib import Path

import pytest

import fastsel
from fastsel._core._operators import OPERATORS

pytestmark = pytest.mark.thread_unsafe(reason="replaces fastsel's functions, and captures prints")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def see_also(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("see_also")


def names_in(lines):
    return [line.removesuffix(" :") for line in lines if line.endswith(" :")]


def test_a_page_names_numpy_dask_and_siblings(see_also):
    pytest.importorskip("dask.array", reason="needs pip install 'dask[array]'")
    assert names_in(see_also.see_also("fastsel.compress")) == [
        *("numpy.compress", "fastsel.dask.compress", "fastsel.extract", "fastsel.boolean_mask")
    ]
    assert names_in(see_also.see_also("fastsel.dask.extract")) == [
        *("fastsel.extract", "fastsel.dask.compress", "fastsel.dask.boolean_mask")
    ]
    assert "fastsel.set_num_threads" in names_in(see_also.see_also("fastsel.threads"))


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_see_also_whose_names_exist(see_also, name):
    pytest.importorskip("dask.array", reason="needs pip install 'dask[array]'")
    for module in ("fastsel", "fastsel.dask"):
        if module == "fastsel.dask" and not OPERATORS[name].in_dask:
            continue
        names = names_in(see_also.see_also(f"{module}.{name}"))
        assert names
        for full_name in names:
            owner, _, attribute = full_name.rpartition(".")
            assert hasattr(importlib.import_module(owner), attribute)


def test_every_public_function_is_below_a_heading(see_also):
    grouped = {name for group in see_also.groups() for name in group}
    functions = [name for name in fastsel.__all__ if name.islower() and name[0] != "_"]
    assert [name for name in functions if f"fastsel.{name}" not in grouped] == []


def test_inventory_has_the_operators_that_numpy_has(see_also, tmp_path):
    see_also.write_inventory(tmp_path / "new" / "numpy.inv")
    data = (tmp_path / "new" / "numpy.inv").read_bytes()
    head = see_also.INVENTORY_HEAD
    assert data.startswith(head)
    lines = zlib.decompress(data[len(head) :]).decode().splitlines()
    named = {name for name, operator in OPERATORS.items() if operator.in_numpy}
    assert {line.split()[0] for line in lines} == {f"numpy.{name}" for name in named}


def test_the_gallery_has_the_time_of_each_of_its_calls(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "gallery")
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "peers")
    times = importlib.import_module("times")
    titles = [title for title, *_ in times.PICTURES.values()]
    calls = [
        (title, times.spelled(name, kwargs))
        for title in titles
        for name, _, kwargs in times.calls_of(title)
    ]
    assert len(calls) > 12
    text = times.PAGE.read_text("utf-8")
    assert re.findall(r"^\| ([\w ]+) \| `([^`]*)` \|", text, re.MULTILINE) == calls
