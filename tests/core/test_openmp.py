"""OpenMP's settings and regions: how many threads a call adds, and when a call adds none."""

import ctypes
import os
import shutil
import subprocess

import pytest
from marks import HAS_OPENMP, HAS_PROC

from fastsel._core import _threads, parallel

# Settings: how many threads a call adds to the process. OpenMP keeps the threads for later calls.

WORKERS = """
import os
import numpy as np
import fastsel
from fastsel._core import parallel
# Without a main thread, no call pauses for signals. After a pause, few chunks may be left, and a
# region has at most one thread per chunk.
parallel.set_main_thread(0)
array = np.arange(2_000_000) % 3
expected = np.flatnonzero(array)

def workers():
    "The number of threads that a call adds; none for a while if two regions in a row ended late."
    before = len(os.listdir("/proc/self/task"))
    assert fastsel.count_nonzero(array) == len(expected)
    added = len(os.listdir("/proc/self/task")) - before
    assert (fastsel.flatnonzero(array) == expected).all()
    return added

{code}
"""
PRINT_WORKERS = "print(workers())"
WITH_THREADPOOL_LIMITS = """
import threadpoolctl
with threadpoolctl.threadpool_limits({limit}):
    print(workers())
"""
# name: environment, code, the integer or integers that the code prints.
SETTINGS = {
    "omp_num_threads": ({"OMP_NUM_THREADS": "3"}, PRINT_WORKERS, 2),
    "omp_num_threads_of_one": ({"OMP_NUM_THREADS": "1"}, PRINT_WORKERS, 0),
    "omp_thread_limit": ({"OMP_NUM_THREADS": "6", "OMP_THREAD_LIMIT": "2"}, PRINT_WORKERS, 1),
    "omp_thread_limit_over_all": (
        {"FASTSEL_NUM_THREADS": "6", "OMP_THREAD_LIMIT": "2"},
        "fastsel.set_num_threads(5)\nwith fastsel.threads(4): print(workers())",
        1,
    ),
    "fastsel_num_threads": ({"OMP_NUM_THREADS": "1", "FASTSEL_NUM_THREADS": "4"}, PRINT_WORKERS, 3),
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
    "threadpoolctl": ({"OMP_NUM_THREADS": "4"}, WITH_THREADPOOL_LIMITS.format(limit=1), 0),
    "threadpoolctl_of_three": ({"OMP_NUM_THREADS": "4"}, WITH_THREADPOOL_LIMITS.format(limit=3), 2),
    "threadpoolctl_by_api": (
        {"OMP_NUM_THREADS": "4"},
        WITH_THREADPOOL_LIMITS.format(limit="1, user_api='openmp'") + "print(workers())",
        (0, 3),
    ),
    "threadpoolctl_after_a_fork": (
        {"OMP_NUM_THREADS": "4"},
        WITH_THREADPOOL_LIMITS.format(limit=1).replace(
            "print", "workers()\n    os.fork() or os._exit(0)\n    print"
        ),
        0,
    ),
    "set_num_threads_over_threadpoolctl": (
        {},
        WITH_THREADPOOL_LIMITS.format(limit=1).replace(
            "print", "fastsel.set_num_threads(3)\n    print"
        ),
        2,
    ),
    "omp_proc_bind": ({"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"}, PRINT_WORKERS, 1),
    "omp_places": ({"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores"}, PRINT_WORKERS, 1),
    # OpenMP may start fewer threads than requested. A fork must not hang in its wait for the end
    # of threads that were never started.
    "omp_dynamic": (
        {"OMP_NUM_THREADS": "64", "OMP_DYNAMIC": "true"},
        "workers()\nos.fork() or os._exit(0)\nprint(0)",
        0,
    ),
}


