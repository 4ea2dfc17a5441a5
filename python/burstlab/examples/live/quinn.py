"""The program of quinn.toml in a kernel, compared with the same crate as a value, for some seeds.

Usage: python examples/live/quinn.py [SEEDS] [OUT] [LOSS]; prints means with 95 % intervals, and
draws the windows of the first seed; LOSS is another share of bursts to lose. It needs a kernel
(`burstlab kernel build`), the program (`make quinn-bulk`) and an engine that knows quinn
(`make stacks`).
"""

import csv
import sys
import tempfile
from pathlib import Path
from typing import Any

import burstlab as bl
from burstlab.live import live
from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart, write
from burstlab.plot.theme import SERIES
from burstlab.statistics import mean_ci95

MEASURES = ("goodput (Mb/s)", "packets taken for lost", "probe time-outs", "packets sent")

#: Bytes of a datagram of quinn once it knows the path, less those of its own headers.
PACKET = 1452

scenario = bl.load(Path(__file__).with_name("quinn.toml"))
if len(sys.argv) > 3:
    scenario["loss"]["data"]["probability"] = float(sys.argv[3])
command = scenario["live"][0]["command"]
SIZE, CONTROL = int(command[4]), command[5]

Numbers = dict[str, float]
Window = list[tuple[float, float]]


def of_program(seed: int) -> tuple[Numbers, Window]:
    """Run the program in a kernel; return what it says, and its window in KB over time."""
    with tempfile.TemporaryDirectory() as room:
        live(scenario, seed=seed, out=room, force=True)
        text = (Path(room) / "live" / "10.9.0.1.out").read_text(encoding="ascii")
    rows = [
        {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]
    last = rows[-1]
    numbers = (8e-6 * SIZE / last["t_s"], last["lost"], last["probe_timeouts"], last["sent"])
    window = [(row["t_s"], row["cwnd"] / 1000) for row in rows]
    return dict(zip(MEASURES, numbers, strict=True)), window


def of_value(seed: int) -> tuple[Numbers, Window]:
    """Run the same crate without kernel and sockets."""
    document: dict[str, Any] = {name: scenario[name] for name in ("access", "edge", "loss", "run")}
    document["flows"] = [{"stack": "quinn", "congestion_control": CONTROL, "bytes": f"{SIZE} B"}]
    result = bl.run(document, seed=seed, trace="cwnd")
    flow = result.summary["flows"][0]
    goodput = 8e-6 * SIZE / flow["acknowledged_after_s"]
    numbers = (goodput, flow["retransmissions"], flow["timeouts"], flow["packets_sent"])
    rows = result.cwnd.to_pandas()
    window = list(zip(rows["t_ps"] / 1e12, rows["cwnd"] * PACKET / 1000, strict=True))
    return dict(zip(MEASURES, numbers, strict=True)), window


def panel(title: str, windows: dict[str, Window]) -> CurvePanel:
    """Draw the windows of one seed."""
    curves = [
        Curve(label, colour, [Dot(*place) for place in window], "line")
        for (label, window), colour in zip(windows.items(), SERIES, strict=False)
    ]
    return CurvePanel(title, curves)


SEEDS = range(1, 1 + int(sys.argv[1] if len(sys.argv) > 1 else 10))
sides = {"program in a kernel": of_program, "the crate as a value": of_value}
found = {label: [run(seed) for seed in SEEDS] for label, run in sides.items()}
print(f"{SIZE / 1e6:g} MB by {CONTROL}, seeds 1 to {SEEDS[-1]}: means and 95 % intervals")
for name in MEASURES:
    means = [mean_ci95([numbers[name] for numbers, _ in runs]) for runs in found.values()]
    one, other = ([numbers[name] for numbers, _ in runs] for runs in found.values())
    print(
        f"{name:24}",
        *(f"{label}: {mean}" for label, mean in zip(sides, means, strict=True)),
        sep="  ",
    )
    apart = ", ".join(f"{a - b:.4g}" for a, b in zip(one, other, strict=True))
    print(f"{'':24}  apart in each seed: {apart}")
drawn = panel(f"seed {SEEDS[0]}", {label: runs[0][1] for label, runs in found.items()})
axes = Axes(
    "time since the connection was begun (s)", "congestion window (KB)", width=640, columns=1
)
chart = curve_chart([drawn], axes)
out = Path(sys.argv[2] if len(sys.argv) > 2 else "out")
for kind in (".svg", ".png"):
    print(write(chart, out / ("quinn" + kind)))
