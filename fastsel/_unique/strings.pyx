"""str and bytes objects: hashes of their letters, whether equal hashes stand for equal strings, and
words of the leading letters, which sort them.

Threads read the strings while the caller holds the GIL. No code of Python runs meanwhile, no string
goes away, and no reference count changes; between rounds other threads of Python may do as they
like with the array. Where there is no GIL, the array is one that no other thread has.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdint cimport intptr_t, uint8_t, uint64_t
from libc.string cimport memcmp, memset

from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks
from fastsel._core.scratch cimport Scratch
from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD

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
    ROUND = 1 << 16       # strings between two checks for signals: some milliseconds
    STRING_BYTES = 128    # about what a thread reads of one
    LETTERS = 47          # where the first 8 letters of most str end, which come after 40 bytes

ctypedef struct letters_t:
    const char *data
    Py_ssize_t length
    int width               # bytes of a letter

ctypedef struct strings_task:
    PyObject **items
    Py_ssize_t start        # of a round
    Py_ssize_t size
    Py_ssize_t chunks
    bint are_bytes
    uint8_t *other          # of each chunk: one is no string, or differs from its number's value
    uint64_t seed
    uint64_t factor
    uint64_t *out
    PyObject **values
    const intptr_t *numbers
    Py_ssize_t skipped      # letters that all have in common
    Py_ssize_t *alike       # of each chunk: so many at the start of all
    uint8_t *widths         # of each chunk: the most bytes of a letter
    int bits                # of a letter in a word


def hashes_of(cnp.ndarray strings not None, tuple seeds not None, int threads):
    """A hash of each string's letters, as uint64, or None unless n > 0 objects are all str, or all
    bytes, and of no class derived from it."""
    cdef strings_task task
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef cnp.ndarray hashes = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    describe_strings(&task, strings)
    task.seed, task.factor = seeds
    task.out = <uint64_t *>cnp.PyArray_DATA(hashes)
    return hashes if in_rounds(hash_chunk, &task, size, threads) else None


def are_values(cnp.ndarray strings not None, cnp.ndarray values not None,
               cnp.ndarray numbers not None, int threads):
    """Does each of n > 0 strings equal the value of its number? All are str, or all bytes."""
    cdef strings_task task
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    assert cnp.PyArray_ISCARRAY_RO(values) and cnp.PyArray_ISCARRAY_RO(numbers)
    describe_strings(&task, strings)
    task.values = <PyObject **>cnp.PyArray_DATA(values)
    task.numbers = <const intptr_t *>cnp.PyArray_DATA(numbers)
    return in_rounds(compare_chunk, &task, size, threads)


def leading_words(cnp.ndarray strings not None, int threads):
    """Words, as uint64, that order n > 0 objects as far as a few of their letters do, behind those
    that all have in common; None unless all are str, or all bytes."""
    cdef strings_task task
    cdef Scratch scratch = Scratch()
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef cnp.ndarray words = cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT64, 0)
    cdef Py_ssize_t k, most = chunk_count(ROUND, threads, STRING_BYTES)
    cdef int width = 1
    describe_strings(&task, strings)
    if not is_string(task.items[0], task.are_bytes):
        return None
    task.alike = <Py_ssize_t *>scratch.take(most * sizeof(Py_ssize_t))
    task.widths = <uint8_t *>scratch.take(most)
    memset(task.widths, 0, most)
    for k in range(most):
        task.alike[k] = letters_of(task.items[0], task.are_bytes).length
    if not in_rounds(measure_chunk, &task, size, threads):
        return None
    task.skipped = task.alike[0]
    for k in range(most):
        task.skipped = min(task.skipped, task.alike[k])
        width = max(width, task.widths[k])
    task.bits = 8 if width == 1 else 16 if width == 2 else 21  # of the largest letter
    task.out = <uint64_t *>cnp.PyArray_DATA(words)
    return words if in_rounds(write_chunk, &task, size, threads) else None


def runs_of(cnp.ndarray strings not None):
    """(starts, direction) of n > 0 objects that are all str or all bytes and in order: where those
    differ that come one after the other, and 1 if they ascend, -1 if they descend. None for others.
    """
    cdef PyObject **items = <PyObject **>cnp.PyArray_DATA(strings)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(strings)
    cdef cnp.ndarray starts = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *out = <Py_ssize_t *>cnp.PyArray_DATA(starts)
    cdef Py_ssize_t i, runs = 1
    cdef bint are_bytes = items[0] != NULL and PyBytes_CheckExact(items[0])
    cdef int turn, direction = 0
    assert cnp.PyArray_ISCARRAY_RO(strings)
    out[0] = 0
    if not is_string(items[0], are_bytes):
        return None
    for i in range(1, size):
        if i % ROUND == 0:
            PyErr_CheckSignals()
            if not is_string(items[i - 1], are_bytes):  # a handler may have put others there
                return None
        if i + AHEAD < size:
            fs_prefetch(<const char *>items[i + AHEAD])
        if not is_string(items[i], are_bytes):
            return None
        turn = compare(items[i - 1], items[i], are_bytes)
        if turn:
            if turn == -direction:
                return None
            direction = turn
            out[runs] = i
            runs += 1
    return starts[:runs].copy(), direction or 1


cdef void describe_strings(strings_task *task, cnp.ndarray strings) except *:
    assert cnp.PyArray_ISCARRAY_RO(strings)
    task.items = <PyObject **>cnp.PyArray_DATA(strings)
    task.are_bytes = task.items[0] != NULL and PyBytes_CheckExact(task.items[0])


cdef bint in_rounds(void (*body)(void *, Py_ssize_t) noexcept nogil, strings_task *task,
                    Py_ssize_t size, int threads) except -1:
    """Run the body on chunks of all strings, until there is another; whether there is none. Other
    threads of Python may run between rounds."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k, most = chunk_count(ROUND, threads, STRING_BYTES)
    task.other = <uint8_t *>scratch.take(most)
    memset(task.other, 0, most)
    task.start = 0
    while task.start < size:
        task.size = min(size - task.start, ROUND)
        task.chunks = chunk_count(task.size, threads, STRING_BYTES)
        for_chunks(body, task, task.chunks, threads)
        for k in range(task.chunks):
            if task.other[k]:
                return False
        task.start += task.size
        if task.start < size:
            PyErr_CheckSignals()
            with nogil:
                pass
    return True


