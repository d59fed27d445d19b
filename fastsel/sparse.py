"""scipy.sparse arrays from dense arrays, which are searched once; needs SciPy 1.15 or newer.

`from_dense` returns the same arrays as SciPy's own classes. A first pass makes a bitmask, as in
`fastsel.nonzero`. Indices, row starts and data are then written from the bitmask, in the dtypes
that SciPy uses.
"""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from fastsel._core import _dtypes, _gate, _threads, results
from fastsel._positions import bitmask, coordinates, selected_items

try:
    from scipy import sparse
except ImportError as error:
    raise ImportError("fastsel.sparse needs SciPy: pip install scipy") from error

__all__ = ["from_dense"]


def __dir__():
    """The public names."""
    return __all__


# For each format, its class and the numbers of dimensions that fastsel serves. SciPy gets arrays
# with other numbers of dimensions, and raises its error.
_FORMATS = {
    "coo": (sparse.coo_array, range(1, 65)),
    "csr": (sparse.csr_array, (1, 2)),
    "csc": (sparse.csc_array, (2,)),
}


@overload
def from_dense(a: ArrayLike, format: Literal["coo"] = "coo") -> sparse.coo_array: ...
@overload
def from_dense(a: ArrayLike, format: Literal["csr"]) -> sparse.csr_array: ...
@overload
def from_dense(a: ArrayLike, format: Literal["csc"]) -> sparse.csc_array: ...
def from_dense(a: ArrayLike, format: str = "coo") -> sparse.sparray:
    """A sparse array of the non-zero items of `a`; equals ``scipy.sparse.coo_array(a)``.

    Parameters
    ----------
    a : array_like, shape (m, n); also (n,) for COO and CSR, and (n, m, ...) for COO
        A dtype that SciPy accepts: bool, integers, float32, float64, longdouble or complex, in
        native byte order. Read only, never modified. A tuple has items; for SciPy it is a shape.
    format : {"coo", "csr", "csc"}, optional
        Format of the result.

    Returns
    -------
    coo_array, csr_array or csc_array of a's dtype and shape
        The array has canonical format: sorted, without duplicates. It equals
        ``scipy.sparse.<format>_array(a)`` in data, order, and the dtype of the indices: int32 if
        `a` has at most two axes, if their lengths fit int32, and, for CSR and CSC, if the number of
        non-zero items fits, too; otherwise int64.

    Raises
    ------
    ValueError, TypeError
        SciPy's errors for other dtypes and numbers of dimensions; ValueError for another format,
        TypeError if `a` is sparse.

    Notes
    -----
    **Zero.** -0.0 is zero, NaN is not.

    **Time and memory.** As in `nonzero`, `a` is searched once, and a bitmask of an eighth of a byte
    per item is made; then the non-zero items are copied. Indices are written in their final dtype.
    If the memory order of a 2-d array differs from the format's (CSC of a C-ordered array; COO and
    CSR of a Fortran-ordered array), SciPy converts the result, in time linear in the number of
    non-zero items.

    **Threads.** The result is the same for every number of threads.

    Examples
    --------
    >>> import fastsel.sparse
    >>> fastsel.sparse.from_dense([[0, 7, 0], [8, 0, 9]], "csr").indices
    array([1, 0, 2], dtype=int32)
    >>> fastsel.sparse.from_dense([[0, 7, 0], [8, 0, 9]], "csr").indptr
    array([0, 1, 3], dtype=int32)
    >>> fastsel.sparse.from_dense([0.0, -0.0, 2.5]).coords
    (array([2], dtype=int32),)
    """
    if not isinstance(format, str) or format not in _FORMATS:
        raise ValueError(f"format must be 'coo', 'csr' or 'csc', got {format!r}")
    if sparse.issparse(a):
        raise TypeError(f"a must be dense, got a {type(a).__name__}; its asformat() converts it")
    container, dimensions = _FORMATS[format]
    array = _gate.as_array("a", a)
    truth = _dtypes.truth(array.dtype)
    if array.ndim not in dimensions or truth is None:
        return container(a)
    by_columns = array.ndim == 2 and abs(array.strides[0]) < abs(array.strides[1])
    if by_columns and format != "csc":
        by_rows = _compressed(sparse.csc_array, array, truth).tocsr()
        return _canonical(by_rows.asformat(format))
    if format == "csc" and not by_columns:
        return _canonical(_compressed(sparse.csr_array, array, truth).tocsc())
    if format == "coo":
        return _coordinates(array, truth)
    return _compressed(container, array, truth)


def _coordinates(array, truth):
    """The coo_array, with its items in C order."""
    result = sparse.coo_array(array.shape, dtype=array.dtype)
    threads = _threads.for_bytes(array.nbytes)
    dtype = result.coords[0].dtype
    moved = array.ndim * dtype.itemsize + array.itemsize
    mask = bitmask.pack(array, *truth, moved, threads)
    coords = results.empty((array.ndim, mask.total), dtype)
    coordinates.write(mask, array.shape, coords.T, threads)
    result.coords = tuple(coords)
    result.data = _nonzero_items(array, mask, threads)
    return _canonical(result)


def _compressed(container, array, truth):
    """The csr_array, row by row, or the csc_array, column by column."""
    result = container(array.shape, dtype=array.dtype)
    rows = np.atleast_2d(array) if container is sparse.csr_array else array.T
    if rows.size == 0:
        return _canonical(result)
    threads = _threads.for_bytes(rows.nbytes)
    moved = result.indices.itemsize + rows.itemsize
    mask = bitmask.pack(rows, *truth, moved, threads)
    total = mask.total
    dtype = result.indices.dtype if total <= np.iinfo(np.int32).max else np.int64
    result.indices = results.empty((total,), np.dtype(dtype))
    coordinates.write(mask, rows.shape[1:], result.indices[:, np.newaxis], threads)
    result.indptr = np.empty(len(rows) + 1, dtype)
    coordinates.row_starts(mask, rows.shape[1], result.indptr[:-1], threads)
    result.indptr[-1] = total
    result.data = _nonzero_items(rows, mask, threads)
    return _canonical(result)


def _nonzero_items(array, mask, threads):
    """The non-zero items themselves, in C order."""
    data = results.empty((mask.total,), array.dtype)
    selected_items.compress(array, 0, array.ndim, mask, data, threads)
    return data


def _canonical(result):
    """Mark the result as sorted and without duplicates, so that SciPy does not check it."""
    result.has_canonical_format = True
    return result
