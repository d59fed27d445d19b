"""gather_nd of fastsel, and NumPy's fancy indexing: items and slices."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import index_rows, items, keep, kept

SIDE = 64
DTYPES = ("float32", "float64")
WIDTHS = (1, 16, 256)
COUNTS = (4096, 65_536)
BATCH_DIMS = (0, 1, 2)
INDEX_DTYPES = ("int32", "int64")
DISTRIBUTIONS = ("random", "sorted")


def data_shape(width):
    return (SIDE, SIDE, SIDE, width)


def lead(count, batch_dims):
    """The shape of the index rows, without their last axis."""
    return (SIDE,) * batch_dims + (count // SIDE**batch_dims,)


class Gather:
    """Slices of ``width`` items of an array (64, 64, 64, width), each at three coordinates.

    With batch dimensions, the first coordinates are the position in the batch.
    """

    params = (WIDTHS, COUNTS, BATCH_DIMS, INDEX_DTYPES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("width", "count", "batch_dims", "index", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, ("float32",), map(data_shape, WIDTHS), (1.0,))
        for batch_dims in BATCH_DIMS:
            leads = [lead(count, batch_dims) for count in COUNTS]
            keep(index_rows, [(SIDE,) * (3 - batch_dims)], leads, INDEX_DTYPES)

    def setup(self, width, count, batch_dims, index, name, num_threads):
        self.side = implementation(name, num_threads)
        self.data = kept(items, "float32", data_shape(width), 1.0)
        shape = (SIDE,) * (3 - batch_dims)
        self.indices = kept(index_rows, shape, lead(count, batch_dims), index)
        self.batch_dims = batch_dims

    def time_gather_nd(self, *_):
        self.side.gather_nd(self.data, self.indices, self.batch_dims)


class Order:
    """65 536 items or slices in random and in ascending order."""

    params = (DTYPES, WIDTHS, DISTRIBUTIONS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "width", "distribution", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, DTYPES, map(data_shape, WIDTHS), (1.0,))
        keep(index_rows, [(SIDE,) * 3], [(65_536,)], ("int64",), DISTRIBUTIONS)

    def setup(self, dtype, width, distribution, name, num_threads):
        self.side = implementation(name, num_threads)
        self.data = kept(items, dtype, data_shape(width), 1.0)
        self.indices = kept(index_rows, (SIDE,) * 3, (65_536,), "int64", distribution)

    def time_gather_nd(self, *_):
        self.side.gather_nd(self.data, self.indices)


class Memory:
    """Peak memory of the process, with data, indices and the output of 65 536 slices."""

    params = (WIDTHS, IMPLEMENTATIONS)
    param_names = ("width", "implementation")

    def setup_cache(self):
        keep(items, ("float32",), map(data_shape, WIDTHS), (1.0,))
        keep(index_rows, [(SIDE,) * 3], [(65_536,)])

    def setup(self, width, name):
        self.side = implementation(name)
        self.data = kept(items, "float32", data_shape(width), 1.0)
        self.indices = kept(index_rows, (SIDE,) * 3, (65_536,))

    def peakmem_gather_nd(self, *_):
        self.side.gather_nd(self.data, self.indices)
