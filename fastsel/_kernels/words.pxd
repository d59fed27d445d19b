"""First occurrences of words, where neither inverse nor counts are wanted."""
cimport numpy as cnp
from libc.stdint cimport uint64_t

from fastsel._kernels.keys cimport keys_t

cdef tuple few_words(const keys_t *keys, cnp.ndarray a, bint index, Py_ssize_t most_distinct,
                     uint64_t *bits)
