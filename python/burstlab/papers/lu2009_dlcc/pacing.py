"""The rival that section VII compares DLCC with: ACK pacing at the edge."""

from __future__ import annotations

import math

from burstlab.papers.lu2009_dlcc.link import COLOURS, RTT
from burstlab.papers.lu2009_dlcc.slots import carried, compare, corners, dot, lost, tell, timeouts
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Sample

_PACING = "ACK pacing"


def ack_pacing(context: Context) -> Findings:
    """Measure DLCC, ACK pacing, smoothing and none of them against the round-trip time."""
    findings, found = Findings(), corners(context)
    goodput, loss = carried(context), lost(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "loss rate (kb/s)", loss)
    for what, metric in (("goodput", goodput), ("loss rate", loss)):
        for series in ("DLCC", "smoothed", "neither"):
            compare(findings, found, what, (series, _PACING), metric)
        for series in ("DLCC", "smoothed", _PACING):
            compare(findings, found, what, (series, "neither"), metric)
        compare(findings, found, what, (_PACING, "DLCC"), metric)
    for corner in found:
        for name in corner.samples:
            mean = corner.mean(name, timeouts)
            findings.measures[f"{name}, {corner.label}: time-outs"] = mean
        for name in (one for one in corner.samples if one.startswith(_PACING)):
            mean = corner.mean(name, _held_ms)
            findings.measures[f"{name}, {corner.label}: mean delay of an ACK held back (ms)"] = mean
    curves = [
        Curve(name, COLOURS[i], [dot(c.x, c.mean(name, goodput)) for c in found], "measured")
        for i, name in enumerate(found[0].samples)
    ]
    findings.draw(context.target, [CurvePanel("", curves)], Axes(RTT, "goodput (Mb/s)"))
    return findings


def _held_ms(sample: Sample) -> float:
    pacing = sample.summary.get("ack_pacing")
    return math.nan if pacing is None else 1e3 * pacing["delay_mean_s"]


TARGETS = {"ack-pacing": ack_pacing}
