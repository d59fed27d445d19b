"""Which algorithm of unique a test forces."""

import contextvars

ALGORITHMS = (None, "dense", "sorting", "tables", "partitions", "comparison")


def force(monkeypatch, algorithm):
    """Make `algorithm` the plan's choice for all arrays, in every thread; None: as planned."""
    forced = contextvars.ContextVar("forced", default=algorithm)
    monkeypatch.setattr("fastsel._unique._plan.FORCED", forced)
