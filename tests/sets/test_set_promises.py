"""The set functions: results depend on the items only, and lookups give up on keys that collide."""

import numpy as np
import pytest
import reference
from arrays import grouped
from collisions import SEEDS, colliding
from comparison import (
    SORTED_SET_FUNCTIONS,
    assert_same,
    check_set_functions,
    two_arrays,
)
from forcing import ALGORITHMS, force
from marks import SIGNALLING_NANS
from unique_kernels import keys_of, make_tables

import fastsel
from fastsel._sets import _membership
from fastsel._sets.table_lookup import masks_by_partitions, masks_by_table

pytestmark = SIGNALLING_NANS

SAMPLE_DTYPES = ("uint8", "int16", "int32", "int64", "float16", "float64", "complex64", "U3", "V16")


def results(first, second):
    masks = fastsel.isin(first, second), fastsel.isin(second, first, invert=True)
    intersection = fastsel.intersect1d(first, second, return_indices=True)
    return (
        *masks,
        *intersection,
        fastsel.setxor1d(first, second),
        fastsel.setdiff1d(first, second),
    )


@pytest.mark.parametrize("name", SAMPLE_DTYPES)
def test_num_threads_agnosticism(name, each_num_threads, monkeypatch):
    for sizes in ((5000, 300), (300, 5000), (2000, 2000)):
        first, second = two_arrays(np.dtype(name), sizes)
        expected = None
        for _ in each_num_threads:
            for algorithm in ALGORITHMS:
                force(monkeypatch, algorithm)
                outputs = results(first, second)
                expected = outputs if expected is None else expected
                assert_same(outputs, expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("dtype", "seed"), [(">c8", 1), (">c16", 9)])
def test_nan_of_foreign_byte_order_does_not_hide_equal_items(dtype, seed, algorithm, monkeypatch):
    """numpy.isin does not find some of these items, because its sort misplaces NaN."""
    force(monkeypatch, algorithm)
    rng, width = np.random.default_rng(seed), np.dtype(dtype).itemsize // 2
    length = int(rng.integers(20, 256))
    some_bytes = rng.integers(0, 256, length).astype(np.uint8)
    nan = length // 3 // width * width
    some_bytes[nan : nan + 2] = 0x7F, 0xF9
    items = np.resize(some_bytes, 3000 * 2 * width).view(dtype)
    tests = items[::3][:263]
    with np.errstate(invalid="ignore"):
        expected = np.isin(items.astype(dtype[1:]), tests.astype(dtype[1:]))
    assert_same(fastsel.isin(items, tests), expected)


@pytest.mark.parametrize("name", SORTED_SET_FUNCTIONS)
@pytest.mark.parametrize("dtype", [">c8", ">c16"])
@pytest.mark.parametrize("integers", ["i8", ">u8"])
def test_complex_numbers_of_foreign_byte_order_beside_integers(name, dtype, integers):
    """NumPy serves these pairs, and takes equal complex numbers for different ones."""
    numbers = np.array([0, -0.0, 1, np.nan, 7, 1], dtype)
    tests = np.array([5, 7], integers)
    for first, second in ((numbers, tests), (tests, numbers)):
        in_native_order = (a.astype(a.dtype.newbyteorder("=")) for a in (first, second))
        expected = getattr(np, name)(*in_native_order)
        given_dtype = getattr(np, name)(first, second).dtype
        assert_same(getattr(fastsel, name)(first, second), expected.astype(given_dtype))


@pytest.mark.parametrize("seeds", [SEEDS, (1, 1), (0, 1), (2**63, 3), (5, 2**64 - 1)])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_seed_agnosticism(dtype, seeds, forced_kernels, monkeypatch):
    """The seed looks like an empty slot. It is found only if it is among the tests."""
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", seeds)
    even = seeds[0] & ~1  # the kernels clear the last bit
    words = np.array([0, even, even + 1, even ^ 1 << 31, 7, 9], np.uint64).astype(dtype)
    for algorithm in ("tables", "partitions"):
        force(monkeypatch, algorithm)
        for size in (0, 1, 2, 3):
            first = np.resize(words, 300)
            second = words[size : size + 3]
            check_set_functions(first, second)
            check_set_functions(second, first)


def test_input_unmodified(kernels_with_few_threads):
    for name in SAMPLE_DTYPES:
        first, second = two_arrays(np.dtype(name), (700, 90))
        before = first.tobytes(), second.tobytes()
        first.flags.writeable = second.flags.writeable = False
        results(first, second)
        assert (first.tobytes(), second.tobytes()) == before


# Keys made to collide.


def lookup_in_table(tables, items, *, of_tests):
    """Which items are among the tests and, if `of_tests`, which tests are among the items; None if
    the lookup gives up. The tests are the keys of the tables."""
    return masks_by_table(tables, keys_of(items), True, of_tests, False, 1)


def test_different_strings_of_equal_hashes_are_distinct():
    """With a factor of 0 all hashes are equal, so that a key is compared with one key of the table
    after the other."""
    texts = np.array([f"{k} letters" for k in range(60)])
    first, second = texts[:40], texts[20:]
    for items, tests in ((first, second), (first, second[:25])):
        tables, keys = (
            make_tables(tests, seeds=(2, 0), lookups=1),
            keys_of(items, seeds=(2, 0)),
        )
        assert tables.find()
        masks = masks_by_table(tables, keys, True, True, False, 1)
        assert_same(masks, (np.isin(items, tests), np.isin(tests, items)))


