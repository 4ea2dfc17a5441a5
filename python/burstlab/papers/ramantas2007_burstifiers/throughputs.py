"""Figure 5: throughputs and completion times of connections against the assembly time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import Seen, note_steadiness, observe
from burstlab.papers.ramantas2007_burstifiers.shown import (
    GROUPS,
    Corners,
    less,
    throughput,
    throughput_up_to,
    titled,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings

_STATISTICS: dict[str, dict[str, Callable[[np.ndarray], Any]]] = {
    "fig5a": {"average (Mb/s)": np.mean, "variance": np.var},
    "fig5b": {"largest (Mb/s)": np.max, "smallest (Mb/s)": np.min},
}
#: The vertical axis of each panel.
_UNITS = {
    "average (Mb/s)": "mean throughput of flows (Mb/s)",
    "variance": "variance over flows ((Mb/s)²)",
    "completion time (s)": "mean completion time of flows (s)",
    "largest (Mb/s)": "throughput of the fastest flow (Mb/s)",
    "smallest (Mb/s)": "throughput of the slowest flow (Mb/s)",
}
_COLOURS = dict(zip(GROUPS, theme.SERIES[1:3], strict=True))


def fig5(context: Context) -> Findings:
    """Measure throughputs of connections against the assembly time."""
    corners = observe(context)
    findings = Findings()
    largest = 1e3 * context.plan["largest_kb"]
    panels: list[CurvePanel] = []
    for statistic, function in _STATISTICS[context.target].items():
        what = f"throughput, {statistic}"
        for group, shown in GROUPS.items():
            for name, (corner,) in corners.items():
                label = f"{shown}, {what}: {name}"
                context.tell(findings, label, corner.mean(throughput(group, function)))
                findings.measures[f"{label}, files up to 2 MB"] = corner.mean(
                    throughput_up_to(group, function, largest)
                )
        panels.append(_panel(context, findings, statistic, what))
    if context.target == "fig5a":
        _times(context, corners, findings)
        panels.append(_panel(context, findings, "completion time (s)", "completion time (s)"))
    else:
        _above_60(context, corners, findings)
    ticks = [float(one["timer_ms"]) for one in context.plan["series"]]
    axes = Axes("assembly time (ms)", "", log_x=True, ticks=ticks)
    findings.draw(context.target, panels, axes)
    note_steadiness(corners, findings)
    return findings


def _panel(context: Context, findings: Findings, title: str, what: str) -> CurvePanel:
    """Draw measured and printed values of one statistic over the assembly times."""
    rows = {row.label: row for row in findings.rows}
    series: Sequence[Mapping[str, Any]] = context.plan["series"]
    curves: list[Curve] = []
    marks: list[Dot] = []
    for group, shown in GROUPS.items():
        start = f"{shown}, {what}: "
        found = [(float(one["timer_ms"]), rows[start + one["label"]]) for one in series]
        dots = [Dot(x, row.measured, row.ci95, row.n) for x, row in found]
        curves.append(Curve(shown, _COLOURS[group], dots))
        marks = [Dot(x, row.published) for x, row in found if row.published is not None]
    curves += [Curve("published", theme.INK, marks, "published")] if marks else []
    return CurvePanel(titled(title), curves, y=_UNITS[title])


def _times(context: Context, corners: Corners, findings: Findings) -> None:
    """Measure completion times, which the text mentions for Figure 5(a)."""
    largest = 1e3 * context.plan["largest_kb"]
    measures = findings.measures
    for group, shown in GROUPS.items():
        what = f"{shown}, completion time (s)"
        for name, (corner,) in corners.items():
            context.tell(findings, f"{what}: {name}", corner.mean(_mean_time(group)))
            small = corner.mean(_mean_time(group, largest))
            measures[f"{what}, files up to 2 MB: {name}"] = small
            measures[f"{what}, median: {name}"] = corner.mean(_median_time(group))
        (first, *_, last) = (row[0] for row in corners.values())
        ratio = last.over(first, _mean_time(group))
        context.tell(findings, f"{what}, 100 ms over 1 ms", ratio)
        measures[f"{what}, 100 ms over 1 ms, median"] = last.over(first, _median_time(group))
    ten, one = corners["10 ms"][0], corners["1 ms"][0]
    measures["all pairs, completion time (s), 10 ms less 1 ms"] = less(ten, one, _mean_time("all"))
    measures["all pairs, completion time (s), 10 ms less 1 ms, files up to 2 MB"] = less(
        ten, one, _mean_time("all", largest)
    )
    measures["all pairs, completion time (s), 10 ms less 1 ms, median"] = less(
        ten, one, _median_time("all")
    )
    measures["all pairs, throughput, average (Mb/s), 1 ms less 5 ms"] = less(
        one, corners["5 ms"][0], throughput("all", np.mean)
    )
    measures["all pairs, completion time (s), 100 ms less 10 ms"] = less(
        corners["100 ms"][0], ten, _mean_time("all")
    )


def _mean_time(group: str, largest: float = float("inf")) -> Callable[[Seen], float]:
    def of(one: Seen) -> float:
        flows = one.flows[group]
        return float(flows.seconds[flows.size <= largest].mean())

    return of


def _median_time(group: str) -> Callable[[Seen], float]:
    return lambda one: float(np.median(one.flows[group].seconds))


def _above_60(context: Context, corners: Corners, findings: Findings) -> None:
    """Measure how many flows come to the throughput that the text names."""
    limit = context.plan["fast_mbps"]
    for name, (corner,) in corners.items():
        findings.measures[f"all pairs, share of flows above 60 Mb/s: {name}"] = corner.mean(
            lambda one: float(np.mean(one.flows["all"].throughput > limit))
        )


TARGETS = {"fig5a": fig5, "fig5b": fig5}
