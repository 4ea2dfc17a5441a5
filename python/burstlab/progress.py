"""Progress bars: on a terminal and in Jupyter, and nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from burstlab.studies.running import Progress


@contextmanager
def bar(label: str, simulated_s: float = 0.0) -> Iterator[Callable[[float], None] | None]:
    """Show a bar while the body runs, which tells it the share that is done.

    Parameters
    ----------
    label
        What is being done.
    simulated_s
        How much time is simulated in all, for its rate; 0 where nobody knows.
    """
    console = _console()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(label, total=1.0, told="")
        started = time.perf_counter()

        def show(share: float) -> None:
            rate = share * simulated_s / max(time.perf_counter() - started, 1e-9)
            bars.update(task, completed=share, told=f"{rate:,.3g} simulated s/s" if rate else "")

        yield show


@contextmanager
def study_bar(label: str) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar of points, with their rate, that of simulated time, and what remains."""
    console = _console()
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(label, total=1.0, told="")

        def show(progress: Progress) -> None:
            bars.update(task, completed=progress.share, told=told(progress))

        yield show


def told(progress: Progress) -> str:
    """Tell how many points are done, how fast, and how much simulated time a second."""
    points = f"{progress.done:,}/{progress.points:,} points"
    if not progress.wall_s or not progress.runs:
        return points
    rate = progress.runs / progress.wall_s
    simulated = progress.simulated_s / progress.wall_s
    return f"{points}, {rate:,.3g} runs/s, {simulated:,.3g} simulated s/s"


def _console() -> Console | None:
    """Answer where a bar is shown: standard error if it is a terminal, or a notebook."""
    notebook = "ipykernel" in sys.modules
    if not notebook and not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console() if notebook else Console(stderr=True)
