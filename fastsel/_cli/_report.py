"""``fastsel run --report`` and ``--compare``: the calls of the replaced functions, and their times.

With ``--compare``, each call of fastsel's function is followed by a call of NumPy's function with
the same arguments, whose time is measured and whose result is compared. Calls that raise an error
count, too, but are not compared.
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
from time import perf_counter_ns
from typing import Any

import numpy as np

from fastsel import _patch
from fastsel._cli._bench import difference
from fastsel._cli._table import aligned, counted, digits, duration
from fastsel._core import _numpy
from fastsel._core._operators import OPERATORS
from fastsel._unique import _plan

# A second call with objects of these types has no effect; methods of other types may do anything.
HARMLESS_TYPES = {str, bytes, int, float, bool, type(None)}

HEADINGS = ("function", "calls", "items", "fastsel")
COMPARED_HEADINGS = (*HEADINGS, "NumPy", "ratio", "results")


@dataclass
class Tally:
    """Calls of one function. Times are in nanoseconds."""

    calls: int = 0
    items: int = 0
    spent: int = 0  # with fastsel
    compared: int = 0  # calls for which NumPy's function was called, too
    compared_spent: int = 0  # with fastsel, in these calls
    numpy_spent: int = 0  # with NumPy, in these calls
    differences: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the calls of another thread."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Counts:
    """What one thread has counted."""

    tallies: dict[str, Tally] = field(default_factory=lambda: collections.defaultdict(Tally))
    plans: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)
    comparing: int = 0  # nanoseconds in NumPy's functions and in comparisons


class OfThread(threading.local):
    """The state of one thread. Because each thread has its own counts, counting needs no lock."""

    def __init__(self, all_counts: list[Counts]) -> None:
        self.function = ""  # the function that the program has called
        self.on_numpys_side = False  # Is NumPy's function running, and not fastsel's?
        self.counts = Counts()
        all_counts.append(self.counts)


class Report:
    """Counts the calls of the patched functions, from its creation on; with `compare`, also calls
    NumPy's functions."""

    def __init__(self, compare: bool = False) -> None:
        self.compare = compare
        if compare:
            # The first call of NumPy's unique imports numpy.ma. This takes 15 ms, which must not be
            # in its time.
            importlib.import_module("numpy.ma")
        self.process = os.getpid()
        self.all_counts: list[Counts] = []
        self.of_thread = OfThread(self.all_counts)
        _plan.watcher = self.count_plan
        _patch.OURS.update(
            (name, self.counting(name, fastsels, getattr(_numpy, name)))
            for name, fastsels in [*_patch.OURS.items()]
        )
        _patch.COUNT = lambda a: None  # calls that it serves would not be counted
        self.start = perf_counter_ns()

    def counting(
        self, name: str, fastsels: Callable[..., Any], numpys: Callable[..., Any]
    ) -> Callable[..., Any]:
        """fastsel's function of this name; the calls of the program are counted."""
        of_thread = self.of_thread
        parameters = [*inspect.signature(getattr(_numpy, name)).parameters]
        array = parameters.index(OPERATORS[name].arrays[0])

        def count(*args, **kwargs):
            # A function may call another function, on the same side. This call is not counted,
            # because it is not a call of the program.
            if of_thread.function:
                return (numpys if of_thread.on_numpys_side else fastsels)(*args, **kwargs)
            counts = of_thread.counts
            of_thread.function = name
            try:
                start = perf_counter_ns()
                try:
                    result = fastsels(*args, **kwargs)
                finally:  # calls that raise an error count, too
                    spent = perf_counter_ns() - start
                    tally = counts.tallies[name]
                    tally.calls += 1
                    tally.items += number_of_items(args[array]) if len(args) > array else 0
                    tally.spent += spent
                if self.compare:
                    of_thread.on_numpys_side = True
                    arguments = dict(zip(parameters, args, strict=False)) | kwargs
                    if is_repeatable(arguments):
                        compare(name, lambda: numpys(*args, **kwargs), arguments, result, tally)
                        tally.compared_spent += spent
                    counts.comparing += perf_counter_ns() - start - spent
            finally:
                of_thread.function, of_thread.on_numpys_side = "", False
            return result

        return count

    def count_plan(self, algorithm: str, reason: str) -> None:
        """Count that a call of unique chose this algorithm, for this reason."""
        if self.of_thread.function == "unique":
            self.of_thread.counts.plans[algorithm, reason] += 1

    def print_at_exit(self) -> None:
        """Print the report when the program has ended, after its threads and exit handlers."""

        def at_exit():
            # A child of a fork has the handlers of its parent; stderr may be closed.
            if os.getpid() == self.process and sys.stderr and not sys.stderr.closed:
                print("\n".join(self.lines()), file=sys.stderr)

        atexit.register(at_exit)

    def total(self) -> tuple[dict[str, Tally], collections.Counter[tuple[str, str]]]:
        """The tallies of all threads by function, the longest first; and the plans of unique."""
        tallies: dict[str, Tally] = collections.defaultdict(Tally)
        plans: collections.Counter[tuple[str, str]] = collections.Counter()
        for counts in [*self.all_counts]:
            plans += counts.plans
            for name, tally in [*counts.tallies.items()]:
                tallies[name].add(tally)
        longest = sorted(tallies.items(), key=lambda item: -item[1].spent)
        return dict(longest), plans

    def lines(self) -> Iterable[str]:
        """The lines of the report."""
        elapsed = perf_counter_ns() - self.start
        tallies, plans = self.total()
        comparing = [counts.comparing for counts in self.all_counts if counts.tallies]
        spent = sum(tally.spent for tally in tallies.values())
        option = "compare" if self.compare else "report"
        if not tallies:
            yield f"\nfastsel run --{option}: {seconds(elapsed)}"
            yield "no replaced function was called; a[mask] and methods are not replaced"
            return
        if not self.compare:
            yield f"\nfastsel run --report: {seconds(elapsed)}, {seconds(spent)} in these functions"
        elif len(comparing) > 1:
            yield f"\nfastsel run --compare: {seconds(elapsed)} with all comparisons"
        else:
            elapsed -= comparing[0]
            change = sum(tally.numpy_spent - tally.compared_spent for tally in tallies.values())
            yield (
                f"\nfastsel run --compare: {seconds(elapsed)}; with NumPy's functions "
                f"{seconds(elapsed + change)}: {digits((elapsed + change) / elapsed)} times as long"
            )
        headings = COMPARED_HEADINGS if self.compare else HEADINGS
        rows = (texts_of(name, tally)[: len(headings)] for name, tally in tallies.items())
        yield from aligned([headings, *rows], 1)
        for (algorithm, reason), times in plans.most_common():
            yield f"unique chose {algorithm} {counted(times, 'time')}: {reason}"
        if self.compare:
            yield from remarks(tallies, comparing)


