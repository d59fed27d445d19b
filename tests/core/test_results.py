"""Memory of large results, and of calls that work with much: kept for the next one, and NumPy's
rules hold all the same."""

import ctypes
import gc
import os
import platform
import threading
import tracemalloc

import numpy as np
import pytest
from operators import SETS

import fastsel
from fastsel._core import results, scratch

pytestmark = pytest.mark.thread_unsafe(reason="inspects memory that all threads share")

KEPT = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="nothing is kept where AddressSanitizer watches each block",
)
LEAST, LIMIT = 1 << 17, 64 << 20
handler_of = np._core.multiarray.get_handler_name


@pytest.fixture(autouse=True)
def _nothing_kept():
    gc.collect()
    fastsel.release_memory()
    fastsel.set_keep_mb(LIMIT >> 20)
    yield
    fastsel.set_keep_mb(None)


def bytes_at(nbytes):
    """The address of the data of a new result of `nbytes` bytes."""
    return results.empty((nbytes,), np.dtype(np.uint8)).ctypes.data


@pytest.mark.parametrize(
    ("shape", "dtype"), [((0,), "f8"), ((), "i4"), ((3, 0, 5), "O"), ((1 << 22, 2), "f4")]
)
def test_empty_is_numpys(shape, dtype):
    ours, numpys = results.empty(shape, np.dtype(dtype)), np.empty(shape, dtype)
    assert (ours.shape, ours.dtype, ours.flags.owndata) == (shape, numpys.dtype, True)
    assert ours.flags.c_contiguous
    assert ours.flags.writeable


def test_objects_are_none_at_first():
    assert results.empty((1 << 22,), np.dtype(object))[-1] is None


@pytest.mark.parametrize("shape", [(2**63,), (-1,), (2**62, 8), (1,) * 65])
def test_impossible_shapes(shape):
    with pytest.raises(ValueError, match=r"axes|items|negative|big"):
        results.empty(shape, np.dtype(np.float64))


@KEPT
def test_a_result_takes_the_memory_of_the_last_one():
    first = bytes_at(LEAST + 100)
    assert bytes_at(LEAST + 100) == first
    assert bytes_at(LEAST) == first
    assert first % 64 == 0


@KEPT
def test_several_are_kept_and_each_serves_one():
    shape, dtype = (LEAST,), np.dtype(np.uint8)
    arrays = [results.empty(shape, dtype) for _ in range(20)]
    places = [array.ctypes.data for array in arrays]
    assert len(set(places)) == 20
    del arrays
    again = [results.empty(shape, dtype) for _ in range(20)]
    assert {array.ctypes.data for array in again} == set(places)


