"""Draw the figures of docs/papers/today.md from what full runs of its two grids wrote.

    python docs/today_figures.py [DIRECTORY]

`burstlab reproduce today/stacks today/ends --full --out DIRECTORY` writes stacks.csv, gains.csv,
ends.csv and ends-gains.csv into DIRECTORY/today; they are kept in docs/papers/today, whence they
are taken where no directory is named. Where both targets have a point the one of ``ends`` is
drawn, which is the more precise.
"""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from burstlab.papers.today2026_stacks.pictures import AXES, COLOURS, GAIN_AXES
from burstlab.plot import Curve, CurvePanel
from burstlab.plot.curves import Dot, curve_chart
from burstlab.plot.saving import specification, write
from burstlab.reproduce.paper import papers

KEPT = Path(__file__).parent / "papers" / "today"
IMAGES = Path(__file__).parent / "images"

#: Each figure with its axes, its title and its two files, the more precise one last.
FIGURES = {
    "today-stacks": (AXES, "Goodput of senders of 2004 and of today", ("stacks", "ends")),
    "today-gains": (
        GAIN_AXES,
        "What a perfect detector of false time-outs gains",
        ("gains", "ends-gains"),
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Keep the numbers of a directory, if one is named, and draw what is kept."""
    (recorded,) = (paper.recorded for paper in papers() if paper.key == "today")
    version = recorded["burstlab"]
    if arguments:
        KEPT.mkdir(exist_ok=True)
        for _, _, names in FIGURES.values():
            for name in names:
                shutil.copy(Path(arguments[0]) / "today" / f"{name}.csv", KEPT)
    for figure, (axes, title, names) in FIGURES.items():
        spec = specification(curve_chart(_panels(names), axes))
        source = f"burstlab {version} reproduce today/stacks today/ends --full, seed 2026"
        spec["title"] = {
            "text": title, "subtitle": [source], "anchor": "start",
            "fontSize": 15, "subtitleFontSize": 11, "offset": 14,
        }  # fmt: skip
        print(write(spec, IMAGES / f"{figure}.png"))
    return 0


def _panels(names: Sequence[str]) -> list[CurvePanel]:
    """Put the points of both targets together, panel by panel and curve by curve."""
    found: dict[str, dict[tuple[str, str], dict[float, Dot]]] = {}
    for name in names:
        with (KEPT / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                x = float(row["x"])
                curve = found.setdefault(row["panel"], {}).setdefault(
                    (row["curve"], row["look"]), {}
                )
                curve[x] = Dot(x, float(row["y"]), float(row["ci95"]), int(row["n"]))
    return [
        CurvePanel(
            panel,
            [
                Curve(name, COLOURS[name.removesuffix(", oracle")], _sorted(dots), look)
                for (name, look), dots in curves.items()
            ],
        )
        for panel, curves in found.items()
    ]


def _sorted(dots: dict[float, Dot]) -> list[Dot]:
    return [dots[x] for x in sorted(dots)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
