"""The named tuples of the array-API functions and of `group_indices`."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


class UniqueAllResult(NamedTuple, Generic[_Scalar]):
    """What `unique_all` returns."""

    values: NDArray[_Scalar]
    indices: NDArray[np.intp]
    inverse_indices: NDArray[np.intp]
    counts: NDArray[np.intp]


class UniqueCountsResult(NamedTuple, Generic[_Scalar]):
    """What `unique_counts` returns."""

    values: NDArray[_Scalar]
    counts: NDArray[np.intp]


class UniqueInverseResult(NamedTuple, Generic[_Scalar]):
    """What `unique_inverse` returns."""

    values: NDArray[_Scalar]
    inverse_indices: NDArray[np.intp]


class GroupIndices(NamedTuple, Generic[_Scalar]):
    """What `group_indices` returns."""

    values: NDArray[_Scalar]
    indices: NDArray[np.intp]
    offsets: NDArray[np.intp]
