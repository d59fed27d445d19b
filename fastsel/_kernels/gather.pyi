from typing import Any

import numpy as np
from numpy.typing import NDArray

def gather(
    data: NDArray[Any], indices: NDArray[Any], batch_dims: int, out: NDArray[Any], threads: int
) -> tuple[int, int, int] | None: ...
def offsets(
    data: NDArray[Any], indices: NDArray[Any], batch_dims: int, threads: int
) -> tuple[NDArray[np.intp], tuple[int, int, int] | None]: ...
def copy(
    data: NDArray[Any], first_axis: int, offsets: NDArray[np.intp], out: NDArray[Any], threads: int
) -> None: ...
