"""Atomic reads and writes; see atomics.h."""
from libc.stdint cimport uint8_t, uint32_t

cdef extern from "atomics.h" nogil:
    ctypedef Py_ssize_t fs_atomic_t
    Py_ssize_t fs_fetch_add(fs_atomic_t *a, Py_ssize_t value)
    Py_ssize_t fs_exchange(fs_atomic_t *a, Py_ssize_t value)
    Py_ssize_t fs_load(fs_atomic_t *a)
    void fs_store(fs_atomic_t *a, Py_ssize_t value)
    Py_ssize_t fs_load_relaxed(fs_atomic_t *a)
    void fs_store_relaxed(fs_atomic_t *a, Py_ssize_t value)
    void *fs_exchange_pointer(void **slot, void *value)
    void *fs_load_pointer(void **slot)
    void fs_store_u32(uint32_t *p, uint32_t value)
    void fs_mark(uint8_t *mark)
