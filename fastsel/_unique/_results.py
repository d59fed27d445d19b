"""The named tuples of the array-API functions and of `group_indices`."""

from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastsel._core._typing import Scalar


class UniqueAllResult(NamedTuple, Generic[Scalar]):
    """What `unique_all` returns."""

    values: NDArray[Scalar]
    indices: NDArray[np.intp]
    inverse_indices: NDArray[np.intp]
    counts: NDArray[np.intp]


class UniqueCountsResult(NamedTuple, Generic[Scalar]):
    """What `unique_counts` returns."""

    values: NDArray[Scalar]
    counts: NDArray[np.intp]


class UniqueInverseResult(NamedTuple, Generic[Scalar]):
    """What `unique_inverse` returns."""

    values: NDArray[Scalar]
    inverse_indices: NDArray[np.intp]


class GroupIndices(NamedTuple, Generic[Scalar]):
    """What `group_indices` returns."""

    values: NDArray[Scalar]
    indices: NDArray[np.intp]
    offsets: NDArray[np.intp]
