"""Progress on standard error: the current item, its number, and the time left."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

LINE_SECONDS = 10  # the least time between two lines if there is no terminal


def show_line(text: str) -> None:
    """Replace the progress line. Does nothing if standard error is no terminal."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"{text[:width]:<{width}}", end="\r", file=sys.stderr, flush=True)


def with_progress(
    items: Sequence[Item],
    describe: Callable[[Item], str],
    weights: Sequence[float] | None = None,
    log: bool = False,
) -> Iterator[Item]:
    """Yield the items, and show the current item, its number and the time left.

    A terminal shows a bar if rich is installed, otherwise a line that is replaced. Without a
    terminal, the progress is printed before an item: at most every LINE_SECONDS or, with `log`, for
    each item. `weights` are the items' shares of the time.
    """
    weights = [1.0] * len(items) if weights is None else weights
    if sys.stderr.isatty():
        try:
            yield from with_bar(items, describe, weights)
        except ImportError:
            yield from with_lines(items, describe, weights, show_line)
            show_line("")
    else:
        yield from with_lines(items, describe, weights, print_line, 0 if log else LINE_SECONDS)


def print_line(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def with_bar(
    items: Sequence[Item], describe: Callable[[Item], str], weights: Sequence[float]
) -> Iterator[Item]:
    """Yield the items; rich shows a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    number = TextColumn(f"{{task.fields[done]}}/{len(items)}")
    now = TextColumn("{task.fields[now]}", markup=False)
    # Drawn only between items: a thread that draws during a measurement would distort it.
    with Progress(
        *(BarColumn(20), number, Left(), "left", now),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        speed_estimate_period=600,
    ) as bar:
        task = bar.add_task("", total=sum(weights), done=0, now="")
        for done, (item, weight) in enumerate(zip(items, weights, strict=True)):
            bar.update(task, done=done, now=describe(item), refresh=True)
            yield item
            bar.advance(task, weight)


def with_lines(
    items: Sequence[Item],
    describe: Callable[[Item], str],
    weights: Sequence[float],
    show: Callable[[str], None],
    pause: float = 0,
) -> Iterator[Item]:
    """Yield the items; a line of text shows the progress, at most once in `pause` seconds."""
    start = shown = time.perf_counter()
    done = 0.0
    for number, (item, weight) in enumerate(zip(items, weights, strict=True), 1):
        now = time.perf_counter()
        if now - shown >= pause:
            left = f", {(now - start) / done * (sum(weights) - done):.0f} s left" if done else ""
            show(f"{number} of {len(items)}{left}: {describe(item)}")
            shown = now
        yield item
        done += weight
