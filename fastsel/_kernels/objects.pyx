"""First occurrences in an array of Python objects, by their own hash and equality.

Equal objects are one kind. The objects of a batch, unless all are strings, and the first one of
each kind are held by a reference: `__hash__`, `__eq__` and signal handlers may do with the array
what they like, and each of its items is read once. All happens under the GIL, which other threads
may have between rounds.
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

from fastsel._kernels.blocks cimport fs_prefetch
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport give, take, take_zeros

cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash

cdef extern from "hashing.h" nogil:
    uint64_t fs_fold(uint64_t a, uint64_t b)

cnp.import_array()

cdef enum:
    BYTES = 3             # where other texts have the bytes of a letter
    LETTERS = 47          # where the first 8 letters of most str end, which come after 40 bytes
    # 1e6 str of 1e3 groups take 9.2 ms with this, 10.1 with 32 and 12 with 256 (`compare.py --op
    # unique_first --dtype object --size 1e6`).
    BATCH = 64
    ROUND_BATCHES = 128   # of strings: a millisecond or two
    FIRST_BITS = 10
    NUMBER_BITS = 40      # of a slot; the others are those of the hash that slots do not tell apart
    # Up to so many kinds tables grow to eight times their size; then to what all objects need if
    # they are like those so far, and to four times at most.
    MANY_KINDS = 1 << 13

cdef uint64_t NO_TEXT = <uint64_t>-1

ctypedef PyObject *object_t

# What tells texts apart, without a look at them again, and all of them that are short.
ctypedef struct text_t:
    uint64_t form         # bytes, and bytes of a letter; NO_TEXT: neither str nor bytes
    uint64_t head         # the first bytes, and the last ones, which may be the same
    uint64_t tail

ctypedef struct kind_t:
    PyObject *object      # the first of them
    uint64_t hash
    Py_ssize_t first      # its position
    Py_ssize_t count
    text_t text


cdef class Kinds:
    """The kinds met so far, in order of first occurrence, and a table of them: open addressing,
    linear probing, at most half full. There is no limit to the probes: the hashes of texts are
    secret, and nothing else tells apart objects that have no order."""
    cdef kind_t *kinds
    cdef Py_ssize_t length
    cdef uint64_t *slots  # number of the kind plus one, and bits of its hash; 0: empty
    cdef int slot_bits
    cdef uint64_t seed, factor
    cdef Py_ssize_t size  # objects to come, in all

    def __init__(self, Py_ssize_t size, tuple seeds not None):
        self.seed, self.factor = seeds
        self.size = size
        self.make_room(FIRST_BITS)

    cdef int make_room(self, int slot_bits) except -1:
        """For half as many kinds as there are slots."""
        cdef uint64_t *slots = <uint64_t *>take_zeros(sizeof(uint64_t) << slot_bits)
        cdef kind_t *kinds = <kind_t *>take(sizeof(kind_t) << (slot_bits - 1))
        cdef Py_ssize_t k, at, mask = (<Py_ssize_t>1 << slot_bits) - 1
        if slots == NULL or kinds == NULL:
            give(slots)
            give(kinds)
            raise MemoryError()
        for k in range(self.length):
            kinds[k] = self.kinds[k]
            at = <Py_ssize_t>(kinds[k].hash >> (64 - slot_bits))
            while slots[at]:
                at = (at + 1) & mask
            slots[at] = slot_of(kinds[k].hash, k)
        give(self.slots)
        give(self.kinds)
        self.slots, self.kinds, self.slot_bits = slots, kinds, slot_bits
        return 0

    cdef int find(self, Py_ssize_t start, PyObject **objects, Py_ssize_t n,
                  Py_ssize_t *numbers) except -1:
        """The kinds of n objects, which stand from `start` on."""
        cdef uint64_t[BATCH] hashes
        cdef text_t[BATCH] texts
        cdef uint64_t slot
        cdef Py_ssize_t j
        for j in range(n):
            hashes[j] = fs_fold(hash_of(objects[j]) ^ self.seed, self.factor)
            fs_prefetch(<const char *>&self.slots[hashes[j] >> (64 - self.slot_bits)])
        for j in range(n):
            describe_text(&texts[j], objects[j])
            slot = self.slots[hashes[j] >> (64 - self.slot_bits)]
            if slot:
                fs_prefetch(<const char *>&self.kinds[number_in(slot)])
        for j in range(n):
            slot = self.slots[hashes[j] >> (64 - self.slot_bits)]
            if slot and not is_told(&texts[j]):
                fs_prefetch(<const char *>self.kinds[number_in(slot)].object)
        for j in range(n):
            numbers[j] = self.find_one(objects[j], hashes[j], &texts[j], start + j)
            self.kinds[numbers[j]].count += 1
        return 0

    cdef inline Py_ssize_t find_one(self, PyObject *item, uint64_t hash, const text_t *text,
                                    Py_ssize_t position) except -1:
        cdef Py_ssize_t mask = (<Py_ssize_t>1 << self.slot_bits) - 1, number = self.length
        cdef Py_ssize_t at = <Py_ssize_t>(hash >> (64 - self.slot_bits))
        while self.slots[at]:
            number = number_in(self.slots[at])
            if self.slots[at] == slot_of(hash, number) and self.kinds[number].hash == hash:
                if are_equal(&self.kinds[number], item, text):
                    return number
            at = (at + 1) & mask
        number = self.length
        Py_INCREF(<object>item)
        self.kinds[number] = kind_t(item, hash, position, 0, text[0])
        self.slots[at] = slot_of(hash, number)
        self.length += 1
        if 2 * self.length > mask:
            self.grow(position + 1)
        return number

    cdef int grow(self, Py_ssize_t seen) except -1:
        cdef int bits = self.slot_bits + (3 if self.length < MANY_KINDS else 1)
        cdef Py_ssize_t kinds = min(self.length * min(self.size // seen + 1, 4), self.size)
        while self.length >= MANY_KINDS and <Py_ssize_t>1 << (bits - 1) < kinds:
            bits += 1
        return self.make_room(bits)

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
        give(self.slots)


cdef inline uint64_t hash_of(PyObject *item) except? 0:
    """Most texts keep theirs."""
    cdef Py_hash_t hash = -1
    if PyUnicode_CheckExact(<object>item):
        hash = (<PyASCIIObject *>item).hash
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
    cdef Py_ssize_t start = 0, n, batches = 0
    cdef Kinds kinds = Kinds(size, seeds)
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
        if not only_strings or batches % ROUND_BATCHES == 0:
            PyErr_CheckSignals()
            with nogil:
                pass
    values, index, counts = kinds.outputs()
    return values, index, labels, counts


cdef inline void describe_text(text_t *text, PyObject *item) noexcept:
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
        text.form = NO_TEXT
        return
    text.form = <uint64_t>size << 3 | <uint64_t>letter
    if size >= 8:
        memcpy(&text.head, letters, 8)
        memcpy(&text.tail, letters + size - 8, 8)
    elif size >= 4:
        memcpy(&head, letters, 4)
        memcpy(&tail, letters + size - 4, 4)
        text.head, text.tail = head, tail
    else:           # of 0 bytes the first is the NUL behind them
        middle, last = size >> 1, size - (size > 0)
        head = <uint8_t>letters[0]
        head |= <uint32_t><uint8_t>letters[middle] << 8 | <uint32_t><uint8_t>letters[last] << 16
        text.head, text.tail = head, 0


cdef inline bint is_told(const text_t *text) noexcept:
    """Is that all of it?"""
    return text.form >> 3 <= 16


cdef inline int are_equal(const kind_t *kind, PyObject *item, const text_t *text) except -1:
    """Is the object of that kind?"""
    if kind.object == item:
        return True
    if kind.text.form == NO_TEXT or text.form == NO_TEXT:
        return PyObject_RichCompareBool(<object>kind.object, <object>item, Py_EQ)
    if (kind.text.form != text.form or kind.text.head != text.head
            or kind.text.tail != text.tail):
        return False
    return is_told(text) or memcmp(letters_of(kind.object), letters_of(item), text.form >> 3) == 0


cdef inline const char *letters_of(PyObject *text) noexcept:
    if PyUnicode_CheckExact(<object>text):
        return <const char *>PyUnicode_DATA(<object>text)
    return PyBytes_AS_STRING(<object>text)


cdef inline void load(const char *data, Py_ssize_t n, PyObject **objects) noexcept:
    cdef Py_ssize_t j
    memcpy(objects, data, n * sizeof(PyObject *))
    for j in range(n):
        if objects[j] == NULL:      # as NumPy reads it
            objects[j] = <PyObject *>None


cdef inline void prefetch(const char *data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """Ask for the objects that come next: the head, which says where its hash is and how long a
    text is, and the first letters, which may be in the next line of the cache."""
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
