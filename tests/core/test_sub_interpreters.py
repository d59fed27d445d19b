"""Calls in a process that has, or had, a second interpreter. mod_wsgi, Jep and others make some.

In such a process, PyGILState_Check is true in every thread, and PyGILState_Ensure may switch to
another interpreter. A thread that releases a GIL that it does not hold ends the process.
"""

import signal

import pytest

from fastsel._core import _gate

# A second interpreter that shares the GIL: NumPy can be imported in no other.
CREATE = """
try:
    import _interpreters as interpreters
    interpreter = interpreters.create("legacy")
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters
    interpreter = interpreters.create(isolated=False)
"""
DESTROY = "interpreters.destroy(interpreter)\n"
CALL_ALL = """
import signal, sys, warnings
warnings.simplefilter("ignore")  # NumPy warns of a second interpreter
import numpy as np, pytest
import fastsel
from forcing import TUNING
from operators import cases

for name, value in TUNING:
    pytest.MonkeyPatch().setattr(name, value)

def call_all():
    numbers = np.arange(90).reshape(15, 6)
    with fastsel.threads(3):
        for call in (cases("calls") | cases("calls_for_fewer_dtypes")).values():
            for array in (numbers % 7, numbers.T / 2, numbers.astype("S5")[::-1]):
                call(fastsel, array)
        strings = np.array([str(k % 50) for k in range(3000)], object)
        assert len(fastsel.unique(strings)) == len(fastsel.unique(strings.astype("T"))) == 50
        with pytest.raises(IndexError, match="out of bounds"):
            fastsel.gather_nd(numbers, np.full((1000, 2), 99))
        with pytest.raises(TypeError):
            fastsel.unique(np.array([*strings, 1], object))

def handle(*_):
    raise InterruptedError
"""
EXISTS_OR_EXISTED = pytest.mark.parametrize(
    "create", [CREATE, CREATE + DESTROY], ids=["exists", "existed"]
)


@EXISTS_OR_EXISTED
def test_every_operator_works_in_each_thread(create, run_python):
    run_python(
        f"{CALL_ALL}{create}\n"
        "from callers import run_in_threads\n"
        "call_all(); run_in_threads([call_all] * 2)"
    )


@EXISTS_OR_EXISTED
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal")
def test_the_exception_of_a_handler_ends_a_call(create, run_python):
    run_python(
        f"{CALL_ALL}{create}\n"
        "fastsel.set_num_threads(2)\n"
        "signal.signal(signal.SIGALRM, handle)\n"
        "with pytest.raises(InterruptedError):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.1)\n"
        "    fastsel.count_nonzero(np.broadcast_to(True, 2**40))\n"
        "call_all()"
    )


@pytest.mark.skipif(
    not _gate.HAS_GIL, reason="without the GIL, NumPy cannot be imported in a second interpreter"
)
def test_every_operator_works_in_a_second_interpreter(run_python):
    """The first interpreter imports no NumPy: only one interpreter of a process can import it."""
    run_python(
        f"import sys\n{CREATE}\n"
        f"code = f'import sys; sys.path[:] = {{sys.path}}' + {CALL_ALL!r} + '\\ncall_all()'\n"
        "assert interpreters.run_string(interpreter, code) is None"
    )
