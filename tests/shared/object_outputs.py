"""Outputs of unique of object arrays in order of first occurrence, by a dict."""

from arrays import objects

import fastsel


def first_outputs(items):
    """The four outputs in order of first occurrence, by a dict."""
    numbers = {}
    inverse = [numbers.setdefault(item, len(numbers)) for item in items]
    index = [inverse.index(number) for number in range(len(numbers))]
    return list(numbers), index, inverse, [inverse.count(number) for number in range(len(numbers))]


def check_first_outputs(items, **keywords):
    found = fastsel.unique(objects(*items), True, True, True, sorted=False, **keywords)
    values, index, inverse, counts = first_outputs(items)
    assert len(found[0]) == len(values)
    assert all(ours is theirs for ours, theirs in zip(found[0], values, strict=True))
    assert [part.tolist() for part in found[1:]] == [index, inverse, counts]
    return found[0]
