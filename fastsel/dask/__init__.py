"""fastsel's functions on dask arrays: lazy, for any chunks, with positions in the whole array.

Each function has the rules of fastsel's function of the same name. Its docstring names the lengths
that are unknown until computed, for example the number of distinct values.
"""

# Each public function checks its arguments and builds a graph; _blocks has the code that the
# functions share. Tasks call fastsel's own functions on NumPy blocks, on one thread each. For
# unique and group_indices, _groups has the functions that the tasks call, and _stages the graph
# that merges the distinct values of all blocks and writes the inverse of each block.

try:
    import dask.array as _  # noqa: F401
    from dask._task_spec import Task as _Task  # noqa: F401
except ImportError as error:
    raise ImportError(
        'fastsel.dask needs dask 2024.12 or newer: pip install "dask[array]" distributed'
    ) from error

from fastsel.dask._blocks import serves as __fastsel_serves__  # noqa: F401, for dispatch
from fastsel.dask._first_nonzero import first_nonzero
from fastsel.dask._gather import gather_nd
from fastsel.dask._group_indices import GroupIndices, group_indices
from fastsel.dask._index_in import index_in
from fastsel.dask._positions import (
    NonzeroCoordinates,
    argwhere,
    count_nonzero,
    flatnonzero,
    nonzero,
    nonzero_coordinates,
)
from fastsel.dask._remap import remap
from fastsel.dask._selection import boolean_mask, compress, extract
from fastsel.dask._sets import intersect1d, isin, setdiff1d, setxor1d, union1d
from fastsel.dask._unique import unique, unique_all, unique_counts, unique_inverse, unique_values

__all__ = [
    "GroupIndices",
    "NonzeroCoordinates",
    "argwhere",
    "boolean_mask",
    "compress",
    "count_nonzero",
    "extract",
    "first_nonzero",
    "flatnonzero",
    "gather_nd",
    "group_indices",
    "index_in",
    "intersect1d",
    "isin",
    "nonzero",
    "nonzero_coordinates",
    "remap",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
