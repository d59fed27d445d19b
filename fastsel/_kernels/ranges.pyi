from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class Ranges:
    def __init__(
        self,
        data: NDArray[Any],
        size: int,
        rule: tuple[int, int, int, bool],
        order: tuple[int, int, int],
        placed: bool,
        threads: int,
    ) -> None: ...
    def is_exact(self) -> bool: ...
    def sort(self) -> bool: ...
    def distinct(self) -> NDArray[Any]: ...
    def groups(
        self, index: bool, inverse: bool, counts: bool
    ) -> tuple[
        NDArray[Any], NDArray[np.intp] | None, NDArray[np.intp] | None, NDArray[np.intp] | None
    ]: ...
    def order(
        self, places: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp] | None] | None: ...
    def first_bits(self) -> NDArray[np.uint64]: ...
    def ranked(
        self, bits: NDArray[np.uint64], inverse: bool, counts: bool
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]: ...

def most_keys(threads: int) -> int: ...
def numpy_sort_speed() -> int: ...
