"""Memory of large results and of working arrays is cached for later calls; results own their data,
and can be resized, like NumPy's arrays."""

import ctypes
import gc
import os
import platform
import tracemalloc
from functools import partial

import numpy as np
import pytest
from callers import run_in_threads
from kept_memory import LIMIT, MIN_BYTES, address_of_result, handler_of
from marks import NEEDS_CACHE
from operators import SET_FUNCTION_NAMES

import fastsel
from fastsel._core import results, scratch

pytestmark = [
    pytest.mark.usefixtures("nothing_cached"),
    pytest.mark.thread_unsafe(reason="compares the cached memory, which all threads share"),
]


@pytest.mark.parametrize(
    ("shape", "dtype"), [((0,), "f8"), ((), "i4"), ((3, 0, 5), "O"), ((1 << 22, 2), "f4")]
)
def test_empty_has_the_shape_dtype_and_flags_of_numpy_empty(shape, dtype):
    ours, numpys = results.empty(shape, np.dtype(dtype)), np.empty(shape, dtype)
    assert (ours.shape, ours.dtype, ours.flags.owndata) == (shape, numpys.dtype, True)
    assert ours.flags.c_contiguous
    assert ours.flags.writeable


def test_new_objects_are_none():
    assert results.empty((1 << 22,), np.dtype(object))[-1] is None


@pytest.mark.parametrize("shape", [(2**63,), (-1,), (2**62, 8), (1,) * 65])
def test_impossible_shapes_raise_value_error(shape):
    with pytest.raises(ValueError, match=r"axes|items|negative|big"):
        results.empty(shape, np.dtype(np.float64))


@NEEDS_CACHE
def test_a_result_reuses_the_memory_of_a_freed_result():
    first = address_of_result(MIN_BYTES + 100)
    assert address_of_result(MIN_BYTES + 100) == first
    assert address_of_result(MIN_BYTES) == first
    assert first % 64 == 0


@NEEDS_CACHE
def test_each_cached_block_is_reused_by_one_result():
    shape, dtype = (MIN_BYTES,), np.dtype(np.uint8)
    arrays = [results.empty(shape, dtype) for _ in range(20)]
    addresses = [array.ctypes.data for array in arrays]
    assert len(set(addresses)) == 20
    del arrays
    new_arrays = [results.empty(shape, dtype) for _ in range(20)]
    assert {array.ctypes.data for array in new_arrays} == set(addresses)


