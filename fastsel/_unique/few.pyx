"""unique of few keys: the classes of the general way, without a plan and without a sample. For few
keys, Python's calls between the stages would take longer than the stages."""
cimport numpy as cnp

from fastsel._unique.groups cimport Groups, Request, Search
from fastsel._unique.keys cimport Keys, Rule
from fastsel._unique.sorting cimport Sorting
from fastsel._unique.tables cimport Tables

cnp.import_array()


def outputs_of_few(cnp.ndarray items not None, Rule rule not None, tuple seeds not None,
                   Request request not None):
    """(values, index, inverse, counts) of at least one item, with None for outputs that are not
    requested. None if a hash table takes too many probes, or if the values have to be sorted."""
    cdef Search search
    cdef Groups groups
    if request.ascending and not rule.is_ordered:
        return None
    search = Search(Keys(items, rule, seeds), items, request, 1, 1)
    search.expect(search.keys.fields.size)
    groups = Sorting(search) if request.ascending else Tables(search)
    if not groups.find():
        return None
    inverse, counts = groups.finish(None)
    return groups.values, groups.index if request.index else None, inverse, counts
