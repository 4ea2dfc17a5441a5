"""Delivered packets per CPU-second: Burstlab beside ns-2, whole processes, alternating.

First one SACK flow over a path: W = 200 segments, 100 Mb/s access, five links of 10 ms, a 10 Gb/s
core, no loss. Then 800 of them over NSFNET, W = 100. Burstlab assembles bursts; ns-2 carries the
packets one by one. Each figure is the median of several runs of the process, start-up included.
Then Burstlab alone: its cost against the simulated time and against the number of flows. Nothing is
asserted: what is printed belongs into docs/benchmarks.md with the machine it was measured on.
"""

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

import mesh
from measuring import burstlab, ns2, print_rates

HERE = Path(__file__).parent
# Flows and the simulated seconds that give each about as many packets.
GROWTH = ((100, 20.0), (800, 3.0), (3_000, 1.5), (10_000, 1.0))
MANY = 100_000


def path(seconds: int, runs: int, beside: bool) -> None:
    """One flow over the path, and its cost against the simulated time."""
    rates: dict[str, list[float]] = {"burstlab": []} | ({"ns-2": []} if beside else {})
    print(f"One flow over the path, {seconds} s:")
    for _ in range(runs):
        packets, cpu, _ = burstlab(HERE / "path.toml", f'run.duration="{seconds} s"')
        rates["burstlab"].append(packets / cpu)
        if beside:
            packets, cpu, _ = ns2(HERE / "path.tcl", str(seconds))
            rates["ns-2"].append((packets + 1) / cpu)
    print_rates(rates)
    print("\nThe same flow against the simulated time:")
    for length in (100, 1_000, 10_000):
        packets, cpu, memory = burstlab(HERE / "path.toml", f'run.duration="{length} s"')
        nanoseconds = cpu * 1e9 / packets
        print(f"{length:>7} s: {packets:>9} packets, {nanoseconds:7.1f} ns each, {memory} KiB")


def network(flows: int, seconds: float, runs: int, beside: bool, to: Path) -> None:
    """`flows` flows over NSFNET, beside ns-2."""
    scenario, script = to / "mesh.toml", to / "mesh.tcl"
    mesh.burstlab(flows, HERE / "mesh.toml", scenario)
    mesh.ns2(flows, script)
    rates: dict[str, list[float]] = {"burstlab": []} | ({"ns-2": []} if beside else {})
    counts = {}
    for _ in range(runs):
        counts["burstlab"], cpu, _ = burstlab(scenario, f'run.duration="{seconds} s"')
        rates["burstlab"].append(counts["burstlab"] / cpu)
        if beside:
            counts["ns-2"], cpu, _ = ns2(HERE / "mesh.tcl", str(script), str(seconds))
            rates["ns-2"].append(counts["ns-2"] / cpu)
    print(f"\n{flows} flows over NSFNET, {seconds} s, packets delivered: {counts}")
    print_rates(rates)


def growth(runs: int, to: Path) -> None:
    """The cost of a packet against the number of flows, and the memory of very many."""
    print(f"\nBurstlab over NSFNET against the number of flows, medians of {runs} rounds:")
    costs: dict[int, list[float]] = {flows: [] for flows, _ in GROWTH}
    peaks = dict.fromkeys(costs, 0)
    for flows, _ in GROWTH:
        mesh.burstlab(flows, HERE / "mesh.toml", to / f"{flows}.toml")
    for _ in range(runs):
        for flows, seconds in GROWTH:
            scenario = to / f"{flows}.toml"
            packets, cpu, peaks[flows] = burstlab(scenario, f'run.duration="{seconds} s"')
            _, start, _ = burstlab(scenario, 'run.duration="1 us"')
            costs[flows].append((cpu - start) * 1e9 / packets)
    for flows, values in costs.items():
        median = statistics.median(values)
        print(f"{flows:>7} flows: {median:6.1f} ns a packet without start-up,", end=" ")
        print(f"{peaks[flows] / 1024:.0f} MiB")
    mesh.burstlab(MANY, HERE / "mesh.toml", to / "many.toml")
    wide = ("network.wavelengths=160", 'run.duration="0.6 s"')
    packets, cpu, memory = burstlab(to / "many.toml", *wide)
    print(f"{MANY:>7} flows: {packets} packets, {cpu:.1f} s of CPU time, {memory / 1024:.0f} MiB")


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=int, default=2000, help="simulated seconds of the path")
    options.add_argument("--runs", type=int, default=5, help="runs of each program")
    options.add_argument("--only", choices=("path", "mesh", "growth"), help="one part alone")
    chosen = options.parse_args()
    beside = shutil.which("ns") is not None
    if not beside:
        print("ns-2 is not installed (Debian: apt install ns2): Burstlab alone is measured.")
    if chosen.only in (None, "path"):
        path(chosen.seconds, chosen.runs, beside)
    with tempfile.TemporaryDirectory() as scratch:
        if chosen.only in (None, "mesh"):
            network(100, 1.0, chosen.runs, beside, Path(scratch))
            # A run of ns-2 takes half a minute.
            network(800, 1.0, min(chosen.runs, 3), beside, Path(scratch))
        if chosen.only in (None, "growth"):
            growth(min(chosen.runs, 3), Path(scratch))


if __name__ == "__main__":
    main()
