"""unique of object arrays of str or bytes: it hashes the strings, and packs their first characters
into integers, by which it sorts them."""

import sys

import numpy as np
import pytest
import reference
from arrays import objects
from comparison import assert_same, check_objects, check_unique, outcome
from grids import covering
from numpy.dtypes import StringDType

import fastsel
from fastsel._unique import _keys, string_objects
from fastsel._unique.string_objects import find_runs

TEXTS = ("b", "a\0", "a", "", "\ud800", "\U0001f600", "\uffff", "a ", "b", "é" * 40, "x" * 300)
BYTES = (b"b", b"a\0", b"a", b"", b"\xff", b"\x80", b"a ", b"b", b"x" * 300)


class Backwards(str):
    """A text that sorts in descending order."""

    def __lt__(self, other):
        return str.__gt__(self, other)

    def __gt__(self, other):
        return str.__lt__(self, other)


class SameFirstCharacter(str):
    """A text that equals each text with the same first character."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self[:1] == other[:1]


@pytest.mark.parametrize("items", [TEXTS, BYTES], ids=["str", "bytes"])
def test_texts_equal_numpy_in_every_output(items, kernels_with_few_threads):
    rng = np.random.default_rng(5)
    for size in (1, 2, 9, 64, 65, 1000):
        array = objects(*(items[k] for k in rng.integers(len(items), size=size)))
        for equal_nan in (True, False):
            assert_same(
                fastsel.unique(array, True, True, True, equal_nan=equal_nan),
                np.unique(array, True, True, True, equal_nan=equal_nan),
            )
        assert fastsel.unique(array).tolist() == np.unique(array).tolist()
        check_unique(fastsel.unique, array)


def test_without_the_gil_unique_uses_a_copy_and_no_array_is_tiny(run_python):
    """unique works on a copy of an object array. And no array with items is tiny, because NumPy's
    nonzero, which serves tiny arrays, relies on the GIL between its two passes. The test only
    pretends that there is no GIL: __hash__ changes the array, in place of another thread."""
    run_python("""
import sys
sys._is_gil_enabled = lambda: False
import numpy as np
import fastsel
from fastsel._core import _gate

class ArrayChanger:
    def __hash__(self):
        array.fill(None)
        return 0

