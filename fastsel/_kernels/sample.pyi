from typing import Any

import numpy as np
from numpy.typing import NDArray

def sample_of(data: NDArray[Any], size: int, drawn: int) -> tuple[NDArray[np.uint8], int]: ...
def places(data: NDArray[Any], size: int, most: int) -> tuple[int, int] | None: ...
