"""Progress bars: on a terminal and in Jupyter, and nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from burstlab.errors import EngineError
from burstlab.printable import shown

#: Tells the share that is done, and what more there is to tell.
_Show = Callable[[float, str], None]


@dataclass
class Progress:
    """The progress of a study.

    Attributes
    ----------
    points, done
        Points of the study, and finished points.
    share
        The finished share, 0 to 1; unfinished points count in part.
    runs
        Runs since it was started or resumed.
    simulated_s
        Their simulated time.
    wall_s
        Wall time since then.
    engine_cpu_s
        Processor time of the engine, added over the workers.
    failed
        Points at which the engine failed, by a fault of its own; they are not finished.
    """

    points: int
    done: int = 0
    share: float = 0.0
    runs: int = 0
    simulated_s: float = 0.0
    wall_s: float = 0.0
    engine_cpu_s: float = 0.0
    warnings: dict[str, None] = field(default_factory=dict, repr=False)
    failed: dict[int, EngineError] = field(default_factory=dict, repr=False)


@contextmanager
def bar(label: str, simulated_s: float = 0.0) -> Iterator[Callable[[float], None] | None]:
    """Show a bar while the body runs; the body reports its progress to it.

    Parameters
    ----------
    label
        A name of the work.
    simulated_s
        Simulated time of the whole, for the rate; 0 if it is unknown.
    """
    with _shown(label) as show:
        if show is None:
            yield None
            return
        started = time.perf_counter()

        def update(share: float) -> None:
            rate = share * simulated_s / max(time.perf_counter() - started, 1e-9)
            show(share, f"{rate:,.3g} simulated s/s" if rate else "")

        yield update


@contextmanager
def study_bar(label: str) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar of points, with their rate, that of simulated time, and what remains."""
    with _shown(label) as show:
        if show is None:
            yield None
            return

        def update(progress: Progress) -> None:
            show(progress.share, rate(progress))

        yield update


def rate(progress: Progress) -> str:
    """Return the number of finished points, their rate, and the simulated time per second."""
    points = f"{progress.done:,}/{progress.points:,} points"
    if not progress.wall_s or not progress.runs:
        return points
    rate = progress.runs / progress.wall_s
    simulated = progress.simulated_s / progress.wall_s
    return f"{points}, {rate:,.3g} runs/s, {simulated:,.3g} simulated s/s"


def _shown(label: str) -> AbstractContextManager[_Show | None]:
    """Show a bar in a notebook, or on standard error if it is a terminal; else nothing."""
    if "ipykernel" in sys.modules:
        return _in_notebook(label)
    return _on_terminal(label) if sys.stderr.isatty() else nullcontext()


@contextmanager
def _on_terminal(label: str) -> Iterator[_Show]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(shown(label), total=1.0, rate="")
        yield lambda share, more: bars.update(task, completed=share, rate=more)


#: A notebook is updated at this interval.
_EVERY_S = 0.25


@contextmanager
def _in_notebook(label: str) -> Iterator[_Show]:
    """Show one output of the cell that is written anew, and is empty in the end.

    A display of IPython needs no widgets, and saves as what it last was.
    """
    from IPython.display import display  # pyright: ignore[reportMissingImports]

    handle = display({"text/plain": f"{label} ..."}, raw=True, display_id=True)
    started = time.perf_counter()
    next_s = started

    def show(share: float, more: str) -> None:
        import html

        nonlocal next_s
        now_s = time.perf_counter()
        if now_s < next_s:
            return
        next_s = now_s + _EVERY_S
        parts = [f"{share:.0%}", more]
        if share > 0.0:
            parts.append(f"{_clock((now_s - started) * (1.0 / share - 1.0))} left")
        text = " · ".join(part for part in parts if part)
        page = (
            f'{html.escape(label)} <progress value="{share:.4f}" max="1" '
            f'style="width: 16em"></progress> {html.escape(text)}'
        )
        handle.update({"text/plain": f"{label} {text}", "text/html": page}, raw=True)

    try:
        yield show
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _clock(left_s: float) -> str:
    minutes, seconds = divmod(round(left_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
