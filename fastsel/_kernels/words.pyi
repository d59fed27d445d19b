from typing import Any

import numpy as np
from numpy.typing import NDArray

def first_of_few_words(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    seeds: tuple[int, int],
    expected: int,
    most: int,
    threads: int,
) -> NDArray[np.uint64] | None: ...
def first_words(
    data: NDArray[Any],
    size: int,
    rule: tuple[int, int, int, bool],
    seeds: tuple[int, int],
    expected: int,
    threads: int,
) -> NDArray[np.uint64] | None: ...
