"""The opponents of each operator, as they register themselves."""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

OPPONENTS = defaultdict(list)  # operator -> its opponents


class Opponent(NamedTuple):
    """One column of the table."""

    peer: str
    name: str
    prepare: Callable  # case -> the call to measure
    finish: Callable = lambda result: result  # to NumPy's form, for the check only
    any_order: bool = False  # the result promises no order
    ready: bool = False  # a part of the work is done outside the call
    counts: bool = True  # can be the best


def opponent(peer, *operators, variant="", **properties):
    """Register the function below as an opponent for these operators."""
    name = f"{peer} {variant}".strip()

    def register(prepare):
        for op in operators:
            OPPONENTS[op].append(Opponent(peer, name, prepare, **properties))
        return prepare

    return register
