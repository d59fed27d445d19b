"""Signals during a call: handlers run in time, what they raise ends the call."""

import os
import signal
from collections import Counter

import numpy as np
import pytest

import fastsel

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timer signal"
)

# Calls of minutes; a signal comes after 0.3 s.
ENDLESS = {
    "count_nonzero": "fastsel.count_nonzero(np.broadcast_to(True, 2**40))",
    "count_nonzero_rows": "fastsel.count_nonzero(np.broadcast_to(True, (2**20, 2**20)), axis=1)",
    "count_nonzero_few_columns": "fastsel.count_nonzero(np.broadcast_to(1.0, (2**39, 2)), axis=0)",
    "nonzero": "fastsel.nonzero(false.reshape(2**18, 2**18))",
    "nonzero_tiles": (
        "fastsel.nonzero(np.broadcast_to(np.zeros((16, 2**14), bool).T, (2**18, 2**14, 16)))"
    ),
    "nonzero_few_long_rows": (
        "fastsel.nonzero(np.broadcast_to(np.zeros((16, 1, 64), bool).T, (64, 2**26, 16)))"
    ),
    "flatnonzero": "fastsel.flatnonzero(false)",
    "nonzero_coordinates": "fastsel.nonzero_coordinates(false, capacity=1, dtype=np.int64)",
    "extract": "fastsel.extract(false, false)",
    "boolean_mask": "fastsel.boolean_mask(false, false)",
    "gather_nd": "fastsel.gather_nd(np.zeros((3, 0)), np.broadcast_to([[1]], (2**36, 1)))",
}

CTRL_C = """
import os, signal, threading
import numpy as np
import fastsel
fastsel.set_num_threads({threads})
array = np.arange(300_000) % 3
before = fastsel.flatnonzero(array)
false = np.broadcast_to(False, 2**36)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
assert (fastsel.flatnonzero(array) == before).all()
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_ends_a_call(name, threads, run_python):
    code = CTRL_C.format(call=ENDLESS[name], threads=threads)
    assert run_python(code, timeout=30) == "interrupted\n"


def long_calls():
    """Calls that spend some tenths of a second in one kernel; on a quick machine, some times that:
    each is a function of how many times it is to read its input."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 5_000_000, 20_000_000)
    rows = rng.integers(0, 20_000_000, (20_000_000, 1))

    def unique(words, times):
        return fastsel.unique(repeated(words, times), sorted=False, return_inverse=True)

    return {
        "count_nonzero": lambda times: fastsel.count_nonzero(repeated(True, times * 10**9)),
        "count_nonzero_axis": lambda times: fastsel.count_nonzero(
            np.broadcast_to(True, (times * 10**8, 2)), axis=0
        ),
        "nonzero": lambda times: fastsel.nonzero(np.broadcast_to(True, (2, 2, times * 2**24))),
        "boolean_mask": lambda times: fastsel.boolean_mask(
            np.broadcast_to(1.0, (times * 2**15, 2**11)), np.ones(times * 2**15, bool)
        ),
        "gather_nd": lambda times: fastsel.gather_nd(words, repeated(rows, times)),
        "unique_places": lambda times: unique(words % 5000, times),
        "unique_tables": lambda times: unique(words % 5000 << 40, times),
        "unique_partitions": lambda times: unique(words, times),
    }


def repeated(array, times):
    return np.broadcast_to(array, (times, *np.shape(array)))


@pytest.fixture
def timer():
    """Function that calls another one every few milliseconds, by a signal."""

    def start(function):
        signal.signal(signal.SIGALRM, lambda number, frame: function(frame))
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", long_calls())
def test_handlers_run_during_a_call(name, timer):
    """More than once at the same bytecode of a call: a handler that has to wait runs once."""
    call = long_calls()[name]
    assert any(runs_handlers(call, times, timer) for times in (1, 2, 4, 8, 16))


def runs_handlers(call, times, timer):
    places = Counter()
    timer(lambda frame: places.update([(frame.f_code, frame.f_lasti)]))
    with fastsel.threads(1):
        call(times)
    seen = {code.co_filename for (code, _), count in places.items() if count > 1}
    return any(os.path.basename(os.path.dirname(file)) == "fastsel" for file in seen)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_handler_may_call_fastsel(threads, timer):
    array = np.arange(200_000) % 3
    results = []
    timer(lambda frame: results.append(fastsel.flatnonzero(array)))
    with fastsel.threads(threads):
        assert fastsel.count_nonzero(np.broadcast_to(True, 10**9)) == 10**9
    assert results
    assert all((result == np.flatnonzero(array)).all() for result in results)


FORK = """
import os, signal, time
import numpy as np
import fastsel
fastsel.set_num_threads(2)
parent = os.getpid()

def fork(number, frame):
    global child
    child = os.fork()

signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    count = fastsel.count_nonzero(np.broadcast_to(True, 2**33))
except RuntimeError as error:
    assert os.getpid() != parent and "forked" in str(error)
    os._exit(7)
assert os.getpid() == parent and count == 2**33
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not fastsel._kernels.slices.is_threaded(), reason="a serial child can go on")
def test_a_handler_that_forks_leaves_no_result_half_done(run_python):
    run_python(FORK)


OTHER_THREAD = """
import os, signal, threading
import numpy as np
import fastsel
fastsel.set_num_threads(2)
counts = []
large = np.broadcast_to(True, 2**30)
worker = threading.Thread(target=lambda: counts.append(fastsel.count_nonzero(large)))
worker.start()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        fastsel.count_nonzero(large)
except KeyboardInterrupt:
    worker.join()
assert counts == [2**30]
"""


def test_an_interrupt_is_the_main_threads(run_python):
    run_python(OTHER_THREAD)


def test_an_interrupted_call_leaves_its_input_and_part_of_out(timer):
    """Rows that were written are those of the result."""
    data = np.arange(100, dtype=np.int8)
    before = data.copy()
    indices = repeated(np.random.default_rng(3).integers(0, 100, (1_000_000, 1)), 300)
    out = np.full(indices.shape[:-1], -1, np.int8)

    def interrupt(frame):
        if frame.f_code.co_filename == fastsel._gather.__file__ and out[0, 0] != -1:
            raise KeyboardInterrupt

    timer(interrupt)
    with fastsel.threads(1), pytest.raises(KeyboardInterrupt):
        fastsel.gather_nd(data, indices, out=out)
    assert ((out == -1) | (out == indices[..., 0])).all()
    assert (data == before).all()
