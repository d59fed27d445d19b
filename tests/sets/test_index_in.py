"""index_in: the position of the first test element that equals an item, or -1."""

import itertools

import numpy as np
import pytest
import reference
from arrays import DTYPES, ML_DTYPES, grouped, in_a_row, objects, scattered
from comparison import assert_same, two_arrays
from forcing import ALGORITHMS, force
from hypothesis import given
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS
from special_numbers import numbers_with_nan_and_zeros

import fastsel
from fastsel._sets import _index_in, _membership
from fastsel._sets.few_tests import MAX_TESTS
from fastsel._unique import _keys, _plan
from fastsel._unique.tables import Tables

pytestmark = SIGNALLING_NANS

NUMBER_DTYPES = ("?", "u1", "i1", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16")
SAMPLE_DTYPES = ("uint8", "int16", "int32", "int64", "float16", "float64", "complex64", "U3", "V16")


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_layout_equals_the_reference(name, each_num_threads):
    dtype = DTYPES[name]
    items = grouped(dtype, 120, 30).reshape(20, 6)
    arrays_by_layout = {
        layout: lay(items) for layout, lay in LAYOUTS.items() if has_layout(dtype, layout)
    }
    tests = grouped(dtype, 60, 30)[::-2]
    cases = [
        (*pair, reference.index_in(*pair))
        for array in arrays_by_layout.values()
        for pair in ((array, tests), (tests, array), (array, array))
    ]
    for _ in each_num_threads:
        for first, second, expected in cases:
            before = first.copy(), second.copy()
            assert_same(fastsel.index_in(first, second), expected)
            assert_same((first.copy(), second.copy()), before)


@pytest.mark.parametrize("name", SAMPLE_DTYPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_equals_the_reference(name, algorithm, each_num_threads, monkeypatch):
    force(monkeypatch, algorithm)
    makers = [scattered] if name in ("U3", "V16") else [scattered, in_a_row]
    sizes = ((900, 60), (60, 900), (500, 500), (200, 1))
    pairs = [two_arrays(np.dtype(name), size, maker) for size in sizes for maker in makers]
    cases = [(*pair, reference.index_in(*pair)) for pair in pairs]
    for _ in each_num_threads:
        for first, second, expected in cases:
            assert_same(fastsel.index_in(first, second), expected)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "M8[s]"])
@pytest.mark.parametrize("first_test", [-100, 0, 37, 64, 100])
def test_items_below_and_above_all_tests_equal_none(
    dtype, first_test, each_num_threads, monkeypatch
):
    """Blocks of 64 items: all items below or above the tests, next to them, or within their range;
    or one item alone within it."""
    force(monkeypatch, "dense")
    integer = np.dtype(dtype if dtype[0] in "iu" else "i8")
    low, high = int(np.iinfo(integer).min), int(np.iinfo(integer).max)
    tests = np.arange(first_test if first_test >= low else 200, 250)[26::-1]
    below, above = max(int(tests.min()) - 1, low), min(int(tests.max()) + 1, high)
    blocks = [[k] * 64 for k in (low, high, below, above, int(tests[0]))]
    blocks += [[low] * k + [int(tests[3])] + [high] * (63 - k) for k in (0, 40, 63)]
    items = np.array([*blocks, *blocks[::-1]], integer).ravel()[:-5]
    items, tests = items.view(dtype), tests.astype(integer).view(dtype)
    expected = reference.index_in(items, tests)
    for _ in each_num_threads:
        assert_same(fastsel.index_in(items, tests), expected)
        assert_same(fastsel.isin(items, tests), expected >= 0)
        assert_same(fastsel.isin(items, tests, invert=True), expected < 0)


@pytest.mark.parametrize("num_tests", [1, 2, MAX_TESTS, MAX_TESTS + 1, 100, 20_000])
@pytest.mark.parametrize("size", [1, 67, _plan.UNSAMPLED_ITEMS, 100_001])
@pytest.mark.parametrize("step", [1, 1_000_003])
def test_num_threads_agnosticism(num_tests, size, step, each_num_threads):
    rng = np.random.default_rng(size)
    first, second = (rng.integers(0, 2 * num_tests, n) * step for n in (size, num_tests))
    values, index = np.unique(second, return_index=True)
    positions = np.searchsorted(values, first) % len(values)
    expected = np.where(values[positions] == first, index[positions], -1)
    for _ in each_num_threads:
        assert_same(fastsel.index_in(first, second), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "M8[s]", "complex64", "complex128"]
)
def test_nan_never_matches_and_zeros_are_equal(
    dtype, algorithm, kernels_with_few_threads, monkeypatch
):
    force(monkeypatch, algorithm)
    items = numbers_with_nan_and_zeros(dtype)
    for tests in (items, items[3:5], items[3:4], items[::-1], items[:40]):
        assert_same(fastsel.index_in(items, tests), reference.index_in(items, tests))
        assert_same(fastsel.index_in(tests, items), reference.index_in(tests, items))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["uint8", "int32", "float32", "float64", "U2", "complex64", "V3"])
