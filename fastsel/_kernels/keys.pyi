from typing import Any

import numpy as np
from numpy.typing import NDArray

def ordered_numbers(
    items: NDArray[Any],
    rule: tuple[int, int, int, bool],
    order: tuple[int, int, int],
    threads: int,
) -> NDArray[np.uint64]: ...
def are_canonical(
    items: NDArray[Any], width: int, rule: tuple[int, int, int, bool], threads: int
) -> bool: ...
def canonical_keys(
    items: NDArray[Any],
    keys: int,
    kind: int,
    width: int,
    rule: tuple[int, int, int, bool],
    collapse: bool,
    out: NDArray[Any],
    loners: NDArray[np.uint64] | None,
    threads: int,
) -> None: ...
