"""Calls in forked and spawned child processes return the right results and do not hang."""

import multiprocessing
import os
import sys
from glob import glob

import numpy as np
import pytest
from comparison import assert_same
from grids import slow

import fastsel
from fastsel._core import parallel

pytestmark = pytest.mark.thread_unsafe(reason="starts child processes")

# Whether the OpenMP library is libomp of LLVM or libiomp5 of Intel; it may be loaded by a link that
# has the name of libgomp.
IS_LIBOMP = (
    "omp" in (RUNTIME := os.path.realpath(parallel.openmp()[1] or "")) and "gomp" not in RUNTIME
)
HAS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

FORK = """
import ctypes, os, signal, subprocess, sys, threading
import numpy as np
import fastsel, fastsel._core._threads
fastsel._core._threads.MIN_CHUNK_BYTES = 1
array = np.arange(50_000) % 3
indices = np.arange(50_000)[:, None]

def use():
    with fastsel.threads(2):
        assert len(fastsel.nonzero(array)[0]) == 33_333
        assert fastsel.compress(array, array).sum() == 49_999
        assert (fastsel.gather_nd(array, indices) == array).all()
        assert len(fastsel.unique(array)) == 3

def in_child(function, fork=os.fork):
    pid = fork()
    if pid == 0:
        signal.alarm(300)  # ends a child that hangs
        try:
            function()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

def in_thread(function):
    errors = []
    def run():
        try:
            function()
        except BaseException as error:
            errors.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]

def while_working(function):
    stop = threading.Event()
    def work():
        while not stop.is_set():
            use()
    thread = threading.Thread(target=work)
    thread.start()
    try:
        function()
    finally:
        stop.set()
        thread.join()

signal.alarm(500)
"""
# The code of one round. No case calls C's fork while another Python thread works: in the child,
# Python itself would hang, whatever the other thread does, because nothing resets the GIL.
FORKS = {
    "child": "use(); in_child(use); use()",
    "child_of_a_child_that_did_nothing": "use(); in_child(lambda: in_child(use))",
    "grandchild": "use(); in_child(lambda: (use(), in_child(use), use()))",
    "thread_of_the_child": "use(); in_child(lambda: in_thread(use))",
    "fork_of_c": "use(); in_child(use, ctypes.PyDLL(None).fork); use()",
    "preexec_fn": "use(); subprocess.run(['true'], preexec_fn=use, check=True)",
    "from_a_thread": "use(); in_thread(lambda: (use(), in_child(use), use())); use()",
    "from_a_thread_that_ends": "in_thread(lambda: (use(), in_child(lambda: in_thread(use))))",
    "while_another_thread_works": "while_working(lambda: in_child(use))",
}


@HAS_FORK
@pytest.mark.parametrize("rounds", [4, slow(300)])
@pytest.mark.parametrize("case", FORKS)
def test_calls_after_fork_return_the_right_results(case, rounds, run_python):
    if case == "while_another_thread_works" and "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("a child may find AddressSanitizer's own allocator locked by the other thread")
    code = f"{FORK}for _ in range({rounds}):\n    {FORKS[case]}\nprint('done')"
    assert run_python(code) == "done\n"


LIBOMP_PATHS = [
    f"{folder}/{name}"
    for folder in [f"{sys.prefix}/lib", *sorted(glob("/usr/lib/llvm-*/lib"))]
    for name in ("libomp.so", "libomp.so.5", "libiomp5.so")
    if os.path.exists(f"{folder}/{name}")
]


@HAS_FORK
@pytest.mark.slow
@pytest.mark.skipif(not LIBOMP_PATHS, reason="needs pip install intel-openmp, or LLVM's libomp")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another library is preloaded")
@pytest.mark.skipif(not parallel.is_threaded(), reason="a build without OpenMP")
@pytest.mark.parametrize("case", ["child", "grandchild"])
def test_calls_after_fork_return_the_right_results_with_libomp(case, run_python):
    """conda may replace libgomp by libomp. If fastsel ended the threads of libomp before a fork, as
    it ends the threads of libgomp, the child would hang."""
    code = f"{FORK}from fastsel._core import parallel\nprint(parallel.openmp()[1])\n"
    code += f"for _ in range(20):\n    {FORKS[case]}"
    assert run_python(code, LD_PRELOAD=LIBOMP_PATHS[0]).strip() == LIBOMP_PATHS[0]


@HAS_FORK
def test_child_of_a_parent_that_has_not_called_fastsel_returns_the_right_results(run_python):
    assert run_python(f"{FORK}in_child(use); use(); print('done')") == "done\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
