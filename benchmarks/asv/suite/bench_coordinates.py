"""nonzero_coordinates of fastsel; and NumPy's argwhere, copied to an array with a row per item."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import items, keep, kept

DTYPES = ("bool", "uint8", "float32", "float64")
SHAPES = ((1, 1, 100, 100), (10, 100, 1000))
DENSITIES = (0.01, 0.5)


class Coordinates:
    """Random items; leading dimensions of size 1 are usual in DirectML."""

    params = (DTYPES, SHAPES, DENSITIES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "shape", "density", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(items, DTYPES, SHAPES, DENSITIES)

    def setup(self, dtype, shape, density, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(items, dtype, shape, density)

    def time_nonzero_coordinates(self, *_):
        self.side.nonzero_coordinates(self.x)

    def peakmem_nonzero_coordinates(self, *_):
        self.side.nonzero_coordinates(self.x)
