"""The two sides of every benchmark: NumPy, as its users write the operators, and fastsel."""

from types import SimpleNamespace

import numpy as np

import fastsel
from fastsel._cli import _bench


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


def from_dense(a, format):
    """SciPy's sparse array of the non-zero items."""
    from scipy import sparse

    return getattr(sparse, f"{format}_array")(a)


# The functions that `fastsel bench` compares with, too; some have more arguments here.
NUMPY = SimpleNamespace(
    **vars(_bench.NUMPY)
    | {
        "group_indices": group_indices,
        "gather_nd": gather_nd,
        "nonzero_coordinates": nonzero_coordinates,
        "sparse": SimpleNamespace(from_dense=from_dense),
    }
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
