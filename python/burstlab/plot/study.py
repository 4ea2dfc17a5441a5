"""Figures of a study: its metrics, and ratios of its schemes, against what it varies.

They are written as Vega-Lite directly: to make a chart with Altair takes a second, which a study of
many short runs has no use for. `burstlab.plot.write` takes both.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from burstlab.plot import theme
from burstlab.studies.called import called
from burstlab.studies.design import columns

if TYPE_CHECKING:
    from burstlab.studies.outcome import Study
    from burstlab.studies.plan import Plan
    from burstlab.tables import Table

#: Panels of a figure, of more combinations some are shown.
PANELS = 6

#: Values of a panel; of more points some are shown.
VALUES = 1500

#: Of more values the intervals are a band.
CLOSE = 40

#: Values of a parameter that can be told apart by colour.
COLOURS = 6

#: Points between the intervals of two series at one place.
_APART = 5.0

_COLOURS = (*theme.SERIES, "#c8102e", "#8a6d00")

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure of a study.

    Attributes
    ----------
    metric
        The name of the metric.
    kind
        ``"mean"``, or ``"ratio"`` of schemes.
    caption
        Describes the figure, and names what it leaves out.
    spec
        The Vega-Lite specification.
    """

    metric: str
    kind: str
    caption: str
    spec: dict[str, Any]


@dataclass(frozen=True)
class _Axis:
    """A parameter that varies: its values by point, as numbers or as written."""

    path: str
    name: str
    values: Sequence[Any]
    written: Sequence[str]

    @cached_property
    def numeric(self) -> bool:
        return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in self.values)

    @cached_property
    def count(self) -> int:
        return len(set(self.written))


@dataclass(frozen=True)
class _Panel:
    """Points in one pair of axes: where each stands, and what sets its colour."""

    title: str
    axis: _Axis | None
    points: Sequence[int]


@dataclass(frozen=True)
class _Layout:
    """How the points of a design are put into panels."""

    panels: Sequence[_Panel]
    by: _Axis | None
    joined: bool
    left_out: str


def figures(study: Study, metrics: Sequence[str]) -> list[Figure]:
    """Draw metrics of a study, and the ratios of its schemes.

    Parameters
    ----------
    study
        The study; points that are not finished are left out.
    metrics
        Names of metrics.

    Returns
    -------
    list of Figure
        For each metric a figure of its means, and of its ratios if there are several schemes.
    """
    plan = study.plan
    found: list[Figure] = []
    layout = _layout(plan, schemes=len(plan.names) > 1)
    means = _by_metric(study.estimates, metrics, "mean", "ci95")
    ratios: dict[str, list[Row]] = {}
    if len(plan.names) > 1:
        ratios = _by_metric(study.differences, metrics, "ratio", "ratio_ci95")
    for metric in metrics:
        if rows := means.get(metric):
            found.append(_figure(metric, "mean", layout, rows, plan.names))
        if rows := ratios.get(metric):
            found.append(_figure(metric, "ratio", layout, rows, plan.names))
    return found


def of_metrics(table: Table, metrics: Iterable[str]) -> Table:
    """Return the rows of some metrics."""
    import numpy as np

    return table.take(np.isin(table.column("metric").texts(), list(metrics)))


def _by_metric(table: Table, metrics: Sequence[str], mean: str, half: str) -> dict[str, list[Row]]:
    kept = of_metrics(table, metrics)
    over = kept.column("over").to_pylist() if "over" in kept.columns else [""] * len(kept)
    names = ("metric", "point", "scheme", mean, half, "n")
    found: dict[str, list[Row]] = {}
    parts = (kept.column(name).to_pylist() for name in names)
    for metric, point, scheme, y, wide, n, other in zip(*parts, over, strict=True):
        if y is not None and math.isfinite(y):
            series = f"{scheme} / {other}" if other else scheme
            row = {"point": point, "series": series, "y": y, "half": wide or 0.0, "n": n}
            found.setdefault(metric, []).append(row)
    return found


