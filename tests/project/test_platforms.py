"""The matrix of wheels: the jobs of workflows, and the packages that pip is asked for on a
platform."""

import json
import subprocess
from types import SimpleNamespace

import platforms
import pytest

PYTHONS = {python.tag: python for python in platforms.PYTHONS}


def test_workflows_get_every_runner_and_every_python():
    lines = dict(line.split("=", 1) for line in platforms.for_workflows())
    runners, suite, free_threaded = map(json.loads, lines.values())
    assert list(lines) == ["runners", "suite", "free_threaded"]
    assert {job["os"] for job in suite} == set(runners) == set(platforms.RUNNERS)
    assert {job["python"] for job in suite} | {*free_threaded} == {
        python.name for python in platforms.PYTHONS
    }
    assert all(name.endswith("t") for name in free_threaded)


def test_tests_of_a_wheel_for_musl_need_no_ml_dtypes():
    with_ml_dtypes = [
        name
        for names in platforms.RUNNERS.values()
        for name in names
        if "ml_dtypes" in platforms.requirements("wheel-test", name, PYTHONS["cp311"])
    ]
    assert "manylinux_2_28_x86_64" in with_ml_dtypes
    assert not any("musllinux" in name for name in with_ml_dtypes)


def test_wheels_of_an_older_libc_are_accepted():
    tags = platforms.accepted("manylinux_2_28_aarch64")
    assert tags[0] == "manylinux_2_28_aarch64"
    assert {"manylinux_2_17_aarch64", "manylinux2014_aarch64"} <= {*tags}
    assert platforms.accepted("musllinux_1_2_x86_64")[1:] == ["musllinux_1_1_x86_64"]
    assert platforms.accepted("win_arm64") == ["win_arm64"]


@pytest.fixture
def pip(monkeypatch):
    """A stand-in for pip: the command, which is not run, and the answer, which a test can set."""
    pip = SimpleNamespace(command=None, returncode=0, stderr="")

    def run(command, **kwargs):
        pip.command = command
        return pip

    monkeypatch.setattr(subprocess, "run", run)
    return pip


def test_markers_are_evaluated_for_the_target(pip):
    platforms.missing("onnxruntime", "macosx_15_0_arm64", PYTHONS["cp313"])
    assert "onnxruntime-extensions" in pip.command
    platforms.missing("onnxruntime", "macosx_15_0_arm64", PYTHONS["cp314"])
    assert "onnxruntime" in pip.command
    assert "onnxruntime-extensions" not in pip.command


def test_a_free_threaded_python_gets_wheels_of_its_abi(pip):
    platforms.missing("wheel-test", "win_amd64", PYTHONS["cp314t"])
    assert [pip.command[k + 1] for k, word in enumerate(pip.command) if word == "--abi"] == [
        "cp314t",
        "none",
    ]
    platforms.missing("wheel-test", "win_amd64", PYTHONS["cp314"])
    assert "--abi" not in pip.command


def test_the_package_without_a_wheel_is_named(pip):
    pip.returncode = 1
    pip.stderr = "ERROR: No matching distribution found for llvmlite"
    assert platforms.missing("numba", "win_arm64", PYTHONS["cp311"]) == "llvmlite"
    pip.stderr = "ERROR: ResolutionImpossible: see the documentation"
    assert platforms.missing("numba", "win_arm64", PYTHONS["cp311"]) == "conflict"
    pip.stderr = "ERROR: the index does not answer"
    with pytest.raises(RuntimeError, match="does not answer"):
        platforms.missing("numba", "win_arm64", PYTHONS["cp311"])
