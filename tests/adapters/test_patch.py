"""patch_numpy, unpatch_numpy and patched: which calls reach fastsel while NumPy is patched. The end
of the last patch restores NumPy's functions."""

import contextlib
import inspect
import linecache
import pickle
import re
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest
from arrays import DTYPES, make, objects
from callers import run_in_threads
from comparison import assert_same, assert_same_outcome, outcome
from operators import TWO_ARRAY_NAMES

import fastsel
from fastsel import _patch
from fastsel._core import _numpy

pytestmark = pytest.mark.thread_unsafe(reason="replaces NumPy's functions")

NAMES = _numpy.NAMES
IMPLEMENTATIONS = _numpy.IMPLEMENTATIONS
CODES = {name: function.__code__ for name, function in IMPLEMENTATIONS.items()}
ORIGINALS = {name: getattr(np, name) for name in NAMES}


@pytest.fixture(autouse=True)
def _unpatched():
    """Remove the patches that a failed test has left."""
    yield
    while _patch.is_patched():
        fastsel.unpatch_numpy()


def arguments_of(name):
    return ([True, False], [3, 4]) if name in TWO_ARRAY_NAMES else ([3, 4],)


def reaches_fastsel(name, function=None):
    """Whether a call of `function`, by default NumPy's function of this name, calls fastsel's."""
    called = []

    def stand_in(*args, **kwargs):
        called.append(args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_patch.OURS, name, stand_in)
        (function or getattr(np, name))(*arguments_of(name))
    return bool(called)


@pytest.mark.parametrize("name", NAMES)
def test_patched_function_calls_fastsels_of_the_same_name(name):
    with fastsel.patched():
        assert reaches_fastsel(name)
        if name != "unique_values":
            assert inspect.unwrap(_patch.OURS[name]) is getattr(fastsel, name)
    assert not reaches_fastsel(name)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_patched_function_returns_the_named_tuple_of_numpy(name):
    expected = getattr(np, name)([2, 1, 2])
    with fastsel.patched():
        result = getattr(np, name)([2, 1, 2])
    assert_same(result, expected)  # also their types
    assert b"fastsel" not in pickle.dumps(result)
    assert type(getattr(fastsel, name)([1])).__module__.startswith("fastsel")


@pytest.mark.parametrize("name", NAMES)
def test_source_of_a_patched_function_is_shown(name):
    function, implementation = getattr(np, name), IMPLEMENTATIONS[name]
    numpys, (first_name, *_) = inspect.getsource(function), inspect.signature(function).parameters
    with fastsel.patched():
        ours = inspect.getsource(function)
        assert ours.startswith(f"def {name}({first_name}")
        assert f"_fastsel.OURS[{name!r}]" in ours
        linecache.checkcache()
        assert inspect.getsource(implementation) == ours
    assert inspect.getsource(function) == numpys


def test_traceback_shows_the_source_of_a_patched_function():
    with fastsel.patched(), pytest.raises(IndexError) as error:
        np.compress([False, True], [1])
    assert "_fastsel.OURS['compress'](condition, a, axis, out)" in "".join(
        traceback.format_tb(error.value.__traceback__)
    )


@pytest.mark.parametrize("name", DTYPES)
def test_unique_values_are_in_ascending_order(name):
    """In every version of NumPy, the patched np.unique_values returns ascending values. The values
    of fastsel.unique_values are in order of first occurrence."""
    items = objects(3, 1, 3, 2) if name == "object" else make(name, 90)
    expected = fastsel.unique(items, equal_nan=False)
    with fastsel.patched():
        assert_same(np.unique_values(items), expected)
        assert_same(np.unique_values(items.reshape(2, -1)), expected)
        assert_same(
            fastsel.unique_values(items), fastsel.unique(items, equal_nan=False, sorted=False)
        )