def compare(
    name: str, call_numpy: Callable[[], Any], arguments: dict[str, Any], result: Any, tally: Tally
) -> None:
    """Call NumPy's function, add its time to the tally, and compare its result."""
    start = perf_counter_ns()
    try:
        theirs = call_numpy()
        tally.numpy_spent += perf_counter_ns() - start
        ours, theirs = (defined_part(name, arguments, found) for found in (result, theirs))
        bitwise = OPERATORS[name].family == "selection"
        text = difference(ours, theirs, bitwise)
    except Exception as error:
        text = f"NumPy: {type(error).__name__}: {error}"
    tally.compared += 1
    if text:
        tally.differences.append(text)


def defined_part(name: str, arguments: dict[str, Any], result: Any) -> Any:
    """The part of a result that NumPy defines. It has no order in unique_values and with
    ``sorted=False``. If each NaN, or each row with NaN, is a value of its own, an inverse without
    return_index may lead to any of them."""
    values = result[0] if isinstance(result, tuple) else result
    axis = arguments.get("axis")
    if name == "unique_values" or not arguments.get("sorted", True):
        return np.sort(values) if axis is None else _numpy.unique(values, axis=axis)
    own_nan = name == "unique_inverse" or axis is not None or not arguments.get("equal_nan", True)
    if own_nan and isinstance(result, tuple) and not arguments.get("return_index"):
        return values if (values != values).any() else result
    return result


def remarks(tallies: dict[str, Tally], comparing: list[int]) -> Iterable[str]:
    """What a comparison found beside the times."""
    for name, tally in tallies.items():
        if tally.differences:
            known = "the page Limits and differences lists known ones"
            yield f"DIFFERS: {name}: {tally.differences[0]} ({known})"
        if other_calls := tally.calls - tally.compared:
            time = seconds(tally.spent - tally.compared_spent)
            yield (
                f"not compared: {counted(other_calls, 'call')} of {name}, {time}: a second call "
                "might have effects; the total has fastsel's time"
            )
    if len(comparing) > 1:
        yield "no total with NumPy's functions: the calls come from several threads"
    else:
        yield f"calling NumPy and comparing took {seconds(comparing[0])}; no other line has it"


def texts_of(name: str, tally: Tally) -> tuple[str, ...]:
    """The texts of a row of the table, in the order of COMPARED_HEADINGS."""
    counts = (name, f"{tally.calls:,}", f"{tally.items:,}", seconds(tally.spent))
    if not tally.compared:
        return (*counts, "", "", "not compared")
    ratio = tally.numpy_spent / tally.compared_spent
    wrong = len(tally.differences)
    results = f"{wrong} DIFFER" if wrong else "equal"
    return (*counts, seconds(tally.numpy_spent), f"{digits(ratio)}x", results)


def seconds(nanoseconds: float) -> str:
    """The text of a time."""
    return duration(nanoseconds / 1e9)


def number_of_items(array: Any) -> int:
    """The number of items of an array, the length of a list or tuple, or 1."""
    size = getattr(array, "size", None)
    if isinstance(size, int):
        return size
    return len(array) if isinstance(array, list | tuple) else 1


def is_repeatable(arguments: dict[str, Any]) -> bool:
    """Whether a second call of the function has no effect."""
    return arguments.get("out") is None and all(map(is_harmless, arguments.values()))


def is_harmless(argument: Any) -> bool:
    """Whether a second call with this argument has no effect, and does not start a computation of
    another library, which may take hours."""
    if type(argument) in (np.ndarray, np.memmap):
        return not argument.dtype.hasobject or {*map(type, argument.flat)} <= HARMLESS_TYPES
    if type(argument) is list:
        return {*map(type, argument)} <= HARMLESS_TYPES
    return argument is None or isinstance(argument, int | np.integer | str)
