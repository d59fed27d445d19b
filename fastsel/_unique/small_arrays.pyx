"""The groups of few keys, without a sample: the algorithms of larger arrays, chosen and called in
one compiled function. Python's calls would take longer than the algorithms."""
cimport numpy as cnp

from fastsel._unique.groups cimport Groups, Request, Search
from fastsel._unique.keys cimport Keys, Rule
from fastsel._unique.presorted cimport new_presorted
from fastsel._unique.sorting cimport new_sorting
from fastsel._unique.tables cimport Tables

cdef enum:
    MIN_PRESORTED = 128     # fewer keys are sorted in the time of a look whether they are in order


cpdef Groups groups_of_few(Search search, watcher):
    """The Groups of few keys; None if a hash table takes too many probes. `watcher` is None or
    _plan.watcher, which gets the algorithm and the reason."""
    cdef Groups groups = None
    algorithm = "presorted"
    search.expect(search.size)
    if search.size >= MIN_PRESORTED:
        groups = new_presorted(search)
        if not groups.find() or search.ascends and groups.direction != 1:
            groups = None
    if groups is None:
        algorithm = "sorting" if search.ascends else "tables"
        groups = new_sorting(search) if search.ascends else Tables(search)
        if not groups.find():
            return None
    if watcher is not None:
        watcher(algorithm, "few keys")
    return groups


def unique_of_few(cnp.ndarray array not None, Rule rule not None, tuple seeds not None,
                  Request request not None, watcher):
    """unique of at least one item: the values, or a tuple of the values and the requested outputs.
    None if groups_of_few is None, or if the values would have to be sorted."""
    cdef cnp.ndarray items = array
    cdef Groups groups
    if request.ascending and not rule.words.is_ordered:
        return None
    if cnp.PyArray_NDIM(array) != 1:
        items = cnp.PyArray_Ravel(array, cnp.NPY_CORDER)
    groups = groups_of_few(Search(Keys(items, rule, seeds), items, request, 1, 1), watcher)
    if groups is None:
        return None
    if request.values_only:
        return groups.values
    inverse, counts = groups.finish(None)
    if inverse is not None and items is not array:
        inverse = inverse.reshape((<object>array).shape)
    outputs = groups.values, groups.index if request.index else None, inverse, counts
    return tuple([output for output in outputs if output is not None])
