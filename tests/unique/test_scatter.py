"""The number of parts, chunks and counts of a scatter."""

import numpy as np
import pytest
from unique_kernels import scatter_by_hash, scatter_by_value

from fastsel._unique import _keys


@pytest.mark.parametrize("scatter", [scatter_by_hash, scatter_by_value])
@pytest.mark.parametrize("size", [2**18, 2**21])
def test_parts_do_not_depend_on_threads_and_counts_are_at_most_one_for_four_keys(scatter, size):
    """Each part is sorted or hashed once, by one thread. There is one count for each part in each
    chunk, so the number of counts grows with the threads, and one thread scans all counts. A call
    may have 64 threads from 2**18 keys of 8 bytes on."""
    keys = _keys.keys_of(np.random.default_rng(1).integers(0, 2**62, size), True)
    serial = scatter(keys, threads=1)
    for threads in (2, 7, 64):
        parallel = scatter(keys, threads=threads)
        assert parallel.parts == serial.parts
        assert parallel.key_chunks >= threads
        assert parallel.parts * parallel.key_chunks <= size // 4
