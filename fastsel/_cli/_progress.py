"""Progress on standard error: the current item, and what is left."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def show_line(text: str) -> None:
    """Replace the progress line; only on a terminal."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"{text[:width]:<{width}}", end="\r", file=sys.stderr, flush=True)


def with_progress(
    items: Sequence[Item], describe: Callable[[Item], str], log: bool = False
) -> Iterator[Item]:
    """Yield the items. A terminal shows the current one, how many are left and the time left.

    With rich installed, it shows a bar, else a line. Without a terminal nothing is shown, or, with
    `log`, a line for each item.
    """
    if sys.stderr.isatty():
        try:
            yield from with_bar(items, describe)
        except ImportError:
            yield from with_lines(items, describe, show_line)
            show_line("")
    elif log:
        yield from with_lines(items, describe, lambda text: print(text, file=sys.stderr))
    else:
        yield from items


def with_bar(items: Sequence[Item], describe: Callable[[Item], str]) -> Iterator[Item]:
    """Yield the items; rich shows a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    now = TextColumn("{task.fields[now]}", markup=False)
    # Drawn only between items: a thread that draws during a measurement would distort it.
    with Progress(
        *(BarColumn(20), MofNCompleteColumn(), Left(), "left", now),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        speed_estimate_period=600,
    ) as bar:
        task = bar.add_task("", total=len(items), now="")
        for item in items:
            bar.update(task, now=describe(item), refresh=True)
            yield item
            bar.advance(task)


def with_lines(
    items: Sequence[Item], describe: Callable[[Item], str], show: Callable[[str], None]
) -> Iterator[Item]:
    """Yield the items; a line of text shows the progress."""
    start = time.perf_counter()
    for done, item in enumerate(items):
        seconds = (time.perf_counter() - start) / done * (len(items) - done) if done else None
        left = "" if seconds is None else f", {seconds:.0f} s left"
        show(f"{done + 1} of {len(items)}{left}: {describe(item)}")
        yield item
