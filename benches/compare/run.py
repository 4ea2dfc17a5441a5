"""Delivered packets per CPU-second: Burstlab beside ns-2, whole processes, alternating.

One SACK flow, W = 200 segments, 100 Mb/s access, five links of 10 ms, a 10 Gb/s core, no loss.
Burstlab assembles bursts (T_b = 1 ms); ns-2 carries the packets one by one, which is less work.
Each figure is the median of several runs of the process, start-up included. Nothing is asserted:
the ratio is printed, and belongs into docs/benchmarks.md with the machine it was measured on.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SCENARIO = HERE / "path.toml"


def measure(command: Sequence[str]) -> tuple[str, float, int]:
    """Run `command`; answer its output, its CPU seconds and its peak memory in KiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with exit code {process.returncode}")
    return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def burstlab(seconds: int) -> tuple[int, float, int]:
    """Packets delivered, CPU seconds and peak KiB of one run of Burstlab."""
    program = str(Path(sys.executable).parent / "burstlab")
    duration = f'run.duration="{seconds} s"'
    output, cpu, memory = measure([program, "run", str(SCENARIO), "--set", duration, "--json"])
    return json.loads(output)["counters"]["packets_delivered"], cpu, memory


def ns2(seconds: int) -> tuple[int, float, int]:
    """Packets acknowledged, CPU seconds and peak KiB of one run of ns-2."""
    output, cpu, memory = measure(["ns", str(HERE / "path.tcl"), str(seconds)])
    return int(output.split()[-1]) + 1, cpu, memory


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=int, default=2000, help="simulated seconds")
    options.add_argument("--runs", type=int, default=5, help="runs of each program")
    chosen = options.parse_args()
    programs = {"burstlab": burstlab}
    if shutil.which("ns"):
        programs["ns-2"] = ns2
    else:
        print("ns-2 is not installed (Debian: apt install ns2): Burstlab alone is measured.")
    rates: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(chosen.runs):
        for name, run in programs.items():
            packets, cpu, _ = run(chosen.seconds)
            rates[name].append(packets / cpu)
    for name, values in rates.items():
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"{name:>9}: {middle / 1e6:6.2f} M packets per CPU-second", end=" ")
        print(f"(min {low / 1e6:.2f}, max {high / 1e6:.2f}, {len(values)} runs)")
    if "ns-2" in rates:
        ratio = statistics.median(rates["burstlab"]) / statistics.median(rates["ns-2"])
        print(f"    ratio: {ratio:.1f}")
    print("\nBurstlab's cost and memory against the simulated time:")
    for seconds in (100, 1_000, 10_000):
        packets, cpu, memory = burstlab(seconds)
        nanoseconds = cpu * 1e9 / packets
        print(f"{seconds:>7} s: {packets:>9} packets, {nanoseconds:7.1f} ns each, {memory} KiB")


if __name__ == "__main__":
    main()
