"""Signals during a call: handlers run in time, what they raise ends the call."""

import contextlib
import functools
import signal
from collections import Counter

import numpy as np
import pytest
from forcing import force
from grids import slow
from unique_kernels import sort_keys

import fastsel
from fastsel._core import scratch
from fastsel._unique import _keys

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal"),
    pytest.mark.thread_unsafe(reason="sends signals, which the main thread handles"),
]

# Calls of minutes, or as long as memory for their bitmask lets them be.
ENDLESS = {
    "count_nonzero": "fastsel.count_nonzero(np.broadcast_to(True, 2**40))",
    "count_nonzero_rows": "fastsel.count_nonzero(np.broadcast_to(True, (2**20, 2**20)), axis=1)",
    "count_nonzero_few_columns": "fastsel.count_nonzero(np.broadcast_to(1.0, (2**39, 2)), axis=0)",
    "first_nonzero": "fastsel.first_nonzero(false)",
    "first_nonzero_rows": "fastsel.first_nonzero(false.reshape(2**10, 2**24), axis=1)",
    "first_nonzero_columns": "fastsel.first_nonzero(np.broadcast_to(0.0, (2**29, 40)), axis=0)",
    "first_nonzero_short_rows": "fastsel.first_nonzero(false.reshape(2**28, 64), axis=1)",
    "first_nonzero_objects": "fastsel.first_nonzero(np.broadcast_to(np.array(None), 2**34))",
    "nonzero": "fastsel.nonzero(false.reshape(2**17, 2**17))",
    "nonzero_tiles": (
        "fastsel.nonzero(np.broadcast_to(np.zeros((16, 2**14), bool).T, (2**16, 2**14, 16)))"
    ),
    "nonzero_few_long_rows": (
        "fastsel.nonzero(np.broadcast_to(np.zeros((16, 1, 64), bool).T, (64, 2**24, 16)))"
    ),
    "flatnonzero": "fastsel.flatnonzero(false)",
    "nonzero_coordinates": "fastsel.nonzero_coordinates(false, capacity=1, dtype=np.int64)",
    "extract": "fastsel.extract(false, false)",
    "boolean_mask": "fastsel.boolean_mask(false, false)",
    "gather_nd": "fastsel.gather_nd(np.zeros((3, 0)), np.broadcast_to([[1]], (2**36, 1)))",
}

# A signal every few milliseconds. Its handler raises when it runs again at the same bytecode of one
# call: so both times came from within the call, not from what follows a call that ignored signals.
CTRL_C = """
import signal
import numpy as np
import fastsel
{before}
fastsel.set_num_threads({threads})
array = np.arange(300_000) % 3
before = fastsel.flatnonzero(array)
false = np.broadcast_to(False, 2**34)
calls = {{
    {calls}
}}
places = set()

def interrupt(number, frame):
    place = frame.f_code, frame.f_lasti
    if place in places and frame.f_code.co_filename.startswith(fastsel.__path__[0]):
        raise KeyboardInterrupt
    places.add(place)

signal.signal(signal.SIGALRM, interrupt)
for name, call in calls.items():
    places.clear()
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        call()
        ended = "by itself"
    except KeyboardInterrupt:
        ended = "by a signal"
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(name, ended, sep=": ", flush=True)
    assert (fastsel.flatnonzero(array) == before).all()
"""


def how_calls_end(run_python, calls, threads, before=""):
    calls = "\n    ".join(f'"{name}": lambda: {call},' for name, call in calls.items())
    code = CTRL_C.format(calls=calls, threads=threads, before=before)
    return dict(line.split(": ") for line in run_python(code).splitlines())


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_call(threads, run_python):
    found = how_calls_end(run_python, ENDLESS, threads)
    assert found == dict.fromkeys(ENDLESS, "by a signal")


def test_a_call_that_ignores_signals_is_noticed(run_python):
    """The test above notices it: here, no thread is the one that handles signals."""
    ignored = "from fastsel._core import parallel; parallel.set_main_thread(0)"
    call = "fastsel.count_nonzero(np.broadcast_to(True, 2**31))"
    assert how_calls_end(run_python, {"call": call}, 2, ignored) == {"call": "by itself"}


def repeatedly_unique(words, times):
    return fastsel.unique(repeated(words, times), sorted=False, return_inverse=True)


