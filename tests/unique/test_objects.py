"""unique of object arrays: `<` and `==` of the items decide, as in NumPy; with sorted=False, their
`__hash__` and `==`, if all items have a hash."""

import contextlib
import ctypes
import itertools
import sys
import threading

import numpy as np
import pytest
from arrays import objects
from comparison import assert_same, check_objects, check_unique, outcome

import fastsel


class Item:
    """An object that is ordered by its number, and not hashable."""

    __hash__ = None

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return self.number == other.number


def test_equal_items_of_different_types_have_the_first_as_their_value(kernels_with_few_threads):
    for items in ((1.0, True, 1, 0, False), (True, 1, 1.0, 0), (0, False, 1, 1.0)):
        array = objects(*items * 40)
        check_unique(fastsel.unique, array)
        assert [type(item) for item in fastsel.unique(array, sorted=False)] == [
            type(item) for item in dict.fromkeys(items)
        ]


@pytest.mark.parametrize(
    "items",
    [
        (2**70, 1, -(2**70), 2**70),
        ((1, 2), (1,), (1, 2), ()),
        (2.5, 1, 2.5, -1),
        (frozenset(),) * 3,
    ],
)
def test_items_with_an_order_equal_the_reference(items, kernels_with_few_threads):
    check_unique(fastsel.unique, objects(*items))


def test_items_without_hash_are_compared(kernels_with_few_threads):
    array = objects(*map(Item, (3, 1, 3, 2, 1)))
    for in_order, order in ((True, [1, 3, 0]), (False, [0, 1, 3])):
        values, *extras = fastsel.unique(array, True, True, True, sorted=in_order)
        assert_same(values, array[order])
        index, inverse, counts = (extra.tolist() for extra in extras)
        assert index == order
        assert inverse == ([2, 0, 2, 1, 0] if in_order else [0, 1, 0, 2, 1])
        assert counts == [[2, 1, 2], [2, 2, 1]][not in_order]


def test_hash_is_not_called_when_sorted(kernels_with_few_threads):
    class Unhashable(Item):
        def __hash__(self):
            raise RuntimeError("hashed")

    array = objects(*map(Unhashable, (3, 1, 3)))
    assert_same(fastsel.unique(array), array[[1, 0]])


def test_a_single_item_needs_no_comparison(kernels_with_few_threads):
    class Incomparable:
        __hash__ = None

        def __lt__(self, other):
            raise RuntimeError("compared")

        __eq__ = __lt__

    array = objects(Incomparable())
    assert_same(fastsel.unique(array), array)
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


@pytest.mark.parametrize("method", ["__lt__", "__eq__"])
def test_an_error_of_a_comparison_propagates(method, kernels_with_few_threads):
    def fail(self, other):
        raise ZeroDivisionError(method)

    kind = type("Failing", (Item,), {method: fail})
    array = objects(*map(kind, (2, 1, 2)))
    for extras in ((), (True, True, True)):
        with pytest.raises(ZeroDivisionError, match=method):
            fastsel.unique(array, *extras)


@pytest.mark.parametrize(
    "items",
    [
        (1, "a", 1),
        (None, None),
        ("a", b"a"),
        ({}, {1: 2}),
        (1, None),
        (1j, 2j),
        (object(), object()),
    ],
)
def test_items_without_order_raise_as_numpy_does(items, kernels_with_few_threads):
    array = objects(*items)
    expected = outcome(np.unique, array, True, True, True)
    assert expected[:2] == ("raises", TypeError)
    assert outcome(fastsel.unique, array, True, True, True) == expected
    # The message names the types of the items that the sort compares first: it may differ here.
    assert outcome(fastsel.unique, array)[:2] == expected[:2]


@pytest.mark.parametrize("count", [1, 2, 5, 8, 10, 17, 40, 1000, 20_000])
def test_types_without_a_common_order_raise_at_every_size(count):
    """numpy.int64 is ordered with int and with complex. NumPy raises an error only if its sort
    compares an int with the complex number, which depends on the size and the outputs."""
    array = objects(*[0, np.int64(1)] * count, 29 + 2j)
    for extras in itertools.product((False, True), repeat=3):
        with pytest.raises(TypeError, match="not supported between instances of"):
            fastsel.unique(array, *extras)
    for function in (fastsel.unique_all, fastsel.unique_counts, fastsel.group_indices):
        with pytest.raises(TypeError, match="not supported between instances of"):
            function(array)
    for first, second in ((array[:-1], array[-1:]), (array[-1:], array[:-1]), (array, array[:0])):
        with pytest.raises(TypeError, match="not supported between instances of"):
            fastsel.union1d(first, second)
    assert fastsel.unique(array, sorted=False).tolist() == [0, 1, 29 + 2j]


