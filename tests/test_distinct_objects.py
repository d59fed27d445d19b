"""unique of object arrays: the items' own `<` and `==` decide, as in NumPy; texts may be hashed."""

import contextlib
import ctypes
import sys
import threading

import numpy as np
import pytest
import reference
from arrays import assert_same, outcome

import fastsel
from fastsel._kernels.texts import columns_of, runs_of


def objects(*items):
    return np.fromiter(items, object, len(items))


TEXTS = ("b", "a\0", "a", "", "\ud800", "\U0001f600", "\uffff", "a ", "b", "é" * 40, "x" * 300)
CHUNKS = (b"b", b"a\0", b"a", b"", b"\xff", b"\x80", b"a ", b"b", b"x" * 300)


class Item:
    """Orderable by its number, not hashable."""

    __hash__ = None

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return self.number == other.number


class Backwards(str):
    """A text that sorts the other way round."""

    def __lt__(self, other):
        return str.__gt__(self, other)

    def __gt__(self, other):
        return str.__lt__(self, other)


class SameLetter(str):
    """A text that equals each text with the same first letter."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self[:1] == other[:1]


@pytest.mark.parametrize("items", [TEXTS, CHUNKS], ids=["str", "bytes"])
def test_texts_equal_numpy_in_every_output(items, few_threads):
    rng = np.random.default_rng(5)
    for size in (1, 2, 9, 64, 65, 1000):
        array = objects(*(items[k] for k in rng.integers(len(items), size=size)))
        for equal_nan in (True, False):
            assert_same(
                fastsel.unique(array, True, True, True, equal_nan=equal_nan),
                np.unique(array, True, True, True, equal_nan=equal_nan),
            )
        assert fastsel.unique(array).tolist() == np.unique(array).tolist()
        reference.check_unique(fastsel.unique, array)


@pytest.mark.parametrize("items", [TEXTS, CHUNKS], ids=["str", "bytes"])
def test_equal_texts_may_be_different_objects(items, few_threads):
    """The object shown is the first of its group."""
    copies = [item[:1] + item[1:] if len(item) > 1 else item for item in items for _ in range(9)]
    reference.check_unique(fastsel.unique, objects(*copies))


@pytest.mark.parametrize("layout", [np.s_[::2], np.s_[::-1], np.s_[3:]])
def test_texts_in_strided_arrays(layout, few_threads):
    for shape in ((60,), (4, 15), (3, 4, 5)):
        array = objects(*(f"text {k % 7}" for k in range(60))).reshape(shape)[..., layout]
        reference.check_unique(fastsel.unique, array)
        reference.check_unique(fastsel.unique, array.T)


@pytest.mark.parametrize("kind", [Backwards, SameLetter])
def test_subclasses_of_str_decide_for_themselves(kind, few_threads):
    array = objects(*(kind(text) for text in ("ab", "b", "ac", "c", "b", "ab")))
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
    assert_same(fastsel.unique(array), np.unique(array, return_index=True)[0])


def test_one_item_of_another_type_is_seen_wherever_it_is(few_threads):
    for place in (0, 1, 30, 59):
        array = objects(*(Backwards("b") if k == place else "abc"[k % 3] for k in range(60)))
        assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
        array[place] = 3
        for in_order in (True, False):
            ours = outcome(fastsel.unique, array, sorted=in_order)
            assert ours[0] == ("raises" if in_order else "returns")
        assert ours[1].tolist() == list(dict.fromkeys(array.tolist()))


def test_numpy_strings_as_items(few_threads):
    array = objects(*(np.str_(text) for text in ("b", "a", "b")))
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


def test_equal_items_of_different_types_are_one_group_shown_by_the_first(few_threads):
    for items in ((1.0, True, 1, 0, False), (True, 1, 1.0, 0), (0, False, 1, 1.0)):
        array = objects(*items * 40)
        reference.check_unique(fastsel.unique, array)
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
def test_other_items_with_an_order(items, few_threads):
    reference.check_unique(fastsel.unique, objects(*items))


def test_items_without_hash_are_compared(few_threads):
    array = objects(*map(Item, (3, 1, 3, 2, 1)))
    for in_order, order in ((True, [1, 3, 0]), (False, [0, 1, 3])):
        values, *extras = fastsel.unique(array, True, True, True, sorted=in_order)
        assert_same(values, array[order])
        index, inverse, counts = (extra.tolist() for extra in extras)
        assert index == order
        assert inverse == ([2, 0, 2, 1, 0] if in_order else [0, 1, 0, 2, 1])
        assert counts == [[2, 1, 2], [2, 2, 1]][not in_order]


def test_hash_is_not_called_when_sorted(few_threads):
    class Unhashable(Item):
        def __hash__(self):
            raise RuntimeError("hashed")

    array = objects(*map(Unhashable, (3, 1, 3)))
    assert_same(fastsel.unique(array), array[[1, 0]])


def test_a_single_item_is_not_compared(few_threads):
    class Incomparable:
        __hash__ = None

        def __lt__(self, other):
            raise RuntimeError("compared")

        __eq__ = __lt__

    array = objects(Incomparable())
    assert_same(fastsel.unique(array), array)
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


@pytest.mark.parametrize("method", ["__lt__", "__eq__"])
def test_an_error_of_a_comparison_propagates(method, few_threads):
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
def test_items_without_order_raise_as_numpy_does(items, few_threads):
    array = objects(*items)
    expected = outcome(np.unique, array, True, True, True)
    assert expected[:2] == ("raises", TypeError)
    assert outcome(fastsel.unique, array, True, True, True) == expected
    # The text names the two items that the sort compares first; so it may differ here.
    assert outcome(fastsel.unique, array)[:2] == expected[:2]


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
def test_items_without_order_may_be_kept_as_met(items, few_threads):
    array = objects(*items)
    reference.check_unique(fastsel.unique, array, sorted=(False,))
    assert fastsel.unique(array, sorted=False).tolist() == list(dict.fromkeys(items))


def test_items_without_order_and_hash_raise(few_threads):
    with pytest.raises(TypeError):
        fastsel.unique(objects({}, {1: 2}, {}), sorted=False)


def test_an_object_array_of_one_dimension_takes_axis_zero(few_threads):
    array = objects(*TEXTS)
    for axis in (0, -1):
        assert_same(
            fastsel.unique(array, True, True, True, axis=axis), reference.unique_outputs(array)
        )


def test_values_hold_references_of_their_own(few_threads):
    """The items live as long as the result does."""
    array = objects(*(f"text {k % 5}" for k in range(50)))
    values = fastsel.unique(array)
    array[:] = None
    assert values.tolist() == [f"text {k}" for k in range(5)]


@pytest.mark.parametrize("equal_nan", [True, False])
def test_missing_strings_are_equal_or_not(equal_nan):
    """StringDType(na_object=None), unsorted: equal_nan speaks of None as well, as in NumPy."""
    array = np.array(["b", None, "a", None, "b"], np.dtypes.StringDType(na_object=None))
    values, counts = fastsel.unique(
        array, return_counts=True, equal_nan=equal_nan, sorted=False
    )  # fmt: skip
    assert values.tolist() == (["b", None, "a"] if equal_nan else ["b", None, "a", None])
    assert counts.tolist() == ([2, 2, 1] if equal_nan else [2, 1, 1, 1])


class Colliding:
    """Many have the same hash, and are equal if their numbers are."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return int(self.number) % 3

    def __eq__(self, other):
        return self.number == other.number


