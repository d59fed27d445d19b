"""What a test forces: an algorithm of unique, and for small arrays the kernels of large ones."""

import contextvars

# No array is too small for a kernel of its own, nor for several chunks.
TUNING = (
    ("fastsel._core._threads.MIN_CHUNK_BYTES", 1),
    ("fastsel._core._gate.TINY_ITEMS", 0),
    ("fastsel._core._gate.SMALL_ITEMS", 0),
    ("fastsel._unique._plan.TINY_ITEMS", 0),
    ("fastsel._unique._plan.SMALL_ITEMS", 0),
    ("fastsel._gather._gather.SMALL_ITEMS", 0),
)

ALGORITHMS = (None, "dense", "sorting", "tables", "partitions", "comparison")


def force(monkeypatch, algorithm):
    """Make `algorithm` the plan's choice for all arrays, in every thread; None: as planned."""
    forced = contextvars.ContextVar("forced", default=algorithm)
    monkeypatch.setattr("fastsel._unique._plan.FORCED", forced)