cdef void hash_chunk(void *arg, Py_ssize_t k) noexcept nogil:
    cdef strings_task *task = <strings_task *>arg
    cdef PyObject **items = task.items + task.start
    cdef Py_ssize_t i, stop = chunk_start(task.size, task.chunks, k + 1)
    cdef letters_t letters
    cdef uint64_t hash
    for i in range(chunk_start(task.size, task.chunks, k), stop):
        prefetch(items, i + AHEAD, stop)
        if not is_string(items[i], task.are_bytes):
            task.other[k] = True
            return
        letters = letters_of(items[i], task.are_bytes)
        hash = fs_hash_bytes(
            letters.data, letters.length * letters.width, task.seed, task.factor)
        task.out[task.start + i] = hash + letters.width * task.factor


cdef void compare_chunk(void *arg, Py_ssize_t k) noexcept nogil:
    cdef strings_task *task = <strings_task *>arg
    cdef PyObject **items = task.items + task.start
    cdef const intptr_t *numbers = task.numbers + task.start
    cdef Py_ssize_t i, stop = chunk_start(task.size, task.chunks, k + 1)
    cdef PyObject *item
    cdef PyObject *value
    cdef letters_t a, b
    for i in range(chunk_start(task.size, task.chunks, k), stop):
        if i + AHEAD < stop:
            value = task.values[numbers[i + AHEAD]]
            if value != items[i + AHEAD]:
                prefetch(items, i + AHEAD, stop)
                fs_prefetch(<const char *>value)
        item, value = items[i], task.values[numbers[i]]
        if item == value:
            continue
        if not (is_string(item, task.are_bytes) and is_string(value, task.are_bytes)):
            task.other[k] = True
            return
        a, b = letters_of(item, task.are_bytes), letters_of(value, task.are_bytes)
        if (a.length != b.length or a.width != b.width
                or memcmp(a.data, b.data, a.length * a.width)):
            task.other[k] = True
            return


