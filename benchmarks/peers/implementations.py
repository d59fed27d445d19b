"""The two sides of every benchmark: NumPy, as its users write the operators, and fastsel."""

from types import SimpleNamespace

import numpy as np

import fastsel


def boolean_mask(a, mask):
    """The items or rows that the mask selects."""
    return a[mask]


def gather_nd(data, indices, batch_dims=0):
    """The slices at the index rows, by fancy indexing."""
    return data[index_arrays(indices, batch_dims)]


def index_arrays(indices, batch_dims):
    """One index array per axis: positions in the batch, then the columns of the index rows."""
    batch = np.ogrid[tuple(slice(n) for n in indices.shape[:-1])][:batch_dims]
    return (*batch, *np.moveaxis(indices, -1, 0))


def nonzero_coordinates(x):
    """The count, and an array with a row for every item. Its first rows are the coordinates; the
    other rows are zeros."""
    rows = np.argwhere(x)
    coordinates = np.zeros((x.size, x.ndim), np.uint32)
    coordinates[: len(rows)] = rows
    return len(rows), coordinates


def isin(element, test_elements, axis=None):
    """numpy.isin; rows are compared by their groups, which numpy.unique finds."""
    if axis is None:
        return np.isin(element, test_elements)
    _, inverse = np.unique(np.concatenate((element, test_elements)), return_inverse=True, axis=axis)
    return np.isin(inverse[: len(element)], inverse[len(element) :])


def nonzero(a, dtype=None):
    """numpy.nonzero, whose indices are converted to `dtype`."""
    indices = np.nonzero(a)
    return indices if dtype is None else tuple(index.astype(dtype) for index in indices)


def first_nonzero(a):
    """numpy.argmax of ``a != 0``, but -1 if all items are zero, where argmax returns 0."""
    true = a != 0
    index = np.argmax(true)
    return index if true.flat[index] else np.intp(-1)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, sorted=True, **rest):
    """numpy.unique; ``sorted=False`` returns the values in order of first occurrence."""
    if sorted:
        return np.unique(ar, return_index, return_inverse, return_counts, **rest)
    values, index = np.unique(ar, return_index=True, **rest)
    return values[np.argsort(index)]


def group_indices(ar, sorted=True):
    """The positions of each group, by a stable argsort of the inverse; ``sorted=False`` returns the
    groups in order of first occurrence."""
    values, index, inverse, counts = np.unique(ar, True, True, True)
    if not sorted:
        order = np.argsort(index)
        values, counts = values[order], counts[order]
        inverse = np.argsort(order)[inverse]
    offsets = np.append(0, np.cumsum(counts))
    return values, np.argsort(inverse.ravel(), kind="stable"), offsets


def index_in(element, test_elements):
    """The positions of the items among the test elements, by a binary search after sorting."""
    order = np.argsort(test_elements, kind="stable")
    return index_in_sorted(element, test_elements[order], order)


def index_in_sorted(element, values, order):
    """For each item, the position that the first equal value had before `order` sorted the values;
    or -1."""
    ranks = np.searchsorted(values, element)
    ranks[ranks == len(values)] = 0
    return np.where(values[ranks] == element, order[ranks], -1)


def from_dense(a, format):
    """SciPy's sparse array of the non-zero items."""
    from scipy import sparse

    return getattr(sparse, f"{format}_array")(a)


NUMPY = SimpleNamespace(
    nonzero=nonzero,
    flatnonzero=np.flatnonzero,
    argwhere=np.argwhere,
    count_nonzero=np.count_nonzero,
    first_nonzero=first_nonzero,
    compress=np.compress,
    extract=np.extract,
    boolean_mask=boolean_mask,
    unique=unique,
    group_indices=group_indices,
    isin=isin,
    index_in=index_in,
    intersect1d=np.intersect1d,
    union1d=np.union1d,
    setdiff1d=np.setdiff1d,
    setxor1d=np.setxor1d,
    gather_nd=gather_nd,
    nonzero_coordinates=nonzero_coordinates,
    sparse=SimpleNamespace(from_dense=from_dense),
)

IMPLEMENTATIONS = ("numpy", "fastsel")
NUM_THREADS = (1, 2)
REPEAT = (3, 10, 1.0)  # asv: at least 3 samples, at most 10, no new one after a second


def implementation(name, num_threads=None):
    """The functions of one side; asv's setup calls it.

    With ``num_threads`` None, fastsel uses its default. Raises NotImplementedError for NumPy on
    several threads, so that asv leaves the cell out.
    """
    if name == "fastsel":
        if num_threads is not None:
            fastsel.set_num_threads(num_threads)
        return fastsel
    if num_threads is not None and num_threads > 1:
        raise NotImplementedError("NumPy selects on one thread")
    return NUMPY
