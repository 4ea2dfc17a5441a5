"""Curves and measured points with intervals, in panels that share a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from burstlab.plot import theme

Look = Literal["line", "dashed", "measured", "measured-dashed", "published"]


@dataclass(frozen=True)
class Dot:
    """A value at a place, with its 95 % interval where it has one."""

    x: float
    y: float
    ci95: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Curve:
    """What is drawn in one colour.

    Attributes
    ----------
    label
        Its name in the legend; curves of one name look alike in all panels.
    colour
        Its colour.
    dots
        The values, from left to right.
    look
        A formula is a ``"line"`` or ``"dashed"``; what was ``"measured"`` has marks and
        intervals, and ``"measured-dashed"`` leaves another in sight that does the same; what was
        ``"published"`` has hollow marks.
    """

    label: str
    colour: str
    dots: Sequence[Dot]
    look: Look = "measured"


@dataclass(frozen=True)
class CurvePanel:
    """One pair of axes."""

    title: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Axes:
    """What the panels share.

    Attributes
    ----------
    x
        Title of the one axis.
    y
        Title of the other.
    log_x
        Whether x is drawn in a logarithmic scale.
    log_y
        Whether y is.
    ticks
        Where x is labelled; by default wherever Vega-Lite likes.
    rule
        A value of y to mark.
    domain
        Ends of y, if not those of the data.
    shared_y
        Whether all panels have the same scale of y.
    columns
        Panels in a row.
    width
        Of a panel, in points.
    height
        Of a panel, in points.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[float] | None = None
    rule: float | None = None
    domain: tuple[float, float] | None = None
    shared_y: bool = False
    columns: int = 2
    width: int = 420
    height: int = 280


def curve_rows(panels: Sequence[CurvePanel]) -> list[dict[str, Any]]:
    """Answer what is drawn, one row a value."""
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
    """Draw panels in rows, with one scale and one legend."""
    import altair as alt

    if axes.shared_y and axes.domain is None:
        axes = replace(axes, domain=_ends(panels, axes))
    labels: dict[str, Curve] = {}
    for panel in panels:
        for curve in panel.curves:
            labels.setdefault(curve.label, curve)
    names = list(labels)
    colour = alt.Color(
        "curve:N",
        title=None,
        scale=alt.Scale(domain=names, range=[labels[name].colour for name in names]),
        legend=theme.strokes(columns=4, labelLimit=420),
    )
    dash = alt.StrokeDash(
        "curve:N",
        title=None,
        scale=alt.Scale(domain=names, range=[_DASHES[labels[name].look] for name in names]),
        legend=theme.strokes(columns=4, labelLimit=420),
    )
    drawn = [
        _panel(panel, axes, colour, dash, leftmost=i % axes.columns == 0)
        for i, panel in enumerate(panels)
    ]
    return theme.configured(
        alt.concat(*drawn, columns=axes.columns, spacing=22).resolve_scale(
            color="shared", strokeDash="shared"
        )
    )


def _ends(panels: Sequence[CurvePanel], axes: Axes) -> tuple[float, float]:
    every = [dot for panel in panels for curve in panel.curves for dot in curve.dots]
    values = [
        value for dot in every for value in (dot.y - (dot.ci95 or 0), dot.y + (dot.ci95 or 0))
    ]
    values += [] if axes.rule is None else [axes.rule]
    low, high = min(values), max(values)
    if axes.log_y:
        margin = (high / low) ** 0.05
        return low / margin, high * margin
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


_DASHES: dict[Look, list[int]] = {
    "line": [1, 0],
    "dashed": [6, 4],
    "measured": [1, 0],
    "measured-dashed": [7, 5],
    "published": [2, 3],
}


def _panel(panel: CurvePanel, axes: Axes, colour: Any, dash: Any, *, leftmost: bool) -> Any:
    import altair as alt

    rows = [
        {**row, "low": row["y"] - (row["ci95"] or 0.0), "high": row["y"] + (row["ci95"] or 0.0)}
        for row in curve_rows([panel])
    ]
    columns = ["curve", "look", "x", "y", "low", "high", "n"]
    base = alt.Chart(theme.inline(rows, columns))
    y_scale = _y_scale(axes)
    x = alt.X("x:Q", title=axes.x, scale=_x_scale(axes), axis=_x_axis(axes))
    y = alt.Y("y:Q", title=axes.y if leftmost else None, scale=y_scale)
    tips = [
        alt.Tooltip("curve:N"),
        alt.Tooltip("x:Q", title=axes.x),
        alt.Tooltip("y:Q", title=axes.y, format=".4g"),
        alt.Tooltip("low:Q", format=".4g"),
        alt.Tooltip("high:Q", format=".4g"),
        alt.Tooltip("n:Q"),
    ]
    common: dict[str, Any] = {"x": x, "color": colour, "tooltip": tips}
    line = base.mark_line(strokeWidth=1.8, clip=True).encode(
        y=y, strokeDash=dash, detail="curve:N", **common
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
    marks = measured.mark_point(size=34, filled=True, opacity=1, clip=True).encode(y=y, **common)
    hollow = (
        base.transform_filter(alt.datum.look == "published")
        .mark_point(size=64, filled=False, strokeWidth=1.6, shape="diamond", clip=True)
        .encode(y=y, **common)
    )
    layers = [line, bars, *caps, marks, hollow]
    if axes.rule is not None:
        rule = (
            alt.Chart(theme.inline([{"y": axes.rule}], ["y"]))
            .mark_rule(color=theme.MUTED, strokeWidth=1)
            .encode(y=alt.Y("y:Q", scale=y_scale))
        )
        layers.insert(0, rule)
    return alt.layer(*layers).properties(width=axes.width, height=axes.height, title=panel.title)


def _y_scale(axes: Axes) -> Any:
    import altair as alt

    if axes.domain:
        kind = "log" if axes.log_y else "linear"
        return alt.Scale(type=kind, domain=list(axes.domain), nice=False)
    return alt.Scale(type="log", nice=True) if axes.log_y else alt.Scale(zero=False, nice=True)


def _x_scale(axes: Axes) -> Any:
    import altair as alt

    if axes.log_x:
        return alt.Scale(type="log", nice=False, padding=10)
    return alt.Scale(zero=False, nice=False, padding=12)


def _x_axis(axes: Axes) -> Any:
    import altair as alt

    if axes.ticks is not None:
        # Digits are given, or Vega takes them from its own ticks, and 280 is labelled 300.
        return alt.Axis(values=list(axes.ticks), labelFlush=False, format=".6~g")
    return alt.Axis(labelFlush=False, format="~r", tickCount=6)
