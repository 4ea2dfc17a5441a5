"""The one door of the signals that end a command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

Each raises `KeyboardInterrupt` in the main thread. So what is done is kept, child processes end and
temporary files go, whichever signal came. Where a signal would leave a lock held it is put off, and
it is passed on to the work of other threads.
"""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import TypeVar

Answer = TypeVar("Answer")

#: An event that asks the work of this thread to end, as Ctrl-C asks that of the main one.
_asked: ContextVar[threading.Event | None] = ContextVar("_asked", default=None)

#: How long a command that was interrupted may take, in s, before it says that it was.
_SILENT_S = 0.25

#: The signals that end a command. Windows has no SIGHUP, which says that the terminal has gone.
ENDING = tuple(
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if name in signal.Signals.__members__
)

#: The signal that came first, if one did, and whether to say so where the end takes a moment.
_came: signal.Signals | None = None
_silent = False


def listen() -> None:
    """Make each of these signals end the command like Ctrl-C.

    One that is ignored stays so: `nohup` asks for that. So does one with a handler of somebody
    else. Where the command has not ended a moment later, it says that it was heard.
    """
    global _came, _silent
    _came, _silent = None, False
    for one in ENDING:
        if signal.getsignal(one) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(one, _heard)


def say_nothing() -> None:
    """Have no signal answered with words from here on, where it is how the command ends."""
    global _silent
    _silent = True


def leave(end: Callable[[int], None]) -> None:
    """Have each of these signals end the process from here on: its command is done.

    A thread of somebody else, which Python waits for, may go on for ever.

    Parameters
    ----------
    end
        Ends the process by a signal, and does not return.
    """
    for one in ENDING:
        if signal.getsignal(one) is _heard:
            signal.signal(one, lambda number, _frame: end(number))


def came() -> signal.Signals | None:
    """Return the signal that came first, if one did since `listen`."""
    return _came


def _heard(number: int, _frame: FrameType | None) -> None:
    if _note(number):
        raise KeyboardInterrupt


def _note(number: int) -> bool:
    """Note a signal; return whether it ends something.

    The second Ctrl-C leaves what the first one keeps. SIGTERM and SIGHUP often come twice, of the
    terminal and of the shell: the second one asks for nothing more.
    """
    global _came
    ends = _came is None or number == signal.SIGINT
    _came = _came or signal.Signals(number)
    if ends and not _silent:
        _tell_soon()
    return ends


def _tell_soon() -> None:
    # No `Thread`: starting one takes locks, which the interrupted code may hold.
    _thread.start_new_thread(_tell, ())


def _tell() -> None:
    time.sleep(_SILENT_S)
    # The terminal may have gone: that is what SIGHUP says.
    with suppress(OSError):
        os.write(2, b"interrupted; storing what was done, which takes a moment\n")


def stoppable(stop: threading.Event, call: Callable[..., Answer], *given: object) -> Answer:
    """Make a call in a thread; once `stop` is set, it ends by `KeyboardInterrupt`.

    The exception is raised where the call waits for something, shortly after `stop` is set.
    """
    before = _asked.set(stop)
    try:
        heed()
        return call(*given)
    finally:
        _asked.reset(before)


def is_stoppable() -> bool:
    """Return whether this thread can be interrupted: the main one, or one that may stop it."""
    return _asked.get() is not None or threading.current_thread() is threading.main_thread()


def heed() -> None:
    """Raise `KeyboardInterrupt` where what this thread does is to end."""
    stop = _asked.get()
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """Delay the `KeyboardInterrupt` of signals until the end of the block.

    Futures and executors take their locks in Python code. An exception from a signal could leave
    that code before the lock is released, and the next thread would wait for ever.
    Only the main thread is ever interrupted, so other threads are not affected. A program's own
    handler of signals is not changed either. The block should be short.
    """
    main = threading.current_thread() is threading.main_thread()
    usual = {one: signal.getsignal(one) for one in ENDING} if main else {}
    ours = {one: it for one, it in usual.items() if it in (signal.default_int_handler, _heard)}
    if not ours:
        yield
        return
    ends: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if ours[signal.Signals(number)] is not _heard or _note(number):
            ends.append(number)

    for one in ours:
        signal.signal(one, note)
    try:
        yield
    finally:
        for one, handler in ours.items():
            signal.signal(one, handler)
    if ends:
        raise KeyboardInterrupt
