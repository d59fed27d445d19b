"""Fixtures of all tests: small arrays reach the kernels, and several chunks."""

import contextlib
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

# Tests have more threads than CPUs, and may run beside each other: none is to spin while it waits.
# libgomp reads this when it is loaded, with fastsel.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
# A run hashes as the last one did.
os.environ.setdefault("FASTSEL_HASH_SEED", "1")

import pytest
from arrays import ML_DTYPES, ML_NAMES
from hypothesis import HealthCheck, settings
from tuning import TUNING

import fastsel

# Derandomized: a run finds the same as the last one. --hypothesis-profile=search looks further.
settings.register_profile(
    "default",
    max_examples=30,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(
    "search", settings.get_profile("default"), max_examples=5000, derandomize=False
)
# Where each example is slow, or each run is one of hundreds.
settings.register_profile("few", settings.get_profile("default"), max_examples=8)
settings.load_profile("default")


# What pytest-run-parallel must not run in several threads at once: modules, tests, fixtures.
THREAD_UNSAFE = {
    "test_any_call_equals_the_reference": "forces an algorithm for the process",
    "test_any_list_is_rebuilt_by_its_inverse": "forces an algorithm for the process",
    "test_dask_page": "catches what an example prints",
    "test_documents": "catches what an example prints",
    "test_every_dtype": "forces an algorithm for the process",
    "test_eight_threads_at_once": "sets what holds for the process",
    "test_fork": "forks",
    "test_interrupts": "sends signals, which the main thread handles",
    "test_huge": "needs the memory once",
    "test_bench": "the command line prints, and reads the arguments of the process",
    "test_bench_arrays": "the command line prints, and reads the arguments of the process",
    "test_bench_report": "the command line prints, and reads the arguments of the process",
    "test_main": "the command line prints, and reads the arguments of the process",
    "test_memory": "counts references and the memory of the process",
    "test_objects_that_raise": "counts references",
    "test_results": "looks at memory that all threads share",
    "test_setting_holds_in_every_python_thread": "sets what holds for the process",
    "test_set_num_threads_is_seen_by_get": "sets what holds for the process",
    "test_settings_change_while_others_call": "sets what holds for the process",
    "test_site": "replaces fastsel's functions, and catches what an example prints",
    "test_patch": "replaces NumPy's functions",
    "test_what_a_variable_says": "sets a variable of the process",
    "test_written_meanwhile": "has a writer and readers of its own",
    "test_run": "the command line prints, and reads the arguments of the process",
    "test_report": "replaces what NumPy's functions lead to",
    "each_num_threads": "an iterator, which one thread can use",
    "request": "may ask for a fixture while it runs, which pytest does not do for two at once",
    "run_forked": "starts an interpreter, which threads of this one do not reach",
    "run_python": "starts an interpreter, which threads of this one do not reach",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe(reason): for pytest-run-parallel")


def pytest_collection_finish():
    """Tests that collect garbage look for their own, not among all that pytest and libraries made,
    which would take most of their time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    for item in items:
        names = {item.path.stem, getattr(item, "originalname", ""), *item.fixturenames}
        for name in names & set(THREAD_UNSAFE):
            item.add_marker(pytest.mark.thread_unsafe(reason=THREAD_UNSAFE[name]))
        if not ML_DTYPES and any(name in item.name for name in ML_NAMES):
            item.add_marker(pytest.mark.skip(reason="needs pip install ml_dtypes"))


@pytest.fixture(scope="module", autouse=True)
def _garbage_of_this_module_alone():
    """As for all modules at the beginning: what others have left is no garbage to look at."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def forced_kernels():
    """Small arrays are handled as large ones are."""
    with pytest.MonkeyPatch.context() as patch:  # no fixture: pytest-run-parallel would take fright
        for name, value in TUNING:
            patch.setattr(name, value)
        yield


@pytest.fixture(params=[1, 2, 3, 7], ids="threads{}".format)
def num_threads(request, forced_kernels):
    """Forced kernels with this many threads, hence up to this many chunks."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture(params=[1, 3], ids="threads{}".format)
def few_threads(request, forced_kernels):
    """Forced kernels with one chunk and with several."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture
def each_num_threads(forced_kernels):
    """Iterable of 1, 2, 3, 7 that sets the number of threads before each step."""

    def numbers():
        for count in (1, 2, 3, 7):
            with fastsel.threads(count):
                yield count

    with contextlib.closing(numbers()) as steps:
        yield steps


# What a kernel of a checked build (FASTSEL_CHECKED=1) prints, and goes on. In this process it is a
# warning, which fails the test.
OUT_OF_VIEW = "IndexError: Out of bounds on buffer access"

# Runs each code that it is sent in a fork of itself, which has imported NumPy and no more. It says
# at first whether that has loaded OpenMP, which reads the environment once.
FORKING = """
import json, os, signal, sys
import numpy
with open("/proc/self/maps") as maps:
    print("omp" in maps.read(), flush=True)
for request in sys.stdin:
    code, environment, paths = json.loads(request)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    signal.alarm(600)  # what hangs is to end some time
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(paths):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    exec(code, {"__name__": "__main__"})
    break
"""


@pytest.fixture(scope="session")
def _forking():
    """That process, or None where it would not do."""
    if not os.path.exists("/proc/self/maps"):
        yield None
        return
    with subprocess.Popen(
        [sys.executable, "-P", "-c", FORKING],
        env=environment_of_child(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process if process.stdout.readline() == "False\n" else None
        process.stdin.close()


@pytest.fixture
def run_forked(_forking, run_python, tmp_path):
    """As `run_python`, in a fraction of the time: the interpreter has NumPy, but not fastsel."""

    def run(code, **variables):
        if _forking is None:
            return run_python(code, **variables)
        paths = [os.devnull, str(tmp_path / "output"), str(tmp_path / "errors")]
        request = json.dumps([code, environment_of_child(**variables), paths])
        _forking.stdin.write(f"{request}\n")
        _forking.stdin.flush()
        status, errors = _forking.stdout.readline(), Path(paths[2]).read_text()
        assert status == "0\n", errors
        assert OUT_OF_VIEW not in errors, errors
        return Path(paths[1]).read_text()

    return run


def environment_of_child(**variables):
    """This one, with variables, of which those that are None are removed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **variables,
    }
    return {name: text for name, text in environment.items() if text is not None}


@pytest.fixture
def run_python():
    """Function that runs code in a fresh interpreter, which must end well and in time."""

    def run(code, timeout=600, **variables):
        """A variable that is None is removed. The time is for what hangs, not for what is slow."""
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", code],
                env=environment_of_child(**variables),
                timeout=timeout,
                capture_output=True,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired as hung:
            pytest.fail(f"hangs, and has printed {hung.stdout!r}")
        assert done.returncode == 0, done.stderr
        assert OUT_OF_VIEW not in done.stderr, done.stderr
        return done.stdout

    return run