@pytest.mark.skipif(IS_LIBOMP, reason="libomp keeps its threads at a fork")
@pytest.mark.parametrize("case", ["child", "grandchild", "thread_of_the_child", "preexec_fn"])
def test_a_process_has_one_thread_when_it_forks(case, run_python):
    """fastsel ends its threads before the fork, so that Python 3.12 and later do not warn of a fork
    with several threads. The system lists a thread for a moment after it has been joined, so the
    parent waits until one thread is listed. If a thread had not ended, this test would hang.
    (OpenBLAS has threads, too, unless a variable forbids it.)"""
    code = f"""{FORK}
import time
def wait_for_one_thread():
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)
    os.write(1, b"one thread\\n")  # one write, so that processes do not mix lines
os.register_at_fork(after_in_parent=wait_for_one_thread)
{FORKS[case]}
"""
    printed = run_python(code, OPENBLAS_NUM_THREADS="1")
    assert set(printed.splitlines()) == {"one thread"}


def count_items(array):
    with fastsel.threads(2):
        return int(fastsel.count_nonzero(array)), len(fastsel.flatnonzero(array))


POOL = """
import multiprocessing
import numpy as np
import test_fork
array = np.arange(300_000) % 5
expected = test_fork.count_items(array)
for _ in range({rounds}):
    with multiprocessing.get_context('fork').Pool(8) as pool:
        assert pool.map_async(test_fork.count_items, [array] * 16).get(500) == [expected] * 16
"""


@HAS_FORK
@pytest.mark.parametrize("rounds", [2, slow(40)])
def test_pool_of_forked_workers_returns_the_counts(rounds, run_python):
    path = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    run_python(path + POOL.format(rounds=rounds))


JOBLIB = """
import joblib
import numpy as np
import test_fork
array = np.arange(300_000) % 5
expected = test_fork.count_items(array)
for _ in range(2):
    jobs = [joblib.delayed(test_fork.count_items)(array) for _ in range(16)]
    assert joblib.Parallel(2, backend="loky")(jobs) == [expected] * 16
    if not test_fork.IS_LIBOMP:  # with joblib, libomp does not start in a forked child
        assert joblib.Parallel(4, backend="multiprocessing")(jobs) == [expected] * 16
    assert joblib.Parallel(4, backend="threading")(jobs) == [expected] * 16
    assert test_fork.count_items(array) == expected
print(*set(joblib.Parallel(2)(joblib.delayed(test_fork.num_threads_of_worker)() for _ in range(4))))
"""


def num_threads_of_worker():
    return fastsel.get_num_threads()


@HAS_FORK
def test_joblib_workers_return_the_counts_and_share_the_cpus(run_python):
    """loky sets OMP_NUM_THREADS of each worker to the worker's share of the CPUs."""
    pytest.importorskip("joblib", reason="needs pip install joblib")
    path = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    unset = {"FASTSEL_NUM_THREADS": None, "OMP_NUM_THREADS": None}
    share_of_cpus = max(1, (os.cpu_count() or 1) // 2)
    assert int(run_python(path + JOBLIB, **unset)) <= share_of_cpus


def test_a_spawned_worker_returns_the_positions():
    array = np.arange(300_000) % 5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(fastsel.flatnonzero, (array,)).get(500)
    assert_same(result, np.flatnonzero(array))


CHILD_OF_A_THREAD = """
import os, signal, threading
import numpy as np
import fastsel

def fork_and_wait():
    child = os.fork()
    if child == 0:  # the only Python thread of the child; it ends here
        signal.alarm(300)  # ends a child that does not end by itself
        fastsel.set_num_threads(2)
        fastsel.flatnonzero(np.ones(1_000_000, bool))
        return
    assert not os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the child lives on"

thread = threading.Thread(target=fork_and_wait)
thread.start()
thread.join()
"""


@HAS_FORK
@pytest.mark.skipif(IS_LIBOMP, reason="libomp's threads exist until the process exits")
def test_a_child_ends_with_its_only_python_thread(run_python):
    run_python(CHILD_OF_A_THREAD)


@HAS_FORK
def test_a_forked_child_has_one_thread_after_set_num_threads_of_the_parent(run_python):
    code = """
import os
import fastsel
fastsel.set_num_threads(3)
child = os.fork()
if child == 0:
    os._exit(fastsel.get_num_threads())
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
assert fastsel.get_num_threads() == 3
"""
    run_python(code)
