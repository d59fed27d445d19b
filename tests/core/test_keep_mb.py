"""The limit of the memory that is cached between calls."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from kept_memory import LIMIT, MIN_BYTES, address_of_result, handler_of
from marks import NEEDS_CACHE

import fastsel
from fastsel._core import _memory, results, scratch

pytestmark = [
    pytest.mark.usefixtures("nothing_cached"),
    pytest.mark.thread_unsafe(reason="compares the cached memory, which all threads share"),
]


@NEEDS_CACHE
def test_cached_memory_never_exceeds_the_limit():
    """Results are freed in random order, and cached blocks have to be evicted to make room."""
    rng = np.random.default_rng(1)
    results_alive = []
    for size in rng.integers(MIN_BYTES, LIMIT // 3, 100).tolist():
        results_alive.append(results.empty((size,), np.dtype(np.uint8)))
        fastsel.unique(np.arange(50_000) * size, sorted=False)
        if len(results_alive) > 4:
            del results_alive[rng.integers(len(results_alive))]
        assert 0 <= scratch.cached_bytes() <= LIMIT
    del results_alive
    assert LIMIT // 2 < scratch.cached_bytes() <= LIMIT


@NEEDS_CACHE
def test_a_limit_of_0_holds_while_other_threads_free_memory():
    """A thread may count a block as cached before the limit is set, and cache it afterwards."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            results.empty((MIN_BYTES,), np.dtype(np.uint8))
            fastsel.unique(np.arange(5000) * 7, sorted=False)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        fastsel.set_keep_mb(LIMIT >> 20)
        fastsel.set_keep_mb(0)
    stop.set()
    for thread in threads:
        thread.join()
    assert scratch.cached_bytes() == 0


@NEEDS_CACHE
def test_a_lower_limit_holds_at_once():
    above = (1 << 20) + MIN_BYTES
    address_of_result(above)
    assert scratch.cached_bytes() == above
    fastsel.set_keep_mb(1)
    assert scratch.cached_bytes() == 0
    address_of_result(above)
    assert scratch.cached_bytes() == 0
    assert handler_of(results.empty((above,), np.dtype(np.uint8))) == "default_allocator"


def test_nothing_is_cached_with_a_limit_of_0(kernels_with_few_threads):
    fastsel.set_keep_mb(0)
    a = np.random.default_rng(1).permutation(200_000) * 1_000_003
    assert fastsel.unique(a, True, True, True)[0].size == a.size
    assert handler_of(fastsel.flatnonzero(a)) == "default_allocator"
    assert scratch.cached_bytes() == fastsel.release_memory() == 0


@NEEDS_CACHE
def test_a_result_made_before_a_limit_of_0_can_be_resized():
    result = fastsel.flatnonzero(np.ones(MIN_BYTES, bool))
    fastsel.set_keep_mb(0)
    result.resize(MIN_BYTES * 2, refcheck=False)
    assert np.array_equal(result[:MIN_BYTES], np.arange(MIN_BYTES))
    assert not result[MIN_BYTES:].any()
    del result
    assert scratch.cached_bytes() == 0


@pytest.mark.parametrize(
    ("mb", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)]
)
def test_a_limit_that_is_no_number_of_at_least_0_is_an_error(mb, error):
    with pytest.raises(error, match=r"mb must be .* got "):
        fastsel.set_keep_mb(mb)
    assert fastsel.get_keep_mb() == LIMIT >> 20


def test_the_last_of_two_limits_from_two_threads_holds():
    """While the first thread sets the limit of the kernels, the second thread sets another."""
    limits, second = [], threading.Thread(target=fastsel.set_keep_mb, args=(2,))

    def set_limit(size):
        if threading.current_thread() is not second and not second.ident:
            second.start()
            second.join(0.1)  # the second thread waits for the first, or is done now
        limits.append(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_memory, "scratch", SimpleNamespace(set_limit=set_limit))
        fastsel.set_keep_mb(1)
        second.join()
    assert limits[-1] == fastsel.get_keep_mb() * 2**20


HANDLER_SETS_THE_LIMIT = """
import signal
from types import SimpleNamespace
import fastsel
from fastsel._core import _memory

limits = []

def set_limit(size):
    limits.append(size)
    if len(limits) == 1:
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, lambda *_: fastsel.set_keep_mb(2))
_memory.scratch = SimpleNamespace(set_limit=set_limit)
fastsel.set_keep_mb(1)
print([limit >> 20 for limit in limits], fastsel.get_keep_mb())
"""


def test_a_signal_handler_may_set_the_limit_while_it_is_set(run_python):
    assert run_python(HANDLER_SETS_THE_LIMIT, timeout=60) == "[1, 2] 2.0\n"


def test_a_limit_may_be_infinite():
    fastsel.set_keep_mb(float("inf"))
    assert fastsel.get_keep_mb() == float("inf")
    assert address_of_result(MIN_BYTES)


def test_the_environment_sets_the_limit(run_python):
    code = """
import fastsel
print(fastsel.get_keep_mb(), fastsel.show_config("dicts")["memory kept"])
"""
    assert run_python(code) == "64.0 0.0 of 64 MB\n"
    assert run_python(code, FASTSEL_KEEP_MB="0") == "0.0 0.0 of 0 MB\n"
    assert run_python(code, FASTSEL_KEEP_MB=" 12.5") == "12.5 0.0 of 12.5 MB\n"
