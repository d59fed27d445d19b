"""patch_numpy, unpatch_numpy, patched: what they reach, and that they leave no trace."""

import sys
import threading

import numpy as np
import pytest
from arrays import assert_same, outcome

import fastsel
from fastsel import _numpy, _patch

NAMES = sorted(_numpy.__all__)
ORIGINALS = {name: getattr(np, name) for name in NAMES}


@pytest.fixture(autouse=True)
def _unpatched():
    """A test that fails leaves NumPy as it was."""
    yield
    while np.nonzero is not ORIGINALS["nonzero"]:
        fastsel.unpatch_numpy()


def numpy_functions():
    """Every attribute of a NumPy module that is one of the functions, ours or theirs."""
    known = {id(function) for pair in _patch.REPLACEMENTS.items() for function in pair}
    return {
        (module_name, attribute): value
        for module_name, module in list(sys.modules.items())
        if module is not None and module_name.split(".")[0] == "numpy"
        for attribute, value in vars(module).items()
        if id(value) in known
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_the_same_name_takes_its_place(name):
    with fastsel.patched():
        assert getattr(np, name) is getattr(fastsel, name)
    assert getattr(np, name) is ORIGINALS[name]


def test_every_function_of_numpys_name_is_replaced():
    of_numpys_name = {name for name in fastsel.__all__ if hasattr(np, name) and name[0] != "_"}
    assert of_numpys_name - {"show_config"} == set(NAMES)


def test_every_module_of_numpy_is_reached():
    before = numpy_functions()
    with fastsel.patched():
        within = numpy_functions()
    assert {place for place, value in within.items() if value is not before[place]} == set(before)
    assert {module for module, _ in before} >= {
        "numpy",
        "numpy.lib._arraysetops_impl",
        "numpy.lib._function_base_impl",
        "numpy._core.fromnumeric",
        "numpy._core.numeric",
    }
    assert numpy_functions() == before


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


def test_patches_are_counted():
    fastsel.patch_numpy()
    with fastsel.patched():
        fastsel.patch_numpy()
        fastsel.unpatch_numpy()
        assert np.unique is fastsel.unique
    assert np.unique is fastsel.unique
    fastsel.unpatch_numpy()
    assert np.unique is ORIGINALS["unique"]


def test_unpatch_without_patch():
    with pytest.raises(RuntimeError, match="NumPy is not patched"):
        fastsel.unpatch_numpy()
    with fastsel.patched():
        assert np.unique is fastsel.unique


def test_patched_ends_with_an_exception():
    with pytest.raises(KeyError), fastsel.patched():
        raise KeyError
    assert np.nonzero is ORIGINALS["nonzero"]


def test_patched_is_a_decorator():
    @fastsel.patched()
    def function():
        return np.nonzero

    assert function() is fastsel.nonzero
    assert function() is fastsel.nonzero
    assert np.nonzero is ORIGINALS["nonzero"]


def test_what_others_put_in_place_stays(monkeypatch):
    def other(a):
        return ORIGINALS["argwhere"](a)

    monkeypatch.setattr(np, "argwhere", other)
    with fastsel.patched():
        assert np.argwhere is other
        assert np.nonzero is fastsel.nonzero
    assert np.argwhere is other


def test_a_module_imported_meanwhile_is_restored(monkeypatch):
    with fastsel.patched():
        module = type(sys)("numpy.imported_meanwhile")
        module.nonzero = np.nonzero
        monkeypatch.setitem(sys.modules, module.__name__, module)
        assert module.nonzero is fastsel.nonzero
    assert module.nonzero is ORIGINALS["nonzero"]


def test_patched_in_many_threads():
    """Within a block, whatever other threads do, the functions are ours; at the end, NumPy's."""
    wrong, start = [], threading.Barrier(4)

    def patch_often():
        start.wait()
        for _ in range(50):
            with fastsel.patched():
                functions = [getattr(np, name) for name in NAMES]
                if functions != [getattr(fastsel, name) for name in NAMES]:
                    wrong.append(functions)

    threads = [threading.Thread(target=patch_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert {name: getattr(np, name) for name in NAMES} == ORIGINALS
