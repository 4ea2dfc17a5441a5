"""Section IV: UDP that leaves a congested route, by itself and together with DLCC."""

from __future__ import annotations

from burstlab.papers.lu2009_dlcc.link import COLOURS, RTT
from burstlab.papers.lu2009_dlcc.slots import carried, compare, corners, dot, lost, tell
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Sample

_BOTH, _LATER, _ALONE = "DLCC and rerouting", "DLCC and rerouting, 100 ms later", "rerouting"


def reroute(context: Context) -> Findings:
    """Measure rerouting of UDP against the round-trip time."""
    findings, found = Findings(), corners(context)
    goodput, loss = carried(context), lost(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "loss rate (kb/s)", loss)
    tell(context, findings, found, "share of UDP lost", _udp_lost)
    for pair in ((_ALONE, "neither"), (_BOTH, "DLCC"), (_BOTH, _ALONE)):
        compare(findings, found, "goodput", pair, goodput)
    for pair in ((_ALONE, "neither"), (_BOTH, "DLCC"), ("DLCC", _BOTH), (_LATER, _BOTH)):
        compare(findings, found, "loss rate", pair, loss)
    panels = [
        CurvePanel(
            title,
            [
                Curve(name, COLOURS[i], [dot(c.x, c.mean(name, metric)) for c in found], "measured")
                for i, name in enumerate(found[0].samples)
            ],
            y=y,
        )
        for title, y, metric in (
            ("Goodput", "goodput (Mb/s)", goodput),
            ("Loss", "loss rate (kb/s)", loss),
        )
    ]
    findings.draw(context.target, panels, Axes(RTT, "goodput (Mb/s)"))
    return findings


def _udp_lost(sample: Sample) -> float:
    counters = sample.summary["counters"]
    return counters["other_lost"] / max(counters["other_sent"], 1)


TARGETS = {"reroute": reroute}
