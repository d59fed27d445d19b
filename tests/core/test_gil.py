"""Kernels of large arrays of numbers release the GIL: other Python threads run during a call."""

import sys
import threading

import numpy as np
import pytest
from callers import run_in_threads
from operators import cases

import fastsel

NUMBERS = np.random.default_rng(1).permutation(1 << 20)
CALLS = cases("large")


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_meanwhile(name):
    """The switch interval is so long that Python makes no thread give up the GIL: the second thread
    counts ticks only while the call releases the GIL."""
    function, *arguments = CALLS[name](NUMBERS)  # not in the call: NumPy releases the GIL, too
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
