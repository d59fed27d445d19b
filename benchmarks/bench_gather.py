"""gather_nd beside NumPy's fancy indexing: items and rows of float32."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, implementation
from inputs import index_rows, items, keep, kept

SIDE = 64
WIDTHS = (1, 16)
COUNT = 100_000
BATCH_DIMS = (0, 1)
INDEX_DTYPES = ("int32", "int64")


class Gather:
    """Slices of ``width`` items out of (64, 64, 64, width), addressed by three coordinates.

    With one batch dimension the first coordinate is the position in the batch.
    """

    params = (WIDTHS, BATCH_DIMS, INDEX_DTYPES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("width", "batch_dims", "index", "implementation", "num_threads")

    def setup_cache(self):
        keep(items, ("float32",), [(SIDE, SIDE, SIDE, width) for width in WIDTHS], (1.0,))
        keep(index_rows, [(SIDE,) * 3], [(COUNT,)], INDEX_DTYPES)
        keep(index_rows, [(SIDE,) * 2], [(SIDE, COUNT // SIDE)], INDEX_DTYPES)

    def setup(self, width, batch_dims, index, name, num_threads):
        self.side = implementation(name, num_threads)
        self.data = kept(items, "float32", (SIDE, SIDE, SIDE, width), 1.0)
        lead = (SIDE, COUNT // SIDE) if batch_dims else (COUNT,)
        self.indices = kept(index_rows, (SIDE,) * (3 - batch_dims), lead, index)
        self.batch_dims = batch_dims

    def time_gather_nd(self, *_):
        self.side.gather_nd(self.data, self.indices, self.batch_dims)

    def peakmem_gather_nd(self, *_):
        self.side.gather_nd(self.data, self.indices, self.batch_dims)
