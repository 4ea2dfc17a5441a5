"""Figures 1 to 5: what bursts and flows look like under three timers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import (
    Corner,
    Flows,
    Seen,
    note_steadiness,
    observe,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart, curve_rows, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate, mean_ci95

COLOURS: dict[str, str] = dict(zip(("1 ms", "5 ms", "10 ms", "100 ms"), theme.SERIES, strict=True))

#: Which connections: how the report calls them, and their name in what was seen.
GROUPS = {"pair": "one pair", "all": "all pairs"}

Corners = Mapping[str, Sequence[Corner]]


def draw(context: Context, findings: Findings, panels: Sequence[CurvePanel], axes: Axes) -> None:
    """Put a figure and its numbers into the findings."""
    findings.charts[context.target] = curve_chart(panels, axes)
    findings.data[context.target] = curve_rows(panels)


def add(context: Context, findings: Findings, label: str, measure: Estimate | float) -> None:
    """Put a measure into the findings, and into a row of the table."""
    findings.measures[label] = measure
    findings.rows.append(context.row(label, measure))


def note_gaps(findings: Findings, name: str, *having: str) -> None:
    """Note by how much of itself a published value is missed at most, among labels with parts."""
    meant = [
        row for row in findings.rows if row.published and all(part in row.label for part in having)
    ]
    gaps = [abs(row.measured / (row.published or 1.0) - 1.0) for row in meant]
    findings.measures[f"largest relative gap from the print: {name}"] = max(gaps)


def _dots(corners: Sequence[Corner], of: Callable[[Seen], float]) -> list[Dot]:
    means = [corner.mean(of) for corner in corners]
    return [
        Dot(corner.x, mean.mean, mean.ci95, mean.n)
        for corner, mean in zip(corners, means, strict=True)
    ]


def _at(corners: Sequence[Corner], label: str) -> Corner:
    return next(corner for corner in corners if corner.point == label)


def active(one: Seen) -> float:
    """Answer the active sources of an edge node."""
    return float(one.demand["active"]) / _sites(one)


def _sites(one: Seen) -> int:
    return len({route["from"] for route in one.network["routes"]})


def _little(one: Seen) -> float:
    """Answer active sources over arrival rate times time in the network (Little's law)."""
    rate = float(one.demand["departed"]["connections"]) / one.measured_s
    return float(one.demand["active"]) / (rate * float(one.demand["departed"]["completion_time_s"]))


def loss(one: Seen) -> float:
    """Answer the burst loss ratio of the network."""
    return float(one.network["burst_loss_ratio"])


def number(measure: Estimate | float) -> float:
    """Answer a measure without its interval."""
    return measure.mean if isinstance(measure, Estimate) else float(measure)


def fig1a(context: Context) -> Findings:
    """Count active sources over the mean file size."""
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    plan = context.plan
    for name, row in corners.items():
        for corner in row:
            label = f"{name}, {corner.point}: active sources of an edge node"
            add(context, findings, label, corner.mean(active))
        main = _at(row, plan["main"])
        label = f"{name}, {plan['main']}: active sources of all edge nodes"
        add(context, findings, label, main.mean(lambda one: float(one.demand["active"])))
        time = main.mean(lambda one: float(one.demand["departed"]["completion_time_s"]))
        add(context, findings, f"{name}, {plan['main']}: completion time (s)", time)
        measures[f"{name}, {plan['main']}: active sources over λT"] = main.mean(_little)
    one, five, ten = corners.values()
    measures["largest gap of 5 ms from 10 ms"] = max(
        abs(a.over(b, active).mean - 1.0) for a, b in zip(five, ten, strict=True)
    )
    above = [i for i, corner in enumerate(one) if corner.x > plan["above"]]
    larger = {i: max(five[i].mean(active).mean, ten[i].mean(active).mean) for i in above}
    gaps = {i: one[i].mean(active).mean - larger[i] for i in above}
    measures["above 600 KB: largest gap of 5 ms from 10 ms"] = max(
        abs(five[i].over(ten[i], active).mean - 1.0) for i in above
    )
    measures["700 KB: longest mean completion time (s)"] = max(
        number(measures[f"{name}, {plan['main']}: completion time (s)"]) for name in corners
    )
    measures["above 600 KB: least excess of 1 ms, an edge node"] = min(gaps.values())
    measures["above 600 KB: least excess of 1 ms, share"] = min(gaps[i] / larger[i] for i in above)
    measures["above 600 KB: least excess of 1 ms, network"] = min(
        gap * _sites(one[i].seen[0]) for i, gap in gaps.items()
    )
    note_gaps(findings, "active sources of an edge node", "of an edge node")
    note_gaps(findings, "active sources of all edge nodes", "of all edge nodes")
    measures["700 KB: largest gap of active sources from λT"] = max(
        abs(_at(row, plan["main"]).mean(_little).mean - 1.0) for row in corners.values()
    )
    curves = [Curve(name, COLOURS[name], _dots(row, active)) for name, row in corners.items()]
    panels = [CurvePanel("", curves)]
    axes = Axes("mean file size (MB)", "active sources of an edge node", ticks=[c.x for c in one])
    draw(context, findings, panels, axes)
    note_steadiness(corners, findings)
    return findings


def fig1b(context: Context) -> Findings:
    """Measure the burst loss ratio over the mean file size."""
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    for name, row in corners.items():
        for corner in row:
            add(context, findings, f"{name}, {corner.point}: burst loss ratio", corner.mean(loss))
        losses = [corner.mean(loss).mean for corner in row]
        measures[f"{name}: steps of the size that lower the loss"] = sum(
            a >= b for a, b in itertools.pairwise(losses)
        )
    main = [_at(row, context.plan["main"]).mean(loss).mean for row in corners.values()]
    measures["700 KB: least burst loss ratio"] = min(main)
    measures["700 KB: largest burst loss ratio"] = max(main)
    measures["steps of the size that lower the loss"] = sum(
        int(number(measures[f"{name}: steps of the size that lower the loss"])) for name in corners
    )
    curves = [Curve(name, COLOURS[name], _dots(row, loss)) for name, row in corners.items()]
    panels = [CurvePanel("", curves)]
    ticks = [corner.x for corner in next(iter(corners.values()))]
    draw(context, findings, panels, Axes("mean file size (MB)", "burst loss ratio", ticks=ticks))
    note_steadiness(corners, findings)
    return findings


def _distribution(values: np.ndarray, counts: np.ndarray) -> list[Dot]:
    """Answer the steps of a distribution function, as a line."""
    below = np.cumsum(counts) / np.sum(counts)
    dots: list[Dot] = []
    level = 0.0
    for value, share in zip(values, below, strict=True):
        dots += [Dot(float(value), level), Dot(float(value), float(share))]
        level = float(share)
    return dots


def _cdf_curve(name: str, values: np.ndarray, counts: np.ndarray) -> Curve:
    return Curve(name, COLOURS[name], _distribution(values, counts), "line")


def _printed(context: Context, name: str, label: str, share: float) -> list[Curve]:
    """Answer where the paper has a distribution function come to a share."""
    printed = context.published(label)
    if printed is None:
        return []
    return [Curve(f"{name}, published", COLOURS[name], [Dot(printed, share)], "published")]


def titled(name: str) -> str:
    """Answer a name with a capital letter in front."""
    return name[:1].upper() + name[1:]


def fig2a(context: Context) -> Findings:
    """Find how many segments of one flow a burst carries."""
    corners = observe(context)
    findings = Findings()
    of, rare = "segments-per-flow-and-burst", context.plan["rare"]
    flows_curves, bursts_curves = [], []
    for name, (corner,) in corners.items():
        cap = corner.mean(lambda one: one.quantile(of, 1.0 - rare))
        add(context, findings, f"{name}: most segments of a flow in a burst", cap)
        values, counts = corner.histogram(of)
        at_cap = (values >= round(cap.mean) - 1) & (values <= round(cap.mean))
        share = float(counts[at_cap].sum() / counts.sum())
        add(context, findings, f"{name}: share at the cap or one below", share)
        flows_curves.append(_cdf_curve(name, values, counts))
        bursts_curves.append(_cdf_curve(name, *corner.histogram("segments-per-burst")))
    findings.measures["least share at the cap or one below"] = min(
        number(findings.measures[f"{name}: share at the cap or one below"]) for name in corners
    )
    panels = [
        CurvePanel("Segments of one flow in a burst", flows_curves),
        CurvePanel("Segments in a burst, of all flows", bursts_curves),
    ]
    axes = Axes("segments", "share of what has at most so many", log_x=True, domain=(0.0, 1.0))
    draw(context, findings, panels, axes)
    return findings


def fig2b(context: Context) -> Findings:
    """Count the flows in a burst."""
    corners = observe(context)
    findings = Findings()
    share, of = context.plan["share"], "flows-per-burst"
    curves = []
    for name, (corner,) in corners.items():
        label = f"{name}: 80 % of the bursts carry at most so many flows"
        add(context, findings, label, corner.mean(lambda one: one.quantile(of, share)))
        add(context, findings, f"{name}: flows in a burst, mean", corner.mean(_flows_per_burst))
        values, counts = corner.histogram(of)
        curves += [_cdf_curve(name, values, counts), *_printed(context, name, label, share)]
        within = values <= (context.published(label) or 0.0)
        findings.measures[f"{name}: share of bursts within the printed number"] = float(
            counts[within].sum() / counts.sum()
        )
    note_gaps(findings, "flows in 80 % of the bursts", "80 %")
    axes = Axes("flows in a burst", "share of bursts with at most so many", domain=(0.0, 1.0))
    draw(context, findings, [CurvePanel("", curves)], axes)
    return findings


def _flows_per_burst(one: Seen) -> float:
    return float(one.network["flows_per_burst"])


def _ecdf(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, counts = np.unique(values, return_counts=True)
    return distinct, counts.astype(np.float64)


def fig3(context: Context) -> Findings:
    """Count the bursts, or the lost bursts, that a connection needs."""
    lost = context.target == "fig3b"
    corners = observe(context)
    findings = Findings()
    share = context.plan["share"]
    what = "lost bursts" if lost else "bursts"

    def counted(flows: Flows) -> np.ndarray:
        return flows.lost if lost else flows.bursts

    panels: list[CurvePanel] = []
    for group, shown in GROUPS.items():
        curves = []
        for name, (corner,) in corners.items():
            several = corner.flows(group)
            label = f"{name}, {shown}: 80 % of the flows have at most so many {what}"
            quantile = float(np.quantile(counted(several), share, method="inverted_cdf"))
            add(context, findings, label, quantile)
            mean = float(counted(several).mean())
            findings.measures[f"{name}, {shown}: mean {what} of a flow"] = mean
            ratio = float(several.lost.sum() / several.bursts.sum())
            findings.measures[f"{name}, {shown}: share of the flows' bursts lost"] = ratio
            printed = context.published(label) or 0.0
            within = float(np.mean(counted(several) <= printed))
            findings.measures[f"{name}, {shown}: share of flows within the printed number"] = within
            curve = _cdf_curve(name, *_ecdf(counted(several)))
            curves += [curve, *_printed(context, name, label, share)]
        note_gaps(findings, f"{what} of 80 % of the flows, {shown}", shown, "80 %")
        panels.append(CurvePanel(titled(shown), curves))
    measures = findings.measures
    measures["largest share of the flows' bursts lost"] = max(
        number(measures[f"{name}, {shown}: share of the flows' bursts lost"])
        for name, shown in itertools.product(corners, GROUPS.values())
    )
    within = [
        number(measures[f"{name}, all pairs: share of flows within the printed number"])
        for name in corners
    ]
    measures["largest gap of the share of flows within the printed number from 80 %"] = max(
        abs(one - share) for one in within
    )
    axes = Axes(f"{what} of a flow", "share of flows with at most so many", domain=(0.0, 1.0))
    if not lost:
        axes = Axes(axes.x, axes.y, log_x=True, domain=(0.0, 1.0))
    draw(context, findings, panels, axes)
    return findings


def fig4(context: Context) -> Findings:
    """Count bursts, or lost bursts, of a connection against its size."""
    lost = context.target == "fig4b"
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    plan = context.plan
    edges = np.asarray(plan["bins_kb"], dtype=np.float64) * 1e3
    low, high = (1e3 * end for end in plan["largest_kb"])
    what = "lost bursts" if lost else "bursts"
    panels: list[CurvePanel] = []
    for group, shown in GROUPS.items():
        curves = []
        for name, (corner,) in corners.items():
            flows = corner.flows(group)
            count = flows.lost if lost else flows.bursts
            dots = _binned(flows.size, count, edges, plan["least"])
            curves.append(Curve(name, COLOURS[name], dots))
            largest = (flows.size >= low) & (flows.size <= high)
            label = f"{name}, {shown}: {what} of a file of 2 MB"
            if largest.any():
                add(context, findings, label, mean_ci95(count[largest]))
            measures[f"{name}, {shown}: r² of mean {what} and size"] = _linearity(dots)
        panels.append(CurvePanel(titled(shown), curves))
        measures[f"{shown}: least r² of mean {what} and size"] = min(
            number(measures[f"{name}, {shown}: r² of mean {what} and size"]) for name in corners
        )
        _ratios_at_2mb(findings, shown, what, corners, group, (low, high))
    axes = Axes("file size (MB)", f"{what} of a flow, mean")
    draw(context, findings, panels, axes)
    return findings


def _ratios_at_2mb(
    findings: Findings,
    shown: str,
    what: str,
    corners: Corners,
    group: str,
    ends: tuple[float, float],
) -> None:
    def mean(name: str, lost: bool) -> float:
        (corner,) = corners[name]
        flows = corner.flows(group)
        largest = (flows.size >= ends[0]) & (flows.size <= ends[1])
        if not largest.any():
            return math.nan
        return float((flows.lost if lost else flows.bursts)[largest].mean())

    for lost in (False, True) if what == "lost bursts" else (False,):
        counted = "lost bursts" if lost else "bursts"
        others = [mean(other, lost) for other in ("5 ms", "10 ms")]
        means = {"5 ms": others[0], "10 ms": others[1], "the mean of both": sum(others) / 2}
        for other, below in means.items():
            ratio = mean("1 ms", lost) / below if below else float("inf")
            findings.measures[f"2 MB, {shown}: {counted} with 1 ms over {other}"] = ratio
        excess = mean("1 ms", lost) - others[0]
        findings.measures[f"2 MB, {shown}: {counted} with 1 ms less those with 5 ms"] = excess


def _binned(size: np.ndarray, count: np.ndarray, edges: np.ndarray, least: int) -> list[Dot]:
    dots: list[Dot] = []
    for low, high in itertools.pairwise(edges):
        inside = (size >= low) & (size < high)
        if inside.sum() >= least:
            mean = mean_ci95(count[inside])
            dots.append(Dot(float(size[inside].mean()) / 1e6, mean.mean, mean.ci95, mean.n))
    return dots


def _linearity(dots: Sequence[Dot]) -> float:
    x, y = np.asarray([dot.x for dot in dots]), np.asarray([dot.y for dot in dots])
    return float(np.corrcoef(x, y)[0, 1] ** 2) if len(dots) > 2 and y.any() else 0.0


def throughput(group: str, statistic: Callable[[np.ndarray], Any]) -> Callable[[Seen], float]:
    """Answer a statistic of the throughputs of connections, Mb/s."""
    return lambda one: float(statistic(one.flows[group].throughput))


def throughput_up_to(
    group: str, statistic: Callable[[np.ndarray], Any], largest_bytes: float
) -> Callable[[Seen], float]:
    """Answer a statistic of the connections with files up to a size."""

    def of(one: Seen) -> float:
        flows = one.flows[group]
        return float(statistic(flows.where(flows.size <= largest_bytes).throughput))

    return of


def fig5(context: Context) -> Findings:
    """Measure throughputs of connections against the assembly time."""
    corners = observe(context)
    findings = Findings()
    plan = context.plan
    series: Sequence[Mapping[str, Any]] = plan["series"]
    named = (
        {"average (Mb/s)": np.mean, "variance": np.var}
        if context.target == "fig5a"
        else {"largest (Mb/s)": np.max, "smallest (Mb/s)": np.min}
    )
    largest = 1e3 * plan["largest_kb"]
    panels: list[CurvePanel] = []
    for statistic, function in named.items():
        curves = []
        for (group, shown), colour in zip(GROUPS.items(), theme.SERIES[1:3], strict=True):
            dots = []
            for one in series:
                (corner,) = corners[one["label"]]
                mean = corner.mean(throughput(group, function))
                label = f"{one['label']}, {shown}: throughput, {statistic}"
                add(context, findings, label, mean)
                findings.measures[f"{label}, files up to 2 MB"] = corner.mean(
                    throughput_up_to(group, function, largest)
                )
                dots.append(Dot(float(one["timer_ms"]), mean.mean, mean.ci95, mean.n))
            curves.append(Curve(shown, colour, dots))
        panels.append(CurvePanel(titled(statistic), curves))
    _times(context, corners, findings)
    ticks = [float(one["timer_ms"]) for one in series]
    unit = " (variance in (Mb/s)²)" if "variance" in named else ""
    axes = Axes("assembly time (ms)", f"throughput of a flow{unit}", log_x=True, ticks=ticks)
    draw(context, findings, panels, axes)
    note_steadiness(corners, findings)
    return findings


def _times(context: Context, corners: Corners, findings: Findings) -> None:
    """Measure completion times, of which the text speaks beside Figure 5(a)."""
    if context.target != "fig5a":
        return
    largest = 1e3 * context.plan["largest_kb"]
    for group, shown in GROUPS.items():
        times = {
            name: corner.mean(lambda one, g=group: float(one.flows[g].seconds.mean()))
            for name, (corner,) in corners.items()
        }
        for name, time in times.items():
            add(context, findings, f"{name}, {shown}: completion time (s)", time)
            small = corners[name][0].mean(
                lambda one, g=group: float(
                    one.flows[g].where(one.flows[g].size <= largest).seconds.mean()
                )
            )
            findings.measures[f"{name}, {shown}: completion time (s), files up to 2 MB"] = small
            median = corners[name][0].mean(
                lambda one, g=group: float(np.median(one.flows[g].seconds))
            )
            findings.measures[f"{name}, {shown}: completion time (s), median"] = median
        note_gaps(findings, f"completion times, {shown}", shown, "completion time (s)")
        (first, *_, last) = (row[0] for row in corners.values())
        ratio = last.over(first, lambda one, g=group: float(one.flows[g].seconds.mean()))
        add(context, findings, f"{shown}: completion time with 100 ms over 1 ms", ratio)
        findings.measures[f"{shown}: completion time with 100 ms over 1 ms, median"] = last.over(
            first, lambda one, g=group: float(np.median(one.flows[g].seconds))
        )


TARGETS = {
    "fig1a": fig1a,
    "fig1b": fig1b,
    "fig2a": fig2a,
    "fig2b": fig2b,
    "fig3a": fig3,
    "fig3b": fig3,
    "fig4a": fig4,
    "fig4b": fig4,
    "fig5a": fig5,
    "fig5b": fig5,
}
