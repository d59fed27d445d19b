"""The inverse in another order of the groups."""
from fastsel._core.parallel cimport chunk_count, chunk_start, for_chunks

ctypedef struct relabel_task:
    const Py_ssize_t *order
    Py_ssize_t *inverse
    Py_ssize_t size
    Py_ssize_t chunks


def relabel(const Py_ssize_t[::1] order not None, Py_ssize_t[::1] inverse not None, int threads):
    """Each number of a group, of which order has as many, becomes order[number]; in place."""
    cdef relabel_task task
    task.order, task.inverse, task.size = &order[0], &inverse[0], inverse.shape[0]
    task.chunks = chunk_count(task.size, threads, 3 * sizeof(Py_ssize_t))
    with nogil:
        for_chunks(relabel_chunk, &task, task.chunks, threads)


cdef void relabel_chunk(void *context, Py_ssize_t k) noexcept nogil:
    cdef relabel_task *task = <relabel_task *>context
    cdef Py_ssize_t start = chunk_start(task.size, task.chunks, k)
    cdef Py_ssize_t stop = chunk_start(task.size, task.chunks, k + 1), i
    for i in range(start, stop):
        task.inverse[i] = task.order[task.inverse[i]]
