"""Plain loops in numba for gather_nd and first_nonzero: what a user would write instead of a
library."""

import functools

import numpy as np

BLOCK = 1024  # rows to a turn of a thread


@functools.cache
def gather_nd():
    """The function, compiled at its first call; numba is imported only if it is asked for."""
    import numba

    @numba.njit(parallel=True)
    def gather_rows(slices, lengths, indices, slices_per_batch):
        """Rows of `slices` (n, width) by index rows (batches, rows, axes) into axes of these
        lengths; and whether one was out of bounds: an exception cannot leave a parallel loop.
        """
        batches, rows, axes = indices.shape
        width = slices.shape[1]
        out = np.empty((batches * rows, width), slices.dtype)
        faults = np.zeros(batches * rows // BLOCK + 1, np.bool_)
        for block in numba.prange(len(faults)):
            for row in range(block * BLOCK, min((block + 1) * BLOCK, batches * rows)):
                batch = row // rows
                position = 0
                for axis in range(axes):
                    index = indices[batch, row - batch * rows, axis]
                    if index < 0:
                        index += lengths[axis]
                    if index < 0 or index >= lengths[axis]:
                        faults[block] = True
                        index = 0
                    position = position * lengths[axis] + index
                position += batch * slices_per_batch
                for item in range(width):
                    out[row, item] = slices[position, item]
        return out, faults.any()

    return gather_rows


@functools.cache
def first_nonzero(ndim):
    """Likewise; a loop over items that ends at the first non-zero one, over `flat` if there are
    several axes."""
    import numba

    @numba.njit
    def of_one_axis(items):
        for index in range(items.size):
            if items[index]:
                return index
        return -1

    @numba.njit
    def of_all_axes(items):
        for index, item in enumerate(items.flat):
            if item:
                return index
        return -1

    return of_one_axis if ndim == 1 else of_all_axes
