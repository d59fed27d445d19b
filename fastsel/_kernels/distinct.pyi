from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class Tables:
    bits: NDArray[np.uint64]
    def __init__(
        self,
        data: NDArray[Any],
        size: int,
        rule: tuple[int, int, int, bool],
        loners: NDArray[np.uint64] | None,
        seeds: tuple[int, int],
        places: tuple[int, int] | None,
        most: int,
        expected: int,
        inverse: bool,
        counts: bool,
        threads: int,
    ) -> None: ...
    def find(self) -> bool: ...
    def finish(
        self, order: NDArray[np.intp] | None = None
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.intp] | None]: ...
