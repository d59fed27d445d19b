"""First occurrences in an array of Python objects, by their own hash and equality.

The objects' hashes are the keys of a table of groups (table.pxd); the few different objects whose
hashes are equal are linked to each other. The objects of a batch, and the first one of each group,
are held by a reference: `__hash__`, `__eq__` and signal handlers may do with the array what they
like, and each of its items is read once. All happens under the GIL, which other threads may have
between rounds.
"""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_CheckExact
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport (
    Py_EQ, Py_TYPE, PyObject, PyObject_Hash, PyObject_RichCompareBool, PyTypeObject)
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport (
    PyUnicode_CheckExact, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND)
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._kernels.blocks cimport fs_level, fs_level_t
from fastsel._kernels.keys cimport keys_t
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport give, take
from fastsel._kernels.table cimport find_or_add, look_up, table_free, table_start, table_t

cdef extern from "levels.h" nogil:
    void fs_prefetch(const char *p)

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX
    Py_ssize_t PY_SSIZE_T_MIN

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    BATCH = 128
    ROUND_BATCHES = 64    # a millisecond or two, if the objects are strings
    FIRST_ROOM = 64       # kinds
    NONE = -1

ctypedef PyObject *object_t

ctypedef struct kind_t:     # equal objects
    PyObject *object      # the first of them
    Py_ssize_t first      # its position
    Py_ssize_t count
    Py_ssize_t next       # another kind whose hash is the same, or NONE


cdef class Kinds:
    """The kinds met so far, in order of first occurrence."""
    cdef table_t table    # of hashes; the `first` of a group is the kind that had its hash first
    cdef keys_t keys
    cdef kind_t *kinds
    cdef Py_ssize_t length, room

    def __init__(self, tuple seeds not None):
        self.keys.is_word = True
        self.keys.seed, self.keys.factor = seeds
        self.room = FIRST_ROOM
        self.kinds = <kind_t *>take(self.room * sizeof(kind_t))
        if self.kinds == NULL or table_start(&self.table, &self.keys, PY_SSIZE_T_MAX, 0, 0):
            raise MemoryError()
        # Python's hashes are secret where they have to be, and so is ours: there is no other way
        # to tell objects apart that are not ordered, however long it takes.
        self.table.probes = PY_SSIZE_T_MIN

    cdef int find(self, Py_ssize_t start, PyObject **objects, Py_ssize_t n,
                  Py_ssize_t *numbers) except -1:
        """The kinds of n objects, which stand from `start` on."""
        cdef uint64_t[BATCH] hashes
        cdef uint16_t[BATCH] late
        cdef uint32_t[BATCH] groups
        cdef Py_ssize_t j, k, group
        for j in range(n):
            hashes[j] = <uint64_t>PyObject_Hash(<object>objects[j])
        for k in range(look_up(&self.table, &self.keys, level, hashes, n, late, groups)):
            groups[late[k]] = 0
        for j in range(n):
            if groups[j]:
                fs_prefetch(<const char *>self.kinds[self.first_of(groups[j] - 1)].object)
        for j in range(n):
            if groups[j] == 0:
                group = find_or_add(&self.table, &self.keys, self.length, hashes[j])
                if group < 0:
                    raise MemoryError()
                groups[j] = <uint32_t>group + 1
                if self.first_of(group) == self.length:
                    self.add(objects[j], start + j)
            numbers[j] = self.alike(objects[j], start + j, self.first_of(groups[j] - 1))
            self.kinds[numbers[j]].count += 1
        return 0

    cdef inline Py_ssize_t first_of(self, Py_ssize_t group) noexcept:
        """The kind that was the first of a group of one hash."""
        return self.table.groups[group].first

    cdef int add(self, PyObject *item, Py_ssize_t position) except -1:
        """A new kind."""
        cdef kind_t *larger
        if self.length == self.room:
            larger = <kind_t *>take(2 * self.room * sizeof(kind_t))
            if larger == NULL:
                raise MemoryError()
            memcpy(larger, self.kinds, self.length * sizeof(kind_t))
            give(self.kinds)
            self.kinds = larger
            self.room *= 2
        Py_INCREF(<object>item)
        self.kinds[self.length] = kind_t(item, position, 0, NONE)
        self.length += 1
        return 0

    cdef inline Py_ssize_t alike(self, PyObject *item, Py_ssize_t position,
                                 Py_ssize_t number) except -1:
        """The kind of an object, among those of its hash, of which `number` is the first; a new one
        if need be."""
        cdef PyObject *known = self.kinds[number].object
        while not are_equal(known, item):
            if self.kinds[number].next == NONE:
                self.kinds[number].next = self.length
                self.add(item, position)
                return self.length - 1
            number = self.kinds[number].next
            known = self.kinds[number].object
        return number

    def outputs(self):
        """(values, index, counts)."""
        cdef cnp.npy_intp length = self.length
        cdef cnp.ndarray values = cnp.PyArray_EMPTY(1, &length, cnp.NPY_OBJECT, 0)
        cdef cnp.ndarray index = new_result(1, &length, cnp.NPY_INTP)
        cdef cnp.ndarray counts = new_result(1, &length, cnp.NPY_INTP)
        cdef PyObject **objects = <PyObject **>cnp.PyArray_DATA(values)
        cdef Py_ssize_t k
        for k in range(length):
            objects[k], self.kinds[k].object = self.kinds[k].object, objects[k]
            (<Py_ssize_t *>cnp.PyArray_DATA(index))[k] = self.kinds[k].first
            (<Py_ssize_t *>cnp.PyArray_DATA(counts))[k] = self.kinds[k].count
        return values, index, counts

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.length):
            Py_XDECREF(self.kinds[k].object)
        give(self.kinds)
        table_free(&self.table)


def first_objects(cnp.ndarray items not None, bint only_strings, tuple seeds not None,
                  bint inverse):
    """(values, index, inverse, counts) of a 1-d, contiguous array of objects, in order of first
    occurrence; the inverse is None if it is not wanted. With only_strings None is returned unless
    all objects are str, or all bytes, and of no class derived from it.
    """
    cdef object_t[BATCH] objects
    cdef Py_ssize_t[BATCH] numbers
    cdef PyTypeObject *first_type = NULL
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(items)
    cdef const char *data = <const char *>cnp.PyArray_DATA(items)
    cdef Py_ssize_t *out = NULL
    cdef Py_ssize_t start = 0, n, batches = 0
    cdef Kinds kinds = Kinds(seeds)
    cdef cnp.ndarray labels = None
    if inverse:
        labels = new_result(1, &size, cnp.NPY_INTP)
        out = <Py_ssize_t *>cnp.PyArray_DATA(labels)
    while start < size:
        n = min(size - start, BATCH)
        load(data + start * sizeof(PyObject *), n, objects)
        prefetch(data, start + n, min(size, start + 2 * n))
        if only_strings:
            if not are_strings(objects, n, &first_type):
                return None
            kinds.find(start, objects, n, numbers)
        else:
            hold(objects, n)
            try:
                kinds.find(start, objects, n, numbers)
            finally:
                release(objects, n)
        if out != NULL:
            memcpy(out + start, numbers, n * sizeof(Py_ssize_t))
        start += n
        batches += 1
        if batches % ROUND_BATCHES == 0:
            PyErr_CheckSignals()
            with nogil:
                pass
    values, index, counts = kinds.outputs()
    return values, index, labels, counts


cdef inline int are_equal(PyObject *one, PyObject *other) except -1:
    if one == other:
        return True
    if PyUnicode_CheckExact(<object>one) and PyUnicode_CheckExact(<object>other):
        return (PyUnicode_GET_LENGTH(<object>one) == PyUnicode_GET_LENGTH(<object>other) and
                PyUnicode_KIND(<object>one) == PyUnicode_KIND(<object>other) and
                memcmp(PyUnicode_DATA(<object>one), PyUnicode_DATA(<object>other),
                       PyUnicode_GET_LENGTH(<object>one) * PyUnicode_KIND(<object>one)) == 0)
    return PyObject_RichCompareBool(<object>one, <object>other, Py_EQ)


cdef inline void load(const char *data, Py_ssize_t n, PyObject **objects) noexcept:
    cdef Py_ssize_t j
    memcpy(objects, data, n * sizeof(PyObject *))
    for j in range(n):
        if objects[j] == NULL:      # as NumPy reads it
            objects[j] = <PyObject *>None


cdef inline void prefetch(const char *data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """Ask for the heads of the objects that come next."""
    cdef Py_ssize_t i
    cdef const char *item
    for i in range(start, stop):
        memcpy(&item, data + i * sizeof(PyObject *), sizeof(PyObject *))
        fs_prefetch(item)


cdef void hold(PyObject **objects, Py_ssize_t n) noexcept:
    cdef Py_ssize_t j
    for j in range(n):
        Py_INCREF(<object>objects[j])


cdef void release(PyObject **objects, Py_ssize_t n) noexcept:
    cdef Py_ssize_t j
    for j in range(n):
        Py_XDECREF(objects[j])


cdef bint are_strings(PyObject **objects, Py_ssize_t n, PyTypeObject **type_of_all) noexcept:
    """Are all of them, and those before, str or all bytes?"""
    cdef Py_ssize_t j, others = 0
    if type_of_all[0] == NULL and (PyUnicode_CheckExact(<object>objects[0]) or
                                   PyBytes_CheckExact(<object>objects[0])):
        type_of_all[0] = Py_TYPE(<object>objects[0])
    for j in range(n):
        others += Py_TYPE(<object>objects[j]) != type_of_all[0]
    return others == 0
