from typing import Any

import numpy as np
from numpy.typing import NDArray

def level_name() -> str: ...
def pack(
    items: NDArray[Any], width: int, care: NDArray[np.uint64], moved: int, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.intp]]: ...
def count(items: NDArray[Any], width: int, care: NDArray[np.uint64], threads: int) -> int: ...
def offsets_of(bits: NDArray[np.uint64], moved: int, threads: int) -> NDArray[np.intp]: ...
def count_axes(
    items: NDArray[Any],
    width: int,
    care: NDArray[np.uint64],
    out: NDArray[np.intp],
    order: NDArray[np.intp],
    steps: NDArray[np.intp],
    cut_axis: int,
    round_axis: int,
    threads: int,
) -> None: ...
