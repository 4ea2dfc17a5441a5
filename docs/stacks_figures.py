"""Draw the figures of the pages on the third-party stacks, from what their programs write.

    python docs/stacks_figures.py cubic DIRECTORY
    python docs/stacks_figures.py questions FILE

``cubic`` takes ``cubic-windows.csv``, which ``cargo run --release -p burstlab-laws --example cubic
DIRECTORY`` writes in ``stacks``; ``questions`` what ``examples/questions.py`` prints.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from burstlab.plot import theme

IMAGES = Path(__file__).parent / "images"

#: The laws of a figure and how they look.
LAWS = {
    "RFC 9438": theme.INK,
    "ours, no HyStart": theme.FIRST,
    "quinn": theme.AGAIN,
    "noq": theme.CUT,
    "quiche, no HyStart++": theme.LOST,
}


def main(arguments: Sequence[str]) -> int:
    """Draw what is asked for."""
    kind, where = arguments
    draw = {"cubic": cubic, "questions": questions}[kind]
    for name, chart in draw(Path(where)).items():
        file = IMAGES / f"{name}.png"
        chart.save(str(file), ppi=110)
        print(f"written to {file}")
    return 0


def cubic(directory: Path) -> dict[str, Any]:
    """Windows over time in one stream of each family but bursts."""
    import altair as alt

    with (directory / "cubic-windows.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            {**row, "time_s": float(row["time_s"]), "window": float(row["window"])}
            for row in csv.DictReader(file)
            if row["law"] in LAWS
        ]
    titles = {
        "single": "single losses",
        "limited": "the application limits it at times",
        "outages": "outages",
        "spurious": "half of the losses were none",
    }
    colour = alt.Color(
        "law:N",
        title=None,
        scale=alt.Scale(domain=list(LAWS), range=list(LAWS.values())),
        legend=alt.Legend(orient="bottom", symbolStrokeWidth=3),
    )
    height = alt.Scale(type="log", nice=False, zero=False)
    charts = [
        alt.Chart(alt.Data(values=[row for row in rows if row["family"] == family]))
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=alt.X("time_s:Q", title="time (s)"),
            y=alt.Y("window:Q", title="window (packets)", scale=height),
            color=colour,
            order=alt.Order("time_s:Q"),
        )
        .properties(width=390, height=210, title=title)
        for family, title in titles.items()
    ]
    grid = alt.vconcat(alt.hconcat(*charts[:2]), alt.hconcat(*charts[2:]))
    return {"stacks-cubic": theme.configured(grid)}


#: The questions: the axis, and the series in their order.
QUESTIONS = {
    "jitter": "assembly time (ms)",
    "spells": "outages, mean length (ms); 0: each burst by itself",
    "satellite": "",
}


def questions(file: Path) -> dict[str, Any]:
    """Median time of a transfer over seeds, by sender, with the least and the most."""
    import altair as alt

    points: dict[tuple[str, str, float, str], list[float]] = defaultdict(list)
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            key = (row["question"], row["series"], float(row["x"]), row["sender"])
            points[key].append(float(row["time_s"] or "inf"))
    charts: dict[str, Any] = {}
    for question, axis in QUESTIONS.items():
        rows = [
            {
                "series": series,
                "x": x,
                "sender": sender,
                "time": median(times),
                "least": min(times),
                "most": max(time for time in times if isfinite(time)),
            }
            for (asked, series, x, sender), times in sorted(points.items())
            # A point whose transfers do not end in most runs has no median.
            if asked == question and isfinite(median(times))
        ]
        if rows:
            charts[f"stacks-{question}"] = _times(alt, rows, axis) if axis else _cases(alt, rows)
    return charts


def _times(alt: Any, rows: list[dict[str, Any]], axis: str) -> Any:
    colours = [theme.FIRST, theme.AGAIN, theme.CUT, theme.LOST, theme.INK]
    senders = sorted({row["sender"] for row in rows})
    scale = alt.Scale(domain=senders, range=colours[: len(senders)])
    panels = []
    for series in sorted({row["series"] for row in rows}):
        base = alt.Chart(alt.Data(values=[row for row in rows if row["series"] == series]))
        base = base.encode(
            x=alt.X("x:Q", title=axis, axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("sender:N", title=None, scale=scale),
        )
        scaled = alt.Scale(type="log", nice=False, padding=8)
        height = alt.Y("time:Q", title="time of the transfer (s)", scale=scaled)
        line = base.mark_line(point=True).encode(y=height)
        bars = base.mark_rule(opacity=0.5).encode(y=alt.Y("least:Q", scale=scaled), y2="most:Q")
        wide = 400 if len({row["series"] for row in rows}) > 1 else 520
        panels.append((bars + line).properties(width=wide, height=260, title=series))
    return theme.configured(alt.hconcat(*panels).resolve_scale(y="shared"))


def _cases(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """Draw cases side by side, in the order of their place."""
    colours = [theme.FIRST, theme.AGAIN, theme.CUT, theme.LOST, theme.INK]
    senders = sorted({row["sender"] for row in rows})
    order = [series for _, series in sorted({(row["x"], row["series"]) for row in rows})]
    height = alt.Scale(type="log")
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("series:N", title=None, sort=order, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("sender:N", sort=senders),
        color=alt.Color("sender:N", title=None, scale=alt.Scale(domain=senders, range=colours)),
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("time:Q", title="time of the transfer (s)", scale=height)
    )
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("least:Q", scale=height), y2="most:Q")
    return theme.configured((bars + points).properties(width=520, height=260))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
