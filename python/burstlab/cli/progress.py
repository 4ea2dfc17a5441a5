"""A progress bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from burstlab.simulation import Progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Show a bar on standard error while the body runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0)

        def show(share: float) -> None:
            bar.update(task, completed=share)

        yield show
