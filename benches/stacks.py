"""What a packet costs with each third-party stack: processor time and memory of whole processes.

    python benches/stacks.py [--seconds 60] [--runs 3]

A transfer without loss over the path of ``burstlab-net`` (40 Mb/s, 22 ms there and back, bursts
of 1 ms), handshake, TLS and all, without a trace. Packets are those of both ends. The time of a
process that simulates a microsecond is taken off. Needs an engine with the stacks: ``make stacks``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median
from typing import Any

STACKS = (
    ("quinn", "cubic"),
    ("quinn", "bbr"),
    ("noq", "cubic"),
    ("noq", "bbr3"),
    ("quiche", "cubic"),
    ("smoltcp", "cubic"),
    (None, None),
)

#: What a child does: one run, and the number of its packets.
CHILD = """
import json, sys
import burstlab as bl
result = bl.run(json.loads(sys.argv[1]))
counters = result.summary["counters"]
print(counters["packets_sent"] + counters["acks_sent"])
"""


def scenario(stack: str | None, control: str | None, duration: str) -> dict[str, Any]:
    """Return the path of ``burstlab-net``, with one flow without end."""
    flow = {} if stack is None else {"stack": stack, "congestion_control": control}
    return {
        "network": {"core_nodes": 2, "link_rate": "10 Gb/s", "link_delay": "3 ms"},
        "access": {"rate": "40 Mb/s", "delay": "0.5 ms"},
        "edge": {"assembly": "timer", "timer": "1 ms"},
        "tcp": {"profile": "linux"},
        "flows": [flow],
        "run": {"duration": duration},
    }


def measured(document: dict[str, Any]) -> tuple[int, float, float] | None:
    """Return packets, processor time in seconds and memory in MiB, or nothing if it is refused."""
    words = [sys.executable, "-c", CHILD, json.dumps(document)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        return None
    return int(told), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def several(document: dict[str, Any], runs: int) -> list[tuple[int, float, float]]:
    """Return what so many processes take, or nothing if the engine refuses the scenario."""
    first = measured(document)
    if first is None:
        return []
    others = (measured(document) for _ in range(runs - 1))
    return [first, *(one for one in others if one is not None)]


def main() -> int:
    """Print a line for each stack."""
    parser = argparse.ArgumentParser(description="What a packet costs with each third-party stack.")
    parser.add_argument("--seconds", type=float, default=60.0, help="simulated (default: 60)")
    parser.add_argument("--runs", type=int, default=3, help="medians of so many (default: 3)")
    given = parser.parse_args()
    for stack, control in STACKS:
        name = f"{stack} {control}" if stack else "our TCP (profile linux)"
        empty = several(scenario(stack, control, "1 us"), given.runs)
        full = several(scenario(stack, control, f"{given.seconds} s"), given.runs)
        if not empty or not full:
            print(f"{name:24} not in this engine: make stacks")
            continue
        idle = median(one[1] for one in empty)
        packets, memory = full[0][0], median(one[2] for one in full)
        spent = [one[1] - idle for one in full]
        each = median(spent) / packets
        least, most = min(spent) / packets * 1e6, max(spent) / packets * 1e6
        print(
            f"{name:24} {packets:9,} packets {each * 1e6:6.2f} us each ({least:.2f} to {most:.2f})"
            f" {1 / each:10,.0f} a second {memory:6.1f} MiB"
            f" {given.seconds / median(spent):7.1f} virtual s a second",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
