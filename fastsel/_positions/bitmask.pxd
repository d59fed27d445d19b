"""The bitmask, which pass 1 writes and pass 2 reads; see bitmask.pyx."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._core.parallel cimport thresholds
from fastsel._core.strided cimport describe, strided_t
from fastsel._positions.truth cimport describe_number, truth_t

cdef enum:
    STACK_ITEMS = 1 << 14     # maximum items whose bits are on the stack
    STACK_BLOCKS = STACK_ITEMS // 64


cdef class Bitmask:
    """One bit for each item, 1 if the item is selected; and the offset of each chunk of pass 2."""
    cdef readonly uint64_t[::1] bits      # a word for each block; unused bits of the last are 0
    cdef readonly Py_ssize_t[::1] offsets     # set bits before each chunk of blocks, then the total

    cdef Py_ssize_t count(self) noexcept nogil
    cdef int count_bits(self, Py_ssize_t moved, int threads) except -1


cpdef Bitmask pack(cnp.ndarray items, Py_ssize_t width, const uint64_t[::1] significant,
                   Py_ssize_t moved, int threads)
cpdef Bitmask from_bits(uint64_t[::1] bits, Py_ssize_t moved, int threads)
cdef describe_by_rule(cnp.dtype dtype, truth_t *truth)
# The Bitmask of all items, in C order; moved is as for `pack`.
cdef Bitmask pack_items(const strided_t *items, const truth_t *truth, Py_ssize_t moved, int threads)
# The Bitmask that has these bits.
cdef Bitmask bitmask_of(const uint64_t *bits, Py_ssize_t blocks, Py_ssize_t moved, int threads)
# Pack the items of the blocks from `block` to stop - 1 into bits; only count if bits is NULL.
# Returns the number of set bits. There are at least `stop` blocks: otherwise memory before a buffer
# is overwritten.
cdef Py_ssize_t pack_blocks(const strided_t *items, const truth_t *truth, Py_ssize_t block,
                            Py_ssize_t stop, uint64_t *bits) noexcept nogil


cdef inline bint fits_stack(const strided_t *items) noexcept nogil:
    return items.size <= min(thresholds.small_items, STACK_ITEMS)


cdef inline describe_array(a, strided_t *items, truth_t *truth):
    """Describe all items of `a`, and which of them are true. Returns None if `a` is not
    an ndarray of the base class, or if NumPy decides which items are true; otherwise an object that
    the caller keeps while it uses truth."""
    if not cnp.PyArray_CheckExact(a):
        return None
    describe(items, <cnp.ndarray>a, 0, cnp.PyArray_NDIM(<cnp.ndarray>a))
    if describe_number(truth, <cnp.ndarray>a):
        return a
    return describe_by_rule((<cnp.ndarray>a).dtype, truth)
