"""Types of unique and the array-API functions: one overload per choice of outputs, as in NumPy's
own stubs. They are in a stub because inline overloads would bury the code.
"""

from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastsel._core._typing import ArrayLikeOf, Scalar
from fastsel._unique._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> NDArray[Scalar]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp]]: ...
@overload
def unique(
    ar: ArrayLikeOf[Scalar],
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[NDArray[Scalar], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]: ...
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
    inverse_dtype: DTypeLike | None,
) -> Any: ...
def unique_all(x: ArrayLikeOf[Scalar], /) -> UniqueAllResult[Scalar]: ...
def unique_counts(x: ArrayLikeOf[Scalar], /) -> UniqueCountsResult[Scalar]: ...
def unique_inverse(x: ArrayLikeOf[Scalar], /) -> UniqueInverseResult[Scalar]: ...
def unique_values(x: ArrayLikeOf[Scalar], /) -> NDArray[Scalar]: ...
