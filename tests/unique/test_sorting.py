"""The algorithm `sorting`: keys are scattered by value, and each part is sorted."""

import ctypes
import os
import platform
import sys

import numpy as np
import pytest
from forcing import numpy_sorts_whole
from grids import covering
from marks import NEEDS_CACHE
from unique_kernels import sort_keys, sort_positions

import fastsel
from fastsel._unique import _keys, part_sort
from fastsel._unique.sample import sample_of

DTYPES = ("i4", "u4", "f4", "i8", "u8", "f8", "M8[s]", "m8[ns]")
# Around one block, and around 4096 keys (whole batches); 30,011 keys have several parts.
SIZES = (1, 2, 63, 64, 65, 255, 256, 4095, 4097, 30_011)
THREADS = (1, 2, 3, 7, 20)
# Flags of the index, the inverse and the counts.
FLAGS = ((), (1,), (2,), (0, 2), (0, 1, 2))
FLAGS = [tuple(k in outputs for k in range(3)) for outputs in FLAGS]
COUNTS = False, False, True


def random_items(dtype, size, rng):
    """Random items. Floats are of many magnitudes, and have infinity, and zeros and NaN of both
    signs. Times have NaT."""
    kind = np.dtype(dtype).kind
    if kind in "mM":
        items = rng.integers(-(2**63), 2**63 - 1, size)
        items[::5] >>= 40
        items[3::11] = np.iinfo(items.dtype).min  # NaT
        return items.view(dtype)
    if kind == "f":
        items = rng.standard_normal(size) * 10.0 ** rng.integers(-30, 30, size)
        items[::7], items[1::97] = -0.0, 0.0
        items[3::11], items[5::13], items[6::31] = np.nan, -np.nan, np.inf
        return items.astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, size, dtype, endpoint=True)


