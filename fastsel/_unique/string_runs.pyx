"""Whether str or bytes objects are in order already. All happens under the GIL, or where there is
none, on an array that no other thread has; no code of the objects runs, and no reference count
changes."""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.string cimport memcmp

from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD
from fastsel._unique.objects cimport ROUND

cdef extern from "Python.h" nogil:
    bint PyUnicode_CheckExact(PyObject *string)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *string)
    int PyUnicode_KIND(PyObject *string)
    const void *PyUnicode_DATA(PyObject *string)
    bint PyBytes_CheckExact(PyObject *string)
    Py_ssize_t PyBytes_GET_SIZE(PyObject *string)
    const char *PyBytes_AS_STRING(PyObject *string)
    int PyUnicode_Compare(PyObject *string, PyObject *other)

cnp.import_array()

ctypedef struct string_t:
    const void *letters
    Py_ssize_t length
    int width               # bytes of a letter


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


cdef inline bint is_string(PyObject *item, bint is_bytes) noexcept:
    if item == NULL:
        return False
    return PyBytes_CheckExact(item) if is_bytes else PyUnicode_CheckExact(item)


cdef inline int compare(PyObject *string, PyObject *next, bint are_bytes) noexcept:
    """1 if the next string is more, 0 if it is the same, -1 if it is less."""
    cdef string_t a = string_of(string), b = string_of(next)
    cdef int order = 0
    if string == next:
        return 0
    if not are_bytes and (a.width > 1 or b.width > 1):
        return -PyUnicode_Compare(string, next)
    order = memcmp(b.letters, a.letters, min(a.length, b.length))
    if order == 0:
        order = (b.length > a.length) - (b.length < a.length)
    return (order > 0) - (order < 0)


cdef inline string_t string_of(PyObject *object) noexcept:
    cdef string_t string
    if PyBytes_CheckExact(object):
        string.letters, string.length = PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)
        string.width = 1
    else:
        string.letters, string.length = PyUnicode_DATA(object), PyUnicode_GET_LENGTH(object)
        string.width = PyUnicode_KIND(object)
    return string
