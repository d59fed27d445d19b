"""OpenMP's own settings and regions: how many threads work, and when none is to be waited for."""

import ctypes
import os
import shutil
import subprocess

import pytest
from marks import HAS_OPENMP, HAS_PROC

from fastsel._core import _threads, parallel

# OpenMP's own settings: how many threads there are after a call, which OpenMP keeps for the next.

WORKERS = """
import os
{before}
import numpy as np
import fastsel
from fastsel._core import parallel
parallel.set_main_thread(0)  # none: no call pauses for signals, and has fewer threads for the rest
array = np.arange(2_000_000) % 3
expected = np.flatnonzero(array)

def workers():
    "By a call of one region: after two that are late there would be none for a while."
    before = len(os.listdir("/proc/self/task"))
    assert fastsel.count_nonzero(array) == len(expected)
    added = len(os.listdir("/proc/self/task")) - before
    assert (fastsel.flatnonzero(array) == expected).all()
    return added

{code}
"""
OWN = "print(workers())"
LIMITED = """
import threadpoolctl
with threadpoolctl.threadpool_limits({limit}):
    print(workers())
"""
# name: environment, code, threads besides the caller.
STEERED = {
    "omp_num_threads": ({"OMP_NUM_THREADS": "3"}, OWN, 2),
    "omp_num_threads_of_one": ({"OMP_NUM_THREADS": "1"}, OWN, 0),
    "omp_thread_limit": ({"OMP_NUM_THREADS": "6", "OMP_THREAD_LIMIT": "2"}, OWN, 1),
    "omp_thread_limit_over_all": (
        {"FASTSEL_NUM_THREADS": "6", "OMP_THREAD_LIMIT": "2"},
        "fastsel.set_num_threads(5)\nwith fastsel.threads(4): print(workers())",
        1,
    ),
    "own_variable": ({"OMP_NUM_THREADS": "1", "FASTSEL_NUM_THREADS": "4"}, OWN, 3),
    "set_num_threads": (
        {"FASTSEL_NUM_THREADS": "4"},
        "fastsel.set_num_threads(3); print(workers())",
        2,
    ),
    "with": (
        {"FASTSEL_NUM_THREADS": "4"},
        "fastsel.set_num_threads(3)\nwith fastsel.threads(2): print(workers())",
        1,
    ),
    "threadpoolctl": ({"OMP_NUM_THREADS": "4"}, LIMITED.format(limit=1), 0),
    "threadpoolctl_of_three": ({"OMP_NUM_THREADS": "4"}, LIMITED.format(limit=3), 2),
    "threadpoolctl_by_api": (
        {"OMP_NUM_THREADS": "4"},
        LIMITED.format(limit="1, user_api='openmp'") + "print(workers())",
        (0, 3),
    ),
    "threadpoolctl_after_a_fork": (
        {"OMP_NUM_THREADS": "4"},
        LIMITED.format(limit=1).replace(
            "print", "workers()\n    os.fork() or os._exit(0)\n    print"
        ),
        0,
    ),
    "own_setting_over_threadpoolctl": (
        {},
        LIMITED.format(limit=1).replace("print", "fastsel.set_num_threads(3)\n    print"),
        2,
    ),
    "bound": ({"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"}, OWN, 1),
    "places": ({"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores"}, OWN, 1),
    # OpenMP starts fewer than it is asked for, and no fork waits for the rest to end.
    "dynamic": (
        {"OMP_NUM_THREADS": "64", "OMP_DYNAMIC": "true"},
        "workers()\nos.fork() or os._exit(0)\nprint(0)",
        0,
    ),
}


