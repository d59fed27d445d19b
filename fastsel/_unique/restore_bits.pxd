"""The bits of zero and NaN among ascending values; see restore_bits.pyx."""
from fastsel._simd.blocks cimport word_t
from fastsel._unique.keys cimport keys_t

cdef void restore_bits(const keys_t *keys, word_t *values, Py_ssize_t groups,
                       const Py_ssize_t *index) noexcept nogil
