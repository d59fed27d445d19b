"""Child processes: a fork after use neither hangs nor changes a result."""

import multiprocessing
import os

import numpy as np
import pytest
from arrays import assert_same

import fastsel

HAS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

FORK = """
import os, signal, sys, threading
import numpy as np
import fastsel, fastsel._threads
fastsel._threads.MIN_SLICE_BYTES = 1
array = np.arange(200_000) % 3
indices = np.arange(200_000)[:, None]

def use():
    with fastsel.threads(2):
        assert len(fastsel.nonzero(array)[0]) == 133_333
        assert fastsel.compress(array, array).sum() == 199_999
        assert (fastsel.gather_nd(array, indices) == array).all()

def in_child(function):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
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

signal.alarm(50)
"""
FORKS = {
    "child": "use(); in_child(use); use()",
    "child_of_an_unused_parent": "in_child(use); use()",
    "ten_children": "for _ in range(10):\n    use(); in_child(use)",
    "grandchild": "use(); in_child(lambda: (use(), in_child(use), use()))",
    "grandchild_of_an_idle_child": "use(); in_child(lambda: in_child(use))",
    "thread_of_the_child": "use(); in_child(lambda: in_thread(use))",
    "from_a_thread": "use(); in_thread(lambda: (use(), in_child(use), use())); use()",
    "from_a_thread_that_ends": "in_thread(lambda: (use(), in_child(lambda: in_thread(use))))",
    "while_another_thread_works": """
stop = threading.Event()
def work():
    while not stop.is_set():
        use()
thread = threading.Thread(target=work)
thread.start()
for _ in range(10):
    in_child(use)
stop.set()
thread.join()
""",
}


@HAS_FORK
@pytest.mark.parametrize("case", FORKS)
def test_after_fork(case, run_python):
    assert run_python(FORK + FORKS[case] + "\nprint('done')") == "done\n"


def count_items(array):
    with fastsel.threads(2):
        return int(fastsel.count_nonzero(array)), len(fastsel.flatnonzero(array))


POOL = """
import multiprocessing
import numpy as np
import test_fork
array = np.arange(300_000) % 5
expected = test_fork.count_items(array)
with multiprocessing.get_context('fork').Pool(2) as pool:
    assert pool.map_async(test_fork.count_items, [array] * 6).get(40) == [expected] * 6
"""


@HAS_FORK
def test_pool_of_forked_workers(run_python):
    run_python(f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n{POOL}")


def test_spawned_worker():
    array = np.arange(300_000) % 5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(fastsel.flatnonzero, (array,)).get(60)
    assert_same(result, np.flatnonzero(array))


CHILD_OF_A_THREAD = """
import os, threading, time
import numpy as np
import fastsel

def fork_and_wait():
    child = os.fork()
    if child == 0:  # the forked thread is the child's only one, and ends
        fastsel.set_num_threads(2)
        fastsel.flatnonzero(np.ones(1_000_000, bool))
        return
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.1)

thread = threading.Thread(target=fork_and_wait)
thread.start()
thread.join()
"""


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
