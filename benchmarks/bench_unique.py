"""unique beside NumPy's: values, first-occurrence order, all four outputs, rows."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, implementation
from inputs import keep, kept, keys, rows

DTYPES = ("uint8", "int64", "float64", "U8")
SIZES = (10_000, 300_000)
GROUPS = (25, 5_000)
WIDTHS = (2, 10)
MEMORY_SIZE = 2_000_000


class Flat:
    """One-dimensional arrays of uniformly drawn groups."""

    params = (DTYPES, SIZES, GROUPS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "n_unique", "implementation", "num_threads")

    def setup_cache(self):
        keep(keys, DTYPES, SIZES, GROUPS)

    def setup(self, dtype, n, n_unique, name, num_threads):
        if dtype == "uint8" and n_unique > 256:
            raise NotImplementedError("uint8 has 256 values")
        self.side = implementation(name, num_threads)
        self.x = kept(keys, dtype, n, n_unique)

    def time_unique(self, *_):
        self.side.unique(self.x)

    def time_unique_first_occurrence(self, *_):
        self.side.unique(self.x, sorted=False)

    def time_unique_all_outputs(self, *_):
        self.side.unique(self.x, True, True, True)


class Rows:
    """300 000 int64 items as rows."""

    params = (WIDTHS, GROUPS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("width", "n_unique", "implementation", "num_threads")

    def setup_cache(self):
        for width in WIDTHS:
            keep(rows, ("int64",), (300_000 // width,), (width,), GROUPS)

    def setup(self, width, n_unique, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(rows, "int64", 300_000 // width, width, n_unique)

    def time_unique_rows(self, *_):
        self.side.unique(self.x, axis=0)

    def time_unique_rows_first_occurrence(self, *_):
        self.side.unique(self.x, axis=0, sorted=False)


class Memory:
    """Peak memory of the process, with the input of two million int64 items and the outputs."""

    params = ((25, MEMORY_SIZE), IMPLEMENTATIONS)
    param_names = ("n_unique", "implementation")

    def setup_cache(self):
        keep(keys, ("int64",), (MEMORY_SIZE,), (25, MEMORY_SIZE))

    def setup(self, n_unique, name):
        self.side = implementation(name)
        self.x = kept(keys, "int64", MEMORY_SIZE, n_unique)

    def peakmem_unique(self, *_):
        self.side.unique(self.x)

    def peakmem_unique_all_outputs(self, *_):
        self.side.unique(self.x, True, True, True)