def test_slices_along_an_axis_equal_the_reference(name, axis, each_num_threads):
    array = grouped(np.dtype(name), 400, 2).reshape(20, 20)
    array[2] = array[7]
    array[:, 3] = array[:, 1]
    pairs = [(array, array), (array, array[::-1, ::-1]), (array.T, np.asfortranarray(array))]
    pairs += [(array, np.take(array, [9, 7, 2], axis)), (np.take(array, [1, 3], axis), array)]
    cases = [(*pair, reference.index_in(*pair, axis)) for pair in pairs]
    for _ in each_num_threads:
        for first, second, expected in cases:
            assert_same(fastsel.index_in(first, second, axis), expected)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_slices_of_two_dtypes_are_compared_in_the_common_dtype(width, kernels_with_few_threads):
    rows = np.random.default_rng(0).integers(0, 3, (50, width))
    tests = np.concatenate((rows[:20] + 0.5, rows[20:40] * 1.0))
    assert_same(fastsel.index_in(rows, tests, 0), reference.index_in(rows, tests, 0))
    assert_same(fastsel.index_in(rows.astype("i1"), tests, 0), reference.index_in(rows, tests, 0))
    assert_same(fastsel.index_in(rows.astype("i1"), rows + 256, 0), np.full(50, -1))


@pytest.mark.parametrize("first_dtype", NUMBER_DTYPES)
@pytest.mark.parametrize("second_dtype", NUMBER_DTYPES)
def test_numbers_of_two_dtypes_match_as_in_isin(
    first_dtype, second_dtype, kernels_with_few_threads
):
    numbers = [0, 1, 2, 100, 1.5, 255, -1, 2**31, 2**40, 1j, np.nan]
    with np.errstate(all="ignore"):
        first, second = (numbers_of(numbers, dtype) for dtype in (first_dtype, second_dtype))
    for tests in (second, np.tile(second, 5)):
        positions = fastsel.index_in(first, tests)
        assert_same(positions >= 0, np.isin(first, tests))
        assert (first[positions >= 0] == tests[positions[positions >= 0]]).all()
        assert (positions < len(second)).all()


def numbers_of(numbers, dtype):
    """The numbers in reverse order, in this dtype. Complex numbers are left out unless the dtype is
    complex; an integer dtype, or bool, has only the numbers that it can hold."""
    kind = np.dtype(dtype).kind
    if kind != "c":
        numbers = [number for number in numbers if not isinstance(number, complex)]
    if kind in "iub":
        low, high = (0, 1) if kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        numbers = [k for k in numbers if low <= k <= high and k == int(k)]
    return np.array(numbers[::-1]).astype(dtype)


def test_large_integers_are_compared_exactly():
    signed, unsigned = np.array([2**62 + 1, -1]), np.array([2**64 - 1, 2**62 + 1], np.uint64)
    assert fastsel.index_in(signed, unsigned).tolist() == [1, -1]
    assert fastsel.index_in(unsigned, signed).tolist() == [-1, 0]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", ">i4", "u4", "i8"])
