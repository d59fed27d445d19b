"""Estimates of the time that NumPy's functions would have taken: ranges, from the calls that were
timed with both NumPy and fastsel."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import NamedTuple

# The fixed time of a call, in items: times are taken to be proportional to the weight of a call,
# which is its number of items plus FIXED_ITEMS.
FIXED_ITEMS = 200
# Caches and memory differ between a sample and the program's own call. So NumPy's times may differ
# by a factor of up to CONDITIONS, in addition to the spread of the samples.
CONDITIONS = 1.25
# With fewer samples than FEW_SAMPLES, the spread is unknown: CONDITIONS replaces it, and
# UNKNOWN_CONDITIONS replaces CONDITIONS.
FEW_SAMPLES, UNKNOWN_CONDITIONS = 3, 1.6
STANDARD_ERRORS = 3  # The spread allows for this number of standard errors of the samples' mean.
# For calls without an estimate, NumPy is assumed to take LEAST_RATIO to GREATEST_RATIO times as
# long as fastsel. The program has no estimate if these calls could take longer with NumPy by more
# than MAX_UNKNOWN of the sum of the program's time and NumPy's time.
LEAST_RATIO, GREATEST_RATIO = 0.2, 50
MAX_UNKNOWN = 0.1
# The times of two runs of the same program may differ by a factor of up to RUNS_DIFFER.
RUNS_DIFFER = 1.2
# A range is not shown if its ends differ by a factor of more than WIDEST.
WIDEST = 4

# Does Python state a resolution of less than 0.1 ms for the time of a thread on a CPU?
HAS_THREAD_TIME = time.get_clock_info("thread_time").resolution < 1e-4


class Range(NamedTuple):
    """The least and the greatest value of a time or a ratio."""

    low: float
    high: float

    def plus(self, other: Range) -> Range:
        """The range of the sum."""
        return Range(self.low + other.low, self.high + other.high)

    def over(self, divisor: float) -> Range:
        """The range of the quotient."""
        return Range(self.low / divisor, self.high / divisor)

    def widened(self, factor: float) -> Range:
        """The range of all values that differ from this range by up to the factor."""
        return Range(self.low / factor, self.high * factor)

    def is_wide(self) -> bool:
        """Whether the range is too wide to be shown."""
        return self.high > WIDEST * self.low


class Sample(NamedTuple):
    """A timed call of NumPy's function."""

    weight: int
    elapsed: int  # nanoseconds
    on_cpu: int  # nanoseconds of the calling thread on a CPU


@dataclass
class Calls:
    """Calls of one function with arrays of the same kind and of similar sizes."""

    calls: int = 0
    weight: int = 0
    spent: int = 0  # nanoseconds with fastsel
    samples: list[Sample] = field(default_factory=list)
    sampled: int = 0  # the weight of the samples

    def add(self, weight: int, spent: int) -> None:
        """Count a call."""
        self.calls += 1
        self.weight += weight
        self.spent += spent

    def add_sample(self, weight: int, elapsed: int, on_cpu: int) -> None:
        """Add NumPy's time for one of the calls."""
        self.samples.append(Sample(weight, elapsed, on_cpu))
        self.sampled += weight

    def predicted(self, weight: int) -> float | None:
        """The nanoseconds of NumPy's function for one more call; None without a sample."""
        if not self.samples:
            return None
        return sum(sample.elapsed for sample in self.samples) / self.sampled * weight

    def numpy_time(self) -> Range | None:
        """The nanoseconds of NumPy's function for all calls; None without a sample."""
        if not self.samples:
            return None
        elapsed = sum(sample.elapsed for sample in self.samples)
        others = elapsed / self.sampled * max(self.weight - self.sampled, 0)
        few = len(self.samples) < FEW_SAMPLES
        spread, conditions = (
            (CONDITIONS, UNKNOWN_CONDITIONS) if few else (self.spread(), CONDITIONS)
        )
        estimate = Range(elapsed + others / spread, elapsed + others * spread)
        # If other programs keep the CPUs busy, a sample also waits for them: the low end leaves out
        # the time in which the thread was not on a CPU.
        if HAS_THREAD_TIME:
            on_cpu = sum(sample.on_cpu for sample in self.samples)
            estimate = estimate._replace(low=estimate.low * min(on_cpu / elapsed, 1))
        return estimate.widened(conditions)

    def spread(self) -> float:
        """The factor by which the mean time of the calls without a sample may differ from that of
        the samples."""
        times = [sample.elapsed / sample.weight for sample in self.samples]
        error = statistics.stdev(times) / statistics.mean(times) / len(times) ** 0.5
        return 1 + STANDARD_ERRORS * error


def of_function(kinds: list[Calls]) -> tuple[Range | None, int]:
    """(estimate, unknown). The estimate is NumPy's time for all calls of the kinds that have
    samples, or None if no kind has samples; `unknown` is the nanoseconds of the calls of the other
    kinds, with fastsel."""
    total, unknown = None, 0
    for calls in kinds:
        estimate = calls.numpy_time()
        if estimate is None:
            unknown += calls.spent
        else:
            total = estimate if total is None else total.plus(estimate)
    return total, unknown


def of_program(seconds: float, spent: float, numpy: Range, unknown: float) -> Range | None:
    """The seconds of a program with NumPy's functions; None if calls without an estimate could
    change them by too much.

    With fastsel, the program takes `seconds`: `spent` in calls that take the time `numpy` with
    NumPy, and `unknown` in calls without an estimate.
    """
    if unknown * (GREATEST_RATIO - 1) > MAX_UNKNOWN * (seconds + numpy.high):
        return None
    rest = seconds - spent - unknown
    whole = Range(rest + unknown * LEAST_RATIO, rest + unknown * GREATEST_RATIO).plus(numpy)
    return whole.widened(RUNS_DIFFER)
