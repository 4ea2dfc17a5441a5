"""Quantities that the figures hold fixed: slots of buffer, TCP flows, sources of UDP."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from burstlab.papers.lu2009_dlcc.link import COLOURS
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
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric
from burstlab.statistics import paired_ratio


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


TARGETS = {"buffer": buffer, "flows": flows, "sources": sources}
