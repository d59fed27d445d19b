"""The plugin for tests of libraries compares each call with NumPy's; if a call differs, the run
fails."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent

EVERY_CALL = """
import numpy as np

def test_functions():
    for name in ("nonzero", "flatnonzero", "argwhere", "count_nonzero", "unique", "unique_values"):
        getattr(np, name)([0.0, np.nan, 2.0])
    np.unique_all([2, 1])
"""


@pytest.mark.parametrize(
    ("defect", "status", "text"),
    [
        ("", 0, "0 differ"),
        (
            "fastsel._patch.OURS.update(count_nonzero=lambda *a, **k: 7)",
            1,
            "DIFFERS: count_nonzero: 7",
        ),
    ],
)
def test_difference_is_printed_and_fails_the_run(run_python, tmp_path, defect, status, text):
    path = tmp_path / "test_calls.py"
    path.write_text(EVERY_CALL)
    arguments = ["-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider", str(path)]
    printed = run_python(
        f"import sys, pytest, fastsel\n{defect}\nsys.path.insert(0, {str(FOLDER)!r})\n"
        f"import library_suites\nprint(int(pytest.main({arguments}, plugins=[library_suites])))",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    assert text in printed
    assert printed.splitlines()[-1] == str(status)
