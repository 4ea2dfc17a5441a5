"""What a window law and a detector in Python cost beside the built-in ones.

    .venv/bin/python benches/control.py [--runs N]

One flow over a path that loses bursts; the median of N runs in processor time of this process. The
scenarios of each pair are the same packet by packet, which is checked.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import burstlab as bl

LAWS = Path(__file__).parents[1] / "python" / "tests" / "laws" / "transcribed.py"
BLE = Path(__file__).parents[1] / "examples" / "laws" / "ble.py"


def named(file: Path, name: str, **options: Any) -> dict[str, Any]:
    """Name a class as a scenario does."""
    return {"file": str(file), "class": name, "options": options}


def by_law(name: str, **options: Any) -> dict[str, Any]:
    """Make a class the window law."""
    return {"window_law": "python", "window_law_class": named(LAWS, name, **options)}


CASES = {
    "AIMD": ({}, by_law("Reno")),
    "AIMD, only its losses in Python": ({}, by_law("Losses")),
    "AIMD, slow start too": ({}, by_law("SlowStarter")),
    "FAST": ({"window_law": "fast"}, by_law("Fast", alpha=20, gamma=0.5)),
    "BLE": (
        {"detector": "ble"},
        {"detector": "python", "detector_class": named(BLE, "Ble")},
    ),
}


def scenario(tcp: dict[str, Any]) -> dict[str, Any]:
    """Return a path with other parameters of TCP."""
    return {
        "access": {"rate": "100 Mb/s"},
        "network": {"link_delay": "3 ms"},
        "edge": {"assembly": "timer", "timer": "3 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.005}},
        "tcp": {"window": 100, "delayed_ack": False, **tcp},
        "run": {"duration": "500 s"},
    }


def measured(tcp: dict[str, Any], runs: int) -> tuple[float, bl.Result]:
    """Run it several times: answer the median of the processor time, in s, and a result."""
    result = bl.run(scenario(tcp), jobs=1)
    found: list[float] = []
    for _ in range(runs):
        started = time.process_time()
        bl.run(scenario(tcp), jobs=1)
        found.append(time.process_time() - started)
    return statistics.median(found), result


def main() -> None:
    """Print a row for each law."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=7)
    runs = options.parse_args().runs
    print("law | built in, ns a packet | in Python, ns a packet | packets")
    for name, (native, python) in CASES.items():
        (one, ours), (other, theirs) = measured(native, runs), measured(python, runs)
        assert ours.fingerprint == theirs.fingerprint, name
        packets = ours.counters["packets_delivered"]
        costs = (f"{1e9 * seconds / packets:.0f}" for seconds in (one, other))
        print(" | ".join((name, *costs, f"{packets:,}")))


if __name__ == "__main__":
    main()
