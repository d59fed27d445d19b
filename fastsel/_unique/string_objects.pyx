"""str and bytes objects, and strings of StringDType: hashes of their characters, a check that equal
hashes belong to equal strings; of objects, words of leading characters as sort keys, and the runs
of strings that are in order.

Threads read the strings while the caller holds the GIL and, for StringDType, the lock of the
dtype's allocator. So no Python code runs meanwhile, no string is freed, and no reference count
changes. Between rounds, signal handlers and other Python threads may change the array, and handlers
may change an array of objects between the chunks of a round, too. In a build of Python without a
GIL, no other thread may use an array of objects: the caller passes a copy.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

from fastsel._core.atomics cimport fs_mark
from fastsel._core.parallel cimport Job, chunk_count
from fastsel._core.scratch cimport new_intp
from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD, fs_hash_bytes

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

cdef extern from "numpy/arrayobject.h" nogil:
    ctypedef struct npy_string_allocator:
        pass
    ctypedef struct npy_packed_static_string:
        pass
    ctypedef struct npy_static_string:
        size_t size
        const char *buf
    ctypedef struct PyArray_StringDTypeObject:
        pass
    npy_string_allocator *NpyString_acquire_allocator(const PyArray_StringDTypeObject *descr)
    void NpyString_release_allocator(npy_string_allocator *allocator)
    int NpyString_load(
        npy_string_allocator *allocator, const npy_packed_static_string *packed,
        npy_static_string *string)

cdef enum:
    ROUND_STRINGS = 1 << 16   # strings between two checks for signals
    STRING_BYTES = 128        # about how many bytes of a string a thread reads
    PREFETCH_OFFSET = 47      # of the eighth character of an ASCII str, in 64-bit CPython >= 3.12

ctypedef struct characters_t:
    const char *data
    Py_ssize_t length
    int width               # bytes of a character

ctypedef struct source_t:
    const char *items
    Py_ssize_t size
    Py_ssize_t width        # of an item
    bint are_packed         # items are strings of StringDType
    bint are_bytes
    npy_string_allocator *allocator  # of packed strings, during a round


cdef class StringPass(Job):
    """A pass in rounds over n > 0 strings of a 1-d, contiguous array: strings of StringDType, or
    objects, which should be bytes if the first object is bytes, otherwise str. A chunk fails at a
    string that is missing, or another object, and the pass ends after this round."""
    cdef cnp.ndarray strings
    cdef source_t source
    cdef Py_ssize_t start         # index of the first string of the round
    cdef uint8_t failed           # 1 if a chunk has failed

    def __cinit__(self, cnp.ndarray strings, *_):
        assert cnp.PyArray_ISCARRAY_RO(strings)
        cdef source_t *source = &self.source
        self.strings, source.items = strings, <const char *>cnp.PyArray_DATA(strings)
        source.size, source.width = cnp.PyArray_SIZE(strings), cnp.PyArray_ITEMSIZE(strings)
        source.are_packed = cnp.PyArray_TYPE(strings) == cnp.NPY_VSTRING
        source.are_bytes = not source.are_packed and is_string((<PyObject **>source.items)[0], True)

    cdef bint run_all_rounds(self, int threads) except -1:
        """Handle all strings, or stop after the round in which a chunk fails. Returns whether no
        chunk has failed."""
        self.failed = self.start = 0
        while self.start < self.source.size:
            self.units = min(self.source.size - self.start, ROUND_STRINGS)
            self.chunks = chunk_count(self.units, threads, STRING_BYTES)
            self.run_round(threads)
            if self.failed:
                return False
            self.start += self.units
            if self.start < self.source.size:
                PyErr_CheckSignals()
                with nogil:       # other Python threads may run
                    pass
        return True

    cdef int run_round(self, int threads) except -1:
        if not self.source.are_packed:
            return self.run_with_gil(threads, True)
        self.source.allocator = NpyString_acquire_allocator(
            <PyArray_StringDTypeObject *>cnp.PyArray_DESCR(self.strings))
        try:
            # No signal handler runs: it may wait for the lock.
            return self.run_with_gil(threads, False)
        finally:
            NpyString_release_allocator(self.source.allocator)

    cdef Py_ssize_t first(self, Py_ssize_t k) noexcept nogil:
        """The index of the first string of chunk k of the round."""
        return self.start + self.begin(k)


cdef inline bint load(const source_t *source, Py_ssize_t i,
                      characters_t *characters) noexcept nogil:
    """Load string i. Returns False if it is missing, or another object."""
    cdef PyObject *item
    cdef npy_static_string string
    if source.are_packed:
        if NpyString_load(
                source.allocator,
                <const npy_packed_static_string *>(source.items + i * source.width), &string) != 0:
            return False
        characters.data, characters.length, characters.width = string.buf, string.size, 1
        return True
    item = (<PyObject **>source.items)[i]
    if not is_string(item, source.are_bytes):
        return False
    characters[0] = characters_of(item, source.are_bytes)
    return True


cdef inline bint same_object(const source_t *source, Py_ssize_t i, const source_t *others,
                             Py_ssize_t j) noexcept nogil:
    """Is string i of the source the object j of the others?"""
    return (not source.are_packed
            and (<PyObject **>source.items)[i] == (<PyObject **>others.items)[j])


cdef inline void prefetch(const source_t *source, Py_ssize_t i) noexcept nogil:
    """Prefetch object i, if there is one: its header, and its first characters, which may lie in
    the next cache line; or packed string i."""
    if i < source.size and source.are_packed:
        fs_prefetch(source.items + i * source.width)
    elif i < source.size:
        fs_prefetch((<const char **>source.items)[i])
        fs_prefetch((<const char **>source.items)[i] + PREFETCH_OFFSET)


# ---- hashes -----------------------------------------------------------------------------


def hash_strings(cnp.ndarray strings not None, tuple seeds not None, int threads):
    """The hash, uint64, of the characters of each of n > 0 strings; None if a string is missing, or
    if the objects are not all str or all bytes. Objects of subclasses of str or bytes count as
    other objects. seeds is (seed, factor)."""
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
        cdef source_t source = self.source
        cdef Py_ssize_t i
        cdef characters_t characters
        cdef uint64_t hash
        for i in range(self.first(k), self.first(k + 1)):
            prefetch(&source, i + AHEAD)
            if not load(&source, i, &characters):
                fs_mark(&self.failed)
                return
            hash = fs_hash_bytes(
                characters.data, characters.length * characters.width, self.seed, self.factor)
            self.hashes[i] = hash + characters.width * self.factor


def each_equals(cnp.ndarray strings not None, cnp.ndarray others not None,
                const Py_ssize_t[::1] positions not None, int threads):
    """Is string i the object others[positions[i]], or a string that equals it, for each i? False if
    a string of StringDType is missing. `others` is `strings` itself, or both have objects. The
    positions are positions of `others`: otherwise other memory is read."""
    cdef CompareStrings job = CompareStrings(strings)
    assert others is strings or (
        cnp.PyArray_ISCARRAY_RO(others)
        and cnp.PyArray_TYPE(strings) == cnp.PyArray_TYPE(others) == cnp.NPY_OBJECT)
    job.others, job.positions = others, positions
    return job.run_all_rounds(threads)


cdef class CompareStrings(StringPass):
    """A chunk fails at a string that is not the other string, and does not equal it."""
    cdef cnp.ndarray others
    cdef const Py_ssize_t[::1] positions

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef const Py_ssize_t[::1] positions = self.positions
        cdef source_t source = self.source, others = self.source
        cdef Py_ssize_t i, stop = self.first(k + 1)
        cdef characters_t a, b
        others.items = <const char *>cnp.PyArray_DATA(self.others)
        others.size = cnp.PyArray_SIZE(self.others)
        for i in range(self.first(k), stop):
            if i + AHEAD < stop and not same_object(
                    &source, i + AHEAD, &others, positions[i + AHEAD]):
                prefetch(&source, i + AHEAD)
                prefetch(&others, positions[i + AHEAD])
            if same_object(&source, i, &others, positions[i]):
                continue
            if not (load(&source, i, &a) and load(&others, positions[i], &b)
                    and a.length == b.length and a.width == b.width
                    and memcmp(a.data, b.data, a.length * a.width) == 0):
                fs_mark(&self.failed)
                return


# ---- leading words ----------------------------------------------------------------------


def pack_leading_characters(cnp.ndarray strings not None, int threads):
    """Pack the 8, 4 or 3 characters that follow the common prefix of n > 0 objects into a uint64
    word for each object. A lesser word belongs to a lesser string; equal words decide nothing.
    Returns None unless all objects are str, or all are bytes."""
    cdef MeasureStrings measure = MeasureStrings(strings)
    cdef WriteWords write = WriteWords(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef Py_ssize_t max_chunks = chunk_count(ROUND_STRINGS, threads, STRING_BYTES)
    cdef characters_t leader
    assert not measure.source.are_packed      # outside of a round, nobody holds the lock
    if not load(&measure.source, 0, &leader):
        return None
    measure.common_prefix = new_intp(max_chunks)
    measure.common_prefix[:] = leader.length
    if not measure.run_all_rounds(threads):
        return None
    write.common_prefix = min(measure.common_prefix)
    # The bits of the largest character.
    write.bits = 21 if measure.has_width[4] else 16 if measure.has_width[2] else 8
    words = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    write.words = words
    return words if write.run_all_rounds(threads) else None


cdef class MeasureStrings(StringPass):
    """Measure the common prefix of all strings, and the width of the widest character."""
    cdef Py_ssize_t[::1] common_prefix    # of each chunk and the first string, in characters
    cdef uint8_t[5] has_width     # by bytes: 1 if a chunk's widest character has this width

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef source_t source = self.source
        cdef Py_ssize_t i, limit, common
        cdef characters_t leader, characters
        cdef int width = 1
        if not load(&source, 0, &leader):
            fs_mark(&self.failed)
            return
        common = min(self.common_prefix[k], leader.length)
        for i in range(self.first(k), self.first(k + 1)):
            prefetch(&source, i + AHEAD)
            if not load(&source, i, &characters):
                fs_mark(&self.failed)
                return
            width = max(width, characters.width)
            limit, common = min(common, characters.length), 0
            while common < limit and (PyUnicode_READ(leader.width, leader.data, common)
                                      == PyUnicode_READ(characters.width, characters.data, common)):
                common += 1
        self.common_prefix[k] = common
        fs_mark(&self.has_width[width])


cdef class WriteWords(StringPass):
    cdef Py_ssize_t common_prefix
    cdef int bits                 # of a character in a word
    cdef uint64_t[::1] words

    cdef void chunk(self, Py_ssize_t k) noexcept nogil:
        cdef source_t source = self.source
        cdef Py_ssize_t i, j
        cdef characters_t characters
        cdef uint64_t word
        for i in range(self.first(k), self.first(k + 1)):
            prefetch(&source, i + AHEAD)
            if not load(&source, i, &characters):
                fs_mark(&self.failed)
                return
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
    cdef int comparison, direction = 0
    cdef bint are_bytes
    assert cnp.PyArray_ISCARRAY_RO(strings) and cnp.PyArray_TYPE(strings) == cnp.NPY_OBJECT
    out[0] = 0
    are_bytes = is_string(items[0], True)
    if not is_string(items[0], are_bytes):
        return None
    for i in range(1, size):
        if i % ROUND_STRINGS == 0:
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