def test_lookups_give_up_on_collisions():
    """The table is filled within its budget of probes. Then the end of its longest chain is looked
    up."""
    chain = colliding(500)
    random_keys = np.random.default_rng(8).integers(0, 2**64, 20_000, dtype=np.uint64)
    tests, end_of_chain = np.concatenate((random_keys, chain)), np.tile(chain[-50:], 400)
    tables = make_tables(tests, max_groups=1 << 16)
    assert tables.find()
    assert lookup_in_table(tables, random_keys, of_tests=True) is not None
    assert lookup_in_table(tables, end_of_chain, of_tests=False) is None


def test_partitions_give_up_on_collisions():
    random_keys = np.random.default_rng(8).integers(0, 2**64, 2000, dtype=np.uint64)
    for tests, items in ((colliding(300, 16), random_keys), (random_keys, random_keys)):
        masks = masks_by_partitions(keys_of(tests), keys_of(items), 300, True, True, False, 1)
        assert (masks is None) is (tests is not random_keys)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_keys_that_collide_give_the_right_result(algorithm, monkeypatch):
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", SEEDS)
    force(monkeypatch, algorithm)
    chain, one_part = colliding(3000), colliding(300, 16)
    for first, second in (
        (np.tile(chain[-64:], 500), chain),
        (chain[::2], chain[1::2]),
        (np.tile(one_part, 3), one_part[:100]),
    ):
        for items, tests in ((first, second), (second, first)):
            expected = np.isin(items, tests)
            assert_same(fastsel.isin(items, tests), expected)
            assert_same(fastsel.setdiff1d(items, tests), np.unique(items[~expected]))


# Sizes and samples that decide the algorithm.


def test_arrays_on_both_sides_of_max_groups_give_the_right_results():
    rng = np.random.default_rng(2)
    pool = rng.permutation(1 << 19) << 30
    for sizes in ((_membership.MAX_GROUPS + 9, 150_000), (300_000, 20_000), (30_000, 400_000)):
        first, second = pool[: sizes[0]], pool[sizes[0] - 10_000 :][: sizes[1]]
        assert fastsel.isin(first, second).sum() == 10_000
        assert_same(fastsel.intersect1d(first, second), np.sort(second[:10_000]))
        assert len(fastsel.setxor1d(first, second)) == sum(sizes) - 20_000


def test_isin_of_repeated_items_and_tests_equals_numpy():
    for groups in (10, 3000, 40_000):
        tests = grouped("int64", 200_000, groups)
        items = np.concatenate((tests[::7], np.arange(50_000)))
        assert_same(fastsel.isin(items, tests), np.isin(items, tests))
        assert_same(fastsel.isin(tests, items[:100]), np.isin(tests, items[:100]))


def test_tests_beyond_the_range_of_the_sample_are_found():
    """The sample misses the test of 2^60: the direct-address table gives up, and hash tables find
    it."""
    tests = np.arange(50_000)
    tests[12_345] = 2**60
    items = np.append(np.arange(-100, 60_000), [2**60])
    assert_same(fastsel.isin(items, tests), reference.isin(items, tests))
    few_items = np.arange(9, dtype="i4")
    assert_same(fastsel.isin(few_items, items[:9].astype("i4")), np.zeros(9, bool))


@pytest.mark.parametrize("name", ["uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("lone", ["none", "low", "high", "both"])
def test_items_on_both_sides_of_the_range_of_the_tests(name, lone):
    """Whole blocks of items beyond the range of the tests are skipped. Here some blocks have
    an item at an end of the tests' range or next to it, and some tests have the dtype's range."""
    limits = np.iinfo(name)
    low, high = int(limits.min) // 2 + 20, int(limits.max) // 2 + 40
    tests = np.arange(low, low + 90, dtype=name)
    ends = {"none": [], "low": [limits.min], "high": [high], "both": [limits.min, limits.max]}
    tests = np.concatenate((np.repeat(tests, 40), np.array(ends[lone], name)))
    near = [int(end) + step for end in (tests.min(), low + 89, tests.max()) for step in (-1, 0, 1)]
    near = [number for number in near if limits.min <= number <= limits.max]
    items = np.full((len(near), 64), high + 7 if lone != "both" else high, name)
    items[range(len(near)), range(len(near))] = near
    items = np.concatenate((items.ravel(), np.full(20_000, high + 9, name), tests[:30]))
    assert_same(fastsel.isin(items, tests), reference.isin(items, tests))
    assert_same(fastsel.index_in(items, tests), reference.index_in(items, tests))


@pytest.mark.parametrize("name", ["int32", "uint64", "M8[s]"])
@pytest.mark.parametrize("step", [500, 2**24])
def test_tests_outside_of_the_window_widen_it_or_are_hashed(name, step):
    """The sample misses the 40 large tests: the window widens, unless its range is too wide."""
    tests = np.resize(np.arange(1000), 60_000)
    tests[::1500] = 3000 + step * np.arange(40)
    items = np.concatenate((tests, tests + 1, tests[::2] + 250)).astype(name)
    tests = tests.astype(name)
    if name == "M8[s]":
        tests[::1000] = items[::1000] = "NaT"
    assert_same(fastsel.isin(items, tests), reference.isin(items, tests))
    assert_same(fastsel.index_in(items, tests), reference.index_in(items, tests))


@pytest.mark.parametrize("name", ["int32", "uint64", "M8[s]"])
@pytest.mark.parametrize("step", [2**20, 2**24])
def test_the_first_test_is_far_from_the_others(name, step):
    """A test outside of the window is found at position 0, too."""
    tests = np.arange(1000)
    tests[::500] = 3000 + step * np.arange(1, 3)
    items = np.resize(np.concatenate((tests, tests + 1)), 60_000).astype(name)
    tests = tests.astype(name)
    for invert in (False, True):
        expected = reference.isin(items, tests, invert=invert)
        assert_same(fastsel.isin(items, tests, invert=invert), expected)
    assert_same(fastsel.index_in(items, tests), reference.index_in(items, tests))
