"""The functions sort and argsort of _sort.py, and unique by the algorithms `sorting` and
`comparison`: results are NumPy's."""

import functools

import numpy as np
import pytest
from forcing import force
from grids import covering

import fastsel
from fastsel._unique import _plan, _sort
from fastsel._unique.groups import values_at

MIN_KERNEL_ITEMS = _plan.UNSAMPLED_ITEMS + 1
SIZES = (1, 2, 63, 64, 65, MIN_KERNEL_ITEMS - 1, MIN_KERNEL_ITEMS, MIN_KERNEL_ITEMS + 1)
LARGE = 100_003

VALUES = {
    "random": lambda n, r: r.integers(-50, 50, n),
    "all_equal": lambda n, r: np.full(n, 7),
    "two_values": lambda n, r: r.integers(0, 2, n),
    "spread": lambda n, r: r.integers(-(2**62), 2**62, n),
    "spread_floats": lambda n, r: r.standard_normal(n).astype(np.float32),
    "sorted": lambda n, r: np.arange(n),
    "reversed": lambda n, r: np.arange(n)[::-1],
    "floats_with_nan": lambda n, r: np.where(r.random(n) < 0.3, np.nan, r.random(n)),
    "mostly_nan": lambda n, r: np.where(r.random(n) < 0.9, np.nan, r.random(n)),
    "dates_with_nat": lambda n, r: np.where(
        r.random(n) < 0.3, np.datetime64("NaT", "s"), r.integers(0, 99, n).astype("M8[s]")
    ),
    "strided": lambda n, r: r.integers(0, 99, 3 * n)[::3],
    "swapped": lambda n, r: r.integers(0, 99, n).astype(">i4"),
}


def nans_with_payloads(count):
    """NaN that differ in their payloads."""
    bits = np.uint64(0x7FF8000000000000) + np.arange(count, dtype=np.uint64)
    return bits.view(np.float64)


def distinct_and_nan(kind, size):
    """The first of each group of equal values of VALUES[kind], and all NaN and NaT."""
    values = VALUES[kind](size, np.random.default_rng(size))
    first = np.zeros(len(values), bool)
    first[np.unique(values, return_index=True)[1]] = True
    return values[first | (values != values)]


@pytest.mark.parametrize("kind", VALUES)
def test_sort_equals_numpy(kind):
    for size in SIZES:
        values = distinct_and_nan(kind, size)
        result, expected = _sort.sort(values), np.sort(values)
        assert result.dtype == expected.dtype
        assert np.array_equal(result, expected, equal_nan=values.dtype.kind in "fM"), size


