"""Memory beside the outputs, and sizes beyond memory."""

import itertools
import tracemalloc
from functools import partial

import numpy as np
import pytest
from forcing import numpy_sorts_whole
from grids import covering
from operators import SET_FUNCTION_NAMES
from unique_kernels import make_partitions

import fastsel
from fastsel._core import _gate
from fastsel._sets import _membership

pytestmark = [
    pytest.mark.usefixtures("forced_kernels"),
    pytest.mark.thread_unsafe(reason="counts references and the memory of the process"),
]

# Numbers of threads for the tests of memory. Most machines have fewer CPUs.
THREADS = (2, 16, 32, 64)
BYTES_PER_THREAD = 20_000


@pytest.mark.parametrize("capacity", [2**58, 2**62])
def test_a_capacity_beyond_memory_raises_an_error(capacity):
    with pytest.raises((MemoryError, ValueError)):
        fastsel.nonzero_coordinates(np.ones((2, 3)), capacity=capacity)


def test_a_gathered_result_beyond_memory_raises_an_error():
    data = np.broadcast_to(np.float64(1), (2, 2**45))
    with pytest.raises((MemoryError, ValueError)):
        fastsel.gather_nd(data, np.zeros((1000, 1), np.int64))


@pytest.mark.parametrize("threads", [1, *THREADS, 128])
@pytest.mark.parametrize("shape", [(60, 50, 50, 40), (400_000, 4), (1500, 1500)])
def test_counts_along_an_axis_take_no_more_than_a_bitmask(shape, threads, monkeypatch):
    """The limit is an eighth of a byte per item and 20 kB, beside the result. It also holds for 128
    threads: chunks have their own counts only if these fit into the limit."""
    monkeypatch.setattr("fastsel._core._threads.MAX_THREADS", 128)
    a = np.ones(shape, bool)
    with fastsel.threads(threads):
        assert (fastsel.count_nonzero(a, axis=0) == shape[0]).all()
    taken = taken_beside_outputs(lambda: fastsel.count_nonzero(a, axis=0), threads)
    assert taken <= a.size // 8 + 20_000


# (index, inverse, counts): none of them is requested, one, or all three.
EXTRAS = [(False,) * 3, *(tuple(k == j for k in range(3)) for j in range(3)), (True,) * 3]


