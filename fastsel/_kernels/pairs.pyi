from typing import Any

import numpy as np
from numpy.typing import NDArray

def unique(
    a: Any,
    rule: tuple[int, int, int, bool],
    order: tuple[int, int, int] | None,
    index: bool,
    inverse: bool,
    counts: bool,
) -> (
    tuple[
        NDArray[Any],
        NDArray[np.intp] | None,
        NDArray[np.intp] | None,
        NDArray[np.intp] | None,
    ]
    | None
): ...
