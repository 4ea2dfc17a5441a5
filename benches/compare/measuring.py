"""Running a program as a whole process and reading off what it cost."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


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


def burstlab(scenario: Path, *settings: str) -> tuple[int, float, int]:
    """Packets delivered, CPU seconds and peak KiB of one run of Burstlab."""
    program = str(Path(sys.executable).parent / "burstlab")
    given = [word for setting in settings for word in ("--set", setting)]
    output, cpu, memory = measure([program, "run", str(scenario), *given, "--json"])
    return json.loads(output)["counters"]["packets_delivered"], cpu, memory


def ns2(script: Path, *arguments: str) -> tuple[int, float, int]:
    """Packets acknowledged, CPU seconds and peak KiB of one run of ns-2."""
    output, cpu, memory = measure(["ns", str(script), *arguments])
    return int(output.split()[-1]), cpu, memory


def print_rates(rates: dict[str, list[float]]) -> None:
    """Print packets per CPU-second of each program, and the ratio of the medians."""
    for name, values in rates.items():
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"{name:>9}: {middle / 1e6:6.3f} M packets per CPU-second", end=" ")
        print(f"(min {low / 1e6:.3f}, max {high / 1e6:.3f}, {len(values)} runs)")
    if "ns-2" in rates:
        ratio = statistics.median(rates["burstlab"]) / statistics.median(rates["ns-2"])
        print(f"    ratio: {ratio:.1f}")
