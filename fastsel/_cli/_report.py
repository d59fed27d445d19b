"""``fastsel run --report``: which functions were replaced, how often, and whether it paid.

Every call is counted and timed. Some are timed with NumPy's function, too, right after the call,
when its arguments are still the same. Both have a budget, a share of the time since the start.
"""

from __future__ import annotations

import atexit
import importlib
import inspect
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np

from fastsel import _patch
from fastsel._cli._table import aligned, counted, digits, duration
from fastsel._core import _numpy
from fastsel._core._operators import OPERATORS

MAX_SHARE = 0.01  # of the time: for samples, and again for counting
COUNTING_NANOSECONDS = 500  # by a call
FREE_CALLS = 4096  # are counted, whatever the time
CALLS_PER_CHECK = 1024  # between two looks at what counting costs

# A sample stands for at least this part of the time that its function has taken so far. So a call
# is as likely in the sample as it is long, and short calls leave some of the budget to long ones.
SAMPLED_PART = 1 / 64
# If a call is too long for the budget, its first rows are timed, but no fewer items than these:
# with fewer, the time is that of a call. The first time, so many say how long NumPy takes.
MIN_PIECE = 1 << 9
# A second call with these has no effect; methods of other objects may do anything.
HARMLESS = {str, bytes, int, float, bool, type(None)}
# How much slower than fastsel NumPy might be, before this.
FEARED_RATIO = 20

HEADINGS = ("function", "calls", "items", "fastsel", "NumPy", "ratio", "samples")


@dataclass
class Record:
    """What is known of one function; times are nanoseconds."""

    name: str
    calls: int = 0
    items: int = 0
    spent: int = 0
    complete: bool = True  # else counting became too expensive
    samples: int = 0
    sampling: int = 0  # what they cost
    stood_for: int = 0  # of the time spent, by samples
    spent_sampled: int = 0  # in the calls that were sampled
    numpy_sampled: float = 0.0  # NumPy's time for these
    times: dict[Any, float] = field(default_factory=dict)  # of an item, by kinds of calls

    @property
    def ratio(self) -> float | None:
        """NumPy's time over fastsel's, if it was sampled."""
        return self.numpy_sampled / self.spent_sampled if self.samples else None

    def add_sample(self, theirs: int, sampled: int, items: int, spent: int) -> None:
        """NumPy took `theirs` for `sampled` of the items of a call; we took `spent` for all."""
        if sampled < items:
            theirs *= items / sampled
            if self.name.startswith("unique"):  # most of its time is a sort
                theirs *= math.log(items) / math.log(sampled)
        self.numpy_sampled += theirs
        self.spent_sampled += spent
        self.stood_for = self.spent
        self.samples += 1


class Report:
    """Count and sample the calls of the patched functions, from now on."""

    def __init__(self) -> None:
        # NumPy's unique does so when it is first called, for 15 ms, which no sample is to have.
        importlib.import_module("numpy.ma")
        self.start = perf_counter_ns()
        self.sampling = 0  # nanoseconds
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.originals = dict(_patch.OURS)
        self.count_small = _patch.COUNT_SMALL
        self.records = {name: Record(name) for name in self.originals}
        self.installed = {name: self.counting(name) for name in self.originals}
        _patch.OURS.update(self.installed)
        _patch.COUNT_SMALL = lambda a, most: None  # which would not be counted

    def counting(self, name: str) -> Callable[..., Any]:
        """The function of this name; each call is counted, some are sampled."""
        function, record = self.originals[name], self.records[name]
        array = array_of(name)

        def count(*args, **kwargs):
            start = perf_counter_ns()
            result = function(*args, **kwargs)
            spent = perf_counter_ns() - start
            record.calls += 1
            record.spent += spent
            items = number_of_items(args[array])
            record.items += items
            if record.spent * (1 - SAMPLED_PART) >= record.stood_for:
                self.sample(record, args, kwargs, items, spent)
            if not record.calls % CALLS_PER_CHECK:
                self.check_cost(record)
            return result

        return count

    def elapsed(self) -> int:
        """Nanoseconds since the start."""
        return perf_counter_ns() - self.start

    def check_cost(self, record: Record) -> None:
        """Stop counting the calls of a function that are so many and so short that it matters."""
        calls = sum(other.calls for other in self.records.values())
        if calls > max(FREE_CALLS, MAX_SHARE * self.elapsed() / COUNTING_NANOSECONDS):
            record.complete = False
            self.installed[record.name] = _patch.OURS[record.name] = self.originals[record.name]
            if record.name == "count_nonzero":
                _patch.COUNT_SMALL = self.count_small

    def sample(self, record: Record, args, kwargs, items: int, spent: int) -> None:
        """Time a call, or its first rows, with NumPy's function, too, if that has no side effects
        and the budget suffices."""
        if not self.lock.acquire(blocking=False):
            return
        start = perf_counter_ns()
        try:
            # Each function has the part of the budget that it has of the time in all of them.
            spent_by_all = sum(other.spent for other in self.records.values())
            total = MAX_SHARE * (start - self.start)
            budget = min(
                total * record.spent / max(spent_by_all, record.spent) - record.sampling,
                total - self.sampling,
            )
            per_item = record.times.get(kind := kind_of(record.name, args))
            if per_item is None:
                per_item = FEARED_RATIO * spent / max(items, 1)
                if items > MIN_PIECE and budget > MIN_PIECE * per_item:
                    if not (timed := self.time_piece(record.name, args, kwargs, items, MIN_PIECE)):
                        return
                    per_item = record.times[kind] = timed[0] / timed[1]
            # Twice, because the time of an item grows with their number.
            if (max_items := budget / (2 * per_item)) < min(items, MIN_PIECE):
                return
            if timed := self.time_piece(record.name, args, kwargs, items, max_items):
                record.times[kind] = timed[0] / max(timed[1], 1)
                record.add_sample(*timed, items, spent)
        except Exception:  # NumPy has no memory for it. The program has its result.
            pass
        finally:
            cost = perf_counter_ns() - start
            self.sampling += cost
            record.sampling += cost
            self.lock.release()

    def time_piece(
        self, name: str, args: tuple, kwargs: dict[str, Any], items: int, max_items: float
    ) -> tuple[int, int] | None:
        """The nanoseconds of NumPy's function for some of the items, and how many these are."""
        piece = piece_of(name, args, items, max_items)
        if piece is None or not all(map(is_harmless, piece)):
            return None
        return self.time_numpy(name, piece, kwargs), number_of_items(piece[array_of(name)])

    def time_numpy(self, name: str, args: tuple, kwargs: dict[str, Any]) -> int:
        """The nanoseconds of a call of NumPy's function."""
        function = getattr(_numpy, name)
        try:
            # Some of NumPy's functions call others, which are to be NumPy's, too.
            _patch.OURS.update((other, getattr(_numpy, other)) for other in self.records)
            start = perf_counter_ns()
            result = function(*args, **kwargs)
            spent = perf_counter_ns() - start
            del result  # not timed
            return spent
        finally:
            _patch.OURS.update(self.installed)

    def print_at_exit(self) -> None:
        """Print the report when the program has ended, after its threads and exit handlers."""

        def at_exit():
            # A child of a fork has the handlers of its parent; stderr may be closed.
            if os.getpid() == self.process and sys.stderr and not sys.stderr.closed:
                print("\n".join(self.lines()), file=sys.stderr)

        atexit.register(at_exit)

    def lines(self) -> Iterable[str]:
        """The report."""
        seconds = self.elapsed() / 1e9
        called = sorted(
            (record for record in self.records.values() if record.calls),
            key=lambda record: -record.spent,
        )
        spent = sum(record.spent for record in called) / 1e9
        yield f"\nfastsel run --report: {duration(seconds)}"
        if not called:
            yield "no function was called that is replaced; a[mask] and methods are not"
            return
        yield from aligned([HEADINGS, *map(texts_of, called)], 1)
        known = [record for record in called if record.ratio is not None]
        if known:
            gain = sum(record.spent * (record.ratio - 1) for record in known) / 1e9
            yield (
                f"{duration(spent)} in these functions, about {duration(spent + gain)} with "
                f"NumPy's: {digits((seconds + gain) / seconds)}x for the whole program"
            )
        if unknown := [record.name for record in called if record.ratio is None]:
            yield f"not sampled, and taken as equally fast: {', '.join(unknown)}"
        samples = sum(record.samples for record in known)
        yield f"NumPy's times are estimated from {counted(samples, 'call')} timed with both"
        if not all(record.complete for record in called):
            yield "+: calls that are so many and so short that not all were counted"


def texts_of(record: Record) -> tuple[str, ...]:
    """A row of the table."""
    more = "" if record.complete else "+"
    estimate = ("-", "-")
    if record.ratio is not None:
        seconds = record.spent * record.ratio / 1e9
        estimate = (f"~ {duration(seconds)}", f"{digits(record.ratio)}x")
    counts = (f"{record.calls:,}{more}", f"{record.items:,}{more}")
    return (record.name, *counts, duration(record.spent / 1e9), *estimate, str(record.samples))


def array_of(name: str) -> int:
    """Which argument is the array."""
    return list(inspect.signature(getattr(_numpy, name)).parameters).index(
        OPERATORS[name].arrays[0]
    )


def kind_of(name: str, args: tuple) -> tuple:
    """What NumPy's time for an item depends on: the dtype, and the arguments after the array."""
    array = array_of(name)
    others = (getattr(other, "dtype", other) for other in args[array + 1 :])
    return getattr(args[array], "dtype", None), tuple(others)


def number_of_items(array: Any) -> int:
    """The items of an array; of a list, its length, because more would have to be counted."""
    size = getattr(array, "size", None)
    if isinstance(size, int):
        return size
    return len(array) if isinstance(array, list | tuple) else 1


def piece_of(name: str, args: tuple, items: int, max_items: float) -> tuple | None:
    """The arguments of a call, or the first rows of its arrays, of at most `max_items`.

    None if they cannot be cut, or if an array is written to.
    """
    if name == "compress" and args[3] is not None:  # out
        return None
    second = max(map(number_of_items, args[array_of(name) + 1 :]), default=1)
    if second > 1 and (items > max_items or second > items):  # it is not cut
        return None
    if items <= max_items:
        return args
    arrays, others = args[: array_of(name) + 1], args[array_of(name) + 1 :]
    rows = len(arrays[-1])
    if len(arrays[0]) != rows:
        return None
    some = int(rows * max_items / items)
    return (*(array[:some] for array in arrays), *others) if some else None


def is_harmless(argument: Any) -> bool:
    """Whether the functions may be called with it once more, without an effect, and at once: it is
    no array of a library that may compute for hours."""
    if type(argument) in (np.ndarray, np.memmap):
        return not argument.dtype.hasobject or {*map(type, argument.flat)} <= HARMLESS
    if type(argument) is list:
        return {*map(type, argument)} <= HARMLESS
    return argument is None or isinstance(argument, int | np.integer)