def lowest_bits(items, rng):
    """Pairs of items that differ in their lowest bits only: each item of the second half is an item
    of the first half plus 1."""
    words = items.view(f"u{items.itemsize}")
    words &= ~words.dtype.type(0xFF)
    words |= rng.integers(0, 3, len(words), words.dtype)
    words[len(words) // 2 :] = words[: len(words) - len(words) // 2] + 1
    return items


SPREADS = {
    "random": lambda items, rng: items,
    "equal": lambda items, rng: np.repeat(items[:1], len(items)),
    "twice": lambda items, rng: np.resize(items[: len(items) // 2 + 1], len(items)),
    "reversed": lambda items, rng: np.sort(items)[::-1].copy(),
    "mostly_one": lambda items, rng: np.where(rng.random(len(items)) < 0.9, items[-1], items),
    "narrow": lambda items, rng: rng.integers(0, 100, len(items)).astype(items.dtype),
    "lowest_bits": lowest_bits,
    "outliers": lambda items, rng: np.where(
        np.arange(len(items)) % 100 == 50, items, rng.permutation(len(items)).astype(items.dtype)
    ),
}


def heavy_tailed(items, rng):
    """Words of which most are close to 0, with the greatest word: many limits share few cells."""
    words = items.view(f"u{items.itemsize}")
    bits = rng.geometric(0.2, len(words)) % (8 * items.itemsize)
    words >>= (8 * items.itemsize - 1 - bits).astype(words.dtype)
    words[:: len(words) // 3 + 1] = np.iinfo(words.dtype).max
    return items


SPREADS["heavy_tailed"] = heavy_tailed


def sorted_outputs(items, equal_nan, flags, threads):
    """(values, index, inverse, counts); None for too many keys."""
    index, inverse, counts = flags
    return sort_keys(
        _keys.keys_of(items, equal_nan),
        index=index,
        inverse=inverse,
        counts=counts,
        threads=threads,
    )


def canonical(items):
    """The items with 0.0 for each zero, and the same NaN for each NaN."""
    if items.dtype.kind == "f":
        items = np.where(np.isnan(items), items.dtype.type(np.nan), items)
        items[items == 0] = 0
    return items


def expected_of(items, equal_nan):
    """NumPy's outputs, with canonical values. The index is requested because without extra outputs
    NumPy 2.3 and 2.4 count all NaT of M8 as one value even with equal_nan=False."""
    values, *extras = np.unique(items, True, True, True, equal_nan=equal_nan)
    return canonical(values), *extras


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
def test_how_numpy_sorts_is_found_out_once_and_shown():
    with numpy_sorts_whole(True):
        assert part_sort.sorts_whole()
        assert fastsel.show_config(mode="dicts")["sort"] == "at once"
    with numpy_sorts_whole(False):
        assert not part_sort.sorts_whole()
        assert fastsel.show_config(mode="dicts")["sort"] == "in pieces"
    assert part_sort.sorts_whole(-1) in (True, False)


@covering(dtype=DTYPES, spread=SPREADS, whole=[True, False])
def test_every_output_equals_numpy(dtype, spread, whole):
    with numpy_sorts_whole(whole):
        check_every_output(dtype, spread)


@covering(
    dtype=DTYPES,
    spread=["random", "mostly_one", "narrow", "lowest_bits"],
    equal_nan=[True, False],
)
def test_parts_that_numpy_sorts_whole_equal_numpy(dtype, spread, equal_nan):
    """More keys than NumPy sorts at once on several threads."""
    rng = np.random.default_rng(1)
    items = SPREADS[spread](random_items(dtype, 140_001, rng), rng)
    values, _, _, counts = expected_of(items, equal_nan)
    outputs = []
    with numpy_sorts_whole(True):
        for threads in (2, 3, 7, 20):
            for flags in ((False, False, False), COUNTS):
                ours, _, _, our_counts = sorted_outputs(items, equal_nan, flags, threads)
                assert canonical(ours).tobytes() == values.tobytes()
                assert our_counts is None or np.array_equal(our_counts, counts)
                outputs.append(ours.tobytes())
    assert len(set(outputs)) == 1


def check_every_output(dtype, spread):
    for size in SIZES:
        rng = np.random.default_rng(size)
        items = SPREADS[spread](random_items(dtype, size, rng), rng)
        for equal_nan in (True, False):
            values, *extras = expected_of(items, equal_nan)
            for threads in THREADS:
                for flags in FLAGS:
                    outputs = sorted_outputs(items, equal_nan, flags, threads)
                    assert canonical(outputs[0]).tobytes() == values.tobytes()
                    for flag, ours, theirs in zip(flags, outputs[1:], extras, strict=True):
                        assert (ours is not None) == flag
                        assert not flag or np.array_equal(ours, theirs)
                order = sort_positions(_keys.keys_of(items, equal_nan), threads=threads)
                assert np.array_equal(order, np.argsort(canonical(items), kind="stable"))


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux",
    reason="sets the control register of x86-64 by the struct of glibc",
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_subnormal_floats_differ_on_a_cpu_that_takes_them_for_zero(dtype):
    libm = ctypes.CDLL("libm.so.6")
    before, flushing = ((ctypes.c_uint32 * 8)() for _ in range(2))
    libm.fegetenv(before)
    libm.fegetenv(flushing)
    flushing[7] |= 0x8040  # FTZ and DAZ
    rng = np.random.default_rng(1)
    for size in (900, 1_600, 50_000):
        words = np.r_[rng.integers(1, size // 5, size), 0].astype(f"u{dtype[1]}")
        values, counts = np.unique(words, return_counts=True)
        libm.fesetenv(flushing)
        try:
            are_zero = part_sort.subnormals_are_zero()
            with numpy_sorts_whole(True), fastsel.threads(1):
                found = fastsel.unique(words.view(dtype), return_counts=True)
                of_both = fastsel.union1d(words.view(dtype), words.view(dtype))
                of_one = fastsel.setxor1d(words.view(dtype), words[::9].view(dtype))
        finally:
            libm.fesetenv(before)
        assert are_zero
        assert not part_sort.subnormals_are_zero()
        assert found[0].tobytes() == of_both.tobytes() == values.tobytes()
        assert of_one.tobytes() == np.setxor1d(words, words[::9]).tobytes()
        assert np.array_equal(found[1], counts)


def clusters(size, rng):
    """Two clusters of keys, and a few outliers on both sides."""
    items = rng.integers(0, 1000, size) + rng.choice([0, 2**40], size)
    items[rng.integers(0, size, 5)] = -(2**62), 2**62, -(2**63), 2**63 - 1, 2**41
    return items


def missed_by_the_sample(size, rng):
    """The sample for up to 256 parts has small keys only, and all other keys are large."""
    items = rng.integers(2**40, 2**40 + 2**30, size)
    positions = sample_of(np.arange(size), size, 16 * 256, _keys.SEEDS[1] >> 33)[0]
    items[positions.view(np.int64).ravel()] = np.arange(16 * 256)
    return items


def organ_pipe(size, rng):
    rising = np.arange(size // 2)
    return np.concatenate((rising, rising[::-1], [0] * (size % 2)))


# Keys whose scatter may have parts, or pieces of parts, of very different sizes.
CRAFTED = {
    "powers_of_two": lambda n, r: np.left_shift(1, r.integers(0, 62, n)),
    "near_powers_of_two": lambda n, r: np.left_shift(1, r.integers(0, 62, n)) + r.integers(0, 9, n),
    "clusters": clusters,
    "missed_by_the_sample": missed_by_the_sample,
    "all_equal_but_one": lambda n, r: np.where(np.arange(n) == n // 3, 5, 77),
    "organ_pipe": organ_pipe,
    "sorted_blocks": lambda n, r: np.sort(r.integers(0, 2**60, (n // 500, 500)), axis=1).ravel(),
    "denormal_and_huge": lambda n, r: np.where(
        r.random(n) < 0.5, r.integers(0, n, n).view(np.float64), 1e300 * r.standard_normal(n)
    ),
    "zipf": lambda n, r: r.zipf(1.2, n),
    "nearly_sorted": lambda n, r: np.arange(n) + r.integers(0, 50, n),
    "two_of_three_equal": lambda n, r: np.where(r.random(n) < 0.67, 2**62, r.integers(0, 2**62, n)),
    "one_bit_apart": lambda n, r: r.integers(0, 2, n) << 63,
    "every_bit": lambda n, r: r.integers(-(2**63), 2**63 - 1, n) & -r.integers(0, 2**63 - 1, n),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_crafted_keys_equal_numpy(kind):
    for size in (2000, 1_100_000):
        items = CRAFTED[kind](size, np.random.default_rng(size))
        values, *extras = expected_of(items, True)
        for threads in (1, 3):
            for flags, whole in ((FLAGS[4], False), (COUNTS, False), (COUNTS, True)):
                with numpy_sorts_whole(whole):
                    outputs = sorted_outputs(items, True, flags, threads)
                assert np.array_equal(canonical(outputs[0].view(items.dtype)), values)
                for flag, ours, theirs in zip(flags, outputs[1:], extras, strict=True):
                    assert not flag or np.array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["i2", "i4", "f8", "M8[s]"])
@pytest.mark.parametrize("size", [2000, 65_535, 65_536, 1 << 19, (1 << 19) + 1])
def test_nearly_sorted_keys_and_few_sorted_runs_equal_numpy(size, dtype):
    rng = np.random.default_rng(size)
    nearly, runs = np.sort(rng.integers(-(2**15), 2**15, (2, size)))
    nearly[rng.integers(0, size, size // 99)] = rng.integers(-(2**15), 2**15, size // 99)
    runs = np.roll(runs, size // 3)
    for items in (nearly.astype("i8").astype(dtype), runs.astype("i8").astype(dtype)):
        outputs = sorted_outputs(items, True, (True, True, True), 1)
        for ours, theirs in zip(outputs, np.unique(items, True, True, True), strict=True):
            assert np.array_equal(ours, theirs)


def test_the_sample_depends_on_the_argument_first():
    """`first` comes from the seeds of the hash. These are random in each process, unless
    FASTSEL_HASH_SEED is set, so that nobody can craft keys that the sample misses."""
    size = 100_003
    samples = [sample_of(np.arange(size), size, 64, first)[0].tobytes() for first in (0, 1, 2**31)]
    assert len(set(samples)) == 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", ["random", "mostly_one", "lowest_bits"])
def test_unique_of_many_keys_equals_numpy(spread, dtype):
    rng = np.random.default_rng(3)
    items = SPREADS[spread](random_items(dtype, 30_001, rng), rng)
    _, index, inverse, counts = np.unique(items, True, True, True)
    order = np.argsort(index)
    ranks = np.argsort(order)
    for threads in (1, 2, 7):
        with fastsel.threads(threads):
            for flags in ((), (True, True, True)):
                ours = fastsel.unique(items, *flags)
                expected = (items[index], index, inverse, counts) if flags else items[index]
                assert_same_bits(ours, expected)
                ours = fastsel.unique(items, *flags, sorted=False)
                expected = items[index[order]]
                if flags:
                    expected = expected, index[order], ranks[inverse], counts[order]
                assert_same_bits(ours, expected)


def assert_same_bits(ours, expected):
    if not isinstance(expected, tuple):
        ours, expected = (ours,), (expected,)
    for our, their in zip(ours, expected, strict=True):
        assert our.dtype == their.dtype
        assert our.tobytes() == their.tobytes()


# Prints how much more of a thread's stack the sort of nested keys uses. A call that needs more than
# the stack may use other memory behind it, without a fault.
STACK_OF_SORT = """
import ctypes, threading
import numpy as np
from unique_kernels import integers, sort_keys

# 12 times, a scatter by 5 bits leaves more than 1024 of these keys in one piece.
powers = np.uint64(1) << np.arange(63, 0, -5).astype(np.uint64)
nested = np.append(powers, np.arange(1500).astype(np.uint64) % np.uint64(2))

def used_bytes():
    libc, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    libc.pthread_self.restype = ctypes.c_void_p
    start, size = ctypes.c_void_p(), ctypes.c_size_t()
    libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes)
    libc.pthread_attr_getstack(attributes, ctypes.byref(start), ctypes.byref(size))
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        pages.seek(start.value // 4096 * 8)
        entries = np.frombuffer(pages.read(size.value // 4096 * 8), np.uint64)
    return 4096 * int((entries >> np.uint64(63)).sum())  # the bit of a page in memory

def call():
    # The first calls use the stack for everything but the nested scatters.
    sort_keys(integers(nested[-100:]), index=True)
    used_bytes()
    before = used_bytes()
    values, index, _, _ = sort_keys(integers(nested), index=True)
    used = used_bytes() - before
    expected = np.unique(nested, return_index=True)
    if (values == expected[0]).all() and (index == expected[1]).all():
        print(used)

threading.stack_size(1 << 20)
thread = threading.Thread(target=call)
thread.start()
thread.join()
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/pagemap") or os.sysconf("SC_PAGE_SIZE") != 4096,
    reason="counts pages of 4 KiB in /proc, which this system lacks",
)
@NEEDS_CACHE  # AddressSanitizer makes larger frames
def test_nested_scatters_use_little_stack(run_python):
    """The threads of musl have 128 KiB. gcc at -O3 ends the frame of a scatter before the scatter
    nested in it begins; other compilers and levels do not."""
    assert int(run_python(STACK_OF_SORT)) <= 32 << 10


IN_SMALL_THREADS = """
import threading
import numpy as np
import fastsel
from unique_kernels import integers, sort_keys

powers = np.uint64(1) << np.arange(63, 0, -5).astype(np.uint64)
nested = np.append(powers, np.arange(1500).astype(np.uint64) % np.uint64(2))
expected = np.unique(nested, return_index=True)

def call():
    values, index, _, _ = sort_keys(integers(nested), index=True)
    assert (values == expected[0]).all() and (index == expected[1]).all()
    assert (fastsel.unique(np.resize(nested, 200_000)) == expected[0]).all()
    many = np.arange(200_000)[::-1] << 40
    assert (fastsel.unique(many, return_inverse=True)[1] == np.arange(200_000)[::-1]).all()
    print("done")

threading.stack_size(128 << 10)
thread = threading.Thread(target=call)
thread.start()
thread.join()
"""


@NEEDS_CACHE  # AddressSanitizer makes larger frames
@pytest.mark.parametrize("level", ["base", None])
def test_threads_with_a_stack_of_128_kib_sort(level, run_python):
    """The calling thread, and OpenMP's threads."""
    printed = run_python(
        IN_SMALL_THREADS, FASTSEL_CPU=level, FASTSEL_NUM_THREADS="3", OMP_STACKSIZE="128k"
    )
    assert printed.split() == ["done"]
