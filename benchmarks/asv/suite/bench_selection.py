"""nonzero, flatnonzero, argwhere, count_nonzero and first_nonzero of fastsel and of NumPy."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import items, keep, kept

DTYPES = ("bool", "uint8", "int32", "float32", "int64", "float64")
SIZES = (10_000, 1_000_000, 10_000_000)
DENSITIES = (0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
DISTRIBUTIONS = ("random", "runs")
SHAPES = ((1000, 1000), (100, 100, 100))
LAYOUTS = ("C", "transposed", "strided")
MEMORY_SIZE = 4_000_000
MEMORY_DENSITIES = (0.01, 0.5)


class Flat:
    """One-dimensional arrays; one of ten items, at random, is non-zero."""

    params = (DTYPES, SIZES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, DTYPES, SIZES, (0.1,))

    def setup(self, dtype, n, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, n, 0.1)

    def time_nonzero(self, *_):
        self.side.nonzero(self.x)

    def time_nonzero_int32(self, *_):
        self.side.nonzero(self.x, dtype="int32")

    def time_flatnonzero(self, *_):
        self.side.flatnonzero(self.x)

    def time_argwhere(self, *_):
        self.side.argwhere(self.x)

    def time_count_nonzero(self, *_):
        self.side.count_nonzero(self.x)


class Densities:
    """A million items, with several densities and distributions of the non-zero items."""

    params = (("bool", "float64"), DENSITIES, DISTRIBUTIONS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "density", "distribution", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, ("bool", "float64"), (1_000_000,), DENSITIES, DISTRIBUTIONS)

    def setup(self, dtype, density, distribution, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, 1_000_000, density, distribution)

    def time_nonzero(self, *_):
        self.side.nonzero(self.x)

    def time_count_nonzero(self, *_):
        self.side.count_nonzero(self.x)


class Shaped:
    """A million float64 items in several layouts; one of ten items is non-zero."""

    params = (SHAPES, LAYOUTS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("shape", "layout", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, ("float64",), SHAPES, (0.1,))

    def setup(self, shape, layout, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, "float64", shape, 0.1, layout=layout)

    def time_nonzero(self, *_):
        self.side.nonzero(self.x)

    def time_argwhere(self, *_):
        self.side.argwhere(self.x)

    def time_count_nonzero_of_rows(self, *_):
        self.side.count_nonzero(self.x, axis=-1)


class First:
    """A million items; `first` is the position of the first non-zero item as a share of all items,
    or 1 if there is none."""

    params = (("bool", "int32", "float64"), (0.01, 0.5, 1), IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "first", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, ("bool", "int32", "float64"), (1_000_000,), (0.0,))

    def setup(self, dtype, first, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, 1_000_000, 0.0).copy()
        self.x[int(first * self.x.size) :] = 1

    def time_first_nonzero(self, *_):
        self.side.first_nonzero(self.x)


class Memory:
    """Peak memory of the process, with the input of four million items and the outputs."""

    params = (("bool", "float64"), MEMORY_DENSITIES, IMPLEMENTATIONS)
    param_names = ("dtype", "density", "implementation")

    def setup_cache(self):
        keep(items, ("bool", "float64"), (MEMORY_SIZE,), MEMORY_DENSITIES)

    def setup(self, dtype, density, name):
        self.side = implementation(name)
        self.x = kept(items, dtype, MEMORY_SIZE, density)

    def peakmem_nonzero(self, *_):
        self.side.nonzero(self.x)

    def peakmem_flatnonzero(self, *_):
        self.side.flatnonzero(self.x)

    def peakmem_argwhere(self, *_):
        self.side.argwhere(self.x)

    def peakmem_count_nonzero(self, *_):
        self.side.count_nonzero(self.x)
