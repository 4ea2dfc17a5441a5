"""Colours, fonts and sizes that all figures share."""

from __future__ import annotations

import hashlib
from typing import Any

INK = "#1f2430"
MUTED = "#6b7280"
GRID = "#e7e9ee"

FIRST = "#3b6fb6"
AGAIN = "#e08a1e"
LOST = "#c8102e"
TIMEOUT = "#7a3e9d"
CUT = "#2f8f6b"

#: Series of a comparison, in the order in which they are drawn.
SERIES = ("#3b6fb6", "#d1651b", "#2f8f6b", "#7a3e9d")

FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def configured(chart: Any) -> Any:
    """Give a chart the common look."""
    return (
        chart.configure(font=FONT, background="white")
        .configure_view(stroke="#c9cdd6")
        .configure_axis(
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
            labelColor=INK,
            titleColor=INK,
            titleFontWeight="normal",
            labelFontSize=11,
            titleFontSize=12,
        )
        .configure_legend(
            orient="bottom",
            titleColor=INK,
            labelColor=INK,
            labelFontSize=12,
            symbolSize=70,
        )
        .configure_title(color=INK, fontSize=14, anchor="start", subtitleColor=MUTED)
    )


def inline(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    """Embed rows in a chart as CSV text, a third of the size of JSON objects."""
    import altair as alt

    lines = [",".join(columns)]
    lines += [",".join(_cell(row.get(name)) for name in columns) for row in rows]
    parse = {
        name: "number"
        for name in columns
        if all(isinstance(row.get(name), (int, float, type(None))) for row in rows)
    }
    text = "\n".join(lines)
    # Without a name of its own Vega-Lite takes one text of CSV for another.
    name = "rows-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return alt.InlineData(name=name, values=text, format=alt.CsvDataFormat(type="csv", parse=parse))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:.9g}"
    text = str(value)
    return f'"{text}"' if "," in text else text