def workers(run_forked, code=OWN, before="", **variables):
    unset = dict.fromkeys(
        ("FASTSEL_NUM_THREADS", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_PROC_BIND"), None
    )
    code = WORKERS.format(before=before, code=code)
    return tuple(map(int, run_forked(code, **unset | variables).split()))


@HAS_OPENMP
@HAS_PROC
@pytest.mark.parametrize("name", STEERED)
def test_threads_that_work(name, run_forked):
    variables, code, expected = STEERED[name]
    if "threadpoolctl" in code:
        pytest.importorskip("threadpoolctl", reason="needs pip install threadpoolctl")
    assert workers(run_forked, code, **variables) == (
        expected if isinstance(expected, tuple) else (expected,)
    )


@HAS_OPENMP
@HAS_PROC
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a machine of one CPU")
@pytest.mark.parametrize("bind", ["false", "true"])
def test_every_cpu_also_where_openmp_binds_this_thread_to_one(bind, run_forked):
    limit = 0 if (quota := _threads._quota()) is None else quota
    if len(os.sched_getaffinity(0)) < 2 or 0 < limit <= 1:
        pytest.skip("one CPU for this process")
    assert workers(run_forked, OMP_PROC_BIND=bind)[0] >= 1


@HAS_OPENMP
def test_threadpoolctl_lists_the_runtime(run_forked):
    pytest.importorskip("threadpoolctl", reason="needs pip install threadpoolctl")
    code = """
import threadpoolctl, fastsel
print(*{pool["user_api"] for pool in threadpoolctl.threadpool_info()})
"""
    assert "openmp" in run_forked(code).split()


# A region that waits for a thread which has no CPU. No scheduler is asked: a signal's handler, C's
# pause(), holds the thread until another signal comes. A call has one region.
HELD = """
import ctypes, os, signal, threading, time
import numpy as np
import fastsel
fastsel.set_num_threads(2)
array = np.arange(400_000) % 3
expected = np.count_nonzero(array)
c = ctypes.CDLL(None)
c.signal.argtypes = ctypes.c_int, ctypes.c_void_p
for number, function in ((signal.SIGUSR1, c.pause), (signal.SIGUSR2, c.getpid)):
    c.signal(number, ctypes.cast(function, ctypes.c_void_p))

def start():
    "A first call: the threads that it adds, which OpenMP keeps."
    before = set(os.listdir("/proc/self/task"))
    assert fastsel.count_nonzero(array) == expected
    return set(os.listdir("/proc/self/task")) - before

def kill(number):
    assert c.tgkill(os.getpid(), helper, number) == 0
"""
LATE = (
    HELD
    + """
def let_go(ended, begun):
    "Let the call go on as it can, then the thread as well: one signal may be too early."
    begun.set()
    waits.append(not ended.wait(0.1))
    while not ended.wait(0.01):
        kill(signal.SIGUSR2)
    for _ in range(9):
        kill(signal.SIGUSR2)
        time.sleep(0.001)

def waited():
    "Did a call wait until its other thread was let go? In a region it does, however long that is."
    kill(signal.SIGUSR1)
    ended, begun = threading.Event(), threading.Event()
    release = threading.Thread(target=let_go, args=(ended, begun))
    release.start()
    begun.wait()
    assert fastsel.count_nonzero(array) == expected
    ended.set()
    release.join()
    return waits.pop()

def until(wanted, why):
    "A call for whose end something else had to wait looks as if it had waited itself: ask again."
    print(why, flush=True)  # what is shown of a process that hangs
    last = [None] * len(wanted)
    while last != wanted:
        last = [*last[1:], waited()]

def test():
    global helper
    helper, = map(int, start())
    until([True, True], "a region waits for its thread, and after one late region, too")
    until([False], "calls are serial after late regions")
    until([True], "regions begin again")
    done.append(True)

waits = []
done = []
{run}
assert done
"""
)


@HAS_OPENMP
@HAS_PROC
@pytest.mark.parametrize(
    "run", ["test()", "t = threading.Thread(target=test); t.start(); t.join()"]
)
def test_serial_for_a_while_after_late_regions(run, run_python):
    if not hasattr(ctypes.CDLL(None), "tgkill"):
        pytest.skip("no signal to one thread in this C library")
    run_python(LATE.format(run=run))


FORK_BESIDE_A_REGION = (
    HELD
    + """
def fork():
    time.sleep(0.1)  # until the region waits for its thread; a fork that comes earlier proves less
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # what hangs is to end some time
        fastsel.set_num_threads(2)
        os._exit(len(start()))
    added.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    while not ended.wait(0.01):
        kill(signal.SIGUSR2)

helper, = map(int, start())
kill(signal.SIGUSR1)
added, ended = [], threading.Event()
forking = threading.Thread(target=fork)
forking.start()
assert fastsel.count_nonzero(array) == expected
ended.set()
forking.join()
assert added == [1], added
"""
)


@HAS_OPENMP
@HAS_PROC
def test_the_child_of_a_fork_beside_a_region_begins_regions(run_python):
    if not hasattr(ctypes.CDLL(None), "tgkill"):
        pytest.skip("no signal to one thread in this C library")
    run_python(FORK_BESIDE_A_REGION)


PARALLEL_REGION = """
#include <omp.h>
int run(void (*call)(void)) {
    int inside = 0;
    #pragma omp parallel num_threads(2)
    {
        #pragma omp master
        { inside = omp_in_parallel(); call(); }
    }
    return inside;
}
"""
INSIDE = """
import ctypes
library = ctypes.PyDLL({library!r})
added = []
assert library.run(ctypes.CFUNCTYPE(None)(lambda: added.append(workers()))) == 1
print(*added)
"""


@HAS_OPENMP
@HAS_PROC
def test_a_call_within_a_region_of_someone_else_is_serial(run_forked, tmp_path):
    compiler, runtime = shutil.which("gcc"), parallel.openmp()[1]
    if not compiler or "libgomp" not in str(runtime):
        pytest.skip("needs gcc, and its OpenMP runtime")
    source, made, library = (tmp_path / f"region.{kind}" for kind in ("c", "o", "so"))
    source.write_text(PARALLEL_REGION)
    subprocess.run([compiler, "-fopenmp", "-fPIC", "-c", source, "-o", made], check=True)
    # With the very file that fastsel has: a wheel brings its own.
    subprocess.run([compiler, "-shared", made, runtime, "-o", library], check=True)
    code = INSIDE.format(library=str(library))
    assert workers(run_forked, code, OMP_MAX_ACTIVE_LEVELS="2", OMP_NUM_THREADS="4") == (0,)
