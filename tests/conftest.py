"""Settings, hooks and fixtures of all tests. Some fixtures make small arrays reach the kernels of
large arrays."""

import contextlib
import gc
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zlib import crc32

# Tests use more threads than there are CPUs, and may run at the same time: a waiting thread must
# not spin. libgomp reads this variable when it is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
# Every run has the same seeds of the hash, unless the variable is set.
os.environ.setdefault("FASTSEL_HASH_SEED", "1")

import pytest
from arrays import ML_DTYPES, ML_NAMES
from forcing import TUNING
from hypothesis import HealthCheck, settings
from kept_memory import LIMIT

import fastsel

# By default, every run has the same examples. --hypothesis-profile=search has more examples, which
# are new in each run.
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
# For runs that take long, for example under sanitizers or of many mutants.
settings.register_profile("few", settings.get_profile("default"), max_examples=8)
settings.load_profile("default")


# pytest-run-parallel must not run tests with these fixtures in several threads at once. Other tests
# that it must not run in several threads have the mark `thread_unsafe`.
THREAD_UNSAFE_FIXTURES = {
    "each_num_threads": "an iterator, which only one thread can use",
    "run_forked": "runs code in another process, which threads of this process do not test",
    "run_python": "runs code in another process, which threads of this process do not test",
}


def pytest_collection_finish():
    """Freeze the objects of pytest and of libraries: garbage collections in tests do not visit
    frozen objects, and so are much faster."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption(
        "--part",
        default="1/1",
        metavar="K/N",
        help="run the K-th of N parts of the tests; each run has the same parts",
    )


def pytest_collection_modifyitems(config, items):
    option = config.getoption("part", "1/1")
    match = re.fullmatch(r"(\d{1,3})/(\d{1,3})", option)
    part, parts = map(int, match.groups()) if match else (0, 0)
    if not 1 <= part <= parts:
        raise pytest.UsageError(f"--part must be K/N, such as 1/3 or 3/3, got {option}")
    left_out = {item for item in items if crc32(item.nodeid.encode()) % parts + 1 != part}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        for name in THREAD_UNSAFE_FIXTURES.keys() & item.fixturenames:
            item.add_marker(pytest.mark.thread_unsafe(reason=THREAD_UNSAFE_FIXTURES[name]))
        if "request" in inspect.signature(item.function).parameters:
            reason = "may request a fixture while it runs, which pytest allows in one thread only"
            item.add_marker(pytest.mark.thread_unsafe(reason=reason))
        if not ML_DTYPES and any(name in item.name for name in ML_NAMES):
            item.add_marker(pytest.mark.skip(reason="needs pip install ml_dtypes"))


@pytest.fixture(scope="module", autouse=True)
def _freeze_objects_of_earlier_modules():
    """Before the tests of each module: free the garbage of earlier modules, and freeze all other
    objects, so that no garbage collection in these tests visits them."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def forced_kernels():
    """Dispatch small arrays to the kernels of large arrays, in all threads."""
    with pytest.MonkeyPatch.context() as patch:  # the fixture `monkeypatch` is thread-unsafe
        for name, value in TUNING:
            patch.setattr(name, value)
        yield


@pytest.fixture(params=[1, 2, 3, 7], ids="threads{}".format)
def num_threads(request, forced_kernels):
    """Force the kernels of large arrays, and set the number of threads, which is the value."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture(params=[1, 3], ids="threads{}".format)
def kernels_with_few_threads(request, forced_kernels):
    """As `num_threads`, with fewer numbers: one thread, for which a small array is one chunk, and
    three threads."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture
def each_num_threads(forced_kernels):
    """Force the kernels of large arrays. The value is an iterator over 1, 2, 3 and 7, which sets
    the number of threads to each number that it yields."""

    def numbers():
        for count in (1, 2, 3, 7):
            with fastsel.threads(count):
                yield count

    with contextlib.closing(numbers()) as steps:
        yield steps


# If an index into a view is out of bounds, a kernel of a checked build (FASTSEL_CHECKED=1) prints
# this text and continues. In the process of pytest, the exception, which it cannot raise, becomes a
# warning, which fails the test.
OUT_OF_VIEW = "IndexError: Out of bounds on buffer access"

# This program runs the code of each request in a fork of itself, which has imported NumPy, but not
# fastsel. The first line of its output says whether NumPy has loaded OpenMP, which would have read
# the environment of this program instead of the environment of the request.
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
    """A function that runs code as `run_python` does, but in a forked process, which has imported
    NumPy already. Without a fork server, it calls `run_python`."""

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
    """The environment of this process with its `sys.path` as PYTHONPATH, and with these variables;
    a variable that is None is removed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **variables,
    }
    return {name: text for name, text in environment.items() if text is not None}


@pytest.fixture
def run_python():
    """A function that runs code in a new interpreter, which must exit with status 0 before the
    timeout."""

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


@pytest.fixture
def nothing_cached():
    """Begin with an empty cache, whose limit is kept_memory.LIMIT."""
    gc.collect()
    fastsel.release_memory()
    fastsel.set_keep_mb(LIMIT >> 20)
    yield
    fastsel.set_keep_mb(None)
