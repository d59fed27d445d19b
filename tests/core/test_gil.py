"""Kernels of large arrays of numbers release the GIL: other Python threads run during a call."""

import sys
import threading

import numpy as np
import pytest
from callers import run_in_threads
from operators import cases

import fastsel
from fastsel._core import _gate
from fastsel._unique import _keys, string_objects

NUMBERS = np.random.default_rng(1).permutation(1 << 20)
pytestmark = pytest.mark.thread_unsafe(reason="sets the switch interval of all threads")

CALLS = cases("large")


def ticks_during(call, calls=1000):
    """For each of up to `calls` calls, whether another Python thread ran meanwhile; the last of
    them is the first for which one did. The switch interval is so long that Python makes no thread
    give up the GIL: the other thread counts ticks only while the call releases the GIL."""
    ticks, has_ticked, done = [0], [], threading.Event()

    def call_again_and_again():
        try:
            while len(has_ticked) < calls and not any(has_ticked):
                before = ticks[0]
                call()
                has_ticked.append(ticks[0] > before)
        finally:
            done.set()

    def tick():
        while not done.wait(1e-6):
            ticks[0] += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        run_in_threads([call_again_and_again, tick])
    finally:
        sys.setswitchinterval(interval)
    return has_ticked


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_meanwhile(name):
    function, *arguments = CALLS[name](NUMBERS)  # not in the call: NumPy releases the GIL, too

    def call():
        with fastsel.threads(1):
            function(*arguments)

    assert any(ticks_during(call))


@pytest.mark.skipif(not _gate.HAS_GIL, reason="without the GIL, unique reads a copy of the array")
@pytest.mark.parametrize("threads", [1, 2])
def test_no_thread_replaces_objects_that_other_threads_read(threads):
    """The strings are one round: between two rounds, other Python threads may run."""
    texts = np.array([f"{k:0200}" for k in range(1 << 16)], object)
    assert not any(
        ticks_during(lambda: string_objects.hash_strings(texts, _keys.SEEDS, threads), 100)
    )


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
