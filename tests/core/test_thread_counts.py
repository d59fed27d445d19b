"""Never more threads than were asked for: many callers, calls within calls, no more memory."""

import os

import pytest
from marks import HAS_PROC

from fastsel._core import parallel

CALLERS = """
import os, threading
import numpy as np
import fastsel
fastsel.set_num_threads(4)
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
gate, done = threading.Barrier(8), []

def are_too_many():
    return len(os.listdir("/proc/self/task")) - before > 8 * 4

def caller():
    gate.wait()
    for _ in range(100):
        assert (fastsel.flatnonzero(array) == expected).all()
        while are_too_many():  # for a moment, where the system lists a thread that has ended
            pass
    done.append(True)

before = len(os.listdir("/proc/self/task"))
callers = [threading.Thread(target=caller) for _ in range(8)]
for thread in callers:
    thread.start()
for thread in callers:
    thread.join()
print(len(done))
"""


@HAS_PROC
def test_callers_at_once_have_no_more_threads_than_they_asked_for(run_python):
    """OpenMP keeps three threads for each caller that has been in a region, until it ends. One
    caller's at a time have work. With more threads, the callers never end."""
    assert int(run_python(CALLERS)) == 8


AT_ONCE = """
import os, threading, time
import numpy as np
import fastsel
small = np.arange(2_000_000) % 3
expected = np.flatnonzero(small)
fastsel.set_num_threads(2)

def tasks():
    return len(os.listdir("/proc/self/task"))

# Does no call add a thread while another thread counts so many items, and is in its region?
def adds_none(size):
    # False, too, if the region of the other thread ends too early: then regions are free again.
    large, before = np.broadcast_to(True, size), tasks()
    worker = threading.Thread(target=fastsel.count_nonzero, args=(large,))
    worker.start()
    while worker.is_alive() and tasks() < before + {others} + 1:
        time.sleep(0.001)
    added = []
    while worker.is_alive() and len(added) < 8:
        assert (fastsel.flatnonzero(small) == expected).all()
        added.append(tasks() - before)
    in_time = worker.is_alive()
    worker.join()
    return in_time and max(added) <= {others} + 1

before = tasks()
assert any(adds_none(2**k) for k in range(31, 41))  # from some tenths of a second on
fastsel.flatnonzero(small)
while tasks() - before != {others}:  # also if a region was late
    fastsel.flatnonzero(small)
print("done")
"""


@HAS_PROC
def test_a_caller_meanwhile_works_alone_and_at_once(run_python):
    """It adds no thread while another call has its region, and does not wait for that."""
    others = 1 if parallel.is_threaded() else 0
    assert run_python(AT_ONCE.format(others=others)) == "done\n"


NESTED = """
import os, signal
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
uses = []

def use():
    "Until nine threads work, also after a region that was late, and no others are ending."
    counted = None
    with fastsel.threads(9):
        while counted != before + {others}:
            assert fastsel.unique(array).tolist() == [0, 1, 2]  # by fewer: the rest of them end
            assert (fastsel.flatnonzero(array) == expected).all()
            counted = len(os.listdir("/proc/self/task"))
    uses.append(True)

def handler(number, frame):
    use()

before = len(os.listdir("/proc/self/task"))
signal.signal(signal.SIGALRM, handler)
with fastsel.threads(2):
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    while not uses:
        fastsel.count_nonzero(np.broadcast_to(True, 10**9))
assert len(uses) == 1
use()
print("done")
"""


@HAS_PROC
def test_a_call_within_a_call(run_python):
    """A signal handler's, between two regions: it may have its eight threads, and the call that it
    interrupts goes on with two."""
    others = 8 if parallel.is_threaded() else 0
    assert run_python(NESTED.format(others=others)) == "done\n"


NO_MORE_THREADS = """
import resource, threading
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (size + (24 << 20), hard))  # two stacks, and 8 MB
threading.stack_size(64 << 20)
try:
    threading.Thread(target=int).start()
except RuntimeError:
    print("no more threads")
with fastsel.threads(64):
    for _ in range(20):
        assert (fastsel.flatnonzero(array) == expected).all()
        assert fastsel.unique(array, sorted=False).tolist() == [0, 1, 2]
"""


@HAS_PROC
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer needs more address space")
def test_threads_that_cannot_be_made_are_done_without(run_python):
    assert run_python(NO_MORE_THREADS) == "no more threads\n"
