from typing import Any

from numpy.typing import NDArray

def unique(a: Any, most_sorted: int, most_placed: int, most_unseen: int) -> NDArray[Any] | None: ...
def firsts(
    a: Any, least: int, most: int, index: bool, factor: int
) -> tuple[NDArray[Any], NDArray[Any] | None] | None: ...
