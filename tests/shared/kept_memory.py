"""What tests of the memory that is cached between calls share."""

import numpy as np

from fastsel._core import results

MIN_BYTES, LIMIT = 1 << 14, 64 << 20  # of a cached block; of the cache in these tests
handler_of = np._core.multiarray.get_handler_name


def address_of_result(nbytes):
    """The address of the data of a new result of `nbytes` bytes."""
    return results.empty((nbytes,), np.dtype(np.uint8)).ctypes.data
