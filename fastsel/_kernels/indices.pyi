from typing import Any

import numpy as np
from numpy.typing import NDArray

def flat(bits: NDArray[np.uint64], offsets: NDArray[np.intp], threads: int) -> NDArray[np.intp]: ...
def coordinates(
    bits: NDArray[np.uint64],
    offsets: NDArray[np.intp],
    shape: tuple[int, ...],
    out: NDArray[Any],
    threads: int,
) -> None: ...
def row_starts(
    bits: NDArray[np.uint64],
    offsets: NDArray[np.intp],
    row_items: int,
    out: NDArray[Any],
    threads: int,
) -> None: ...
