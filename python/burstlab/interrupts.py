"""Ctrl-C: said to be heard, put off where it leaves a lock held, passed on to other threads."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import TypeVar

Answer = TypeVar("Answer")

#: What asks the work of this thread to end, as Ctrl-C asks that of the main one.
_asked: ContextVar[threading.Event | None] = ContextVar("_asked", default=None)

#: How long a command that was interrupted may take, in s, before it says that it was.
_SILENT_S = 0.25


def say_when_heard() -> None:
    """Have Ctrl-C say that it was heard, where the command has not ended a moment later."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _heard)


def say_nothing() -> None:
    """Have Ctrl-C say nothing from here on, where it is how the command ends."""
    if signal.getsignal(signal.SIGINT) is _heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _heard(number: int, frame: FrameType | None) -> None:
    _tell_soon()
    signal.default_int_handler(number, frame)


def _tell_soon() -> None:
    # No `Thread`: to start one takes locks, which what is interrupted may hold.
    _thread.start_new_thread(_tell, ())


def _tell() -> None:
    time.sleep(_SILENT_S)
    os.write(2, b"interrupted; what was done is kept, which takes a moment\n")


def stoppable(stop: threading.Event, call: Callable[..., Answer], *given: object) -> Answer:
    """Make a call beside the main thread; once `stop` is set, it ends by `KeyboardInterrupt`.

    That is raised where the call waits for something, within a moment of its being set.
    """
    before = _asked.set(stop)
    try:
        heed()
        return call(*given)
    finally:
        _asked.reset(before)


def is_stoppable() -> bool:
    """Return whether somebody can interrupt this thread: the main one, or one that may stop it."""
    return _asked.get() is not None or threading.current_thread() is threading.main_thread()


def heed() -> None:
    """Raise `KeyboardInterrupt` where what this thread does is to end."""
    stop = _asked.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


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
    if not main or usual not in (signal.default_int_handler, _heard):
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)
        if usual is _heard:
            _tell_soon()

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt
