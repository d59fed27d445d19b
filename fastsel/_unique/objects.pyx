"""First occurrences in an array of Python objects, by their own hash and equality.

Equal objects are one group. The object in hand and the first one of each group are held by a
reference: `__hash__`, `__eq__` and signal handlers may do with the array what they like, and each
of its items is read once. All happens under the GIL, which other threads may have between rounds;
where there is none, the array is one that no other thread has.
"""
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport intptr_t, uint64_t

from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport give, take, take_zeros
from fastsel._simd.blocks cimport fs_prefetch
from fastsel._unique.hash_table cimport FIRST_SLOT_BITS
from fastsel._unique.keys cimport AHEAD

cdef extern from "Python.h":
    Py_hash_t PyObject_Hash(object item) except? -1   # by Cython a long, half of it on Windows

cdef extern from "hashing.h" nogil:
    uint64_t fs_fold(uint64_t a, uint64_t b)

cnp.import_array()

cdef enum:
    ROUND = 64            # objects between two checks for signals
    NUMBER_BITS = 40      # of a slot; the others are bits of the hash

ctypedef struct group_t:
    PyObject *object      # the first of them
    uint64_t hash
    Py_ssize_t first      # its position
    Py_ssize_t count


cdef class Groups:
    """The groups seen so far, in order of first occurrence, and a table of them: open addressing,
    linear probing, at most half full. There is no limit to the probes: nothing but their hash tells
    apart objects that have no order."""
    cdef group_t *groups
    cdef Py_ssize_t length
    cdef uint64_t *slots  # number of the group plus one, and bits of its hash; 0: empty
    cdef int slot_bits
    cdef uint64_t seed, factor

    def __init__(self, tuple seeds not None):
        self.seed, self.factor = seeds
        self.resize(FIRST_SLOT_BITS)

    cdef int resize(self, int slot_bits) except -1:
        """For half as many groups as there are slots."""
        cdef uint64_t *slots = <uint64_t *>take_zeros(sizeof(uint64_t) << slot_bits)
        cdef group_t *groups = <group_t *>take(sizeof(group_t) << (slot_bits - 1))
        cdef Py_ssize_t k, at, mask = (<Py_ssize_t>1 << slot_bits) - 1
        if slots == NULL or groups == NULL:
            give(slots)
            give(groups)
            raise MemoryError()
        for k in range(self.length):
            groups[k] = self.groups[k]
            at = <Py_ssize_t>(groups[k].hash >> (64 - slot_bits))
            while slots[at]:
                at = (at + 1) & mask
            slots[at] = slot_of(groups[k].hash, k)
        give(self.slots)
        give(self.groups)
        self.slots, self.groups, self.slot_bits = slots, groups, slot_bits
        return 0

    cdef Py_ssize_t find(self, object item, Py_ssize_t position) except -1:
        """The number of the object's group."""
        cdef uint64_t hash = fs_fold(<uint64_t>PyObject_Hash(item) ^ self.seed, self.factor)
        cdef Py_ssize_t mask = (<Py_ssize_t>1 << self.slot_bits) - 1, number
        cdef Py_ssize_t at = <Py_ssize_t>(hash >> (64 - self.slot_bits))
        while self.slots[at]:
            number = number_in(self.slots[at])
            if self.slots[at] == slot_of(hash, number) and self.groups[number].hash == hash:
                if PyObject_RichCompareBool(<object>self.groups[number].object, item, Py_EQ):
                    self.groups[number].count += 1
                    return number
            at = (at + 1) & mask
        number = self.length
        Py_INCREF(item)
        self.groups[number] = group_t(<PyObject *>item, hash, position, 1)
        self.slots[at] = slot_of(hash, number)
        self.length += 1
        if 2 * self.length > mask:
            self.resize(self.slot_bits + 2)
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
            objects[k], self.groups[k].object = self.groups[k].object, objects[k]
            (<Py_ssize_t *>cnp.PyArray_DATA(index))[k] = self.groups[k].first
            (<Py_ssize_t *>cnp.PyArray_DATA(counts))[k] = self.groups[k].count
        return values, index, counts

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.length):
            Py_XDECREF(self.groups[k].object)
        give(self.groups)
        give(self.slots)


def taken(cnp.ndarray items not None, cnp.ndarray positions not None):
    """items[positions] of a 1-d, contiguous array of objects: what np.take gives, in half the time
    or less, as the objects, whose references are counted, are asked for ahead."""
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(positions), limit = cnp.PyArray_SIZE(items)
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(1, &size, cnp.NPY_OBJECT, 0)
    cdef PyObject **objects = <PyObject **>cnp.PyArray_DATA(items)
    cdef PyObject **values = <PyObject **>cnp.PyArray_DATA(out)
    cdef const intptr_t *numbers = <const intptr_t *>cnp.PyArray_DATA(positions)
    cdef PyObject *item
    cdef Py_ssize_t i
    assert cnp.PyArray_ISCARRAY_RO(items) and cnp.PyArray_ISCARRAY_RO(positions)
    for i in range(size):
        assert 0 <= numbers[i] < limit
        if i + AHEAD < size and 0 <= numbers[i + AHEAD] < limit:
            fs_prefetch(<const char *>objects[numbers[i + AHEAD]])
        item = objects[numbers[i]]
        if item == NULL:            # as NumPy reads it
            item = <PyObject *>None
        Py_INCREF(<object>item)
        item, values[i] = values[i], item
        Py_XDECREF(item)
    return out


cdef inline uint64_t slot_of(uint64_t hash, Py_ssize_t number) noexcept:
    return hash << NUMBER_BITS | <uint64_t>(number + 1)


cdef inline Py_ssize_t number_in(uint64_t slot) noexcept:
    return <Py_ssize_t>(slot & ((<uint64_t>1 << NUMBER_BITS) - 1)) - 1


def first_objects(cnp.ndarray items not None, tuple seeds not None, bint inverse):
    """(values, index, inverse, counts) of a 1-d, contiguous array of objects, in order of first
    occurrence; the inverse is None if it is not wanted."""
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(items)
    cdef PyObject **objects = <PyObject **>cnp.PyArray_DATA(items)
    cdef Py_ssize_t *out = NULL
    cdef Py_ssize_t i, number
    cdef Groups groups = Groups(seeds)
    cdef cnp.ndarray labels = None
    assert cnp.PyArray_ISCARRAY_RO(items)
    if inverse:
        labels = new_result(1, &size, cnp.NPY_INTP)
        out = <Py_ssize_t *>cnp.PyArray_DATA(labels)
    for i in range(size):
        number = groups.find(<object>objects[i] if objects[i] != NULL else None, i)
        if out != NULL:
            out[i] = number
        if (i + 1) % ROUND == 0:
            PyErr_CheckSignals()
            with nogil:
                pass
    values, index, counts = groups.outputs()
    return values, index, labels, counts
