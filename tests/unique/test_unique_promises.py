"""unique: the result depends on the items only, not on threads, chunks, seeds or other callers."""

import itertools
import sys
from functools import partial

import arrays
import numpy as np
import pytest
import reference
from arrays import grouped
from callers import run_in_threads
from comparison import assert_same
from concurrent_writer import while_writing
from forcing import ALGORITHMS, force
from grids import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS

import fastsel

pytestmark = SIGNALLING_NANS


ARRAY_API_FUNCTIONS = ("unique_all", "unique_counts", "unique_inverse", "unique_values")
SAMPLES = {  # name: dtype, size, groups, maker, shape of a row
    "narrow bytes": ("uint8", 5000, 30, arrays.in_a_row, ()),
    "narrow": ("int64", 5000, 700, arrays.in_a_row, ()),
    "wide": ("int64", 5000, 2000, arrays.scattered, ()),
    "distinct": ("int32", 4000, 4000, arrays.scattered, ()),
    "floats": ("float64", 5000, 900, arrays.scattered, ()),
    "halves": ("float16", 3000, 3000, arrays.scattered, ()),
    "complex": ("complex128", 3000, 400, arrays.scattered, ()),
    "bytes": ("S9", 3000, 400, arrays.scattered, ()),
    "text": ("U3", 3000, 500, arrays.scattered, ()),
    "raw": ("V16", 2000, 2000, arrays.scattered, ()),
    "tiny": ("int64", 5, 3, arrays.scattered, ()),
    "rows": ("int32", 1200, 5, arrays.in_a_row, (3,)),
    "float rows": ("float32", 1000, 4, arrays.scattered, (2,)),
}


def sample(name):
    """An array, and the axis to pass to unique."""
    dtype, size, groups, maker, row = SAMPLES[name]
    array = grouped(np.dtype(dtype), size, groups, make_items=maker)
    return array.reshape(-1, *row), 0 if row else None


def expected_in_both_orders(array, axis):
    return [reference.unique_outputs(array, axis, sorted=in_order) for in_order in (True, False)]


# Threads, chunks, seeds.


@pytest.mark.parametrize("name", SAMPLES)
def test_num_threads_agnosticism(name, each_num_threads, monkeypatch):
    array, axis = sample(name)
    expected_outputs = expected_in_both_orders(array, axis)
    for _ in each_num_threads:
        for algorithm in ALGORITHMS:
            force(monkeypatch, algorithm)
            for in_order, expected in zip((True, False), expected_outputs, strict=True):
                outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
                assert_same(outputs, expected)
                assert_same(fastsel.unique(array, axis=axis, sorted=in_order), expected[0])


@pytest.mark.parametrize("name", SAMPLES)
def test_chunk_count_agnosticism(name, forced_kernels, monkeypatch):
    """MIN_CHUNK_BYTES limits the number of threads, on which the number of chunks depends."""
    array, axis = sample(name)
    expected_outputs = expected_in_both_orders(array, axis)
    for num_threads, chunk_bytes in ((2, 1), (5, 100), (2, 3000), (5, 10_000), (2, 2**30)):
        monkeypatch.setattr("fastsel._core._threads.MIN_CHUNK_BYTES", chunk_bytes)
        with fastsel.threads(num_threads):
            for algorithm in ALGORITHMS:
                force(monkeypatch, algorithm)
                for in_order, expected in zip((True, False), expected_outputs, strict=True):
                    outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
                    assert_same(outputs, expected)


SEED_SCRIPT = """
import hashlib
import numpy as np
import arrays, fastsel, fastsel._unique._plan, fastsel._core._threads
fastsel._core._threads.MIN_CHUNK_BYTES = 1
fastsel._unique._plan.UNSAMPLED_ITEMS = 0
digest = hashlib.sha256()
for algorithm in (None, "dense", "sorting", "tables", "partitions"):
    fastsel._unique._plan.FORCED.set(algorithm)
    for name in ("int64", "float64", "complex128", "S8", "V16"):
        for groups in (40, 3000):
            array = arrays.grouped(name, 3000, groups)
            for axis, view in ((None, array), (0, array.reshape(-1, 3))):
                for in_order in (True, False):
                    for output in fastsel.unique(view, True, True, True, axis, sorted=in_order):
                        digest.update(output.tobytes())
        digest.update(np.sort(fastsel.unique_values(arrays.grouped("int64", 999, 99))).tobytes())
print(digest.hexdigest())
"""


