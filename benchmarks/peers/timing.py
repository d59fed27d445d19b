"""Timing of several calls in turns, and the speed of this machine's memory."""

import functools
import gc
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

ROUNDS = 5
MIN_SAMPLES = 3  # of a contender: a delay of the system must not be the median
MAX_SAMPLES = 100  # in one block
SAMPLE_SECONDS = 20e-6  # shorter calls are timed several at a time
PAUSE_SECONDS = 0.005  # the threads of torch and numba spin for some milliseconds after a call
WARM_SECONDS = 0.01  # threads that wake need some milliseconds until each runs on its own core
WARM_CALLS = 3
SLOW_SECONDS = 0.1  # slower calls need no warming
MEMORY_BYTES = 1 << 27  # per thread: larger than the caches of most CPUs
MEMORY_ROUNDS = 5


class Timing(NamedTuple):
    """Seconds per call."""

    median: float
    minimum: float
    samples: int


def race(calls, seconds):
    """Time several calls (name -> function) in turns, a block of calls at a time: name -> Timing.

    The order is reversed after each round. Each contender has the same share of the seconds. It
    stops when it has spent its share and has at least MIN_SAMPLES samples, or after ROUNDS blocks.
    """
    share = seconds / len(calls)
    samples = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(ROUNDS):
            for name in list(calls)[:: 1 if turn % 2 else -1]:
                if spent[name] < share or len(samples[name]) < MIN_SAMPLES:
                    time.sleep(PAUSE_SECONDS)
                    start = time.perf_counter()
                    samples[name] += take_samples(calls[name], share / ROUNDS)
                    spent[name] += time.perf_counter() - start
    finally:
        if enabled:
            gc.enable()
    return {
        name: Timing(statistics.median(times), min(times), len(times))
        for name, times in samples.items()
    }


def take_samples(call, seconds):
    """Samples of one contender: some calls to warm up, which are not recorded, then calls until
    these seconds are over or there are MAX_SAMPLES samples.

    A slow call needs no warming: its first call is the only sample of the block.
    """
    stop = time.perf_counter() + seconds
    fastest = first = seconds_of(call)
    if first > SLOW_SECONDS:
        return [first]
    warm_stop = time.perf_counter() + WARM_SECONDS
    warm_calls = 1
    while warm_calls < WARM_CALLS or time.perf_counter() < warm_stop:
        fastest = min(fastest, seconds_of(call))
        warm_calls += 1
    together = max(1, int(SAMPLE_SECONDS / fastest))
    samples = [seconds_of(call, together)]
    while len(samples) < MAX_SAMPLES and time.perf_counter() < stop:
        samples.append(seconds_of(call, together))
    return samples


def seconds_of(call, together=1):
    """The mean time of `together` consecutive calls."""
    start = time.perf_counter()
    for _ in range(together):
        call()
    return (time.perf_counter() - start) / together


class MemorySpeed(NamedTuple):
    """Bytes per second of all threads together."""

    read: float
    fresh_write: float


def memory_speed(num_threads):
    """The speed of memory, by NumPy in Python threads: np.add.reduce reads memory, and filling new
    arrays writes fresh memory."""
    arrays = [np.ones(MEMORY_BYTES // 8) for _ in range(num_threads)]
    total = MEMORY_BYTES * num_threads
    with ThreadPoolExecutor(num_threads) as pool:

        def fastest(job):
            runs = [seconds_of(lambda: list(pool.map(job, arrays))) for _ in range(MEMORY_ROUNDS)]
            return total / min(runs)

        return MemorySpeed(fastest(np.add.reduce), fastest(fill_fresh))


def fill_fresh(like):
    np.empty(like.size).fill(1.0)


def parallel_loop(buffers, bytes_written, num_threads):
    """A call that reads flat arrays once and writes `bytes_written` bytes, each thread its share.

    Its time is the limit for a function that moves the same memory: np.add.reduce reads the arrays,
    and filling a new array writes the bytes.
    """
    words = [buffer.view(np.uint8)[: buffer.nbytes // 8 * 8].view(np.int64) for buffer in buffers]
    slices = [[np.array_split(x, num_threads)[k] for x in words] for k in range(num_threads)]
    pool = thread_pool(num_threads)

    def job(read, written):
        for x in read:
            np.add.reduce(x)
        written.fill(1)

    def call():
        out = np.empty(bytes_written // 8, np.int64)
        list(pool.map(job, slices, np.array_split(out, num_threads)))
        return out

    return call


@functools.cache
def thread_pool(num_threads):
    """The pool of this many threads, which is made once, so that its threads are started once."""
    return ThreadPoolExecutor(num_threads)
