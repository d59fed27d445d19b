"""patch_numpy, unpatch_numpy, patched: what they reach, and that they leave no trace."""

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
from comparison import assert_same, assert_same_outcome, outcome
from operators import TWO_ARRAY_NAMES

import fastsel
from fastsel import _patch
from fastsel._core import _gate, _numpy

pytestmark = pytest.mark.thread_unsafe(reason="replaces NumPy's functions")

NAMES = _numpy.NAMES
IMPLEMENTATIONS = {name: inspect.unwrap(getattr(np, name)) for name in NAMES}
CODES = {name: function.__code__ for name, function in IMPLEMENTATIONS.items()}
ORIGINALS = {name: getattr(np, name) for name in NAMES}


@pytest.fixture(autouse=True)
def _unpatched():
    """A test that fails leaves NumPy as it was."""
    yield
    while _patch.is_patched():
        fastsel.unpatch_numpy()


def arguments_of(name):
    return ([True, False], [3, 4]) if name in TWO_ARRAY_NAMES else ([3, 4],)


def is_ours(name, function=None):
    """Does a call of this function of NumPy's end in ours?"""
    called = []

    def stand_in(*args, **kwargs):
        called.append(args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_patch.OURS, name, stand_in)
        (function or getattr(np, name))(*arguments_of(name))
    return bool(called)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_leads_to_the_one_of_the_same_name(name):
    with fastsel.patched():
        assert is_ours(name)
        if name != "unique_values":
            assert _patch.OURS[name] is getattr(fastsel, name)
    assert not is_ours(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_has_a_source(name):
    function, implementation = getattr(np, name), IMPLEMENTATIONS[name]
    numpys, first = inspect.getsource(function), next(iter(inspect.signature(function).parameters))
    with fastsel.patched():
        ours = inspect.getsource(function)
        assert ours.startswith(f"def {name}({first}")
        assert f"_fastsel.OURS[{name!r}]" in ours
        linecache.checkcache()
        assert inspect.getsource(implementation) == ours
    assert inspect.getsource(function) == numpys


def test_a_traceback_shows_the_source():
    with fastsel.patched(), pytest.raises(IndexError) as error:
        np.compress([False, True], [1])
    assert "_fastsel.OURS['compress'](condition, a, axis, out)" in "".join(
        traceback.format_tb(error.value.__traceback__)
    )


@pytest.mark.parametrize("name", DTYPES)
def test_unique_values_are_in_ascending_order(name):
    """Behind NumPy's name, whatever the installed NumPy does; fastsel's own are not."""
    items = objects(3, 1, 3, 2) if name == "object" else make(name, 90)
    expected = fastsel.unique(items, equal_nan=False)
    with fastsel.patched():
        assert_same(np.unique_values(items), expected)
        assert_same(np.unique_values(items.reshape(2, -1)), expected)
        assert_same(
            fastsel.unique_values(items), fastsel.unique(items, equal_nan=False, sorted=False)
        )


def test_unique_values_without_an_order_are_numpys():
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
        assert is_ours(name, function)


def test_a_small_count_takes_one_call(monkeypatch):
    monkeypatch.setattr(_patch, "COUNT_SMALL", lambda a, most: -1 if a.size <= most else None)
    with fastsel.patched():
        a = np.ones(5)
        assert np.count_nonzero(a) == np.count_nonzero(a, None, keepdims=False) == -1
        assert np.count_nonzero(a, axis=0) == np.count_nonzero(a, keepdims=0) == 5
        assert np.count_nonzero(a, keepdims=True) == [5]
        monkeypatch.setattr(_gate, "SMALL_ITEMS", 4)
        assert np.count_nonzero(a) == 5


def test_every_function_of_numpys_name_is_replaced():
    of_numpys_name = {name for name in fastsel.__all__ if hasattr(np, name) and name[0] != "_"}
    assert of_numpys_name - {"show_config"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_arrive_as_given(name, monkeypatch):
    """Arguments arrive whether they are given by position or by name; defaults are NumPy's."""
    parameters = list(inspect.signature(getattr(np, name)).parameters.values())
    given = []
    monkeypatch.setitem(_patch.OURS, name, lambda *args, **kwargs: given.append((args, kwargs)))
    by_name = {p.name: object() for p in parameters}
    with fastsel.patched():
        if not name.startswith("unique_"):  # which take x by position alone
            getattr(np, name)(**by_name)
            args, kwargs = given.pop()
            ours = inspect.signature(getattr(fastsel, name)).bind(*args, **kwargs).arguments
            assert ours == by_name
        required = [p for p in parameters if p.default is p.empty]
        getattr(np, name)(*[[1]] * len(required))
        ours = inspect.signature(getattr(fastsel, name)).bind(*given[0][0], **given[0][1])
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        assert {k: ours.arguments[k] for k in defaults} == defaults


def test_masked_arrays_functions_are_their_own():
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
def test_what_goes_back_to_numpy_finds_numpy(name):
    expected = outcome(CALLS[name])
    with fastsel.patched():
        actual = outcome(CALLS[name])
    assert actual[0] == expected[0]
    if expected[0] == "raises":
        assert actual[1:] == expected[1:]
    else:
        assert_same(actual[1], expected[1])


def test_array_function_is_handed_numpys_function():
    seen = []

    class Duck:
        def __array_function__(self, function, types, args, kwargs):
            seen.append(function)

    with fastsel.patched():
        np.nonzero(Duck())
        np.unique(Duck())
        np.unique_all(Duck())
        np.compress([True], Duck())
    names = ("nonzero", "unique", "unique_all", "compress")
    assert seen == [ORIGINALS[name] for name in names]


class Defers(np.ndarray):
    """Overrides NumPy's functions, and then has NumPy do them, as ndarray does."""

    def __array_function__(self, function, types, args, kwargs):
        return super().__array_function__(function, types, args, kwargs)


@pytest.mark.parametrize("patch", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_class_that_defers_to_numpy_gets_numpys_answer(name, patch):
    array = np.array([3, 0, 3, 4]).view(Defers)
    arguments = ([True, False, True], array) if len(arguments_of(name)) == 2 else (array,)
    expected = getattr(np, name)(*arguments)
    if patch and name == "unique_values":
        expected = np.sort(expected)
    if type(expected) is int:
        pytest.skip("this NumPy's count_nonzero returns int, fastsel's returns intp")
    with fastsel.patched() if patch else contextlib.nullcontext():
        for module in (np, fastsel):
            found = getattr(module, name)(*arguments)
            assert type(found) is type(expected)
            assert repr(found) == repr(expected)


def test_tables_keyed_by_numpys_functions():
    """Libraries keep tables by NumPy's functions, from before or after the patch: both are
    found."""
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
        assert is_ours("unique")
    assert is_ours("unique")
    fastsel.unpatch_numpy()
    assert not is_ours("unique")


def test_unpatch_without_patch():
    with pytest.raises(RuntimeError, match="NumPy is not patched"):
        fastsel.unpatch_numpy()
    with fastsel.patched():
        assert is_ours("unique")


def test_patched_ends_with_an_exception():
    with pytest.raises(KeyError), fastsel.patched():
        raise KeyError
    assert not is_ours("nonzero")


def test_patched_is_a_decorator():
    @fastsel.patched()
    def function():
        return is_ours("nonzero")

    assert function()
    assert function()
    assert not is_ours("nonzero")


def test_what_others_put_in_place_stays(monkeypatch):
    def other(a):
        return ORIGINALS["argwhere"](a)

    monkeypatch.setattr(np, "argwhere", other)
    with fastsel.patched():
        assert np.argwhere is other
        assert is_ours("nonzero")
    assert np.argwhere is other


def test_patched_in_many_threads():
    """Within a block, whatever other threads do, the functions are ours; at the end, NumPy's."""
    wrong, start = [], threading.Barrier(4)

    def patch_often():
        start.wait()
        for _ in range(50):
            with fastsel.patched():
                codes = {name: function.__code__ for name, function in IMPLEMENTATIONS.items()}
                if any(codes[name] is CODES[name] for name in NAMES):
                    wrong.append(codes)
                if np.unique_values([2, 1, 2]).tolist() != [1, 2]:
                    wrong.append("unique_values")

    threads = [threading.Thread(target=patch_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all(function.__code__ is CODES[name] for name, function in IMPLEMENTATIONS.items())


CALLS_OF_NUMPYS = {
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
def no_call_arrives(monkeypatch):
    """With NumPy patched, a call of one of its functions is an error."""

    def refuse(*args, **kwargs):
        raise AssertionError("a call came back")

    for name in NAMES:
        monkeypatch.setitem(_patch.OURS, name, refuse)
    monkeypatch.setattr(_patch, "COUNT_SMALL", refuse)
    with fastsel.patched():
        yield


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("name", NAMES)
def test_copies_of_numpys_functions_call_copies(name, items, no_call_arrives):
    for call in CALLS_OF_NUMPYS[name]:
        call(getattr(_numpy, name), ITEMS[items])


@pytest.mark.parametrize("size", [4, 600, 1200, 20000])
@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("name", NAMES)
def test_calls_of_ours_do_not_come_back(name, items, size, no_call_arrives):
    array = ITEMS[items].repeat(size // 4)
    for call in CALLS_OF_NUMPYS[name]:
        call(getattr(fastsel, name), array)


def test_our_modules_call_no_function_that_is_patched():
    """With NumPy patched, a call of NumPy's function would come back to fastsel's module."""
    for path in Path(fastsel.__file__).parent.rglob("*.py*"):
        if path.suffix in (".py", ".pyx"):
            calls = re.findall(
                rf"(?<![`\w.])np\.({'|'.join(NAMES)})\b(?!`)", path.read_text("utf-8")
            )
            assert not calls, (path, calls)


REACHED = {"nanpercentile": ("nonzero", lambda: np.nanpercentile([1, np.nan, 3.0], 50))}
if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
    REACHED["trim_zeros"] = ("argwhere", lambda: np.trim_zeros(np.array([0, 1, 0])))


@pytest.mark.parametrize("name", REACHED)
def test_calls_of_numpys_own_functions_arrive(name, monkeypatch):
    function, call = REACHED[name]
    called, ours = [], _patch.OURS[function]
    monkeypatch.setitem(_patch.OURS, function, lambda *a, **k: called.append(a) or ours(*a, **k))
    with fastsel.patched():
        call()
    assert called
