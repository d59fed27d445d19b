"""No kernel reads before or behind an array: the array starts directly behind a page that cannot
be read, or ends directly before one."""

import os

import pytest
from grids import slow

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs mprotect")

GUARDED = """
import ctypes, mmap, pkgutil, sys
import numpy as np
import fastsel
from arrays import grouped
from comparison import assert_same
from forcing import TUNING

LONG = min(2**31 + 1, sys.maxsize // 16)
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
mapped = []

def close_page(address):
    assert libc.mprotect(address, mmap.PAGESIZE, 0) == 0  # PROT_NONE

def between_closed_pages(array, at_the_end):
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
    mapped.append(memory)
    start = (pages + 1) * mmap.PAGESIZE - array.nbytes if at_the_end else mmap.PAGESIZE
    guarded = np.frombuffer(memory, array.dtype, array.size, start).reshape(array.shape)
    guarded[...] = array
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    close_page(address)
    close_page(address + (pages + 1) * mmap.PAGESIZE)
    return guarded

def indices_of(size):
    "Index rows for one axis and for two axes, int32 and int64; the last position comes first."
    rows = np.arange(size)[::-1, None]
    pairs = np.hstack([rows, np.zeros_like(rows)])
    return [a.astype(dtype) for a in (rows, pairs) for dtype in ("int32", "int64")]

def calls(array, mask, *indices):
    all_outputs = dict(return_index=True, return_inverse=True, return_counts=True)
    yield fastsel.nonzero(array)
    yield fastsel.argwhere(array)
    yield fastsel.count_nonzero(array)
    yield fastsel.count_nonzero(array, axis=0)
    for axis in (None, 0, *range(-1, array.ndim - 1)):
        yield fastsel.first_nonzero(np.zeros_like(array), axis)
    yield fastsel.nonzero_coordinates(array)
    yield fastsel.compress(mask, array)
    yield fastsel.compress(array, mask)
    yield fastsel.extract(mask, array)
    yield fastsel.boolean_mask(array, mask)
    huge = np.broadcast_to(array[:1], (LONG, 1))  # its length exceeds an int32
    for rows in indices:
        for data in (array.reshape(-1, 1), huge):
            yield fastsel.gather_nd(data, rows)
    for ascending in (True, False):
        yield fastsel.unique(array, sorted=ascending)
        yield fastsel.unique(array, return_index=True, sorted=ascending)
        yield fastsel.unique(array, **all_outputs, sorted=ascending)
    for other in (array[:3], array[-3:], array):
        for items, tests in ((array, other), (other, array)):
            yield fastsel.isin(items, tests)
            yield fastsel.index_in(items, tests)
        yield fastsel.intersect1d(array, other, return_indices=True)
        yield fastsel.union1d(array, other)
        yield fastsel.setxor1d(array, other)
        rows, other_rows = (a[len(a) % 2 :].reshape(-1, 2) for a in (array, other))
        yield fastsel.isin(rows, other_rows, axis=0)
        yield fastsel.index_in(other_rows, rows, axis=0)
    yield fastsel.nonzero(array, dtype="i4")
    yield tuple(fastsel.group_indices(array))
    yield tuple(fastsel.group_indices(array, sorted=False))

def check(array):
    mask = np.arange(len(array)) % 3 == 0
    indices = indices_of(len(array))
    for threads in (1, 3):
        with fastsel.threads(threads):
            expected = list(calls(array, mask, *indices))
            for at_the_end in (True, False):
                guarded = [between_closed_pages(a, at_the_end) for a in (array, mask, *indices)]
                for ours, theirs in zip(calls(*guarded), expected, strict=True):
                    assert_same(ours, theirs)
                del guarded

for tuned in (False, True):
    for name, value in TUNING if tuned else ():
        module, _, attribute = name.rpartition(".")
        setattr(pkgutil.resolve_name(module), attribute, value)
    for name in names:
        print(name, flush=True)
        for size in sizes:
            for count in {*groups, size}:
                check(grouped(name, size, min(count, size)))
"""
DTYPES = (
    *("bool", "uint8", "int16", "float16", "int32", "float32", "int64", "float64", "complex128"),
    *("S3", "U3", "datetime64"),
)
GRIDS = {
    "few": {"sizes": (1, 63, 65, 513, 1030), "groups": (4,)},
    "many": {"sizes": (64, 200, 511, 5000), "groups": (1, 100)},
}


@pytest.mark.parametrize("grid", ["few", slow("many")])
def test_no_memory_beside_an_argument_is_read(grid, run_python):
    code = f"names, sizes, groups = {DTYPES}, *{(*GRIDS[grid].values(),)}\n{GUARDED}"
    assert run_python(code).split() == 2 * [*DTYPES]


CLOSED_AFTER_16_MIB = """
import ctypes, mmap
import numpy as np
import fastsel
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
memory, readable = mmap.mmap(-1, 1 << 28), 16 << 20
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
assert libc.mprotect(address + readable, (1 << 28) - readable, 0) == 0  # PROT_NONE
for dtype in (np.bool_, np.float64):
    array = np.frombuffer(memory, dtype)
    for position in (0, 5, 100_000, 500_000):
        array[position] = 1
        for threads in (1, 2):
            with fastsel.threads(threads):
                assert fastsel.first_nonzero(array) == position
                assert fastsel.first_nonzero(array.reshape(1, -1), axis=1) == position
        array[position] = 0
"""


def test_nothing_is_read_far_behind_the_first_nonzero_item(run_python):
    run_python(CLOSED_AFTER_16_MIB)
