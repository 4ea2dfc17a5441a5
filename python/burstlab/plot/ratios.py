"""Ratios over a loss probability, measured with intervals, together with published points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from burstlab.plot import theme
from burstlab.plot.study import lowest, ratio_ticks


@dataclass(frozen=True)
class RatioPoint:
    """One value of one series.

    Attributes
    ----------
    series
        Name of the curve.
    x
        Common logarithm of the loss probability.
    measured
        The ratio.
    low
        Lower end of its 95 % interval.
    high
        Upper end.
    published
        The value that the paper prints.
    n
        Number of replications.
    """

    series: str
    x: float
    measured: float
    low: float
    high: float
    published: float | None
    n: int


def ratio_chart(points: Sequence[RatioPoint], *, x_title: str, y_title: str) -> Any:
    """Draw measured ratios with error bars, one panel per series; published values are hollow.

    Parameters
    ----------
    points
        The values of all series.
    x_title, y_title
        Titles of the axes.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    names = list(dict.fromkeys(point.series for point in points))
    # A ratio of rates is never negative, and neither is an interval of one.
    least = lowest((p.measured, p.low) for p in points)
    points = [replace(p, low=max(least, p.low)) for p in points]
    values = [v for p in points for v in (p.low, p.high, p.published) if v is not None]
    low, high = min(1.0, *values), max(1.0, *values)
    margin = (high / low) ** 0.06
    ends = [low / margin, high * margin]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    ticks = ratio_ticks(*ends)
    panels = [
        _panel(
            [p for p in points if p.series == name],
            name,
            theme.SERIES[i + 1],
            x_title,
            y_title if i == 0 else None,
            scale,
            ticks,
        )
        for i, name in enumerate(names)
    ]
    return theme.configured(
        alt.hconcat(*panels, spacing=24).resolve_scale(color="independent", shape="independent")
    )


def _panel(
    points: Sequence[RatioPoint],
    name: str,
    colour: str,
    x_title: str,
    y_title: str | None,
    scale: Any,
    ticks: Sequence[float],
) -> Any:
    import altair as alt

    rows = [asdict(point) for point in points]
    columns = ["x", "measured", "low", "high", "published", "n"]
    base = alt.Chart(theme.inline(rows, columns))
    kind = "measured (95 % interval)"
    signs = [
        theme.Sign("published", theme.INK, "published"),
        theme.Sign(kind, colour, "measured"),
    ]
    legend = theme.Legend(signs, labelOffset=8, symbolSize=260)

    def encode(chart: Any, field: str, kind: str) -> Any:
        return chart.transform_calculate(sign=f"'{kind}'").encode(
            x=alt.X(
                "x:Q",
                title=x_title,
                scale=alt.Scale(padding=12, zero=False),
                axis=alt.Axis(values=[p.x for p in points], labelFlush=False, format=theme.NUMBER),
            ),
            y=alt.Y(
                f"{field}:Q",
                title=y_title,
                scale=scale,
                axis=alt.Axis(values=list(ticks), format=theme.NUMBER),
            ),
            color=legend.colour(),
            tooltip=[
                alt.Tooltip("x:Q", title=x_title),
                alt.Tooltip("measured:Q", format=".3f"),
                alt.Tooltip("low:Q", format=".3f"),
                alt.Tooltip("high:Q", format=".3f"),
                alt.Tooltip("published:Q"),
                alt.Tooltip("n:Q"),
            ],
        )

    one = (
        alt.Chart(theme.inline([{"y": 1.0}], ["y"]))
        .mark_rule(color=theme.MUTED, strokeWidth=1)
        .encode(y=alt.Y("y:Q", scale=scale))
    )
    printed = encode(
        base.mark_point(size=260, filled=True, opacity=1, strokeWidth=0, shape=theme.PUBLISHED),
        "published",
        "published",
    )
    line = encode(base.mark_line(strokeWidth=2), "measured", kind)
    marks = encode(base.mark_point(size=46, filled=True, opacity=1), "measured", kind)
    bars = encode(base.mark_rule(strokeWidth=2), "low", kind).encode(y2="high:Q")
    caps = [
        encode(base.mark_tick(thickness=2, size=10, orient="horizontal", opacity=1), end, kind)
        for end in ("low", "high")
    ]
    return alt.layer(one, line, bars, *caps, marks, printed, legend.layer()).properties(
        width=330, height=280, title=name
    )
