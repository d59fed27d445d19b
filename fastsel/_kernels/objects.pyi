from typing import Any

import numpy as np
from numpy.typing import NDArray

def first_objects(
    items: NDArray[Any], only_strings: bool, seeds: tuple[int, int], inverse: bool
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp] | None, NDArray[np.intp]] | None: ...
