"""The senders of Linux in Burstlab, beside those that ns-3 has of the same names.

One flow over the same path, ten seconds: without loss, with a drop-tail queue, and with two bursts
of 42 packets lost whole besides. What is delivered and sent again is the model's; what a CPU-second
carries is measured over a run that is long enough for it.
"""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import NOTHING, measure

HERE = Path(__file__).parent
LAWS = {"aimd": "TcpLinuxReno", "cubic": "TcpCubic", "bbr": "TcpBbr"}
PAYLOAD = 1448
SECONDS = 10
# Burstlab's CPU time is measured over so many seconds; ten are over before Python has begun.
LONG = 1000
BURST = 42
UNBOUNDED = 1_000_000_000


@dataclass(frozen=True)
class Case:
    """What the flow meets: the advertised window, the bound of the queue, where bursts are lost."""

    label: str
    window: int
    queue: int
    firsts: Sequence[int] = ()


CASES = (
    Case("lossless", 600, UNBOUNDED),
    Case("queue", 2700, 500_000),
    Case("queue and bursts", 2700, 500_000, (20_000, 40_000)),
)


@dataclass(frozen=True)
class Done:
    """A run: packets in order, those sent again, time-outs, those lost, CPU seconds."""

    packets: int
    again: int
    timeouts: int
    lost: int
    cpu_s: float


def ours(law: str, case: Case, duration: str) -> Done:
    """One run of Burstlab."""
    settings = [f'tcp.window_law="{law}"', f"tcp.window={case.window}", duration]
    if case.queue < UNBOUNDED:
        settings.append(f'access.queue_bytes="{case.queue} B"')
    if case.firsts:
        lost = [number for first in case.firsts for number in range(first, first + BURST)]
        settings.append(f'loss.data={{process="script", departures={lost}}}')
    words = [word for setting in settings for word in ("--set", setting)]
    program = str(Path(sys.executable).parent / "burstlab")
    output, cpu, _, _ = measure([program, "run", str(HERE / "linux.toml"), *words, "--json"])
    flow = json.loads(output)["flows"][0]
    return Done(
        flow["segments_delivered"],
        flow["retransmissions"],
        flow["timeouts"],
        flow["packets_lost"],
        cpu,
    )


def theirs(program: Path, law: str, case: Case, seconds: float) -> Done:
    """One run of ns-3."""
    words = (LAWS[law], seconds, case.window, case.queue, *case.firsts)
    output, cpu, _, _ = measure([str(program), *map(str, words)])
    again, timeouts, lost, packets, _ = map(int, output.split())
    return Done(packets, again, timeouts, lost, cpu)


def rate(runs: Sequence[Done], starts: Sequence[float]) -> float:
    """Packets a CPU-second without start-up, in millions."""
    start = statistics.median(starts)
    return statistics.median(run.packets / (run.cpu_s - start) for run in runs) / 1e6


def show(name: str, done: Done, carried: float) -> None:
    """Print what a program did in ten seconds, and what a CPU-second carries."""
    goodput = done.packets * PAYLOAD * 8 / SECONDS / 1e6
    print(f"{name:>15}: {goodput:6.2f} Mb/s, {done.again:5} sent again,", end=" ")
    print(f"{done.timeouts} time-outs, {done.lost:5} lost; {carried:.3f} M packets", end=" ")
    print("a CPU-second without start-up", flush=True)


def linux(runs: int, ns3: Path | None) -> None:
    """Print each law in each case."""
    long, short = f'run.duration="{LONG} s"', f'run.duration="{SECONDS} s"'
    for case in CASES:
        print(f"\nSenders of Linux, {case.label}, {SECONDS} s:")
        for law, name in LAWS.items():
            mine: list[Done] = []
            other: list[Done] = []
            starts: list[float] = []
            bare: list[float] = []
            for _ in range(runs):
                mine.append(ours(law, case, long))
                starts.append(ours(law, CASES[0], NOTHING).cpu_s)
                if ns3:
                    other.append(theirs(ns3, law, case, SECONDS))
                    bare.append(theirs(ns3, law, case, 1e-6).cpu_s)
            carried = rate(mine, starts)
            ten = ours(law, case, short)
            show(f"Burstlab {law}", ten, carried)
            whole = ten.packets / ten.cpu_s / 1e6
            print(f"{'':>17}({whole:.3f} M as a whole process of {SECONDS} s)")
            if other:
                slow = rate(other, bare)
                show(name, other[0], slow)
                print(f"{'':>17}Burstlab carries {carried / slow:.0f} times as many")