@covering(
    at_least=8,
    size=[100_000, 2_000_000],
    distinct_share=[0, 0.1, 1],
    sorted=[True, False],
    extras=EXTRAS,
    dtype=["i8", "f4", "i4", "f8"],
    threads=THREADS,
)
def test_unique_takes_little_beside_its_outputs(
    size, dtype, distinct_share, sorted, extras, threads
):
    groups = max(1000, int(distinct_share * size))
    a = np.random.default_rng(1).permutation(size) % groups * (2**31 // size)
    assert_little_memory(a.astype(dtype), extras, sorted, threads)


@covering(
    at_least=8,
    dtype=[">i8", "c8", "V8", "S4", "S8"],
    distinct_share=[0.1, 1],
    sorted=[True, False],
    extras=EXTRAS,
    threads=THREADS,
)
def test_unique_takes_little_for_swapped_complex_void_and_bytes_items(
    dtype, distinct_share, sorted, extras, threads
):
    size = 1_200_000
    groups = int(distinct_share * size)
    numbers = np.random.default_rng(1).permutation(size) % groups + 1
    a = numbers.astype("i4" if dtype == "S4" else "i8")
    a = a.view(dtype) if dtype[0] in "VS" else a.astype(dtype)
    taken = taken_beside_outputs(lambda: fastsel.unique(a, *extras, sorted=sorted), threads)
    assert taken <= 2.75 * a.nbytes + (28 * groups if sorted else 0) + BYTES_PER_THREAD * threads


@covering(
    at_least=6,
    share_and_groups=[(0.29, 177), (0.1, 100), (0.3, 1000), (0.6, 3000)],
    sorted=[True, False],
    threads=[1, 7, *THREADS],
)
def test_unique_takes_little_where_it_expects_too_few_groups(share_and_groups, sorted, threads):
    """A few groups have a share of the keys; each other key occurs once."""
    share, groups = share_and_groups
    size, rng = 1_100_000, np.random.default_rng(1)
    others = rng.integers(10**6, 2**62, size)
    a = np.where(rng.random(size) < share, rng.integers(0, groups, size), others)
    assert_little_memory(a, (), sorted, threads)


@covering(
    at_least=12,
    size_and_bits=[(1_300_000, 21), (1_300_000, 22), (2_600_000, 20), (2_600_000, 23)],
    outside_share=[0, 0.04, 0.09],
    sorted=[True, False],
    extras=EXTRAS,
    dtype=["i4", "i8", "f8"],
    threads=[1, *THREADS],
)
def test_unique_takes_little_for_ids_of_which_some_are_out_of_range(
    size_and_bits, outside_share, sorted, extras, dtype, threads
):
    """A direct-address table has most of the ids, and a list the others."""
    (size, bits), rng = size_and_bits, np.random.default_rng(1)
    a = rng.integers(0, 1 << bits, size)
    is_outside = rng.random(size) < outside_share
    a[is_outside] = rng.integers(-(1 << 30), 1 << 30, is_outside.sum())
    assert_little_memory(a.astype(dtype), extras, sorted, threads)


@covering(
    at_least=8,
    extras=EXTRAS,
    equal_nan=[True, False],
    nan_share=[0, 0.3],
    threads=THREADS,
)
def test_unique_takes_little_if_a_few_values_are_frequent(extras, equal_nan, nan_share, threads):
    """A part of a scatter by value has nearly a fifth of the items, which are equal."""
    size, rng = 3_000_000, np.random.default_rng(1)
    a = (rng.zipf(1.2, size) % 1e9 * 1.37).astype("f4")
    a[rng.random(size) < nan_share] = np.nan
    assert_little_memory(a, extras, True, threads, equal_nan=equal_nan)


@covering(
    at_least=6,
    extras=EXTRAS,
    dtype=["i4", "f8"],
    share=[0.55, 0.8, 0.9],
    sorts_whole=[True, False],
    sorted=[True, False],
)
@pytest.mark.thread_unsafe(reason="sets the answer of the process")
def test_unique_takes_little_if_most_items_are_equal(extras, dtype, share, sorts_whole, sorted):
    """The other items have outputs of their own."""
    size, rng = 3_000_000, np.random.default_rng(1)
    a = rng.integers(-(1 << 31), 1 << 31, size).astype(dtype)
    a[rng.random(size) < share] = 3
    with numpy_sorts_whole(sorts_whole):
        assert_little_memory(a, extras, sorted, 2)


def assert_little_memory(a, extras, sorted, threads, **arguments):
    """Check that unique takes at most 2.5 times the memory of `a`, or 24 MB if that is more, and
    BYTES_PER_THREAD for each thread, beside its outputs. With the inverse of items of 4 bytes, 2.75
    replaces 2.5."""
    times = 2.75 if any(extras[1:2]) and a.itemsize == 4 else 2.5
    taken = taken_beside_outputs(
        lambda: fastsel.unique(a, *extras, sorted=sorted, **arguments), threads
    )
    assert taken <= max(times * a.nbytes, 24e6) + BYTES_PER_THREAD * threads


def taken_beside_outputs(call, threads):
    """The peak memory of a call on this number of threads in bytes, without its outputs and without
    cached memory."""
    fastsel.set_keep_mb(0)
    tracemalloc.start()
    try:
        with fastsel.threads(threads):
            result = call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        fastsel.set_keep_mb(None)
    return peak - sum(output.nbytes for output in (result if type(result) is tuple else [result]))


# Bytes per object of the copy on which fastsel works without the GIL.
COPY_BYTES = 0 if _gate.HAS_GIL else 8


@covering(
    at_least=4,
    size=[2**13 + 1, 2**17 + 1],  # the table has just doubled
    extras=[False, True],
    threads=THREADS,
)
def test_objects_take_16_bytes_each_and_at_most_400_if_distinct(size, extras, threads):
    items = np.empty(size, object)
    for distinct in (10, size):
        items[:] = [(k % distinct,) for k in range(size)]
        taken = taken_beside_outputs(
            lambda: fastsel.unique(items, *[extras] * 3, sorted=False), threads
        )
        assert taken <= (16 + COPY_BYTES) * size + 400 * distinct + 20_000
    items[:] = [float("nan") for _ in range(size)]
    taken = taken_beside_outputs(
        lambda: fastsel.unique(items, sorted=False, equal_nan=False), threads
    )
    assert taken <= (16 + COPY_BYTES) * size + 400 * size


@covering(
    at_least=4,
    size=[30_000, 1_000_000],
    repeated=[1, 10],
    kind=[str, bytes],
    sorted=[True, False],
    extras=[False, True],
    threads=THREADS,
)
def test_strings_take_at_most_64_bytes_each(size, repeated, kind, sorted, extras, threads):
    numbers = np.random.default_rng(1).permutation(size) // repeated
    texts = numbers.astype("U" if kind is str else "S").astype(object)
    taken = taken_beside_outputs(
        lambda: fastsel.unique(texts, *[extras] * 3, sorted=sorted), threads
    )
    assert taken <= max((64 + COPY_BYTES) * size, 24e6)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("contiguous", [True, False])
def test_gathers_into_out_take_8_bytes_per_index_row(width, contiguous, threads):
    """If `out` is not contiguous, the memory of a copy of `out` is added."""
    data = np.arange(4000.0).reshape(-1, width)
    rows = np.random.default_rng(1).integers(0, len(data), (100_000, 1))
    out = np.zeros((len(rows), width), order="C" if contiguous or width == 1 else "F")
    if not contiguous and width == 1:
        out = np.zeros((len(rows), 2))[:, :1]
    fastsel.set_keep_mb(0)
    try:
        with fastsel.threads(threads):
            fastsel.gather_nd(data, rows, out=out)  # the first call may allocate what stays
            tracemalloc.start()
            fastsel.gather_nd(data, rows, out=out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        fastsel.set_keep_mb(None)
    assert np.array_equal(out, data[rows[:, 0]])
    assert peak <= 8 * len(rows) + (0 if contiguous else out.nbytes) + 20_000


def calls_for_many_threads():
    """A dict and the number of items. For each name, the dict has a call on arrays that are large
    enough for many threads, and the bytes per item that the call may take beside its outputs."""
    size, rng = 2_250_000, np.random.default_rng(1)
    floats = np.where(rng.random(size) < 0.3, rng.random(size), 0)
    square, mask, zeros = floats.reshape(1500, 1500), floats > 0, np.zeros(size)
    rows = rng.integers(0, 1500, (size, 2))
    calls = {
        "nonzero": (lambda: fastsel.nonzero(square), 1 / 8),
        "nonzero_transposed": (lambda: fastsel.nonzero(square.T), 1 / 8),
        "flatnonzero": (lambda: fastsel.flatnonzero(floats), 1 / 8),
        "argwhere": (lambda: fastsel.argwhere(square), 1 / 8),
        "nonzero_coordinates": (lambda: fastsel.nonzero_coordinates(square)[1], 1 / 8),
        "count_nonzero": (lambda: fastsel.count_nonzero(floats), 0),
        "first_nonzero": (lambda: fastsel.first_nonzero(zeros), 0),
        "count_nonzero_axis": (lambda: fastsel.count_nonzero(square.reshape(-1, 4), axis=0), 1 / 8),
        "compress": (lambda: fastsel.compress(mask, floats), 1 / 8),
        "compress_axis": (lambda: fastsel.compress(mask[:1500], square, axis=1), 0),
        "extract": (lambda: fastsel.extract(mask, floats), 1 / 8),
        "boolean_mask": (lambda: fastsel.boolean_mask(floats, mask), 1 / 8),
        "gather_nd": (lambda: fastsel.gather_nd(square, rows), 0),
    }
    numbers = rng.permutation(size)
    for groups in (1000, size // 50, size // 10, size):
        for dtype in (np.int64, np.float32):
            a = (numbers % groups * (1_000_003 if dtype is np.int64 else 1)).astype(dtype)
            calls[f"group_indices_{groups}_{dtype.__name__}"] = (
                lambda a=a: tuple(fastsel.group_indices(a, sorted=False)),
                2.5 * a.itemsize + 21,
            )
            for order, extras in (("sorted", 3), ("first", 0), ("first", 3)):
                calls[f"unique_{order}_{groups}_{dtype.__name__}_{extras}"] = (
                    lambda a=a, order=order, extras=extras: fastsel.unique(
                        a, *[extras > 0] * 3, sorted=order == "sorted"
                    ),
                    (2.75 if extras and a.itemsize == 4 else 2.5) * a.itemsize,
                )
    rows = (numbers % 1000).reshape(-1, 2)
    calls["unique_rows"] = lambda: fastsel.unique(rows, axis=0), 2.5 * 8
    small_range = numbers % 250_000
    for extras, order in itertools.product((False, True), repeat=2):
        calls[f"unique_narrow_{extras}_{order}"] = (
            lambda extras=extras, order=order: fastsel.unique(
                small_range, *[extras] * 3, sorted=order
            ),
            2.5 * 8,
        )
    calls["nonzero_coordinates_first"] = (
        lambda: fastsel.nonzero_coordinates(square, capacity=10, truncate=True)[1],
        1 / 8,
    )
    for name in (*SET_FUNCTION_NAMES, "index_in"):
        for groups in (1000, size):
            first, second = np.split((numbers % groups * 7).astype(np.float32), [size // 2])
            calls[f"{name}_{groups}"] = (
                lambda name=name, first=first, second=second: getattr(fastsel, name)(first, second),
                2.5 * 4,
            )
    return calls, size


def test_the_promised_memory_limits_the_threads_that_fill_a_table():
    keys = np.arange(2_250_000)

    def table_threads(expected):
        job = make_partitions(keys, expected=expected, inverse=True, counts=True, threads=128)
        assert job.find()
        return job.table_threads

    assert table_threads(1000) == 128
    assert 2 <= table_threads(keys.size) <= 32


@pytest.mark.parametrize(
    ("threads", "first", "step"), [(16, 0, 3), (32, 1, 3), (64, 2, 3), (128, 0, 1)]
)
def test_memory_grows_by_at_most_20_kb_per_thread(threads, first, step, monkeypatch):
    """The limits of docs/differences.md hold with more threads than most machines have. 128 threads
    run all calls; 16, 32 and 64 threads share the calls."""
    monkeypatch.setattr("fastsel._core._threads.MAX_THREADS", 128)
    calls, size = calls_for_many_threads()
    taken = {}
    for name, (call, bytes_per_item) in [*calls.items()][first::step]:
        limit = bytes_per_item * size + BYTES_PER_THREAD * threads
        taken[name] = taken_beside_outputs(call, threads), limit
    beyond_limit = {name: pair for name, pair in taken.items() if pair[0] > pair[1]}
    assert beyond_limit == {}


@covering(
    at_least=20,
    sizes=[(10**6, 10**6), (2 * 10**6, 1000), (1000, 2 * 10**6), (10**6, 200_000)],
    distinct_share=[0.001, 1],
    name=[*SET_FUNCTION_NAMES, "index_in", "remap"],
    dtype=["i8", "f4", "f8"],
    threads=THREADS,
)
def test_sets_and_lookups_take_little_beside_their_outputs(
    sizes, distinct_share, name, dtype, threads
):
    groups = max(1000, int(distinct_share * sum(sizes)))
    pool = np.random.default_rng(1).permutation(sum(sizes)) % groups * 1_000_003
    first, second = (part.astype(dtype) for part in np.split(pool, sizes[:1]))
    call = partial(getattr(fastsel, name), first, second)
    if name == "remap":
        call = partial(call, np.arange(len(second), dtype="i4"), default=-1)
    taken = taken_beside_outputs(call, threads)
    assert taken <= max(2.5 * (first.nbytes + second.nbytes), 24e6) + BYTES_PER_THREAD * threads


@covering(
    at_least=8,
    dtype=["i8", "f4", "i4", "f8"],
    distinct_share=[0.001, 0.1, 1],
    sorted=[True, False],
    threads=THREADS,
)
def test_group_indices_takes_up_to_21_bytes_more_for_each_item(
    dtype, distinct_share, sorted, threads
):
    size = 1_200_000
    a = np.random.default_rng(1).permutation(size) % int(distinct_share * size) * (2**31 // size)
    a = a.astype(dtype)
    taken = taken_beside_outputs(lambda: tuple(fastsel.group_indices(a, sorted=sorted)), threads)
    times = 2.75 if a.itemsize == 4 else 2.5
    assert taken <= max(times * a.nbytes, 24e6) + 21 * size + BYTES_PER_THREAD * threads


@covering(at_least=8, name=["index_in", "isin"], wide=["i4", "u8", "f8", "c16"],
          dtype=["?", "u1", "i2", "f2"], threads=THREADS)  # fmt: skip
def test_narrow_tests_are_not_widened(name, wide, dtype, threads):
    numbers = np.random.default_rng(1).permutation(6 << 20) % 2000
    tests = numbers.astype("u1" if dtype == "?" else dtype).astype(dtype)
    items = np.array([3, 1, 250, 0, 70_000, 1]).astype(wide)
    taken = taken_beside_outputs(lambda: getattr(fastsel, name)(items, tests), threads)
    assert taken <= max(2.5 * tests.nbytes, 24e6) + BYTES_PER_THREAD * threads
    first = [
        int((tests == k).argmax()) if k in (0, 1) or (dtype != "?" and k < 300) else -1
        for k in items.real.astype(int).tolist()
    ]
    expected = first if name == "index_in" else [k >= 0 for k in first]
    assert getattr(fastsel, name)(items, tests).tolist() == expected


@covering(at_least=6, name=["index_in", "isin", "setxor1d"], dtype=["u1", "f4"], threads=THREADS)
def test_more_keys_than_32_bits_can_number_take_no_more(name, dtype, threads, monkeypatch):
    """Here, 20 bits number the keys."""
    monkeypatch.setattr(_membership, "MAX_KEYS", 1 << 20)
    tests = np.random.default_rng(1).permutation(6 << 20).astype(dtype)
    taken = taken_beside_outputs(lambda: getattr(fastsel, name)(tests[-3:], tests), threads)
    assert taken <= max(2.5 * tests.nbytes, 24e6) + BYTES_PER_THREAD * threads


UNUSUAL_LAYOUTS = {
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1, ::-1],
    "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "unaligned": lambda a: (
        np.frombuffer(b"\0" + a.tobytes(), "u1")[1:].view(a.dtype).reshape(a.shape)
    ),
}
ROWS = np.random.default_rng(1).integers(0, 500, (50_000, 2))
CALLS_IN_PLACE = {
    "nonzero": lambda a: fastsel.nonzero(a),
    "nonzero_as_int32": lambda a: fastsel.nonzero(a, dtype=np.int32),
    "flatnonzero": lambda a: fastsel.flatnonzero(a),
    "argwhere": lambda a: fastsel.argwhere(a),
    "count_nonzero": lambda a: fastsel.count_nonzero(a, axis=0),
    "first_nonzero": lambda a: fastsel.first_nonzero(a, axis=0),
    "nonzero_coordinates": lambda a: tuple(fastsel.nonzero_coordinates(a)),
    "compress": lambda a: fastsel.compress(np.arange(len(a)) % 3, a, axis=0),
    "extract": lambda a: fastsel.extract(a, a),
    "boolean_mask": lambda a: fastsel.boolean_mask(a, np.arange(len(a)) % 3 == 0),
    "gather_nd": lambda a: fastsel.gather_nd(a, ROWS),
}


@covering(at_least=55, name=CALLS_IN_PLACE, layout=UNUSUAL_LAYOUTS, threads=THREADS)
def test_items_are_read_in_place(name, layout, threads):
    """A copy would take 64 times the memory of a bitmask."""
    a = UNUSUAL_LAYOUTS[layout](np.random.default_rng(1).integers(0, 3, (700, 900)).astype(float))
    assert taken_beside_outputs(lambda: CALLS_IN_PLACE[name](a), threads) <= a.size // 8 + 100_000


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("format", "order"), [("coo", "C"), ("csr", "C"), ("csc", "F")])
def test_sparse_arrays_take_no_more_than_a_bitmask(format, order, threads):
    sparse = pytest.importorskip("fastsel.sparse", reason="needs pip install scipy")
    a = np.asarray(np.random.default_rng(1).random((700, 900)).round(), order=order)

    def data_and_indices():
        array = sparse.from_dense(a, format)
        indices = array.coords if format == "coo" else (array.indices, array.indptr)
        return array.data, *indices

    data_and_indices()  # SciPy imports modules in the first call
    assert taken_beside_outputs(data_and_indices, threads) <= a.size // 8 + 100_000
