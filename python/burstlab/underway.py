"""Runs under way: the one place where anybody waits for them."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Generic, TypeVar

from burstlab import _core, meanwhile
from burstlab.engine import Bound
from burstlab.errors import InputError

About = TypeVar("About")
Answer = TypeVar("Answer")

#: How long a wait lasts at most, so that the main thread sees Ctrl-C.
_POLL_S = 0.1


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
        The memory that they may take together; None where they are not in this process.
    """

    def __init__(self, bound: Bound | None) -> None:
        self._bound = bound
        self._tasks: dict[Future[Answer], tuple[About, _core.Monitor | None]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, task: Future[Answer], about: About, monitor: _core.Monitor | None) -> None:
        """Take a task, with what is to be known when it is done, and what may cancel it."""
        self._tasks[task] = about, monitor

    def finished(self) -> list[tuple[About, Future[Answer]]]:
        """Wait a moment, and return the tasks that are done, which are under way no more."""
        done, _ = wait(self._tasks, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        found = [(about, task) for task, (about, _) in self._tasks.items() if task in done]
        for _, task in found:
            del self._tasks[task]
        if self._tasks:
            meanwhile.load()
        return found

    def check(self) -> None:
        """Refuse to go on where they have taken more memory than they may."""
        exceeded = self._bound.exceeded() if self._bound is not None else None
        if exceeded is not None:
            raise exceeded

    def progress(self) -> float:
        """Return how much of them is done: the sum of their shares, as far as it is known."""
        return sum(monitor.progress() for _, monitor in self._tasks.values() if monitor)

    def keep(self) -> None:
        """Ask for a checkpoint of each."""
        for _, monitor in self._tasks.values():
            if monitor is not None:
                monitor.keep()

    def stop(self) -> None:
        """Ask all to end soon; those that have not begun never will."""
        for task, (_, monitor) in self._tasks.items():
            task.cancel()
            if monitor is not None:
                monitor.cancel()
