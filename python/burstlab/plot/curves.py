"""Curves and measured points with intervals, in panels that share a legend."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from burstlab.plot import theme

Look = Literal[
    "line", "dashed", "measured", "measured-dashed", "points", "published", "placed", "placed-x",
    "runs", "runs-open",
]  # fmt: skip

#: Shape and size of the marks of looks without a line between the marks.
_MARKS = {
    "runs": ("circle", 30),
    "runs-open": (theme.RING, 190),
    "points": ("circle", 50),
    "published": (theme.PUBLISHED, 260),
    "placed": (theme.PLACED, 300),
    "placed-x": (theme.UPRIGHT, 300),
}


@dataclass(frozen=True)
class Dot:
    """A value at a place, with its 95 % interval where it has one."""

    x: float
    y: float
    ci95: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Curve:
    """Values that are drawn in one colour.

    Attributes
    ----------
    label
        Its name in the legend; curves of one name look alike in all panels.
    colour
        Its colour.
    dots
        The values, from left to right.
    look
        ``"line"`` or ``"dashed"`` for a formula. ``"measured"`` has marks and intervals;
        ``"measured-dashed"`` leaves an equal curve below it visible. ``"points"`` has no line
        between its marks, and pale intervals. ``"runs"`` has a disc for each run, ``"runs-open"`` a
        ring. ``"published"`` has hollow diamonds, ``"placed"`` bars: the value is published,
        the place on the horizontal axis is ours. ``"placed-x"`` has upright bars: the place on the
        horizontal axis is published, the value is ours.
    """

    label: str
    colour: str
    dots: Sequence[Dot]
    look: Look = "measured"


@dataclass(frozen=True)
class CurvePanel:
    """One pair of axes.

    Attributes
    ----------
    title
        Its title.
    curves
        Its curves.
    y
        Title of its vertical axis, where that is not the common one; the axis then has a scale of
        its own.
    band
        Two published values of y, the area between which is shaded.
    domain
        Ends of its vertical axis, where these are not the common ones.
    x
        Title of its horizontal axis, where that is not the common one.
    """

    title: str
    curves: Sequence[Curve]
    y: str = ""
    band: tuple[float, float] | None = None
    domain: tuple[float, float] | None = None
    x: str = ""


@dataclass(frozen=True)
class Axes:
    """The axes that all panels share.

    Attributes
    ----------
    x
        Title of the horizontal axis.
    y
        Title of the vertical axis.
    log_x
        Whether x has a logarithmic scale.
    log_y
        Whether y has one.
    ticks
        Labelled values of x; by default the settings of Vega-Lite.
    none
        The value of x that stands for zero on a logarithmic axis with `ticks`; its label is "none",
        and two strokes mark that the axis is not to scale there.
    rule
        A value of y to mark.
    domain
        Ends of y, if they differ from the ends of the data.
    floor
        The least possible value of y; no interval is drawn below it. None if there is none.
    shared_y
        Whether all panels have the same scale of y.
    columns
        Panels in a row.
    width
        Of a panel, in points.
    height
        Of a panel, in points.
    legend
        The varied field whose values are the names of the curves; empty if the names say it.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[float] | None = None
    none: float | None = None
    rule: float | None = None
    domain: tuple[float, float] | None = None
    floor: float | None = 0.0
    shared_y: bool = False
    columns: int = 2
    width: int = 420
    height: int = 280
    legend: str = ""


def curve_rows(panels: Sequence[CurvePanel]) -> list[dict[str, Any]]:
    """Return the rows of a figure, one per value.

    Parameters
    ----------
    panels
        The panels.

    Returns
    -------
    list of dict
        ``panel``, ``curve``, ``look``, ``x``, ``y``, ``ci95`` and ``n``; the last two may be None.
    """
    return [
        {
            "panel": panel.title,
            "curve": curve.label,
            "look": curve.look,
            "x": dot.x,
            "y": dot.y,
            "ci95": dot.ci95,
            "n": dot.n,
        }
        for panel in panels
        for curve in panel.curves
        for dot in curve.dots
    ]


