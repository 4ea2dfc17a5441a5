"""Ends what classes of a user do in threads that are to end: such a class may never return."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType

#: How long to wait for a thread before the next check, in s.
_LOOK_S = 0.05

#: After so much work of a class that heeds nothing, in s of processors, it is left alone.
_PATIENCE_S = 0.3

#: The names under which Python knows the files of classes that were executed.
_files: set[str] = set()


def note(file: str) -> None:
    """Note the name under which Python knows a file of classes.

    Parameters
    ----------
    file
        As frames of its functions have it.
    """
    _files.add(file)


def join(threads: Sequence[threading.Thread]) -> bool:
    """Wait for threads that were asked to end; return whether all have, but for stubborn classes.

    In one that executes a class `KeyboardInterrupt` is raised. Nothing else is interrupted: it
    looks by itself whether it is to end, and may be about to store what it has.
    """
    while threads:
        left = [thread for thread in threads if thread.is_alive()]
        if not left or not end([left[0]]):
            return not left
        left[0].join(_LOOK_S)
    return True


def end(threads: Sequence[threading.Thread]) -> bool:
    """End the classes that threads execute; return whether all have ended."""
    began_s = time.process_time()
    for thread in threads:
        while _wake(thread):
            if time.process_time() - began_s > _PATIENCE_S:
                return False
            thread.join(_LOOK_S)
    return True


def _wake(thread: threading.Thread) -> bool:
    """Raise `KeyboardInterrupt` in a thread that executes a class; return whether it does."""
    # Of another thread's stack there is no public word.
    frames: dict[int, FrameType] = getattr(sys, "_current_frames")()  # noqa: B009
    frame: FrameType | None = frames.get(thread.ident or 0)
    while frame is not None:
        if frame.f_code.co_filename in _files:
            import ctypes  # seldom needed, and slow to load

            number = ctypes.c_ulong(thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(KeyboardInterrupt))
            return True
        frame = frame.f_back
    return False
