"""What a type checker says of calls of fastsel.sparse. SciPy has no types of its own."""

from typing import Any

import numpy as np

import fastsel.sparse

table = np.array([[1, 0], [2, 5], [1, 0]], np.int16)

coo: Any = fastsel.sparse.from_dense(table)
csr: Any = fastsel.sparse.from_dense([[0, 7], [8, 0]], "csr")
csc: Any = fastsel.sparse.from_dense(table, format="csc")


def refused() -> None:
    """Each line is an error to the checkers (an ignore that is not needed is one, too)."""
    fastsel.sparse.from_dense(table, "bsr")  # type: ignore[call-overload]
