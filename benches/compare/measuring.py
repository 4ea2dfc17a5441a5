"""Running a program as a whole process and reading off what it cost."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Simulated time of a run that is nothing but start-up.
NOTHING = 'run.duration="1 us"'


@dataclass(frozen=True)
class Cost:
    """One run: what it carried and what it took.

    Attributes
    ----------
    packets
        Data packets delivered.
    hops
        Fibres (or links of the core) that these crossed, summed; 0 where nobody counts them.
    core_events
        Events in the optical network; 0 where there are no bursts.
    events
        Events of all kinds; 0 where nobody counts them.
    cpu_s, wall_s
        CPU and wall time of the process, s.
    memory_kib
        Its peak memory, KiB.
    """

    packets: int
    hops: int
    core_events: int
    events: int
    cpu_s: float
    wall_s: float
    memory_kib: int


def measure(command: Sequence[str]) -> tuple[str, float, float, int]:
    """Run `command`; return its output, its CPU and wall seconds and its peak memory in KiB."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with exit code {process.returncode}")
    return output, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss


def burstlab(
    scenario: Path, *settings: str, flags: Sequence[str] = (), fibres: Sequence[int] = ()
) -> Cost:
    """One run of Burstlab; `fibres` says how many each flow crosses."""
    program = str(Path(sys.executable).parent / "burstlab")
    given = [word for setting in settings for word in ("--set", setting)]
    output, cpu, wall, memory = measure([program, "run", str(scenario), *given, *flags, "--json"])
    summary = json.loads(output)
    counters = summary["counters"]
    flows = summary.get("flows", ())
    return Cost(
        counters["packets_delivered"],
        sum(a["packets_delivered"] * b for a, b in zip(flows, fibres, strict=False)),
        counters["core_events"],
        counters["events"],
        cpu,
        wall,
        memory,
    )


def counting(*command: str) -> Cost:
    """One run of a program whose output ends with the packets and the hops."""
    output, cpu, wall, memory = measure(command)
    packets, hops = map(int, output.split()[-2:])
    return Cost(packets, hops, 0, 0, cpu, wall, memory)


def alternate(
    programs: dict[str, tuple[Callable[[], Cost], Callable[[], Cost], int]], runs: int
) -> None:
    """Run programs in turns and print their rates: by name the run, its start-up, most runs."""
    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    starts: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(runs):
        for name, (run, start, most) in programs.items():
            if turn < most:
                costs[name].append(run())
                starts[name].append(start().cpu_s)
    for name, found in costs.items():
        print_rates(name, found, starts[name], costs["burstlab"], starts["burstlab"])


def print_rates(
    name: str, costs: list[Cost], starts: list[float], ours: list[Cost], our_starts: list[float]
) -> None:
    """Print what a CPU-second carries, with start-up and without, and how much more we carry."""
    start = statistics.median(starts)
    whole = [cost.packets / cost.cpu_s for cost in costs]
    free = without(costs, starts)
    print(f"{name:>9}: {costs[0].packets} packets, {statistics.median(whole) / 1e6:7.3f} M packets")
    print(f"{'':>11}a CPU-second (min {min(whole) / 1e6:.3f}, max {max(whole) / 1e6:.3f},", end=" ")
    print(f"{len(whole)} runs); start-up {start:.2f} s,", end=" ")
    print(f"without it {free / 1e6:.3f} M" if free else "most of the run: too short to tell")
    if costs[0].hops and free:
        each = costs[0].hops / costs[0].packets
        print(
            f"{'':>11}{free * each / 1e6:.2f} M packet-hops a CPU-second ({each:.2f} each),", end=""
        )
        print(f" {free * each * 2 / 1e6:.2f} M with those of the ACKs, both without start-up")
    if costs[0].core_events:
        share = costs[0].core_events / costs[0].packets
        print(f"{'':>11}{share:.4f} core events a packet, ", end="")
        print(f"{costs[0].events / costs[0].packets:.3f} events of all kinds")
    if costs is not ours:
        us = statistics.median(cost.packets / cost.cpu_s for cost in ours)
        print(
            f"{'':>11}Burstlab carries {us / statistics.median(whole):.1f} times as many", end=" "
        )
        free_us = without(ours, our_starts)
        known = f", {free_us / free:.1f} times without start-up" if free and free_us else ""
        print(f"packets a CPU-second{known}")


def without(costs: list[Cost], starts: list[float]) -> float:
    """Packets a CPU-second, start-up taken off; 0 where that is more than half of the run."""
    start = statistics.median(starts)
    if statistics.median(cost.cpu_s for cost in costs) < 2 * start:
        return 0.0
    return statistics.median(cost.packets / (cost.cpu_s - start) for cost in costs)
