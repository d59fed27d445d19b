from typing import Any

import numpy as np
from numpy.typing import NDArray

def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]: ...
def drop() -> None: ...
