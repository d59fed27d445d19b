"""Groups in an array of Python objects. Objects are equal if a dict treats them as the same key.

`groups_of_objects` reads each item of the array once, and its dict holds a reference to the first
object of each group. So `__hash__`, `__eq__` and signal handlers may change the array. The
functions hold the GIL; `groups_of_objects` lets other threads have it after every ROUND_OBJECTS
objects. In a build of Python without a GIL, no other thread may use the array: the caller passes a
copy.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport intptr_t

from fastsel._core.results cimport new_result
from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.keys cimport AHEAD

cdef enum:
    ROUND_OBJECTS = 64    # objects between two checks for signals


def groups_of_objects(cnp.ndarray items not None, bint with_inverse):
    """(first_positions, inverse) of a 1-d, contiguous array of objects. Groups are in order of
    first occurrence. first_positions is a list; the inverse is None unless with_inverse. Errors of
    `__hash__` and `__eq__` are raised."""
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(items)
    cdef PyObject **objects = <PyObject **>cnp.PyArray_DATA(items)
    cdef Py_ssize_t[::1] inverse = None
    cdef object inverse_out = None
    cdef dict groups = {}
    cdef list first_positions = []
    cdef object new_group = 0, group
    cdef Py_ssize_t i
    assert cnp.PyArray_ISCARRAY_RO(items)
    if with_inverse:
        inverse = inverse_out = new_result(size, cnp.NPY_INTP)
    for i in range(size):
        group = groups.setdefault(<object>objects[i] if objects[i] != NULL else None, new_group)
        if group is new_group:
            first_positions.append(i)
            new_group = len(first_positions)
        if with_inverse:
            inverse[i] = group
        if (i + 1) % ROUND_OBJECTS == 0:
            PyErr_CheckSignals()
            with nogil:
                pass
    return first_positions, inverse_out


def take_objects(cnp.ndarray items not None, cnp.ndarray positions not None):
    """items[positions] of a 1-d, contiguous array of objects. Unlike np.take, it prefetches the
    objects before their reference counts change."""
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(positions), limit = cnp.PyArray_SIZE(items)
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_OBJECT, 0)
    cdef PyObject **objects = <PyObject **>cnp.PyArray_DATA(items)
    cdef PyObject **values = <PyObject **>cnp.PyArray_DATA(out)
    cdef const intptr_t *indices = <const intptr_t *>cnp.PyArray_DATA(positions)
    cdef PyObject *item
    cdef Py_ssize_t i
    assert cnp.PyArray_ISCARRAY_RO(items) and cnp.PyArray_ISCARRAY_RO(positions)
    for i in range(size):
        assert 0 <= indices[i] < limit
        if i + AHEAD < size and 0 <= indices[i + AHEAD] < limit:
            fs_prefetch(<const char *>objects[indices[i + AHEAD]])
        item = objects[indices[i]]
        if item == NULL:            # NumPy reads NULL as None
            item = <PyObject *>None
        Py_INCREF(<object>item)
        item, values[i] = values[i], item
        Py_XDECREF(item)
    return out
