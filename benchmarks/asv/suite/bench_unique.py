"""unique and group_indices of fastsel and of NumPy: values, first-occurrence order, all four
outputs, rows."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import keep, kept, keys, rows

NUMBERS = ("uint8", "int16", "int32", "int64", "float32", "float64", "complex128")
DTYPES = (*NUMBERS, "S8", "U8", "V16", "T", "object")
SIZES = (10_000, 1_000_000)
GROUPS = (2, 1000, 100_000, 1_000_000)
DISTRIBUTIONS = ("random", "zipf", "sorted", "nearly", "halves", "runs")
WIDTHS = (2, 8, 100)
ROW_ITEMS = 400_000
ROW_GROUPS = (25, 4000)
MEMORY_DTYPES = ("int64", "float64", "U8")
MEMORY_SIZE = 2_000_000


class Flat:
    """About a thousand groups, or nearly all values of uint8, in random order."""

    params = (DTYPES, SIZES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, dtype, n, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = keys(dtype, n, 1000)

    def time_unique(self, *_):
        self.side.unique(self.x)

    def time_unique_first_occurrence(self, *_):
        self.side.unique(self.x, sorted=False)

    def time_unique_all_outputs(self, *_):
        self.side.unique(self.x, True, True, True)

    def time_group_indices(self, *_):
        self.side.group_indices(self.x)


class Groups:
    """A million int64 items, with several numbers of groups and distributions."""

    params = (GROUPS, DISTRIBUTIONS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("n_unique", "distribution", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        keep(keys, ("int64",), (1_000_000,), GROUPS, DISTRIBUTIONS)

    def setup(self, n_unique, distribution, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(keys, "int64", 1_000_000, n_unique, distribution)

    def time_unique(self, *_):
        self.side.unique(self.x)

    def time_unique_first_occurrence(self, *_):
        self.side.unique(self.x, sorted=False)

    def time_unique_all_outputs(self, *_):
        self.side.unique(self.x, True, True, True)

    def time_group_indices(self, *_):
        self.side.group_indices(self.x)


class Rows:
    """400 000 int64 items as rows."""

    params = (WIDTHS, ROW_GROUPS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("width", "n_unique", "implementation", "num_threads")
    repeat = REPEAT

    def setup_cache(self):
        for width in WIDTHS:
            keep(rows, ("int64",), (ROW_ITEMS // width,), (width,), ROW_GROUPS)

    def setup(self, width, n_unique, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x = kept(rows, "int64", ROW_ITEMS // width, width, n_unique)

    def time_unique_rows(self, *_):
        self.side.unique(self.x, axis=0)

    def time_unique_rows_first_occurrence(self, *_):
        self.side.unique(self.x, axis=0, sorted=False)


class Memory:
    """Peak memory of the process, with the input of two million items and the outputs."""

    params = (MEMORY_DTYPES, (25, MEMORY_SIZE), IMPLEMENTATIONS)
    param_names = ("dtype", "n_unique", "implementation")

    def setup_cache(self):
        keep(keys, MEMORY_DTYPES, (MEMORY_SIZE,), (25, MEMORY_SIZE))

    def setup(self, dtype, n_unique, name):
        self.side = implementation(name)
        self.x = kept(keys, dtype, MEMORY_SIZE, n_unique)

    def peakmem_unique(self, *_):
        self.side.unique(self.x)

    def peakmem_unique_first_occurrence(self, *_):
        self.side.unique(self.x, sorted=False)

    def peakmem_unique_all_outputs(self, *_):
        self.side.unique(self.x, True, True, True)
