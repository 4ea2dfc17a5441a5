"""Quantities that the figures hold fixed, flows in step, and rerouting of UDP (section IV)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from burstlab.papers.lu2009_dlcc.link import COLOURS, RTT
from burstlab.papers.lu2009_dlcc.slots import (
    carried,
    compare,
    corners,
    dot,
    lost,
    spread,
    tell,
    timeouts,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric, Run, runs_of
from burstlab.simulation import run_resolved
from burstlab.statistics import mean_ci95, paired_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.results import Replication

_STEP, _USED = "correlation of windows", "share of the link used"
_BOTH, _LATER, _ALONE = "DLCC and rerouting", "DLCC and rerouting, 100 ms later", "rerouting"


def buffer(context: Context) -> Findings:
    """Measure the goodput against the slots of buffer in the core switch."""
    findings, found = _goodput(context, "slots of buffer in the core switch")
    goodput = carried(context)
    for (one, few), (other, many) in context.plan["instead"]:
        ratio = paired_ratio(
            _at(found, few).values(one, goodput), _at(found, many).values(other, goodput)
        )
        findings.measures[f"{one} with {few} over {other} with {many}: goodput"] = ratio
    return findings


def flows(context: Context) -> Findings:
    """Measure the goodput against the number of TCP flows."""
    findings, found = _goodput(context, "TCP flows")
    goodput = carried(context)
    gains = [_gains(context, corner) for corner in found]
    means = [sum(gain) / len(gain) for gain in gains]
    most, least = gains[means.index(max(means))], gains[means.index(min(means))]
    findings.measures["largest over least gain of DLCC over neither"] = paired_ratio(most, least)
    for name in found[0].samples:
        for fewer, more in itertools.pairwise(found):
            ratio = paired_ratio(more.values(name, goodput), fewer.values(name, goodput))
            findings.measures[f"{name}: {more.label} over {fewer.label}, goodput"] = ratio
    return findings


def sources(context: Context) -> Findings:
    """Compare readings of the rate cut for several sources of UDP."""
    findings, found = Findings(), corners(context)
    goodput, loss = carried(context), lost(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "loss rate (kb/s)", loss)
    for name in context.plan["readings"]:
        compare(findings, found, "goodput", (name, "neither"), goodput)
    panels: list[CurvePanel] = []
    for group in dict.fromkeys(corner.group for corner in found):
        here = [corner for corner in found if corner.group == group]
        panels.append(CurvePanel(f"2T = {group}", _curves(here, goodput)))
    axes = Axes("sources of UDP", "goodput (Mb/s)", ticks=sorted({c.x for c in found}))
    findings.draw(context.target, panels, axes)
    return findings


def _goodput(context: Context, x: str) -> tuple[Findings, list[Corner]]:
    """Tell, compare and draw the goodput of a grid."""
    findings, found = Findings(), corners(context)
    goodput = carried(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "loss rate (kb/s)", lost(context))
    tell(context, findings, found, "time-outs", timeouts)
    for pair in (("DLCC", "neither"), ("neither", "DLCC"), ("DLCC", "smoothed")):
        compare(findings, found, "goodput", pair, goodput)
    compare(findings, found, "loss rate", ("DLCC", "smoothed"), lost(context))
    for name in found[0].samples:
        findings.measures[f"{name}: largest goodput over least"] = spread(found, name, goodput)
    axes = Axes(x, "goodput (Mb/s)", log_x=True, ticks=[corner.x for corner in found])
    findings.draw(context.target, [CurvePanel("", _curves(found, goodput))], axes)
    return findings, found


def _curves(found: Sequence[Corner], metric: Metric) -> list[Curve]:
    return [
        Curve(name, COLOURS[i], [dot(c.x, c.mean(name, metric)) for c in found], "measured")
        for i, name in enumerate(found[0].samples)
    ]


def _gains(context: Context, corner: Corner) -> list[float]:
    goodput = carried(context)
    pairs = zip(corner.values("DLCC", goodput), corner.values("neither", goodput), strict=True)
    return [with_control / without for with_control, without in pairs]


def _at(found: Sequence[Corner], label: str) -> Corner:
    return next(corner for corner in found if corner.label == label)


def reroute(context: Context) -> Findings:
    """Measure rerouting of UDP against the round-trip time."""
    findings, found = Findings(), corners(context)
    goodput, loss = carried(context), lost(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "loss rate (kb/s)", loss)
    for pair in ((_ALONE, "neither"), (_BOTH, _ALONE)):
        compare(findings, found, "goodput", pair, goodput)
    for pair in ((_BOTH, "DLCC"), (_LATER, _BOTH)):
        compare(findings, found, "loss rate", pair, loss)
    panels = [
        CurvePanel("Goodput", _curves(found, goodput)),
        CurvePanel("Loss", _curves(found, loss), y="loss rate (kb/s)"),
    ]
    findings.draw(context.target, panels, Axes(RTT, "goodput (Mb/s)"))
    return findings


def synchronised(context: Context) -> Findings:
    """Measure the correlation of windows against the number of flows."""
    findings = Findings()
    curves: dict[str, dict[str, list[Dot]]] = {_STEP: {}, _USED: {}}
    for run in runs_of(context, "grid"):
        context.used_seed = context.used_seed or int(run.scenario["run"]["seed"])
        numbers = [_made(context, run, number) for number in range(run.replications)]
        for name, each in zip((_STEP, _USED), zip(*numbers, strict=True), strict=True):
            value = mean_ci95(each)
            context.tell(findings, f"{run.group}, {run.point}: {name}", value)
            curves[name].setdefault(run.group, []).append(dot(run.x, value))
    of_step = {group: [one.y for one in dots] for group, dots in curves[_STEP].items()}
    most, least = (context.plan[name] for name in ("in_step", "out_of_step"))
    apart = min(one - other for one, other in zip(of_step[most], of_step[least], strict=True))
    findings.measures[f"least correlation with {most} less that with {least}"] = apart
    panels = [
        CurvePanel(
            name,
            [
                Curve(*one, "measured")
                for one in zip(groups, COLOURS, groups.values(), strict=False)
            ],
            y=name,
        )
        for name, groups in curves.items()
    ]
    ticks = [one.x for one in curves[_STEP][most]]
    axes = Axes("TCP flows", "", log_x=True, ticks=ticks, floor=None)
    findings.draw(context.target, panels, axes)
    return findings


def _made(context: Context, run: Run, number: int) -> tuple[float, float]:
    """Make a replication; its trace is large, and there is only one at a time."""
    result = run_resolved(run.scenario, range(number, number + 1), trace=["cwnd"])
    context.fingerprints.append(result.fingerprint)
    sample = result.replications[0]
    measured = sample.ops["measured"]
    windows = _windows(sample, float(context.plan["step_s"]), measured["time_s"])
    sizes = windows.std(axis=1)
    # The variance of the sum, over the variances alone: of windows in step it is the largest.
    alone = float((sizes**2).sum())
    shared = float(windows.sum(axis=0).var()) - alone
    slots = measured["time_s"] / sample.ops["slot_s"]
    return shared / (float(sizes.sum()) ** 2 - alone), measured["delivered"] / slots


def _windows(sample: Replication, step_s: float, measured_s: float) -> NDArray[np.float64]:
    """Return the window of each flow at each step of the measured time."""
    table = sample.tables["cwnd"]
    end_s = float(sample.summary["simulated_s"])
    steps = np.arange(end_s - measured_s, end_s, step_s)
    flow, at_s, cwnd = np.asarray(table["flow"]), table.seconds("t_ps"), np.asarray(table["cwnd"])
    order = np.argsort(flow, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(flow[order])) + 1)
    rows = [cwnd[mine][np.searchsorted(at_s[mine], steps, side="right") - 1] for mine in parts]
    return np.array(rows, dtype=np.float64)


TARGETS = {
    "buffer": buffer,
    "flows": flows,
    "sources": sources,
    "reroute": reroute,
    "synchronised": synchronised,
}
