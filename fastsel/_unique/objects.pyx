"""First occurrences in an array of Python objects, by their own hash and equality.

Equal objects are one group. The objects of a batch, unless all are strings, and the first one of
each group are held by a reference: `__hash__`, `__eq__` and signal handlers may do with the array
what they like, and each of its items is read once. All happens under the GIL, which other threads
may have between rounds; where there is none, the array is one that no other thread has.
"""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport (
    Py_EQ, Py_TYPE, PyObject, PyObject_Hash, PyObject_RichCompareBool, PyTypeObject)
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport (
    PyUnicode_CheckExact, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND)
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastsel._simd.blocks cimport fs_prefetch
from fastsel._core.results cimport new_result
from fastsel._core.scratch cimport give, take, take_zeros
from fastsel._unique.hash_table cimport FIRST_SLOT_BITS

cdef extern from *:
    """
    /* The hash that a str keeps, or -1; another thread may write it where there is no GIL. */
    static Py_hash_t fs_kept_hash(PyObject *string)
    {
    #if defined(_MSC_VER)
        return *(volatile Py_hash_t *)&((PyASCIIObject *)string)->hash;
    #else
        return __atomic_load_n(&((PyASCIIObject *)string)->hash, __ATOMIC_RELAXED);
    #endif
    }
    """
    Py_hash_t fs_kept_hash(PyObject *string)

cdef extern from "hashing.h" nogil:
    uint64_t fs_fold(uint64_t a, uint64_t b)

cnp.import_array()

cdef enum:
    BYTES = 3             # where other strings have the bytes of a letter
    LETTERS = 47          # where the first 8 letters of most str end, which come after 40 bytes
    BATCH = 64            # prefetches in flight (`compare.py --op unique_first --dtype object`)
    NUMBER_BITS = 40      # of a slot; the others are bits of the hash

cdef uint64_t NO_STRING = <uint64_t>-1

ctypedef PyObject *object_t

# Enough to tell most strings apart without reading them; of a short one, all of it.
ctypedef struct string_t:
    uint64_t form         # bytes, and bytes of a letter; NO_STRING: neither str nor bytes
    uint64_t head         # the first bytes, and the last ones, which may be the same
    uint64_t tail

ctypedef struct group_t:
    PyObject *object      # the first of them
    uint64_t hash
    Py_ssize_t first      # its position
    Py_ssize_t count
    string_t string


cdef class Groups:
    """The groups seen so far, in order of first occurrence, and a table of them: open addressing,
    linear probing, at most half full. There is no limit to the probes: the hashes of strings are
    secret, and nothing else tells apart objects that have no order."""
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

    cdef int find(self, Py_ssize_t start, PyObject **objects, Py_ssize_t n,
                  Py_ssize_t *numbers) except -1:
        """The groups of n objects, of which the first has position `start`."""
        cdef uint64_t[BATCH] hashes
        cdef string_t[BATCH] strings
        cdef uint64_t slot
        cdef Py_ssize_t j
        for j in range(n):
            hashes[j] = fs_fold(hash_of(objects[j]) ^ self.seed, self.factor)
            fs_prefetch(<const char *>&self.slots[hashes[j] >> (64 - self.slot_bits)])
        for j in range(n):
            describe_string(&strings[j], objects[j])
            slot = self.slots[hashes[j] >> (64 - self.slot_bits)]
            if slot:
                fs_prefetch(<const char *>&self.groups[number_in(slot)])
        for j in range(n):
            slot = self.slots[hashes[j] >> (64 - self.slot_bits)]
            if slot and not is_whole(&strings[j]):
                fs_prefetch(<const char *>self.groups[number_in(slot)].object)
        for j in range(n):
            numbers[j] = self.find_one(objects[j], hashes[j], &strings[j], start + j)
            self.groups[numbers[j]].count += 1
        return 0

    cdef inline Py_ssize_t find_one(self, PyObject *item, uint64_t hash, const string_t *string,
                                    Py_ssize_t position) except -1:
        cdef Py_ssize_t mask = (<Py_ssize_t>1 << self.slot_bits) - 1, number = self.length
        cdef Py_ssize_t at = <Py_ssize_t>(hash >> (64 - self.slot_bits))
        cdef group_t *group
        while self.slots[at]:
            number = number_in(self.slots[at])
            if self.slots[at] == slot_of(hash, number) and self.groups[number].hash == hash:
                if are_equal(&self.groups[number], item, string):
                    return number
            at = (at + 1) & mask
        number = self.length
        Py_INCREF(<object>item)
        group = &self.groups[number]
        group.object, group.hash, group.first, group.count = item, hash, position, 0
        group.string = string[0]
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