@NEEDS_CACHE
def test_results_from_16_kib_up_to_the_limit_are_cached():
    assert handler_of(results.empty((MIN_BYTES - 1,), np.dtype(np.uint8))) == "default_allocator"
    assert handler_of(results.empty((MIN_BYTES,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((LIMIT,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((LIMIT + 1,), np.dtype(np.uint8))) == "default_allocator"


@NEEDS_CACHE
def test_results_of_small_arrays_are_cached_like_others():
    x, rows = np.ones(MIN_BYTES // 8), np.zeros((MIN_BYTES // 8, 1), int)
    all_true = x > 0
    for result in (
        fastsel.flatnonzero(x),
        fastsel.argwhere(x).base,
        fastsel.extract(all_true, x),
        fastsel.gather_nd(x, rows),
    ):
        assert handler_of(result) == "fastsel"
    assert handler_of(fastsel.flatnonzero(x[1:])) == "default_allocator"


@NEEDS_CACHE
def test_many_small_results_do_not_evict_a_large_one():
    first = address_of_result(1 << 20)
    small = [results.empty((MIN_BYTES,), np.dtype(np.uint8)) for _ in range(100)]
    del small
    assert address_of_result(1 << 20) == first


@NEEDS_CACHE
def test_a_large_result_evicts_working_memory():
    """64 threads have a table each, so the call leaves many small blocks."""
    with fastsel.threads(64):
        fastsel.unique(np.arange(2_000_000) % 1000 * 1_000_003, sorted=False)
    limit = scratch.cached_bytes() + MIN_BYTES
    fastsel.set_keep_mb(limit / 2**20)
    first = address_of_result(limit)
    assert scratch.cached_bytes() == limit
    assert address_of_result(limit) == first


@NEEDS_CACHE
def test_release_memory_returns_the_number_of_cached_bytes():
    result = results.empty((MIN_BYTES,), np.dtype(np.uint8))
    assert scratch.cached_bytes() == 0
    del result
    assert scratch.cached_bytes() == MIN_BYTES
    assert fastsel.release_memory() == MIN_BYTES
    assert scratch.cached_bytes() == fastsel.release_memory() == 0


RELEASED = """
import resource
import numpy as np
import fastsel
from fastsel._core import results, scratch

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def ones():
    array = results.empty((1 << 18,), np.dtype(np.uint8))
    array[:] = 1
    return array

ones()  # its block stays cached, and the first of the arrays reuses it
arrays = [ones() for _ in range(100)]
above = ones()  # stays, at the top of malloc's heap: free() returns only memory at the top
del arrays
before, cached = resident(), scratch.cached_bytes()
{release}
print(before - resident() > cached // 2 > 3 << 20)
"""


@NEEDS_CACHE
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs malloc_trim of glibc")
@pytest.mark.parametrize("release", ["fastsel.release_memory()", "fastsel.set_keep_mb(1)"])
def test_released_memory_is_returned_to_the_system(release, run_python):
    """With these variables, malloc takes all blocks from its heap. Without them, a block may have a
    mapping of its own, which free returns to the system."""
    variables = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_MAX_": "0"}
    assert run_python(RELEASED.format(release=release), **variables) == "True\n"


@NEEDS_CACHE
def test_a_forked_child_has_no_cached_memory_at_first(run_forked):
    code = """
import os
import numpy as np
import fastsel
from fastsel._core import scratch
fastsel.unique(np.arange(50_000) * 7, sorted=False)
assert scratch.cached_bytes() > 0
if child := os.fork():
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert scratch.cached_bytes() > 0
else:
    assert scratch.cached_bytes() == 0
    fastsel.unique(np.arange(50_000) * 7, sorted=False)
    assert scratch.cached_bytes() > 0
"""
    run_forked(code)


@NEEDS_CACHE
def test_a_result_does_not_reuse_a_block_that_is_a_quarter_larger():
    large = address_of_result(MIN_BYTES * 5 // 4)
    small = results.empty((MIN_BYTES,), np.dtype(np.uint8))
    assert small.ctypes.data != large
    assert address_of_result(MIN_BYTES * 5 // 4) == large


@NEEDS_CACHE
def test_a_garbage_collection_never_sees_another_handler():
    """NumPy's handler is never changed, even for a moment: a collection could run then."""
    handlers = []

    class Cycle:
        def __init__(self):
            self.cycle = self

        def __del__(self):
            handlers.append(handler_of(np.ones(3)))

    threshold = gc.get_threshold()
    try:
        for delay in range(1, 30):
            gc.disable()
            Cycle()
            gc.set_threshold(gc.get_count()[0] + delay, 1000, 1000)
            gc.enable()
            results.empty((MIN_BYTES,), np.dtype(np.uint8))
            assert gc.isenabled()
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
    gc.collect()
    assert set(handlers) == {"default_allocator"}
    assert len(handlers) == 29


@NEEDS_CACHE
def test_arrays_of_numpy_have_numpys_handler():
    assert handler_of(fastsel.flatnonzero(np.ones(MIN_BYTES, bool))) == "fastsel"
    assert handler_of(np.empty(MIN_BYTES, np.uint8)) == "default_allocator"


@NEEDS_CACHE
def test_results_can_be_resized():
    result = fastsel.flatnonzero(np.ones(MIN_BYTES, bool))
    expected = np.arange(MIN_BYTES)
    for size in (MIN_BYTES // 2, MIN_BYTES * 8 // 7, LIMIT // 7, 10, 0, 1000):
        result.resize(size, refcheck=False)
        expected.resize(size, refcheck=False)
        assert np.array_equal(result, expected)


@NEEDS_CACHE
def test_a_result_that_shrinks_a_little_keeps_its_address():
    result = fastsel.flatnonzero(np.ones(MIN_BYTES, bool))
    address = result.ctypes.data
    result.resize(MIN_BYTES - 1000, refcheck=False)
    assert result.ctypes.data == address
    assert np.array_equal(result, np.arange(MIN_BYTES - 1000))


@NEEDS_CACHE
def test_a_result_that_shrinks_a_lot_frees_its_block():
    result = fastsel.flatnonzero(np.ones(MIN_BYTES, bool))
    address = result.ctypes.data
    result.resize(10, refcheck=False)
    assert result.ctypes.data != address
    assert address_of_result(MIN_BYTES * 8) == address


@NEEDS_CACHE
def test_resizing_beyond_memory_raises_and_changes_nothing():
    result = fastsel.flatnonzero(np.ones(MIN_BYTES, bool))
    with pytest.raises((MemoryError, ValueError)):
        result.resize(2**57, refcheck=False)
    assert np.array_equal(result, np.arange(MIN_BYTES))


NAME = b"mem_handler"  # a capsule keeps the address of its name
POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
CAPSULE_OF = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
HANDLER_BYTES = 128 + 5 * ctypes.sizeof(ctypes.c_void_p)
SET_HANDLER, DEFAULT_HANDLER = 304, 306  # indices into the table of NumPy's C functions


def test_a_handler_that_the_user_sets_allocates_results():
    """The handler of the user is NumPy's under another name."""
    table = ctypes.cast(
        POINTER_OF(np._core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p)
    )
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[SET_HANDLER])
    default = ctypes.cast(table[DEFAULT_HANDLER], ctypes.POINTER(ctypes.py_object))[0]
    handler = ctypes.create_string_buffer(HANDLER_BYTES)
    ctypes.memmove(handler, POINTER_OF(default, NAME), HANDLER_BYTES)
    handler[:5] = b"users"
    before = set_handler(CAPSULE_OF(ctypes.addressof(handler), NAME, None))
    try:
        result = results.empty((MIN_BYTES,), np.dtype(np.uint8))
        name = handler_of(result)
        del result
    finally:
        set_handler(before)
    assert name == "userslt_allocator"


@NEEDS_CACHE
@pytest.mark.parametrize("threads", [1, 2, 16, 32, 64])
@pytest.mark.parametrize("groups", [1000, 2_000_000])
def test_working_memory_is_reused_by_the_next_call(groups, threads):
    """With 1000 groups, each thread has a table of its own until the end of the call. With many
    groups, the system decides how many tables there are at a time: a later call may need more
    tables, but caches them."""
    a = np.random.default_rng(1).permutation(2_000_000) % groups * 1_000_003
    fastsel.set_keep_mb(512)
    tracemalloc.start()
    try:
        with fastsel.threads(threads):
            fastsel.unique(a, sorted=False)
            cached = scratch.cached_bytes()
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            fastsel.unique(a, sorted=False)
        allocated = tracemalloc.get_traced_memory()[1] - before
        newly_cached = scratch.cached_bytes() - cached
        cached, before = scratch.cached_bytes(), tracemalloc.get_traced_memory()[0]
        fastsel.release_memory()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert cached > (a.nbytes if groups == a.size else 10_000 * threads)
    assert allocated - newly_cached < 100_000
    assert freed >= cached


def test_results_of_several_threads_never_share_memory():
    def work(number):
        for _ in range(50):
            array = results.empty((MIN_BYTES,), np.dtype(np.uint8))
            array[:: 1 << 12] = number
            assert (array[:: 1 << 12] == number).all()

    run_in_threads([partial(work, number) for number in range(5)])


LIMITED_MEMORY = """
import resource
import numpy as np
import fastsel

ones = np.ones(16 << 20, bool)
more = np.ones(48 << 20, bool)
items = np.arange(3 << 20)
arrays = [fastsel.flatnonzero(ones), fastsel.flatnonzero(ones)]
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), hard))
del arrays
"""


@NEEDS_CACHE
@pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="reads the memory of the process in /proc"
)
@pytest.mark.parametrize(
    "call", ["fastsel.flatnonzero(more)", "fastsel.unique(items, True, True, True, sorted=False)"]
)
def test_cached_memory_is_returned_if_memory_runs_out(call, run_python):
    """malloc has one arena: otherwise each thread that allocates could reserve 64 MB of address
    space, which RLIMIT_AS counts."""
    code = f"{LIMITED_MEMORY}{call}\nprint('done')"
    assert run_python(code, MALLOC_ARENA_MAX="1", FASTSEL_KEEP_MB="512") == "done\n"


def calls_that_could_return_a_view(a, b):
    all_true, rows, other_rows = np.ones(a.size, bool), a.reshape(-1, 2), b.reshape(-1, 2)
    yield fastsel.nonzero(a), fastsel.argwhere(a), fastsel.flatnonzero(a, dtype=np.int32)
    yield fastsel.compress(all_true, a), fastsel.extract(all_true, a)
    yield (
        fastsel.boolean_mask(rows, all_true[::2]),
        fastsel.gather_nd(a, np.arange(a.size)[:, None]),
    )
    for order in (True, False):
        yield fastsel.unique(a, sorted=order), fastsel.unique(rows, axis=0, sorted=order)
        yield fastsel.unique(a, True, True, True, sorted=order)
        yield fastsel.group_indices(a, sorted=order)
    for name in [*SET_FUNCTION_NAMES, "index_in"]:
        function = getattr(fastsel, name)
        yield function(a, b), function(rows, other_rows, axis=0)
    yield (fastsel.setdiff1d(a, b, assume_unique=True),)


@pytest.mark.parametrize("size", [2, 600, 20_000, 300_000])
@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "S8", "M8[s]"])
def test_no_result_shares_memory_with_an_argument(dtype, size):
    """Most arrays have distinct items in ascending or descending order, and most calls select all
    items: a view would have the right items."""
    ascending = np.arange(size).astype(dtype)
    for a in (ascending, ascending[::-1]):
        for b in (a, a[:0]):
            for returned in calls_that_could_return_a_view(a, b):
                for result in returned:
                    for output in result if isinstance(result, tuple) else (result,):
                        assert output.flags.writeable
                        assert not np.may_share_memory(output, a)
