"""The first few words met: whole blocks of keys are compared with these, and nothing is looked up.
"""
from libc.stdint cimport uint8_t, uint64_t

from fastsel._kernels.blocks cimport fs_level_t, log2_width
from fastsel._kernels.keys cimport keys_t

cdef enum:
    # On two threads 1e5 int32 of 2 groups take 36 us so, and 102 otherwise (`compare.py --op
    # unique_first --size 1e5 --dtype int32 --groups 2`, and with 0).
    FEW_WORDS = 4


cdef inline void note_few(uint64_t *few, Py_ssize_t length, const uint64_t *words, Py_ssize_t n,
                          const uint8_t *is_new) noexcept nogil:
    """Add those of n words that are new, as far as there is room: `length` were met before. The
    last one fills up the rest."""
    cdef Py_ssize_t j, k
    for j in range(n):
        if is_new[j] and length < FEW_WORDS:
            for k in range(length, FEW_WORDS):
                few[k] = words[j]
            length += 1


cdef inline Py_ssize_t known_blocks(const fs_level_t *level, const keys_t *keys,
                                    const uint64_t *few, Py_ssize_t start,
                                    Py_ssize_t stop) noexcept nogil:
    """How many whole blocks of keys of 2, 4 or 8 bytes have none but these, as they lie there."""
    return level.known[log2_width(keys.width) - 1](
        keys.data + start * keys.width, (stop - start) >> 6, few)
