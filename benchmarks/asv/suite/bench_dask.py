"""The functions of fastsel.dask and of dask.array, on the threaded scheduler."""

import dask
import dask.array as da
from inputs import index_rows, items, keep, kept, keys, mask

import fastsel.dask

SIZES = (100_000, 1_000_000)
CHUNKS = 10
GROUPS = 1000
SIDES = ("dask.array", "fastsel.dask")


class Dask:
    """One-dimensional arrays in ten chunks; every result is computed."""

    params = (SIZES, SIDES)
    param_names = ("n", "implementation")

    def setup_cache(self):
        keep(keys, ("int64",), SIZES, (GROUPS,))
        keep(items, ("int64",), SIZES, (0.1,))
        keep(mask, SIZES, (0.1,))

    def setup(self, n, name):
        chunks = n // CHUNKS
        self.own = name == "dask.array"
        self.side = da if self.own else fastsel.dask
        self.keys = da.from_array(kept(keys, "int64", n, GROUPS), chunks=chunks)
        self.items = da.from_array(kept(items, "int64", n, 0.1), chunks=chunks)
        self.mask = da.from_array(kept(mask, n, 0.1), chunks=chunks)
        self.rows = index_rows((n,), (n // 10,))

    def time_nonzero(self, *_):
        dask.compute(self.side.nonzero(self.items))

    def time_count_nonzero(self, *_):
        dask.compute(self.side.count_nonzero(self.items))

    def time_compress(self, *_):
        dask.compute(self.side.compress(self.mask, self.items))

    def time_boolean_mask(self, *_):
        if self.own:
            dask.compute(self.items[self.mask])
        else:
            dask.compute(self.side.boolean_mask(self.items, self.mask))

    def time_unique(self, *_):
        dask.compute(self.side.unique(self.keys))

    def time_unique_counts(self, *_):
        dask.compute(self.side.unique(self.keys, return_counts=True))

    def time_gather_nd(self, *_):
        if self.own:
            dask.compute(self.items.vindex[self.rows[:, 0]])
        else:
            dask.compute(self.side.gather_nd(self.items, self.rows))


class Inverse:
    """A small array, because dask.array compares every item with every group."""

    params = SIDES
    param_names = ("implementation",)

    def setup_cache(self):
        keep(keys, ("int64",), SIZES[:1], (GROUPS,))

    def setup(self, name):
        self.side = da if name == "dask.array" else fastsel.dask
        x = kept(keys, "int64", SIZES[0], GROUPS)
        self.keys = da.from_array(x, chunks=SIZES[0] // CHUNKS)

    def time_unique_inverse(self, *_):
        dask.compute(self.side.unique(self.keys, return_inverse=True))
