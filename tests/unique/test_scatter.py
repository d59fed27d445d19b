"""The scatter's work: two passes over the keys, and a sum of counts."""

import numpy as np
import pytest
from unique_kernels import scatter_by_hash, scatter_by_value

from fastsel._unique import _keys


@pytest.mark.parametrize("scatter", [scatter_by_hash, scatter_by_value])
@pytest.mark.parametrize("size", [2**18, 2**21])  # the first size at which 64 threads have work
def test_work_per_key_does_not_grow_with_the_threads(scatter, size):
    """Each pass reads a key once, in its chunk, and a part is handled once. Two numbers may grow:
    the parts, and the counts of each part in each chunk, which one thread sums."""
    keys = _keys.keys_of(np.random.default_rng(1).integers(0, 2**62, size), True)
    alone = scatter(keys, threads=1)
    for threads in (2, 7, 64):
        many = scatter(keys, threads=threads)
        assert many.parts == alone.parts
        assert many.key_chunks >= threads
        assert many.parts * many.key_chunks <= size // 4
