"""Calls in a background thread: reports are written while the next target runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from burstlab.running.interrupts import deferred
from burstlab.running.worker_pool import UnderWay


class BackgroundCalls:
    """Makes one call after another in a thread; the next call, or the end, raises its exception.

    Parameters
    ----------
    pool
        The thread.
    """

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._last = UnderWay[None, object]()

    def do(self, call: Callable[..., object], *given: object) -> None:
        """Begin a call once the one before it has ended."""
        self.wait()
        self._last.add(self._pool.submit, call, *given, about=None)

    def goes_on(self) -> bool:
        """Return whether a call is being made."""
        return bool(self._last)

    def wait(self) -> None:
        """Wait for the last call."""
        while self._last:
            for _, task in self._last.finished():
                task.result()


@contextmanager
def background_calls() -> Iterator[BackgroundCalls]:
    """Make calls in a thread; the block waits for the last one at its end.

    An interrupt of the main thread ends this wait.
    """
    pool = ThreadPoolExecutor(max_workers=1)
    made = BackgroundCalls(pool)
    try:
        try:
            yield made
        except BaseException:
            with suppress(Exception):  # the first exception is the one to report
                made.wait()
            raise
        made.wait()
    finally:
        with deferred():
            pool.shutdown(wait=False)
