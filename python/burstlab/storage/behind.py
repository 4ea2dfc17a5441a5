"""Calls behind a bounded channel: a thread makes them in order while their caller goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Full, Queue

from burstlab.running.interrupts import deferred

#: How long to wait before the next check whether the thread has ended, in s.
_LOOK_S = 0.05


class Behind:
    """A thread that makes calls one after the other; it begins with the first call.

    Parameters
    ----------
    room
        How many calls may wait; then a caller waits too.
    """

    def __init__(self, room: int) -> None:
        self._calls: Queue[Callable[[], object] | None] = Queue(room)
        self._thread: threading.Thread | None = None
        self._failed: BaseException | None = None
        self._dropped = False

    def do(self, call: Callable[[], object]) -> None:
        """Make a call soon; none once nobody needs the calls any more.

        Raises
        ------
        BaseException
            The error that an earlier call has raised; no call is made after it.
        """
        self._check()
        if self._dropped:
            return
        if self._thread is None:
            with deferred():
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
        self._calls.put(call)

    def end(self) -> None:
        """Wait until all calls are made.

        Raises
        ------
        BaseException
            The error that the first failed call has raised.
        """
        self._close()
        self._check()

    def refuse(self) -> None:
        """Make no further call; the one that is being made goes on."""
        self._dropped = True

    def drop(self) -> None:
        """Wait until the call that is being made is over, and make no other."""
        self.refuse()
        self._close()

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _close(self) -> None:
        # Ctrl-C may come anywhere between, and be followed by another call of this.
        while self._thread is not None and self._thread.is_alive():
            with suppress(Full):
                self._calls.put(None, timeout=_LOOK_S)
            self._thread.join(_LOOK_S)
        self._thread = None

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            if self._failed is not None or self._dropped:
                continue
            try:
                call()
            except BaseException as error:  # it is raised where somebody hears of it
                self._failed = error
