"""Estimates of ``fastsel run --report``: ranges of NumPy's time, and when there is no estimate."""

import pytest

from fastsel._cli import _estimates
from fastsel._cli._estimates import Calls, Range, of_function, of_program


def calls_of(times, sampled, weight=100, on_cpu=1.0):
    """Calls of the same `weight`, each of which took 1000 ns with fastsel. `times` are NumPy's; the
    first `sampled` of them are samples."""
    calls = Calls()
    for number, nanoseconds in enumerate(times):
        calls.add(weight, 1000)
        if number < sampled:
            calls.add_sample(weight, nanoseconds, int(nanoseconds * on_cpu))
    return calls


def test_without_a_sample_there_is_no_estimate():
    calls = calls_of([5000] * 3, 0)
    assert calls.predicted(100) is None
    assert calls.numpy_time() is None
    assert of_function([calls]) == (None, 3000)


def test_samples_predict_a_call_by_its_size():
    assert calls_of([4000, 6000], 2).predicted(300) == 15_000


@pytest.mark.parametrize("sampled", [1, 2, 3, 10])
def test_the_range_has_the_time_of_all_calls(sampled):
    low, high = calls_of([5000] * 10, sampled).numpy_time()
    assert low < 50_000 < high


def test_more_samples_make_a_narrower_range():
    widths = [
        high / low for low, high in (calls_of([5000] * 10, n).numpy_time() for n in (1, 3, 10))
    ]
    assert widths[0] > widths[1] >= widths[2] >= _estimates.CONDITIONS**2


def test_samples_that_differ_make_a_wider_range():
    equal, different = calls_of([5000] * 20, 4), calls_of([500, 9500] * 10, 4)
    assert not equal.numpy_time().is_wide()
    assert different.numpy_time().is_wide()
    assert calls_of([4000, 6000] * 10, 20).numpy_time() == equal.numpy_time()


def test_a_sample_that_waited_for_a_cpu_lowers_the_low_end(monkeypatch):
    free, busy = calls_of([5000] * 4, 4), calls_of([5000] * 4, 4, on_cpu=0.5)
    monkeypatch.setattr(_estimates, "HAS_THREAD_TIME", True)
    assert busy.numpy_time() == Range(free.numpy_time().low / 2, free.numpy_time().high)
    monkeypatch.setattr(_estimates, "HAS_THREAD_TIME", False)
    assert busy.numpy_time() == free.numpy_time()


def test_estimates_of_the_kinds_of_a_function_are_added():
    kinds = [calls_of([5000] * 4, 4), calls_of([7000] * 4, 4), calls_of([1] * 2, 0)]
    estimate, unknown = of_function(kinds)
    assert estimate == pytest.approx(kinds[0].numpy_time().plus(kinds[1].numpy_time()))
    assert unknown == 2000


def test_estimate_of_a_program_is_the_rest_and_numpys_calls():
    estimate = of_program(seconds=3.0, spent=1.0, numpy=Range(4.0, 8.0), unknown=0.0)
    assert estimate == pytest.approx(Range(6.0, 10.0).widened(_estimates.RUNS_DIFFER))


def test_calls_without_samples_widen_the_range_or_leave_no_estimate():
    times = {"seconds": 3.0, "spent": 1.0, "numpy": Range(4.0, 8.0)}
    low, high = of_program(**times, unknown=0.01)
    without = of_program(**times, unknown=0.0)
    assert low < without.low
    assert high > without.high
    assert of_program(**times, unknown=0.5) is None
