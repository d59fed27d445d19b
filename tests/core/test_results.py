"""Memory of large results, and of calls that work with much: kept for the next one, and NumPy's
rules hold all the same."""

import ctypes
import gc
import mmap
import os
import threading
import tracemalloc

import numpy as np
import pytest

import fastsel
from fastsel._core import results, scratch


def takes_pages_back():
    """Does the system have MADV_FREE, and the kernel know it?"""
    try:
        pages = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        pages.madvise(mmap.MADV_FREE)
    except (AttributeError, OSError):
        return False
    return True


KEPT = pytest.mark.skipif(
    not takes_pages_back() or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="nothing is kept without MADV_FREE, nor where AddressSanitizer watches each block",
)
LEAST, MOST = 1 << 25, 1 << 27
handler_of = np._core.multiarray.get_handler_name


@pytest.fixture(autouse=True)
def _nothing_kept():
    gc.collect()
    results.drop()


def bytes_at(nbytes):
    """Where the data of a new result of so many bytes lies."""
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
def test_two_are_kept_and_each_serves_one():
    shape, dtype = (LEAST,), np.dtype(np.uint8)
    arrays = [results.empty(shape, dtype) for _ in range(3)]
    places = [array.ctypes.data for array in arrays]
    assert len(set(places)) == 3
    del arrays
    again = [results.empty(shape, dtype) for _ in range(3)]
    assert len({array.ctypes.data for array in again} & set(places)) >= 2
    assert len({array.ctypes.data for array in again}) == 3


@KEPT
def test_which_sizes_are_kept():
    assert handler_of(results.empty((LEAST - 1,), np.dtype(np.uint8))) == "default_allocator"
    assert handler_of(results.empty((LEAST,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((MOST,), np.dtype(np.uint8))) == "fastsel"
    assert handler_of(results.empty((MOST + 1,), np.dtype(np.uint8))) == "default_allocator"


@KEPT
def test_a_small_result_does_not_hold_the_memory_of_a_large_one():
    large = bytes_at(LEAST * 5 // 4)
    small = results.empty((LEAST,), np.dtype(np.uint8))
    assert small.ctypes.data != large
    assert bytes_at(LEAST * 5 // 4) == large


class Cycle:
    """Garbage that says, when it is collected, which handler new arrays get."""

    def __init__(self, found):
        self.found, self.cycle = found, self

    def __del__(self):
        self.found.append(handler_of(np.ones(3)))


@KEPT
def test_no_code_of_others_runs_with_this_handler():
    found, threshold = [], gc.get_threshold()
    try:
        for more in range(1, 30):
            gc.disable()
            Cycle(found)
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
    assert handler_of(fastsel.flatnonzero(np.ones(LEAST // 8, bool))) == "fastsel"
    assert handler_of(np.empty(LEAST, np.uint8)) == "default_allocator"


@KEPT
def test_results_can_be_resized():
    found = fastsel.flatnonzero(np.ones(LEAST // 8, bool))
    expected = np.arange(LEAST // 8)
    for size in (LEAST // 16, LEAST // 7, MOST // 7, 10, 0, 1000):
        found.resize(size, refcheck=False)
        expected.resize(size, refcheck=False)
        assert np.array_equal(found, expected)


@KEPT
def test_a_result_that_shrinks_a_little_stays_where_it_is():
    found = fastsel.flatnonzero(np.ones(LEAST // 8, bool))
    place = found.ctypes.data
    found.resize(LEAST // 8 - 1000, refcheck=False)
    assert found.ctypes.data == place
    assert np.array_equal(found, np.arange(LEAST // 8 - 1000))


@KEPT
def test_a_resized_result_does_not_hold_what_it_was():
    found = fastsel.flatnonzero(np.ones(LEAST // 8, bool))
    place = found.ctypes.data
    found.resize(10, refcheck=False)
    assert found.ctypes.data != place
    assert bytes_at(LEAST) == place


@KEPT
def test_resizing_beyond_memory():
    found = fastsel.flatnonzero(np.ones(LEAST // 8, bool))
    with pytest.raises((MemoryError, ValueError)):
        found.resize(2**57, refcheck=False)
    assert np.array_equal(found, np.arange(LEAST // 8))


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
    fastsel.unique(a[:100])
    scratch.drop()
    tracemalloc.start()
    try:
        kept = []
        for _ in range(2):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = fastsel.unique(a, sorted=False)
            kept.append(tracemalloc.get_traced_memory()[0] - before - result.nbytes)
            taken = tracemalloc.get_traced_memory()[1] - before - result.nbytes
            del result
        held = tracemalloc.get_traced_memory()[0]
        scratch.drop()
        freed = held - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept[0] > a.nbytes
    assert taken < a.nbytes // 4
    assert freed > a.nbytes


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
    """With one arena: malloc would take 64 MB more for each thread that asks it for memory."""
    code = f"{LIMITED}{call}\nprint('done')"
    assert run_python(code, MALLOC_ARENA_MAX="1") == "done\n"
