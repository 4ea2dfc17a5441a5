"""Measures and figures of Ramantas et al. 2007. Every parameter is in the plans beside this."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.papers.ramantas2007_burstifiers import flow
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


def _active(one: Seen) -> float:
    """Answer the active sources of an edge node."""
    return float(one.demand["active"]) / _sites(one)


def _sites(one: Seen) -> int:
    return len({route["from"] for route in one.network["routes"]})


def _little(one: Seen) -> float:
    """Answer active sources over arrival rate times time in the network (Little's law)."""
    rate = float(one.demand["measured"]) / one.measured_s
    return float(one.demand["active"]) / (rate * float(one.demand["completion_time_s"]))


def _loss(one: Seen) -> float:
    return float(one.network["burst_loss_ratio"])


def _value(measure: Estimate | float) -> float:
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
            add(context, findings, label, corner.mean(_active))
        main = _at(row, plan["main"])
        label = f"{name}, {plan['main']}: active sources of all edge nodes"
        add(context, findings, label, main.mean(lambda one: float(one.demand["active"])))
        time = main.mean(lambda one: float(one.demand["completion_time_s"]))
        add(context, findings, f"{name}, {plan['main']}: completion time (s)", time)
        measures[f"{name}, {plan['main']}: active sources over λT"] = main.mean(_little)
    one, five, ten = corners.values()
    measures["largest gap of 5 ms from 10 ms"] = max(
        abs(a.over(b, _active).mean - 1.0) for a, b in zip(five, ten, strict=True)
    )
    above = [i for i, corner in enumerate(one) if corner.x > plan["above"]]
    larger = {i: max(five[i].mean(_active).mean, ten[i].mean(_active).mean) for i in above}
    gaps = {i: one[i].mean(_active).mean - larger[i] for i in above}
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
    curves = [Curve(name, COLOURS[name], _dots(row, _active)) for name, row in corners.items()]
    panels = [CurvePanel("", curves)]
    axes = Axes("mean file size (KB)", "active sources of an edge node", ticks=[c.x for c in one])
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
            add(context, findings, f"{name}, {corner.point}: burst loss ratio", corner.mean(_loss))
        losses = [corner.mean(_loss).mean for corner in row]
        measures[f"{name}: steps of the size that lower the loss"] = sum(
            a >= b for a, b in itertools.pairwise(losses)
        )
    main = [_at(row, context.plan["main"]).mean(_loss).mean for row in corners.values()]
    measures["700 KB: least burst loss ratio"] = min(main)
    measures["700 KB: largest burst loss ratio"] = max(main)
    measures["steps of the size that lower the loss"] = sum(
        int(_value(measures[f"{name}: steps of the size that lower the loss"])) for name in corners
    )
    curves = [Curve(name, COLOURS[name], _dots(row, _loss)) for name, row in corners.items()]
    panels = [CurvePanel("", curves)]
    ticks = [corner.x for corner in next(iter(corners.values()))]
    draw(context, findings, panels, Axes("mean file size (KB)", "burst loss ratio", ticks=ticks))
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
        _value(findings.measures[f"{name}: share at the cap or one below"]) for name in corners
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
        curves.append(_cdf_curve(name, values, counts))
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
            curves.append(_cdf_curve(name, *_ecdf(counted(several))))
        note_gaps(findings, f"{what} of 80 % of the flows, {shown}", shown, "80 %")
        panels.append(CurvePanel(shown.capitalize(), curves))
    measures = findings.measures
    measures["largest share of the flows' bursts lost"] = max(
        _value(measures[f"{name}, {shown}: share of the flows' bursts lost"])
        for name, shown in itertools.product(corners, GROUPS.values())
    )
    within = [
        _value(measures[f"{name}, all pairs: share of flows within the printed number"])
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
            add(context, findings, label, mean_ci95(count[largest]))
            measures[f"{name}, {shown}: r² of mean {what} and size"] = _linearity(dots)
        panels.append(CurvePanel(shown.capitalize(), curves))
        measures[f"{shown}: least r² of mean {what} and size"] = min(
            _value(measures[f"{name}, {shown}: r² of mean {what} and size"]) for name in corners
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


def _throughput(group: str, statistic: Callable[[np.ndarray], Any]) -> Callable[[Seen], float]:
    return lambda one: float(statistic(one.flows[group].throughput))


def _of_small(
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
                mean = corner.mean(_throughput(group, function))
                label = f"{one['label']}, {shown}: throughput, {statistic}"
                add(context, findings, label, mean)
                findings.measures[f"{label}, files up to 2 MB"] = corner.mean(
                    _of_small(group, function, largest)
                )
                dots.append(Dot(float(one["timer_ms"]), mean.mean, mean.ci95, mean.n))
            curves.append(Curve(shown, colour, dots))
        panels.append(CurvePanel(statistic.capitalize(), curves))
    _times(context, corners, findings)
    ticks = [float(one["timer_ms"]) for one in series]
    axes = Axes("assembly time (ms)", "throughput of a flow", log_x=True, ticks=ticks)
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
                add(context, findings, label, corner.mean(_throughput(group, function)))
                measures[f"{label}, files up to 2 MB"] = corner.mean(
                    _of_small(group, function, largest)
                )
    for shown in GROUPS.values():
        _ranks(findings, shown, list(corners))
    best, fixed = corners["B = 32, C = 100"][0], corners["1 ms"][0]
    for group, shown in GROUPS.items():
        measures[f"{shown}: B = 32, C = 100 over 1 ms"] = best.over(
            fixed, _throughput(group, np.mean)
        )
        measures[f"{shown}: B = 100, C = 200 over 1 ms"] = corners["B = 100, C = 200"][0].over(
            fixed, _throughput(group, np.mean)
        )
        measures[f"{shown}: variance of B = 32, C = 100 over 1 ms"] = best.over(
            fixed, _throughput(group, np.var)
        )
    for name, (corner,) in corners.items():
        add(context, findings, f"{name}: burst loss ratio", corner.mean(_loss))
    for shown in GROUPS.values():
        note_gaps(findings, f"averages, {shown}", shown, "average")
        note_gaps(findings, f"variances, {shown}", shown, "variance")
    two = [row for row in findings.rows if row.label.startswith(("5 ms, all", "10 ms, all"))]
    measures["5 and 10 ms, all pairs: largest relative gap of the averages from the print"] = max(
        abs(row.measured / row.published - 1.0)
        for row in two
        if row.published and "average" in row.label
    )
    measures["all pairs: burst loss ratio of B = 32, C = 100 over 1 ms"] = best.over(fixed, _loss)
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
    panels: list[CurvePanel] = []
    places = {name: float(i + 1) for i, name in enumerate(corners)}
    for statistic in ("average (Mb/s)", "variance"):
        curves = []
        printed = [
            Dot(place, value)
            for name, place in places.items()
            if (value := context.published(f"{name}, one pair: {statistic}")) is not None
        ]
        curves.append(Curve("published", theme.MUTED, printed, "published"))
        for shown, colour in zip(GROUPS.values(), theme.SERIES[1:3], strict=True):
            dots = []
            for name, place in places.items():
                measure = findings.measures[f"{name}, {shown}: {statistic}"]
                assert isinstance(measure, Estimate)
                dots.append(Dot(place, measure.mean, measure.ci95, measure.n))
            curves.append(Curve(shown, colour, dots))
        panels.append(CurvePanel(statistic.capitalize(), curves))
    rows = ", ".join(f"{place:g}: {name}" for name, place in places.items())
    findings.notes.append(f"Rows of the figure: {rows}.")
    axes = Axes("row of Table 1", "throughput of a flow", ticks=list(places.values()))
    draw(context, findings, panels, axes)


def readings(context: Context) -> Findings:
    """Measure under other readings of what the paper does not state."""
    corners = observe(context)
    findings = Findings()
    share = context.plan["share"]
    for name, (corner,) in corners.items():
        add(context, findings, f"{name}: burst loss ratio", corner.mean(_loss))
        active = corner.mean(lambda one: float(one.demand["active"]))
        add(context, findings, f"{name}: active sources of all edge nodes", active)
        add(context, findings, f"{name}: active sources of an edge node", corner.mean(_active))
        time = corner.mean(lambda one: float(one.demand["completion_time_s"]))
        add(context, findings, f"{name}: completion time (s)", time)
        average = corner.mean(_throughput("all", np.mean))
        add(context, findings, f"{name}: throughput, average (Mb/s)", average)
        for of, what in (
            ("flows-per-burst", "flows in 80 % of the bursts"),
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
    places = {name: float(i + 1) for i, name in enumerate(corners)}
    panels = [
        CurvePanel(title, [Curve("measured", theme.FIRST, dots)])
        for title, of in (
            ("Burst loss ratio", _loss),
            ("Active sources of all edge nodes", lambda one: float(one.demand["active"])),
        )
        for dots in [
            [
                Dot(places[name], mean.mean, mean.ci95, mean.n)
                for name, (corner,) in corners.items()
                for mean in [corner.mean(of)]
            ]
        ]
    ]
    rows = ", ".join(f"{place:g}: {name}" for name, place in places.items())
    findings.notes.append(f"Readings of the figure: {rows}.")
    draw(context, findings, panels, Axes("reading", "", ticks=list(places.values())))
    note_steadiness(corners, findings)
    return findings


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
    "table1": table1,
    "readings": readings,
    **flow.TARGETS,
}
