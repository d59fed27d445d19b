"""unique is right for hostile keys, which common hash functions send to few slots."""

import itertools

import numpy as np
import pytest
import reference
from arrays import grouped
from comparison import assert_same
from forcing import ALGORITHMS, force
from marks import SIGNALLING_NANS

import fastsel

pytestmark = SIGNALLING_NANS


NUM_WORDS = 2**64
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0x9E3779B185EBCA87)
"""The odd multipliers of common hash functions."""


def from_words(words):
    return np.array([word % NUM_WORDS for word in words], np.uint64)


def same_probes(count):
    """Keys that a hash of the form (k >> 33) ^ k ^ (k << 11), cut to 32 bits, sends to one slot."""
    low = np.arange(1, count + 1, dtype=np.uint64)
    high = (low ^ (low << np.uint64(11)) ^ np.uint64(0x1234567)) & np.uint64(2**31 - 1)
    return (high << np.uint64(33)) | low


def hostile_keys(count):
    numbers = range(count)
    yield "equal", np.full(count, 42, np.uint64)
    yield "descending", from_words(-k for k in numbers)
    yield "same probes", same_probes(count)
    for bits in range(0, 64, 4):
        yield f"shifted by {bits}", from_words(k << bits for k in numbers)
        yield f"shifted down from the top by {bits}", from_words(-(k << bits) for k in numbers)
    for multiplier in MULTIPLIERS:
        inverse = pow(multiplier, -1, NUM_WORDS)
        for bits in (0, 16, 32, 40, 48):
            undone = from_words((k << bits) * inverse for k in numbers)
            yield f"{multiplier:x} undone, {bits}", undone
    yield "equal halves", from_words((k << 32) | k for k in numbers)
    yield "cancelling halves", from_words((k << 32) | (k ^ 0xFFFFFFFF) for k in numbers)
    yield "one bit each", from_words(1 << (k % 64) for k in numbers)
    yield "bits reversed", from_words(int(f"{k:064b}"[::-1], 2) for k in numbers)


def check_keys(keys, monkeypatch):
    expected_outputs = [
        reference.numpy_unique_outputs(keys, sorted=in_order) for in_order in (True, False)
    ]
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        for in_order, expected in zip((True, False), expected_outputs, strict=True):
            assert_same(fastsel.unique(keys, True, True, True, sorted=in_order), expected)
            assert_same(fastsel.unique(keys, sorted=in_order), expected[0])


@pytest.mark.parametrize(
    ("dtype", "count", "step"),
    [
        *(("int64", 1000, 4), ("float64", 100, 4), ("S8", 100, 4), ("complex64", 100, 4)),
        *(
            pytest.param(dtype, 1000, 1, marks=pytest.mark.slow)
            for dtype in ("i8", "f8", "S8", "c8")
        ),
    ],
)
def test_hostile_keys_give_the_right_result(dtype, count, step, forced_kernels, monkeypatch):
    """The test checks every `step`-th kind of hostile keys; the dtype decides the first one."""
    for name, keys in itertools.islice(hostile_keys(count), len(dtype) % step, None, step):
        for words in (keys, np.concatenate([keys, keys[::-1]])):
            try:
                with fastsel.threads(2):
                    check_keys(words.view(dtype), monkeypatch)
            except AssertionError as error:
                error.add_note(f"for the keys {name!r}")
                raise


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_hostile_keys_give_the_right_result(algorithm, monkeypatch):
    """A simple hash function would send most keys of an array to few slots."""
    force(monkeypatch, algorithm)
    count = 30_000
    inverse = pow(MULTIPLIERS[0], -1, NUM_WORDS)
    for keys in (
        same_probes(count),
        from_words((k << 40) * inverse for k in range(count)),
        from_words(k << 32 for k in range(count)),
        np.arange(count).astype(np.uint64),
    ):
        for in_order in (True, False):
            expected = reference.numpy_unique_outputs(keys, sorted=in_order)
            assert_same(fastsel.unique(keys, True, True, True, sorted=in_order), expected)


def test_unique_of_its_outputs_returns_the_same_values(kernels_with_few_threads, monkeypatch):
    """The outputs of a call are the input of the next call."""
    array = grouped("int64", 20_000, 20_000)
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        values = fastsel.unique(array, sorted=False)
        assert_same(fastsel.unique(values, sorted=False), values)
        in_order, index = fastsel.unique(values, return_index=True)
        assert_same(in_order, np.sort(values))
        assert_same(fastsel.unique(in_order), in_order)
        assert_same(fastsel.unique(index), np.arange(len(values)))
        again = fastsel.unique_values(array)
        assert_same(np.sort(fastsel.unique_values(again)), in_order)


def test_hostile_rows_give_the_right_result(kernels_with_few_threads, monkeypatch):
    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        keys = same_probes(600)
        for rows in (
            np.stack([keys, keys], 1),
            np.stack([keys, np.uint64(0) - keys], 1),
            np.stack([keys, keys[::-1]], 1),
            np.stack([keys << np.uint64(32), keys], 1),
        ):
            for array in (rows, np.concatenate([rows, rows])):
                for in_order in (True, False):
                    assert_same(
                        fastsel.unique(array, True, True, True, 0, sorted=in_order),
                        reference.unique_outputs(array, 0, sorted=in_order),
                    )
