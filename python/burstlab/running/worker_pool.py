"""Unfinished tasks: this module alone waits for them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from itertools import islice
from typing import Any, Generic, TypeVar

from burstlab import _core
from burstlab.errors import InputError
from burstlab.running import lazy_load, waking
from burstlab.running.engine import Bound
from burstlab.running.interrupts import deferred, heed

About = TypeVar("About")
Answer = TypeVar("Answer")
Item = TypeVar("Item")

#: How long a wait lasts at most, so that the main thread sees Ctrl-C.
_POLL_S = 0.1

#: Tasks that are handed over for each worker: one that it does, and one for when it is done.
_AHEAD = 2


def workers_asked(jobs: int | None) -> int:
    """Return how many workers there are to be: by default one for each processor."""
    if jobs is None:
        return os.cpu_count() or 1
    if jobs < 1:
        raise InputError(f"jobs = {jobs}: at least one worker is needed\n  fix: use 1 or more")
    return jobs


class UnderWay(Generic[About, Answer]):
    """Tasks that workers have, in the order in which they were made.

    Parameters
    ----------
    bound
        The memory that they may take together; None where they are not in this process, or take
        no part in it.
    """

    def __init__(self, bound: Bound | None = None) -> None:
        self._bound = bound
        self._tasks: dict[Future[Answer], tuple[About, _core.Monitor | None]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def add(
        self,
        submit: Callable[..., Future[Any]],
        *call: Any,
        about: About,
        monitor: _core.Monitor | None = None,
    ) -> None:
        """Submit a call, with data about it for its end, and the monitor that can cancel it."""
        with deferred():
            self._tasks[submit(*call)] = about, monitor

    def finished(self) -> list[tuple[About, Future[Answer]]]:
        """Wait a moment, and remove and return the tasks that have finished."""
        heed()
        with deferred():
            done, _ = wait(self._tasks, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            found = [(about, task) for task, (about, _) in self._tasks.items() if task in done]
            for _, task in found:
                del self._tasks[task]
            if self._tasks:
                lazy_load.load()
        return found

    def check(self) -> None:
        """Raise an error if the tasks have taken more memory than they may."""
        exceeded = self._bound.exceeded() if self._bound is not None else None
        if exceeded is not None:
            raise exceeded

    def progress(self) -> float:
        """Return the progress of the tasks: the sum of their known shares."""
        return sum(monitor.progress() for _, monitor in self._tasks.values() if monitor)

    def keep(self) -> None:
        """Ask for a checkpoint of each."""
        for _, monitor in self._tasks.values():
            if monitor is not None:
                monitor.keep()

    def room(self, workers: int) -> int:
        """Return how many more tasks keep so many workers busy."""
        return max(_AHEAD * workers - len(self._tasks), 0)

    def stop(self) -> None:
        """Ask all to end soon; those that have not begun never will."""
        with deferred():
            for task, (_, monitor) in self._tasks.items():
                task.cancel()
                if monitor is not None:
                    monitor.cancel()


@contextmanager
def threads(count: int, waits: Callable[[], object] | None = None) -> Iterator[ThreadPoolExecutor]:
    """Have so many threads; when they are left, those that are at work are waited for.

    Parameters
    ----------
    count
        Threads.
    waits
        Is called where Ctrl-C is why they are waited for. From then on a second one ends the wait.
    """
    working: list[threading.Thread] = []

    def begin() -> None:
        working.append(threading.current_thread())

    pool, interrupted = ThreadPoolExecutor(max_workers=count, initializer=begin), False
    try:
        yield pool
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        with deferred():
            pool.shutdown(wait=False, cancel_futures=True)
        if interrupted and waits is not None:
            waits()
        pool.shutdown(wait=not interrupted or waking.join(working))


def each(
    do: Callable[[Item], Answer], items: Iterable[Item], jobs: int | None
) -> Generator[Answer]:
    """Call a function with each of some items in threads, and return the results as they come.

    Parameters
    ----------
    do
        The function.
    items
        They are taken as workers are free.
    jobs
        Items at a time; ``None``: one per processor.
        Items at a time; ``None``: one per processor.
    """
    coming, under_way = iter(items), UnderWay[None, Answer]()
    workers = workers_asked(jobs)
    with threads(workers) as pool:
        try:
            while True:
                for item in islice(coming, under_way.room(workers)):
                    # An event that stops this thread stops its workers too.
                    under_way.add(pool.submit, copy_context().run, do, item, about=None)
                if not under_way:
                    return
                for _, task in under_way.finished():
                    yield task.result()
        finally:
            under_way.stop()
