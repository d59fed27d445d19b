"""Types of arguments and results, as precise as in NumPy's own stubs."""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

Item = TypeVar("Item")
Scalar = TypeVar("Scalar", bound=np.generic)
Index = TypeVar("Index", bound=np.integer[Any])

# An array of one dimension.
Flat: TypeAlias = np.ndarray[tuple[int], np.dtype[Scalar]]

# `ArrayOf` is an array_like of a known scalar type: an array, a NumPy scalar, or a sequence of
# arrays or NumPy scalars. `ListOf` is a list, or a sequence of lists, of Python objects of one
# type. NumPy's types for such arguments have private names, and only type checkers need them.
if TYPE_CHECKING:
    from numpy._typing import _ArrayLike as ArrayOf
    from numpy._typing import _NestedSequence

    ListOf: TypeAlias = list[Item] | _NestedSequence[list[Item]]
else:
    ArrayOf = ListOf = np.typing.ArrayLike
