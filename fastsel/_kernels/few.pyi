from typing import Any

import numpy as np
from numpy.typing import NDArray

def firsts_of_few(
    a: object,
    most: int,
    most_of_few: int,
    most_places: int,
    rule: tuple[int, int, int, bool],
    order: tuple[int, int, int] | None,
    seeds: tuple[int, int],
    index: bool,
    inverse: bool,
    counts: bool,
    most_distinct: int,
    most_words: int,
) -> (
    tuple[
        NDArray[Any],
        NDArray[np.intp] | None,
        NDArray[np.intp] | None,
        NDArray[np.intp] | None,
        int,
    ]
    | None
): ...
