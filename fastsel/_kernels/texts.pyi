from typing import Any

import numpy as np
from numpy.typing import NDArray

def columns_of(texts: NDArray[Any], most: int, threads: int) -> NDArray[np.uint64] | None: ...
def moved_into_order(texts: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]: ...
