"""Calls of the engine: limits of memory, stopping, and its failures."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from burstlab import _core
from burstlab.errors import EngineError, MemoryExceeded, ScenarioError
from burstlab.loading import Document
from burstlab.running import waking
from burstlab.running.interrupts import deferred, heed, is_stoppable

T = TypeVar("T")

#: How often the main thread checks whether the run is to stop.
_POLL_S = 0.05

#: The share of the memory there is that runs take where the scenario does not say.
_SHARE = 0.5


def heard(call: Callable[[_core.Monitor], T]) -> T:
    """Return what a call of the engine does, and hear Ctrl-C meanwhile.

    Parameters
    ----------
    call
        Takes a monitor, at which the engine looks.
    """
    monitor = _core.Monitor()
    if not is_stoppable():
        return call(monitor)
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(call(monitor))
        except BaseException as error:  # it is raised where somebody waits for it
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    with deferred():
        thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_S)
            heed()
    except BaseException:
        monitor.cancel()
        waking.end([thread])
        raise
    if failed:
        raise failed[0]
    return done[0]


def memory_allowed(resolved: Document) -> int | None:
    """Return how many bytes all runs of a scenario may take together; None if there is no limit."""
    given = resolved.get("run", {}).get("max_memory")
    if given is not None:
        found = _core.quantity(given)
        # As many bytes as no machine has may be written, and are no bound.
        return min(int(found[0]), 2**63 - 1) if found is not None else None
    there = memory_there()
    return int(_SHARE * there) if there is not None else None


def memory_there() -> int | None:
    """Return how many bytes of memory there are for this process; None if that is unknown."""
    limits: list[int] = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    addresses = address_space()
    if addresses is not None:
        limits.append(addresses)
    for group in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            limits.append(int(Path(group).read_text(encoding="ascii")))
    return min((limit for limit in limits if limit > 0), default=None)


def address_space() -> int | None:
    """Return the bound of this process's address space (``ulimit -v``); None: there is none."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        return soft if soft != resource.RLIM_INFINITY else None
    return None


def memory_taken(*, addresses: bool = False) -> int:
    """Return how many bytes of memory this process has; 0 if that is unknown.

    Parameters
    ----------
    addresses
        Whether to count its address space, of which some is reserved and not used.
    """
    with suppress(OSError, ValueError, IndexError):
        sizes = Path("/proc/self/statm").read_text(encoding="ascii").split()
        return int(sizes[0 if addresses else 1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class Bound:
    """The memory that runs may take, and their use since they began.

    Parameters
    ----------
    resolved
        The scenario of the runs.
    """

    def __init__(self, resolved: Document) -> None:
        self.allowed = memory_allowed(resolved)
        self._given = resolved.get("run", {}).get("max_memory")
        # A share of the bounded quantity: memory, or the larger address space.
        self._addresses = self._given is None and address_space() == memory_there() is not None
        self._before = memory_taken(addresses=self._addresses)

    def exceeded(self) -> MemoryExceeded | None:
        """Return the error of runs that have taken more than they may."""
        if self.allowed is None:
            return None
        taken = memory_taken(addresses=self._addresses) - self._before
        if taken <= self.allowed:
            return None
        value = self._given or f"{self.allowed / 1e9:.3g} GB, half of what there is"
        return MemoryExceeded(
            "run.max_memory",
            value,
            f"the packets and bursts in it have come to take {taken / 1e9:.3g} GB, and the run was "
            "stopped",
            "lower the load that waits, bound queues (access.queue), make the run shorter or "
            "--jobs fewer, or allow more",
        )


def fingerprint_of(resolved: Document) -> str:
    """Return a hash of a scenario, but for how much memory it may take."""
    import hashlib

    plain = json.loads(json.dumps(resolved))
    if isinstance(plain.get("run"), dict):
        plain["run"].pop("max_memory", None)
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def fault(resolved: Document, raised: tuple[Any, ...], which: str = "") -> EngineError:
    """Return the error of a fault of the engine.

    Parameters
    ----------
    resolved
        The scenario.
    raised
        The condition that failed, and its place in the sources.
    which
        Which run of it, as text.
    """
    what, place = (*(str(one) for one in raised), "", "")[:2]
    return EngineError(what, place, fingerprint_of(resolved), which)


def scenario_error(error: ValueError) -> ScenarioError:
    """Return the error of a scenario that the engine refuses."""
    from burstlab.documents.elsewhere import corrected  # loaded only where there is a mistake

    path, value, problem, fix = map(str, (*error.args, "", "", "", "")[:4])
    return ScenarioError(path, value, *corrected(path, value, problem, fix))