array = np.array([ArrayChanger(), "b", "a", "b"], object)
expected = array[:3].tolist()
assert fastsel.unique(array, sorted=False).tolist() == expected
assert array.tolist() == [None] * 4
assert not _gate.tiny(np.ones(1))
""")


@pytest.mark.parametrize("items", [TEXTS, BYTES], ids=["str", "bytes"])
def test_equal_texts_may_be_different_objects(items, kernels_with_few_threads):
    """Each value is the first object of its group."""
    copies = [item[:1] + item[1:] if len(item) > 1 else item for item in items for _ in range(9)]
    check_unique(fastsel.unique, objects(*copies))


@pytest.mark.parametrize("layout", [np.s_[::2], np.s_[::-1], np.s_[3:]])
def test_texts_in_strided_arrays_equal_the_reference(layout, kernels_with_few_threads):
    for shape in ((60,), (4, 15), (3, 4, 5)):
        array = objects(*(f"text {k % 7}" for k in range(60))).reshape(shape)[..., layout]
        check_unique(fastsel.unique, array)
        check_unique(fastsel.unique, array.T)


@pytest.mark.parametrize("kind", [Backwards, SameFirstCharacter])
def test_subclasses_of_str_compare_by_their_methods(kind, kernels_with_few_threads):
    array = objects(*(kind(text) for text in ("ab", "b", "ac", "c", "b", "ab")))
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
    assert_same(fastsel.unique(array), np.unique(array, return_index=True)[0])


def test_one_item_of_another_type_is_noticed_at_several_positions(kernels_with_few_threads):
    for position in (0, 1, 30, 59):
        array = objects(*(Backwards("b") if k == position else "abc"[k % 3] for k in range(60)))
        assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
        array[position] = 3
        for in_order in (True, False):
            ours = outcome(fastsel.unique, array, sorted=in_order)
            assert ours[0] == ("raises" if in_order else "returns")
        assert ours[1].tolist() == list(dict.fromkeys(array.tolist()))


def test_items_of_type_numpy_str_equal_numpy(kernels_with_few_threads):
    array = objects(*(np.str_(text) for text in ("b", "a", "b")))
    assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))


def test_an_object_array_of_one_dimension_takes_axis_zero(kernels_with_few_threads):
    array = objects(*TEXTS)
    for axis in (0, -1):
        assert_same(
            fastsel.unique(array, True, True, True, axis=axis), reference.unique_outputs(array)
        )


@pytest.mark.parametrize("num_distinct", [1, 40, 1100, 5000])
def test_many_texts_are_grouped_as_by_python_unsorted_and_sorted(num_distinct):
    """The distinct texts are few, or more than a small hash table holds. Equal texts of several
    characters are different objects, so that their identity does not decide."""
    rng = np.random.default_rng(num_distinct)
    for make in (str, lambda number: b"%d" % number, "é{}".format, "\U0001f600{}".format):
        items = [make(number) for number in rng.integers(num_distinct, size=6000)]
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
    """Texts differ in the characters that `pack_leading_characters` packs, or after them. Some
    arrays are in order; some have a very long text."""
    rng = np.random.default_rng(8)
    decimals = [make(number) for number in rng.permutation(3000)]
    text_with_nul, long_text = make(0)[:0].join((make(12), make(0)[:0])), make(7) * 200
    text_with_nul += "\0" if isinstance(text_with_nul, str) else b"\0"
    additions = [[], [text_with_nul], [long_text], sorted(decimals)[:9]]
    if isinstance(text_with_nul, str):
        additions += [["\u0100", "\U0001f600b", "\ud800"], [text_with_nul, "\uffff" * 40]]
    for added in additions:
        items = [*decimals, *added]
        for texts in (items, sorted(items), sorted(items)[::-1]):
            array = objects(*texts)
            assert_same(fastsel.unique(array, True, True, True), np.unique(array, True, True, True))
            assert fastsel.unique(array).tolist() == sorted(set(texts))


@covering(
    max_length=[1, 3, 7, 8, 9, 16, 31, 33, 64, 65, 129],
    characters=["ab", "a\xe9", "\u0142\uffff", "\U0001f600\ud7ffz", "a\0b"],
)
def test_texts_of_every_width_and_length_are_sorted(
    characters, max_length, kernels_with_few_threads
):
    """Characters have 1, 2 or 4 bytes. Texts have fewer or more characters than a word can pack."""
    rng = np.random.default_rng(max_length)
    items = [
        "".join(rng.choice([*characters], length))
        for length in rng.integers(0, max_length + 1, 1200)
    ]
    items += ["".join([characters[0]] * k) for k in range(2100 % (max_length + 3))]
    items += [characters[-1] * (k // 50) + str(k) for k in range(2100)]  # these are all distinct
    str_and_bytes = [items]
    if max(characters) < "\u0100":
        str_and_bytes.append([item.encode("latin1") for item in items])
    for texts in str_and_bytes:
        array = objects(*texts)
        before = sys.getrefcount(texts[-1])
        outputs = fastsel.unique(array, True, True, True)
        assert outputs[0].tolist() == sorted(set(texts))
        assert_same(outputs[1:], np.unique(array, True, True, True)[1:])
        del outputs
        after = sys.getrefcount(texts[-1])
        assert after == before


@covering(max_length=[1, 32, 33], end=["", "\0", "\0\0"])
def test_many_strings_are_sorted_as_python_does(max_length, end):
    """Texts may end in NUL, which fixed-width strings drop, and may have lone surrogates."""
    characters = ["a", "b", "\xe9", "\ud800", "\U0001f600", "\0"]
    rng = np.random.default_rng(max_length)
    items = {"".join(rng.choice(characters, rng.integers(0, max_length + 1))) for _ in range(9000)}
    items |= {item + end for item in items}
    for texts in (list(items), [item.encode("utf-8", "surrogatepass") for item in items]):
        array = objects(*texts)
        values, index = fastsel.unique(array, return_index=True)
        assert values.tolist() == sorted(texts)
        assert array[index].tolist() == sorted(texts)


def test_texts_of_equal_length_and_different_character_width_are_distinct():
    items = ["ab", "\xe9b", "\u0100b", "\U0001f600b", "ab", "\xe9b", "a\0", "a"] * 3
    assert check_objects(items).tolist() == list(dict.fromkeys(items))


CHARACTER_PAIRS = ["ab", "\xe9\xea", "\u0142\uffff", "\U0001f600\U0001f601", b"ab"]


def differing_in_one_character(characters):
    """Strings of many lengths. They consist of the first of two characters, except that most have
    the second character once."""
    first, second = characters[:1], characters[1:]
    texts = []
    for length in (*range(2, 20), 33, 64, 65, 97):
        texts += [first * k + second + first * (length - k - 1) for k in range(length)]
        texts.append(first * length)
    return texts


@pytest.mark.parametrize("characters", CHARACTER_PAIRS)
def test_every_character_changes_the_hash(characters):
    texts = differing_in_one_character(characters)
    hashes = string_objects.hash_strings(objects(*texts), _keys.SEEDS, 1)
    assert len(set(hashes.tolist())) == len(texts)


@pytest.mark.parametrize("characters", CHARACTER_PAIRS)
def test_texts_of_equal_hashes_are_distinct(characters, monkeypatch, kernels_with_few_threads):
    texts = differing_in_one_character(characters)
    equal_hashes = np.zeros(2 * len(texts), np.uint64)
    monkeypatch.setattr(
        string_objects, "hash_strings", lambda array, seeds, threads: equal_hashes[: len(array)]
    )
    array = objects(*texts, *(text[:1] + text[1:] for text in texts))
    values, index, inverse, counts = fastsel.unique(array, True, True, True, sorted=False)
    assert values.tolist() == texts
    assert np.array_equal(index, np.arange(len(texts)))
    assert np.array_equal(inverse, np.resize(np.arange(len(texts)), len(array)))
    assert (counts == 2).all()
    assert fastsel.unique(array).tolist() == sorted(texts)


@pytest.mark.parametrize("characters", CHARACTER_PAIRS)
def test_each_text_is_compared_with_the_other_text(characters):
    texts = differing_in_one_character(characters)
    array, copies = objects(*texts), objects(*(text[:1] + text[1:] for text in texts))
    packed = np.array([*texts, *texts], StringDType()) if isinstance(texts[0], str) else array
    positions, repeated = np.arange(len(texts)), np.resize(np.arange(len(texts)), len(packed))
    assert string_objects.each_equals(array, array, positions, 1)
    assert string_objects.each_equals(array, copies, positions, 1)
    assert string_objects.each_equals(packed, packed, repeated, 1)
    for k in range(len(texts)):
        wrong = k - 1 if k else 1
        for items, others, right in (array, copies, positions), (packed, packed, repeated):
            assert not string_objects.each_equals(
                items, others, np.where(right == k, wrong, right), 1
            )


def test_other_texts_than_the_strings_themselves_have_to_be_objects():
    packed = np.array(["a", "b"], StringDType())
    for items, others in (
        (packed, packed.copy()),
        (packed, packed.astype(object)),
        (packed.astype(object), packed),
        (packed.astype(object), packed.astype(object)[::-1]),
    ):
        with pytest.raises(AssertionError):
            string_objects.each_equals(items, others, np.arange(2), 1)
    with pytest.raises(AssertionError):
        string_objects.pack_leading_characters(packed, 1)
    with pytest.raises(AssertionError):
        string_objects.find_runs(packed)


def test_packed_texts_of_several_rounds_are_grouped_like_their_numbers(num_threads):
    size = 140_000
    numbers = np.random.default_rng(1).integers(size, size=size)
    array = np.array([f"{number:020}" for number in numbers], StringDType(na_object=None))
    outputs = fastsel.unique(array, True, True, True, sorted=False)
    expected = fastsel.unique(numbers, True, True, True, sorted=False)
    assert_same(outputs[1:], expected[1:])
    assert np.array_equal(outputs[0].astype(np.int64), expected[0])
    for position in (0, size // 2, size - 1):
        with_missing = array.copy()
        with_missing[position] = None
        assert string_objects.hash_strings(with_missing, _keys.SEEDS, 2) is None
        assert not string_objects.each_equals(with_missing, with_missing, np.arange(size), 2)


@pytest.mark.parametrize("make", ["{:07}".format, lambda number: b"%07d" % number])
def test_texts_of_several_rounds_are_grouped_like_their_numbers(make, num_threads):
    """There are enough texts for several rounds, between which other Python threads may run."""
    size = 140_000
    numbers = np.random.default_rng(1).integers(size, size=size)
    array = np.array([make(number) for number in numbers], object)
    outputs = fastsel.unique(array, True, True, True, sorted=False)
    expected = fastsel.unique(numbers, True, True, True, sorted=False)
    assert_same(outputs[1:], expected[1:])
    assert outputs[0].tolist() == [make(number) for number in expected[0]]
    assert fastsel.unique(array).tolist() == [make(number) for number in np.unique(numbers)]
    for position in (0, size // 2, size - 1):
        replaced, array[position] = array[position], 7
        assert string_objects.hash_strings(array, _keys.SEEDS, 2) is None
        assert string_objects.pack_leading_characters(array, 2) is None
        array[position] = replaced


def test_items_replaced_after_hashing_are_grouped_by_their_new_values(monkeypatch):
    """Items are replaced after they are hashed, by another string or by an object of another
    type."""
    hashes_of, texts = string_objects.hash_strings, [str(k % 50) for k in range(3000)]
    for other in ("x", 3, None, b"7"):
        hashed = []  # the array or, without the GIL, its copy

        def change(items, seeds, threads, other=other, hashed=hashed):
            hashes = hashes_of(items, seeds, threads)
            items[100:200] = other
            hashed.append(items)
            return hashes

        monkeypatch.setattr(string_objects, "hash_strings", change)
        values = fastsel.unique(objects(*texts), sorted=False)
        monkeypatch.undo()
        assert values.tolist() == list(dict.fromkeys(hashed[0]))


@pytest.mark.parametrize("common_prefix", ["", "a common beginning of some length", "\u0142" * 9])
@pytest.mark.parametrize("characters", ["ab", "a\xe9", "\u0142\uffff", "\U0001f600\U0010ffffz"])
def test_packed_leading_characters_ascend_with_the_texts(characters, common_prefix):
    rng = np.random.default_rng(2)
    texts = {
        common_prefix + "".join(rng.choice([*characters], rng.integers(9))) for _ in range(300)
    }
    array = objects(*texts)
    words = string_objects.pack_leading_characters(array, 1)
    assert (np.diff(words[np.argsort(array)].astype(object)) >= 0).all()
    assert len(set(words.tolist())) > 12  # at least 31 different words are possible


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
    ids=["one", "equal", "ascii", "widths", "two_bytes", "many"],
)
@pytest.mark.parametrize("encoded", [False, True])
def test_texts_in_order_equal_numpy(texts, encoded):
    """Texts ascend, descend, or ascend except for the last one."""
    items = [text.encode() for text in texts] if encoded else texts
    items = sorted(items)
    empty = items[0][:0]
    for array in (objects(*items), objects(*items[::-1]), objects(*items, empty)):
        expected = np.unique(array, True, True, True)
        assert_same(fastsel.unique(array, True, True, True), expected)
        for flags in ((True, False, False), (False, False, True)):
            assert_same(fastsel.unique(array, *flags)[1], np.unique(array, *flags)[1])
        values, index = fastsel.unique(array, return_index=True, sorted=False)
        assert_same(values, array[np.sort(expected[1])])
        assert_same(index, np.sort(expected[1]))
    assert find_runs(objects(*items))[1] == 1


def test_find_runs_returns_none_unless_texts_are_in_order():
    assert find_runs(objects("a", "b", "b", "c"))[0].tolist() == [0, 1, 3]
    assert find_runs(objects(b"c", b"b"))[1] == -1
    assert find_runs(objects("a", "c", "b")) is None
    assert find_runs(objects("b", "a", "b")) is None
    assert find_runs(objects("a", b"b")) is None
    assert find_runs(objects(b"a", "b")) is None
    assert find_runs(objects("a", 1)) is None
    assert find_runs(objects(1, 2)) is None
    assert find_runs(np.empty(3, object)) is None


@pytest.mark.parametrize("make", [str, lambda number: b"%d" % number])
@pytest.mark.parametrize("axis", [0, -1])
def test_texts_in_any_strides_along_an_axis_equal_numpy(make, axis):
    texts = [make(number) for number in (7, 2, 5, 2, 7, 9, 1)] * 9
    record = np.zeros(len(texts), [("flag", "u1"), ("item", "O")])
    record["item"] = texts
    contiguous = objects(*texts)
    for array in (
        contiguous[::2],
        contiguous[::-1],
        np.sort(contiguous)[::-3],
        record["item"],
        record["item"][:1],
    ):
        expected = np.unique(array, True, True, True)
        assert_same(fastsel.unique(array, True, True, True, axis), expected)
        assert fastsel.unique(array, axis=axis, sorted=False).tolist() == list(dict.fromkeys(array))
    broadcast = np.broadcast_to(np.array(make(3), object), 300_000)
    assert fastsel.unique(broadcast, axis=axis, return_counts=True)[1] == 300_000


@pytest.mark.parametrize("size", [1, 2, 10, 99, 100, 101])
@pytest.mark.parametrize("texts", [TEXTS, BYTES])
def test_a_few_strings_equal_the_reference(texts, size):
    items = objects(*(texts[7 * k % len(texts)] for k in range(size)))
    for flags in ((), (True,), (False, True), (False, False, True), (True, True, True)):
        ours = fastsel.unique(items, *flags)
        expected = fastsel.unique(np.tile(items, 101), *flags)
        values, expected_values = (found[0] if flags else found for found in (ours, expected))
        assert values.tolist() == expected_values.tolist()
        assert all(any(value is item for item in items) for value in values)
    _, index, inverse, counts = fastsel.unique(items, True, True, True)
    assert index.tolist() == [items.tolist().index(value) for value in values]
    assert values[inverse].tolist() == items.tolist()
    assert counts.tolist() == [items.tolist().count(value) for value in values]
