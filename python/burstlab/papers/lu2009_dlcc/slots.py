"""Figures 8 to 12 and our own comparisons: forty flows over slots, simulated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from burstlab.papers.lu2009_dlcc.link import COLOURS, RTT, draw
from burstlab.plot import Axes, Curve, CurvePanel, Dot, Named, named_chart, named_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric, Sample, run_grid
from burstlab.statistics import Estimate

_SHARE = "share of the link that UDP takes, R"


def fig8(context: Context) -> Findings:
    """Measure the goodput against the round-trip time."""
    return _goodput(context, RTT)


def fig9(context: Context) -> Findings:
    """Measure the loss rate against the round-trip time."""
    findings, corners = Findings(), _corners(context)
    loss = _lost(context)
    _tell(context, findings, corners, "loss rate (kb/s)", loss)
    for name in corners[0].samples:
        rates = [corner.mean(name, loss).mean for corner in corners]
        findings.measures[f"{name}: largest loss rate over least"] = max(rates) / min(rates)
        shares = [corner.mean(name, _loss_ratio).mean for corner in corners]
        findings.measures[f"{name}: largest share of slots lost"] = max(shares)
    _compare(findings, corners, "loss rate", "DLCC", "smoothed", loss)
    _figure(context, findings, corners, loss, Axes(RTT, "loss rate (kb/s)", log_y=True))
    return findings


def fig10(context: Context) -> Findings:
    """Measure the extra edge buffer against the round-trip time."""
    return _extra(context, RTT)


def fig11(context: Context) -> Findings:
    """Measure the goodput against the share of UDP."""
    return _goodput(context, _SHARE)


def fig12(context: Context) -> Findings:
    """Measure the extra edge buffer against the share of UDP."""
    return _extra(context, _SHARE)


def ablation(context: Context) -> Findings:
    """Measure each mechanism by itself."""
    findings, corners = Findings(), _corners(context)
    (corner,) = corners
    goodput, loss = _carried(context), _lost(context)
    for name in corner.samples:
        for what, metric in (("goodput (Mb/s)", goodput), ("loss rate (kb/s)", loss)):
            findings.measures[f"{name}: {what}"] = corner.mean(name, metric)
            findings.rows.append(context.row(f"{name}: {what}", corner.mean(name, metric)))
        for what, metric in (("time-outs", _timeouts), ("copies sent", _copies)):
            findings.measures[f"{name}: {what}"] = corner.mean(name, metric)
        ratio = corner.ratio(name, "smoothed", goodput)
        findings.measures[f"{name}: goodput over smoothed"] = ratio
    values = [(name, corner.mean(name, goodput)) for name in corner.samples]
    named = [Named(name, value.mean, value.ci95, value.n) for name, value in values]
    findings.charts[context.target] = named_chart(named, "goodput (Mb/s)")
    findings.data[context.target] = named_rows(named)
    return findings


def threshold(context: Context) -> Findings:
    """Measure what the threshold and the window of the congestion descriptor change."""
    findings, corners = Findings(), _corners(context)
    goodput = _carried(context)
    _tell(context, findings, corners, "goodput (Mb/s)", goodput)
    for corner in corners:
        for name in corner.samples:
            share = corner.mean(name, _congested)
            findings.measures[f"{name}, {corner.label}: share of drops by congestion"] = share
    for name in corners[0].samples:
        means = [corner.mean(name, goodput).mean for corner in corners]
        findings.measures[f"{name}: largest goodput over least"] = max(means) / min(means)
    axes = Axes("threshold of congestion", "goodput (Mb/s)")
    _figure(context, findings, corners, goodput, axes)
    return findings


def _corners(context: Context) -> list[Corner]:
    """Run the grid, unless another target with the same grid has."""
    key = f"{context.effort} {context.seed} {context.plan['grid']}"
    if key not in context.kept:
        context.kept[key] = run_grid(context, "grid", lambda _: [])
    return context.kept[key]


def _carried(context: Context) -> Metric:
    """Megabits carried through the network less those dropped, a second."""
    bits = 1e-6 * float(context.plan["slot_bits"])

    def goodput(sample: Sample) -> float:
        ops = sample.summary["ops"]
        return bits * ops["slots_delivered"] / float(sample.summary["simulated_s"])

    return goodput


def _dropped(sample: Sample) -> float:
    ops = sample.summary["ops"]
    return float(ops["slots_dropped_contention"] + ops["slots_dropped_congestion"])


def _lost(context: Context) -> Metric:
    """Kilobits dropped a second."""
    bits = 1e-3 * float(context.plan["slot_bits"])

    def loss(sample: Sample) -> float:
        return bits * _dropped(sample) / float(sample.summary["simulated_s"])

    return loss


def _loss_ratio(sample: Sample) -> float:
    return _dropped(sample) / float(sample.summary["ops"]["slots_sent"])


def _congested(sample: Sample) -> float:
    lost = float(sample.summary["ops"]["slots_dropped_congestion"])
    return lost / max(_dropped(sample), 1.0)


def _buffered(sample: Sample) -> float:
    return 1e-3 * float(sample.summary["ops"]["extra_buffer_mean_bits"])


def _buffered_whole(sample: Sample) -> float:
    return 1e-3 * float(sample.summary["ops"]["extra_buffer_whole_bits"])


def _frozen(sample: Sample) -> float:
    edges = sample.summary["ops"]["edges"]
    frozen = sum(edge["frozen"] for edge in edges)
    return frozen / max(frozen + sum(edge["requests"] for edge in edges), 1)


def _timeouts(sample: Sample) -> float:
    return float(sum(flow["timeouts"] for flow in sample.summary["flows"]))


def _copies(sample: Sample) -> float:
    return float(sample.summary["ops"]["copies"])


def _goodput(context: Context, x: str) -> Findings:
    findings, corners = Findings(), _corners(context)
    goodput = _carried(context)
    _tell(context, findings, corners, "goodput (Mb/s)", goodput)
    for other in ("smoothed", "neither", "no OPS ACKs"):
        _compare(findings, corners, "goodput", "DLCC", other, goodput)
    for name in corners[0].samples:
        means = [corner.mean(name, goodput).mean for corner in corners]
        findings.measures[f"{name}: last goodput over first"] = means[-1] / means[0]
        findings.measures[f"{name}: rises from one point to the next"] = _rises(means)
        lasting = [corner.mean(name, _timeouts) for corner in corners]
        findings.measures[f"{name}: time-outs at the last point"] = lasting[-1]
    _figure(context, findings, corners, goodput, Axes(x, "goodput (Mb/s)"))
    return findings


def _extra(context: Context, x: str) -> Findings:
    findings, corners = Findings(), _corners(context)
    for name in ("DLCC", "no OPS ACKs"):
        means: list[float] = []
        for corner in corners:
            value = corner.mean(name, _buffered)
            label = f"{name}, {corner.label}: extra edge buffer (kbit)"
            findings.measures[label] = value
            findings.rows.append(context.row(label, value))
            whole = corner.mean(name, _buffered_whole)
            findings.rows.append(context.row(f"{label}, start included", whole))
            means.append(value.mean)
            frozen = max(corner.values(name, _frozen))
            findings.measures[f"{name}, {corner.label}: largest share of time frozen"] = frozen
        most = max(range(len(means)), key=means.__getitem__)
        findings.measures[f"{name}: where the extra buffer is largest"] = corners[most].x
        first = means[0] or math.nan
        findings.measures[f"{name}: largest extra buffer over first"] = means[most] / first
        findings.measures[f"{name}: last extra buffer over first"] = means[-1] / first
        findings.measures[f"{name}: falls from one point to the next"] = _rises(means[::-1])
    _compare(findings, corners, "extra buffer", "no OPS ACKs", "DLCC", _buffered)
    axes = Axes(x, "extra edge buffer (kbit)")
    _figure(context, findings, corners, _buffered, axes, ("DLCC", "no OPS ACKs"))
    return findings


def _rises(values: Sequence[float]) -> int:
    return sum(b > a for a, b in itertools.pairwise(values))


def _tell(
    context: Context, findings: Findings, corners: Sequence[Corner], what: str, metric: Metric
) -> None:
    """Note a number of every series at every point."""
    for corner in corners:
        for name in corner.samples:
            label = f"{name}, {corner.label}: {what}"
            findings.measures[label] = corner.mean(name, metric)
            findings.rows.append(context.row(label, corner.mean(name, metric)))


def _compare(
    findings: Findings,
    corners: Sequence[Corner],
    what: str,
    series: str,
    over: str,
    metric: Metric,
) -> None:
    """Note the ratio of two series, seed by seed."""
    ratios: list[float] = []
    for corner in corners:
        ratio = corner.ratio(series, over, metric)
        findings.measures[f"{corner.label}: {what}, {series} over {over}"] = ratio
        ratios.append(ratio.mean)
    findings.measures[f"least {what}, {series} over {over}"] = min(ratios)
    findings.measures[f"largest {what}, {series} over {over}"] = max(ratios)


def _figure(
    context: Context,
    findings: Findings,
    corners: Sequence[Corner],
    metric: Metric,
    axes: Axes,
    names: Sequence[str] | None = None,
) -> None:
    """Draw the series, with their intervals."""
    curves = [
        Curve(name, colour, [_dot(c.x, c.mean(name, metric)) for c in corners], "measured")
        for name, colour in zip(corners[0].samples, _colours(corners[0]), strict=True)
        if names is None or name in names
    ]
    draw(findings, context.target, [CurvePanel("", curves)], axes)


def _colours(corner: Corner) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(len(corner.samples))]


def _dot(x: float, value: Estimate) -> Dot:
    return Dot(float(x), value.mean, value.ci95, value.n)


TARGETS = {
    "fig8": fig8,
    "fig9": fig9,
    "fig10": fig10,
    "fig11": fig11,
    "fig12": fig12,
    "ablation": ablation,
    "threshold": threshold,
}
