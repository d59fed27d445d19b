"""The opponents of each operator, which register themselves by the decorator `opponent`."""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

OPPONENTS = defaultdict(list)  # operator -> its opponents


class Opponent(NamedTuple):
    """A peer, or a variant of it, that has a column in the table of an operator."""

    peer: str
    name: str
    prepare: Callable  # case -> the call to measure
    finish: Callable = lambda result: result  # result -> NumPy's form of it; only for the check
    any_order: bool = False  # the order of the result is undefined
    ready: bool = False  # a part of the work is outside of the call
    counts: bool = True  # the opponent can be the best


def opponent(peer, *operators, variant="", **properties):
    """Register the function below as an opponent for these operators."""
    name = f"{peer} {variant}".strip()

    def register(prepare):
        for op in operators:
            OPPONENTS[op].append(Opponent(peer, name, prepare, **properties))
        return prepare

    return register