# Calls that spend some time in one kernel, as functions of how many times they are to read their
# input; `words` are random, and so are `rows`, places among them.
LONG_CALLS = {
    "count_nonzero": lambda words, rows, times: fastsel.count_nonzero(
        repeated(True, times * 10**8)
    ),
    "count_nonzero_axis": lambda words, rows, times: fastsel.count_nonzero(
        np.broadcast_to(True, (times * 10**7, 2)), axis=0
    ),
    "first_nonzero": lambda words, rows, times: fastsel.first_nonzero(
        repeated(False, times * 10**8)
    ),
    "nonzero": lambda words, rows, times: fastsel.nonzero(
        repeated(words.reshape(2, -1) % 16 == 0, times)
    ),
    "boolean_mask": lambda words, rows, times: fastsel.boolean_mask(
        np.broadcast_to(1.0, (times * 2**12, 2**11)), np.ones(times * 2**12, bool)
    ),
    "gather_nd": lambda words, rows, times: fastsel.gather_nd(words, repeated(rows, times)),
    "unique_places": lambda words, rows, times: repeatedly_unique(words % 5000, times),
    "unique_tables": lambda words, rows, times: repeatedly_unique(words % 5000 << 40, times),
    "unique_values": lambda words, rows, times: fastsel.unique(np.tile(words, times)),
    "unique_partitions": lambda words, rows, times: repeatedly_unique(words, times),
    "group_indices": lambda words, rows, times: fastsel.group_indices(np.tile(words % 5000, times)),
    "isin_range": lambda words, rows, times: fastsel.isin(np.tile(words, times), np.arange(10**6)),
    "isin_table": lambda words, rows, times: fastsel.isin(
        np.tile(words << 40, times), np.arange(5000) << 40
    ),
    "index_in_few": lambda words, rows, times: fastsel.index_in(np.tile(words, times), words[:9]),
    "isin_partitions": lambda words, rows, times: fastsel.isin(
        np.tile(words << 40, times), words[:1_000_000] << 40
    ),
}


def repeated(array, times):
    return np.broadcast_to(array, (times, *np.shape(array)))


@contextlib.contextmanager
def every_few_milliseconds(handle):
    """A block during which a signal's handler calls `handle(frame)` again and again."""
    before = signal.signal(signal.SIGALRM, lambda number, frame: handle(frame))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", LONG_CALLS)
def test_handlers_run_during_a_call(name):
    """More than once at the same bytecode of a call: a handler that has to wait runs once. The
    calls grow until they are long enough for that."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2_000_000, 2_000_000)
    rows = rng.integers(0, 2_000_000, (2_000_000, 1))
    call = functools.partial(LONG_CALLS[name], words, rows)
    assert any(runs_handlers(call, 2**k) for k in range(2, 9))


def runs_handlers(call, times):
    places = Counter()
    with (
        fastsel.threads(1),
        every_few_milliseconds(lambda frame: places.update([(frame.f_code, frame.f_lasti)])),
    ):
        call(times)
    seen = {code.co_filename for (code, _), count in places.items() if count > 1}
    return any(file.startswith(fastsel.__path__[0]) for file in seen)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_sort(threads):
    """Between two of its parts. The memory in which a part was sorted is cached when the part is
    done, and is more than the passes before it cache. If handlers had to wait for the last part,
    they would run once, and perhaps once more in the pass that follows. A first signal that comes
    late sees the memory of a part already, and tells nothing: then the sort is tried again."""
    rng = np.random.default_rng(1)
    sizes = [2**k for _ in range(8) for k in (24, 25, 26)]
    assert any(ends_a_sort(rng.integers(0, 2**62, size), threads) for size in sizes)


def ends_a_sort(items, threads):
    keys = _keys.keys_of(items, True)
    at_start, sorting = [], []

    def interrupt(frame):
        kept = scratch.cached_bytes(), frame.f_lasti
        at_start[:] = at_start or [kept]
        if kept[0] > at_start[0][0] and kept[1] == at_start[0][1]:
            sorting.append(kept)
            if len(sorting) == 3:
                raise KeyboardInterrupt

    before = items.copy()
    fastsel.release_memory()
    try:
        with every_few_milliseconds(interrupt):
            sort_keys(keys, threads=threads)
    except KeyboardInterrupt:
        assert (items == before).all()
        return True
    return False


@pytest.mark.parametrize("threads", [1, 2])
def test_a_handler_may_call_fastsel(threads):
    array = np.arange(200_000) % 3
    results, running = [], []

    def handle(frame):
        if not running:  # the next signal may come before a handler has ended
            running.append(frame)
            results.append(fastsel.flatnonzero(array))
            running.clear()

    with fastsel.threads(threads), every_few_milliseconds(handle):
        while not results:
            assert fastsel.count_nonzero(np.broadcast_to(True, 10**9)) == 10**9
    assert all((result == np.flatnonzero(array)).all() for result in results)


FORK = """
import os, signal
import numpy as np
import fastsel
fastsel.set_num_threads(2)
parent = os.getpid()

