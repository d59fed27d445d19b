"""NumPy's own functions of the names that fastsel shares, kept from before `patch_numpy`.

What goes to NumPy goes by these: with NumPy patched, ``numpy.nonzero`` would lead back here.
"""

from numpy import (
    argwhere,
    compress,
    count_nonzero,
    extract,
    flatnonzero,
    nonzero,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)

__all__ = [
    "argwhere",
    "compress",
    "count_nonzero",
    "extract",
    "flatnonzero",
    "nonzero",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
