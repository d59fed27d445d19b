"""The scatter's work: two passes over the keys, and a sum of counts."""

import numpy as np
import pytest
from unique_kernels import scatter_by_hash, scatter_by_value

from fastsel._unique import _keys


@pytest.mark.parametrize("scatter", [scatter_by_hash, scatter_by_value])
@pytest.mark.parametrize("size", [2**18, 2**21])  # the first size at which 64 threads have work
def test_work_per_key_does_not_grow_with_the_threads(scatter, size):
    """Each pass reads a key once, in its chunk, and each part is sorted or hashed once. Only the
    number of counts may grow: one thread sums the counts of each part in each chunk."""
    keys = _keys.keys_of(np.random.default_rng(1).integers(0, 2**62, size), True)
    serial = scatter(keys, threads=1)
    for threads in (2, 7, 64):
        parallel = scatter(keys, threads=threads)
        assert parallel.parts == serial.parts
        assert parallel.key_chunks >= threads
        assert parallel.parts * parallel.key_chunks <= size // 4