def _layout(plan: Plan, *, schemes: bool) -> _Layout:
    points = range(len(plan.points))
    axes = [axis for axis in _axes(plan) if axis.count > 1]
    numeric = [axis for axis in axes if axis.numeric]
    if not axes:
        return _Layout([_Panel("", None, points)], None, joined=False, left_out="")
    along = max(numeric, key=lambda axis: axis.count) if numeric else axes[0]
    others = [axis for axis in axes if axis is not along]
    by = None
    if not schemes:
        few = [axis for axis in others if axis.count <= COLOURS]
        by = few[-1] if few else None
    rest = [axis for axis in others if axis is not by]
    groups: dict[tuple[str, ...], list[int]] = {}
    for point in points:
        groups.setdefault(tuple(axis.written[point] for axis in rest), []).append(point)
    if len(groups) * 2 > len(points) and len(numeric) > 1:
        return _scattered(numeric, points, None if schemes else _first_few(axes))
    kept = _some(list(groups.items()), PANELS)
    panels = [
        _Panel(
            ", ".join(f"{called(axis.path)} = {t}" for axis, t in zip(rest, texts, strict=True)),
            along,
            _some(members, VALUES),
        )
        for texts, members in kept
    ]
    left = ""
    if len(kept) < len(groups):
        left = f"{len(kept)} of {len(groups)} combinations are drawn."
    return _Layout(panels, by, joined=along.numeric, left_out=left)


def _first_few(axes: Sequence[_Axis]) -> _Axis | None:
    few = [axis for axis in axes if not axis.numeric and axis.count <= COLOURS]
    return few[0] if few else None


def _scattered(numeric: Sequence[_Axis], points: Sequence[int], by: _Axis | None) -> _Layout:
    """Draw each parameter separately if points are not on lines."""
    shown, drawn = numeric[:PANELS], _some(points, VALUES)
    panels = [_Panel(called(axis.path), axis, drawn) for axis in shown]
    left = "The others vary along with it."
    if len(shown) < len(numeric):
        left += f" {len(shown)} of {len(numeric)} parameters are drawn."
    if len(drawn) < len(points):
        left += f" {len(drawn):,} of {len(points):,} points are drawn."
    return _Layout(panels, by, joined=False, left_out=left)


def _axes(plan: Plan) -> Iterator[_Axis]:
    paths = plan.swept
    for path, (name, values) in zip(paths, columns(plan.points).items(), strict=True):
        texts = [_text(point.get(path)) for point in plan.points]
        yield _Axis(path, name, values, texts)


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value)


