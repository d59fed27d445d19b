"""What a sample says about keys; see sample.pyx."""
from libc.stdint cimport uint64_t

from fastsel._unique.keys cimport keys_t

# A window is a range of ordered keys: `entries` of them, a power of two, from `base` on; 0 entries:
# no window.
ctypedef struct window_t:
    uint64_t base
    uint64_t entries

cdef enum:
    WINDOWS = 4
    MIN_DRAWN = 256     # keys of a small sample

ctypedef struct sample_t:
    Py_ssize_t groups       # an estimate of the number of groups of all keys
    bint mostly_repeated    # at most half of the sampled keys are distinct
    bint has_even_groups    # at most half of the sampled groups have one sampled key
    bint has_frequent_groups  # at least a quarter of the sample is in groups that it has > 3 times
    # The middle ordered key of the sample: the majority, if one key has more than half of it.
    uint64_t majority
    double majority_share   # the share of the sample that has this key; 0 for keys without an order
    # Every sampled key is NaN or a decimal by `scale` (order_body.h), and windows are of the
    # integers; 0 if not, or if the keys are no doubles.
    double scale
    # The smallest ranges of all sampled keys, of 99 %, of 95 % and of 90 %, and a little more.
    window_t[WINDOWS] windows


cdef int take_sample(const keys_t *keys, sample_t *sample, Py_ssize_t max_drawn) except -1
cdef void draw(const char *keys, Py_ssize_t size, Py_ssize_t width, Py_ssize_t drawn,
               Py_ssize_t first, char *out, Py_ssize_t *changes) noexcept nogil
cdef window_t widened(uint64_t low, uint64_t high, uint64_t highest) noexcept
