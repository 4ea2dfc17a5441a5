"""What Burstlab costs: beside ns-2 and ns-3 on the same flows, and alone.

First one SACK flow over a path: W = 200 segments, 100 Mb/s access, five links of 10 ms, a 10 Gb/s
core, no loss. Then 100 and 800 of them over NSFNET, W = 100. Burstlab assembles bursts; ns-2 and
ns-3 carry the packets one by one. Each figure is the median of several runs of the process, with
its start-up and without. Then the senders of Linux as both have them (linux.py), and Burstlab alone
(alone.py). Nothing is asserted: what is printed
belongs into docs/benchmarks.md with the machine it was measured on.
"""

import argparse
import tempfile
from pathlib import Path

import alone
import beside
import linux


def main() -> None:
    """Print the tables."""
    parts = ("path", "mesh", "linux", *alone.PARTS)
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=int, default=2000, help="simulated seconds of the path")
    options.add_argument("--runs", type=int, default=5, help="runs of each program")
    options.add_argument("--only", choices=parts, action="append", help="one part (repeatable)")
    chosen = options.parse_args()
    wanted = chosen.only or parts
    with tempfile.TemporaryDirectory() as scratch:
        to = Path(scratch)
        if {"path", "mesh"} & set(wanted):
            ns2, ns3 = beside.has_ns2(), beside.built_ns3(to)
            if "path" in wanted:
                beside.path(chosen.seconds, chosen.runs, ns2, ns3)
            if "mesh" in wanted:
                beside.network(100, 60.0, chosen.runs, ns2, ns3, to)
                beside.network(800, 3.0, chosen.runs, ns2, ns3, to)
        if "linux" in wanted:
            linux.linux(min(chosen.runs, 3), beside.built_ns3(to, "linux_ns3.cc"))
        for name, part in alone.PARTS.items():
            if name in wanted:
                part(min(chosen.runs, 3), to)


if __name__ == "__main__":
    main()
