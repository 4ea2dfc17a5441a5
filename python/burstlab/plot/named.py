"""Values with intervals, one below the other under their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burstlab.plot import theme


@dataclass(frozen=True)
class Named:
    """A value under a name.

    Attributes
    ----------
    name
        The name.
    value
        The value.
    ci95
        Half of its 95 % interval, if it has one.
    n
        Number of replications.
    least
        The least value that it can have; no interval goes below it.
    """

    name: str
    value: float
    ci95: float | None = None
    n: int | None = None
    least: float = -math.inf


def named_rows(values: Sequence[Named]) -> list[dict[str, Any]]:
    """Return the rows of a figure, one per value.

    Parameters
    ----------
    values
        The values.

    Returns
    -------
    list of dict
        ``name``, ``value``, the interval from ``low`` to ``high``, and ``n``, which may be None.
    """
    return [
        {
            "name": one.name,
            "value": one.value,
            "low": max(one.least, one.value - (one.ci95 or 0.0)),
            "high": one.value + (one.ci95 or 0.0),
            "n": one.n,
        }
        for one in values
    ]


def named_chart(
    values: Sequence[Named], title: str, *, rows: str = "", rule: float | None = None
) -> Any:
    """Draw values, the first on top.

    Parameters
    ----------
    values
        The values.
    title
        Title of their axis.
    rows
        The varied field whose values are the names; empty if the names say it.
    rule
        A value to mark, such as a ratio of 1.

    Returns
    -------
    altair.Chart
        The figure.
    """
    return theme.configured(named_panel(values, title, rows=rows, rule=rule))


def named_panel(
    values: Sequence[Named],
    title: str,
    *,
    each: bool = False,
    named: bool = True,
    width: int = 460,
    rows: str = "",
    rule: float | None = None,
) -> Any:
    """Draw the same as a panel of a larger figure.

    Parameters
    ----------
    values, title, rows, rule
        As of `named_chart`.
    each
        Whether each value has a colour of its own.
    named
        Whether the names are written.
    width
        In points.
    """
    import altair as alt

    found = named_rows(values)
    base = alt.Chart(theme.inline(found, ["name", "value", "low", "high", "n"])).encode(
        y=alt.Y(
            "name:N",
            title=rows or None,
            sort=[one.name for one in values],
            axis=alt.Axis(labelLimit=400, labels=named, grid=True, ticks=False, labelPadding=8),
        ),
        tooltip=[
            alt.Tooltip("name:N"),
            *(alt.Tooltip(f"{field}:Q", format=".4g") for field in ("value", "low", "high")),
            alt.Tooltip("n:Q"),
        ],
    )
    ruled = [] if rule is None else [rule]
    ends = [row[end] for row in found for end in ("low", "high") if math.isfinite(row[end])]
    first, last = theme.rounded(min([*ends, *ruled]), max([*ends, *ruled]))
    scale = alt.Scale(domain=[first, last], nice=False)
    axis = alt.Axis(format=theme.NUMBER, tickCount=5)

    def at(field: str) -> Any:
        return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)

    if each:
        names = [one.name for one in values]
        colours = [theme.MANY[i % len(theme.MANY)] for i in range(len(names))]
        scale_of = alt.Scale(domain=names, range=colours)
        base = base.encode(color=alt.Color("name:N", scale=scale_of, legend=None))
    else:
        base = base.encode(color=alt.value(theme.SERIES[0]))
    whiskers = base.mark_rule(strokeWidth=1.8).encode(x=at("low"), x2="high:Q")
    caps = [
        base.mark_tick(thickness=1.8, size=9, orient="vertical", opacity=1).encode(x=at(end))
        for end in ("low", "high")
    ]
    marks = base.mark_point(size=60, filled=True, opacity=1).encode(x=at("value"))
    layers = [*theme.ruled(rule, scale), whiskers, *caps, marks]
    height = 26 * len(values)
    if first > 0.0:
        layers.append(theme.broken(height, across="x"))
    return alt.layer(*layers).properties(width=width, height=height)
