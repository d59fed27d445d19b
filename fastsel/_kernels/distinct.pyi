from typing import Any

import numpy as np
from numpy.typing import NDArray

def by_tables(
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
) -> tuple[NDArray[np.uint64], NDArray[np.intp] | None, NDArray[np.intp] | None] | None: ...
def places(data: NDArray[Any], size: int, most: int) -> tuple[int, int] | None: ...
