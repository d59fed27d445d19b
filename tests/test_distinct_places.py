"""The range of narrow words: what the sample says, and what becomes of words beyond it."""

import numpy as np
import pytest
from arrays import assert_same

import fastsel
from fastsel._kernels import sample, smallsort
from fastsel._kernels.distinct import Tables

RULE = ((1 << 64) - 1, (1 << 64) - 1, 0, False)
WORDS = ("int32", "uint32", "int64", "uint64")


def by_places(array, places):
    """(inverse, counts), or None."""
    job = Tables(array, len(array), RULE, None, (1, 3), places, 0, 0, True, True, 1)
    return job.finish() if job.find() else None


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("start", ["lowest", "around zero", "highest", "wraps"])
def test_range_of_a_sample(dtype, start):
    """It holds all words, wherever they lie in the dtype, and has room on both sides."""
    limits = np.iinfo(dtype)
    first = {"lowest": limits.min, "around zero": -50, "highest": limits.max - 99}
    offset = first.get(start, limits.max - 49) % 2 ** (8 * limits.dtype.itemsize)
    words = np.random.default_rng(1).permutation(5000) % 100
    array = words.astype(f"u{limits.dtype.itemsize}") + np.array(
        offset, f"u{limits.dtype.itemsize}"
    )
    base, bits = sample.places(array.view(dtype), len(array), 4096)
    assert bits == 7
    beyond = (array - np.array(base, array.dtype)).astype(np.int64)
    assert beyond.min() == 14
    assert beyond.max() == 14 + 99
    found = by_places(array.view(dtype), (base, bits))
    expected = fastsel.unique(array, False, True, True, sorted=False)[1:]
    assert_same(found, expected)


def test_the_range_may_have_no_more_words_than_allowed():
    array = np.array([0, 127])
    assert sample.places(array, 2, 128) == (0, 7)
    assert sample.places(array, 2, 127) is None
    assert sample.places(np.array([5]), 1, 2) == (5, 1)
    assert sample.places(np.array([0, 2**63], np.uint64), 2, 2**62) is None


def test_as_many_places_as_need_huge_pages():
    last = 2**20 - 1
    inverse, counts = by_places(np.array([last, 0, last]), (0, 20))
    assert inverse.tolist() == [0, 1, 0]
    assert counts.tolist() == [2, 1]


@pytest.mark.parametrize("place", [0, 511, 512, 999])
@pytest.mark.parametrize("beyond", [-1, 128, 2**40, -(2**63)])
def test_a_word_beyond_the_range_ends_the_attempt(place, beyond):
    array = np.arange(1000) % 128
    assert by_places(array, (0, 7)) is not None
    array[place] = beyond
    assert by_places(array, (0, 7)) is None


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_range_that_the_sample_did_not_show(threads):
    array = np.arange(200_000) % 1000
    array[1::1000] = -(10**12)
    with fastsel.threads(threads):
        found = fastsel.unique(array, True, True, True)
    assert_same(found, np.unique(array, True, True, True))


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("width", [1, 2, 63, 64, 1000, 4031, 4032, 4095, 4096])
def test_values_by_place(dtype, width):
    """In one call, also at the ends of the dtype; but not where the range wraps around."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(width)
    for first in (limits.min, max(limits.min, -width // 2), limits.max - width + 1):
        for size in (2048, 5000):
            words = rng.integers(first, first + width - 1, size, dtype, endpoint=True)
            words[[0, -1]] = first, first + width - 1
            values = smallsort.unique(words, 0, size, 0)
            assert (values is None) == (width > 4032)  # a little room beside what a sample shows
            assert_same(fastsel.unique(words), np.unique(words))
            if values is not None:
                assert_same(values, np.unique(words))
    wrapped = np.tile(np.array([limits.min, limits.max], dtype), 1500)
    assert smallsort.unique(wrapped, 0, 5000, 0) is None
    assert_same(fastsel.unique(wrapped), np.unique(wrapped))


def test_values_by_place_of_what_the_sample_does_not_show():
    for beyond in (-(2**63), -1, 64, 2**40, 2**63 - 1):
        for place in (1, 2500, 4999):
            words = np.arange(5000) % 64
            words[place] = beyond
            assert_same(fastsel.unique(words), np.unique(words))
