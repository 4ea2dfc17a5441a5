"""Table 1, assembly times that follow the congestion window, and readings of our own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.figures import (
    GROUPS,
    Corners,
    active,
    add,
    loss,
    note_gaps,
    throughput,
    throughput_up_to,
)
from burstlab.papers.ramantas2007_burstifiers.named import (
    PUBLISHED,
    NamedPoint,
    named_chart,
    named_rows,
    point,
)
from burstlab.papers.ramantas2007_burstifiers.observe import note_steadiness, observe
from burstlab.plot import theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate

_FLOWS = "flows in 80 % of the bursts"


def table1(context: Context) -> Findings:
    """Measure average and variance for assembly times that follow the window."""
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    largest = 1e3 * context.plan["largest_kb"]
    statistics = {"average (Mb/s)": np.mean, "variance": np.var}
    for statistic, function in statistics.items():
        for group, shown in GROUPS.items():
            for name, (corner,) in corners.items():
                label = f"{name}, {shown}: {statistic}"
                add(context, findings, label, corner.mean(throughput(group, function)))
                measures[f"{label}, files up to 2 MB"] = corner.mean(
                    throughput_up_to(group, function, largest)
                )
    for shown in GROUPS.values():
        _ranks(findings, shown, list(corners))
    best, fixed = corners["B = 32, C = 100"][0], corners["1 ms"][0]
    for group, shown in GROUPS.items():
        measures[f"{shown}: B = 32, C = 100 over 1 ms"] = best.over(
            fixed, throughput(group, np.mean)
        )
        measures[f"{shown}: B = 100, C = 200 over 1 ms"] = corners["B = 100, C = 200"][0].over(
            fixed, throughput(group, np.mean)
        )
        measures[f"{shown}: variance of B = 32, C = 100 over 1 ms"] = best.over(
            fixed, throughput(group, np.var)
        )
    for name, (corner,) in corners.items():
        add(context, findings, f"{name}: burst loss ratio", corner.mean(loss))
    for shown in GROUPS.values():
        note_gaps(findings, f"averages, {shown}", shown, "average")
        note_gaps(findings, f"variances, {shown}", shown, "variance")
    two = [row for row in findings.rows if row.label.startswith(("5 ms, all", "10 ms, all"))]
    measures["5 and 10 ms, all pairs: largest relative gap of the averages from the print"] = max(
        abs(row.measured / row.published - 1.0)
        for row in two
        if row.published and "average" in row.label
    )
    measures["all pairs: burst loss ratio of B = 32, C = 100 over 1 ms"] = best.over(fixed, loss)
    _draw_table(context, corners, findings)
    note_steadiness(corners, findings)
    return findings


def _ranks(findings: Findings, shown: str, names: Sequence[str]) -> None:
    """Count how many rows are above, or below, one."""

    def value(name: str, statistic: str) -> float:
        measure = findings.measures[f"{name}, {shown}: {statistic}"]
        return measure.mean if isinstance(measure, Estimate) else float(measure)

    for statistic in ("average (Mb/s)", "variance"):
        for name in names:
            others = [value(other, statistic) for other in names if other != name]
            mine = value(name, statistic)
            findings.measures[f"{shown}: rows with a higher {statistic} than {name}"] = sum(
                other > mine for other in others
            )
            findings.measures[f"{shown}: rows with a lower {statistic} than {name}"] = sum(
                other < mine for other in others
            )


def _draw_table(context: Context, corners: Corners, findings: Findings) -> None:
    points: list[NamedPoint] = []
    for statistic, panel in (
        ("average (Mb/s)", "average throughput of a flow (Mb/s)"),
        ("variance", "variance ((Mb/s)²)"),
    ):
        for name in corners:
            printed = context.published(f"{name}, all pairs: {statistic}")
            if printed is not None:
                points.append(NamedPoint(panel, name, PUBLISHED, printed))
            for shown in GROUPS.values():
                measure = findings.measures[f"{name}, {shown}: {statistic}"]
                assert isinstance(measure, Estimate)
                points.append(point(panel, name, shown, measure))
    colours = dict(
        zip([PUBLISHED, *GROUPS.values()], [theme.MUTED, *theme.SERIES[1:3]], strict=True)
    )
    findings.charts[context.target] = named_chart(points, colours)
    findings.data[context.target] = named_rows(points)


def readings(context: Context) -> Findings:
    """Measure under other readings of what the paper does not state."""
    corners = observe(context)
    findings = Findings()
    share = context.plan["share"]
    for name, (corner,) in corners.items():
        add(context, findings, f"{name}: burst loss ratio", corner.mean(loss))
        whole = corner.mean(lambda one: float(one.demand["active"]))
        add(context, findings, f"{name}: active sources of all edge nodes", whole)
        add(context, findings, f"{name}: active sources of an edge node", corner.mean(active))
        time = corner.mean(lambda one: float(one.demand["departed"]["completion_time_s"]))
        add(context, findings, f"{name}: completion time (s)", time)
        average = corner.mean(throughput("all", np.mean))
        add(context, findings, f"{name}: throughput, average (Mb/s)", average)
        for of, what in (
            ("flows-per-burst", _FLOWS),
            ("bursts-per-flow", "bursts of 80 % of the flows"),
            ("lost-bursts-per-flow", "lost bursts of 80 % of the flows"),
        ):
            quantile = corner.mean(lambda one, of=of: one.quantile(of, share))
            add(context, findings, f"{name}: {what}", quantile)
        sizes = corner.mean(lambda one: float(one.flows["all"].size.mean()) / 1e3)
        add(context, findings, f"{name}: mean file (KB)", sizes)
        cap = corner.mean(lambda one: one.quantile("segments-per-flow-and-burst", 1.0))
        add(context, findings, f"{name}: most segments of a flow in a burst", cap)
    for what in ("active sources of all edge nodes", "flows in 80 %", "bursts of 80 %"):
        note_gaps(findings, f"75/s, {what}", "75/s", f": {what}")
    (own,), (taken,) = corners["queues for ACKs, 5 ms"], corners["as taken, 5 ms"]
    ratio = own.over(taken, throughput("all", np.mean))
    findings.measures["queues for ACKs over as taken: average throughput"] = ratio
    points: list[NamedPoint] = []
    for panel in ("burst loss ratio", "active sources of all edge nodes", _FLOWS):
        for name in corners:
            label = f"{name}: {panel}"
            measure = findings.measures[label]
            assert isinstance(measure, Estimate)
            points.append(point(panel, name, "measured", measure))
            printed = context.published(label)
            if printed is not None:
                points.append(NamedPoint(panel, name, PUBLISHED, printed))
    colours = {PUBLISHED: theme.MUTED, "measured": theme.FIRST}
    findings.charts[context.target] = named_chart(points, colours, width=280)
    findings.data[context.target] = named_rows(points)
    note_steadiness(corners, findings)
    return findings


TARGETS = {"table1": table1, "readings": readings}
