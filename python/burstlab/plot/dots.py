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
    legend = theme.Legend(
        [
            theme.Sign(name, axes.colours[name], theme.PUBLISHED if name == PUBLISHED else "circle")
            for name in series
        ]
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
    base = alt.Chart(theme.inline(rows, columns)).encode(
        y=alt.Y("name:N", title=None, sort=list(names), axis=axis),
        color=legend.colour(),
        tooltip=[alt.Tooltip(f"{column}:N") for column in columns],
    )
    ends = [row["low"] for row in rows], [row["high"] for row in rows]
    ruled = [] if axes.rule is None else [axes.rule]
    first, last = theme.rounded(min([*ends[0], *ruled]), max([*ends[1], *ruled]))
    first = 0.0 if axes.from_zero else first
    scale = alt.Scale(domain=[first, last], nice=False)
    if axes.log:
        scale = alt.Scale(type="log", nice=False, padding=12)

    def at(field: str) -> Any:
        numbers = alt.Axis(format=theme.NUMBER, tickCount=5)
        return alt.X(f"{field}:Q", title=panel, scale=scale, axis=numbers)

    printed = base.transform_filter(alt.datum.sign == PUBLISHED)
    full = base.transform_filter(alt.datum.sign != PUBLISHED)
    layers = [
        printed.mark_point(size=260, filled=True, opacity=1, strokeWidth=0).encode(
            x=at("value"), shape=legend.shape()
        ),
        full.mark_rule(strokeWidth=2, clip=True).encode(x=at("low"), x2="high:Q"),
        full.mark_point(size=50, filled=True, opacity=1, strokeWidth=0).encode(
            x=at("value"), shape=legend.shape()
        ),
        legend.layer(),
    ]
    if axes.rule is not None:
        rule = alt.Chart(theme.inline([{"x": axes.rule}], ["x"])).mark_rule(
            color=theme.MUTED, strokeWidth=1
        )
        layers.insert(0, rule.encode(x=alt.X("x:Q", scale=scale)))
    height = 28 * len(names)
    if first > 0.0 and not axes.log:
        layers.append(theme.broken(height, across="x"))
    return alt.layer(*layers).properties(width=axes.width, height=height)
