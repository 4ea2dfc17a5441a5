"""What a delivered packet costs Burstlab, against what it may depend on.

CPU time of the process without that of a run of no length, medians of the rounds; the cases of a
table are run in turns.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mesh
from measuring import NOTHING, Cost, burstlab

HERE = Path(__file__).parent
PATH = HERE / "path.toml"
MANY = 100_000


@dataclass(frozen=True)
class Case:
    """A row of a table: a scenario and what is changed in it."""

    label: str
    scenario: Path
    settings: Sequence[str]


def table(title: str, cases: Sequence[Case], runs: int) -> None:
    """Print what a packet of each case costs, beside the first."""
    print(f"\n{title}, medians of {runs} rounds:")
    costs: dict[str, list[float]] = {case.label: [] for case in cases}
    last: dict[str, Cost] = {}
    for _ in range(runs):
        for case in cases:
            *same, length = case.settings
            last[case.label] = burstlab(case.scenario, *same, length)
            start = burstlab(case.scenario, *same, NOTHING).cpu_s
            spent = last[case.label].cpu_s - start
            costs[case.label].append(spent * 1e9 / last[case.label].packets)
    first = statistics.median(costs[cases[0].label])
    for label, values in costs.items():
        cost, middle = last[label], statistics.median(values)
        print(f"{label:>14}: {cost.packets:>10} packets, {middle:7.1f} ns each", end=" ")
        print(
            f"({middle / first:.2f} times the first; {min(values):.1f} to {max(values):.1f}),",
            end="",
        )
        print(f" {cost.core_events / cost.packets:.4f} core events,", end="")
        print(
            f" {cost.events / cost.packets:.2f} events, {cost.memory_kib / 1024:.0f} MiB",
            flush=True,
        )


def flows(runs: int, to: Path) -> None:
    """Against the number of flows, each with about as many packets."""
    cases = []
    for count, seconds in ((100, 60.0), (800, 10.0), (3_000, 4.0), (10_000, 3.0)):
        scenario = to / f"{count}.toml"
        mesh.burstlab(count, HERE / "mesh.toml", scenario)
        cases.append(Case(f"{count} flows", scenario, [f'run.duration="{seconds} s"']))
    table("NSFNET against the number of flows", cases, runs)


def many(runs: int, to: Path) -> None:
    """Very many flows: memory."""
    del runs
    mesh.burstlab(MANY, HERE / "mesh.toml", to / "many.toml")
    cost = burstlab(to / "many.toml", "network.wavelengths=160", 'run.duration="0.6 s"')
    print(f"\n{MANY} flows over NSFNET, 160 wavelengths, 0.6 s: {cost.packets} packets,", end=" ")
    print(f"{cost.cpu_s:.1f} s of CPU time, {cost.memory_kib / 1024:.0f} MiB")


def bursts(runs: int, to: Path) -> None:
    """Against the assembly time, which sets the packets of a burst."""
    mesh.burstlab(100, HERE / "mesh.toml", to / "100.toml")
    over_path, over_mesh = [], []
    for timer in ("0.5 ms", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"):
        setting = f'edge.timer="{timer}"'
        over_path.append(Case(f"T_b = {timer}", PATH, [setting, 'run.duration="20000 s"']))
        both = [setting, f'edge.ack.timer="{timer}"', 'run.duration="60 s"']
        over_mesh.append(Case(f"T_b = {timer}", to / "100.toml", both))
    table("The path against the assembly time", over_path, runs)
    table("100 flows over NSFNET against the assembly time, both ways", over_mesh, runs)


def hops(runs: int, to: Path) -> None:
    """Against the fibres between the ends of a line, 100 flows from one end to the other."""
    cases = []
    starts = (f'[[flows]]\nfrom = "1"\nto = "{{}}"\nstart = "{5 * i} ms"\n' for i in range(100))
    listed = "\n".join(starts)
    base = (HERE / "mesh.toml").read_text()
    for nodes in (2, 4, 8, 12):
        scenario = to / f"line{nodes}.toml"
        line = f'topology = "line"\nnodes = {nodes}'
        text = base.replace('topology = "nsfnet"', line) + "\n" + listed.format(*[nodes] * 100)
        scenario.write_text(text)
        cases.append(Case(f"{nodes - 1} fibres", scenario, [f'run.duration="{30 * nodes} s"']))
    table("100 flows over a line against the fibres", cases, runs)


def window(runs: int, to: Path) -> None:
    """Against the window of one flow."""
    del to
    cases = [
        Case(f"W = {size}", PATH, [f"tcp.window={size}", f'run.duration="{4_000_000 // size} s"'])
        for size in (10, 50, 100, 200, 500, 1000)
    ]
    table("The path against the window", cases, runs)


def time(runs: int, to: Path) -> None:
    """Against the simulated time, and the memory."""
    del to
    lengths = (10_000, 100_000, 1_000_000)
    cases = [Case(f"{length} s", PATH, [f'run.duration="{length} s"']) for length in lengths]
    table("The path against the simulated time", cases, runs)


def length(runs: int, to: Path) -> None:
    """One fast flow for 10^6 simulated seconds."""
    del runs, to
    settings = ("tcp.window=128", 'run.duration="1000000 s"')
    lossy = ('loss.data.process="bernoulli"', "loss.data.probability=0.001")
    cost = burstlab(PATH, *settings, *lossy)
    print(
        f"\n10^6 s of one flow with W = 128, 0.1 % of bursts lost: {cost.packets} packets,", end=" "
    )
    print(f"{cost.wall_s:.1f} s ({cost.cpu_s:.1f} s of CPU time), {cost.memory_kib / 1024:.0f} MiB")


def width(runs: int, to: Path) -> None:
    """Two replications side by side over one."""
    mesh.burstlab(100, HERE / "mesh.toml", to / "100.toml")
    cases = ((PATH, "300000 s"), (to / "100.toml", "1000 s"))
    print(f"\nTwo replications on two processors over one on one, wall time, {runs} rounds:")
    for scenario, simulated in cases:
        setting, ratios = f'run.duration="{simulated}"', []
        for _ in range(runs):
            one, two = (
                burstlab(scenario, setting, flags=["--replications", str(n), "--jobs", str(n)])
                for n in (1, 2)
            )
            ratios.append(two.wall_s / one.wall_s)
        low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
        print(f"{scenario.stem:>9}: {middle:.2f} (min {low:.2f}, max {high:.2f})", flush=True)


PARTS: dict[str, Callable[[int, Path], None]] = {
    "flows": flows,
    "bursts": bursts,
    "hops": hops,
    "window": window,
    "time": time,
    "length": length,
    "width": width,
    # Last: its summary makes this process large, which its children begin as.
    "many": many,
}
