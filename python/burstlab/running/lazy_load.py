"""Loads slow modules while the engine runs, so that whoever stops it need not wait for them."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from importlib import import_module

#: Modules that tables and estimates over several replications need.
TABLES = ("numpy", "burstlab.storage.columnar.writing")

_wanted: list[str] = []


def want(*names: str) -> None:
    """Note modules that are needed at the end, except for loaded ones."""
    _wanted.extend(name for name in names if name not in sys.modules and name not in _wanted)


def load() -> None:
    """Begin to load them, once.

    In a thread of its own: Ctrl-C is raised in the main one, and a module that it interrupts is
    half there, and cannot be loaded again.
    """
    names, _wanted[:] = _wanted[:], ()
    if names:
        work = threading.Thread(target=_load, args=(names,), name="burstlab-lazy-load")
        work.start()


def _load(names: list[str]) -> None:
    for name in names:
        # Not every one is installed, and one that Ctrl-C interrupts in the main thread is half
        # there: who needs it will say so.
        with suppress(Exception):
            import_module(name)