cdef void measure_chunk(void *arg, Py_ssize_t k) noexcept nogil:
    """How many letters are those of the first string, and how wide they are."""
    cdef strings_task *task = <strings_task *>arg
    cdef PyObject **items = task.items + task.start
    cdef Py_ssize_t i, alike = task.alike[k], stop = chunk_start(task.size, task.chunks, k + 1)
    cdef letters_t first, letters
    cdef int width = task.widths[k]
    if not is_string(task.items[0], task.are_bytes):
        task.other[k] = True
        return
    first = letters_of(task.items[0], task.are_bytes)
    for i in range(chunk_start(task.size, task.chunks, k), stop):
        prefetch(items, i + AHEAD, stop)
        if not is_string(items[i], task.are_bytes):
            task.other[k] = True
            return
        letters = letters_of(items[i], task.are_bytes)
        width = max(width, letters.width)
        alike = alike_letters(&first, &letters, min(alike, min(first.length, letters.length)))
    task.alike[k], task.widths[k] = alike, width


cdef void write_chunk(void *arg, Py_ssize_t k) noexcept nogil:
    cdef strings_task *task = <strings_task *>arg
    cdef PyObject **items = task.items + task.start
    cdef Py_ssize_t i, j, stop = chunk_start(task.size, task.chunks, k + 1)
    cdef letters_t letters
    cdef uint64_t word
    for i in range(chunk_start(task.size, task.chunks, k), stop):
        prefetch(items, i + AHEAD, stop)
        if not is_string(items[i], task.are_bytes):
            task.other[k] = True
            return
        letters = letters_of(items[i], task.are_bytes)
        word = 0
        for j in range(task.skipped, task.skipped + 64 // task.bits):
            word <<= task.bits
            if j < letters.length:
                word |= PyUnicode_READ(letters.width, letters.data, j)
        task.out[task.start + i] = word


cdef inline Py_ssize_t alike_letters(const letters_t *a, const letters_t *b,
                                     Py_ssize_t most) noexcept nogil:
    """How many letters at the start are the same, of so many."""
    cdef Py_ssize_t j
    for j in range(most):
        if PyUnicode_READ(a.width, a.data, j) != PyUnicode_READ(b.width, b.data, j):
            return j
    return most


cdef inline void prefetch(PyObject **items, Py_ssize_t i, Py_ssize_t stop) noexcept nogil:
    """Ask for a string: its head, and the first letters, which may be in the next cache line."""
    if i < stop:
        fs_prefetch(<const char *>items[i])
        fs_prefetch(<const char *>items[i] + LETTERS)


cdef inline bint is_string(PyObject *item, bint is_bytes) noexcept nogil:
    if item == NULL:
        return False
    return PyBytes_CheckExact(item) if is_bytes else PyUnicode_CheckExact(item)


cdef inline letters_t letters_of(PyObject *string, bint is_bytes) noexcept nogil:
    cdef letters_t letters
    if is_bytes:
        letters.data, letters.length = PyBytes_AS_STRING(string), PyBytes_GET_SIZE(string)
        letters.width = 1
    else:
        letters.data, letters.length = <char *>PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)
        letters.width = PyUnicode_KIND(string)
    return letters


cdef inline int compare(PyObject *string, PyObject *next, bint are_bytes) noexcept:
    """1 if the next string is more, 0 if it is the same, -1 if it is less."""
    cdef letters_t a, b
    cdef int order
    if string == next:
        return 0
    a, b = letters_of(string, are_bytes), letters_of(next, are_bytes)
    if a.width > 1 or b.width > 1:
        return -PyUnicode_Compare(string, next)
    order = memcmp(b.data, a.data, min(a.length, b.length))
    if order == 0:
        order = (b.length > a.length) - (b.length < a.length)
    return (order > 0) - (order < 0)