child = None

def fork(number, frame):
    global child
    child = os.fork()

signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.02)
while child is None:
    assert fastsel.count_nonzero(np.broadcast_to(True, 2**29)) == 2**29
for _ in range(3):  # the processes have run the same number of calls
    assert fastsel.count_nonzero(np.broadcast_to(True, 2**28)) == 2**28
if os.getpid() != parent:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


def test_both_processes_go_on_after_a_handler_that_forks(run_python):
    run_python(FORK)


FORKS = """
import os, signal
import numpy as np
import fastsel
from fastsel._core import _threads
_threads.MIN_CHUNK_BYTES = 1
fastsel.set_num_threads(2)
array = (np.arange(6_000_000) % 3).astype(np.int8)
expected = np.flatnonzero(array)
children = []
ROUNDS = {rounds}

def fork(number, frame):
    if not frame.f_code.co_filename.startswith(fastsel.__path__[0]) or len(children) >= ROUNDS:
        return
    signal.setitimer(signal.ITIMER_REAL, 0)
    if pid := os.fork():
        children.append(pid)
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    else:
        children[:] = [None] * ROUNDS

parent = os.getpid()
signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
reaped = 0
while len(children) < ROUNDS:
    ours = fastsel.flatnonzero(np.broadcast_to(array, (5, array.size)))
    assert len(ours) == 5 * len(expected) and (ours[:len(expected)] == expected).all()
    assert (ours[-len(expected):] == expected + 4 * array.size).all()
    if os.getpid() != parent:
        os._exit(0)
    while reaped < len(children):
        assert os.waitstatus_to_exitcode(os.waitpid(children[reaped], 0)[1]) == 0
        reaped += 1
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.parametrize("rounds", [5, slow(300)])
def test_handlers_that_fork_again_and_again(rounds, run_python):
    """Handlers fork in the midst of a call's passes; each result is complete in both processes."""
    run_python(FORKS.format(rounds=rounds))


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
try:
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        fastsel.count_nonzero(large)
except KeyboardInterrupt:
    worker.join()
assert counts == [2**30]
"""


def test_an_interrupt_is_the_main_threads(run_python):
    run_python(OTHER_THREAD)


def test_an_interrupted_call_leaves_its_input_and_part_of_out():
    """The rows of `out` that were written equal the rows of the result."""
    data = np.arange(100, dtype=np.int8)
    before = data.copy()
    indices = repeated(np.random.default_rng(3).integers(0, 100, (1_000_000, 1)), 60)
    out = np.full(indices.shape[:-1], -1, np.int8)

    def interrupt(frame):
        if frame.f_code.co_filename == fastsel._gather._gather.__file__ and out[0, 0] != -1:
            raise KeyboardInterrupt

    def call_again_and_again():
        while True:  # a call may end before the signal comes
            out.fill(-1)
            fastsel.gather_nd(data, indices, out=out)

    with (
        fastsel.threads(1),
        pytest.raises(KeyboardInterrupt),
        every_few_milliseconds(interrupt),
    ):
        call_again_and_again()
    assert ((out == -1) | (out == indices[..., 0])).all()
    assert (data == before).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_unique_while_it_sorts(threads, monkeypatch):
    """As above, by the public function: what a handler raises comes through, and the next call
    works."""
    force(monkeypatch, "sorting")
    rng = np.random.default_rng(1)
    sizes = [2**k for _ in range(4) for k in (22, 23, 24, 25)]
    assert any(ends_unique(rng.integers(0, 2**62, size), threads) for size in sizes)
    assert fastsel.unique([2, 1, 2]).tolist() == [1, 2]


def ends_unique(items, threads):
    first, sorting, before = {}, [], items.copy()

    def interrupt(frame):
        kept = scratch.cached_bytes()
        if frame.f_code.co_name == "by_sorting" and kept > first.setdefault(frame.f_lasti, kept):
            sorting.append(kept)
            if len(sorting) == 3:
                raise KeyboardInterrupt

    fastsel.release_memory()
    try:
        with fastsel.threads(threads), every_few_milliseconds(interrupt):
            fastsel.unique(items)
    except KeyboardInterrupt:
        assert (items == before).all()
        return True
    return False
