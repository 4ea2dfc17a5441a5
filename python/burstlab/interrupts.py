"""Ctrl-C, put off where it would leave a lock held."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred() -> Iterator[None]:
    """Have Ctrl-C raise `KeyboardInterrupt` behind the block in place of within it.

    The locks of futures and executors are taken in Python code, which an exception from a signal
    may leave between the lock and the block that gives it back: whoever needs the lock next waits
    for ever. Only the main thread is ever interrupted, so in others nothing is changed; nor where
    the program has a handler of its own, or none. What is within should be short.
    """
    usual = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or usual is not signal.default_int_handler:
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt
