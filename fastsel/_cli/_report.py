"""``fastsel run --report``: the calls of the replaced functions, and whether replacing them paid.

The calls of the program are counted and timed, except calls that raise an error. Before some calls,
NumPy's function is timed with the same arguments: a sample. All samples together take a limited
time. NumPy's time for all calls is then estimated as a range (`_estimates`), or unknown.
"""

from __future__ import annotations

import atexit
import collections
import importlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter_ns, thread_time_ns
from typing import Any

import numpy as np

from fastsel import _patch
from fastsel._cli._estimates import FIXED_ITEMS, Calls, Range, of_function, of_program
from fastsel._cli._table import aligned, counted, duration
from fastsel._core import _numpy
from fastsel._core._operators import OPERATORS
from fastsel._unique import _plan

# All samples together may take ALLOWANCE plus MAX_SHARE of the time since the start, without the
# time of the samples.
ALLOWANCE = 2_000_000_000  # nanoseconds
MAX_SHARE = 0.1
# A kind of calls is sampled while it has fewer than MIN_SAMPLES samples, or the samples have less
# than SAMPLED_PART of its weight.
SAMPLED_PART, MIN_SAMPLES = 1 / 4, 4
# The first sample of a kind may take all of the time that remains for samples, and a later one
# PART_OF_REST of this time.
PART_OF_REST = 1 / 4
# Before the first sample of a kind, NumPy's time is estimated from calls with the first rows of the
# arrays, with PROBE_ITEMS items or more. It is multiplied by CAUTION, because an item of a longer
# array takes more time.
PROBE_ITEMS = 2048
CAUTION = 1.5
# Calls of at most ONE_KIND_ITEMS items are of the same kind if their numbers of items are similar,
# whatever the arguments are. If a function has MAX_KINDS kinds, all its further calls are of one
# further kind.
ONE_KIND_ITEMS = 512
MAX_KINDS = 256
# A second call with objects of these types has no effect; methods of other types may do anything.
HARMLESS_TYPES = {str, bytes, int, float, bool, type(None)}

HEADINGS = ("function", "calls", "items", "fastsel", "NumPy", "ratio", "samples")
EFFECTS = "a second call might have effects"
TOO_LONG = "NumPy's function would take too long"


@dataclass
class Record:
    """The calls and samples of one function."""

    name: str
    function: Callable[..., Any]  # fastsel's
    items: int = 0
    kinds: dict[Any, Calls] = field(default_factory=dict)
    reason: str = ""  # why a call has no sample: EFFECTS or TOO_LONG

    def __post_init__(self) -> None:
        self.numpy = getattr(_numpy, self.name)
        names = list(inspect.signature(self.numpy).parameters)
        arrays = OPERATORS[self.name].arrays
        self.array = names.index(arrays[0])  # the position of the argument whose items are counted
        self.others = [names.index(name) for name in arrays[1:] if name != "out"]
        self.out = names.index("out") if "out" in arrays else None

    @property
    def calls(self) -> int:
        """The number of counted calls."""
        return sum(calls.calls for calls in self.kinds.values())

    @property
    def spent(self) -> int:
        """The nanoseconds of the counted calls."""
        return sum(calls.spent for calls in self.kinds.values())

    @property
    def samples(self) -> int:
        """The number of calls that were also timed with NumPy's function."""
        return sum(len(calls.samples) for calls in self.kinds.values())

    def calls_like(self, args: tuple, kwargs: dict[str, Any], items: int) -> Calls:
        """The calls of the same kind as this call."""
        kind = [items.bit_length() // 2]
        if items > ONE_KIND_ITEMS:
            kind += map(kind_of, args)
            kind += (kind_of(value) for _, value in sorted(kwargs.items()))
        key = tuple(kind) if len(self.kinds) < MAX_KINDS else None
        calls = self.kinds.get(key)
        return self.kinds.setdefault(key, Calls()) if calls is None else calls


class Report:
    """Counts and samples the calls of the patched functions, from its creation on."""

    def __init__(self) -> None:
        # The first call of NumPy's unique imports numpy.ma. The import takes 15 ms, which must not
        # be in a sample.
        importlib.import_module("numpy.ma")
        self.sampling = 0  # nanoseconds of all samples
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.threads: set[int] = set()  # the threads that have called
        self.inside = threading.local()  # during a call, its `side` is "numpy" or "fastsel"
        self.plans: collections.Counter[tuple[str, str]] = collections.Counter()
        _plan.watcher = self.count_plan
        self.records = {name: Record(name, _patch.OURS[name]) for name in _patch.OURS}
        _patch.OURS.update((record.name, self.counting(record)) for record in self.records.values())
        _patch.COUNT_SMALL = lambda a, max_items: None  # calls that it serves would not be counted
        self.start = perf_counter_ns()

    def counting(self, record: Record) -> Callable[..., Any]:
        """The function of this record; each call is counted, some are sampled."""
        inside, function, array = self.inside, record.function, record.array

        def count(*args, **kwargs):
            # A function may call another function, on the same side. This call is not counted,
            # because it is not a call of the program.
            if side := getattr(inside, "side", None):
                return (function if side == "fastsel" else record.numpy)(*args, **kwargs)
            items = number_of_items(args[array])
            calls = record.calls_like(args, kwargs, items)
            if len(calls.samples) < MIN_SAMPLES or calls.sampled < SAMPLED_PART * calls.weight:
                self.sample(record, calls, args, kwargs, items)
            inside.side = "fastsel"
            start = perf_counter_ns()
            try:
                result = function(*args, **kwargs)
            finally:
                inside.side = None
            calls.add(items + FIXED_ITEMS, perf_counter_ns() - start)
            record.items += items
            self.threads.add(threading.get_ident())
            return result

        return count

    def count_plan(self, algorithm: str, reason: str) -> None:
        """Count that unique chose this algorithm, for this reason."""
        self.plans[algorithm, reason] += 1

    def elapsed(self) -> int:
        """Nanoseconds since the start, without the time of the samples."""
        return perf_counter_ns() - self.start - self.sampling

    def sample(
        self, record: Record, calls: Calls, args: tuple, kwargs: dict[str, Any], items: int
    ) -> None:
        """Time a call with NumPy's function, if it has no side effects and is not too long, and no
        other thread is timing one."""
        if not self.lock.acquire(blocking=False):
            return
        start = perf_counter_ns()
        self.inside.side = "numpy"
        try:
            if not is_repeatable(record, args):
                record.reason = EFFECTS
                return
            left = ALLOWANCE + MAX_SHARE * self.elapsed() - self.sampling
            expected = calls.predicted(items + FIXED_ITEMS)
            if expected is None:
                expected = probed(record, args, kwargs, items, left)
            elif expected > left * PART_OF_REST:
                return
            if expected > left:
                record.reason = TOO_LONG
                return
            calls.add_sample(items + FIXED_ITEMS, *timed(record, args, kwargs))
        except Exception:  # no sample; if the arguments are wrong, fastsel's function raises, too
            pass
        finally:
            self.inside.side = None
            self.sampling += perf_counter_ns() - start
            self.lock.release()

    def print_at_exit(self) -> None:
        """Print the report when the program has ended, after its threads and exit handlers."""

        def at_exit():
            # A child of a fork has the handlers of its parent; stderr may be closed.
            if os.getpid() == self.process and sys.stderr and not sys.stderr.closed:
                print("\n".join(self.lines()), file=sys.stderr)

        atexit.register(at_exit)

    def lines(self) -> Iterable[str]:
        """The lines of the report."""
        called = sorted(
            (record for record in self.records.values() if record.calls),
            key=lambda record: -record.spent,
        )
        elapsed, threads = self.elapsed(), len(self.threads)  # before the report's own calls
        seconds = (elapsed - self.counting_time(sum(r.calls for r in called))) / 1e9
        yield f"\nfastsel run --report: {duration(seconds)}"
        if not called:
            yield "no replaced function was called; a[mask] and methods are not replaced"
            return
        estimates = {r.name: of_function(list(r.kinds.values())) for r in called}
        yield from aligned([HEADINGS, *(texts_of(r, *estimates[r.name]) for r in called)], 1)
        for (algorithm, reason), times in self.plans.most_common():
            yield f"unique chose {algorithm} {counted(times, 'time')}: {reason}"
        if threads == 1:
            yield from verdict(called, estimates, seconds)
        else:
            yield "no estimate for the whole program: its calls come from several threads"
        samples = sum(record.samples for record in called)
        if samples:
            yield (
                f"NumPy's times are estimated from {counted(samples, 'call')} that also ran "
                f"NumPy's function; this took {duration(self.sampling / 1e9)}, which no other "
                "line includes"
            )

    def counting_time(self, calls: int) -> float:
        """An estimate of the nanoseconds that counting this number of calls took."""
        record = Record("flatnonzero", lambda a: None)
        count = self.counting(record)
        record.calls_like((b"",), {}, 0).sampled = 1 << 60  # no sample is needed
        record.kinds[(0,)].samples.extend([None] * MIN_SAMPLES)
        rounds = 1000
        start = perf_counter_ns()
        for _ in range(rounds):
            count(b"")
        return (perf_counter_ns() - start) / rounds * calls


def verdict(
    called: list[Record], estimates: dict[str, tuple[Range | None, int]], seconds: float
) -> Iterable[str]:
    """Whether replacing paid for the whole program, or why this is unknown."""
    ranges = [found for found, _ in estimates.values() if found is not None]
    spent = sum(record.spent for record in called)
    unknown = sum(nanoseconds for _, nanoseconds in estimates.values())
    whole = None
    if ranges:
        numpy = Range(sum(r.low for r in ranges) / 1e9, sum(r.high for r in ranges) / 1e9)
        whole = of_program(seconds, (spent - unknown) / 1e9, numpy, unknown / 1e9)
    if whole and not (ratio := whole.over(seconds)).is_wide():
        yield (
            f"{duration(spent / 1e9)} in these functions; with NumPy's, the program would take "
            f"{duration_range(whole)}: it is {ratio_range(ratio)} times as fast"
        )
    elif whole:
        yield "no estimate for the whole program: the samples differ too much"
    else:
        yield "no estimate for the whole program"
        for record in called:
            if nanoseconds := estimates[record.name][1]:
                reason = f": {record.reason}" if record.reason else ""
                yield f"not timed with NumPy: {record.name}, {duration(nanoseconds / 1e9)}{reason}"


def texts_of(record: Record, numpy_time: Range | None, unknown: int) -> tuple[str, ...]:
    """The texts of a row of the table, in the order of HEADINGS."""
    estimate = ("no estimate", "-")
    sampled_time = record.spent - unknown
    if numpy_time is not None and not numpy_time.is_wide() and unknown <= sampled_time:
        # Kinds of calls for which NumPy's time is unknown get the ratio of the other kinds.
        ratio = numpy_time.over(sampled_time)
        estimate = (duration_range(ratio.over(1e9 / record.spent)), ratio_range(ratio))
    counts = (f"{record.calls:,}", f"{record.items:,}")
    return (record.name, *counts, duration(record.spent / 1e9), *estimate, str(record.samples))


def duration_range(seconds: Range) -> str:
    """A range of times, in the unit of the longer one."""
    unit, scale = "us", 1e6
    if seconds.high >= 1e-3:
        unit, scale = ("ms", 1e3) if seconds.high < 1 else ("s", 1)
    return f"{two_digits(seconds.low * scale)} to {two_digits(seconds.high * scale)} {unit}"


def ratio_range(ratio: Range) -> str:
    """A range of ratios."""
    return f"{two_digits(ratio.low)} to {two_digits(ratio.high)}"


def two_digits(value: float) -> str:
    """Two significant digits, or all before the decimal point."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:#.2g}"


def kind_of(argument: Any) -> Any:
    """What NumPy's time for an item depends on: the dtype and approximate size of an array, the
    value of an integer, bool, string or None, or the type of another argument."""
    if isinstance(size := getattr(argument, "size", None), int):
        return argument.dtype, size.bit_length() // 2
    simple = argument is None or isinstance(argument, bool | int | str)
    return argument if simple else type(argument)


def number_of_items(array: Any) -> int:
    """The number of items of an array, the length of a list or tuple, or 1."""
    size = getattr(array, "size", None)
    if isinstance(size, int):
        return size
    return len(array) if isinstance(array, list | tuple) else 1


def timed(record: Record, args: tuple, kwargs: dict[str, Any]) -> tuple[int, int]:
    """The nanoseconds of a call of NumPy's function: elapsed, and of the thread on a CPU."""
    start, on_cpu = perf_counter_ns(), thread_time_ns()
    result = record.numpy(*args, **kwargs)
    times = perf_counter_ns() - start, thread_time_ns() - on_cpu
    del result  # not timed
    return times


def probed(record: Record, args: tuple, kwargs: dict[str, Any], items: int, limit: float) -> float:
    """An estimate of the nanoseconds of NumPy's function, from calls with the first rows of its
    arrays; 0 if there are few items. The calls take at most about a sixth of `limit`, unless the
    first one takes longer."""
    if items <= PROBE_ITEMS:
        return 0
    some, expected = PROBE_ITEMS, 0.0
    while some < items // 4:
        expected = timed(record, piece_of(record, args, some / items), kwargs)[0] * items / some
        if expected * CAUTION <= limit or expected * some / items > limit / 100:
            break
        some *= 16  # Fixed costs are a smaller part of a longer call.
    return expected * CAUTION


def piece_of(record: Record, args: tuple, part: float) -> tuple:
    """The arguments with this part of the rows of each array."""
    piece = list(args)
    for position in (record.array, *record.others):
        array = args[position]
        if isinstance(array, np.ndarray | list | tuple):
            piece[position] = array[: max(int(len(array) * part), 1)]
    return tuple(piece)


def is_repeatable(record: Record, args: tuple) -> bool:
    """Whether a second call of the function has no effect."""
    if record.out is not None and args[record.out] is not None:
        return False
    return all(map(is_harmless, args))


def is_harmless(argument: Any) -> bool:
    """Whether a second call with this argument has no effect, and does not start a computation of
    another library, which may take hours."""
    if type(argument) in (np.ndarray, np.memmap):
        return not argument.dtype.hasobject or {*map(type, argument.flat)} <= HARMLESS_TYPES
    if type(argument) is list:
        return {*map(type, argument)} <= HARMLESS_TYPES
    return argument is None or isinstance(argument, int | np.integer | str)
