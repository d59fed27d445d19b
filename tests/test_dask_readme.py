"""The README's example of fastsel.dask, at a small size."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="distributed is an extra")
pytest.importorskip("zarr", reason="zarr is not a part of the extra")
README = Path(__file__).parents[1] / "README.md"


def test_example(tmp_path):
    text = README.read_text(encoding="utf-8")
    (code,) = re.findall(r"tests/test_dask_readme.py -->\n```python\n(.*?)```", text, re.DOTALL)
    assert "SIZE = 2_000_000_000\n" in code
    script = tmp_path / "example.py"
    script.write_text(code.replace("SIZE = 2_000_000_000\n", "SIZE = 200_000\n"))
    run = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    squares = [k * k % 1013 for k in range(200_000)]
    values = sorted(set(squares))
    commonest = max(values, key=squares.count)
    assert run.stdout.splitlines() == [
        f"{len(values)} labels, the commonest is {commonest}",
        f"label {values[-1]} is first at {squares.index(values[-1])}; "
        f"labels above 1000 add to {sum(k for k in squares if k > 1000)}",
    ]
