"""gather_nd and first_nonzero as loops in numba, which users may write in place of a library."""

import functools

import numpy as np

CHUNK_ROWS = 1024


@functools.cache
def gather_nd():
    """A function that numba compiles at its first call. numba is imported here, so that other cells
    do not need it."""
    import numba

    @numba.njit(parallel=True)
    def gather_rows(slices, lengths, indices, slices_per_batch):
        """The rows of `slices` (n, width) at index rows (batches, rows, axes) into axes of these
        lengths; and whether an index was out of bounds. A parallel loop cannot raise an exception.
        """
        batches, rows, axes = indices.shape
        width = slices.shape[1]
        out = np.empty((batches * rows, width), slices.dtype)
        out_of_bounds = np.zeros(batches * rows // CHUNK_ROWS + 1, np.bool_)
        for chunk in numba.prange(len(out_of_bounds)):
            for row in range(chunk * CHUNK_ROWS, min((chunk + 1) * CHUNK_ROWS, batches * rows)):
                batch = row // rows
                position = 0
                for axis in range(axes):
                    index = indices[batch, row - batch * rows, axis]
                    if index < 0:
                        index += lengths[axis]
                    if index < 0 or index >= lengths[axis]:
                        out_of_bounds[chunk] = True
                        index = 0
                    position = position * lengths[axis] + index
                position += batch * slices_per_batch
                for item in range(width):
                    out[row, item] = slices[position, item]
        return out, out_of_bounds.any()

    return gather_rows


@functools.cache
def first_nonzero(ndim):
    """A function that numba compiles at its first call: a loop over the items, or over `flat` for
    several axes, that ends at the first non-zero item."""
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
