from typing import Any

import numpy as np
from numpy.typing import NDArray

def first_flags(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    places: tuple[int, int],
    threads: int,
) -> NDArray[np.uint64] | None: ...
def sorted_words(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    places: tuple[int, int],
    lowest: int,
    threads: int,
) -> NDArray[Any] | None: ...
