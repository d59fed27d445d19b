"""compress, extract and boolean_mask beside NumPy's."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, implementation
from inputs import items, keep, kept, mask

DTYPES = ("uint8", "int32", "float64")
SIZES = (10_000, 1_000_000)
DENSITIES = (0.01, 0.5)
SHAPES = ((100_000, 10), (1000, 1000))
MEMORY_SIZE = 4_000_000


class Flat:
    """One-dimensional arrays and random masks."""

    params = (DTYPES, SIZES, DENSITIES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "density", "implementation", "num_threads")

    def setup_cache(self):
        keep(items, DTYPES, SIZES, (1.0,))
        keep(mask, SIZES, DENSITIES)

    def setup(self, dtype, n, density, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, n, 1.0)
        self.mask = kept(mask, n, density)

    def time_compress(self, *_):
        self.side.compress(self.mask, self.x)

    def time_extract(self, *_):
        self.side.extract(self.mask, self.x)

    def time_boolean_mask(self, *_):
        self.side.boolean_mask(self.x, self.mask)


class Rows:
    """A million float64 items: one row of ten, or one column of ten, is kept."""

    params = (SHAPES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("shape", "implementation", "num_threads")

    def setup_cache(self):
        keep(items, ("float64",), SHAPES, (1.0,))
        keep(mask, {n for shape in SHAPES for n in shape}, (0.1,))

    def setup(self, shape, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, "float64", shape, 1.0)
        self.rows = kept(mask, shape[0], 0.1)
        self.columns = kept(mask, shape[1], 0.1)

    def time_compress_rows(self, *_):
        self.side.compress(self.rows, self.x, axis=0)

    def time_compress_columns(self, *_):
        self.side.compress(self.columns, self.x, axis=1)

    def time_boolean_mask_rows(self, *_):
        self.side.boolean_mask(self.x, self.rows)


class Memory:
    """Peak memory of the process, with the input of four million float64 items and the output."""

    params = (DENSITIES, IMPLEMENTATIONS)
    param_names = ("density", "implementation")

    def setup_cache(self):
        keep(items, ("float64",), (MEMORY_SIZE,), (1.0,))
        keep(mask, (MEMORY_SIZE,), DENSITIES)

    def setup(self, density, name):
        self.side = implementation(name)
        self.x = kept(items, "float64", MEMORY_SIZE, 1.0)
        self.mask = kept(mask, MEMORY_SIZE, density)

    def peakmem_compress(self, *_):
        self.side.compress(self.mask, self.x)

    def peakmem_extract(self, *_):
        self.side.extract(self.mask, self.x)

    def peakmem_boolean_mask(self, *_):
        self.side.boolean_mask(self.x, self.mask)
