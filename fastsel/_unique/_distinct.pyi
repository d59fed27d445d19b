"""Types of unique and its kin: one overload per choice of outputs, as in NumPy's own stubs.

A stub, because inline these overloads would bury the code.
"""

from typing import Any, Literal, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastsel._unique._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

_Scalar = TypeVar("_Scalar", bound=np.generic)

@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray[_Scalar]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray[Any]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: NDArray[_Scalar],
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[_Scalar], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray[Any] | tuple[NDArray[Any], ...]: ...
@overload
def unique_all(x: NDArray[_Scalar], /) -> UniqueAllResult[_Scalar]: ...
@overload
def unique_all(x: ArrayLike, /) -> UniqueAllResult[Any]: ...
@overload
def unique_counts(x: NDArray[_Scalar], /) -> UniqueCountsResult[_Scalar]: ...
@overload
def unique_counts(x: ArrayLike, /) -> UniqueCountsResult[Any]: ...
@overload
def unique_inverse(x: NDArray[_Scalar], /) -> UniqueInverseResult[_Scalar]: ...
@overload
def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult[Any]: ...
@overload
def unique_values(x: NDArray[_Scalar], /) -> NDArray[_Scalar]: ...
@overload
def unique_values(x: ArrayLike, /) -> NDArray[Any]: ...
