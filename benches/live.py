"""What live hosts cost: virtual seconds a second, processor time of a packet, and memory.

Usage: python benches/live.py [HOSTS]... [--seconds S]; 2, 10 and 50 hosts by default. Half of the
hosts send without end over links of 100 Mb/s, each to one of the other half, in a kernel in
virtual time. Times are those of the processor, of all processes of a run. What it takes until the
programs have started is in the column `start`; of the rest, the time of the kernel in user mode is
that of its own code, the time of the processes that it runs programs in is that of Python and of
the engine; what is left is the machine's, which goes from one to the other at every call.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

from burstlab.live import live

#: Seconds between two looks at the processes.
_STEP = 0.2

_TICKS = os.sysconf("SC_CLK_TCK")


def scenario(hosts: int, seconds: float) -> dict[str, Any]:
    """Pairs of hosts on a path of which one sends to the other without end."""
    bulk = ["python", "-m", "burstlab.live.bulk"]
    pairs = hosts // 2
    near = [f"10.9.0.{n + 1}" for n in range(pairs)]
    far = [f"10.9.1.{n + 1}" for n in range(pairs)]
    senders = [
        {"address": one, "node": "ingress", "command": [*bulk, "send", other, "5001"]}
        for one, other in zip(near, far, strict=True)
    ]
    receivers = [
        {"address": one, "node": "egress", "command": [*bulk, "receive", "5001"], "server": True}
        for one in far
    ]
    return {
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "live": [*senders, *receivers],
        "run": {"duration": f"{seconds} s"},
    }


class Watch:
    """Looks at the processes of a run while it goes on."""

    def __init__(self) -> None:
        self._times: dict[int, tuple[bool, float, float]] = {}
        self.memory = 0
        self.start: list[float] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._looks, daemon=True)
        self._thread.start()

    def _looks(self) -> None:
        while not self._over.wait(_STEP):
            self._look()

    def _look(self) -> None:
        memory = 0
        for number, kernel in below(os.getpid()):
            place = Path(f"/proc/{number}")
            try:
                fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
                memory += proportional(place)
            except (OSError, IndexError):
                continue
            user, system = (int(one) / _TICKS for one in fields[11:13])
            self._times[number] = (kernel, user, system)
        self.memory = max(self.memory, memory)

    def began(self, share: float) -> None:
        """Note what the start has taken, as time passes: then all programs wait for something."""
        if self.start is None and share > 0.0:
            self._look()
            self.start = self._sums()

    def _sums(self) -> list[float]:
        every = list(self._times.values())
        own = sum(user for kernel, user, _ in every if kernel)
        programs = sum(user for kernel, user, _ in every if not kernel)
        return [own, programs, sum(system for _, _, system in every)]

    def ended(self) -> list[float]:
        """Return seconds of the kernel's code, of its programs, and of the machine, of all."""
        self._over.set()
        self._thread.join()
        return self._sums()


def below(parent: int) -> list[tuple[int, bool]]:
    """Return the processes that come of one, and whether each is the kernel, its own child.

    The kernel runs what its programs run in processes that it has started itself.
    """
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(place.parent.name)] = int(place.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    found = [number for number, other in parents.items() if other == parent]
    for number in found:
        found.extend(one for one, other in parents.items() if other == number)
    return [(number, parents[number] == parent) for number in found]


def proportional(place: Path) -> int:
    """Return the memory of a process in bytes, of what it shares its part."""
    for line in (place / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def row(hosts: int, seconds: float) -> str:
    """Run once; return a row of the table."""
    watch = Watch()
    with tempfile.TemporaryDirectory() as room:
        how: dict[str, Any] = {"clock": "virtual", "out": room, "force": True}
        done = live(scenario(hosts, seconds), progress=watch.began, **how)
    whole, start = watch.ended(), watch.start or [0.0, 0.0, 0.0]
    counters = done.result.replications[0].summary["counters"]
    packets = counters["packets_sent"] + counters["acks_sent"]
    own, programs, machine = (all_ - first for all_, first in zip(whole, start, strict=True))
    every = own + programs + machine
    return (
        f"{hosts:>5} {packets:>8,} {sum(start):>6.1f} {every:>6.1f} {1e6 * every / packets:>9.0f}"
        f" {own / every:>7.0%} {programs / every:>9.0%} {machine / every:>8.0%}"
        f" {seconds / every:>11.3f} {watch.memory / 2**20:>6.0f}"
    )


def main() -> None:
    """Print a row for each number of hosts."""
    parser = argparse.ArgumentParser(description="What live hosts cost.")
    parser.add_argument("hosts", nargs="*", type=int, default=[2, 10, 50])
    parser.add_argument("--seconds", type=float, default=2.0, help="virtual time")
    given = parser.parse_args()
    print("hosts  packets  start  cpu/s us/packet  kernel  programs  machine virtual/cpu    MiB")
    for hosts in given.hosts:
        print(row(hosts, given.seconds), flush=True)


if __name__ == "__main__":
    main()
