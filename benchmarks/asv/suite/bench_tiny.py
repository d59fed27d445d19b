"""The overhead of a call: operators on 10 to 1000 items, a thousand calls at a time.

A result of n milliseconds means n microseconds per call.
"""

import itertools

from implementations import IMPLEMENTATIONS, implementation
from inputs import index_rows, items, keys, mask

CALLS = 1000
SIZES = (10, 100, 1000)


class Tiny:
    """float64 items, one of ten selected; int64, complex128 and StringDType keys in five groups."""

    params = (SIZES, IMPLEMENTATIONS)
    param_names = ("n", "implementation")

    def setup(self, n, name):
        self.side = implementation(name)
        self.x = items("float64", n, 0.1)
        self.mask = mask(n, 0.1)
        self.keys = keys("int64", n, 5)
        self.complex_keys, self.texts = keys("complex128", n, 5), keys("T", n, 5)
        self.indices = index_rows((n,), (n,))

    def call_often(self, function, *arguments):
        for _ in itertools.repeat(None, CALLS):
            function(*arguments)

    def time_nonzero(self, *_):
        self.call_often(self.side.nonzero, self.x)

    def time_flatnonzero(self, *_):
        self.call_often(self.side.flatnonzero, self.x)

    def time_argwhere(self, *_):
        self.call_often(self.side.argwhere, self.x)

    def time_count_nonzero(self, *_):
        self.call_often(self.side.count_nonzero, self.x)

    def time_compress(self, *_):
        self.call_often(self.side.compress, self.mask, self.x)

    def time_extract(self, *_):
        self.call_often(self.side.extract, self.mask, self.x)

    def time_boolean_mask(self, *_):
        self.call_often(self.side.boolean_mask, self.x, self.mask)

    def time_unique(self, *_):
        self.call_often(self.side.unique, self.keys)

    def time_unique_complex(self, *_):
        self.call_often(self.side.unique, self.complex_keys)

    def time_unique_texts(self, *_):
        self.call_often(self.side.unique, self.texts)

    def time_isin(self, *_):
        self.call_often(self.side.isin, self.keys, self.keys[:5])

    def time_intersect1d(self, *_):
        self.call_often(self.side.intersect1d, self.keys, self.keys[:5])

    def time_gather_nd(self, *_):
        self.call_often(self.side.gather_nd, self.x, self.indices)

    def time_nonzero_coordinates(self, *_):
        self.call_often(self.side.nonzero_coordinates, self.x)