@pytest.mark.parametrize("kind", VALUES)
def test_argsort_of_distinct_values_and_nan_equals_numpy(kind):
    for size in SIZES:
        values = distinct_and_nan(kind, size)
        size = len(values)
        expected = np.argsort(values, kind="stable")
        order, ranks = _sort.argsort(values, True)
        assert np.array_equal(order, expected), size
        assert np.array_equal(ranks[expected], np.arange(size)), size


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8"])
@pytest.mark.parametrize("copies", [1, MIN_KERNEL_ITEMS])
def test_argsort_of_wide_ranges_equals_numpy(dtype, copies):
    limits = np.iinfo(dtype)
    for low, high in ((limits.min, limits.max), (0, limits.max), (limits.max // 2, limits.max)):
        values = np.array([high, low, high - 1, low + 1, high, low] * copies, dtype)
        expected = np.argsort(values, kind="stable")
        assert np.array_equal(_sort.argsort(values, False)[0], expected)


def random_strings(dtype, size, generator):
    """Random strings made from four characters; each string has the full length of the dtype."""
    characters = np.array(list("ab\xffz") if dtype[0] == "U" else [b"a", b"b", b"\xff", b"z"])
    width = np.dtype(f"{dtype[0]}1").itemsize
    items = characters[generator.integers(0, 4, (size, int(dtype[1:])))]
    assert items.dtype.itemsize == width
    return items.view(dtype)[:, 0]


@pytest.mark.parametrize("dtype", ["S1", "S7", "S8", "S9", "S40", "S200", "U1", "U3", "U8", "U20"])
def test_argsort_of_strings_equals_numpy(dtype):
    for size in (2, MIN_KERNEL_ITEMS + 5):
        values = random_strings(dtype, size, np.random.default_rng(size))
        values[size // 2] = values[0][:0]  # an empty string
        expected = np.argsort(values, kind="stable")
        assert np.array_equal(_sort.argsort(values, False)[0], expected), size


@pytest.mark.parametrize("dtype", ["c8", "c16", "G"])
@pytest.mark.parametrize("nan_share", [0, 0.1, 0.9])
def test_argsort_of_complex_numbers_equals_numpy(dtype, nan_share):
    """Numbers with NaN in either part come after all others, in NumPy's order."""
    generator = np.random.default_rng(3)
    for size in (2, MIN_KERNEL_ITEMS + 5):
        parts = generator.choice([0.0, -0.0, 1, 2, np.inf, -np.inf], (size, 2))
        parts[:, 0] = generator.integers(0, 30, size)
        parts[generator.random(parts.shape) < nan_share] = np.nan
        values = (parts[:, 0] + 0j).astype(dtype)
        values.real, values.imag = parts.T
        expected = np.argsort(values, kind="stable")
        assert np.array_equal(_sort.argsort(values, False)[0], expected), size


@pytest.mark.parametrize("dtype", ["V1", "V7", "V8", "V9", "V16", "V40"])
def test_argsort_of_bytes_equals_numpy(dtype):
    generator = np.random.default_rng(3)
    for size in (2, MIN_KERNEL_ITEMS + 5):
        values = generator.integers(0, 256, (size, int(dtype[1:])), np.uint8)
        values[:, : min(9, values.shape[1] - 1)] //= 200
        values = values.view(dtype).ravel()
        expected = np.argsort(values, kind="stable")
        assert np.array_equal(_sort.argsort(values, False)[0], expected), size


def test_argsort_of_characters_beyond_latin_1_equals_numpy():
    strings = np.array(["a\u1234", "\U0001f600", "\u1234a", "\u1233z"] * MIN_KERNEL_ITEMS)
    expected = np.argsort(strings, kind="stable")
    assert np.array_equal(_sort.argsort(strings, False)[0], expected)


@pytest.mark.parametrize("dtype", ["i8", "u4", "f4", "f8", "i2", "c16", "M8[s]"])
@pytest.mark.parametrize("width", [1, 3, 17])
def test_argsort_of_rows_equals_lexsort(dtype, width):
    generator = np.random.default_rng(width)
    values = generator.integers(0, 3, (MIN_KERNEL_ITEMS, width)).astype(dtype)
    if values.dtype.kind == "f":
        values[generator.random(values.shape) < 0.2] = np.nan
    expected = np.lexsort(values.T[::-1])
    assert np.array_equal(_sort.argsort(values, False)[0], expected)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize("width", [1, 2, 8, 9, 40])
@pytest.mark.parametrize("range_width", [2, 50, 2**62], ids="range_width{}".format)
def test_argsort_of_rows_with_equal_first_columns_equals_lexsort(dtype, width, range_width):
    """Each row begins with columns of row 0: none, some or all of them. NumPy sorts the rows of
    few values (MIN_ITEMS). Of more rows, the first columns are packed into words, and rows of equal
    words are sorted by the next columns."""
    generator = np.random.default_rng(width)
    for size in (2, 300, 3000):
        numbers = generator.integers(-range_width // 2, range_width // 2, (size, width))
        values = numbers.astype(dtype)
        shared = generator.integers(0, width + 1, size)
        for column in range(width):
            values[:, column] = np.where(shared > column, values[0, column], values[:, column])
        if values.dtype.kind == "f":
            values[generator.random(values.shape) < 0.1] = np.nan
            values[generator.random(values.shape) < 0.1] = -0.0
        expected = np.lexsort(values.T[::-1])
        assert np.array_equal(_sort.argsort(values, False)[0], expected), size


def test_rows_whose_ranks_exceed_32_bits_are_ordered_by_numpy(monkeypatch):
    rows = np.random.default_rng(1).integers(0, 99, (MIN_KERNEL_ITEMS, 3))
    monkeypatch.setattr(_sort, "MAX_ROWS", len(rows))
    monkeypatch.setattr(_sort, "_packed", None)
    assert np.array_equal(_sort.argsort(rows, False)[0], np.lexsort(rows.T[::-1]))


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "i8"])
@pytest.mark.parametrize("high", [3, 2**30])
def test_argsort_of_rows_of_many_columns_equals_lexsort(dtype, high):
    """Every second row has none, one, all but one or all of its columns in common with row 0. One
    column has the limits of the dtype or, if the dtype is a float, of i8."""
    generator = np.random.default_rng(5)
    size, width = 500, 200
    limits = np.iinfo("i8") if dtype[0] == "f" else np.iinfo(dtype)
    values = generator.integers(0, min(high, limits.max), (size, width)).astype(dtype)
    values[:, 5] = generator.choice([limits.min, 0, limits.max], size)
    for shared in (0, 1, 199, 200):
        rows = values.copy()
        rows[::2, :shared] = rows[0, :shared]
        expected = np.lexsort(rows.T[::-1])
        assert np.array_equal(_sort.argsort(rows, False)[0], expected), shared


DISTRIBUTIONS = {
    "uniform": lambda n, r: r.integers(-(2**62), 2**62, n),
    "narrow": lambda n, r: r.integers(0, 1000, n),
    "last_is_an_outlier": lambda n, r: np.append(r.integers(0, n, n - 1), 2**62),
    "high_and_low_bits": lambda n, r: (np.arange(n) % 8 << 60) + r.integers(0, 3, n),
    "first_is_an_outlier": lambda n, r: np.append(r.integers(0, n, n - 1), 2**62)[::-1].copy(),
    "two_outliers": lambda n, r: np.where(np.arange(n) < n - 2, r.integers(0, 9, n), 2**40),
    "descending": lambda n, r: np.arange(n)[::-1].copy(),
    "runs": lambda n, r: np.repeat(r.integers(0, 2**60, n // 100 + 1), 100)[:n],
    "exponents": lambda n, r: np.exp(r.uniform(-700, 700, n)) * r.choice([-1, 1], n),
    "subnormal": lambda n, r: r.integers(0, n, n).view(np.float64),
    "zeros": lambda n, r: r.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], n),
    "swapped_floats": lambda n, r: r.choice([0.0, -0.0, 1.5, np.nan, 3e300], n).astype(">f8"),
    "swapped_random_floats": lambda n, r: r.standard_normal(n).astype(">f4"),
    "swapped_integers": lambda n, r: r.integers(-(2**31), 2**31, n).astype(">i4"),
    "swapped_times": lambda n, r: r.integers(-(2**63), 2**63 - 1, n).astype(">i8").view(">M8[s]"),
    "times": lambda n, r: r.integers(-(2**63), 2**63 - 1, n).view("m8[ns]"),
}


@functools.lru_cache(maxsize=8)
def values_and_outputs(kind, size, equal_nan):
    """The numbers of DISTRIBUTIONS[kind], and all of NumPy's outputs for them."""
    values = DISTRIBUTIONS[kind](size, np.random.default_rng(size))
    return values, np.unique(values, True, True, True, equal_nan=equal_nan)


@covering(
    kind=DISTRIBUTIONS,
    extras=[(), (0,), (1,), (2,), (0, 1, 2)],
    equal_nan=[True, False],
    algorithm=["sorting", "comparison"],
)
def test_unique_by_sorting_equals_numpy(kind, equal_nan, extras, algorithm, monkeypatch):
    force(monkeypatch, algorithm)
    flags = [k in extras for k in range(3)]
    for size in (5, MIN_KERNEL_ITEMS, LARGE):
        values, outputs = values_and_outputs(kind, size, equal_nan)
        expected = [outputs[0], *(outputs[k + 1] for k in extras)]
        for threads in (1, 2, 7):
            with fastsel.threads(threads):
                result = fastsel.unique(values, *flags, equal_nan=equal_nan)
            result = result if extras else [result]
            for ours, theirs in zip(result, expected, strict=True):
                assert ours.dtype == theirs.dtype
                assert ours.tobytes() == theirs.tobytes(), (size, threads)


def test_groups_of_thousands_of_keys_have_the_right_inverse_and_counts(monkeypatch):
    force(monkeypatch, "sorting")
    values = np.arange(1023) << 20
    array = np.resize(values, 1023 * 4097)
    for threads in (1, 3):
        with fastsel.threads(threads):
            ours, inverse, counts = fastsel.unique(array, return_inverse=True, return_counts=True)
        assert np.array_equal(ours, values)
        assert np.array_equal(inverse, np.resize(np.arange(1023), array.size))
        assert (counts == 4097).all()


def test_sort_keeps_the_bits_of_nan():
    values = np.concatenate((nans_with_payloads(40), np.arange(100.0)))
    assert _sort.sort(values)[100:].tobytes() == values[:40].tobytes()


def test_values_are_not_modified():
    values = np.random.default_rng(1).random(2 * MIN_KERNEL_ITEMS)
    before = values.copy()
    _sort.sort(values)
    _sort.argsort(values, True)
    assert values.tobytes() == before.tobytes()


def test_ranks_invert_a_permutation():
    order = np.random.default_rng(2).permutation(100)
    assert np.array_equal(_sort.ranks(order)[order], np.arange(100))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_signalling_nan_causes_no_warning(dtype, monkeypatch):
    """NumPy warns when it casts a signalling NaN to a wider dtype; unique does not."""
    force(monkeypatch, "sorting")
    array = np.arange(1000).astype(dtype)
    nan = {"f2": 0x7D00, "f4": 0x7FA00000, "f8": 0x7FF4000000000000}[dtype]
    array.view(f"u{array.itemsize}")[::7] = nan
    for return_index in (True, False):
        values = fastsel.unique(array, return_index=return_index)
        values = values[0] if return_index else values
        assert len(values) == 1000 - 143 + 1
        assert np.isnan(values[-1])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("size", [1, 9])
def test_signalling_nan_among_few_values_keep_their_bits_without_a_warning(size, dtype):
    values = np.arange(size).astype(dtype)
    bits = values.view(f"u{values.itemsize}")
    bits[::4] = {"f2": 0x7D00, "f4": 0x7FA00000, "f8": 0x7FF4000000000000}[dtype]
    expected = np.concatenate((bits[values == values], bits[::4]))
    assert _sort.sort(values).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "V3", "S5", "U7", "O"])
