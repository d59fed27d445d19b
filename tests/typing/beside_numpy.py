"""Do the types of fastsel's functions say as much as NumPy's?

    python tests/typing/beside_numpy.py        # needs mypy and pyright

Both checkers say what the same calls of NumPy and of fastsel return. A type of fastsel may have an
`Any` only where NumPy's has one.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

GIVEN = """
import numpy as np
import fastsel
from numpy.typing import ArrayLike, NDArray
from typing import Any

floats = np.arange(10.0)
singles = np.ones(3, np.float32)
mapped = np.memmap("file", np.int16)
numbers, scalars, scalar = [3.0, 1.0], [np.float64(3), np.float64(1)], np.float64(3)
arrays = [np.arange(3), np.arange(3)]
mask = floats > 3
out = np.empty(3)

def given(like: ArrayLike, unknown: Any, items: list[Any], objects: NDArray[Any]) -> None:
"""
ARRAYS = (
    *("floats", "singles", "mapped", "numbers", "scalars", "scalar", "arrays", "like", "unknown"),
    *("items", "objects"),
)
OF_ONE = (
    *("nonzero({})", "flatnonzero({})", "argwhere({})", "count_nonzero({})"),
    *("count_nonzero({}, 0)", "count_nonzero({}, 0, keepdims=True)"),
    *("compress(mask, {})", "compress(mask, {}, 0)", "compress(mask, {}, out=out)"),
    *("extract(mask, {})", "unique({})", "unique({}, axis=0, sorted=False)", "unique({}, True)"),
    *("unique({}, return_inverse=True)", "unique({}, return_counts=True)"),
    *("unique({}, False, True, True)", "unique({}, True, True, True)"),
    *("unique_all({})", "unique_counts({})", "unique_inverse({})", "unique_values({})"),
)
OF_TWO = (
    *("isin({}, {})", "intersect1d({}, {})", "intersect1d({}, {}, return_indices=True)"),
    *("union1d({}, {})", "setdiff1d({}, {})", "setxor1d({}, {})"),
)
CALLS = [
    *(call.format(array) for call in OF_ONE for array in ARRAYS),
    *(call.format(array, other) for call in OF_TWO for array in ARRAYS for other in ARRAYS[:5]),
]
CHECKERS = {
    "mypy": (["-m", "mypy", "--strict"], r':(\d+): note: Revealed type is "(.*)"'),
    "pyright": (
        ["-m", "pyright", "--pythonpath", sys.executable],
        r':(\d+):\d+ - information: Type of ".*" is "(.*)"',
    ),
}


def revealed(checker: str) -> list[str]:
    """The types of all calls, of NumPy and of fastsel in turns."""
    command, pattern = CHECKERS[checker]
    lines = [f"    reveal_type({module}.{call})" for call in CALLS for module in ("np", "fastsel")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls.py")
        file.write_text(GIVEN + "\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *command, str(file)], capture_output=True, text=True, check=False
        )
    first = len(GIVEN.splitlines()) + 1
    found = {int(line) - first: kind for line, kind in re.findall(pattern, done.stdout)}
    if [*found] != [*range(len(lines))]:
        sys.exit(f"{checker} does not take all calls:\n{done.stdout}")
    return [*found.values()]


def unknowns(kind: str) -> int:
    """How much of a type is not known: of a call that returns `Any`, least is known."""
    kind = re.sub(r"(?<=ndarray\[)(tuple\[Any, \.\.\.\]|Any)", "shape", kind)
    return 99 if kind in ("Any", "Unknown") else len(re.findall(r"\b(Any|Unknown)\b", kind))


def main() -> int:
    """Print where fastsel's types say less; the exit status is 1 if there are any."""
    less = 0
    for checker in CHECKERS:
        kinds = revealed(checker)
        for call, theirs, ours in zip(CALLS, kinds[::2], kinds[1::2], strict=True):
            if unknowns(ours) > unknowns(theirs):
                less += 1
                print(f"{checker}: {call}\n    NumPy:   {theirs}\n    fastsel: {ours}")
        print(f"{checker}: {len(CALLS)} calls")
    return bool(less)


if __name__ == "__main__":
    sys.exit(main())
