from typing import Any

import numpy as np
from numpy.typing import NDArray

def keep(
    source: NDArray[Any],
    first_axis: int,
    stop_axis: int,
    bits: NDArray[np.uint64],
    offsets: NDArray[np.intp],
    out: NDArray[Any],
    threads: int,
) -> None: ...