def test_seed_agnosticism(run_python, monkeypatch):
    """No result depends on the seed of the hash: FASTSEL_HASH_SEED, or a random seed without it."""
    monkeypatch.delenv("FASTSEL_HASH_SEED", raising=False)
    digests = {run_python(SEED_SCRIPT)}
    for seed in ("0", "12345678901234567890"):
        digests.add(run_python(SEED_SCRIPT, FASTSEL_HASH_SEED=seed))
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


# Inputs.


def snapshot(array):
    """All bytes of the memory, gaps and padding included; or the items, if they are objects or have
    the dtype StringDType."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.tolist() if array.dtype.char in "OT" else array.ravel("K").view(np.uint8).tobytes()


@covering(name=arrays.DTYPES, threads=[1, 3])
def test_input_unmodified(name, threads, forced_kernels, monkeypatch):
    """The input keeps every bit, padding included, and its flags. A read-only input is accepted."""
    dtype = arrays.DTYPES[name]
    layouts = ("C", "F", "strided", "negative", "readonly", "swapped", "unaligned")
    for k, layout in enumerate(layouts):
        if not has_layout(dtype, layout):
            continue
        array = LAYOUTS[layout](grouped(name, 300, 25).reshape(100, 3))
        before, flags = snapshot(array), str(array.flags)
        for algorithm in ALGORITHMS[k % 7 :: 7]:
            force(monkeypatch, algorithm)
            for in_order in (True, False):
                fastsel.unique(array, sorted=in_order)
                fastsel.unique(array, True, True, True, sorted=in_order)
                if dtype.char not in "OT":
                    fastsel.unique(array, True, True, True, axis=0, sorted=in_order)
        for function in ARRAY_API_FUNCTIONS:
            getattr(fastsel, function)(array)
        assert snapshot(array) == before
        assert str(array.flags) == flags


# Several callers, and writers during a call.


def test_concurrent_callers(forced_kernels, monkeypatch):
    """Eight threads call at once, in pairs: the threads of a pair have the same array."""
    cases = [(*sample(name), in_order) for name in SAMPLES for in_order in (True, False)]
    expected = [
        reference.unique_outputs(array, axis, sorted=in_order) for array, axis, in_order in cases
    ]

    def caller(worker):
        with fastsel.threads(2):
            for step in range(len(cases)):
                case = (step + 3 * (worker // 2)) % len(cases)
                array, axis, in_order = cases[case]
                outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
                assert_same(outputs, expected[case])

    for algorithm in ALGORITHMS:
        force(monkeypatch, algorithm)
        run_in_threads([partial(caller, worker) for worker in range(8)])


@pytest.mark.parametrize(
    ("dtype", "width"),
    [
        ("i8", None),
        ("i2", None),
        ("u1", None),
        ("f8", None),
        ("f2", None),
        ("c16", None),
        ("m8[s]", None),
        ("S8", None),
        ("V16", None),
        ("i4", 6),
        ("f4", 2),
    ],
)
def test_keys_changed_meanwhile_leave_index_and_inverse_within_bounds(
    dtype, width, forced_kernels, monkeypatch
):
    """No write of another thread makes unique crash or raise an error."""
    nan_bits = -(2**63) if dtype == "m8[s]" else -1  # NaT, or NaN as floats
    rng = np.random.default_rng(6)
    contents = [
        np.where(np.arange(12_000) % 1000, 7, nan_bits),
        np.full(12_000, nan_bits),
        rng.integers(-(2**63), 2**63 - 1, size=12_000),
        np.arange(12_000),
    ]
    memory = contents[-1].copy()
    array, axis = memory.view(dtype)[:12_000], None
    if width is not None:
        array, axis = array.reshape(-1, width), 0
    count = len(array)
    rules = itertools.cycle(itertools.product(ALGORITHMS, (True, False), (True, False)))

    def write():
        for content in contents:
            memory[:] = content

    def check():
        algorithm, in_order, equal_nan = next(rules)
        force(monkeypatch, algorithm)
        keywords = {"axis": axis, "sorted": in_order, "equal_nan": equal_nan}
        values, index, inverse, counts = fastsel.unique(array, True, True, True, **keywords)
        assert len(values) == len(index) == len(counts) <= count
        assert inverse.shape == (count,)
        assert ((index >= 0) & (index < count)).all()
        assert ((inverse >= 0) & (inverse < len(values))).all()
        for _ in range(8):
            assert 0 < len(fastsel.unique(array, **keywords)) <= count

    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with fastsel.threads(2):
            while_writing(write, check)
    finally:
        sys.setswitchinterval(switch_interval)


# Any call.


# fastsel calls np.unique for empty arrays. Before 2.4, np.unique accepts no axis for objects.
ACCEPTS_OBJECTS_ALONG_AN_AXIS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


@st.composite
def calls(draw):
    """An array and the arguments of a call."""
    name = draw(st.sampled_from(sorted(arrays.DTYPES)))
    dtype = arrays.DTYPES[name]
    shape = draw(
        st.one_of(
            st.tuples(st.integers(0, 300)), st.lists(st.integers(0, 12), max_size=3).map(tuple)
        )
    )
    size = int(np.prod(shape, dtype=int))
    groups, seed = draw(st.sampled_from([1, 2, 5, 30, 1000])), draw(st.integers(0, 99))
    maker = draw(st.sampled_from([arrays.scattered, arrays.in_a_row]))
    array = grouped(name, size, groups, seed, maker).reshape(shape)
    layouts = [layout for layout in LAYOUTS if has_layout(dtype, layout)]
    array = LAYOUTS[draw(st.sampled_from(layouts))](array)
    axes = [None]
    if dtype.char not in "OT" or (array.ndim == 1 and ACCEPTS_OBJECTS_ALONG_AN_AXIS):
        axes += range(-array.ndim, array.ndim)
    flags = draw(st.tuples(*[st.booleans()] * 3))
    keywords = {"equal_nan": draw(st.booleans()), "sorted": draw(st.booleans())}
    return array, (*flags, draw(st.sampled_from(axes))), keywords


@pytest.mark.thread_unsafe(reason="forces an algorithm for the process")
@settings(max_examples=5 * settings().max_examples)
@given(calls(), st.sampled_from([1, 2, 3, 7]), st.sampled_from(ALGORITHMS))
def test_any_call_equals_the_reference(forced_kernels, call, num_threads, algorithm):
    array, arguments, keywords = call
    expected = reference.unique(array, *arguments, **keywords)
    with fastsel.threads(num_threads), pytest.MonkeyPatch.context() as patch:
        force(patch, algorithm)
        assert_same(fastsel.unique(array, *arguments, **keywords), expected)


@pytest.mark.thread_unsafe(reason="forces an algorithm for the process")
@given(
    st.lists(st.integers(-3, 3)),
    st.sampled_from(["i1", "i8", "f2", "f8", "U2", "S9", "O"]),
    st.sampled_from(ALGORITHMS),
)
def test_any_list_is_rebuilt_by_its_inverse(forced_kernels, numbers, dtype, algorithm):
    array = np.array(numbers, dtype)
    with fastsel.threads(3), pytest.MonkeyPatch.context() as patch:
        force(patch, algorithm)
        for in_order in (True, False):
            values, index, inverse, counts = fastsel.unique(
                array, True, True, True, sorted=in_order
            )
            items = array.tolist()
            assert values[inverse].tolist() == items
            assert array[index].tolist() == values.tolist()
            assert values.tolist() == (
                sorted(set(items)) if in_order else list(dict.fromkeys(items))
            )
            assert index.tolist() == [items.index(value) for value in values.tolist()]
            assert counts.tolist() == [items.count(value) for value in values.tolist()]
