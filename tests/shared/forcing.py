"""Settings by which a test forces an algorithm of unique, and for small arrays the kernels of large
arrays."""

import contextlib
import contextvars

from fastsel._unique import part_sort

# With these values, the smallest arrays reach the kernels of large arrays, and a call may use as
# many threads as its arrays have bytes.
TUNING = (
    ("fastsel._core._threads.MIN_CHUNK_BYTES", 1),
    ("fastsel._core._gate.TINY_ITEMS", 0),
    ("fastsel._core.parallel.THRESHOLDS.small_items", 0),
    ("fastsel._unique._plan.UNSAMPLED_ITEMS", 0),
    ("fastsel._unique._plan.MAX_FOR_NUMPY", 0),
    ("fastsel._unique._plan.FILTERED_GROUPS", 0),
)

ALGORITHMS = (
    *(None, "without_majority", "dense", "sorting", "tables", "partitions", "comparison"),
)


@contextlib.contextmanager
def numpy_sorts_whole(answer):
    """Let NumPy sort some thousand keys at once (True), or in pieces (False)."""
    part_sort.sorts_whole(answer)
    try:
        yield
    finally:
        part_sort.sorts_whole(-1)


def force(monkeypatch, algorithm):
    """Make unique try `algorithm` first, in every thread: it skips the small kernel, the algorithm
    `presorted` and the choice of the plan. The set functions follow the same setting, but
    their kernel of small arrays comes first. NumPy still serves tiny arrays without the fixture
    `forced_kernels`. With None, the functions choose as usual."""
    forced = contextvars.ContextVar("forced", default=algorithm)
    monkeypatch.setattr("fastsel._unique._plan.FORCED", forced)
