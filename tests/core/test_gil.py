"""Kernels of large arrays of numbers release the GIL: other Python threads run during a call."""

import sys
import threading

import numpy as np
import pytest
from callers import run_in_threads

import fastsel

NUMBERS = np.random.default_rng(1).permutation(1 << 20)
# The arguments are made before the calls, because NumPy releases the GIL as well.
CALLS = {
    "nonzero": (fastsel.nonzero, NUMBERS),
    "flatnonzero": (fastsel.flatnonzero, NUMBERS),
    "argwhere": (fastsel.argwhere, NUMBERS.reshape(-1, 8)),
    "first_nonzero": (fastsel.first_nonzero, np.zeros(1 << 22)),
    "first_nonzero_axis": (fastsel.first_nonzero, np.zeros((1 << 10, 1 << 10)), 0),
    "count_nonzero": (fastsel.count_nonzero, NUMBERS.reshape(-1, 8), 0),
    "compress": (fastsel.compress, NUMBERS, NUMBERS),
    "extract": (fastsel.extract, NUMBERS, NUMBERS),
    "boolean_mask": (fastsel.boolean_mask, NUMBERS, NUMBERS > 1),
    "gather_nd": (fastsel.gather_nd, NUMBERS, NUMBERS[:, None]),
    "unique_in_order": (fastsel.unique, np.arange(1 << 20)),
    "unique_dense": (fastsel.unique, NUMBERS % 1000),
    "unique_tables": (fastsel.unique, NUMBERS % 1000 * 1_000_003),
    "unique_partitions": (fastsel.unique, NUMBERS // 10 * 1_000_003),
    "unique_sorting": (fastsel.unique, NUMBERS * 1_000_003),
    "group_indices": (fastsel.group_indices, NUMBERS % 1000),
    "group_indices_sorting": (fastsel.group_indices, NUMBERS * 1_000_003),
    "nonzero_coordinates": (fastsel.nonzero_coordinates, NUMBERS.reshape(-1, 8)),
    "isin_range": (fastsel.isin, NUMBERS, NUMBERS[:1000]),
    "isin_table": (fastsel.isin, NUMBERS * 1_000_003, NUMBERS[:1000] * 1_000_003),
    "isin_partitions": (fastsel.isin, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
    "index_in": (fastsel.index_in, NUMBERS, NUMBERS[::2]),
    "index_in_partitions": (fastsel.index_in, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
    "intersect1d": (fastsel.intersect1d, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
    "union1d": (fastsel.union1d, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
    "setdiff1d": (fastsel.setdiff1d, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
    "setxor1d": (fastsel.setxor1d, NUMBERS * 1_000_003, NUMBERS[::2] * 1_000_003),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_meanwhile(name):
    """The switch interval is so long that Python makes no thread give up the GIL: the second thread
    counts ticks only while the call releases the GIL."""
    function, *arguments = CALLS[name]
    ticks, has_ticked, done = [0], [], threading.Event()

    def call():
        try:
            with fastsel.threads(1):
                while len(has_ticked) < 1000 and not any(has_ticked):
                    before = ticks[0]
                    function(*arguments)
                    has_ticked.append(ticks[0] > before)
        finally:
            done.set()

    def tick():
        while not done.wait(1e-6):
            ticks[0] += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        run_in_threads([call, tick])
    finally:
        sys.setswitchinterval(interval)
    assert any(has_ticked)


def test_the_import_leaves_the_gil_off_and_warns_of_nothing(run_python):
    """A free-threaded Python enables the GIL, with a warning, for a kernel that needs it."""
    run_python(
        """
import sys, sysconfig
import numpy, fastsel
is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
assert getattr(sys, "_is_gil_enabled", lambda: True)() != is_free
""",
        PYTHONWARNINGS="error",
        PYTHON_GIL=None,
    )
