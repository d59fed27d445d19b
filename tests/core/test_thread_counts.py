"""Never more threads than were asked for, or can be made: many callers, nested calls, limits."""

import os

import pytest
from marks import HAS_OPENMP, HAS_PROC

from fastsel._core import parallel

CALLERS = """
import os, threading
import numpy as np
import fastsel
fastsel.set_num_threads({threads})
array = np.broadcast_to(True, 2**24)
gate, done = threading.Barrier({callers}), []

def are_too_many():
    return len(os.listdir("/proc/self/task")) - before > {callers} + 2 * ({threads} - 1)

def caller():
    gate.wait()
    for _ in range(20):
        assert fastsel.count_nonzero(array) == 2**24
        while are_too_many():  # for a moment, where the system lists a thread that has ended
            pass
    gate.wait()  # the pools of all that have one are there
    done.append(not are_too_many())

before = len(os.listdir("/proc/self/task"))
callers = [threading.Thread(target=caller) for _ in range({callers})]
for thread in callers:
    thread.start()
for thread in callers:
    thread.join()
print(sum(done))
"""


@HAS_PROC
@pytest.mark.parametrize(("callers", "threads"), [(8, 2), (8, 4), (64, 64)])
def test_threads_are_those_of_two_pools(callers, threads, run_python):
    """However many threads call. With more threads, the callers never end."""
    assert int(run_python(CALLERS.format(callers=callers, threads=threads))) == callers


HANDED_ON = """
import os, threading, time
import numpy as np
import fastsel
fastsel.set_num_threads(2)
array = np.broadcast_to(True, 2**24)
adding = []

def tasks():
    return len(os.listdir("/proc/self/task"))

def call(threads=1):
    stop = time.monotonic() + 20  # late regions make calls serial for a while
    added = -1
    while added < threads and time.monotonic() < stop:
        before = tasks()
        assert fastsel.count_nonzero(array) == 2**24
        added = tasks() - before
    adding.append(added)

def call_and_wait():
    call()
    called.set()
    end.wait()

def in_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread

def call_in_a_child():
    child = os.fork()
    if child == 0:
        fastsel.set_num_threads(2)
        call()
        os._exit(adding[-1])
    adding.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

call()                    # this thread has a pool
before = tasks()
for _ in range(3):        # each of these, until it ends
    in_a_thread(call).join()
    while tasks() > before:
        pass
called, end = threading.Event(), threading.Event()
waiting = in_a_thread(call_and_wait)
called.wait()
in_a_thread(lambda: call(0)).join()  # a third one at once has none
in_a_thread(call_in_a_child).join()
end.set()
waiting.join()
print(*adding)
"""


@HAS_OPENMP
@HAS_PROC
def test_a_thread_that_ends_leaves_its_pool_to_others(run_python):
    assert run_python(HANDED_ON) == "1 1 1 1 1 0 1\n"


AT_ONCE = """
import os, threading, time
import numpy as np
import fastsel
small = np.arange(2_000_000) % 3
expected = np.flatnonzero(small)
fastsel.set_num_threads(2)

def tasks():
    return len(os.listdir("/proc/self/task"))

# Does no call add a thread while another thread counts `size` items, and is in its region?
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
    """A call during another call's region adds no thread, and does not wait for the region."""
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


NO_MORE_PROCESSES = """
import os, resource
import numpy as np
import fastsel
array = np.arange(2_200_000) % 3
expected = np.flatnonzero(array)
is_root = os.geteuid() == 0

def tasks():
    return len(os.listdir("/proc/self/task"))

def call(threads, room):
    "As a user of no other process, unless this is an ordinary one: no limit holds for root."
    if is_root:
        os.setuid(100_000 + os.getpid())
    before = tasks()
    resource.setrlimit(resource.RLIMIT_NPROC, (before + room, before + room))
    fastsel.set_num_threads(threads)
    assert fastsel.count_nonzero(array) == len(expected)
    added = tasks() - before
    for _ in range(3):
        assert (fastsel.flatnonzero(array) == expected).all()
    assert not is_root or added == ({others} if room >= threads else 0), (threads, room, added)

for threads in (2, 4, 16, 64):
    for room in (0, 1, 2, 3, 5, threads - 1, threads):
        child = os.fork()
        if child == 0:
            call(threads, room)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, (threads, room)
print("done")
"""


@HAS_PROC
def test_threads_that_the_user_may_not_have_are_done_without(run_python):
    """libgomp would end the process. Where there is room for them, they are made."""
    others = "threads - 1" if parallel.is_threaded() else "0"
    assert run_python(NO_MORE_PROCESSES.format(others=others)) == "done\n"
