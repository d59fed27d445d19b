from typing import Any

import numpy as np
from numpy.typing import NDArray

def ascending(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    order: tuple[int, int, int],
    merged: bool,
    index: bool,
    inverse: bool,
    counts: bool,
    threads: int,
) -> tuple[
    NDArray[Any], NDArray[np.intp] | None, NDArray[np.intp] | None, NDArray[np.intp] | None
]: ...
