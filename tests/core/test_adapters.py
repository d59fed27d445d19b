"""Arrays of other libraries: whose functions answer a call that has one among its arguments."""

import sys
from types import ModuleType

import numpy as np
import pytest

import fastsel
from fastsel._core import _gate
from fastsel._core._operators import OPERATORS


class Answering:
    """An array of some library, which gives NumPy's functions an answer of its own."""

    serves = True

    def __array_function__(self, function, types, args, kwargs):
        return "NumPy's way"


class Other(Answering):
    pass


@pytest.fixture
def adapter(monkeypatch):
    """A library of which the gate knows only names, and the functions that serve its arrays."""
    library, functions = ModuleType("some_library"), ModuleType("its_adapter")
    library.Array = Answering
    for name in ("nonzero", "extract", "boolean_mask", "gather_nd", "unique_values"):
        setattr(functions, name, lambda *args, **kwargs: "adapter")
    functions.__fastsel_serves__ = lambda a: a.serves
    monkeypatch.setattr(_gate, "_ADAPTERS", {})
    monkeypatch.setitem(sys.modules, "some_library", library)
    monkeypatch.setitem(sys.modules, "its_adapter", functions)
    fastsel.register_adapter("some_library", "Array", "its_adapter")


@pytest.mark.usefixtures("adapter")
def test_its_arrays_reach_the_adapter():
    array = Answering()
    assert fastsel.nonzero(array) == "adapter"
    assert fastsel.unique_values(array) == "adapter"
    assert fastsel.extract(np.ones(3, bool), array) == "adapter"
    assert fastsel.boolean_mask(array, [True]) == "adapter"
    assert fastsel.gather_nd([1, 2], array) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_what_the_adapter_does_not_serve_goes_numpys_way():
    array = Answering()
    array.serves = False
    assert fastsel.nonzero(array) == "NumPy's way"
    assert fastsel.extract(Answering(), array) == "NumPy's way"


@pytest.mark.usefixtures("adapter")
def test_what_another_class_claims_too_goes_numpys_way(monkeypatch):
    monkeypatch.setattr(sys.modules["some_library"], "Array", Other)
    assert fastsel.extract(Answering(), Other()) == "NumPy's way"
    assert fastsel.extract(Other(), Other()) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_an_adapter_without_serves_serves_all(monkeypatch):
    monkeypatch.delattr(sys.modules["its_adapter"], "__fastsel_serves__")
    array = Answering()
    array.serves = False
    assert fastsel.nonzero(array) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_what_an_adapter_lacks_goes_numpys_way(monkeypatch):
    assert fastsel.flatnonzero(Answering()) == "NumPy's way"
    assert fastsel.isin([1], Answering()) == "NumPy's way"
    monkeypatch.delattr(sys.modules["its_adapter"], "gather_nd")
    monkeypatch.delattr(sys.modules["its_adapter"], "boolean_mask")
    without = {"gather_nd": [[0]], "boolean_mask": [[True]], "nonzero_coordinates": []}
    for name, others in without.items():
        message = f"^fastsel.{name} does not take this array: its adapter, its_adapter, has no"
        with pytest.raises(TypeError, match=message):
            getattr(fastsel, name)(Answering(), *others)


@pytest.mark.usefixtures("adapter")
def test_a_later_registration_replaces_the_adapter(monkeypatch):
    other = ModuleType("another_adapter")
    other.nonzero = lambda a: "another adapter"
    monkeypatch.setitem(sys.modules, "another_adapter", other)
    fastsel.register_adapter("some_library", "Array", "another_adapter")
    assert fastsel.nonzero(Answering()) == "another adapter"


@pytest.mark.parametrize("argument", ["library", "array_class", "adapter"])
def test_names_are_strings(argument):
    names = {"library": "some_library", "array_class": "Array", "adapter": "its_adapter"}
    with pytest.raises(TypeError, match=f"^{argument} must be a str, got type$"):
        fastsel.register_adapter(**names | {argument: Answering})


@pytest.mark.usefixtures("adapter")
def test_nobody_is_asked_while_the_library_is_not_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "some_library")
    monkeypatch.delitem(sys.modules, "its_adapter")
    assert fastsel.nonzero(Answering()) == "NumPy's way"
    assert fastsel.nonzero([0, 1])[0].tolist() == [1]


@pytest.mark.usefixtures("adapter")
def test_what_neither_the_adapter_nor_numpy_has_is_a_type_error(monkeypatch):
    for name in ("gather_nd", "boolean_mask"):
        monkeypatch.delattr(sys.modules["its_adapter"], name)
    others = {"gather_nd": [[0]], "boolean_mask": [[True]], "index_in": [[1]]}
    for name in (name for name, operator in OPERATORS.items() if not operator.in_numpy):
        with pytest.raises(TypeError, match=f"^fastsel.{name} does not take this array"):
            getattr(fastsel, name)(Answering(), *others.get(name, []))