@pytest.mark.parametrize(
    "items",
    [
        (1, "a", 1),
        (None, None),
        ("a", b"a", "a"),
        (1, None, ...),
        (2j, 1j, 2j),
        ("b", 3, ("b", 3), None, "b", 3.0),
    ],
)
def test_items_without_order_keep_the_order_of_first_occurrence(items, kernels_with_few_threads):
    array = objects(*items)
    check_unique(fastsel.unique, array, sorted=(False,))
    assert fastsel.unique(array, sorted=False).tolist() == list(dict.fromkeys(items))


def test_items_without_order_and_hash_raise(kernels_with_few_threads):
    with pytest.raises(TypeError):
        fastsel.unique(objects({}, {1: 2}, {}), sorted=False)


def test_values_hold_references_to_their_items(kernels_with_few_threads):
    """The items live as long as the result does."""
    array = objects(*(f"text {k % 5}" for k in range(50)))
    values = fastsel.unique(array)
    array[:] = None
    assert values.tolist() == [f"text {k}" for k in range(5)]


class Colliding:
    """An object with one of three hashes. Two objects are equal if their numbers are."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return int(self.number) % 3

    def __eq__(self, other):
        return self.number == other.number


def test_different_objects_of_the_same_hash_are_distinct():
    """Objects of equal hashes come in order of first occurrence, also among other objects."""
    rng = np.random.default_rng(6)
    for size, kinds in ((5, 3), (130, 40), (700, 60)):
        check_objects([Colliding(k) for k in rng.integers(kinds, size=size)])
    # Numbers that differ by a multiple of 2^61 - 1 have equal hashes.
    numbers = [k + j * (2**61 - 1) for k in range(50) for j in (0, 1, 2, 0)]
    check_objects([*numbers, None, -1, -2, *numbers, None])


def test_null_pointers_in_an_array_of_objects_are_none():
    array = np.zeros(3, object)
    array[1] = "a"
    ctypes.memset(array.ctypes.data, 0, 8)  # C code may leave null pointers
    assert fastsel.unique(array, sorted=False).tolist() == [None, "a", 0]


def test_reference_counts_are_unchanged():
    text, item = "".join(["a", "b"] * 9), Colliding(5)
    before = sys.getrefcount(text), sys.getrefcount(item)
    for _ in range(50):
        for items in ([text] * 300, [item] * 300, [text, None, item] * 100):
            array = objects(*items)
            fastsel.unique(array, True, True, True, sorted=False)
            with contextlib.suppress(TypeError):
                fastsel.unique(array)
            outcome(fastsel.unique, objects(*items, {}), sorted=False)
    del array, items
    assert (sys.getrefcount(text), sys.getrefcount(item)) == before


def test_other_threads_run_meanwhile():
    """The GIL is released between rounds: a thread that waits for it runs before the call ends. The
    thread needs a CPU for that, hence longer and longer calls."""
    texts = objects(*map(str, range(200_000)))
    assert any(another_thread_runs_during(np.tile(texts, 2**k)) for k in range(8))


def another_thread_runs_during(texts):
    has_run = []
    thread = threading.Thread(target=lambda: has_run.append(True))

    class StartsThread(str):
        """A subclass of str, so that objects are hashed one by one; its hash starts the thread."""

        def __hash__(self):
            if thread.ident is None:
                thread.start()
            return 1

    class ChecksThread(StartsThread):
        def __hash__(self):
            checks.append(bool(has_run))
            return 2

    checks = []
    array = np.concatenate((objects(None, StartsThread()), texts, objects(ChecksThread())))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        fastsel.unique(array, sorted=False)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert len(checks) == 1
    return checks[0]


def test_an_error_of_a_comparison_of_hashed_objects_propagates():
    class Failing(Colliding):
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise ZeroDivisionError("compared")

    for count in (2, 3, 200):
        array = objects(*map(Failing, range(count)))
        with pytest.raises(ZeroDivisionError, match="compared"):
            fastsel.unique(array, sorted=False)