@pytest.mark.parametrize("slice_shape", [(), (1,), (3,), (2, 2)])
def test_values_at_positions_equal_those_of_numpy(dtype, slice_shape, kernels_with_few_threads):
    rng = np.random.default_rng(4)
    size = 2000 * int(np.prod(slice_shape))
    if dtype == "O":
        items = rng.integers(0, 9, size).astype(object)
    else:
        items = np.frombuffer(rng.bytes(size * np.dtype(dtype).itemsize), dtype)
    rows = items.reshape(2000, *slice_shape)
    for positions in (rng.integers(0, 2000, 5000), np.arange(3), np.array([], int)):
        found = values_at(rows, positions)
        assert found.shape == (len(positions), *slice_shape)
        assert found.tobytes() == rows.take(positions, axis=0).tobytes()


def test_rows_whose_first_column_is_constant_and_whose_second_takes_64_bits_are_sorted():
    """Words of no bits are not shifted by 64 bits, which C leaves undefined."""
    rng = np.random.default_rng(8)
    second = rng.integers(-(2**63), 2**63 - 1, 5000)
    second[:2] = -(2**63), 2**63 - 1
    rows = np.stack([np.full(5000, 7), second, rng.integers(0, 3, 5000)], axis=1)
    order = _sort.argsort(rows, False)[0]
    assert np.array_equal(order, np.lexsort(rows.T[::-1]))


