"""Fixtures of all tests: small arrays reach the kernels, and several slices."""

import contextlib
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings
from tuning import TUNING

import fastsel

# Derandomized: a run finds the same as the last one. --hypothesis-profile=search looks further.
settings.register_profile(
    "default",
    max_examples=50,
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


@pytest.fixture
def forced_kernels():
    """Small arrays take the road of large ones."""
    with pytest.MonkeyPatch.context() as patch:  # no fixture: pytest-run-parallel would take fright
        for name, value in TUNING:
            patch.setattr(name, value)
        yield


@pytest.fixture(params=[1, 2, 3, 7], ids="threads{}".format)
def num_threads(request, forced_kernels):
    """Forced kernels with this many threads, hence up to this many slices."""
    with fastsel.threads(request.param):
        yield request.param


@pytest.fixture(params=[1, 3], ids="threads{}".format)
def few_threads(request, forced_kernels):
    """Forced kernels with one slice and with several."""
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


@pytest.fixture
def run_python():
    """Function that runs code in a fresh interpreter, which must end well and in time."""

    def run(code, timeout=60, **variables):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env=environment,
            timeout=timeout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
