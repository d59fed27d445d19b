"""Grids of cases: a few cases that meet every value always run, the others are marked slow."""

import itertools
import random

import pytest


def slow(value):
    """A value for `pytest.mark.parametrize` that a run leaves out unless it is asked for."""
    return pytest.param(value, marks=pytest.mark.slow)


def every_third(values, first):
    """The values for `pytest.mark.parametrize`, two thirds of them slow: tests of the same code
    share them out by their `first`, 0, 1 or 2."""
    return [value if k % 3 == first else slow(value) for k, value in enumerate(values)]


def covering(at_least=1, **axes):
    """Parametrise by every combination of the axes' values, most of them marked slow.

    The other cases, at least `at_least`, meet each value of each axis; they are always the same.
    """
    values = [list(axis) for axis in axes.values()]
    grid = [*itertools.product(*(range(len(axis)) for axis in values))]
    chosen = few_that_cover(grid, at_least)
    cases = []
    for places in grid:
        case = [axis[place] for axis, place in zip(values, places, strict=True)]
        cases.append(pytest.param(*case, marks=() if places in chosen else pytest.mark.slow))
    return pytest.mark.parametrize(",".join(axes), cases)


def few_that_cover(grid, at_least):
    """Choose cases that have only new values, in no order, then cases with fewer and fewer new
    values; at last any cases, up to `at_least`."""
    mixed = random.Random(0).sample(grid, len(grid))
    chosen, met = set(), set()
    for wanted in range(len(grid[0]), 0, -1):
        for places in mixed:
            if len({*enumerate(places)} - met) >= wanted:
                chosen.add(places)
                met.update(enumerate(places))
    others = [places for places in mixed if places not in chosen]
    return chosen.union(others[: max(0, at_least - len(chosen))])
