"""unique: the result depends on the items alone, not on threads, slices, seeds or hostile keys."""

import itertools
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import arrays
import numpy as np
import pytest
import reference
from arrays import assert_same, grouped
from hypothesis import given, settings
from hypothesis import strategies as st

import fastsel

ENGINES = (None, "places", "ranges", "slices", "words", "tables", "partitions", "sort")
FOUR = ("unique_all", "unique_counts", "unique_inverse", "unique_values")
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


@pytest.fixture(autouse=True)
def signalling_nans_do_not_warn():
    """NumPy warns when it compares one; so may the reference, and what goes to NumPy's function."""
    with np.errstate(invalid="ignore"):
        yield


def force(monkeypatch, engine):
    monkeypatch.setattr("fastsel._engines.FORCE_ENGINE", engine)


def sample(name):
    """An array and the axis along which it is looked at."""
    dtype, size, groups, maker, row = SAMPLES[name]
    array = grouped(np.dtype(dtype), size, groups, make_items=maker)
    return array.reshape(-1, *row), 0 if row else None


def both_orders(array, axis):
    return [reference.unique_outputs(array, axis, sorted=in_order) for in_order in (True, False)]


# Threads, slices, seeds.


@pytest.mark.parametrize("name", SAMPLES)
def test_num_threads_agnosticism(name, each_num_threads, monkeypatch):
    array, axis = sample(name)
    expected = both_orders(array, axis)
    for _ in each_num_threads:
        for engine in ENGINES:
            force(monkeypatch, engine)
            for in_order, full in zip((True, False), expected, strict=True):
                outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
                assert_same(outputs, full)
                assert_same(fastsel.unique(array, axis=axis, sorted=in_order), full[0])


@pytest.mark.parametrize("name", SAMPLES)
def test_slice_count_agnosticism(name, forced_kernels, monkeypatch):
    """From one slice to more slices than items."""
    array, axis = sample(name)
    expected = both_orders(array, axis)
    for num_threads, slice_bytes in itertools.product((2, 5), (1, 100, 3000, 10_000, 2**30)):
        monkeypatch.setattr("fastsel._threads.MIN_SLICE_BYTES", slice_bytes)
        with fastsel.threads(num_threads):
            for engine in ENGINES:
                force(monkeypatch, engine)
                for in_order, full in zip((True, False), expected, strict=True):
                    outputs = fastsel.unique(array, True, True, True, axis, sorted=in_order)
                    assert_same(outputs, full)


SEED_SCRIPT = """
import hashlib
import numpy as np
import arrays, fastsel, fastsel._distinct, fastsel._small, fastsel._threads
fastsel._threads.MIN_SLICE_BYTES = 1
fastsel._distinct.TINY_ITEMS = fastsel._small.MOST_BYTES = 0
digest = hashlib.sha256()
engines = (None, "places", "ranges", "slices", "words", "tables", "partitions")
for fastsel._engines.FORCE_ENGINE in engines:
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
    """The seed of the hash never shows; without the variable it is a random one."""
    monkeypatch.delenv("FASTSEL_HASH_SEED", raising=False)
    digests = {run_python(SEED_SCRIPT)}
    for seed in ("0", "1", "12345678901234567890"):
        digests.add(run_python(SEED_SCRIPT, FASTSEL_HASH_SEED=seed))
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


# Inputs.


def snapshot(array):
    """Every byte behind the array, gaps and padding included; or the items, if they are objects."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.tolist() if array.dtype.char in "OT" else array.ravel("K").view(np.uint8).tobytes()


@pytest.mark.parametrize("name", arrays.DTYPES)
def test_input_unmodified(name, few_threads, monkeypatch):
    """Not a bit of it, padding included, nor its flags; and a read-only input is enough."""
    dtype = arrays.DTYPES[name]
    for layout in ("C", "F", "strided", "negative", "readonly", "swapped", "unaligned"):
        if not arrays.has_layout(dtype, layout):
            continue
        array = arrays.LAYOUTS[layout](grouped(name, 300, 25).reshape(100, 3))
        before, flags = snapshot(array), str(array.flags)
        for engine in ENGINES:
            force(monkeypatch, engine)
            for in_order in (True, False):
                fastsel.unique(array, sorted=in_order)
                fastsel.unique(array, True, True, True, sorted=in_order)
                if dtype.char not in "OT":
                    fastsel.unique(array, True, True, True, axis=0, sorted=in_order)
        for function in FOUR:
            getattr(fastsel, function)(array)
        assert snapshot(array) == before
        assert str(array.flags) == flags


