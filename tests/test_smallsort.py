"""Small arrays that are sorted to find their distinct items, or the first of each kind."""

import numpy as np
import pytest
from arrays import assert_same

import fastsel
from fastsel import _small
from fastsel._kernels import smallsort

DTYPES = ["i4", "u4", "i8", "u8", "f4", "f8"]
FACTOR = 0xC2B2AE35 << 32  # with which all of these are served


def shuffled(dtype, size, seed=0):
    """Distinct items, of both signs where there are two."""
    numbers = np.random.default_rng(seed).permutation(size) * 60_013
    signed = numbers - numbers.max() // 2 if np.dtype(dtype).kind != "u" else numbers
    return signed.astype(dtype) + np.ones(1, dtype)


def firsts(a, index=True):
    return smallsort.firsts(a, index, FACTOR)


def expected(a):
    """(values, index) in order of first occurrence."""
    index = np.sort(np.unique(a, return_index=True)[1])
    return a[index], index


def check(a):
    values, index = firsts(a)
    for found, wanted in zip((values, index), expected(a), strict=True):
        assert_same(found, wanted)
    assert_same(firsts(a, index=False)[0], values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [512, 513, 575, 576, 577, 1000, 4096, 16_384, 16_385, 100_000])
def test_distinct_items_are_all_firsts(dtype, size):
    check(shuffled(dtype, size))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [640, 700, 5000, 70_001])
@pytest.mark.parametrize("repeated", [1, 2, 9, 64, 500, 2048])
def test_some_are_repeated(dtype, size, repeated):
    """Anywhere behind the first few: the last item, the last block, one of them very often."""
    generator = np.random.default_rng(repeated)
    once = shuffled(dtype, size)
    looked_at = 512 if size < 16_384 else 2048
    repeated = min(repeated, size - looked_at)
    for where in (size - repeated, looked_at):
        a = once.copy()
        a[where : where + repeated] = once[generator.integers(0, where, repeated)]
        check(a)
        a[where : where + repeated] = once[7]
        check(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_that_are_repeated_are_left_to_others(dtype):
    a = shuffled(dtype, 5000)
    a[-2049:] = a[:2049]
    assert firsts(a) is None
    assert_same(fastsel.unique(a, sorted=False), expected(a)[0])


@pytest.mark.parametrize("dtype", ["i4", "u8"])
def test_zero_is_repeated_like_others(dtype):
    a = shuffled(dtype, 3000)
    for where in ([600], [600, 2999], [0, 600, 700, 2998]):
        a[where] = 0
        check(a)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_zeros_of_both_signs(dtype):
    a = shuffled(dtype, 3000)
    for first, second in ((0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)):
        a[[600, 2999]] = first, second
        assert firsts(a) is None  # nor are they looked for
        assert_same(fastsel.unique(a, sorted=False), expected(a)[0])
        a[2999] = 8.5
        check(a)
        values = fastsel.unique(a)
        assert_same(values[values == 0], np.array([first], dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("place", [0, 511, 2999])
def test_nan_is_left_to_others(dtype, place):
    a = shuffled(dtype, 3000)
    a[place] = np.nan
    assert firsts(a) is None
    assert smallsort.unique(a, 1 << 15, 0, 1 << 15) is None
    assert_same(fastsel.unique(a, sorted=False), a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_in_order_is_left_to_others(dtype):
    a = np.sort(shuffled(dtype, 5000))
    for items in (a, a[::-1].copy()):
        assert firsts(items) is None
        assert smallsort.unique(items, 1 << 15, 0, 1 << 15) is None
        assert_same(fastsel.unique(items), a)


@pytest.mark.parametrize(
    "a",
    [
        shuffled("i8", 511),
        shuffled("i8", 2000)[::2],
        shuffled("i8", 2000).astype(">i8"),
        shuffled("i8", 2000).astype("i2"),
        shuffled("i8", 2000).astype("c8"),
        shuffled("i8", 2000).view("M8[s]"),
        np.resize(shuffled("i8", 511), 2000),
        shuffled("i8", 2000).tolist(),
    ],
    ids=["few", "strided", "swapped", "narrow", "complex", "times", "repeated", "list"],
)
def test_what_is_not_served(a):
    assert firsts(a) is None


def test_every_factor_gives_the_same():
    """However many turns it takes until those that are repeated have had a slot each, if not too
    many."""
    a = shuffled("u4", 4000)
    a[-1000:] = a[:1000]
    served = 0
    for factor in np.random.default_rng(0).integers(1 << 30, 1 << 31, 200) * 2 + 1:
        found = smallsort.firsts(a, True, int(factor) << 32)
        if found is not None:
            assert_same(found[1], np.arange(3000))
            served += 1
    assert served > 190


def test_repeated_words_of_one_slot_are_left_to_others():
    """Made for a known factor: the slot is the top 12 bits of the word times that."""
    factor = 0x9E3779B1
    inverse = pow(factor, -1, 1 << 32)
    words = np.array([k * inverse % (1 << 32) for k in range(4000)], "u4")
    words[-7:] = words[:7]
    assert smallsort.firsts(words, True, factor << 32) is None
    words[-1] = 5
    assert_same(smallsort.firsts(words, True, factor << 32)[1], expected(words)[1])


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_integers_of_a_narrow_range_are_left_to_others(dtype):
    for size, reach in ((2048, 1), (5000, 2), (20_000, 3)):
        a = np.random.default_rng(1).permutation(size * reach)[:size].astype(dtype)
        assert firsts(a) is None
        for low in (0, 5, np.iinfo(dtype).min, np.iinfo(dtype).max - size * reach):
            moved = a + np.array(low, dtype)
            moved[-3:] = moved[:3]
            assert_same(fastsel.unique(moved, sorted=False), expected(moved)[0])
    assert firsts(a[:2047]) is not None


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "M8[s]", "?"])
def test_one_value(dtype):
    for size in (2048, 5000, 100_000):
        a = np.zeros(size, dtype)
        for value in (0, 1):
            a[:] = value
            for in_order in (True, False):
                assert_same(fastsel.unique(a, sorted=in_order), a[:1])
            a[-1] = 1 - value
            assert_same(fastsel.unique(a), np.array([0, 1]).astype(dtype))


def test_items_of_two_bytes_that_are_in_order():
    a = np.sort(shuffled("i4", 9000) >> 16).astype("i2")
    for items in (a, a[::-1].copy()):
        assert_same(smallsort.unique(items, 1 << 15, 0, 0), np.unique(a))


def test_sorted_items_that_only_the_first_few_make_look_distinct():
    a = shuffled("i4", 9000)
    a[256:] = 5
    assert smallsort.unique(a, 1 << 15, 0, 0) is not None
    a[:256] = 5
    assert smallsort.unique(a, 1 << 15, 0, 0) is None
    assert_same(fastsel.unique(a), np.array([5], "i4"))


@pytest.mark.skipif(not _small.MOST_FIRSTS, reason="NumPy's sorts are slow here")
def test_items_that_hardly_repeat_are_sorted(monkeypatch):
    calls = []
    monkeypatch.setattr(_small.few, "firsts_of_few", lambda *args: calls.append(args))
    a = shuffled("i4", 10_000)
    assert_same(fastsel.unique(a, sorted=False), a)
    assert_same(fastsel.unique(a, return_index=True, sorted=False)[1], np.arange(10_000))
    assert not calls
