"""Live hosts: unmodified programs over a Linux kernel, over the simulated network.

`live` runs a scenario with ``[[live]]`` hosts. In virtual time all of it is in a user-mode kernel:
its first process is this package, which has the engine and the devices of the hosts; the clock of
the kernel jumps from event to event, so that neither code nor the machine takes any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burstlab.live.running import LATE_S, LiveRun, live
    from burstlab.live.times import connections

__all__ = ["LATE_S", "LiveRun", "connections", "live"]


def __getattr__(name: str) -> Any:
    """Import names on demand: the programs of hosts start without the rest."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from burstlab.live import running, times

    return getattr(times if name == "connections" else running, name)
