"""No call has more threads than it requests or can start: many callers, nested calls, limits."""

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
barrier, done = threading.Barrier({callers}), []

def has_too_many_threads():
    return len(os.listdir("/proc/self/task")) - before > {callers} + 2 * ({threads} - 1)

def caller():
    barrier.wait()
    for _ in range(20):
        assert fastsel.count_nonzero(array) == 2**24
        while has_too_many_threads():  # the system may list a thread for a moment after its end
            pass
    barrier.wait()  # now every pool exists
    done.append(not has_too_many_threads())

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
def test_at_most_two_calling_threads_have_a_pool(callers, threads, run_python):
    """With more pools there would be too many threads, and the callers would not end."""
    assert int(run_python(CALLERS.format(callers=callers, threads=threads))) == callers


POOL_AFTER_A_POOL_ENDS = """
import os, threading, time
import numpy as np
import fastsel
fastsel.set_num_threads(2)
array = np.broadcast_to(True, 2**24)
added_by_calls = []

def tasks():
    return len(os.listdir("/proc/self/task"))

def call(threads=1):
    # If regions end late because the CPUs are busy, calls are serial for a while.
    stop = time.monotonic() + 120
    added = -1
    while added < threads and time.monotonic() < stop:
        before = tasks()
        assert fastsel.count_nonzero(array) == 2**24
        added = tasks() - before
    added_by_calls.append(added)

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
        os._exit(added_by_calls[-1])
    added_by_calls.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

call()  # this thread has a pool
before = tasks()
for _ in range(3):  # each of these threads has a pool until it ends
    in_a_thread(call).join()
    while tasks() > before:
        pass
called, end = threading.Event(), threading.Event()
waiting = in_a_thread(call_and_wait)
called.wait()
in_a_thread(lambda: call(0)).join()  # a third thread at the same time has no pool
in_a_thread(call_in_a_child).join()
end.set()
waiting.join()
print(*added_by_calls)
"""


@HAS_OPENMP
@HAS_PROC
def test_a_thread_has_a_pool_after_a_thread_with_a_pool_ends(run_python):
    assert run_python(POOL_AFTER_A_POOL_ENDS) == "1 1 1 1 1 0 1\n"


CALL_DURING_A_REGION = """
import os, threading, time
import numpy as np
import fastsel
small = np.arange(2_000_000) % 3
expected = np.flatnonzero(small)
fastsel.set_num_threads(2)

def tasks():
    return len(os.listdir("/proc/self/task"))

# Whether no call adds a thread while another thread counts `size` items in its region. Also False
# if this region ends before the calls: then a call may have a region.
def no_call_adds_a_thread(size):
    large, before = np.broadcast_to(True, size), tasks()
    worker = threading.Thread(target=fastsel.count_nonzero, args=(large,))
    worker.start()
    while worker.is_alive() and tasks() < before + {extra} + 1:
        time.sleep(0.001)
    added = []
    while worker.is_alive() and len(added) < 8:
        assert (fastsel.flatnonzero(small) == expected).all()
        added.append(tasks() - before)
    in_time = worker.is_alive()
    worker.join()
    return in_time and max(added) <= {extra} + 1

before = tasks()
assert any(no_call_adds_a_thread(2**k) for k in range(31, 41))  # tenths of a second and more
fastsel.flatnonzero(small)
# If regions end late because the CPUs are busy, calls are serial for a while.
while tasks() - before != {extra}:
    fastsel.flatnonzero(small)
print("done")
"""


@HAS_PROC
def test_a_call_during_another_region_is_serial_and_does_not_wait(run_python):
    """A call during another call's region adds no thread, and does not wait for the region."""
    extra = 1 if parallel.is_threaded() else 0
    assert run_python(CALL_DURING_A_REGION.format(extra=extra)) == "done\n"


CALL_WITHIN_A_CALL = """
import os, signal
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
calls = []

def call():
    "Call until there are {extra} new threads: calls may be serial, or old threads may be ending."
    counted = None
    with fastsel.threads(9):
        while counted != before + {extra}:
            assert fastsel.unique(array).tolist() == [0, 1, 2]
            assert (fastsel.flatnonzero(array) == expected).all()
            counted = len(os.listdir("/proc/self/task"))
    calls.append(True)

def handler(number, frame):
    call()

before = len(os.listdir("/proc/self/task"))
signal.signal(signal.SIGALRM, handler)
with fastsel.threads(2):
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    while not calls:
        fastsel.count_nonzero(np.broadcast_to(True, 10**9))
assert len(calls) == 1
call()
print("done")
"""


@HAS_PROC
def test_a_call_within_a_call_has_its_number_of_threads(run_python):
    """A signal handler calls with nine threads, between two regions of a call with two threads."""
    extra = 8 if parallel.is_threaded() else 0
    assert run_python(CALL_WITHIN_A_CALL.format(extra=extra)) == "done\n"


NO_MORE_THREADS = """
import resource, threading
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
# Room for two OpenMP threads, with stacks of 8 MB by default, and 8 MB of arrays; but not for a
# Python thread with the stack size below.
resource.setrlimit(resource.RLIMIT_AS, (size + (24 << 20), hard))
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
def test_calls_work_if_the_address_space_has_no_room_for_their_threads(run_python):
    assert run_python(NO_MORE_THREADS) == "no more threads\n"


SMALL_AND_LARGE_STACKS = """
import os, resource
import fastsel
import numpy as np
tasks = lambda: len(os.listdir("/proc/self/task"))
array = np.ones(4_000_000, np.uint8)
if {room}:
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (size + ({room} << 20), hard))
before = tasks()
with fastsel.threads(4):
    assert fastsel.count_nonzero(array) == 4_000_000
print(tasks() - before)
"""


@HAS_PROC
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer needs more address space")
@pytest.mark.parametrize(
    "variables", ["OMP_STACKSIZE={}", "OMP_STACKSIZE= GOMP_STACKSIZE={}", "GOMP_STACKSIZE={}"]
)
def test_calls_work_on_one_thread_if_stacks_are_too_small_or_have_no_room(variables, run_python):
    more = 3 if parallel.is_threaded() else 0
    for size, room, added in (("32k", 0, 0), ("64k", 0, more), ("256M", 600, 0)):
        code = SMALL_AND_LARGE_STACKS.format(room=room)
        settings = dict(setting.split("=") for setting in variables.format(size).split())
        assert run_python(code, **settings) == f"{added}\n", size


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
    "Make calls. Root, for whom no limit holds, first becomes a new user without processes."
    if is_root:
        os.setuid(100_000 + os.getpid())
    before = tasks()
    resource.setrlimit(resource.RLIMIT_NPROC, (before + room, before + room))
    fastsel.set_num_threads(threads)
    assert fastsel.count_nonzero(array) == len(expected)
    added = tasks() - before
    for _ in range(3):
        assert (fastsel.flatnonzero(array) == expected).all()
    assert not is_root or added == ({extra} if room >= threads else 0), (threads, room, added)

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
def test_calls_work_if_the_user_may_have_no_more_threads(run_python):
    """libgomp alone would end the process. A call of n threads adds n - 1 threads if the limit has
    room for n, and otherwise none; only a test that root runs checks these numbers."""
    extra = "threads - 1" if parallel.is_threaded() else "0"
    assert run_python(NO_MORE_PROCESSES.format(extra=extra)) == "done\n"