def test_columns_have_ranks_if_the_kernel_gives_way(monkeypatch):
    """It gives way to NumPy if a part has too many keys."""
    rng = np.random.default_rng(9)
    rows = rng.integers(-(2**62), 2**62, (5000, 3))
    rows[:, 0] //= 2**60  # most rows are tied
    original = _sort._sorted

    def gives_way(values, request):
        return None if request.inverse else original(values, request)

    monkeypatch.setattr(_sort, "_sorted", gives_way)
    order = _sort.argsort(rows, False)[0]
    assert np.array_equal(order, np.lexsort(rows.T[::-1]))


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_late_zeros_and_nan_keep_their_bits(dtype, equal_nan):
    """Among ascending values, zero and NaN have the bits of their first occurrences."""
    word = f"u{np.dtype(dtype).itemsize}"
    for size in (3000, 20_003):
        for late in (0, 63, 64, 65, 191, size - 3):
            items = np.random.default_rng(late).integers(1, 900, size).astype(dtype)
            items[late], items[late + 1], items[late + 2] = -0.0, -np.nan, np.nan
            items[-1] = 0.0 if late < size - 3 else items[-1]
            bits = items.view(word)
            bits[late + 1] ^= 5
            nans = bits[late + 1 : late + 2] if equal_nan else bits[late + 1 : late + 3]
            values = fastsel.unique(items, equal_nan=equal_nan).view(word)
            assert values[0] == bits[late]
            assert np.array_equal(values[len(values) - len(nans) :], nans), (size, late)
