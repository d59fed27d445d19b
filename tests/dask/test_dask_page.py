"""The documentation's example of fastsel.dask, at a small size."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.thread_unsafe(reason="captures what an example prints"),
    *(
        pytest.mark.skipif(
            not importlib.util.find_spec(package), reason=f"needs pip install {package}"
        )
        for package in ("distributed", "zarr")
    ),
]
PAGE = Path(__file__).parents[2] / "docs" / "dask.md"


@pytest.mark.slow  # starts a cluster
def test_example_prints_the_expected_lines(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"tests/dask/test_dask_page.py -->\n```python\n(.*?)```", text, re.DOTALL)
    # This array has 100 chunks; the array of the page has 400.
    for large, small in {"2_000_000_000": "200_000", "5_000_000": "2000"}.items():
        assert code.count(large) == 1
        code = code.replace(large, small)
    script = tmp_path / "example.py"
    script.write_text(code)
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            # Processes answer late on a busy machine.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "600s",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "600s",
            "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "600s",
            # Another cluster may have the usual port of the dashboard.
            "PYTHONWARNINGS": "ignore::UserWarning:distributed.node",
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    # A busy machine is slow to end the workers, too.
    warnings = [line for line in run.stderr.splitlines() if "still alive after" not in line]
    assert (run.returncode, warnings) == (0, [])
    squares = [k * k % 1013 for k in range(200_000)]
    values = sorted(set(squares))
    commonest = max(values, key=squares.count)
    assert run.stdout.splitlines() == [
        f"{len(values)} labels, the commonest is {commonest}",
        f"label {values[-1]} is first at {squares.index(values[-1])}; "
        f"labels above 1000 add to {sum(k for k in squares if k > 1000)}",
    ]
