"""fastsel's functions on dask arrays: lazy, for any chunking, with positions in the whole array.

The map: a public function (_positions, _selection, _distinct, _gather) checks its arguments and
builds a graph, with what _blocks knows about where a block lies. Its tasks call fastsel's own
functions on NumPy blocks, on one thread each. unique has more to do: _groups holds what its tasks
do with the distinct values of blocks, _stages how groups go up to their last stage, and their
numbers down again. NumPy's rules apply, as in fastsel; what cannot be known before computing is
said in each docstring.
"""

try:
    import dask.array as _  # noqa: F401
except ImportError as error:
    raise ImportError(
        "fastsel.dask needs dask, which comes with: pip install 'fastsel[dask]'"
    ) from error

from fastsel.dask._distinct import (
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from fastsel.dask._gather import gather_nd
from fastsel.dask._positions import (
    argwhere,
    count_nonzero,
    flatnonzero,
    nonzero,
    nonzero_coordinates,
)
from fastsel.dask._selection import boolean_mask, compress, extract

__all__ = [
    "argwhere",
    "boolean_mask",
    "compress",
    "count_nonzero",
    "extract",
    "flatnonzero",
    "gather_nd",
    "nonzero",
    "nonzero_coordinates",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
