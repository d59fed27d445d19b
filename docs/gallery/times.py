"""The table of times of the gallery: ``python docs/gallery/times.py``, on an idle machine.

Each call of an operator that an example makes is timed with its arguments, beside NumPy's form of
it.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np

import fastsel
from fastsel._core._operators import OPERATORS

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "benchmarks" / "peers")]

from draw import PAGE, PICTURES, variables_of  # noqa: E402
from implementations import NUMPY  # noqa: E402

TABLE = re.compile("(?<=<!-- times -->\n).*?(?=<!-- end of times -->)", re.DOTALL)
ROUNDS = 300


def main():
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(table([title for title, *_ in PICTURES.values()]), text), "utf-8")


def calls_of(title):
    """Run the examples of a section. Returns (name, args, kwargs) of each call of an operator that
    raises no exception."""
    calls = []

    def recording(name, function):
        def record(*args, **kwargs):
            result = function(*args, **kwargs)
            calls.append((name, args, kwargs))
            return result

        return record

    functions = {name: getattr(fastsel, name) for name in OPERATORS}
    for name, function in functions.items():
        setattr(fastsel, name, recording(name, function))
    try:
        variables_of(title)
    finally:
        for name, function in functions.items():
            setattr(fastsel, name, function)
    return calls


def table(titles):
    """A row for each call, in the order of the page."""
    lines = ["| example | call | items | NumPy | fastsel |", "|---|---|--:|--:|--:|"]
    for title in titles:
        for name, args, kwargs in calls_of(title):
            sides = [numpy_form(name, kwargs), getattr(fastsel, name)]
            times = fastest([side for side in sides if side], args, kwargs)
            columns = [title, f"`{spelled(name, kwargs)}`", f"{max(map(np.size, args)):,}"]
            columns += ["-", *map(microseconds, times)][-2:]
            lines.append(f"| {' | '.join(columns)} |")
    config = fastsel.show_config("dicts")
    where = f"{config['cpu']}, {config['threads']} threads, fastsel {config['fastsel']}"
    where += f", NumPy {config['numpy']}"
    return "\n".join([*lines, "", f"Microseconds, the fastest of {ROUNDS} calls; {where}.", ""])


def microseconds(seconds):
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def spelled(name, kwargs):
    """The call as text, with dots for the positional arguments."""
    return f"{name}({', '.join(['...', *(f'{key}={value}' for key, value in kwargs.items())])})"


def numpy_form(name, kwargs):
    """NumPy's function or code for an operator; None for ``sorted=False``."""
    if kwargs.get("sorted") is False:
        return None
    return getattr(NUMPY, name, None) or getattr(np, name)


def fastest(sides, args, kwargs):
    """The seconds of the fastest call of each side; the sides take turns."""
    best = [float("inf")] * len(sides)
    for _ in range(ROUNDS):
        for k, side in enumerate(sides):
            start = time.perf_counter()
            side(*args, **kwargs)
            best[k] = min(best[k], time.perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
