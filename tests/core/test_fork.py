"""Child processes: a fork after use neither hangs nor changes a result."""

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

pytestmark = pytest.mark.thread_unsafe(reason="forks")

# LLVM's libomp or Intel's libiomp5, also where a link has libgomp's name.
LIBOMP = (
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
        signal.alarm(300)  # what hangs is to end some time
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
# One round of each. (C's fork while another Python thread works is missing: Python itself hangs in
# that child, whatever the other thread does, because nobody resets the interpreter's lock.)
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
def test_after_fork(case, rounds, run_python):
    if case == "while_another_thread_works" and "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("a child may find AddressSanitizer's own allocator locked by that thread")
    code = f"{FORK}for _ in range({rounds}):\n    {FORKS[case]}\nprint('done')"
    assert run_python(code) == "done\n"


OTHERS = [
    f"{folder}/{name}"
    for folder in [f"{sys.prefix}/lib", *sorted(glob("/usr/lib/llvm-*/lib"))]
    for name in ("libomp.so", "libomp.so.5", "libiomp5.so")
    if os.path.exists(f"{folder}/{name}")
]


@HAS_FORK
@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="needs pip install intel-openmp, or LLVM's libomp")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another library is preloaded")
@pytest.mark.skipif(not parallel.is_threaded(), reason="a build without OpenMP")
@pytest.mark.parametrize("case", ["child", "grandchild"])
def test_after_fork_where_libomp_is_in_the_place_of_libgomp(case, run_python):
    """conda may replace libgomp by libomp: ending the threads of libgomp makes a child of libomp
    hang."""
    code = f"{FORK}from fastsel._core import parallel\nprint(parallel.openmp()[1])\n"
    code += f"for _ in range(20):\n    {FORKS[case]}"
    assert run_python(code, LD_PRELOAD=OTHERS[0]).strip() == OTHERS[0]


@HAS_FORK
def test_child_of_an_unused_parent(run_python):
    assert run_python(f"{FORK}in_child(use); use(); print('done')") == "done\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
@pytest.mark.skipif(LIBOMP, reason="libomp keeps its threads at a fork")
@pytest.mark.parametrize("case", ["child", "grandchild", "thread_of_the_child", "preexec_fn"])
def test_no_fork_of_a_process_with_several_threads(case, run_python):
    """Python 3.12 and later warn of that: they count once, and the system lists a thread for a
    moment after it has been joined. So the test waits, in the parent, until they are gone; one that
    had not ended would stay. (OpenBLAS has threads of its own.)"""
    code = f"""{FORK}
import time
def wait():
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)
    os.write(1, b"one thread\\n")  # whole, whichever processes write at once
os.register_at_fork(after_in_parent=wait)
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
def test_pool_of_forked_workers(rounds, run_python):
    path = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    run_python(path + POOL.format(rounds=rounds))


LOKY = """
import joblib
import numpy as np
import test_fork
array = np.arange(300_000) % 5
expected = test_fork.count_items(array)
for _ in range(2):
    jobs = [joblib.delayed(test_fork.count_items)(array) for _ in range(16)]
    assert joblib.Parallel(2, backend="loky")(jobs) == [expected] * 16
    if not test_fork.LIBOMP:  # joblib tells it not to start afresh in a child
        assert joblib.Parallel(4, backend="multiprocessing")(jobs) == [expected] * 16
    assert joblib.Parallel(4, backend="threading")(jobs) == [expected] * 16
    assert test_fork.count_items(array) == expected
print(*set(joblib.Parallel(2)(joblib.delayed(test_fork.threads_here)() for _ in range(4))))
"""


def threads_here():
    return fastsel.get_num_threads()


@HAS_FORK
def test_workers_of_joblib(run_python):
    """Each worker of loky has its share of this machine's CPUs, by OMP_NUM_THREADS."""
    pytest.importorskip("joblib", reason="needs pip install joblib")
    path = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    unset = {"FASTSEL_NUM_THREADS": None, "OMP_NUM_THREADS": None}
    most = max(1, (os.cpu_count() or 1) // 2)
    assert int(run_python(path + LOKY, **unset)) <= most


def test_spawned_worker():
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
    if child == 0:  # the forked thread is the child's only one, and ends
        signal.alarm(300)  # if not
        fastsel.set_num_threads(2)
        fastsel.flatnonzero(np.ones(1_000_000, bool))
        return
    assert not os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the child lives on"

thread = threading.Thread(target=fork_and_wait)
thread.start()
thread.join()
"""


@HAS_FORK
@pytest.mark.skipif(LIBOMP, reason="libomp's threads live until the process exits")
def test_a_child_ends_with_its_last_own_thread(run_python):
    run_python(CHILD_OF_A_THREAD)


def test_set_num_threads_is_the_parents(run_python):
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
