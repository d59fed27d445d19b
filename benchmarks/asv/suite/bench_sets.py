"""isin, index_in and the functions of sorted sets of fastsel and of NumPy."""

from implementations import IMPLEMENTATIONS, NUM_THREADS, REPEAT, implementation
from inputs import keep, kept, two_sets, two_sets_of_rows

DTYPES = ("uint8", "int32", "int64", "float32", "float64", "U8", "object")
SIZES = (10_000, 1_000_000)
TESTS = (10, 1000, 100_000, 1_000_000)
DISTRIBUTIONS = ("random", "sorted", "narrow")
MEMORY_SIZE = 2_000_000


class Membership:
    """Few test elements. About half of the items are among them, or nearly all items of uint8 if
    there are 1000 test elements."""

    params = (DTYPES, SIZES, (1, 10, 1000), IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("dtype", "n", "tests", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, dtype, n, tests, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x, self.tests = two_sets(dtype, n, tests)

    def time_isin(self, *_):
        self.side.isin(self.x, self.tests)


class Sets:
    """A million int64 items, and from ten to a million test elements."""

    params = (TESTS, DISTRIBUTIONS, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("tests", "distribution", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, tests, distribution, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x, self.tests = two_sets("int64", 1_000_000, tests, distribution)

    def time_isin(self, *_):
        self.side.isin(self.x, self.tests)

    def time_index_in(self, *_):
        self.side.index_in(self.x, self.tests)

    def time_intersect1d(self, *_):
        self.side.intersect1d(self.x, self.tests)

    def time_union1d(self, *_):
        self.side.union1d(self.x, self.tests)

    def time_setdiff1d(self, *_):
        self.side.setdiff1d(self.x, self.tests)

    def time_setxor1d(self, *_):
        self.side.setxor1d(self.x, self.tests)


class Rows:
    """A hundred thousand int64 rows; about half of them are among the test rows."""

    params = ((2, 8), (1000, 100_000), IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("width", "tests", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, width, tests, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x, self.tests = two_sets_of_rows("int64", 100_000, tests, width)

    def time_isin(self, *_):
        self.side.isin(self.x, self.tests, axis=0)


class MostlyNaN:
    """Nine of ten items of both arrays are NaN."""

    params = (SIZES, IMPLEMENTATIONS, NUM_THREADS)
    param_names = ("n", "implementation", "num_threads")
    repeat = REPEAT

    def setup(self, n, name, num_threads):
        self.side = implementation(name, num_threads)
        self.x, self.tests = two_sets("float64", n, n, "nan")

    def time_isin(self, *_):
        self.side.isin(self.x, self.tests)

    def time_setxor1d(self, *_):
        self.side.setxor1d(self.x, self.tests)


class Memory:
    """Peak memory of the process, with two arrays of two million items and the outputs."""

    params = (("int64", "float64"), IMPLEMENTATIONS)
    param_names = ("dtype", "implementation")

    def setup_cache(self):
        keep(two_sets, ("int64", "float64"), (MEMORY_SIZE,), (MEMORY_SIZE,))

    def setup(self, dtype, name):
        self.side = implementation(name)
        self.x, self.tests = kept(two_sets, dtype, MEMORY_SIZE, MEMORY_SIZE)

    def peakmem_isin(self, *_):
        self.side.isin(self.x, self.tests)

    def peakmem_setxor1d(self, *_):
        self.side.setxor1d(self.x, self.tests)
