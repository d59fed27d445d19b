from typing import Any

import numpy as np
from numpy.typing import NDArray

def in_order(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    order: tuple[int, int, int] | None,
    letter: int,
    threads: int,
) -> tuple[NDArray[np.uint64], int] | None: ...