def curve_chart(panels: Sequence[CurvePanel], axes: Axes) -> Any:
    """Draw panels in rows, with one scale and one legend.

    Parameters
    ----------
    panels
        The panels, each with its curves.
    axes
        The axes that they share.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    if axes.shared_y and axes.domain is None:
        axes = replace(axes, domain=_ends(panels, axes))
    labels: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves:
            labels.setdefault(curve.label, curve)
    names = list(labels)
    signs = [theme.Sign(name, labels[name].colour, labels[name].look) for name in names]
    legend = theme.Legend(
        signs, axes.legend, columns=4, labelLimit=420, labelOffset=8, symbolSize=260
    )
    dashes = alt.Scale(domain=names, range=[theme.LINES[sign.shape][1] for sign in signs])
    dash = alt.StrokeDash("sign:N", title=None, scale=dashes, legend=None)
    drawn = [
        _panel(panel, axes, legend, dash, leftmost=i % axes.columns == 0)
        for i, panel in enumerate(panels)
    ]
    return theme.configured(
        alt.concat(*drawn, columns=axes.columns, spacing=22).resolve_scale(
            color="shared", strokeDash="shared", shape="shared"
        )
    )


def on_one_scale(panels: Sequence[CurvePanel], axes: Axes) -> list[CurvePanel]:
    """Return panels with one scale of y, such as a row of a larger figure.

    Parameters
    ----------
    panels
        The panels.
    axes
        The axes of the figure.

    Returns
    -------
    list of CurvePanel
        The panels, with the same `domain`.
    """
    return [replace(panel, domain=_ends(panels, axes)) for panel in panels]


def _ends(panels: Sequence[CurvePanel], axes: Axes) -> tuple[float, float]:
    every = [dot for panel in panels for curve in panel.curves for dot in curve.dots]
    values = [dot.y for dot in every]
    values += [value for dot in every for value in _reached(dot, axes)]
    values += [] if axes.rule is None else [axes.rule]
    values += [value for panel in panels for value in panel.band or ()]
    values = [one for one in values if math.isfinite(one) and (one > 0.0 or not axes.log_y)]
    if axes.log_y:
        return theme.rounded_log(min(values), max(values)) if values else (1.0, 10.0)
    return theme.rounded(min(values), max(values)) if values else (0.0, 1.0)


def _reached(dot: Dot, axes: Axes) -> list[float]:
    """Return the ends of an interval to which an axis extends."""
    low, high = _interval(dot.y, dot.ci95, axes)
    return [high] if axes.log_y and dot.ci95 and dot.ci95 >= dot.y else [low, high]


def _interval(y: float, half: float | None, axes: Axes) -> tuple[float, float]:
    low, high = y - (half or 0.0), y + (half or 0.0)
    if axes.log_y and low <= 0.0:
        # This axis has no zero: the interval continues below the drawing.
        return y / 1e3, high
    return low if axes.floor is None or y < axes.floor else max(low, axes.floor), high


def _panel(
    panel: CurvePanel, axes: Axes, legend: theme.Legend, dash: Any, *, leftmost: bool
) -> Any:
    import altair as alt

    axes = replace(axes, x=panel.x or axes.x)
    if panel.domain is not None:
        axes = replace(axes, domain=panel.domain)
    elif panel.y or axes.domain is None:
        axes = replace(axes, domain=_ends([panel], axes))
    rows: list[dict[str, Any]] = []
    for row in curve_rows([panel]):
        low, high = _interval(row["y"], row["ci95"], axes)
        rows.append({**row, "sign": row["curve"], "low": low, "high": high})
    columns = ["sign", "look", "x", "y", "low", "high", "n"]
    colour = legend.colour()
    base = alt.Chart(legend.inline(rows, columns))
    y_scale = _y_scale(axes)
    x = alt.X("x:Q", title=axes.x, scale=_x_scale(axes), axis=_x_axis(axes))
    title = theme.broken_title(panel.y or (axes.y if leftmost else ""), axes.height) or None
    y = alt.Y("y:Q", title=title, scale=y_scale, axis=_y_axis(axes))
    tips = [
        alt.Tooltip("sign:N", title="curve"),
        alt.Tooltip("x:Q", title=axes.x),
        alt.Tooltip("y:Q", title=panel.y or axes.y, format=".4g"),
        alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
        alt.Tooltip("n:Q"),
    ]
    common: dict[str, Any] = {"x": x, "color": colour, "tooltip": tips}
    joined = base.transform_filter(f"indexof({json.dumps(list(_MARKS))}, datum.look) < 0")
    line = joined.mark_line(strokeWidth=1.8, clip=True).encode(
        y=y, strokeDash=dash, detail="sign:N", **common
    )
    measured = base.transform_filter("indexof(datum.look, 'measured') == 0")
    bars = measured.mark_rule(strokeWidth=1.6, clip=True).encode(
        y=alt.Y("low:Q", scale=y_scale), y2="high:Q", **common
    )
    caps = [
        measured.mark_tick(thickness=1.6, size=8, orient="horizontal", opacity=1, clip=True).encode(
            y=alt.Y(f"{end}:Q", scale=y_scale), **common
        )
        for end in ("low", "high")
    ]
    points = base.transform_filter(alt.datum.look == "points")
    pale = points.mark_rule(strokeWidth=1, opacity=0.35, clip=True).encode(
        y=alt.Y("low:Q", scale=y_scale), y2="high:Q", **common
    )
    marks = measured.mark_point(size=34, filled=True, opacity=1, clip=True).encode(y=y, **common)
    looks = {row["look"] for row in rows}
    apart = [
        base.transform_filter(alt.datum.look == look)
        .mark_point(size=size, filled=True, opacity=1, strokeWidth=0, shape=shape)
        .encode(y=y, **common)
        for look, (shape, size) in _MARKS.items()
        if look in looks
    ]
    below = [*_below(panel, axes, y_scale), *([pale] if "points" in looks else [])]
    layers = [*below, line, bars, *caps, marks, *apart, legend.layer()]
    if not axes.log_y and axes.domain is not None and axes.domain[0] > 0.0:
        layers.append(theme.broken(axes.height))
    if axes.none is not None and axes.ticks:
        between = math.sqrt(axes.none * axes.ticks[0])
        layers.append(theme.broken(axes.height, across="x", at=(between, _x_scale(axes))))
    return alt.layer(*layers).properties(width=axes.width, height=axes.height, title=panel.title)


def _below(panel: CurvePanel, axes: Axes, y_scale: Any) -> list[Any]:
    """Return the layers that curves lie on: a band and a rule, where there are any."""
    import altair as alt

    layers: list[Any] = []
    if panel.band is not None:
        low, high = panel.band
        layers.append(
            alt.Chart(theme.inline([{"low": low, "high": high}], ["low", "high"]))
            .mark_rect(color=theme.PENDING, opacity=0.25, clip=True)
            .encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
        )
    if axes.rule is not None:
        layers.append(
            alt.Chart(theme.inline([{"y": axes.rule}], ["y"]))
            .mark_rule(color=theme.MUTED, strokeWidth=1)
            .encode(y=alt.Y("y:Q", scale=y_scale))
        )
    return layers


def _y_scale(axes: Axes) -> Any:
    import altair as alt

    assert axes.domain is not None
    kind = "log" if axes.log_y else "linear"
    return alt.Scale(type=kind, domain=list(axes.domain), nice=False)


def _y_axis(axes: Axes) -> Any:
    import altair as alt

    if not axes.log_y or axes.domain is None:
        return alt.Undefined
    return alt.Axis(values=theme.ticks_log(*axes.domain), format=theme.NUMBER)


def _x_scale(axes: Axes) -> Any:
    import altair as alt

    if axes.log_x:
        return alt.Scale(type="log", nice=False, padding=10)
    return alt.Scale(zero=False, nice=False, padding=12)


def _x_axis(axes: Axes) -> Any:
    import altair as alt

    if axes.ticks is not None and axes.none is not None:
        text = f"format(datum.value, '{theme.NUMBER}')"
        named = f"datum.value < {1.01 * axes.none} ? 'none' : {text}"
        return alt.Axis(values=[axes.none, *axes.ticks], labelFlush=False, labelExpr=named)
    if axes.ticks is not None:
        # Digits are given, or Vega takes them from its own ticks, and 280 is labelled 300.
        return alt.Axis(values=list(axes.ticks), labelFlush=False, format=theme.NUMBER)
    return alt.Axis(labelFlush=False, format=theme.NUMBER, tickCount=6)
