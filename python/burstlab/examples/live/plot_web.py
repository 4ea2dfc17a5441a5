"""Draw how long files took, over one connection and over one a file, and what reduced windows.

Usage: python examples/live/plot_web.py LOSSLESS LOSSY [OUT]; results of `burstlab live` of web.toml
without and with lost bursts, traced with `ledger`; writes web.svg and web.png, and prints tables.
"""

import sys
from pathlib import Path

import numpy as np

import burstlab as bl
from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart, write
from burstlab.plot.theme import SERIES

#: Who asked, and which of the pairs of hosts they are.
CLIENTS = {
    "one connection": ("10.9.0.2", "10.9.0.1 - 10.9.0.2"),
    "a connection a file": ("10.9.0.4", "10.9.0.3 - 10.9.0.4"),
}

#: Steps of a curve.
SHARES = np.linspace(0.005, 1, 200)


def times_ms(directory: Path, client: str) -> np.ndarray:
    """Return how long each file took, as curl has printed it."""
    text = (directory / "live" / f"{client}.out").read_text(encoding="ascii")
    return np.array([1000 * float(line.split(",")[2]) for line in text.splitlines()])


def tell(title: str, directory: Path) -> CurvePanel:
    """Print the numbers of a result; return its curves."""
    result = bl.read(directory)
    flows = {flow["label"]: flow for flow in result.summary["flows"]}
    curves = []
    print(f"\n{title}\n{'':20}   median      p90      p99     most   all files")
    for (label, (client, pair)), colour in zip(CLIENTS.items(), SERIES, strict=False):
        times = np.sort(times_ms(directory, client))
        places = [round(share * len(times)) - 1 for share in (0.5, 0.9, 0.99, 1)]
        numbers = " ".join(f"{times[place]:5,.0f} ms" for place in places)
        print(f"{label:20} {numbers} {times.sum() / 1000:9.1f} s")
        flow = flows[pair]
        causes = {name: flow["reductions"][name] for name in ("one_burst", "several_bursts")}
        others = {name: flow["reductions"][name] for name in ("congestion", "reordering")}
        print(f"{'':20} lost {flow['packets_lost']} of {flow['packets_sent']} packets,", end=" ")
        print(f"time-outs {flow['timeouts']}, repairs {flow['fast_retransmits']};", end=" ")
        print(f"window reduced for {causes | others}")
        dots = [Dot(float(times[max(round(s * len(times)) - 1, 0)]), float(s)) for s in SHARES]
        curves.append(Curve(label, colour, dots, "line"))
    return CurvePanel(title, curves)


directories = [Path(word) for word in sys.argv[1:3]]
titles = ("no burst is lost", "one burst in fifty is lost")
panels = [tell(title, place) for title, place in zip(titles, directories, strict=True)]
axes = Axes(
    "time of a file (ms)",
    "share of files that took no longer",
    log_x=True,
    ticks=(140, 280, 560, 1120, 2240),
    domain=(0.0, 1.0),
    shared_y=True,
    width=380,
)
chart = curve_chart(panels, axes)
out = Path(sys.argv[3] if len(sys.argv) > 3 else "out")
for kind in (".svg", ".png"):
    print(write(chart, out / ("web" + kind)))