@pytest.mark.parametrize("repeats", [1, 100])
def test_time_differences_equal_integers_as_in_isin(dtype, repeats):
    times = np.array([1, 2, 0, "NaT", 100, 1], "m8[s]")
    numbers = np.array([2, 0, 100, 1, 1], dtype)
    for items, tests in ((times, numbers), (numbers, times)):
        tests = np.tile(tests, repeats)
        index = fastsel.index_in(items, tests)
        assert np.array_equal(index >= 0, np.isin(items, tests))
        assert all(tests[k] == item for k, item in zip(index, items, strict=True) if k >= 0)
        assert (index < len(tests) // repeats).all()


def test_times_of_different_units_can_be_equal():
    days, seconds = np.array(["2020-01-02"], "M8[D]"), np.array(["2020-01-02"] * 2, "M8[s]")
    assert fastsel.index_in(days, seconds).tolist() == [0]


@pytest.mark.parametrize(
    ("items", "tests"),
    [([1, 2], ["1", "2"]), (["a"], [b"a"]), (np.array([1], "M8[s]"), [1]), ([1.5], [None])],
)
def test_items_that_numpy_does_not_compare_are_never_equal(items, tests):
    assert fastsel.index_in(items, tests).tolist() == [-1] * len(items)


def test_strings_of_different_lengths_and_dtypes_can_be_equal():
    short, long = np.array(["a", "bb", ""]), np.array(["bb", "longer", "a", "bb"])
    assert fastsel.index_in(short, long).tolist() == [2, 0, -1]
    texts = np.array(["a", "bb", "a"], np.dtypes.StringDType())
    assert fastsel.index_in(texts, short).tolist() == [0, 1, 0]
    assert fastsel.index_in(short, texts).tolist() == [0, 1, -1]


def test_structured_items_are_found():
    pairs = np.array([(1, 2.0), (3, 4.0), (1, 2.0)], "i4, f8")
    assert fastsel.index_in(pairs, pairs[1:]).tolist() == [1, 0, 1]


class Named:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == getattr(other, "name", other)

    __hash__ = None


def test_objects_are_found_if_equal():
    nan = float("nan")
    items = objects("a", 3, nan, None, 2.0, True, b"a")
    tests = objects(2, "b", None, nan, "a", 1, 2.0, "a")
    assert fastsel.index_in(items, tests).tolist() == [4, -1, -1, 2, 0, 5, -1]
    assert fastsel.index_in([1, 2], tests).tolist() == [5, 0]
    names, names_and_numbers = objects(Named(3), Named(4)), objects(4, Named(3), Named(3))
    assert fastsel.index_in(names, names_and_numbers).tolist() == [1, 0]


@pytest.mark.parametrize("value", [None, "a", 2.5, np.array({3}, object)])
def test_one_object_is_one_item(value):
    """Only containers that the user meant as several items are refused."""
    assert fastsel.index_in(value, [7, value]).tolist() == 1
    assert fastsel.index_in([value, 7], value).tolist() == [0, -1]


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_empty_tests_give_minus_1_and_slices_without_items_are_equal(shape):
    items = np.zeros(shape)
    assert_same(fastsel.index_in(items, []), np.full(shape, -1))
    assert_same(fastsel.index_in([], items), np.zeros(0, np.intp))
    assert_same(fastsel.index_in(np.zeros((3, 0)), np.zeros((2, 0)), 0), np.zeros(3, np.intp))
    assert_same(fastsel.index_in(np.zeros((3, 0)), np.zeros((0, 0)), 0), np.full(3, -1))


def test_error_of_ragged_lists_names_the_argument():
    with pytest.raises(ValueError, match="test_elements cannot be converted"):
        fastsel.index_in([1], [[1], [1, 2]])


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_keys_that_collide_give_the_right_result(dtype, monkeypatch, kernels_with_few_threads):
    """The hash tables give up, so that `unique` groups the keys, by NumPy's sort."""
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", (0, 1))
    words = (np.arange(40_000, dtype="u8") << (12 if dtype == "u4" else 40)).astype(dtype)
    words = np.unique(words)
    first, second = np.tile(words, 2), words[::-1]
    for algorithm in (None, "tables", "partitions"):
        force(monkeypatch, algorithm)
        assert_same(fastsel.index_in(first, second), np.tile(np.arange(len(words))[::-1], 2))
        assert_same(fastsel.index_in(second, first), np.arange(len(words))[::-1])


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_the_seed_of_the_hash_is_a_key_like_any_other(dtype, monkeypatch, kernels_with_few_threads):
    """The seed has no slot in a table. It is the second-to-last test, or not among the tests."""
    seed = _keys.SEEDS[0] & ~1 & np.iinfo(dtype).max
    others = np.unique(np.arange(30_000) * 100_003 + 7).astype(dtype)
    others = others[others != seed]
    items = np.array([seed, others[5], seed], dtype)
    tests = np.array([*others, seed, others[0]], dtype)
    for algorithm in (None, "tables", "partitions"):
        force(monkeypatch, algorithm)
        for length in (100, len(others)):
            few = np.concatenate((others[:length], tests[-2:]))
            assert fastsel.index_in(items, few).tolist() == [length, 5, length]
            assert fastsel.index_in(items, few[:length]).tolist() == [-1, 5, -1]
            assert fastsel.isin(items, few[:length]).tolist() == [False, True, False]


def test_the_table_has_the_smaller_array(monkeypatch, kernels_with_few_threads):
    table_sizes = []
    monkeypatch.setattr(
        _index_in,
        "Tables",
        lambda search: table_sizes.append(search.size) or Tables(search),
    )
    many, few = np.arange(50_000) * 1_000_003, np.arange(100) * 2_000_006
    fastsel.index_in(many, few)
    fastsel.index_in(few, many)
    assert table_sizes == [100, 100]


@given(
    st.lists(st.integers(-3, 3) | st.just(2**40), max_size=100),
    st.lists(st.integers(-3, 3) | st.just(2**40), max_size=40),
)
def test_any_integers_equal_a_linear_search(first, second):
    expected = [second.index(item) if item in second else -1 for item in first]
    assert fastsel.index_in(np.array(first, int), np.array(second, int)).tolist() == expected


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "c16", "U3", ">f8", "S9", "M8[s]"])
@pytest.mark.parametrize("axis", [None, 0])
def test_more_keys_than_32_bits_can_number_are_divided_into_pieces(dtype, axis, monkeypatch):
    """With this limit, one array has three pieces, and the other one has one or more. `isin` and
    the set functions divide their arrays, too."""
    random = np.random.default_rng(3)
    few, many = (random.integers(0, 20_000, size).astype(dtype) for size in (14_001, 20_000))
    for array in (few, many):
        if array.dtype.kind in "fcM":
            array[::3] = "NaT" if array.dtype.kind == "M" else np.nan
    if axis == 0:
        few, many = few[:14_000].reshape(-1, 2), many.reshape(-1, 2)
    names = ("index_in", "isin", "setdiff1d", "intersect1d", "setxor1d")
    pairs = (few, many), (many, few), (few[:30], many), (many, few[:30]), (few[::2], many[::2])
    calls = [
        (lambda name=name, pair=pair: getattr(fastsel, name)(*pair, axis=axis))
        for name in names
        for pair in pairs
    ]
    calls += [lambda pair=pair: fastsel.isin(*pair, invert=True, axis=axis) for pair in pairs]
    expected = [call() for call in calls]
    monkeypatch.setattr(_membership, "MAX_KEYS", len(few) // 3 + 1)
    for call, result in zip(calls, expected, strict=True):
        assert_same(call(), result)


@pytest.mark.parametrize("size", [5, 3000, 1_000_000])
def test_the_index_of_items_in_one_dimension_owns_its_memory(size):
    for items in (np.arange(size), np.arange(size) * 1.1, np.arange(size).astype("S8")):
        assert fastsel.index_in(items, items[:1000]).flags.owndata


@pytest.mark.parametrize("name", ML_DTYPES)
@pytest.mark.parametrize("other", ["?", "i1", "u4", "i8", "f2", "f4", "f8", "c8", "M8[s]", "S3"])
def test_small_foreign_numbers_equal_the_same_numbers_of_other_dtypes(name, other):
    values = ML_DTYPES[name].type
    numbers = [1.0, 0.0, 1.0] if np.dtype(other).kind == "b" else [1.0, 0.0, 1.5, -1.0]
    # Some of the dtypes have no 0, no fraction or no sign: they hold other numbers then.
    foreign = np.array([values(number) for number in (1.0, 0.0, 1.0)])
    others = np.array([*numbers, 1.0]).astype(other)
    for one, two in ((foreign, others), (others, foreign)):
        expected = np.full(len(one), -1)
        if np.dtype(other).kind in "biufc":
            equal = one.astype("c16")[:, None] == two.astype("c16")
            expected = np.where(equal.any(axis=1), equal.argmax(axis=1), -1)
        assert np.array_equal(fastsel.index_in(one, two), expected)
        assert np.array_equal(fastsel.index_in(one[:, None], two[:, None], axis=0), expected)
        positions = np.arange(len(two))
        assert np.array_equal(fastsel.remap(one, two, positions, default=-1), expected)


@pytest.mark.parametrize("size", [300, 3000, 40_000])
@pytest.mark.parametrize("other", ["bfloat16", "i4", "f2", "f8"])
def test_many_small_foreign_numbers_equal_numpy(size, other, each_num_threads):
    numbers = np.random.default_rng(size).integers(-300, 300, size).astype(np.float64)
    numbers[::7] = np.nan
    items = numbers.astype(ML_DTYPES["float8_e4m3fn"])
    tests = np.nan_to_num(numbers).astype(ML_DTYPES.get(other, other))
    one, two = items.astype(np.float64), tests.astype(np.float64)
    first = {value: k for k, value in reversed([*enumerate(two.tolist())])}
    expected = np.array([first.get(value, -1) for value in one.tolist()])
    assert_same(fastsel.index_in(items, tests), expected)
    first = {value: k for k, value in reversed([*enumerate(one.tolist())]) if value == value}
    expected = np.array([first.get(value, -1) for value in two.tolist()])
    assert_same(fastsel.index_in(tests, items), expected)


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(ML_DTYPES, 2)])
def test_small_foreign_numbers_equal_the_same_numbers_of_other_foreign_dtypes(one, other):
    items, tests = (np.array([ML_DTYPES[name].type(1.0)]) for name in (one, other))
    assert fastsel.index_in(items, tests) == [0]
