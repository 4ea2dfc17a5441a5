"""Our own: what resolving contention does to senders that go by loss, or by delay."""

from __future__ import annotations

from collections.abc import Mapping

from burstlab.papers.shihada2006_vegas.measured import (
    by_group,
    means,
    note_precision,
    throughput,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, on_one_scale, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95, paired_ratio

_COLOURS = {
    "Vegas": theme.SERIES[0],
    "Vegas, not ns-2's": theme.SERIES[1],
    "Reno": theme.SERIES[2],
    "SACK": theme.MUTED,
}

Groups = Mapping[str, Mapping[str, Corner]]


def _over(groups: Groups, group: str, bare: str, point: str, name: str) -> Estimate:
    """Return a throughput over that of bare OBS, replication by replication."""
    one = groups[group][point].values(name, throughput)
    return paired_ratio(one, groups[bare][point].values(name, throughput))


def _flow(sample: Sample, what: str) -> float:
    summary = sample.summary
    return 1000.0 * float(summary["flows"][0][what]) / float(summary["measured_s"])


def _tell(context: Context, findings: Findings, speed: str, groups: Groups) -> None:
    """Note every throughput, its ratio over bare OBS, and what was sent again for nothing."""
    bare, measures = context.plan["bare"], findings.measures
    for group, points in groups.items():
        for point, corner in points.items():
            for name in corner.samples:
                start = f"{speed}, p_c = {point}, {group}, {name}"
                mean = corner.mean(name, throughput)
                context.tell(findings, f"{start} (segments/s)", mean)
                if group != bare:
                    measures[f"{start}: over bare"] = _over(groups, group, bare, point, name)
                for what in ("spurious_retransmissions", "spurious_timeouts"):
                    words = what.replace("_", " ").replace("timeouts", "time-outs")
                    measures[f"{start}: {words} in 1000 s"] = mean_ci95(
                        [_flow(sample, what) for sample in corner.samples[name]]
                    )


def retransmission(context: Context) -> Findings:
    """Vary the contention probability and the delay of retransmission."""
    plan, findings = context.plan, Findings()
    waits: Mapping[str, float] = plan["waits_ms"]
    rows: dict[str, list[CurvePanel]] = {"fast": [], "medium": []}
    every: list[Corner] = []
    for speed, panels in rows.items():
        corners = run_grid(context, speed, means)
        every += corners
        groups = by_group(corners)
        _tell(context, findings, speed, groups)
        _waits(context, findings, speed, groups)
        for point in plan["drawn"]:
            curves = []
            left_out = plan["left_out"].get(f"{speed}, {point}", ())
            for name in groups[plan["bare"]][point].samples:
                if name in left_out:
                    continue
                ratios = [_over(groups, wait, plan["bare"], point, name) for wait in waits]
                dots = [
                    Dot(float(ms), ratio.mean, ratio.ci95, ratio.n)
                    for ms, ratio in zip(waits.values(), ratios, strict=True)
                ]
                curves.append(Curve(name, _COLOURS[name], dots))
            panels.append(CurvePanel(f"{speed} flow, p_c = {point}", curves))
    findings.notes += [
        f"Not drawn: {', '.join(names)} at {place}, whose bare runs lose the shortest round trip "
        "(collapse)."
        for place, names in plan["left_out"].items()
    ]
    axes = Axes("wait before a burst is sent again (ms)", "throughput over bare OBS", rule=1)
    drawn = [panel for row in rows.values() for panel in on_one_scale(row, axes)]
    findings.draw(context.target, drawn, axes)
    note_precision(every, findings)
    return findings


def _waits(context: Context, findings: Findings, speed: str, groups: Groups) -> None:
    """Compare the first wait with each other one, replication by replication."""
    first, *others = context.plan["waits_ms"]
    for point, corner in groups[first].items():
        for name in corner.samples:
            for wait in others:
                ratio = _over(groups, first, wait, point, name)
                label = f"{speed}, p_c = {point}, {first} over {wait}, {name}, paired, less 1"
                findings.measures[label] = Estimate(ratio.mean - 1.0, ratio.ci95, ratio.n)


def deflection(context: Context) -> Findings:
    """Deflect bursts, send them again, or try both."""
    plan, findings = context.plan, Findings()
    rows: dict[str, list[CurvePanel]] = {"fast": [], "medium": []}
    every: list[Corner] = []
    for speed, panels in rows.items():
        corners = run_grid(context, speed, means)
        every += corners
        groups = by_group(corners)
        _tell(context, findings, speed, groups)
        for group in groups:
            if group == plan["bare"]:
                continue
            curves = []
            for name in next(iter(groups[group].values())).samples:
                dots = []
                for point, corner in groups[group].items():
                    ratio = _over(groups, group, plan["bare"], point, name)
                    dots.append(Dot(corner.x, ratio.mean, ratio.ci95, ratio.n))
                curves.append(Curve(name, _COLOURS[name], dots))
            panels.append(CurvePanel(f"{speed} flow, {group}", curves))
        lost = [corner for corner in corners if corner.group != plan["bare"]]
        for corner in lost:
            name = next(iter(corner.samples))
            shares = [
                float(one.summary["counters"]["bursts_lost"])
                / float(one.summary["counters"]["bursts_sent"])
                for one in corner.samples[name]
            ]
            label = f"{speed}, p_c = {corner.label}, {corner.group}: share of bursts lost"
            findings.measures[label] = mean_ci95(shares)
    axes = Axes(
        "contention probability p_c",
        "throughput over bare OBS",
        log_x=True,
        ticks=sorted({corner.x for corner in every}),
        rule=1,
        columns=3,
        width=260,
        height=220,
    )
    drawn = [panel for row in rows.values() for panel in on_one_scale(row, axes)]
    findings.draw(context.target, drawn, axes)
    note_precision(every, findings)
    return findings


TARGETS = {"retransmission": retransmission, "deflection": deflection}
