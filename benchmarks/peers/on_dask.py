"""The operators on dask arrays for compare.py, by fastsel.dask or dask.array, or without dask."""

from types import SimpleNamespace

from implementations import index_arrays
from peers import require, thread_count

BLOCKS = 10
MATRIX_BYTES = 4e9

# The call of each operator; the arguments are the functions of one side, the array, and the mask or
# the index rows.
CALLS = {
    "dask_nonzero": lambda side, x, _: side.nonzero(x),
    "dask_flatnonzero": lambda side, x, _: side.flatnonzero(x),
    "dask_argwhere": lambda side, x, _: side.argwhere(x),
    "dask_count_nonzero": lambda side, x, _: side.count_nonzero(x),
    "dask_compress": lambda side, x, mask: side.compress(mask, x),
    "dask_extract": lambda side, x, mask: side.extract(mask, x),
    "dask_boolean_mask": lambda side, x, mask: side.boolean_mask(x, mask),
    "dask_unique": lambda side, x, _: side.unique(x),
    "dask_unique_index": lambda side, x, _: side.unique(x, return_index=True),
    "dask_unique_counts": lambda side, x, _: side.unique(x, return_counts=True),
    "dask_unique_inverse": lambda side, x, _: side.unique(x, return_inverse=True),
    "dask_gather_nd": lambda side, x, rows: side.gather_nd(x, rows),
}


def selector(case):
    """The mask or the index rows of a case; None if it has neither."""
    return case.indices if case.mask is None else case.mask


def computed_by(side, case):
    """A call of one side on dask arrays that computes the result; the mask is a dask array, index
    rows are a NumPy array."""
    import dask

    x = blocks_of(case.x)
    select = selector(case) if case.mask is None else blocks_of(case.mask)
    call = CALLS[case.cell.op]

    def compute():
        with dask.config.set(scheduler="threads", num_workers=thread_count()):
            return dask.compute(call(side, x, select))[0]

    return compute


def blocks_of(a):
    """An array as a dask array of about BLOCKS blocks along the first axis."""
    import dask.array as da

    return da.from_array(a, chunks=(max(len(a) // BLOCKS, 1), *a.shape[1:]), name=False)


def dask_array(case):
    """dask.array's functions; for an operator that it lacks, the code that its users write."""
    import dask.array as da

    if case.cell.op == "dask_unique_inverse":
        matrix_bytes = case.x.size * case.cell.groups
        require(matrix_bytes <= MATRIX_BYTES, "makes a matrix of items x groups of over 4 GB")
    return SimpleNamespace(
        nonzero=da.nonzero,
        flatnonzero=da.flatnonzero,
        argwhere=da.argwhere,
        count_nonzero=da.count_nonzero,
        compress=da.compress,
        extract=da.extract,
        boolean_mask=lambda a, mask: a[mask],
        unique=da.unique,
        gather_nd=lambda data, rows: data.vindex[index_arrays(rows, 0)],
    )