def first_outputs(items):
    """The four outputs in order of first occurrence, by a dict."""
    numbers = {}
    inverse = [numbers.setdefault(item, len(numbers)) for item in items]
    index = [inverse.index(number) for number in range(len(numbers))]
    return list(numbers), index, inverse, [inverse.count(number) for number in range(len(numbers))]


def check_first_outputs(items, **keywords):
    found = fastsel.unique(objects(*items), True, True, True, sorted=False, **keywords)
    values, index, inverse, counts = first_outputs(items)
    assert len(found[0]) == len(values)
    assert all(ours is theirs for ours, theirs in zip(found[0], values, strict=True))
    assert [part.tolist() for part in found[1:]] == [index, inverse, counts]
    return found[0]


def test_different_objects_of_the_same_hash():
    """In order of first occurrence, among others and across batches."""
    rng = np.random.default_rng(6)
    for size, kinds in ((5, 3), (130, 40), (700, 60)):
        check_first_outputs([Colliding(k) for k in rng.integers(kinds, size=size)])
    numbers = [k + j * (2**61 - 1) for k in range(50) for j in (0, 1, 2, 0)]  # of equal hashes
    check_first_outputs([*numbers, None, -1, -2, *numbers, None])


@pytest.mark.parametrize("kinds", [1, 40, 1100, 5000])
def test_many_texts(kinds):
    """More than fit the first table, all copies, so that none is found by its identity."""
    rng = np.random.default_rng(kinds)
    for make in (str, lambda number: b"%d" % number, "é{}".format, "\U0001f600{}".format):
        items = [make(number) for number in rng.integers(kinds, size=6000)]
        values, index, inverse, counts = fastsel.unique(
            objects(*items), True, True, True, sorted=False
        )
        assert values.tolist() == list(dict.fromkeys(items))
        assert (index[inverse] <= np.arange(6000)).all()
        assert values[inverse].tolist() == items
        assert np.array_equal(counts, np.bincount(inverse))
        assert fastsel.unique(objects(*items)).tolist() == sorted(set(items))


