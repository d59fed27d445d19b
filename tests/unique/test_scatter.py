"""The scatter's work: two passes over the keys, and a sum of counts."""

import numpy as np
import pytest

from fastsel._unique import _keys
from fastsel._unique.partitions import ScatterByHash
from fastsel._unique.sorting import ScatterByValue


def by_hash(keys, threads):
    return ScatterByHash(
        *(keys.data, keys.size, keys.rule, None, _keys.SEEDS, None, True, threads),
    )


def by_value(keys, threads):
    return ScatterByValue(
        *(keys.data, keys.size, keys.rule, keys.order_map, _keys.SEEDS, True, threads),
    )


@pytest.mark.parametrize("scatter", [by_hash, by_value])
@pytest.mark.parametrize("size", [2**18, 2**21])  # from so many keys on, 64 threads have work
def test_work_per_key_does_not_grow_with_the_threads(scatter, size):
    """Each pass reads a key once, in its chunk, and a part is handled once. What may grow are the
    number of parts, and that of the counts which one thread sums: of each part in each chunk."""
    keys = _keys.keys_of(np.random.default_rng(1).integers(0, 2**62, size), True)
    alone = scatter(keys, 1)
    for threads in (2, 7, 64):
        many = scatter(keys, threads)
        assert many.parts == alone.parts
        assert many.key_chunks >= threads
        assert many.parts * many.key_chunks <= size // 4
