"""Fixtures of all tests: small arrays reach the kernels, and several chunks."""

import contextlib
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

# Tests have more threads than CPUs, and may run beside each other: a waiting thread must not spin.
# libgomp reads this variable when fastsel loads it.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
# Every run hashes with the same seeds.
os.environ.setdefault("FASTSEL_HASH_SEED", "1")

import pytest
from arrays import ML_DTYPES, ML_NAMES
from forcing import TUNING
from hypothesis import HealthCheck, settings

import fastsel

# Derandomized: every run has the same examples. --hypothesis-profile=search has more, and others.
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


# Fixtures whose tests pytest-run-parallel must not run in several threads at once. Other tests that
# it must not run so are marked themselves.
THREAD_UNSAFE_FIXTURES = {
    "each_num_threads": "an iterator, which one thread can use",
    "request": "may ask for a fixture while it runs, which pytest does not do for two at once",
    "run_forked": "starts an interpreter, which threads of this one do not reach",
    "run_python": "starts an interpreter, which threads of this one do not reach",
}


def pytest_collection_finish():
    """Freeze the objects of pytest and of libraries, so that a test that collects garbage walks its
    own objects only: the others would take most of its time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    for item in items:
        for name in THREAD_UNSAFE_FIXTURES.keys() & item.fixturenames:
            item.add_marker(pytest.mark.thread_unsafe(reason=THREAD_UNSAFE_FIXTURES[name]))
        if not ML_DTYPES and any(name in item.name for name in ML_NAMES):
            item.add_marker(pytest.mark.skip(reason="needs pip install ml_dtypes"))


@pytest.fixture(scope="module", autouse=True)
def _garbage_of_this_module_alone():
    """Freeze the garbage of earlier modules: a test of this module need not look at it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def forced_kernels():
    """Small arrays go to the kernels of large ones."""
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


# A kernel of a checked build (FASTSEL_CHECKED=1) prints this text and goes on. In this process the
# text is a warning, which fails the test.
OUT_OF_VIEW = "IndexError: Out of bounds on buffer access"

# Runs each code that it gets in a fork of itself, which has imported NumPy and no more. The first
# line of its output says whether NumPy has loaded OpenMP, which reads the environment once.
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
    """The process that runs FORKING, or None if NumPy has loaded OpenMP there."""
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
    """The function of `run_python` in a fraction of the time: the interpreter has NumPy already."""

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
    """This process's environment with the variables; a variable that is None is removed."""
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
        """A variable that is None is removed. The timeout ends code that hangs, not slow code."""
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
