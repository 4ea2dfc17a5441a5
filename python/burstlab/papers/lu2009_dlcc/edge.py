"""Figures 5 and 6: what waits at the edge, for flows in step and out of step."""

from __future__ import annotations

import numpy as np

from burstlab.analytic import lu_hunter
from burstlab.papers.lu2009_dlcc.link import RTT, Grid, Link, at_shares, curves, ends
from burstlab.plot import Axes, CurvePanel
from burstlab.reproduce.context import Context, Findings


def fig5(context: Context) -> Findings:
    """Evaluate what waits at the edge, with OPS ACKs and without."""
    findings, link = Findings(), Link.of(context.plan)
    first = np.asarray(lu_hunter.edge_buffer(*link.grid, ops_acks=False, **link.sized))
    second = np.asarray(lu_hunter.edge_buffer(*link.grid, **link.sized))
    printed = np.asarray(lu_hunter.edge_buffer(*link.grid, as_printed=True, **link.sized))
    at_shares(findings, link, "B_2 with (6) as printed: over corrected", (printed / second)[:, 0])
    _buffers(context, findings, link, first, second)
    return findings


def fig6(context: Context) -> Findings:
    """Evaluate what waits at the edge, with OPS ACKs and without."""
    findings, link = Findings(), Link.of(context.plan)
    first = np.asarray(lu_hunter.crowd_edge_buffer(*link.grid, ops_acks=False, **link.sized))
    second = np.asarray(lu_hunter.crowd_edge_buffer(*link.grid, **link.sized))
    _buffers(context, findings, link, first, second)
    return findings


def _buffers(context: Context, findings: Findings, link: Link, first: Grid, second: Grid) -> None:
    """Tell and draw the buffers with one control and with two."""
    measures, ratio = findings.measures, first / second
    distance = np.abs(ratio - context.plan["worked"]["ratio"]).max()
    measures["largest distance of B_1/B_2 from its worked value"] = float(distance)
    measures["least B_1/B_2"], measures["largest B_1/B_2"] = float(ratio.min()), float(ratio.max())
    ends(context, findings, link, "B_1 (packets)", first)
    ends(context, findings, link, "B_2 (packets)", second)
    drawn = [
        *curves(link, first, ", 1 control"),
        *curves(link, second, ", 2 controls", "dashed"),
    ]
    ticks = [1e3 * rtt for rtt in link.rtts]
    axes = Axes(RTT, "edge buffer (packets)", ticks=ticks, log_y=True)
    findings.draw(context.target, [CurvePanel("", drawn)], axes)


TARGETS = {"fig5": fig5, "fig6": fig6}
