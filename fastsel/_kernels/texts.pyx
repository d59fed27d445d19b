"""str and bytes objects in ascending order: whether they are, and their letters as words that are
ordered as they are.

Nothing here runs code of the objects or changes a reference count: the array that holds them must
be the caller's alone, except for runs_of, which looks at them under the GIL.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp

from fastsel._kernels.blocks cimport fs_prefetch
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport for_slices, slice_count, slice_start

cdef extern from "Python.h" nogil:
    bint PyUnicode_CheckExact(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)
    int PyUnicode_KIND(PyObject *text)
    const void *PyUnicode_DATA(PyObject *text)
    bint PyBytes_CheckExact(PyObject *text)
    Py_ssize_t PyBytes_GET_SIZE(PyObject *text)
    const char *PyBytes_AS_STRING(PyObject *text)
    int PyUnicode_Compare(PyObject *text, PyObject *other)

cnp.import_array()

cdef enum:
    WORD = 8                # bytes
    TEXT_BYTES = 128        # about what is read of one
    LOOKED_AFTER = 1 << 16  # texts, for signals
    AHEAD = 16              # texts, of which the head is asked for

ctypedef struct text_t:
    const void *letters
    Py_ssize_t length
    int width               # bytes of a letter

ctypedef fused letter_t:
    uint8_t
    uint16_t
    uint32_t

ctypedef struct columns_task:
    PyObject **texts
    Py_ssize_t size
    Py_ssize_t slices
    Py_ssize_t columns
    int width               # bytes of a letter of the columns
    uint64_t *words         # [column][text]
    bint *has_nul           # per slice


def runs_of(cnp.ndarray texts not None):
    """(starts, direction) of n > 0 objects that are all str or all bytes and in order: where those
    differ that come one after the other, and 1 if they ascend, -1 if they descend. None for others.
    """
    cdef PyObject **items = <PyObject **>cnp.PyArray_DATA(texts)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(texts)
    cdef cnp.ndarray starts = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INTP, 0)
    cdef Py_ssize_t *out = <Py_ssize_t *>cnp.PyArray_DATA(starts)
    cdef Py_ssize_t i, runs = 1
    cdef bint are_bytes = items[0] != NULL and PyBytes_CheckExact(items[0])
    cdef int turn, direction = 0
    assert cnp.PyArray_ISCARRAY_RO(texts)
    out[0] = 0
    if not is_text(items[0], are_bytes):
        return None
    for i in range(1, size):
        if i % LOOKED_AFTER == 0:
            PyErr_CheckSignals()
            if not is_text(items[i - 1], are_bytes):    # a handler may have put others there
                return None
        if i + AHEAD < size:
            fs_prefetch(<const char *>items[i + AHEAD])
        if not is_text(items[i], are_bytes):
            return None
        turn = compare(items[i - 1], items[i], are_bytes)
        if turn:
            if turn == -direction:
                return None
            direction = turn
            out[runs] = i
            runs += 1
    return starts[:runs].copy(), direction or 1


cdef inline bint is_text(PyObject *item, bint is_bytes) noexcept:
    if item == NULL:
        return False
    return PyBytes_CheckExact(item) if is_bytes else PyUnicode_CheckExact(item)


cdef inline int compare(PyObject *text, PyObject *next, bint are_bytes) noexcept:
    """1 if the next text is more, 0 if it is the same, -1 if it is less."""
    cdef text_t a = text_of(text), b = text_of(next)
    cdef int order = 0
    if text == next:
        return 0
    if not are_bytes and (a.width > 1 or b.width > 1):
        return -PyUnicode_Compare(text, next)
    order = memcmp(b.letters, a.letters, min(a.length, b.length))
    if order == 0:
        order = (b.length > a.length) - (b.length < a.length)
    return (order > 0) - (order < 0)


def columns_of(cnp.ndarray texts not None, Py_ssize_t most, int threads):
    """uint64 array (columns, n) of n > 0 objects, all str or all bytes: where texts differ, the
    first column that differs says which one is less.

    None for objects of other classes, texts that need more than `most` columns, and those with a
    NUL, which would look like their end.
    """
    cdef columns_task task
    cdef text_t text
    cdef Py_ssize_t i, longest = 1
    cdef cnp.npy_intp[2] shape
    cdef bint are_bytes, has_nul = False
    cdef Scratch scratch = Scratch()
    assert cnp.PyArray_ISCARRAY_RO(texts)
    task.texts = <PyObject **>cnp.PyArray_DATA(texts)
    task.size = cnp.PyArray_SIZE(texts)
    task.width = 1
    are_bytes = PyBytes_CheckExact(task.texts[0])
    for i in range(task.size):
        if i % LOOKED_AFTER == 0:
            PyErr_CheckSignals()
        if not (PyBytes_CheckExact(task.texts[i]) if are_bytes
                else PyUnicode_CheckExact(task.texts[i])):
            return None
        text = text_of(task.texts[i])
        longest = max(longest, text.length)
        task.width = max(task.width, text.width)
    task.columns = (longest * task.width + WORD - 1) // WORD
    if task.columns > most:
        return None
    shape[0], shape[1] = task.columns, task.size
    words = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT64, 0)
    task.words = <uint64_t *>cnp.PyArray_DATA(words)
    task.slices = slice_count(task.size, threads, TEXT_BYTES)
    task.has_nul = <bint *>scratch.take(task.slices * sizeof(bint))
    with nogil:
        for_slices(columns_slice, &task, task.slices, threads)
    for i in range(task.slices):
        has_nul |= task.has_nul[i]
    return None if has_nul else words


def moved_into_order(cnp.ndarray texts not None, const Py_ssize_t[::1] order not None):
    """A new array of the objects; the old one holds none of them any more. `order` must be a
    permutation."""
    cdef cnp.npy_intp length = order.shape[0]
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &length, cnp.NPY_OBJECT, 0)
    cdef PyObject **source = <PyObject **>cnp.PyArray_DATA(texts)
    cdef PyObject **target = <PyObject **>cnp.PyArray_DATA(out)
    cdef Py_ssize_t k
    for k in range(length):     # a swap: each reference has one place all the time
        target[k], source[order[k]] = source[order[k]], target[k]
    return out


cdef inline text_t text_of(PyObject *object) noexcept nogil:
    cdef text_t text
    if PyBytes_CheckExact(object):
        text.letters, text.length = PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)
        text.width = 1
    else:
        text.letters, text.length = PyUnicode_DATA(object), PyUnicode_GET_LENGTH(object)
        text.width = PyUnicode_KIND(object)
    return text


cdef void columns_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef columns_task *task = <columns_task *>context
    cdef Py_ssize_t i
    cdef text_t text
    cdef bint has_nul = False
    for i in range(slice_start(task.size, task.slices, k),
                   slice_start(task.size, task.slices, k + 1)):
        text = text_of(task.texts[i])
        if text.width == 1:
            has_nul |= write_words(task, i, <const uint8_t *>text.letters, text.length)
        elif text.width == 2:
            has_nul |= write_words(task, i, <const uint16_t *>text.letters, text.length)
        else:
            has_nul |= write_words(task, i, <const uint32_t *>text.letters, text.length)
    task.has_nul[k] = has_nul


cdef inline bint write_words(const columns_task *task, Py_ssize_t i, const letter_t *letters,
                             Py_ssize_t length) noexcept nogil:
    """The words of text i, its first letter in the top bits; has it a NUL?"""
    cdef Py_ssize_t column, j = 0, stop, per_word = WORD // task.width
    cdef int bits = 8 * task.width
    cdef bint has_nul = False
    cdef uint64_t word
    for column in range(task.columns):
        word = 0
        stop = (column + 1) * per_word
        while j < min(length, stop):
            has_nul |= letters[j] == 0
            word = word << bits | letters[j]
            j += 1
        if j > stop - per_word:
            word = word << bits * (stop - j)
        task.words[column * task.size + i] = word
    return has_nul
