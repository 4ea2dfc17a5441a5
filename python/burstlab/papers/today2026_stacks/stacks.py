"""What a perfect detector of false time-outs still gains, with senders of 2004 and of today."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95

#: Senders of 2004, each of which a detector can go with; senders of today, with which none does.
OLD = ("Reno", "SACK")
TODAY = ("Linux Reno, RACK", "CUBIC, RACK", "BBR, RACK")
BEFORE = ("Linux Reno, RFC 6675", "CUBIC, RFC 6675", "BBR, RFC 6675")

_COLOURS = dict(zip(("Reno", "Reno, oracle", *TODAY), (theme.PENDING, *theme.SERIES), strict=True))


def goodput(sample: Sample) -> float:
    """Answer the goodput of the flow in bit/s; a flow that brings nothing through has one bit."""
    return max(float(sample.summary["flows"][0]["goodput_bps"]), 1.0)


def false_timeouts(sample: Sample) -> float:
    """Answer how often all that a time-out waited for was lost in one burst, per lost burst."""
    flow = sample.summary["flows"][0]
    return flow["false_timeouts"] / max(flow["bursts_lost"], 1)


def stacks(context: Context) -> Findings:
    """Run every sender over every path, with the same bursts lost."""
    plan = context.plan

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.mean(series, goodput) for series in corner.samples]

    corners = run_grid(context, "grid", wanted)
    findings = Findings()
    whole = _some(corners, plan["whole_window"], plan["moderate"])
    alone = _some(corners, plan["one_packet"], plan["moderate"])
    for name in OLD:
        for detector in plan["detectors"]:
            series = f"{name}, {detector}"
            context.tell(findings, f"gain of {series}, whole window", _over(whole, series, name))
        for detector in plan["detectors_alone"]:
            series = f"{name}, {detector}"
            context.tell(findings, f"gain of {series}, one packet", _over(alone, series, name))
    for today, before in zip(TODAY, BEFORE, strict=True):
        law = today.partition(",")[0]
        context.tell(findings, f"RACK over RFC 6675, {law}", _over(whole, today, before))
        for old in OLD:
            label = f"{today} over {old}, oracle"
            context.tell(findings, label, _over(whole, today, f"{old}, oracle"))
    for series in (*OLD, *BEFORE, *TODAY):
        label = f"false time-outs a lost burst, {series}"
        context.tell(findings, label, _mean(whole, series))
    findings.measures["BBR: most goodput over its bound"] = _bound(corners, plan["rates_bps"])
    _draw(context, corners, findings)
    unreached = sum(not corner.reached for corner in corners)
    findings.notes.append(
        f"{unreached} of {len(corners)} points did not reach the precision that the plan asks for."
    )
    return findings


def _some(corners: Iterable[Corner], groups: Sequence[str], points: Sequence[str]) -> list[Corner]:
    return [one for one in corners if one.group in groups and one.label in points]


def _over(corners: Sequence[Corner], series: str, other: str) -> Estimate:
    """Answer the geometric mean over corners of a ratio of goodputs, replication by replication."""
    count = min(len(corner.samples[series]) for corner in corners)
    logs = [
        math.fsum(
            math.log(goodput(corner.samples[series][i]) / goodput(corner.samples[other][i]))
            for corner in corners
        )
        / len(corners)
        for i in range(count)
    ]
    found = mean_ci95(logs)
    mean = math.exp(found.mean)
    return Estimate(mean, None if found.ci95 is None else mean * found.ci95, found.n, least=0.0)


def _mean(corners: Sequence[Corner], series: str) -> Estimate:
    count = min(len(corner.samples[series]) for corner in corners)
    shares = [
        math.fsum(false_timeouts(corner.samples[series][i]) for corner in corners) / len(corners)
        for i in range(count)
    ]
    return mean_ci95(shares)


def _bound(corners: Sequence[Corner], rates: Mapping[str, float]) -> float:
    """Answer the largest goodput of BBR over what is left of the rate of its link without losses.

    Nothing that is lost arrives, and nobody sends faster than the link.
    """
    shares: list[float] = []
    for corner in corners:
        for series in ("BBR, RFC 6675", "BBR, RACK"):
            left = rates[corner.group.partition(",")[0]] * (1.0 - (corner.p or 0.0))
            shares.append(corner.mean(series, goodput).mean / left)
    return max(shares)


def _draw(context: Context, corners: Sequence[Corner], findings: Findings) -> None:
    panels: list[CurvePanel] = []
    for group in context.plan["whole_window"]:
        row = [corner for corner in corners if corner.group == group]
        curves = [
            Curve(series, colour, [_dot(corner, series) for corner in row])
            for series, colour in _COLOURS.items()
        ]
        panels.append(CurvePanel(group, curves))
    axes = Axes("burst loss probability p", "goodput (Mb/s)", True, columns=3, width=290)
    findings.draw(context.target, panels, axes)


def _dot(corner: Corner, series: str) -> Dot:
    found = corner.mean(series, goodput)
    half = None if found.ci95 is None else found.ci95 / 1e6
    return Dot(corner.x, found.mean / 1e6, half, found.n)
