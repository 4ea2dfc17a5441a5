"""Heat maps in a grid of panels, each cell with its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from burstlab.plot import theme


@dataclass(frozen=True)
class HeatCell:
    """One number.

    Attributes
    ----------
    column, line
        Title of the column and of the line of panels it is in.
    x, y
        Its place within the panel.
    value
        The number; None where there is none.
    ci95, n
        Half of its 95 % interval and the number of replications.
    """

    column: str
    line: str
    x: str
    y: str
    value: float | None
    ci95: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class HeatLine:
    """How the panels of a line are coloured.

    Attributes
    ----------
    title
        As in the cells.
    low, high
        Ends of the colour scale; values beyond have the colour of the end.
    """

    title: str
    low: float
    high: float


def heat_rows(cells: Sequence[HeatCell]) -> list[dict[str, Any]]:
    """Return the rows of a figure, one per cell."""
    return [asdict(cell) for cell in cells]


def heat_chart(
    cells: Sequence[HeatCell], lines: Sequence[HeatLine], *, x_title: str, size: int = 22
) -> Any:
    """Draw the panels: what differs in ``line`` one below the other, in ``column`` side by side."""
    import altair as alt

    columns = list(dict.fromkeys(cell.column for cell in cells))
    drawn = [
        _panel(
            [c for c in cells if (c.line, c.column) == (line.title, column)],
            line,
            title=column if line is lines[0] else "",
            x_title=x_title if line is lines[-1] else None,
            leftmost=column == columns[0],
            size=size,
        )
        for line in lines
        for column in columns
    ]
    chart = alt.concat(*drawn, columns=len(columns), spacing=14, align="each")
    return theme.configured(chart.resolve_scale(color="independent"))


def _panel(
    cells: Sequence[HeatCell],
    line: HeatLine,
    *,
    title: str,
    x_title: str | None,
    leftmost: bool,
    size: int,
) -> Any:
    import altair as alt

    xs = list(dict.fromkeys(cell.x for cell in cells))
    ys = list(dict.fromkeys(cell.y for cell in cells))
    rows = [
        {**row, "shown": "–" if row["value"] is None else _text(row["value"])}
        for row in heat_rows(cells)
    ]
    base = alt.Chart(theme.inline(rows, ["x", "y", "value", "ci95", "n", "shown"])).encode(
        x=alt.X(
            "x:N",
            title=x_title,
            sort=xs,
            axis=alt.Axis(labels=x_title is not None, ticks=x_title is not None, labelAngle=-60),
        ),
        y=alt.Y(
            "y:N",
            title=line.title if leftmost else None,
            sort=ys,
            axis=alt.Axis(labels=leftmost, ticks=leftmost),
        ),
        tooltip=[
            alt.Tooltip("y:N", title="detector"),
            alt.Tooltip("x:N", title=x_title or "at"),
            alt.Tooltip("value:Q", format=".4f"),
            alt.Tooltip("ci95:Q", format=".2g"),
            alt.Tooltip("n:Q"),
        ],
    )
    middle = (line.low + line.high) / 2
    squares = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "value:Q",
            scale=alt.Scale(
                domain=[line.low, middle, line.high],
                range=["#b3452c", "#f1e6c8", "#2c6e8f"],
                clamp=True,
            ),
            legend=None,
        )
    )
    dark = f"datum.value < {line.low + 0.2 * (line.high - line.low)}"
    dark += f" || datum.value > {line.low + 0.85 * (line.high - line.low)}"
    texts = base.mark_text(fontSize=9).encode(
        text="shown:N",
        color=alt.condition(
            f"isValid(datum.value) && ({dark})", alt.value("white"), alt.value(theme.INK)
        ),
    )
    return alt.layer(squares, texts).properties(
        width=size * len(xs), height=22 * len(ys), title=title
    )


def _text(value: float) -> str:
    text = f"{value:.2f}"
    return text.removeprefix("0") if value < 1 and text != "1.00" else text.removesuffix("0")