def _some(given: Sequence[Any], most: int) -> list[Any]:
    """Return all, or so many spread evenly over them."""
    if len(given) <= most:
        return list(given)
    return [given[i * (len(given) - 1) // (most - 1)] for i in range(most)]


def _figure(
    metric: str, kind: str, layout: _Layout, found: Sequence[Row], schemes: Sequence[str]
) -> Figure:
    largest = max(abs(row["y"]) for row in found)
    name, scale = scaled(metric, largest)
    if kind == "ratio":
        name, scale = f"ratio of {called(metric)}", 1.0
    # A quantity that is never negative has no interval below 0; a logarithmic axis has no 0.
    least = 0.0 if all(row["y"] >= 0.0 for row in found) else -math.inf
    if on_log := kind == "ratio" and all(row["y"] > 0.0 for row in found):
        least = lowest((row["y"], row["y"] - row["half"]) for row in found)
    rows, panels = [], []
    by_point: dict[int, list[Row]] = {}
    for row in found:
        by_point.setdefault(row["point"], []).append(row)
    for number, panel in enumerate(layout.panels):
        title, unit = scaled(panel.axis.name, _largest(panel)) if panel.axis else ("", 1.0)
        axis = panel.axis
        for point in panel.points:
            for row in by_point.get(point, ()):
                series = row["series"]
                if layout.by is not None:
                    series = f"{called(layout.by.path)} = {layout.by.written[point]}"
                x: Any = series
                if axis is not None:
                    x = axis.values[point] * unit if axis.numeric else axis.written[point]
                y, half = row["y"] * scale, row["half"] * scale
                ends = {
                    "low": max(least, y - half),
                    "high": y + half,
                    "n": row["n"],
                    "point": point,
                }
                rows.append({"panel": number, "series": series, "x": x, "y": y, **ends})
        panels.append((panel, title))
    series = list(dict.fromkeys(row["series"] for row in rows))
    drawn = [
        _panel(number, panel, title, name if number % 2 == 0 else None, layout, kind, rows)
        for number, (panel, title) in enumerate(panels)
    ]
    if on_log:
        for number, panel in enumerate(drawn):
            _on_log(panel, [row for row in rows if row["panel"] == number])
    spec = _together(drawn, rows, series, _colours(series, schemes))
    return Figure(metric, kind, _caption(kind, layout), spec)


def _on_log(panel: dict[str, Any], rows: Sequence[Row]) -> None:
    """Give a panel of ratios a logarithmic axis: half and double are as far from 1."""
    if not rows:
        return
    ends = [value for row in rows for value in (row["low"], row["high"])]
    low, high = min(1.0, *ends), max(1.0, *ends)
    axis = {"values": ratio_ticks(low, high), "format": "~g"}
    for layer in panel["layer"]:
        if "y" in layer["encoding"]:
            scale = {"type": "log", "nice": False, "padding": 8}
            layer["encoding"]["y"] = {**layer["encoding"]["y"], "scale": scale, "axis": axis}


def lowest(points: Iterable[tuple[float, float]]) -> float:
    """Return where intervals end that would reach 0, on an axis that has none.

    Parameters
    ----------
    points
        Values above 0, each with the lower end of its interval.
    """
    found = list(points)
    above = [low for _, low in found if low > 0.0]
    return min([*above, *(value / 2.0 for value, low in found if low <= 0.0)])


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis, which may span less than a factor of two."""
    if high < 8.0 * low:
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9 * high) / 4.0))
        step = next(step * by for by in (1, 2, 5, 10) if (high - low) / (step * by) <= 6.0)
        first, last = math.ceil(low / step), math.floor(high / step)
        return [float(f"{n * step:.6g}") for n in range(first, last + 1) if n > 0]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [by * 10.0**power for power in powers for by in (1, 2, 5)]
    return [float(f"{one:.6g}") for one in places if low <= one <= high]


def _colours(series: Sequence[str], schemes: Sequence[str]) -> list[str]:
    """Return the colour of each series: of schemes that of the scheme, in all figures alike."""
    cycled = list(itertools.islice(itertools.cycle(_COLOURS), max(len(series), len(schemes))))
    by_scheme = dict(zip(schemes, cycled, strict=False))
    return [by_scheme.get(name.split(" / ")[0], cycled[place]) for place, name in enumerate(series)]


def _largest(panel: _Panel) -> float:
    assert panel.axis is not None
    values = panel.axis.values
    return max((abs(v) for v in values if isinstance(v, (int, float))), default=0.0)


def _caption(kind: str, layout: _Layout) -> str:
    if kind == "ratio":
        caption = (
            "Ratios of means, paired by replication, with 95 % intervals, on a logarithmic axis."
        )
    else:
        caption = "Means over replications with 95 % intervals."
    if len(layout.panels) > 1:
        caption += " Each panel has scales of its own."
    return f"{caption} {layout.left_out}".strip()


def _together(
    drawn: Sequence[dict[str, Any]],
    rows: Sequence[Row],
    series: Sequence[str],
    colours: Sequence[str],
) -> dict[str, Any]:
    text, numbers = theme.as_csv(rows, ["panel", "series", "x", "y", "low", "high", "n", "point"])
    dashes = [[1, 0] if i % 2 == 0 else [7, 4] for i in range(len(series))]
    colour: dict[str, Any] = {
        "field": "series", "type": "nominal", "title": None,
        "scale": {"domain": list(series), "range": list(colours)},
        "legend": {"columns": 4, "labelLimit": 420} if len(series) > 1 else None,
    }  # fmt: skip
    dash = {**colour, "scale": {"domain": list(series), "range": dashes}}
    for panel in drawn:
        for layer in panel["layer"]:
            if layer.pop("coloured", False):
                layer["encoding"]["color"] = colour
            if layer["mark"]["type"] == "line":
                layer["encoding"]["strokeDash"] = dash
        panel["layer"] = [
            one for layer in panel["layer"] for one in _side_by_side(layer, list(series))
        ]
    return {
        "$schema": _SCHEMA,
        "config": theme.CONFIG,
        "data": {"name": "values", "values": text, "format": {"type": "csv", "parse": numbers}},
        "concat": list(drawn),
        "columns": 2,
        "spacing": 24,
        "resolve": {"scale": {"color": "shared", "strokeDash": "shared"}},
    }


def _side_by_side(layer: dict[str, Any], series: Sequence[str]) -> list[dict[str, Any]]:
    """Return a layer for each series, a little apart, so that no interval hides another.

    Bands stay where they are, and so do categories, which have places side by side.
    """
    encoding, kind = layer["encoding"], layer["mark"]["type"]
    apart = "color" in encoding and "xOffset" not in encoding and kind != "area"
    if not apart or not 1 < len(series) <= COLOURS or encoding["x"]["type"] == "nominal":
        return [layer]
    return [
        {
            **layer,
            "transform": [{"filter": {"field": "series", "equal": name}}],
            "mark": {**layer["mark"], "xOffset": _APART * (place - (len(series) - 1) / 2)},
        }
        for place, name in enumerate(series)
    ]


def _panel(
    number: int,
    panel: _Panel,
    title: str,
    y_title: str | None,
    layout: _Layout,
    kind: str,
    rows: Sequence[Row],
) -> dict[str, Any]:
    numeric = panel.axis is not None and panel.axis.numeric
    values = [row["x"] for row in rows if row["panel"] == number] if numeric else []
    x: dict[str, Any] = {"field": "x", "type": "nominal", "title": title or None, "sort": None}
    if numeric:
        axis = {"labelFlush": False, "format": "~r", "tickCount": 6}
        scale = {"zero": False, "nice": False, "padding": 12}
        if _log(values):
            scale = {"type": "log", "nice": False, "padding": 12}
        x = {"field": "x", "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    else:
        x["axis"] = {"labelAngle": 0}
    places: dict[str, Any] = {"x": x}
    if panel.axis is not None and not numeric:
        places["xOffset"] = {"field": "series", "type": "nominal"}
    scale_y = {"zero": False, "nice": True}
    y = {"type": "quantitative", "title": y_title, "scale": scale_y}
    tips = [
        {"field": name, "type": "nominal" if name == "series" else "quantitative", **more}
        for name, more in (
            ("series", {"title": "which"}), ("x", {"title": title or "which"}),
            ("y", {"format": ".5g"}), ("low", {"format": ".5g"}), ("high", {"format": ".5g"}),
            ("n", {}), ("point", {}),
        )
    ]  # fmt: skip
    tips[1]["type"] = x["type"]
    spans = {**places, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "tooltip": tips}
    dots = {**places, "y": {**y, "field": "y"}, "tooltip": tips}
    marks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "rule", "strokeWidth": 1.5}, spans),
        ({"type": "point", "filled": True, "size": 26, "opacity": 1}, dots),
    ]
    if layout.joined:
        line = ({"type": "line", "strokeWidth": 1.5}, dots)
        # Where values are close together their intervals are a band.
        band = ({"type": "area", "opacity": 0.2}, spans)
        marks = [band, line] if len(set(values)) > CLOSE else [line, *marks]
    layers: list[dict[str, Any]] = [
        {"mark": mark, "encoding": places, "coloured": True} for mark, places in marks
    ]
    if kind == "ratio":
        one = {"y": {"datum": 1, "type": "quantitative"}}
        layers.insert(0, {"mark": {"type": "rule", "color": theme.MUTED}, "encoding": one})
    wide = 440 if len(layout.panels) > 1 else 620
    return {
        "title": {"text": panel.title, "fontSize": 12} if len(layout.panels) > 1 else "",
        "width": wide,
        "height": 250,
        "transform": [{"filter": f"datum.panel == {number}"}],
        "layer": [{**layer, "encoding": dict(layer["encoding"])} for layer in layers],
    }


def _log(values: Sequence[float]) -> bool:
    """Whether steps are more even in a logarithmic scale."""
    places = sorted(set(values))
    if len(places) < 3 or places[0] <= 0.0 or places[-1] < 8.0 * places[0]:
        return False
    steps = [b - a for a, b in itertools.pairwise(places)]
    logs = [math.log(b / a) for a, b in itertools.pairwise(places)]
    return max(logs) / min(logs) < max(steps) / min(steps)


def scaled(name: str, largest: float) -> tuple[str, float]:
    """Return how a column is called in a figure, with a handy unit, and what to multiply it by.

    Parameters
    ----------
    name
        Name of the column, which ends with its unit if it has one.
    largest
        Its largest value.
    """
    for end, units in _UNITS.items():
        if name.endswith(end):
            for least, unit, factor in units:
                if largest >= least:
                    title = called(name) if "." in name else name.removesuffix(end)
                    return f"{title} ({unit})", factor
    return called(name), 1.0


_UNITS: dict[str, Sequence[tuple[float, str, float]]] = {
    "_bps": ((2e9, "Gb/s", 1e-9), (1e5, "Mb/s", 1e-6), (1e2, "kb/s", 1e-3), (0.0, "b/s", 1.0)),
    "_bytes": ((1e7, "MB", 1e-6), (1e4, "KB", 1e-3), (0.0, "bytes", 1.0)),
    "_s": ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6), (0.0, "s", 1.0)),
}
