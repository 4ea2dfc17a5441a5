"""Rows of dots with names: values of categories, which no axis of numbers has a place for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from burstlab.plot import theme
from burstlab.statistics import Estimate

PUBLISHED = "published"


@dataclass(frozen=True)
class NamedPoint:
    """One value of a row.

    Attributes
    ----------
    panel
        Title of the horizontal axis of its panel.
    name
        Name of its row.
    series
        Which of the values of the row it is; `PUBLISHED` is drawn as published values are.
    value
        The value.
    ci95, n
        Half of its 95 % interval and the number of replications.
    """

    panel: str
    name: str
    series: str
    value: float
    ci95: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class DotAxes:
    """The axes of rows of dots.

    Attributes
    ----------
    colours
        The colour of each series, in the order of the legend.
    width
        Of a panel, in points.
    log
        Whether values have a logarithmic axis.
    rule
        A value to mark.
    from_zero
        Whether a linear axis begins at zero; else it begins below the least value, with a mark.
    """

    colours: Mapping[str, str]
    width: int = 330
    log: bool = False
    rule: float | None = None
    from_zero: bool = True


def point(panel: str, name: str, series: str, measure: Estimate) -> NamedPoint:
    """Return a measure as a point.

    Parameters
    ----------
    panel, name, series
        As of `NamedPoint`.
    measure
        The mean with its interval.

    Returns
    -------
    NamedPoint
        The point.
    """
    return NamedPoint(panel, name, series, measure.mean, measure.ci95, measure.n)


def dot_rows(points: Sequence[NamedPoint]) -> list[dict[str, Any]]:
    """Return the rows of a figure, one a point.

    Parameters
    ----------
    points
        The points.

    Returns
    -------
    list of dict
        The attributes of each `NamedPoint`; ``ci95`` and ``n`` may be None.
    """
    return [asdict(one) for one in points]


def dot_chart(points: Sequence[NamedPoint], axes: DotAxes) -> Any:
    """Draw rows by name, in panels side by side.

    Parameters
    ----------
    points
        The values, in the order of the rows.
    axes
        The axes.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    names = list(dict.fromkeys(one.name for one in points))
    panels = list(dict.fromkeys(one.panel for one in points))
    series = [name for name in axes.colours if any(one.series == name for one in points)]
    measured = [name for name in axes.colours if name != PUBLISHED]
    shapes = {name: theme.FULL[i % len(theme.FULL)] for i, name in enumerate(measured)}
    shapes[PUBLISHED] = theme.PUBLISHED
    legend = theme.Legend(
        [theme.Sign(name, axes.colours[name], shapes[name]) for name in series], symbolSize=300
    )
    drawn: list[Any] = []
    for panel in panels:
        inside = [one for one in points if one.panel == panel]
        own = list(dict.fromkeys(one.name for one in inside))
        apart = panel == panels[0] or own != list(
            dict.fromkeys(one.name for one in points if one.panel == panels[0])
        )
        drawn.append(_panel(inside, own if apart else names, axes, legend, named=apart))
    chart = alt.hconcat(*drawn, spacing=18).resolve_scale(color="shared", shape="shared")
    return theme.configured(chart)


def _panel(
    points: Sequence[NamedPoint],
    names: Sequence[str],
    axes: DotAxes,
    legend: theme.Legend,
    *,
    named: bool,
) -> Any:
    import altair as alt

    panel = points[0].panel
    rows = [
        {
            **row,
            "sign": row["series"],
            "low": min(row["value"], max(0.0, row["value"] - (row["ci95"] or 0.0))),
            "high": row["value"] + (row["ci95"] or 0.0),
        }
        for row in dot_rows(points)
    ]
    columns = ["name", "sign", "value", "low", "high", "n"]
    axis = alt.Axis(labels=named, ticks=named, labelLimit=300, grid=True)
    base = alt.Chart(legend.inline(rows, columns)).encode(
        y=alt.Y("name:N", title=None, sort=list(names), axis=axis),
        color=legend.colour(),
        tooltip=[alt.Tooltip(f"{column}:N") for column in columns],
    )
    first, scale, numbers = _scale(rows, axes)

    def at(field: str) -> Any:
        return alt.X(f"{field}:Q", title=panel, scale=scale, axis=numbers)

    printed = base.transform_filter(alt.datum.sign == PUBLISHED)
    full = base.transform_filter(alt.datum.sign != PUBLISHED)
    step = 28
    if len(set(legend.names) - {PUBLISHED}) > 1:
        # One below the other, or an interval hides the marks of the other series.
        step = max(step, 11 * len(legend.names))
        printed, full = (one.encode(yOffset=legend.lane()) for one in (printed, full))
    layers = [
        *theme.ruled(axes.rule, scale),
        printed.mark_point(size=260, filled=True, opacity=1, strokeWidth=0).encode(
            x=at("value"), shape=legend.shape()
        ),
        full.mark_rule(strokeWidth=2, clip=True).encode(x=at("low"), x2="high:Q"),
        full.mark_point(size=390, filled=True, opacity=1, strokeWidth=0).encode(
            x=at("value"), shape=legend.shape()
        ),
        legend.layer(),
    ]
    height = step * len(names)
    if first > 0.0:
        layers.append(theme.broken(height, across="x"))
    return alt.layer(*layers).properties(width=axes.width, height=height)


def _scale(rows: Sequence[Mapping[str, Any]], axes: DotAxes) -> tuple[float, Any, Any]:
    """Return the scale of values and its axis, and where a linear one begins."""
    import altair as alt

    every = [row[end] for row in rows for end in ("value", "low", "high")]
    every += [] if axes.rule is None else [axes.rule]
    if axes.log:
        low, high = theme.rounded_log(min(one for one in every if one > 0.0), max(every))
        scale = alt.Scale(type="log", domain=[low, high], nice=False)
        return 0.0, scale, alt.Axis(format=theme.NUMBER, values=theme.ticks_log(low, high))
    low, high = theme.rounded(min(every), max(every))
    low = 0.0 if axes.from_zero else low
    scale = alt.Scale(domain=[low, high], nice=False)
    return low, scale, alt.Axis(format=theme.NUMBER, tickCount=5)