@pytest.mark.parametrize("make", [str, lambda number: b"%d" % number])
def test_many_texts_are_sorted(make):
    """By arrays of letters, unless these would not say all; in order already; too long."""
    rng = np.random.default_rng(8)
    plain = [make(number) for number in rng.permutation(3000)]
    nul, wide = make(0)[:0].join((make(12), make(0)[:0])), make(7) * 200
    nul += "\0" if isinstance(nul, str) else b"\0"
    others = [[], [nul], [wide], sorted(plain)[:9]]
    if isinstance(nul, str):
        others += [["\u0100", "\U0001f600b", "\ud800"], [nul, "\uffff" * 40]]
    for other in others:
        items = [*plain, *other]
        for texts in (items, sorted(items), sorted(items)[::-1]):
            array = objects(*texts)
            assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
            assert fastsel.unique(array).tolist() == sorted(set(texts))


@pytest.mark.parametrize("letters", ["ab", "a\xe9", "\u0142\uffff", "\U0001f600\ud7ffz", "a\0b"])
@pytest.mark.parametrize("longest", [1, 3, 7, 8, 9, 16, 31, 33, 64, 65, 129])
def test_texts_of_every_width_and_length_are_sorted(letters, longest, few_threads):
    """Letters of 1, 2 and 4 bytes, at the edges of the words that they are put into."""
    rng = np.random.default_rng(longest)
    items = [
        "".join(rng.choice([*letters], length)) for length in rng.integers(0, longest + 1, 2500)
    ]
    items += ["".join([letters[0]] * k) for k in range(2100 % (longest + 3))]
    items += [letters[-1] * (k // 50) + str(k) for k in range(2100)]  # all of them distinct
    some = [items]
    if max(letters) < "\u0100":
        some.append([item.encode("latin1") for item in items])
    for texts in some:
        array = objects(*texts)
        before = sys.getrefcount(texts[-1])
        found = fastsel.unique(array, True, True, True)
        assert found[0].tolist() == sorted(set(texts))
        assert_same(found[1:], np.unique(array, True, True, True)[1:])
        del found
        after = sys.getrefcount(texts[-1])
        assert after == before


@pytest.mark.parametrize(
    "items",
    [("a", b"a"), (b"a", "a"), ("a", None), ("a", Backwards("b")), ("a", "b\0"), ("é" * 129,)],
)
def test_letters_of_some_objects_do_not_order_them(items):
    assert columns_of(objects(*items), 16, 1) is None


def test_texts_of_equal_length_and_different_kind():
    items = ["ab", "\xe9b", "\u0100b", "\U0001f600b", "ab", "\xe9b", "a\0", "a"] * 3
    assert check_first_outputs(items).tolist() == list(dict.fromkeys(items))


def test_a_nan_object_equals_itself_alone():
    nan, other = float("nan"), float("nan")
    check_first_outputs([nan, None, other, nan, other, None])


def test_empty_places_of_an_array_of_objects_are_none():
    array = np.zeros(3, object)
    array[1] = "a"
    ctypes.memset(array.ctypes.data, 0, 8)  # as C code leaves an array that it did not fill
    assert fastsel.unique(array, sorted=False).tolist() == [None, "a", 0]


def test_references_are_exact():
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
    """The lock is handed over between rounds: a thread that waits for it goes on before the end."""
    texts = objects(*map(str, range(200_000)))
    ran = []
    thread = threading.Thread(target=lambda: ran.append(True))

    class Starts(str):
        """Not a plain text: the objects are hashed one by one, and it starts the thread."""

        def __hash__(self):
            if thread.ident is None:
                thread.start()
            return 1

    class Looks(Starts):
        def __hash__(self):
            looked.append(bool(ran))
            return 2

    looked = []
    array = np.concatenate((objects(None, Starts()), texts, objects(Looks())))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        fastsel.unique(array, sorted=False)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert looked == [True]


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


def with_hash_1(text):
    """A new str or bytes of these two letters or more, whose hash, behind the length, is 1."""
    copy = (text + text)[: len(text)]
    ctypes.c_ssize_t.from_address(id(copy) + object.__basicsize__ + 8).value = 1
    assert copy == text
    return copy


@pytest.mark.skipif(object.__basicsize__ != 16, reason="objects have another head here")
@pytest.mark.parametrize(
    "letters", ["ab", "\xe9\xea", "\u0142\uffff", "\U0001f600\U0001f601", b"ab"]
)
def test_texts_of_one_hash_are_told_apart(letters):
    """By each of their letters, and by their length, whether they are short or long."""
    one, other = letters[:1], letters[1:]
    texts = []
    for length in (*range(2, 20), 33):
        texts += [one * k + other + one * (length - k - 1) for k in range(length)]
        texts.append(one * length)
    texts = texts * 2
    objects = np.empty(len(texts), object)
    objects[:] = [with_hash_1(text) for text in texts]
    assert {hash(text) for text in objects} == {1}
    values, index, inverse = fastsel.unique(
        objects, return_index=True, return_inverse=True, sorted=False
    )
    half = len(texts) // 2
    assert values.tolist() == texts[:half]
    assert np.array_equal(index, np.arange(half))
    assert np.array_equal(inverse, np.resize(np.arange(half), len(texts)))


@pytest.mark.skipif(object.__basicsize__ != 16, reason="objects have another head here")
def test_bytes_equal_no_str_of_the_same_hash():
    objects = np.array([with_hash_1(text) for text in ("abc", b"abc", "abc", b"abc")], object)
    assert fastsel.unique(objects, sorted=False).tolist() == ["abc", b"abc"]


@pytest.mark.parametrize(
    "texts",
    [
        ["a"],
        ["a", "a"],
        ["", "", "a", "aa", "ab", "b", "b"],
        ["a", "\xe9", "\u0142", "\U0001f600"],
        ["\u0142", "\u0142a", "\u0143"],
        [str(number) for number in sorted(map(str, range(300)))],
    ],
    ids=["one", "alike", "ascii", "widths", "wide", "many"],
)
@pytest.mark.parametrize("encoded", [False, True])
def test_texts_in_order(texts, encoded):
    """Up and down, and all but one of them."""
    items = [text.encode() for text in texts] if encoded else texts
    items = sorted(items)
    stray = items[0][:0]
    for array in (objects(*items), objects(*items[::-1]), objects(*items, stray)):
        expected = np.unique(array, True, True, True)
        assert_same(fastsel.unique(array, True, True, True), expected)
        for flags in ((True, False, False), (False, False, True)):
            assert_same(fastsel.unique(array, *flags)[1], np.unique(array, *flags)[1])
        values, index = fastsel.unique(array, return_index=True, sorted=False)
        assert_same(values, array[np.sort(expected[1])])
        assert_same(index, np.sort(expected[1]))
    assert runs_of(objects(*items))[1] == 1


def test_which_texts_are_in_order():
    assert runs_of(objects("a", "b", "b", "c"))[0].tolist() == [0, 1, 3]
    assert runs_of(objects(b"c", b"b"))[1] == -1
    assert runs_of(objects("a", "c", "b")) is None
    assert runs_of(objects("b", "a", "b")) is None
    assert runs_of(objects("a", b"b")) is None
    assert runs_of(objects(b"a", "b")) is None
    assert runs_of(objects("a", 1)) is None
    assert runs_of(objects(1, 2)) is None
    assert runs_of(np.empty(3, object)) is None


@pytest.mark.parametrize("text", [str, lambda number: b"%d" % number])
@pytest.mark.parametrize("axis", [0, -1])
def test_objects_in_any_strides_along_an_axis(text, axis):
    texts = [text(number) for number in (7, 2, 5, 2, 7, 9, 1)] * 9
    record = np.zeros(len(texts), [("flag", "u1"), ("item", "O")])
    record["item"] = texts
    plain = objects(*texts)
    for array in (
        plain[::2],
        plain[::-1],
        np.sort(plain)[::-3],
        record["item"],
        record["item"][:1],
    ):
        expected = np.unique(array, True, True, True)
        assert_same(fastsel.unique(array, True, True, True, axis), expected)
        assert fastsel.unique(array, axis=axis, sorted=False).tolist() == list(dict.fromkeys(array))
    everywhere = np.broadcast_to(np.array(text(3), object), 300_000)
    assert fastsel.unique(everywhere, axis=axis, return_counts=True)[1] == 300_000
