"""The types that type checkers infer for calls of fastsel.sparse. SciPy has no types."""

from typing import Any

import numpy as np

import fastsel.sparse

table = np.array([[1, 0], [2, 5], [1, 0]], np.int16)

coo: Any = fastsel.sparse.from_dense(table)
csr: Any = fastsel.sparse.from_dense([[0, 7], [8, 0]], "csr")
csc: Any = fastsel.sparse.from_dense(table, format="csc")


def refused() -> None:
    """Each line is an error for type checkers; an unneeded ignore is an error as well."""
    fastsel.sparse.from_dense(table, "bsr")  # type: ignore[call-overload]
