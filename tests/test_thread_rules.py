"""How many threads: which rule decides, what nonsense gets, and that there are never more."""

import os

import pytest

import fastsel
from fastsel import _threads
from fastsel._kernels import slices

HAS_AFFINITY = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no CPU affinity"
)
HAS_PROC = pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc"
)

RULE = """
import os
{before}
import fastsel
{after}
config = fastsel.show_config(mode="dicts")
print(config["threads"], config["threads set by"], sep=";")
"""
FIVE = {"FASTSEL_NUM_THREADS": "5", "OMP_NUM_THREADS": "6", "FASTSEL_FORK_THREADS": "4"}
IN_CHILD = """
if os.fork():
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
# name: environment, before the import, after it, and what decides.
RULES = {
    "with": (
        FIVE,
        "",
        "fastsel.set_num_threads(2); limit = fastsel.threads(3); limit.__enter__()",
        "3;with",
    ),
    "set": (FIVE, "", "fastsel.set_num_threads(2)", "2;fastsel.set_num_threads"),
    "unset": (FIVE, "", "fastsel.set_num_threads(2); fastsel.set_num_threads(None)", "5;FASTSEL"),
    "own_variable": (FIVE, "", "", "5;FASTSEL_NUM_THREADS"),
    "omp_variable": ({"OMP_NUM_THREADS": "6"}, "", "", "6;OMP_NUM_THREADS"),
    "omp_nesting_levels": ({"OMP_NUM_THREADS": "3,2"}, "", "", "3;OMP_NUM_THREADS"),
    "fork": ({"FASTSEL_NUM_THREADS": "5"}, "", IN_CHILD, "1;a child made by fork"),
    "fork_variable": (FIVE, "", IN_CHILD, "4;a child made by fork"),
    "set_in_a_child": (FIVE, "", IN_CHILD + "fastsel.set_num_threads(3)", "3;fastsel.set"),
}


def rule(run_python, before="", after="", **variables):
    unset = {"FASTSEL_NUM_THREADS": "", "OMP_NUM_THREADS": "", "FASTSEL_FORK_THREADS": ""}
    return run_python(RULE.format(before=before, after=after), **unset | variables).strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("name", RULES)
def test_rule_that_decides(name, run_python):
    variables, before, after, expected = RULES[name]
    assert rule(run_python, before, after, **variables).startswith(expected)


@HAS_AFFINITY
def test_affinity_decides(run_python):
    first = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
    assert rule(run_python, before=first) == "1;CPUs of this process (affinity, cgroup quota)"


NONSENSE = ["0", "-1", "abc", "2.5", "1e5", "²", "4;2", ",", "inf", "9" * 30, "100000"]
IMPORT = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import fastsel
assert fastsel.flatnonzero([0, 3] * 100_000).tolist() == [*range(1, 200_000, 2)]
print(fastsel.get_num_threads(), len(caught))
"""


@pytest.mark.parametrize("text", NONSENSE)
@pytest.mark.parametrize("name", ["FASTSEL_NUM_THREADS", "OMP_NUM_THREADS"])
def test_nonsense_in_a_variable_is_clamped_or_ignored(name, text, run_python):
    variables = {"FASTSEL_NUM_THREADS": "", "OMP_NUM_THREADS": "", name: text}
    threads, warnings = map(int, run_python(IMPORT, **variables).split())
    is_number = text.isdecimal() and int(text) > 0
    assert warnings == (not is_number)
    assert threads == (_threads.MOST_THREADS if is_number else _threads._cpus())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("text", ["0", "abc", "100000"])
def test_nonsense_after_a_fork_is_clamped_or_ignored(text, run_python):
    decided = rule(
        run_python,
        after="import warnings; warnings.simplefilter('ignore')" + IN_CHILD,
        FASTSEL_FORK_THREADS=text,
    )
    assert int(decided.split(";")[0]) == (_threads.MOST_THREADS if text == "100000" else 1)


def test_more_threads_than_sensible_are_clamped():
    with fastsel.threads(10**30):
        assert fastsel.get_num_threads() == _threads.MOST_THREADS


# The quota of a cgroup.

QUOTAS = {
    "v2": ({"cpu.max": "150000 100000\n"}, 1.5),
    "v2_unlimited": ({"cpu.max": "max 100000\n"}, None),
    "v2_empty": ({"cpu.max": "\n"}, None),
    "v2_of_no_period": ({"cpu.max": "100000 0\n"}, None),
    "v1": ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
    "v1_unlimited": ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
    "v1_of_no_period": ({"cpu/cpu.cfs_quota_us": "50000\n"}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_quota(name, tmp_path):
    files, expected = QUOTAS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert _threads._quota(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [(0.1, 1), (1.0, 1), (1.5, 2), (64, 4), (None, 4)])
def test_quota_is_rounded_up_and_never_more_than_the_affinity(quota, expected, monkeypatch):
    monkeypatch.setattr(_threads, "_quota", lambda: quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(4), raising=False)
    assert _threads._cpus() == expected


# Never more threads than that.

CALLERS = """
import os, threading
import numpy as np
import fastsel
fastsel.set_num_threads(4)
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
counts, gate = [], threading.Barrier(8)

def caller():
    gate.wait()
    for _ in range(100):
        assert (fastsel.flatnonzero(array) == expected).all()
        counts.append(len(os.listdir("/proc/self/task")))

before = len(os.listdir("/proc/self/task"))
callers = [threading.Thread(target=caller) for _ in range(8)]
for thread in callers:
    thread.start()
for thread in callers:
    thread.join()
assert len(counts) == 800
print(max(counts) - before)
"""


@HAS_PROC
def test_callers_at_once_share_one_team(run_python):
    """Eight callers and three workers, not eight teams."""
    assert int(run_python(CALLERS)) <= 8 + 3


NESTED = """
import os, signal
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
counts = []

def handler(number, frame):
    with fastsel.threads(9):
        assert (fastsel.flatnonzero(array) == expected).all()
        assert fastsel.unique(array).tolist() == [0, 1, 2]
    counts.append(len(os.listdir("/proc/self/task")))

before = len(os.listdir("/proc/self/task"))
signal.signal(signal.SIGALRM, handler)
with fastsel.threads(2):
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    fastsel.count_nonzero(np.broadcast_to(True, 10**9))
assert len(counts) == 1
with fastsel.threads(9):
    fastsel.flatnonzero(array)
counts.append(len(os.listdir("/proc/self/task")))
print(*(count - before for count in counts))
"""


@HAS_PROC
def test_a_call_within_a_call_is_serial(run_python):
    """A signal handler's, between two slices: it finds the team at work, and adds no thread.
    Afterwards the same call may have its eight workers."""
    within, after = map(int, run_python(NESTED).split())
    assert (within, after) == ((1, 8) if slices.is_threaded() else (0, 0))


NO_MORE_THREADS = """
import resource, threading
import numpy as np
import fastsel
array = np.arange(400_000) % 3
expected = np.flatnonzero(array)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (24 << 20), -1))  # two stacks, and 8 MB
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