def printed_integers(run_forked, code=PRINT_WORKERS, **variables):
    """The integers that WORKERS prints with this code."""
    unset = dict.fromkeys(
        ("FASTSEL_NUM_THREADS", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_PROC_BIND"), None
    )
    code = WORKERS.format(code=code)
    return tuple(map(int, run_forked(code, **unset | variables).split()))


@HAS_OPENMP
@HAS_PROC
@pytest.mark.parametrize("name", SETTINGS)
def test_a_call_adds_the_threads_that_the_settings_allow(name, run_forked):
    variables, code, expected = SETTINGS[name]
    if "threadpoolctl" in code:
        pytest.importorskip("threadpoolctl", reason="needs pip install threadpoolctl")
    assert printed_integers(run_forked, code, **variables) == (
        expected if isinstance(expected, tuple) else (expected,)
    )


@HAS_OPENMP
@HAS_PROC
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two CPUs")
@pytest.mark.parametrize("bind", ["false", "true"])
def test_calls_use_several_threads_with_and_without_omp_proc_bind(bind, run_forked):
    limit = 0 if (quota := _threads._quota()) is None else quota
    if len(os.sched_getaffinity(0)) < 2 or 0 < limit <= 1:
        pytest.skip("needs two CPUs for this process")
    assert printed_integers(run_forked, OMP_PROC_BIND=bind)[0] >= 1


@HAS_OPENMP
def test_threadpoolctl_lists_the_openmp_runtime(run_forked):
    pytest.importorskip("threadpoolctl", reason="needs pip install threadpoolctl")
    code = """
import threadpoolctl, fastsel
print(*{pool["user_api"] for pool in threadpoolctl.threadpool_info()})
"""
    assert "openmp" in run_forked(code).split()


# A region waits for a thread that has no CPU. Here the handler of SIGUSR1, C's pause(), holds the
# thread until SIGUSR2 arrives, whatever the scheduler does. Each call has one region.
HOLD_A_THREAD = """
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
    "The ids of the threads that the first call adds; OpenMP keeps these threads."
    before = set(os.listdir("/proc/self/task"))
    assert fastsel.count_nonzero(array) == expected
    return set(os.listdir("/proc/self/task")) - before

def signal_worker(number):
    assert c.tgkill(os.getpid(), worker, number) == 0
"""
LATE_REGIONS = (
    HOLD_A_THREAD
    + """
def release_worker(ended, begun):
    "Note whether the call waits. Then signal its thread often: a signal may come before pause()."
    begun.set()
    waits.append(not ended.wait(0.1))
    while not ended.wait(0.01):
        signal_worker(signal.SIGUSR2)
    for _ in range(9):
        signal_worker(signal.SIGUSR2)
        time.sleep(0.001)

def waited():
    "Whether a call waits until its other thread is released. A call with a region always waits."
    signal_worker(signal.SIGUSR1)
    ended, begun = threading.Event(), threading.Event()
    release = threading.Thread(target=release_worker, args=(ended, begun))
    release.start()
    begun.wait()
    assert fastsel.count_nonzero(array) == expected
    ended.set()
    release.join()
    return waits.pop()

def until(wanted, why):
    "Repeat `waited` until its last results are `wanted`; other delays also make it return True."
    print(why, flush=True)  # run_python shows it if the process hangs
    last = [None] * len(wanted)
    while last != wanted:
        last = [*last[1:], waited()]

def test():
    global worker
    worker, = map(int, start())
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
def test_calls_are_serial_for_a_while_after_late_regions(run, run_python):
    if not hasattr(ctypes.CDLL(None), "tgkill"):
        pytest.skip("this C library has no tgkill")
    run_python(LATE_REGIONS.format(run=run))


FORK_BESIDE_A_REGION = (
    HOLD_A_THREAD
    + """
def fork():
    time.sleep(0.1)  # the region waits for its thread by now; an earlier fork is a weaker test
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # ends a child that hangs
        fastsel.set_num_threads(2)
        os._exit(len(start()))
    added.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    while not ended.wait(0.01):
        signal_worker(signal.SIGUSR2)

worker, = map(int, start())
signal_worker(signal.SIGUSR1)
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
def test_a_child_forked_during_a_region_has_regions(run_python):
    if not hasattr(ctypes.CDLL(None), "tgkill"):
        pytest.skip("this C library has no tgkill")
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
CALL_WITHIN_A_REGION = """
import ctypes
library = ctypes.PyDLL({library!r})
added = []
assert library.run(ctypes.CFUNCTYPE(None)(lambda: added.append(workers()))) == 1
print(*added)
"""


@HAS_OPENMP
@HAS_PROC
def test_a_call_within_a_region_of_other_code_is_serial(run_forked, tmp_path):
    compiler, runtime = shutil.which("gcc"), parallel.openmp()[1]
    if not compiler or "libgomp" not in str(runtime):
        pytest.skip("needs gcc, and libgomp as the OpenMP runtime of fastsel")
    source, object_file, library = (tmp_path / f"region.{kind}" for kind in ("c", "o", "so"))
    source.write_text(PARALLEL_REGION)
    subprocess.run([compiler, "-fopenmp", "-fPIC", "-c", source, "-o", object_file], check=True)
    # The library is linked with the runtime that fastsel has loaded, which may be the wheel's own.
    subprocess.run([compiler, "-shared", object_file, runtime, "-o", library], check=True)
    code = CALL_WITHIN_A_REGION.format(library=str(library))
    variables = {"OMP_MAX_ACTIVE_LEVELS": "2", "OMP_NUM_THREADS": "4"}
    assert printed_integers(run_forked, code, **variables) == (0,)
