"""Table 1, assembly times that follow the congestion window, and readings of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.fairness import (
    AGGREGATED,
    INDEX,
    tell_fairness,
)
from burstlab.papers.ramantas2007_burstifiers.observe import (
    Corner,
    Seen,
    note_steadiness,
    observe,
)
from burstlab.papers.ramantas2007_burstifiers.shown import (
    GROUPS,
    Corners,
    active,
    extreme,
    less,
    loss,
    throughput,
    throughput_up_to,
)
from burstlab.plot import DotAxes, NamedPoint, dot_chart, dot_rows, point, theme
from burstlab.plot.dots import PUBLISHED
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate

_STATISTICS = {"average (Mb/s)": np.mean, "variance": np.var}
_BEST = "B = 32, C = 100"
_TIMERS = ("1 ms", "5 ms", "10 ms")


def table1(context: Context) -> Findings:
    """Measure average and variance for assembly times that follow the window."""
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    largest = 1e3 * context.plan["largest_kb"]
    for statistic, function in _STATISTICS.items():
        for group, shown in GROUPS.items():
            for name, (corner,) in corners.items():
                label = f"{shown}, {statistic}: {name}"
                context.tell(findings, label, corner.mean(throughput(group, function)))
                measures[f"{label}, files up to 2 MB"] = corner.mean(
                    throughput_up_to(group, function, largest)
                )
            _compare(findings, corners, f"{shown}, {statistic}", throughput(group, function))
            small = throughput_up_to(group, function, largest)
            _compare(findings, corners, f"{shown}, {statistic}, files up to 2 MB", small)
    for name, (corner,) in corners.items():
        context.tell(findings, f"burst loss ratio: {name}", corner.mean(loss))
    measures["averages within 10 % of the print"] = sum(
        abs(row.measured / row.published - 1.0) <= 0.1
        for row in findings.rows
        if row.published and row.label.startswith("all pairs, average")
    )
    measures["burst loss ratio: B = 32, C = 100 over 1 ms"] = corners[_BEST][0].over(
        corners["1 ms"][0], loss
    )
    tell_fairness(context, corners, findings)
    _draw_table(context, corners, findings)
    note_steadiness(corners, findings)
    return findings


def _compare(findings: Findings, corners: Corners, what: str, of: Callable[[Seen], float]) -> None:
    """Compare rows replication by replication."""
    measures = findings.measures
    table = {name: row[0] for name, row in corners.items()}
    for name, over in (
        (_BEST, "1 ms"),
        ("B = 100, C = 200", "1 ms"),
        ("C = 200", "1 ms"),
        ("C = 200", "10 ms"),
        ("5 ms", "1 ms"),
    ):
        measures[f"{what}: {name} over {over}"] = table[name].over(table[over], of)
    for name in (_BEST, "10 ms"):
        gaps = [less(table[other], table[name], of) for other in table if other != name]
        measures[f"{what}: least of all others less {name}"] = extreme(gaps, largest=False)
        measures[f"{what}: largest of all others less {name}"] = extreme(gaps)
    best = max(_TIMERS, key=lambda name: table[name].mean(of).mean)
    measures[f"{what}: B = 32, C = 100 over the best single timer"] = table[_BEST].over(
        table[best], of
    )


def _draw_table(context: Context, corners: Corners, findings: Findings) -> None:
    points: list[NamedPoint] = []
    for statistic, panel in (
        ("average (Mb/s)", "average throughput of a flow (Mb/s)"),
        ("variance", "variance over flows ((Mb/s)²)"),
    ):
        for name in corners:
            printed = context.published(f"all pairs, {statistic}: {name}")
            if printed is not None:
                points.append(NamedPoint(panel, name, PUBLISHED, printed))
            for shown in GROUPS.values():
                points.append(_point(findings, panel, name, shown, statistic))
    panel = f"{INDEX} (published: of average, variance)"
    each = "flows of each pair, mean"
    for name in corners:
        of_print = findings.measures.get(f"print, {INDEX}: {name}")
        if isinstance(of_print, float):
            points.append(NamedPoint(panel, name, PUBLISHED, of_print))
        for shown in GROUPS.values():
            points.append(_point(findings, panel, name, shown, INDEX))
        points.append(replace(_point(findings, panel, name, AGGREGATED, INDEX), series=each))
    series = [PUBLISHED, *GROUPS.values(), each]
    colours = dict(zip(series, [theme.INK, *theme.SERIES[1:3], theme.SERIES[0]], strict=True))
    findings.charts[context.target] = dot_chart(points, DotAxes(colours, width=270))
    findings.data[context.target] = dot_rows(points)


def _point(findings: Findings, panel: str, name: str, shown: str, what: str) -> NamedPoint:
    measure = findings.measures[f"{shown}, {what}: {name}"]
    assert isinstance(measure, Estimate)
    return point(panel, name, shown, measure)


def readings(context: Context) -> Findings:
    """Measure under other readings of what the paper does not state."""
    corners = observe(context)
    findings = Findings()
    for name, (corner,) in corners.items():
        _measure_reading(context, findings, name, corner)
    _compare_readings(findings, corners)
    _draw_readings(context, findings, list(corners))
    note_steadiness(corners, findings)
    return findings


#: Measures by which readings are compared: name in the report, and function.
_MEASURED: dict[str, Callable[[Seen], float]] = {
    "burst loss ratio": loss,
    "active sources of all edge nodes": lambda one: float(one.demand["active"]),
    "active sources of an edge node": active,
    "completion time (s)": lambda one: float(one.flows["all"].seconds.mean()),
    "average (Mb/s)": throughput("all", np.mean),
    "average until the last ACK (Mb/s)": lambda one: float(
        one.flows["all"].acknowledged_throughput.mean()
    ),
    "variance": throughput("all", np.var),
    "flows in 80 % of the bursts": lambda one: one.quantile("flows-per-burst", 0.8),
    "bursts of 80 % of the flows": lambda one: _quantile(one.flows["all"].bursts),
    "lost bursts of 80 % of the flows": lambda one: _quantile(one.flows["all"].lost),
    "mean file (KB)": lambda one: float(one.begun.mean()) / 1e3,
    "most segments of a flow in a burst": lambda one: one.quantile(
        "segments-per-flow-and-burst", 1.0
    ),
}
_DRAWN = (
    "burst loss ratio",
    "active sources of all edge nodes",
    "average (Mb/s)",
    "completion time (s)",
)


def _quantile(values: np.ndarray) -> float:
    return float(np.quantile(values, 0.8, method="inverted_cdf"))


def _measure_reading(context: Context, findings: Findings, name: str, corner: Corner) -> None:
    for what, of in _MEASURED.items():
        context.tell(findings, f"{what}: {name}", corner.mean(of))


def _compare_readings(findings: Findings, corners: Corners) -> None:
    measures = findings.measures
    average, variance = throughput("all", np.mean), throughput("all", np.var)
    table = {name: row[0] for name, row in corners.items()}
    for own, taken, what in (
        ("queues for ACKs, 5 ms", "as taken, 5 ms", "queues for ACKs over as taken"),
        ("C = 2", "as taken, 10 ms", "C = 2 over 10 ms"),
        ("C = 200", "as taken, 10 ms", "C = 200 over 10 ms"),
    ):
        measures[f"average (Mb/s): {what}"] = table[own].over(table[taken], average)
    for reading in ("as taken", "75/s, ports that wait", "50/s, ports that wait", "files to 5 MB"):
        first = table[f"{reading}, 1 ms"]
        timers = [table[f"{reading}, {timer}"] for timer in _TIMERS]
        best = max(timers, key=lambda corner: corner.mean(average).mean)
        scheme = table[f"{reading}, {_BEST}"]
        measures[f"average (Mb/s): {reading}, {_BEST} over the best timer"] = scheme.over(
            best, average
        )
        measures[f"variance: {reading}, {_BEST} over 1 ms"] = scheme.over(first, variance)
        measures[f"completion time (s): {reading}, 10 ms less 1 ms"] = less(
            timers[2], first, _MEASURED["completion time (s)"]
        )
    gains = [
        measure
        for name, measure in measures.items()
        if name.endswith("over the best timer") and isinstance(measure, Estimate)
    ]
    measures["average (Mb/s): largest of B = 32, C = 100 over the best timer"] = extreme(gains)


def _draw_readings(context: Context, findings: Findings, names: Sequence[str]) -> None:
    points: list[NamedPoint] = []
    for panel in _DRAWN:
        for name in names:
            label = f"{panel}: {name}"
            measure = findings.measures[label]
            assert isinstance(measure, Estimate)
            points.append(point(panel, name, "measured", measure))
            printed = context.published(label)
            if printed is not None:
                points.append(NamedPoint(panel, name, PUBLISHED, printed))
    colours = {PUBLISHED: theme.INK, "measured": theme.FIRST}
    findings.charts[context.target] = dot_chart(points, DotAxes(colours, width=250))
    findings.data[context.target] = dot_rows(points)


TARGETS = {"table1": table1, "readings": readings}
