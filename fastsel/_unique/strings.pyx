"""str and bytes objects: hashes of their characters, a check that equal hashes belong to equal
strings, words of leading characters as sort keys, and the runs of strings that are in order.

Threads read the strings while the caller holds the GIL. So no Python code runs meanwhile, no string
is freed, and no reference count changes. Between chunks and between rounds, signal handlers and
other Python threads may change the array. In a build of Python without a GIL, no other thread may
use the array: the caller passes a copy.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

from fastsel._core.scratch cimport new_intp, new_u8
from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD
from fastsel._unique.string_rounds cimport StringRounds, max_chunk_count

cdef extern from "Python.h" nogil:
    bint PyUnicode_CheckExact(PyObject *string)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *string)
    int PyUnicode_KIND(PyObject *string)
    const void *PyUnicode_DATA(PyObject *string)
    uint64_t PyUnicode_READ(int kind, const void *data, Py_ssize_t index)
    bint PyBytes_CheckExact(PyObject *string)
    Py_ssize_t PyBytes_GET_SIZE(PyObject *string)
    const char *PyBytes_AS_STRING(PyObject *string)
    int PyUnicode_Compare(PyObject *string, PyObject *other)

cdef extern from "hashing.h" nogil:
    uint64_t fs_hash_bytes(const char *p, Py_ssize_t size, uint64_t seed, uint64_t factor)

cnp.import_array()

cdef enum:
    CHECKED_STRINGS = 1 << 16  # strings that find_runs compares between two checks for signals
    PREFETCH_OFFSET = 47      # of the eighth character of an ASCII str, in 64-bit CPython >= 3.12

ctypedef struct characters_t:
    const char *data
    Py_ssize_t length
    int width               # bytes of a character


cdef class StringPass(StringRounds):
    """A pass over n > 0 objects. Objects should be bytes if the first object is bytes, otherwise
    str. A chunk fails at any other object. CompareStrings has its own rule."""
    cdef object owned             # the array that `items` points to
    cdef PyObject **items         # the objects of all rounds
    cdef bint are_bytes

    def __cinit__(self, cnp.ndarray strings, *_):
        assert cnp.PyArray_ISCARRAY_RO(strings)
        self.owned, self.items = strings, <PyObject **>cnp.PyArray_DATA(strings)
        self.are_bytes = self.items[0] != NULL and PyBytes_CheckExact(self.items[0])

    cdef bint run_all_rounds(self, int threads) except -1:
        """Handle all strings; returns whether no chunk has failed."""
        return self.run_until_failure(cnp.PyArray_SIZE(self.owned), threads)


# ---- hashes -----------------------------------------------------------------------------


def hash_strings(cnp.ndarray strings not None, tuple seeds not None, int threads):
    """The hash, uint64, of the characters of each of n > 0 objects; None unless all are str, or all
    are bytes. Objects of subclasses of str or bytes count as other objects. seeds is (seed,
    factor)."""
    cdef HashStrings job = HashStrings(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    hashes = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    job.hashes = hashes
    job.seed, job.factor = seeds
    return hashes if job.run_all_rounds(threads) else None


cdef class HashStrings(StringPass):
    cdef uint64_t[::1] hashes
    cdef uint64_t seed
    cdef uint64_t factor

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, stop = self.first(k + 1)
        cdef characters_t characters
        cdef uint64_t hash
        for i in range(self.first(k), stop):
            prefetch(self.items, i + AHEAD, stop)
            if not is_string(self.items[i], self.are_bytes):
                self.failed[k] = True
                return
            characters = characters_of(self.items[i], self.are_bytes)
            hash = fs_hash_bytes(
                characters.data, characters.length * characters.width, self.seed, self.factor)
            self.hashes[i] = hash + characters.width * self.factor


def each_equals_value(cnp.ndarray strings not None, cnp.ndarray values not None,
                      cnp.ndarray group_ids not None, int threads):
    """Is each of n > 0 objects the value of its group, or a string equal to this value? Strings are
    bytes if the first object is bytes, otherwise str."""
    cdef CompareStrings job = CompareStrings(strings)
    assert cnp.PyArray_ISCARRAY_RO(values)
    job.values_owned, job.values = values, <PyObject **>cnp.PyArray_DATA(values)
    job.group_ids = group_ids
    return job.run_all_rounds(threads)


cdef class CompareStrings(StringPass):
    """Compare each object with the value of its group. A chunk fails at an object that is not this
    value, and not a string that equals it."""
    cdef object values_owned
    cdef PyObject **values
    cdef const Py_ssize_t[::1] group_ids

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] group_ids = self.group_ids
        cdef Py_ssize_t i, stop = self.first(k + 1)
        cdef PyObject *item
        cdef PyObject *value
        for i in range(self.first(k), stop):
            if i + AHEAD < stop:
                value = self.values[group_ids[i + AHEAD]]
                if value != self.items[i + AHEAD]:
                    prefetch(self.items, i + AHEAD, stop)
                    fs_prefetch(<const char *>value)
            item, value = self.items[i], self.values[group_ids[i]]
            if item != value and not equal_strings(item, value, self.are_bytes):
                self.failed[k] = True
                return


# ---- leading words ----------------------------------------------------------------------


def pack_leading_characters(cnp.ndarray strings not None, int threads):
    """Pack the 8, 4 or 3 characters that follow the common prefix of n > 0 objects into a uint64
    word for each object. A lesser word belongs to a lesser string; equal words decide nothing.
    Returns None unless all objects are str, or all are bytes."""
    cdef MeasureStrings measure = MeasureStrings(strings)
    cdef WriteWords write = WriteWords(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef Py_ssize_t k, max_chunks = max_chunk_count(threads)
    cdef int width = 1
    if not is_string(measure.items[0], measure.are_bytes):
        return None
    measure.common_prefix, measure.widths = new_intp(max_chunks), new_u8(max_chunks)
    measure.common_prefix[:] = characters_of(measure.items[0], measure.are_bytes).length
    measure.widths[:] = 0
    if not measure.run_all_rounds(threads):
        return None
    write.common_prefix = measure.common_prefix[0]
    for k in range(max_chunks):
        write.common_prefix = min(write.common_prefix, measure.common_prefix[k])
        width = max(width, measure.widths[k])
    write.bits = 8 if width == 1 else 16 if width == 2 else 21  # of the largest character
    words = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    write.words = words
    return words if write.run_all_rounds(threads) else None


cdef class MeasureStrings(StringPass):
    """Measure the common prefix of all strings, and the width of the widest character."""
    cdef Py_ssize_t[::1] common_prefix    # of each chunk and the first string, in characters
    cdef uint8_t[::1] widths              # of each chunk: bytes of its widest character

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, common = self.common_prefix[k], stop = self.first(k + 1)
        cdef characters_t leader, characters
        cdef int width = self.widths[k]
        if not is_string(self.items[0], self.are_bytes):
            self.failed[k] = True
            return
        leader = characters_of(self.items[0], self.are_bytes)
        for i in range(self.first(k), stop):
            prefetch(self.items, i + AHEAD, stop)
            if not is_string(self.items[i], self.are_bytes):
                self.failed[k] = True
                return
            characters = characters_of(self.items[i], self.are_bytes)
            width = max(width, characters.width)
            common = common_characters(
                &leader, &characters, min(common, min(leader.length, characters.length)))
        self.common_prefix[k], self.widths[k] = common, <uint8_t>width


cdef class WriteWords(StringPass):
    cdef Py_ssize_t common_prefix
    cdef int bits                 # of a character in a word
    cdef uint64_t[::1] words

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i, j, stop = self.first(k + 1)
        cdef characters_t characters
        cdef uint64_t word
        for i in range(self.first(k), stop):
            prefetch(self.items, i + AHEAD, stop)
            if not is_string(self.items[i], self.are_bytes):
                self.failed[k] = True
                return
            characters = characters_of(self.items[i], self.are_bytes)
            word = 0
            for j in range(self.common_prefix, self.common_prefix + 64 // self.bits):
                word <<= self.bits
                if j < characters.length:
                    word |= PyUnicode_READ(characters.width, characters.data, j)
            self.words[i] = word


# ---- runs -------------------------------------------------------------------------------


def find_runs(cnp.ndarray strings not None):
    """Returns (run_starts, direction) if the n > 0 objects are all str, or all bytes, and ascend or
    descend; otherwise None. run_starts has 0, and the positions of strings that differ from the
    string before them; direction is -1 if the strings descend, otherwise 1."""
    cdef PyObject **items = <PyObject **>cnp.PyArray_DATA(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef cnp.ndarray run_starts = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *out = <Py_ssize_t *>cnp.PyArray_DATA(run_starts)
    cdef Py_ssize_t i, runs = 1
    cdef bint are_bytes = items[0] != NULL and PyBytes_CheckExact(items[0])
    cdef int comparison, direction = 0
    assert cnp.PyArray_ISCARRAY_RO(strings)
    out[0] = 0
    if not is_string(items[0], are_bytes):
        return None
    for i in range(1, size):
        if i % CHECKED_STRINGS == 0:
            PyErr_CheckSignals()
            if not is_string(items[i - 1], are_bytes):  # replaced by a signal handler
                return None
        if i + AHEAD < size:
            fs_prefetch(<const char *>items[i + AHEAD])
        if not is_string(items[i], are_bytes):
            return None
        comparison = compare(items[i - 1], items[i], are_bytes)
        if comparison:
            if comparison == -direction:
                return None
            direction = comparison
            out[runs] = i
            runs += 1
    return run_starts[:runs].copy(), direction or 1


# ---- characters -------------------------------------------------------------------------


cdef inline Py_ssize_t common_characters(const characters_t *a, const characters_t *b,
                                         Py_ssize_t limit) noexcept nogil:
    """The length of the common prefix of a and b, at most `limit`, which exceeds neither length:
    otherwise memory behind a string is read."""
    cdef Py_ssize_t j
    for j in range(limit):
        if PyUnicode_READ(a.width, a.data, j) != PyUnicode_READ(b.width, b.data, j):
            return j
    return limit


cdef inline void prefetch(PyObject **items, Py_ssize_t i, Py_ssize_t stop) noexcept nogil:
    """Prefetch string i if i < stop: its header, and its first characters, which may lie in the
    next cache line."""
    if i < stop:
        fs_prefetch(<const char *>items[i])
        fs_prefetch(<const char *>items[i] + PREFETCH_OFFSET)


cdef inline bint is_string(PyObject *item, bint is_bytes) noexcept nogil:
    if item == NULL:
        return False
    return PyBytes_CheckExact(item) if is_bytes else PyUnicode_CheckExact(item)


cdef inline characters_t characters_of(PyObject *string, bint is_bytes) noexcept nogil:
    cdef characters_t characters
    if is_bytes:
        characters.data, characters.length = PyBytes_AS_STRING(string), PyBytes_GET_SIZE(string)
        characters.width = 1
    else:
        characters.data = <char *>PyUnicode_DATA(string)
        characters.length = PyUnicode_GET_LENGTH(string)
        characters.width = PyUnicode_KIND(string)
    return characters


cdef inline bint equal_strings(PyObject *one, PyObject *other, bint are_bytes) noexcept nogil:
    """Are both objects str or, with are_bytes, bytes, and are they equal?"""
    cdef characters_t a, b
    if not (is_string(one, are_bytes) and is_string(other, are_bytes)):
        return False
    a, b = characters_of(one, are_bytes), characters_of(other, are_bytes)
    return (a.length == b.length and a.width == b.width
            and memcmp(a.data, b.data, a.length * a.width) == 0)


cdef inline int compare(PyObject *string, PyObject *next, bint are_bytes) noexcept:
    """1 if `next` is greater than `string`, 0 if it is equal, -1 if it is less."""
    cdef characters_t a, b
    cdef int comparison
    if string == next:
        return 0
    a, b = characters_of(string, are_bytes), characters_of(next, are_bytes)
    if a.width > 1 or b.width > 1:
        return -PyUnicode_Compare(string, next)
    comparison = memcmp(b.data, a.data, min(a.length, b.length))
    if comparison == 0:
        comparison = (b.length > a.length) - (b.length < a.length)
    return (comparison > 0) - (comparison < 0)
