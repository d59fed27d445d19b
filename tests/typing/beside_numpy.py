"""Compare the types of fastsel's functions with NumPy's.

    python tests/typing/beside_numpy.py        # needs mypy and pyright

mypy and pyright infer the types of the same calls of NumPy and of fastsel. A type of fastsel may
not have more unknown parts (`Any`) than NumPy's; unknown shapes are not counted. Exception: for
mypy, scalars of np.float64 and np.complex128 are objects of Python, because these are subclasses of
float and complex; so scalars of np.float32 are compared.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ARGUMENTS = """
import numpy as np
import fastsel
from numpy.typing import ArrayLike, NDArray
from typing import Any

floats = np.ones(10)
singles = np.ones(3, np.float32)
mapped = np.memmap("file", np.int16)
numbers, scalars, scalar = [3.0, 1.0], [np.float32(3), np.float32(1)], np.float32(3)
arrays = [np.arange(3), np.arange(3)]
mask = floats > 3
out = np.empty(3)

def calls(like: ArrayLike, unknown: Any, items: list[Any], objects: NDArray[Any]) -> None:
"""
ARRAYS = (
    *("floats", "singles", "mapped", "numbers", "scalars", "scalar", "arrays", "like", "unknown"),
    *("items", "objects"),
)
CALLS_OF_ONE_ARRAY = (
    *("nonzero({})", "flatnonzero({})", "argwhere({})", "count_nonzero({})"),
    *("count_nonzero({}, 0)", "count_nonzero({}, 0, keepdims=True)"),
    *("compress(mask, {})", "compress(mask, {}, 0)", "compress(mask, {}, out=out)"),
    *("extract(mask, {})", "unique({})", "unique({}, axis=0, sorted=False)", "unique({}, True)"),
    *("unique({}, return_inverse=True)", "unique({}, return_counts=True)"),
    *("unique({}, False, True, True)", "unique({}, True, True, True)"),
    *("unique_all({})", "unique_counts({})", "unique_inverse({})", "unique_values({})"),
)
CALLS_OF_TWO_ARRAYS = (
    *("isin({}, {})", "intersect1d({}, {})", "intersect1d({}, {}, return_indices=True)"),
    *("union1d({}, {})", "setdiff1d({}, {})", "setxor1d({}, {})"),
)
CALLS = [
    *(call.format(array) for call in CALLS_OF_ONE_ARRAY for array in ARRAYS),
    *(
        call.format(array, other)
        for call in CALLS_OF_TWO_ARRAYS
        for array in ARRAYS
        for other in ARRAYS[:5]
    ),
]
CHECKERS = {
    "mypy": (["-m", "mypy", "--strict"], r':(\d+): note: Revealed type is "(.*)"'),
    "pyright": (
        ["-m", "pyright", "--pythonpath", sys.executable],
        r':(\d+):\d+ - information: Type of ".*" is "(.*)"',
    ),
}


def revealed(checker: str) -> list[str]:
    """The types of all calls: for each call NumPy's type, and then fastsel's."""
    command, pattern = CHECKERS[checker]
    lines = [f"    reveal_type({module}.{call})" for call in CALLS for module in ("np", "fastsel")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls.py")
        file.write_text(ARGUMENTS + "\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *command, str(file)], capture_output=True, text=True, check=False
        )
    first_line = len(ARGUMENTS.splitlines()) + 1
    kinds = {int(line) - first_line: kind for line, kind in re.findall(pattern, done.stdout)}
    if [*kinds] != [*range(len(lines))]:
        sys.exit(f"{checker} shows no type for some calls:\n{done.stdout}")
    return [*kinds.values()]


def count_unknown_parts(kind: str) -> int:
    """How many parts of a type are unknown: 99 if the whole type is unknown."""
    kind = re.sub(r"(?<=ndarray\[)(tuple\[Any, \.\.\.\]|Any)", "shape", kind)
    return 99 if kind in ("Any", "Unknown") else len(re.findall(r"\b(Any|Unknown)\b", kind))


def main() -> int:
    """Print the calls whose type in fastsel has more unknown parts; return 1 if there are any."""
    worse = 0
    for checker in CHECKERS:
        kinds = revealed(checker)
        for call, theirs, ours in zip(CALLS, kinds[::2], kinds[1::2], strict=True):
            if count_unknown_parts(ours) > count_unknown_parts(theirs):
                worse += 1
                print(f"{checker}: {call}\n    NumPy:   {theirs}\n    fastsel: {ours}")
        print(f"{checker}: {len(CALLS)} calls")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
