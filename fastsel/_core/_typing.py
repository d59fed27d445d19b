"""Types of arguments and results, as precise as in NumPy's own stubs."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

# `ArrayOf` is an array_like of a known scalar type: an array, a NumPy scalar, or a sequence of
# arrays or NumPy scalars. `ArrayLikeOf` is any array_like; its scalar type is Any if type checkers
# do not know it. `ListOf` is a list, or a sequence of lists, of Python objects of one type. NumPy's
# types for such arguments have private names; only type checkers import these names, and
# typing_extensions, which type checkers include.
if TYPE_CHECKING:
    from numpy._typing import _ArrayLike as ArrayOf
    from numpy._typing import _NestedSequence
    from typing_extensions import Buffer, TypeVar

    Item = TypeVar("Item")
    Scalar = TypeVar("Scalar", bound=np.generic, default=Any)
    _PythonItem: TypeAlias = complex | str | bytes
    ArrayLikeOf: TypeAlias = ArrayOf[Scalar] | _PythonItem | Buffer | _NestedSequence[_PythonItem]
    ListOf: TypeAlias = list[Item] | _NestedSequence[list[Item]]
else:
    from typing import TypeVar

    Scalar = TypeVar("Scalar", bound=np.generic)
    ArrayOf = ArrayLikeOf = ListOf = np.typing.ArrayLike | Scalar  # typing.get_type_hints needs it

Index = TypeVar("Index", bound=np.integer[Any])

# An array of one dimension.
Flat: TypeAlias = np.ndarray[tuple[int], np.dtype[Scalar]]