# Several callers, and writers meanwhile.


def test_concurrent_callers(forced_kernels, monkeypatch):
    """Eight threads call at once, on arrays of their own and on one shared array."""
    cases = [(*sample(name), in_order) for name in SAMPLES for in_order in (True, False)]
    expected = [
        reference.unique_outputs(array, axis, sorted=in_order) for array, axis, in_order in cases
    ]
    barrier = threading.Barrier(8)

    def call(worker):
        barrier.wait()
        for step in range(len(cases)):
            array, axis, in_order = cases[(step + 3 * (worker // 2)) % len(cases)]
            yield fastsel.unique(array, True, True, True, axis, sorted=in_order)

    for engine in ENGINES:
        force(monkeypatch, engine)
        with fastsel.threads(2), ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda worker: list(call(worker)), range(8)))
        for worker, outputs in enumerate(results):
            for step, output in enumerate(outputs):
                assert_same(output, expected[(step + 3 * (worker // 2)) % len(cases)])


def write_until(stop, memory, contents):
    for content in itertools.cycle(contents):
        if stop.is_set():
            return
        memory[:] = content


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
def test_keys_changed_meanwhile(dtype, width, forced_kernels, monkeypatch):
    """Whatever another thread writes: no crash, no error, and index and inverse in range."""
    missing = -(2**63) if dtype == "m8[s]" else -1  # NaT, or NaN as floats
    rng = np.random.default_rng(6)
    contents = [
        np.where(np.arange(12_000) % 1000, 7, missing),
        np.full(12_000, missing),
        rng.integers(-(2**63), 2**63 - 1, size=12_000),
        np.arange(12_000),
    ]
    memory = contents[-1].copy()
    array, axis = memory.view(dtype)[:12_000], None
    if width is not None:
        array, axis = array.reshape(-1, width), 0
    count, stop = len(array), threading.Event()
    writer = threading.Thread(target=write_until, args=(stop, memory, contents))
    patient = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    deadline = time.monotonic() + 0.5
    writer.start()
    try:
        with fastsel.threads(2):
            for engine, in_order, equal_nan in itertools.cycle(
                itertools.product(ENGINES, (True, False), (True, False))
            ):
                if time.monotonic() > deadline:
                    break
                force(monkeypatch, engine)
                rules = {"axis": axis, "sorted": in_order, "equal_nan": equal_nan}
                values, index, inverse, counts = fastsel.unique(array, True, True, True, **rules)
                assert len(values) == len(index) == len(counts) <= count
                assert inverse.shape == (count,)
                assert (index >= 0).all()
                assert (index < count).all()
                assert (inverse >= 0).all()
                assert (inverse < len(values)).all()
                for _ in range(8):
                    assert 0 < len(fastsel.unique(array, **rules)) <= count
    finally:
        stop.set()
        writer.join()
        sys.setswitchinterval(patient)


# Hostile keys.

WORD = 2**64
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0x9E3779B185EBCA87)
"""The odd constants of common hash functions."""


def from_words(words):
    return np.array([word % WORD for word in words], np.uint64)


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
        inverse = pow(multiplier, -1, WORD)
        for bits in (0, 16, 32, 40, 48):
            undone = from_words((k << bits) * inverse for k in numbers)
            yield f"{multiplier:x} undone, {bits}", undone
    yield "equal halves", from_words((k << 32) | k for k in numbers)
    yield "cancelling halves", from_words((k << 32) | (k ^ 0xFFFFFFFF) for k in numbers)
    yield "one bit each", from_words(1 << (k % 64) for k in numbers)
    yield "bits reversed", from_words(int(f"{k:064b}"[::-1], 2) for k in numbers)


def check_keys(keys, monkeypatch):
    full = [reference.numpy_unique_outputs(keys, sorted=in_order) for in_order in (True, False)]
    for engine in ENGINES:
        force(monkeypatch, engine)
        for in_order, expected in zip((True, False), full, strict=True):
            assert_same(fastsel.unique(keys, True, True, True, sorted=in_order), expected)
            assert_same(fastsel.unique(keys, sorted=in_order), expected[0])


@pytest.mark.parametrize("dtype", ["int64", "float64", "S8", "complex64"])
def test_hostile_keys_give_the_right_result(dtype, forced_kernels, monkeypatch):
    for name, keys in hostile_keys(1000):
        for words in (keys, np.concatenate([keys, keys[::-1]])):
            try:
                with fastsel.threads(2):
                    check_keys(words.view(dtype), monkeypatch)
            except AssertionError as error:
                error.add_note(f"for the keys {name!r}")
                raise


@pytest.mark.parametrize("engine", ENGINES)
def test_many_hostile_keys(engine, monkeypatch):
    """A table that fills, one slot that all keys want."""
    force(monkeypatch, engine)
    count = 30_000
    inverse = pow(MULTIPLIERS[0], -1, WORD)
    for keys in (
        same_probes(count),
        from_words((k << 40) * inverse for k in range(count)),
        from_words(k << 32 for k in range(count)),
        np.arange(count).astype(np.uint64),
    ):
        for in_order in (True, False):
            expected = reference.numpy_unique_outputs(keys, sorted=in_order)
            assert_same(fastsel.unique(keys, True, True, True, sorted=in_order), expected)


def test_own_output_fed_back(few_threads, monkeypatch):
    """Values come in an order that is no worse for the next call than any other."""
    array = grouped("int64", 20_000, 20_000)
    for engine in ENGINES:
        force(monkeypatch, engine)
        once = fastsel.unique(array, sorted=False)
        assert_same(fastsel.unique(once, sorted=False), once)
        in_order, index = fastsel.unique(once, return_index=True)
        assert_same(in_order, np.sort(once))
        assert_same(fastsel.unique(in_order), in_order)
        assert_same(fastsel.unique(index), np.arange(len(once)))
        again = fastsel.unique_values(array)
        assert_same(np.sort(fastsel.unique_values(again)), in_order)


def test_hostile_rows(few_threads, monkeypatch):
    for engine in ENGINES:
        force(monkeypatch, engine)
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


# Anything at all.


# Of one dimension; np.unique, to which they go, refuses them before 2.4.
TAKES_OBJECTS_ALONG_AN_AXIS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"


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
    layouts = [layout for layout in arrays.LAYOUTS if arrays.has_layout(dtype, layout)]
    array = arrays.LAYOUTS[draw(st.sampled_from(layouts))](array)
    axes = [None]
    if dtype.char not in "OT" or (array.ndim == 1 and TAKES_OBJECTS_ALONG_AN_AXIS):
        axes += range(-array.ndim, array.ndim)
    flags = draw(st.tuples(*[st.booleans()] * 3))
    keywords = {"equal_nan": draw(st.booleans()), "sorted": draw(st.booleans())}
    return array, (*flags, draw(st.sampled_from(axes))), keywords


@settings(max_examples=8 * settings().max_examples)
@given(calls(), st.sampled_from([1, 2, 3, 7]), st.sampled_from(ENGINES))
def test_any_call_equals_the_reference(forced_kernels, call, num_threads, engine):
    array, arguments, keywords = call
    expected = reference.unique(array, *arguments, **keywords)
    with fastsel.threads(num_threads), pytest.MonkeyPatch.context() as patch:
        force(patch, engine)
        assert_same(fastsel.unique(array, *arguments, **keywords), expected)


@given(
    st.lists(st.integers(-3, 3)),
    st.sampled_from(["i1", "i8", "f2", "f8", "U2", "S9", "O"]),
    st.sampled_from(ENGINES),
)
def test_any_list_is_rebuilt_by_its_inverse(forced_kernels, numbers, dtype, engine):
    array = np.array(numbers, dtype)
    with fastsel.threads(3), pytest.MonkeyPatch.context() as patch:
        force(patch, engine)
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
