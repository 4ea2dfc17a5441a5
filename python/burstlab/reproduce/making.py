"""Makes the runs of a target, as many at a time as there are workers; none waits for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from functools import partial
from typing import TypeAlias, TypeVar

from burstlab import _core
from burstlab.loading import Document
from burstlab.reproduce.context import Context
from burstlab.results import Replication
from burstlab.running.checked import Checked
from burstlab.running.engine import Bound
from burstlab.running.progress import Progress
from burstlab.running.worker_pool import workers_asked
from burstlab.simulation import replicate
from burstlab.studies.running import Done, PointRun, Running
from burstlab.studies.work import Answer, Order
from burstlab.studies.workers import threads

Kept = TypeVar("Kept")

#: Can cancel a run from outside.
Monitor: TypeAlias = _core.Monitor

#: Makes one replication of an order, and returns the kept part of it.
Make = Callable[[Order, int, Monitor], Kept]


def make_all(
    context: Context,
    point_runs: Sequence[tuple[str, PointRun[Kept]]],
    resolved: Sequence[Document],
    make: Make[Kept],
) -> list[Done[Kept]]:
    """Make all runs as a study makes those of its points; a free worker begins the next.

    Parameters
    ----------
    context
        The target.
    point_runs
        The runs to be made, with their progress; their numbers are their places.
    resolved
        Every scenario of theirs.
    make
        Makes a replication.
    """
    if not point_runs:
        return []
    found: dict[int, Done[Kept]] = {}

    def begun() -> Iterator[PointRun[Kept]]:
        for label, point_run in point_runs:
            context.progress(len(found) / len(point_runs), f"{context.target}: {label}")
            yield point_run

    jobs = workers_asked(context.jobs)
    with threads(min(Checked(scenario).that_fit(jobs) for scenario in resolved)) as ready:
        bound, progress = Bound(resolved[0]), Progress(len(point_runs))
        running = Running(begun(), partial(_do, make, context.free), ready, bound, progress, 1)
        with closing(running.points()) as points:
            found.update((done.point, done) for finished in points for done in finished)
    return [found[place] for place in range(len(point_runs))]


def _do(
    make: Make[Kept],
    free: threading.Semaphore | None,
    orders: Sequence[Order],
    monitor: _core.Monitor,
) -> Answer[Kept]:
    """Do orders as a worker of a study does, once there is one to do them."""
    with free or nullcontext():
        started = time.perf_counter()
        results = [
            [make(order, order.first + i, monitor) for i in range(order.count)] for order in orders
        ]
    engine_s = time.perf_counter() - started
    return Answer(results, sum(map(len, results)), 0.0, engine_s, 0.0, [])


def replication(
    order: Order, number: int, monitor: _core.Monitor, tables: Sequence[str] = ()
) -> Replication:
    """Make one replication.

    Raises
    ------
    EngineError
        If the engine fails.
    MemoryExceeded
        If it takes more memory than it may.
    """
    found, end = replicate(order.scenario, order.seed, number, monitor, list(tables))
    if end is not None:
        raise end
    return found
