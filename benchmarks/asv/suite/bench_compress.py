"""compress, extract and boolean_mask of fastsel and of NumPy."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import items, keep, kept, mask

DTYPES = ("bool", "uint8", "int32", "float32", "int64", "float64")
SIZES = (10_000, 1_000_000, 10_000_000)
DENSITIES = (0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
DISTRIBUTIONS = ("random", "runs")
SHAPES = ((500_000, 2), (100_000, 10), (10_000, 100), (1000, 1000))
MEMORY_SIZE = 4_000_000
MEMORY_DENSITIES = (0.01, 0.5)


class Flat:
    """One-dimensional arrays; a random mask selects one of ten items."""

    params = (DTYPES, SIZES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, DTYPES, SIZES, (1.0,))
        keep(mask, SIZES, (0.1,))

    def setup(self, dtype, n, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, n, 1.0)
        self.mask = kept(mask, n, 0.1)

    def time_compress(self, *_):
        self.side.compress(self.mask, self.x)

    def time_extract(self, *_):
        self.side.extract(self.mask, self.x)

    def time_boolean_mask(self, *_):
        self.side.boolean_mask(self.x, self.mask)


class Densities:
    """A million items, with masks of several densities and distributions."""

    params = (("uint8", "float64"), DENSITIES, DISTRIBUTIONS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "density", "distribution", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, ("uint8", "float64"), (1_000_000,), (1.0,))
        keep(mask, (1_000_000,), DENSITIES, DISTRIBUTIONS)

    def setup(self, dtype, density, distribution, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, 1_000_000, 1.0)
        self.mask = kept(mask, 1_000_000, density, distribution)

    def time_compress(self, *_):
        self.side.compress(self.mask, self.x)


class Apart:
    """A million items, every second item of a buffer or in reversed order; 99 % are selected."""

    params = (("uint8", "float64"), ("strided", "reversed"), IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "layout", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, dtype, layout, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = items(dtype, 1_000_000, 1.0, layout=layout)
        self.mask = mask(1_000_000, 0.99)

    def time_compress(self, *_):
        self.side.compress(self.mask, self.x)

    def time_boolean_mask(self, *_):
        self.side.boolean_mask(self.x, self.mask)


class Rows:
    """A million float64 items; the mask selects one of ten rows, or one of ten columns."""

    params = (SHAPES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("shape", "implementation", "num_threads")
    repeat = REPEAT

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

    params = (MEMORY_DENSITIES, IMPLEMENTATIONS)
    param_names = ("density", "implementation")

    def setup_cache(self):
        keep(items, ("float64",), (MEMORY_SIZE,), (1.0,))
        keep(mask, (MEMORY_SIZE,), MEMORY_DENSITIES)

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
