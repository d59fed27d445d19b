"""Grids of test cases: a few cases, which together have every value of every axis, always run. All
other cases are marked slow."""

import itertools
import random

import pytest


def slow(value):
    """A value for `pytest.mark.parametrize` that runs only if slow tests are requested."""
    return pytest.param(value, marks=pytest.mark.slow)


def every_third(values, first):
    """The values for `pytest.mark.parametrize`: every third value runs, beginning with the value at
    the index `first` (0, 1 or 2), and the others are marked slow. Three tests of the same code with
    different `first` run all values."""
    return [value if k % 3 == first else slow(value) for k, value in enumerate(values)]


def covering(at_least=1, **axes):
    """Parametrise by every combination of the axes' values; most combinations are marked slow.

    `at_least` or more combinations are not marked; together they have each value of each axis.
    Every run chooses the same combinations.
    """
    values = [list(axis) for axis in axes.values()]
    grid = [*itertools.product(*(range(len(axis)) for axis in values))]
    chosen = few_that_cover(grid, at_least)
    cases = []
    for indices in grid:
        case = [axis[index] for axis, index in zip(values, indices, strict=True)]
        cases.append(pytest.param(*case, marks=() if indices in chosen else pytest.mark.slow))
    return pytest.mark.parametrize(",".join(axes), cases)


def few_that_cover(grid, at_least):
    """Choose cases of a shuffled grid: first cases in which every value is new, then cases with
    fewer and fewer new values, until every value is covered. If there are fewer than `at_least`
    cases then, add any others."""
    shuffled = random.Random(0).sample(grid, len(grid))
    chosen, covered = set(), set()
    for min_new in range(len(grid[0]), 0, -1):
        for indices in shuffled:
            if len({*enumerate(indices)} - covered) >= min_new:
                chosen.add(indices)
                covered.update(enumerate(indices))
    others = [indices for indices in shuffled if indices not in chosen]
    return chosen.union(others[: max(0, at_least - len(chosen))])
