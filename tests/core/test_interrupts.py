"""Signal handlers run during a call, and an exception that a handler raises ends the call."""

import contextlib
import functools
import signal
from collections import Counter

import numpy as np
import pytest
from forcing import force, numpy_sorts_whole
from grids import slow
from marks import NEEDS_CACHE
from unique_kernels import sort_keys

import fastsel
from fastsel._core import scratch
from fastsel._unique import _keys

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signal"),
    pytest.mark.thread_unsafe(reason="sends signals, which the main thread handles"),
]

# Calls that take much longer than the 50 ms after which handlers run.
VERY_LONG_CALLS = {
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

# A signal comes every few milliseconds. The handler raises when it runs for the second time at the
# same bytecode of fastsel: then a kernel has let it run. If a kernel ignored signals, the handler
# would run once, at the next bytecode.
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
bytecodes = set()

def interrupt(number, frame):
    bytecode = frame.f_code, frame.f_lasti
    if bytecode in bytecodes and frame.f_code.co_filename.startswith(fastsel.__path__[0]):
        raise KeyboardInterrupt
    bytecodes.add(bytecode)

signal.signal(signal.SIGALRM, interrupt)
for name, call in calls.items():
    bytecodes.clear()
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
    """A dict from the name of each call to "by a signal" or "by itself"."""
    calls = "\n    ".join(f'"{name}": lambda: {call},' for name, call in calls.items())
    code = CTRL_C.format(calls=calls, threads=threads, before=before)
    return dict(line.split(": ") for line in run_python(code).splitlines())


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_call(threads, run_python):
    endings = how_calls_end(run_python, VERY_LONG_CALLS, threads)
    assert endings == dict.fromkeys(VERY_LONG_CALLS, "by a signal")


def test_a_call_that_ignores_signals_ends_by_itself(run_python):
    """`test_ctrl_c_ends_a_call` fails if kernels ignore signals. Here they do: without a main
    thread, no thread checks for signals."""
    ignored = "from fastsel._core import parallel; parallel.set_main_thread(0)"
    call = "fastsel.count_nonzero(np.broadcast_to(True, 2**31))"
    assert how_calls_end(run_python, {"call": call}, 2, ignored) == {"call": "by itself"}


def unique_of_repeated(words, times):
    return fastsel.unique(repeated(words, times), sorted=False, return_inverse=True)


# Calls whose time grows with `times`. `words` are random integers, and `rows` are random index rows
# into `words`.
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
    "unique_dense": lambda words, rows, times: unique_of_repeated(words % 5000, times),
    "unique_tables": lambda words, rows, times: unique_of_repeated(words % 5000 << 40, times),
    "unique_values": lambda words, rows, times: fastsel.unique(np.tile(words, times)),
    "unique_partitions": lambda words, rows, times: unique_of_repeated(words, times),
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
    """A context in which a signal handler calls `handle(frame)` every few milliseconds."""
    before = signal.signal(signal.SIGALRM, lambda number, frame: handle(frame))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", LONG_CALLS)
def test_handlers_run_during_a_call(name):
    """A handler runs more than once at the same bytecode of a call. A handler that had to wait for
    the end of the kernel would run once. The calls grow until they are long enough."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2_000_000, 2_000_000)
    rows = rng.integers(0, 2_000_000, (2_000_000, 1))
    call = functools.partial(LONG_CALLS[name], words, rows)
    assert any(runs_handlers(call, 2**k) for k in range(2, 9))


def runs_handlers(call, times):
    """Whether a handler runs more than once at the same bytecode of fastsel during a call."""
    runs = Counter()
    with (
        fastsel.threads(1),
        every_few_milliseconds(lambda frame: runs.update([(frame.f_code, frame.f_lasti)])),
    ):
        call(times)
    files = {code.co_filename for (code, _), count in runs.items() if count > 1}
    return any(file.startswith(fastsel.__path__[0]) for file in files)


@NEEDS_CACHE
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_sort_between_two_parts(threads):
    """When a part is sorted in pieces, the memory in which it was sorted is cached; the scatter
    before caches none. The handler raises in the third run that finds more cached memory than its
    first run. If the handler had to wait for the last part, at most two runs would find more cached
    memory: one after the last part, and perhaps one in the next pass. If its first run is after the
    first part, the cached memory does not grow any more: then the test sorts again."""
    rng = np.random.default_rng(1)
    sizes = [2**k for _ in range(8) for k in (24, 25, 26)]
    with numpy_sorts_whole(False):
        assert any(ends_a_sort(rng.integers(0, 2**62, size), threads) for size in sizes)


def ends_a_sort(items, threads):
    """Whether a handler has ended the sort of `items` between two parts."""
    keys = _keys.keys_of(items, True)
    first, between_parts = [], []

    def interrupt(frame):
        cached, bytecode = scratch.cached_bytes(), frame.f_lasti
        first[:] = first or [cached, bytecode]
        if cached > first[0] and bytecode == first[1]:
            between_parts.append(cached)
            if len(between_parts) == 3:
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
        if not running:  # a signal may come before the handler has ended
            running.append(frame)
            results.append(fastsel.flatnonzero(array))
            running.clear()

    with fastsel.threads(threads), every_few_milliseconds(handle):
        while not results:
            assert fastsel.count_nonzero(np.broadcast_to(True, 10**9)) == 10**9
    assert all((result == np.flatnonzero(array)).all() for result in results)


HANDLER_FORKS = """
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
for _ in range(3):  # both processes run these calls
    assert fastsel.count_nonzero(np.broadcast_to(True, 2**28)) == 2**28
if os.getpid() != parent:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


def test_both_processes_go_on_after_a_handler_that_forks(run_python):
    run_python(HANDLER_FORKS)


HANDLER_FORKS_OFTEN = """
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
def test_results_are_complete_if_handlers_fork_again_and_again(rounds, run_python):
    """A handler forks during a call; the result is complete in the parent and in each child."""
    run_python(HANDLER_FORKS_OFTEN.format(rounds=rounds))


CALL_IN_ANOTHER_THREAD = """
import os, signal, threading
import numpy as np
import fastsel
fastsel.set_num_threads(2)
counts = []
large = np.broadcast_to(True, 2**30)
worker = threading.Thread(target=lambda: counts.append(fastsel.count_nonzero(large)))
worker.start()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore SIGINT
try:
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        fastsel.count_nonzero(large)
except KeyboardInterrupt:
    worker.join()
assert counts == [2**30]
"""


def test_an_interrupt_ends_only_the_call_of_the_main_thread(run_python):
    run_python(CALL_IN_ANOTHER_THREAD)


def test_an_interrupted_call_leaves_its_input_and_writes_a_part_of_out():
    """Each item of `out` is as before the call, or is the item of the result."""
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


@NEEDS_CACHE
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_unique_while_it_sorts_and_the_next_call_works(threads, monkeypatch):
    """As in test_ctrl_c_ends_a_sort_between_two_parts, but the handler interrupts the public
    function, which raises the handler's exception."""
    force(monkeypatch, "sorting")
    rng = np.random.default_rng(1)
    sizes = [2**k for _ in range(4) for k in (22, 23, 24, 25)]
    with numpy_sorts_whole(False):
        assert any(ends_unique(rng.integers(0, 2**62, size), threads) for size in sizes)
    assert fastsel.unique([2, 1, 2]).tolist() == [1, 2]


def ends_unique(items, threads):
    """Whether a handler has ended unique between two parts of its sort."""
    first, between_parts, before = {}, [], items.copy()

    def interrupt(frame):
        cached, bytecode = scratch.cached_bytes(), frame.f_lasti
        if frame.f_code.co_name == "find_groups" and cached > first.setdefault(bytecode, cached):
            between_parts.append(cached)
            if len(between_parts) == 3:
                raise KeyboardInterrupt

    fastsel.release_memory()
    try:
        with fastsel.threads(threads), every_few_milliseconds(interrupt):
            fastsel.unique(items)
    except KeyboardInterrupt:
        assert (items == before).all()
        return True
    return False
