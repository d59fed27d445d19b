"""Fixtures of all tests. Some make small arrays reach the kernels of large arrays, in chunks."""

import contextlib
import gc
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

# Tests use more threads than there are CPUs, and may run at the same time: a waiting thread must
# not spin. libgomp reads this variable when fastsel loads libgomp.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
# Every run hashes with the same seeds.
os.environ.setdefault("FASTSEL_HASH_SEED", "1")

import pytest
from arrays import ML_DTYPES, ML_NAMES
from forcing import TUNING
from hypothesis import HealthCheck, settings

import fastsel

# Every run has the same examples. --hypothesis-profile=search has more examples, which are new in
# each run.
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
# For runs whose examples are slow, and for runs that are repeated hundreds of times.
settings.register_profile("few", settings.get_profile("default"), max_examples=8)
settings.load_profile("default")


# pytest-run-parallel must not run tests with these fixtures in several threads at once. Other tests
# that it must not run in several threads have the mark `thread_unsafe`.
THREAD_UNSAFE_FIXTURES = {
    "each_num_threads": "an iterator, which only one thread can use",
    "run_forked": "starts a process, whose code does not run in the threads of this one",
    "run_python": "starts a process, whose code does not run in the threads of this one",
}


def pytest_collection_finish():
    """Freeze the objects of pytest and of libraries, so that a garbage collection in a test visits
    only the test's objects. A visit to all objects would take most of the test's time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    for item in items:
        for name in THREAD_UNSAFE_FIXTURES.keys() & item.fixturenames:
            item.add_marker(pytest.mark.thread_unsafe(reason=THREAD_UNSAFE_FIXTURES[name]))
        if "request" in inspect.signature(item.function).parameters:
            reason = "may request a fixture while it runs, which pytest allows in one thread only"
            item.add_marker(pytest.mark.thread_unsafe(reason=reason))
        if not ML_DTYPES and any(name in item.name for name in ML_NAMES):
            item.add_marker(pytest.mark.skip(reason="needs pip install ml_dtypes"))


@pytest.fixture(scope="module", autouse=True)
def _freeze_garbage_of_earlier_modules():
    """Freeze the garbage of earlier modules, so that tests of this module do not visit it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def forced_kernels():
    """Dispatch small arrays to the kernels of large arrays."""
    with pytest.MonkeyPatch.context() as patch:  # the fixture `monkeypatch` is thread-unsafe
        for name, value in TUNING:
            patch.setattr(name, value)
        yield


@pytest.fixture(params=[1, 2, 3, 7], ids="threads{}".format)
def num_threads(request, forced_kernels):
    """Forced kernels, and the number of threads, which is also the largest number of chunks."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture(params=[1, 3], ids="threads{}".format)
def kernels_with_few_threads(request, forced_kernels):
    """Forced kernels, with one chunk and with several chunks."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture
def each_num_threads(forced_kernels):
    """An iterable of 1, 2, 3, 7 that sets the number of threads before each step."""

    def numbers():
        for count in (1, 2, 3, 7):
            with fastsel.threads(count):
                yield count

    with contextlib.closing(numbers()) as steps:
        yield steps


# A kernel of a checked build (FASTSEL_CHECKED=1) prints this text and continues. In the process of
# pytest the text is a warning, which fails the test.
OUT_OF_VIEW = "IndexError: Out of bounds on buffer access"

# This program runs the code of each request in a fork of itself, which has imported only NumPy. The
# first line of its output says whether NumPy has loaded OpenMP, which reads the environment once.
FORK_SERVER = """
import json, os, signal, sys
import numpy
with open("/proc/self/maps") as maps:
    print("omp" in maps.read(), flush=True)
for request in sys.stdin:
    code, environment, paths = json.loads(request)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    signal.alarm(600)  # ends code that hangs
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(paths):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    exec(code, {"__name__": "__main__"})
    break
"""


@pytest.fixture(scope="session")
def _fork_server():
    """The process that runs FORK_SERVER; None without /proc, or if NumPy has loaded OpenMP."""
    if not os.path.exists("/proc/self/maps"):
        yield None
        return
    with subprocess.Popen(
        [sys.executable, "-P", "-c", FORK_SERVER],
        env=environment_of_child(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process if process.stdout.readline() == "False\n" else None
        process.stdin.close()


@pytest.fixture
def run_forked(_fork_server, run_python, tmp_path):
    """A faster `run_python`: the forked process has imported NumPy already."""

    def run(code, **variables):
        if _fork_server is None:
            return run_python(code, **variables)
        paths = [os.devnull, str(tmp_path / "output"), str(tmp_path / "errors")]
        request = json.dumps([code, environment_of_child(**variables), paths])
        _fork_server.stdin.write(f"{request}\n")
        _fork_server.stdin.flush()
        status, errors = _fork_server.stdout.readline(), Path(paths[2]).read_text()
        assert status == "0\n", errors
        assert OUT_OF_VIEW not in errors, errors
        return Path(paths[1]).read_text()

    return run


def environment_of_child(**variables):
    """The environment of this process with these variables; a variable that is None is removed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **variables,
    }
    return {name: text for name, text in environment.items() if text is not None}


@pytest.fixture
def run_python():
    """A function that runs code in a new interpreter, which must exit with status 0 in time."""

    def run(code, timeout=600, **variables):
        """Return what `code` prints. A variable that is None is removed from the environment. The
        timeout is for code that hangs, not for slow code."""
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