@KEPT
def test_which_sizes_are_kept():
    assert handler_of(results.empty((LEAST - 1,), np.dtype(np.uint8))) == "default_allocator"
    assert handler_of(results.empty((LEAST,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((LIMIT,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((LIMIT + 1,), np.dtype(np.uint8))) == "default_allocator"


@KEPT
def test_the_limit_is_never_exceeded():
    """Whatever is given back, in whichever order; the oldest blocks make room."""
    rng = np.random.default_rng(1)
    alive = []
    for size in rng.integers(LEAST, LIMIT // 3, 100).tolist():
        alive.append(results.empty((size,), np.dtype(np.uint8)))
        fastsel.unique(np.arange(50_000) * size, sorted=False)
        if len(alive) > 4:
            del alive[rng.integers(len(alive))]
        assert 0 <= scratch.cached_bytes() <= LIMIT
    del alive
    assert LIMIT // 2 < scratch.cached_bytes() <= LIMIT


@KEPT
def test_what_is_kept_is_given_back():
    del_me = results.empty((LEAST,), np.dtype(np.uint8))
    assert scratch.cached_bytes() == 0
    del del_me
    assert scratch.cached_bytes() == LEAST
    assert fastsel.release_memory() == LEAST
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

ones()  # from now on malloc has blocks of this size side by side, in its heap
arrays = [ones() for _ in range(100)]
above = bytearray(100_000)  # so that they are not at the top of the heap
del arrays
before, kept = resident(), scratch.cached_bytes()
{release}
print(before - resident() > kept // 2 > 3 << 20)
"""


@KEPT
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how much is given back is glibc's")
@pytest.mark.parametrize("release", ["fastsel.release_memory()", "fastsel.set_keep_mb(1)"])
def test_the_system_has_again_what_is_given_back(release, run_python):
    assert run_python(RELEASED.format(release=release), MALLOC_ARENA_MAX="1") == "True\n"


@KEPT
def test_a_child_made_by_fork_keeps_nothing_at_first(run_forked):
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


@KEPT
def test_a_limit_of_0_holds_whatever_others_give_back():
    """Blocks that were counted before the limit was set, and reach their slot after it."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            results.empty((LEAST,), np.dtype(np.uint8))
            fastsel.unique(np.arange(5000) * 7, sorted=False)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        fastsel.set_keep_mb(LIMIT >> 20)
        fastsel.set_keep_mb(0)
    stop.set()
    for thread in threads:
        thread.join()
    assert scratch.cached_bytes() == 0


@KEPT
def test_a_lower_limit_holds_at_once():
    bytes_at(LEAST * 9)
    assert scratch.cached_bytes() == LEAST * 9
    fastsel.set_keep_mb(1)
    assert scratch.cached_bytes() == 0
    bytes_at(LEAST * 9)
    assert scratch.cached_bytes() == 0
    assert handler_of(results.empty((LEAST * 9,), np.dtype(np.uint8))) == "default_allocator"


def test_nothing_is_kept_with_0(few_threads):
    fastsel.set_keep_mb(0)
    a = np.random.default_rng(1).permutation(200_000) * 1_000_003
    assert fastsel.unique(a, True, True, True)[0].size == a.size
    assert handler_of(fastsel.flatnonzero(a)) == "default_allocator"
    assert scratch.cached_bytes() == fastsel.release_memory() == 0


@KEPT
def test_arrays_outlive_the_limit_that_they_were_made_under():
    found = fastsel.flatnonzero(np.ones(LEAST, bool))
    fastsel.set_keep_mb(0)
    found.resize(LEAST * 2, refcheck=False)
    assert np.array_equal(found[:LEAST], np.arange(LEAST))
    assert not found[LEAST:].any()
    del found
    assert scratch.cached_bytes() == 0


@pytest.mark.parametrize(
    ("mb", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)]
)
def test_a_limit_is_a_number_of_at_least_0(mb, error):
    with pytest.raises(error, match=r"mb must be .* got "):
        fastsel.set_keep_mb(mb)
    assert fastsel.get_keep_mb() == LIMIT >> 20


def test_no_limit():
    fastsel.set_keep_mb(float("inf"))
    assert fastsel.get_keep_mb() == float("inf")
    assert bytes_at(LEAST)


def test_the_environment_sets_the_limit(run_python):
    code = """
import fastsel
print(fastsel.get_keep_mb(), fastsel.show_config("dicts")["memory kept"])
"""
    assert run_python(code) == "64.0 0.0 of 64 MB\n"
    assert run_python(code, FASTSEL_KEEP_MB="0") == "0.0 0.0 of 0 MB\n"
    assert run_python(code, FASTSEL_KEEP_MB=" 12.5") == "12.5 0.0 of 12.5 MB\n"


@KEPT
def test_a_small_result_does_not_hold_the_memory_of_a_large_one():
    large = bytes_at(LEAST * 5 // 4)
    small = results.empty((LEAST,), np.dtype(np.uint8))
    assert small.ctypes.data != large
    assert bytes_at(LEAST * 5 // 4) == large


@KEPT
def test_no_code_of_others_runs_with_this_handler():
    """NumPy's handler is never changed, not even for a moment: no collector finds another one."""
    found = []

    class Cycle:
        def __init__(self):
            self.cycle = self

        def __del__(self):
            found.append(handler_of(np.ones(3)))

    threshold = gc.get_threshold()
    try:
        for more in range(1, 30):
            gc.disable()
            Cycle()
            gc.set_threshold(gc.get_count()[0] + more, 1000, 1000)
            gc.enable()
            results.empty((LEAST,), np.dtype(np.uint8))
            assert gc.isenabled()
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
    gc.collect()
    assert set(found) == {"default_allocator"}
    assert len(found) == 29


@KEPT
def test_arrays_of_others_have_numpys_memory():
    assert handler_of(fastsel.flatnonzero(np.ones(LEAST, bool))) == "fastsel"
    assert handler_of(np.empty(LEAST, np.uint8)) == "default_allocator"


@KEPT
def test_results_can_be_resized():
    found = fastsel.flatnonzero(np.ones(LEAST, bool))
    expected = np.arange(LEAST)
    for size in (LEAST // 2, LEAST * 8 // 7, LIMIT // 7, 10, 0, 1000):
        found.resize(size, refcheck=False)
        expected.resize(size, refcheck=False)
        assert np.array_equal(found, expected)


@KEPT
def test_a_result_that_shrinks_a_little_stays_where_it_is():
    found = fastsel.flatnonzero(np.ones(LEAST, bool))
    place = found.ctypes.data
    found.resize(LEAST - 1000, refcheck=False)
    assert found.ctypes.data == place
    assert np.array_equal(found, np.arange(LEAST - 1000))


@KEPT
def test_a_resized_result_does_not_hold_what_it_was():
    found = fastsel.flatnonzero(np.ones(LEAST, bool))
    place = found.ctypes.data
    found.resize(10, refcheck=False)
    assert found.ctypes.data != place
    assert bytes_at(LEAST * 8) == place


@KEPT
def test_resizing_beyond_memory():
    found = fastsel.flatnonzero(np.ones(LEAST, bool))
    with pytest.raises((MemoryError, ValueError)):
        found.resize(2**57, refcheck=False)
    assert np.array_equal(found, np.arange(LEAST))


NAME = b"mem_handler"  # a capsule keeps the address of its name
POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
CAPSULE_OF = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
HANDLER_BYTES = 128 + 5 * ctypes.sizeof(ctypes.c_void_p)
SET_HANDLER, DEFAULT_HANDLER = 304, 306  # places in the table of NumPy's C functions


def test_a_handler_of_the_user_is_left_alone():
    """NumPy's own one under another name."""
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
        result = results.empty((LEAST,), np.dtype(np.uint8))
        name = handler_of(result)
        del result
    finally:
        set_handler(before)
    assert name == "userslt_allocator"


@KEPT
def test_large_working_memory_serves_the_next_call():
    a = np.random.default_rng(1).permutation(5_000_000) * 1_000_003
    fastsel.set_keep_mb(512)
    tracemalloc.start()
    try:
        fastsel.unique(a, sorted=False)
        kept = scratch.cached_bytes()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        fastsel.unique(a, sorted=False)
        taken = tracemalloc.get_traced_memory()[1] - before
        fastsel.release_memory()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept > a.nbytes
    assert taken < a.nbytes // 4
    assert freed >= kept


def test_threads_take_and_give_results():
    """No two threads ever have the same memory."""
    wrong = []

    def work(number):
        for _ in range(50):
            array = results.empty((LEAST,), np.dtype(np.uint8))
            array[:: 1 << 12] = number
            wrong.append((array[:: 1 << 12] != number).any())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 250
    assert not any(wrong)


LIMITED = """
import resource
import numpy as np
import fastsel

ones = np.ones(16 << 20, bool)
more = np.ones(48 << 20, bool)
items = np.arange(3 << 20)
kept = [fastsel.flatnonzero(ones), fastsel.flatnonzero(ones)]
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), hard))
del kept
"""


@KEPT
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the memory is read in /proc")
@pytest.mark.parametrize(
    "call", ["fastsel.flatnonzero(more)", "fastsel.unique(items, True, True, True, sorted=False)"]
)
def test_what_is_kept_makes_room(call, run_python):
    """malloc has one arena: otherwise it would take 64 MB more for each thread that allocates."""
    code = f"{LIMITED}{call}\nprint('done')"
    assert run_python(code, MALLOC_ARENA_MAX="1", FASTSEL_KEEP_MB="512") == "done\n"


def calls_that_could_return_a_view(a, b):
    every, rows, others = np.ones(a.size, bool), a.reshape(-1, 2), b.reshape(-1, 2)
    yield fastsel.nonzero(a), fastsel.argwhere(a), fastsel.flatnonzero(a, dtype=np.int32)
    yield fastsel.compress(every, a), fastsel.extract(every, a)
    yield fastsel.boolean_mask(rows, every[::2]), fastsel.gather_nd(a, np.arange(a.size)[:, None])
    for order in (True, False):
        yield fastsel.unique(a, sorted=order), fastsel.unique(rows, axis=0, sorted=order)
        yield fastsel.unique(a, True, True, True, sorted=order)
        yield fastsel.group_indices(a, sorted=order)
    for name in [*SETS, "index_in"]:
        function = getattr(fastsel, name)
        yield function(a, b), function(rows, others, axis=0)
    yield (fastsel.setdiff1d(a, b, assume_unique=True),)


@pytest.mark.parametrize("size", [2, 600, 20_000, 300_000])
@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "S8", "M8[s]"])
def test_no_result_shares_memory_with_an_argument(dtype, size):
    """Items that are distinct and in order, and none to leave out."""
    ascending = np.arange(size).astype(dtype)
    for a in (ascending, ascending[::-1]):
        for b in (a, a[:0]):
            for found in calls_that_could_return_a_view(a, b):
                for result in found:
                    for output in result if isinstance(result, tuple) else (result,):
                        assert output.flags.writeable
                        assert not np.may_share_memory(output, a)
