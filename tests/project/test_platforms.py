"""The matrix of wheels: what workflows are told, and what is resolved for a platform."""

import json
import subprocess
from types import SimpleNamespace

import platforms
import pytest

PYTHONS = {python.tag: python for python in platforms.PYTHONS}


def test_workflows_are_told_every_runner_and_every_python():
    lines = dict(line.split("=", 1) for line in platforms.for_workflows())
    runners, suite, free_threaded = map(json.loads, lines.values())
    assert list(lines) == ["runners", "suite", "free_threaded"]
    assert {job["os"] for job in suite} == set(runners) == set(platforms.RUNNERS)
    assert {job["python"] for job in suite} | {*free_threaded} == {
        python.name for python in platforms.PYTHONS
    }
    assert all(name.endswith("t") for name in free_threaded)


def test_tests_of_a_wheel_for_musl_need_no_ml_dtypes():
    with_it = [
        name
        for names in platforms.RUNNERS.values()
        for name in names
        if "ml_dtypes" in platforms.requirements("wheel-test", name, PYTHONS["cp311"])
    ]
    assert "manylinux_2_28_x86_64" in with_it
    assert not any("musllinux" in name for name in with_it)


def test_wheels_of_an_older_libc_are_accepted():
    tags = platforms.accepted("manylinux_2_28_aarch64")
    assert tags[0] == "manylinux_2_28_aarch64"
    assert {"manylinux_2_17_aarch64", "manylinux2014_aarch64"} <= {*tags}
    assert platforms.accepted("musllinux_1_2_x86_64")[1:] == ["musllinux_1_1_x86_64"]
    assert platforms.accepted("win_arm64") == ["win_arm64"]


@pytest.fixture
def asked(monkeypatch):
    """The command of pip, which is not run, and the answer that it gives."""
    asked = SimpleNamespace(command=None, returncode=0, stderr="")

    def run(command, **kwargs):
        asked.command = command
        return asked

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_markers_are_those_of_the_target(asked):
    platforms.missing("onnxruntime", "macosx_15_0_arm64", PYTHONS["cp313"])
    assert "onnxruntime-extensions" in asked.command
    platforms.missing("onnxruntime", "macosx_15_0_arm64", PYTHONS["cp314"])
    assert "onnxruntime" in asked.command
    assert "onnxruntime-extensions" not in asked.command


def test_a_free_threaded_python_takes_wheels_of_its_own(asked):
    platforms.missing("wheel-test", "win_amd64", PYTHONS["cp314t"])
    assert [asked.command[k + 1] for k, word in enumerate(asked.command) if word == "--abi"] == [
        "cp314t",
        "none",
    ]
    platforms.missing("wheel-test", "win_amd64", PYTHONS["cp314"])
    assert "--abi" not in asked.command


def test_the_package_without_a_wheel_is_named(asked):
    asked.returncode = 1
    asked.stderr = "ERROR: No matching distribution found for llvmlite"
    assert platforms.missing("numba", "win_arm64", PYTHONS["cp311"]) == "llvmlite"
    asked.stderr = "ERROR: ResolutionImpossible: see the documentation"
    assert platforms.missing("numba", "win_arm64", PYTHONS["cp311"]) == "conflict"
    asked.stderr = "ERROR: the index does not answer"
    with pytest.raises(RuntimeError, match="does not answer"):
        platforms.missing("numba", "win_arm64", PYTHONS["cp311"])
