"""A call with an array of another library calls a function of its adapter or of NumPy, or raises
TypeError."""

import inspect
import sys
from types import ModuleType

import numpy as np
import pytest

import fastsel
from fastsel._core import _gate
from fastsel._core._operators import OPERATORS


class LibraryArray:
    """The array class of `some_library`, which overrides NumPy's functions."""

    is_served = True

    def __array_function__(self, function, types, args, kwargs):
        return "__array_function__"


class OtherArray(LibraryArray):
    """A subclass, which a test makes the array class of `some_library`."""


@pytest.fixture
def adapter(monkeypatch):
    """Register an adapter with some of fastsel's functions for the arrays of `some_library`."""
    library, functions = ModuleType("some_library"), ModuleType("its_adapter")
    library.Array = LibraryArray
    for name in ("nonzero", "extract", "boolean_mask", "gather_nd", "unique_values"):
        setattr(functions, name, lambda *args, **kwargs: "adapter")
    functions.__fastsel_serves__ = lambda a: a.is_served
    monkeypatch.setattr(_gate, "_ADAPTERS", {})
    monkeypatch.setitem(sys.modules, "some_library", library)
    monkeypatch.setitem(sys.modules, "its_adapter", functions)
    fastsel.register_adapter("some_library", "Array", "its_adapter")


@pytest.mark.usefixtures("adapter")
def test_arrays_of_the_registered_class_reach_the_adapter():
    array = LibraryArray()
    assert fastsel.nonzero(array) == "adapter"
    assert fastsel.unique_values(array) == "adapter"
    assert fastsel.extract(np.ones(3, bool), array) == "adapter"
    assert fastsel.boolean_mask(array, [True]) == "adapter"
    assert fastsel.gather_nd([1, 2], array) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_an_array_that_the_adapter_refuses_is_passed_to_numpy():
    array = LibraryArray()
    array.is_served = False
    assert fastsel.nonzero(array) == "__array_function__"
    assert fastsel.extract(LibraryArray(), array) == "__array_function__"


@pytest.mark.usefixtures("adapter")
def test_an_array_beside_one_of_an_unregistered_class_is_passed_to_numpy(monkeypatch):
    monkeypatch.setattr(sys.modules["some_library"], "Array", OtherArray)
    assert fastsel.extract(LibraryArray(), OtherArray()) == "__array_function__"
    assert fastsel.extract(OtherArray(), OtherArray()) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_an_adapter_without_fastsel_serves_gets_all_arrays(monkeypatch):
    monkeypatch.delattr(sys.modules["its_adapter"], "__fastsel_serves__")
    array = LibraryArray()
    array.is_served = False
    assert fastsel.nonzero(array) == "adapter"


@pytest.mark.usefixtures("adapter")
def test_a_call_of_a_function_that_the_adapter_lacks_is_passed_to_numpy_or_raises(monkeypatch):
    assert fastsel.flatnonzero(LibraryArray()) == "__array_function__"
    assert fastsel.isin([1], LibraryArray()) == "__array_function__"
    monkeypatch.delattr(sys.modules["its_adapter"], "gather_nd")
    monkeypatch.delattr(sys.modules["its_adapter"], "boolean_mask")
    arguments = {"gather_nd": [[0]], "boolean_mask": [[True]], "nonzero_coordinates": []}
    for name, other_arguments in arguments.items():
        message = f"^fastsel.{name} does not take this array: its adapter, its_adapter, has no"
        with pytest.raises(TypeError, match=message):
            getattr(fastsel, name)(LibraryArray(), *other_arguments)


@pytest.mark.usefixtures("adapter")
def test_a_later_registration_replaces_the_adapter(monkeypatch):
    other = ModuleType("another_adapter")
    other.nonzero = lambda a: "another adapter"
    monkeypatch.setitem(sys.modules, "another_adapter", other)
    fastsel.register_adapter("some_library", "Array", "another_adapter")
    assert fastsel.nonzero(LibraryArray()) == "another adapter"


@pytest.mark.usefixtures("adapter")
def test_an_adapter_may_be_registered_while_a_call_looks_for_its_own(monkeypatch):
    """The lookup of an array class registers an adapter, in place of another thread."""

    class Registering(ModuleType):
        def __getattr__(self, name):
            fastsel.register_adapter("no_library", "Array", "no_adapter")
            raise AttributeError(name)

    registered = {("registering_library", "Array"): "no_adapter", **_gate._ADAPTERS}
    monkeypatch.setattr(_gate, "_ADAPTERS", registered)
    monkeypatch.setitem(sys.modules, "registering_library", Registering("registering_library"))
    assert fastsel.nonzero(LibraryArray()) == "adapter"
    assert ("no_library", "Array") in registered


@pytest.mark.parametrize("argument", ["library", "array_class", "adapter"])
def test_names_that_are_not_strings_raise_a_type_error(argument):
    names = {"library": "some_library", "array_class": "Array", "adapter": "its_adapter"}
    with pytest.raises(TypeError, match=f"^{argument} must be a str, got type$"):
        fastsel.register_adapter(**names | {argument: LibraryArray})


@pytest.mark.usefixtures("adapter")
def test_no_adapter_is_imported_before_its_library(monkeypatch):
    monkeypatch.delitem(sys.modules, "some_library")
    monkeypatch.delitem(sys.modules, "its_adapter")
    assert fastsel.nonzero(LibraryArray()) == "__array_function__"
    assert fastsel.nonzero([0, 1])[0].tolist() == [1]


@pytest.mark.usefixtures("adapter")
def test_a_function_that_the_adapter_and_numpy_lack_raises_a_type_error(monkeypatch):
    for name in ("gather_nd", "boolean_mask"):
        monkeypatch.delattr(sys.modules["its_adapter"], name)
    for name in (name for name, operator in OPERATORS.items() if not operator.in_numpy):
        function = getattr(fastsel, name)
        parameters = inspect.signature(function).parameters.values()
        required = [p for p in parameters if p.default is p.empty]
        with pytest.raises(TypeError, match=f"^fastsel.{name} does not take this array"):
            function(LibraryArray(), *[[[True]]] * (len(required) - 1))