def test_unique_values_of_items_without_an_order_equal_numpy():
    texts = np.array(["b", None, "a", "b"], np.dtypes.StringDType(na_object=None))
    mixed = np.array(["a", 1], object)
    for items in (texts, mixed):
        expected = outcome(np.unique_values, items)
        with fastsel.patched():
            assert_same_outcome(outcome(np.unique_values, items), expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_remains_the_same_object(name):
    function, signature = getattr(np, name), inspect.signature(getattr(np, name))
    with fastsel.patched():
        assert getattr(np, name) is function
        assert pickle.loads(pickle.dumps(function)) is function
        assert inspect.signature(function) == signature
        assert reaches_fastsel(name, function)


def test_count_nonzero_of_a_small_array_is_one_call_of_the_kernel(monkeypatch):
    monkeypatch.setattr(_patch, "COUNT", lambda a: -1 if a.size <= 5 else None)
    with fastsel.patched():
        a = np.ones(5)
        assert np.count_nonzero(a) == np.count_nonzero(a, None, keepdims=False) == -1
        assert np.count_nonzero(a, axis=0) == np.count_nonzero(a, keepdims=0) == 5
        assert np.count_nonzero(a, keepdims=True) == [5]
        assert np.count_nonzero(np.ones(6)) == 6


def test_every_function_with_a_name_of_numpy_is_replaced():
    shared_names = {name for name in fastsel.__all__ if hasattr(np, name) and name[0] != "_"}
    assert shared_names - {"show_config"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_reach_fastsel_by_position_or_name(name, monkeypatch):
    """Arguments that are left out reach fastsel with NumPy's defaults."""
    parameters = list(inspect.signature(getattr(np, name)).parameters.values())
    received = []
    monkeypatch.setitem(_patch.OURS, name, lambda *args, **kwargs: received.append((args, kwargs)))
    by_name = {p.name: object() for p in parameters}
    with fastsel.patched():
        if not name.startswith("unique_"):  # x of the unique_* functions is positional-only
            getattr(np, name)(**by_name)
            args, kwargs = received.pop()
            ours = inspect.signature(getattr(fastsel, name)).bind(*args, **kwargs).arguments
            assert ours == by_name
        required = [p for p in parameters if p.default is p.empty]
        getattr(np, name)(*[[1]] * len(required))
        ours = inspect.signature(getattr(fastsel, name)).bind(*received[0][0], **received[0][1])
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        assert {k: ours.arguments[k] for k in defaults} == defaults


def test_functions_of_masked_arrays_are_not_replaced():
    with fastsel.patched():
        masked = np.ma.array([3, 0, 1, 3], mask=[1, 0, 0, 0])
        assert np.nonzero(masked)[0].tolist() == [2, 3]
        assert np.ma.nonzero(masked)[0].tolist() == [2, 3]
        assert np.ma.unique(masked).tolist() == [0, 1, 3, None]
        assert np.ma.compress([True, True, False, True], masked).tolist() == [None, 0, 3]


CALLS = {
    "nonzero": lambda: np.nonzero([[0, 1], [2, 0]]),
    "nonzero_of_a_scalar": lambda: np.nonzero(5),
    "flatnonzero_of_objects": lambda: np.flatnonzero(np.array([None, 1, "a"], object)),
    "argwhere_of_a_scalar": lambda: np.argwhere(5),
    "count_nonzero_of_a_structure": lambda: np.count_nonzero(np.zeros(3, "i4,f8"), axis=0),
    "compress_of_a_masked_array": lambda: np.compress([True, False], np.ma.array([1, 2])).data,
    "compress_beyond_the_end": lambda: np.compress([False, False, True], [1, 2]),
    "extract_of_objects": lambda: np.extract([1, 0], np.array(["a", "b"], object)),
    "unique_of_objects": lambda: np.unique(np.array([3, 1, 3], object), return_index=True),
    "unique_of_a_structure": lambda: np.unique(np.zeros(3, "i4,f8")),
    "isin": lambda: np.isin([[1, 2], [3, 4]], [2, 3, 3]),
    "intersect1d": lambda: np.intersect1d([3, 1, 3], [3, 2, 1], return_indices=True),
    "union1d": lambda: np.union1d([3, 1], [2, 1]),
    "setxor1d": lambda: np.setxor1d([3, 1], [2, 1]),
    "setdiff1d": lambda: np.setdiff1d([3, 1], [2, 1]),
    "trim_zeros": lambda: np.trim_zeros(np.array([0, 1, 2, 0])),
    "delete_by_a_mask": lambda: np.delete([1, 2, 3], [True, False, True]),
    "triu_indices": lambda: np.triu_indices(3),
    "matrix_rank": lambda: np.linalg.matrix_rank(np.eye(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_numpy_patched_have_the_unpatched_outcome(name):
    expected = outcome(CALLS[name])
    with fastsel.patched():
        actual = outcome(CALLS[name])
    assert_same_outcome(actual, expected)


def test_array_function_receives_numpys_function():
    received = []

    class Duck:
        def __array_function__(self, function, types, args, kwargs):
            received.append(function)

    with fastsel.patched():
        np.nonzero(Duck())
        np.unique(Duck())
        np.unique_all(Duck())
        np.compress([True], Duck())
    names = ("nonzero", "unique", "unique_all", "compress")
    assert received == [ORIGINALS[name] for name in names]


class DeferringArray(np.ndarray):
    """An array that overrides NumPy's functions, but whose override only calls ndarray's."""

    def __array_function__(self, function, types, args, kwargs):
        return super().__array_function__(function, types, args, kwargs)


@pytest.mark.parametrize("patch", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_class_that_defers_to_numpy_gets_numpys_result(name, patch):
    array = np.array([3, 0, 3, 4]).view(DeferringArray)
    arguments = ([True, False, True], array) if len(arguments_of(name)) == 2 else (array,)
    expected = getattr(np, name)(*arguments)
    if patch and name == "unique_values":
        expected = np.sort(expected)
    if type(expected) is int:
        pytest.skip("this NumPy's count_nonzero returns int, fastsel's returns intp")
    with fastsel.patched() if patch else contextlib.nullcontext():
        for module in (np, fastsel):
            result = getattr(module, name)(*arguments)
            assert type(result) is type(expected)
            assert repr(result) == repr(expected)


def test_tables_keyed_by_numpys_functions_find_their_entries():
    """Libraries make tables that are keyed by NumPy's functions, before or after the patch."""
    before = {np.count_nonzero: "mine"}

    class Duck:
        def __array_function__(self, function, types, args, kwargs):
            return tables[0][function], tables[1][function]

    with fastsel.patched():
        tables = before, {np.count_nonzero: "mine, too"}
        assert np.count_nonzero(Duck()) == ("mine", "mine, too")
        assert fastsel.count_nonzero(Duck()) == ("mine", "mine, too")
    assert np.count_nonzero(Duck()) == ("mine", "mine, too")


def test_patches_are_counted():
    fastsel.patch_numpy()
    with fastsel.patched():
        fastsel.patch_numpy()
        fastsel.unpatch_numpy()
        assert reaches_fastsel("unique")
    assert reaches_fastsel("unique")
    fastsel.unpatch_numpy()
    assert not reaches_fastsel("unique")


def test_unpatch_without_patch_raises():
    with pytest.raises(RuntimeError, match="NumPy is not patched"):
        fastsel.unpatch_numpy()
    with fastsel.patched():
        assert reaches_fastsel("unique")


def test_patched_ends_if_its_block_raises():
    with pytest.raises(KeyError), fastsel.patched():
        raise KeyError
    assert not reaches_fastsel("nonzero")


def test_patched_is_a_decorator():
    @fastsel.patched()
    def function():
        return reaches_fastsel("nonzero")

    assert function()
    assert function()
    assert not reaches_fastsel("nonzero")


def test_replacement_by_other_code_stays(monkeypatch):
    def replacement(a):
        return ORIGINALS["argwhere"](a)

    monkeypatch.setattr(np, "argwhere", replacement)
    with fastsel.patched():
        assert np.argwhere is replacement
        assert reaches_fastsel("nonzero")
    assert np.argwhere is replacement


def test_functions_are_those_of_fastsel_in_each_of_many_threads_that_patch():
    """In a block `with patched()`, NumPy's functions have fastsel's code, whatever other threads
    do; after the last block, NumPy's code."""

    def patch_often():
        for _ in range(50):
            with fastsel.patched():
                assert not any(IMPLEMENTATIONS[name].__code__ is CODES[name] for name in NAMES)
                assert np.unique_values([2, 1, 2]).tolist() == [1, 2]

    run_in_threads([patch_often] * 4)
    assert all(function.__code__ is CODES[name] for name, function in IMPLEMENTATIONS.items())


@pytest.mark.parametrize("name", NAMES)
def test_both_codes_of_a_function_take_the_same_arguments(name):
    """Without the GIL, a call may read the code of a function twice, and find NumPy's code once and
    fastsel's code once: to make the frame, and to place the arguments in it."""

    def arguments_of_code(code):
        count = code.co_argcount + code.co_kwonlyargcount
        has_more = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        return code.co_posonlyargcount, code.co_argcount, code.co_varnames[:count], has_more

    with fastsel.patched():
        ours = IMPLEMENTATIONS[name].__code__
    assert ours is not CODES[name]
    assert arguments_of_code(ours) == arguments_of_code(CODES[name])


def test_a_thread_that_calls_numpy_gets_right_results_while_another_thread_patches():
    few = np.random.default_rng(0).integers(0, 9, 100)
    sets = few[:50], few[50:] + 5
    unique, common = np.unique(few, return_counts=True), np.intersect1d(*sets)
    positions, done = few.nonzero(), threading.Event()

    def call():
        while not done.is_set():
            assert_same(tuple(np.unique(few, return_counts=True)), tuple(unique))
            assert_same(np.intersect1d(*sets), common)
            assert_same(np.nonzero(few), positions)
            assert np.count_nonzero(few) == len(positions[0])

    def patch():
        try:
            for _ in range(10_000):
                fastsel.patch_numpy()
                fastsel.unpatch_numpy()
        finally:
            done.set()

    run_in_threads([call, call, patch])
    assert all(function.__code__ is CODES[name] for name, function in IMPLEMENTATIONS.items())


# name: calls of a function f of this name
CALLS_BY_NAME = {
    **{name: [lambda f, a: f(a)] for name in NAMES if name not in TWO_ARRAY_NAMES},
    "count_nonzero": [lambda f, a: f(a), lambda f, a: f(a, axis=0)],
    "compress": [lambda f, a: f(a != a[0], a)],
    "extract": [lambda f, a: f(a != a[0], a)],
    "unique": [lambda f, a: f(a), lambda f, a: f(a, True, True, True)],
    "union1d": [lambda f, a: f(a, a[:2])],
    "isin": [lambda f, a: f(a, a[:2]), lambda f, a: f(a, np.tile(a, 9), kind="sort")],
    "intersect1d": [lambda f, a: f(a, a[:2]), lambda f, a: f(a, a[:2], return_indices=True)],
    **{name: [lambda f, a: f(a, a[:2])] for name in ("setdiff1d", "setxor1d")},
}
ITEMS = {
    "numbers": np.array([3, 0, 3, 1]),
    "floats": np.array([0.5, 0.0, np.nan, 0.5]),
    "texts": np.array(["b", "", "b", "a"]),
    "objects": objects(3, 0, 3, 1),
    "masked": np.ma.array([3, 0, 3, 1], mask=[0, 0, 1, 0]),
}


@pytest.fixture
def calls_of_patched_functions_raise(monkeypatch):
    """NumPy is patched, and a call of a patched function is an error."""

    def refuse(*args, **kwargs):
        raise AssertionError("a patched function was called")

    for name in NAMES:
        monkeypatch.setitem(_patch.OURS, name, refuse)
    monkeypatch.setattr(_patch, "COUNT", refuse)
    with fastsel.patched():
        yield


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("name", NAMES)
def test_copies_of_numpys_functions_call_copies(name, items, calls_of_patched_functions_raise):
    for call in CALLS_BY_NAME[name]:
        call(getattr(_numpy, name), ITEMS[items])


@pytest.mark.parametrize("size", [4, 600, 1200, 20000])
@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("name", NAMES)
def test_fastsels_functions_call_no_patched_function(
    name, items, size, calls_of_patched_functions_raise
):
    array = ITEMS[items].repeat(size // 4)
    for call in CALLS_BY_NAME[name]:
        call(getattr(fastsel, name), array)


def test_source_of_fastsel_calls_no_patched_function():
    """With NumPy patched, a call of NumPy's function would call fastsel again."""
    for path in Path(fastsel.__file__).parent.rglob("*.py*"):
        if path.suffix in (".py", ".pyx"):
            calls = re.findall(
                rf"(?<![`\w.])np\.({'|'.join(NAMES)})\b(?!`)", path.read_text("utf-8")
            )
            assert not calls, (path, calls)


# name of a function of NumPy: (patched function that it calls, a call)
REACHED = {"nanpercentile": ("nonzero", lambda: np.nanpercentile([1, np.nan, 3.0], 50))}
if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
    REACHED["trim_zeros"] = ("argwhere", lambda: np.trim_zeros(np.array([0, 1, 0])))


@pytest.mark.parametrize("name", REACHED)
def test_calls_within_numpy_reach_fastsel(name, monkeypatch):
    function, call = REACHED[name]
    called, ours = [], _patch.OURS[function]
    monkeypatch.setitem(_patch.OURS, function, lambda *a, **k: called.append(a) or ours(*a, **k))
    with fastsel.patched():
        call()
    assert called