cdef inline uint64_t hash_of(PyObject *item) except? 0:
    """Most strings keep theirs."""
    cdef Py_hash_t hash = -1
    if PyUnicode_CheckExact(<object>item):
        hash = fs_kept_hash(item)
    return <uint64_t>(PyObject_Hash(<object>item) if hash == -1 else hash)


cdef inline uint64_t slot_of(uint64_t hash, Py_ssize_t number) noexcept:
    return hash << NUMBER_BITS | <uint64_t>(number + 1)


cdef inline Py_ssize_t number_in(uint64_t slot) noexcept:
    return <Py_ssize_t>(slot & ((<uint64_t>1 << NUMBER_BITS) - 1)) - 1


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
    cdef Py_ssize_t start = 0, n
    cdef Groups groups = Groups(seeds)
    cdef cnp.ndarray labels = None
    assert cnp.PyArray_IS_C_CONTIGUOUS(items)
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
            groups.find(start, objects, n, numbers)
        else:
            hold(objects, n)
            try:
                groups.find(start, objects, n, numbers)
            finally:
                release(objects, n)
        if out != NULL:
            memcpy(out + start, numbers, n * sizeof(Py_ssize_t))
        start += n
        if not only_strings or start % ROUND == 0:
            PyErr_CheckSignals()
            with nogil:
                pass
    values, index, counts = groups.outputs()
    return values, index, labels, counts


cdef inline void describe_string(string_t *string, PyObject *item) noexcept:
    cdef const char *letters
    cdef Py_ssize_t size, letter, middle, last
    cdef uint32_t head = 0, tail = 0
    if PyUnicode_CheckExact(<object>item):
        letters = <const char *>PyUnicode_DATA(<object>item)
        letter = PyUnicode_KIND(<object>item)
        size = PyUnicode_GET_LENGTH(<object>item) * letter
    elif PyBytes_CheckExact(<object>item):
        letters = PyBytes_AS_STRING(<object>item)
        letter = BYTES
        size = PyBytes_GET_SIZE(<object>item)
    else:
        string.form = NO_STRING
        return
    string.form = <uint64_t>size << 3 | <uint64_t>letter
    if size >= 8:
        memcpy(&string.head, letters, 8)
        memcpy(&string.tail, letters + size - 8, 8)
    elif size >= 4:
        memcpy(&head, letters, 4)
        memcpy(&tail, letters + size - 4, 4)
        string.head, string.tail = head, tail
    else:           # of 0 bytes the first is the NUL behind them
        middle, last = size >> 1, size - (size > 0)
        head = <uint8_t>letters[0]
        head |= <uint32_t><uint8_t>letters[middle] << 8 | <uint32_t><uint8_t>letters[last] << 16
        string.head, string.tail = head, 0


cdef inline bint is_whole(const string_t *string) noexcept:
    """Is that all of it?"""
    return string.form >> 3 <= 16


cdef inline int are_equal(const group_t *group, PyObject *item, const string_t *string) except -1:
    """Is the object of that group?"""
    if group.object == item:
        return True
    if group.string.form == NO_STRING or string.form == NO_STRING:
        return PyObject_RichCompareBool(<object>group.object, <object>item, Py_EQ)
    if (group.string.form != string.form or group.string.head != string.head
            or group.string.tail != string.tail):
        return False
    return is_whole(string) or memcmp(
        letters_of(group.object), letters_of(item), string.form >> 3) == 0


cdef inline const char *letters_of(PyObject *string) noexcept:
    if PyUnicode_CheckExact(<object>string):
        return <const char *>PyUnicode_DATA(<object>string)
    return PyBytes_AS_STRING(<object>string)


cdef inline void load(const char *data, Py_ssize_t n, PyObject **objects) noexcept:
    cdef Py_ssize_t j
    memcpy(objects, data, n * sizeof(PyObject *))
    for j in range(n):
        if objects[j] == NULL:      # as NumPy reads it
            objects[j] = <PyObject *>None


cdef inline void prefetch(const char *data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """Ask for the objects that come next: the head, which says where its hash is and how long a
    string is, and the first letters, which may be in the next line of the cache."""
    cdef Py_ssize_t i
    cdef const char *item
    for i in range(start, stop):
        memcpy(&item, data + i * sizeof(PyObject *), sizeof(PyObject *))
        fs_prefetch(item)
        fs_prefetch(item + LETTERS)


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
