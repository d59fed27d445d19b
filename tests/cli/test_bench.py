"""`fastsel bench`: the embedded set, results that differ, and what is timed and counted."""

import math
import re
import time

import numpy as np
import pytest

import fastsel
from fastsel._cli import _bench, _workloads
from fastsel._core._operators import OPERATORS

pytestmark = [
    pytest.mark.usefixtures("one_call_per_block"),
    pytest.mark.thread_unsafe(
        reason="captures what the process prints, and replaces functions of modules"
    ),
]

TINY = ("--size", "2000")


# --- the embedded set -----------------------------------------------------------------------


def test_every_operator_equals_numpy(bench):
    status, report = bench(*TINY)
    assert status == 0
    assert {row["operator"].partition("(")[0] for row in report["rows"]} == {*OPERATORS}
    assert [row["difference"] for row in report["rows"]] == [""] * len(report["rows"])


def test_every_operator_is_in_the_embedded_set(bench):
    _, report = bench(*TINY)
    labels = [operator.label for operator in _bench.FORMS]
    assert list(dict.fromkeys(row["operator"] for row in report["rows"])) == labels


@pytest.mark.parametrize("size", [_workloads.MIN_ITEMS, 10_000, 100_000])
def test_labels_of_workloads_are_true(size):
    """A workload has the number of groups, words or tests that its label names, and about the share
    of True, set or kept items. Its array has from a third of `size` to `size` items."""
    n_labels = 0
    for workload in _workloads.embedded_workloads(size):
        assert size // 3 < workload.array.size <= size
        if match := re.search(r"(\d+) (groups|words as tests|words|tests)\b", workload.name):
            number = int(match[1])
            if "tests" in match[2]:
                assert number == len(workload.tests), workload.name
            else:
                assert number == len(np.unique(workload.array)), workload.name
            n_labels += 1
        if "all distinct" in workload.name:
            assert len(np.unique(workload.array)) == workload.array.size
        if match := re.search(r"(\d+) % (True|set)", workload.name):
            share = np.count_nonzero(workload.array) / workload.array.size
            assert share == pytest.approx(int(match[1]) / 100, rel=0.5)
        if match := re.search(r"keep (\d+) %", workload.name):
            assert workload.mask.mean() == pytest.approx(int(match[1]) / 100, rel=0.5)
    assert n_labels == 6


def test_arrays_where_numpy_is_slow_have_at_most_slow_items(monkeypatch):
    monkeypatch.setattr(_workloads, "SLOW_ITEMS", 5000)
    sizes = {workload.array.size for workload in _workloads.embedded_workloads(10_000)}
    assert sizes >= {5000, 10_000}
    groups = [w for w in _workloads.embedded_workloads(10_000) if "groups" in w.name]
    assert [w.array.size for w in groups] == [5000]


def test_embedded_set_is_the_same_each_time():
    first, second = (_workloads.embedded_workloads(2000) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one.name, one.only) == (other.name, other.only)
        for attribute in ("array", "mask", "indices", "tests"):
            np.testing.assert_array_equal(getattr(one, attribute), getattr(other, attribute))


def test_report_has_environment_means_and_rows(bench):
    status, report = bench(*TINY, "--op", "nonzero", "--threads", "1")
    assert status == 0
    assert report["environment"]["fastsel"] == fastsel.__version__
    assert report["environment"]["numpy"] == np.__version__
    assert report["environment"]["threads"] == 1
    assert set(report["environment"]) >= {"python", "system", "cpu", "cpus", "load", "kernels"}
    assert list(report["means"]) == ["positions"]
    row = report["rows"][0]
    assert row["operator"] == "nonzero"
    assert row["threads"] == 1
    assert row["ratio"] == pytest.approx(row["numpy_seconds"] / row["fastsel_seconds"])
    assert row["gigabytes_per_second"] > 0
    assert row["numpy_calls"] == row["fastsel_calls"] == 1


def test_op_may_be_repeated(bench):
    _, report = bench(*TINY, "--op", "count_nonzero", "--op", "gather_nd")
    assert {row["operator"] for row in report["rows"]} == {
        "count_nonzero",
        "count_nonzero(axis=-1)",
        "gather_nd",
    }


def test_notes_say_what_numpy_runs(bench, capsys):
    bench(*TINY, "--op", "nonzero_coordinates")
    assert "nonzero_coordinates: NumPy: argwhere" in capsys.readouterr().out


# --- results that differ --------------------------------------------------------------------

WRONG_FUNCTIONS = {
    "nonzero": lambda a: np.nonzero(a)[:-1],
    "flatnonzero": lambda a: np.flatnonzero(a) + 1,
    "argwhere": lambda a: np.argwhere(a).astype(np.int32),
    "count_nonzero": lambda a, axis=None: np.count_nonzero(a, axis) + 1,
    "compress": lambda condition, a, axis=None: np.compress(condition, a, axis)[:-1],
    "extract": lambda condition, arr: -np.extract(condition, arr),
    "boolean_mask": lambda a, mask: a[mask][::-1],
    "unique_counts": lambda x: (np.unique_counts(x).values, np.unique_counts(x).counts + 1),
    "gather_nd": lambda data, indices: data[indices[:, 0] * 0],
}


@pytest.mark.parametrize("function", WRONG_FUNCTIONS)
def test_wrong_result_is_named(bench, capsys, monkeypatch, function):
    monkeypatch.setattr(fastsel, function, WRONG_FUNCTIONS[function])
    status, report = bench(*TINY, "--op", function)
    assert status == 1
    assert any(row["difference"] for row in report["rows"])
    assert f"DIFFERS: {function}" in capsys.readouterr().out


def test_wrong_result_has_no_times(bench, monkeypatch):
    monkeypatch.setattr(fastsel, "flatnonzero", WRONG_FUNCTIONS["flatnonzero"])
    _, report = bench(*TINY, "--op", "flatnonzero")
    assert {row["ratio"] for row in report["rows"]} == {None}
    assert report["means"] == {}


def test_coordinates_beyond_the_count_have_to_be_zero(bench, monkeypatch):
    right = fastsel.nonzero_coordinates

    def filled(x):
        count, rows = right(x)
        rows[count:] = 1
        return count, rows

    monkeypatch.setattr(fastsel, "nonzero_coordinates", filled)
    assert bench(*TINY, "--op", "nonzero_coordinates")[0] == 1


def test_exception_is_a_difference(bench, monkeypatch, capsys):
    def refuse(a):
        raise TypeError("not this one")

    monkeypatch.setattr(fastsel, "nonzero", refuse)
    assert bench(*TINY, "--op", "nonzero")[0] == 1
    assert "TypeError: not this one" in capsys.readouterr().out


def test_result_of_another_form_is_a_difference(bench, monkeypatch):
    monkeypatch.setattr(fastsel, "nonzero_coordinates", np.argwhere)
    assert bench(*TINY, "--op", "nonzero_coordinates")[0] == 1


def test_difference_compares_values_dtype_and_shape():
    nan, zeros = np.array([1.0, np.nan]), np.array([0.0, -0.0])
    assert _bench.difference(nan, nan.copy()) == ""
    assert _bench.difference(nan, np.array([np.nan, 1.0])).startswith("output 0 at (0,)")
    assert _bench.difference(zeros, -zeros) == ""
    assert _bench.difference(np.array(["NaT"], "M8[s]"), np.array(["NaT"], "M8[s]")) == ""
    assert "dtype" in _bench.difference(nan, nan.astype("f4"))
    assert "shape" in _bench.difference(nan, nan[:1])
    assert "outputs" in _bench.difference((nan, nan), nan)


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType(na_object=None)])
def test_missing_strings_and_nan_objects_are_equal(dtype):
    items = np.array(["a", None], dtype)
    if dtype is object:
        items[0] = np.nan
    assert _bench.difference(items, items.copy()) == ""
    assert _bench.difference(items, items[::-1]) != ""


def test_bitwise_difference_compares_signs_of_zeros():
    zeros = np.array([0.0, -0.0])
    assert _bench.difference(zeros, zeros.copy(), bitwise=True) == ""
    assert _bench.difference(zeros, -zeros, bitwise=True) != ""


def test_difference_compares_structured_items():
    items = np.array([(1, np.nan, "a")], [("id", "i4"), ("delay", "f8"), ("name", "U2")])
    other = items.copy()
    assert _bench.difference(items, other) == ""
    other["name"] = "b"
    assert _bench.difference(items, other) != ""


def test_empty_structured_arrays_have_no_difference():
    items = np.zeros(0, [("id", "i4"), ("pair", "f8", 2)])
    assert _bench.difference(items, items.copy(), bitwise=True) == ""


def test_block_has_several_calls(monkeypatch):
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 5)
    monkeypatch.setattr(_bench, "LONG_BLOCK_NANOSECONDS", math.inf)
    times = []
    _bench.time_block(list, times)
    assert len(times) == 5


def test_a_long_call_is_a_block_of_its_own(monkeypatch):
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 5)
    monkeypatch.setattr(_bench, "LONG_BLOCK_NANOSECONDS", 1)
    times = []
    _bench.time_block(lambda: time.sleep(0.001), times)
    assert len(times) == 1


def test_bytes_moved_are_those_read_and_written():
    nonzero = next(o for o in _bench.FORMS if o.label == "nonzero")
    compress = next(o for o in _bench.FORMS if o.label == "compress")
    data, mask = np.zeros(10, np.int32), np.ones(10, bool)
    workload = _bench.Workload("data", data, mask=mask)
    assert nonzero.bytes_moved(workload, (np.zeros(3, np.int64),)) == 40 + 24
    assert compress.bytes_moved(workload, data) == 10 + 40 + 40


@pytest.mark.parametrize(("found", "items"), [(0, 1), (6, 7), (-1, 10)])
def test_items_after_the_first_hit_are_not_read(found, items):
    first_nonzero = next(o for o in _bench.FORMS if o.label == "first_nonzero")
    result = np.intp(found)
    workload = _bench.Workload("data", np.zeros(10, np.int32))
    assert first_nonzero.bytes_moved(workload, result) == 4 * items + result.nbytes
