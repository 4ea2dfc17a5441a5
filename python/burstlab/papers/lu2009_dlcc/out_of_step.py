"""Figures 3, 4 and 7: the loss of many flows out of step."""

from __future__ import annotations

from typing import Any

import numpy as np

from burstlab.analytic import lu_hunter
from burstlab.papers.lu2009_dlcc.link import (
    COLOURS,
    RTT,
    Grid,
    Link,
    around,
    at_shares,
    corners,
    curves,
    dots,
    ends,
    missed,
)
from burstlab.papers.lu2009_dlcc.summed import halved_one_by_one
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings


def fig3(context: Context) -> Findings:
    """Evaluate the loss rate over 2T, and over the length of the congestion."""
    plan, findings = context.plan, Findings()
    link, measures = Link.of(plan), findings.measures
    flows = plan["flows"]
    size: dict[str, Any] = {"packet_bits": link.packet}
    rate = np.asarray(lu_hunter.crowd_loss_rate(*link.grid, flows, **size))
    printed = np.asarray(lu_hunter.crowd_loss_rate(*link.grid, flows, as_printed=True, **size))
    held = np.asarray(lu_hunter.crowd_loss_rate(*link.grid, flows, per="congestion", **size))
    held_printed = np.asarray(
        lu_hunter.crowd_loss_rate(*link.grid, flows, per="congestion", as_printed=True, **size)
    )
    lost = np.asarray(lu_hunter.crowd_controlled_loss(*link.grid, **link.sized))
    kept = lost * link.packet / (link.capacity * link.rtts)
    time = np.asarray(lu_hunter.crowd_congestion_time(*link.grid, flows, **size))
    ends(context, findings, link, "P_L without DLCC", rate)
    ends(context, findings, link, "P_L with DLCC", kept)
    ends(context, findings, link, "P_L without DLCC, as printed", printed)
    ends(context, findings, link, "loss rate in the congestion, without DLCC", held)
    ends(context, findings, link, "loss rate in the congestion, as printed", held_printed)
    ends(context, findings, link, "length of the congestion without DLCC (s)", time)
    for what, values in (("corrected", held), ("as printed", held_printed)):
        spread = (values.max(axis=1) / values.min(axis=1)).max()
        measures[f"loss rate in the congestion, {what}: largest over least"] = float(spread)
    middle = len(link.rtts) // 2
    at_shares(findings, link, "P_L without DLCC in the middle", rate[:, middle])
    at_shares(findings, link, "P_L with DLCC in the middle", kept[:, middle])
    measures["least P_L without DLCC over P_L with it"] = float((rate / kept).min())
    panels = [
        CurvePanel(
            "(2), lost over 2T C",
            [*curves(link, rate), *curves(link, kept, ", with DLCC", "dashed")],
        ),
        CurvePanel("over the length of the congestion", curves(link, held)),
        CurvePanel("(2), V.F.1 as printed", curves(link, printed)),
        CurvePanel("over that length, as printed", curves(link, held_printed)),
    ]
    ticks = [1e3 * rtt for rtt in link.rtts]
    axes = Axes(RTT, "loss rate", ticks=ticks, log_y=True, domain=around(rate, kept, printed))
    findings.draw("fig3", panels, axes)
    return findings


def fig4(context: Context) -> Findings:
    """Evaluate the packets lost in a change."""
    plan, findings = context.plan, Findings()
    link, measures, worked = Link.of(plan), findings.measures, plan["worked"]
    flows = plan["flows"]
    lost = np.asarray(lu_hunter.crowd_loss(*link.grid, flows, packet_bits=link.packet))
    printed = np.asarray(
        lu_hunter.crowd_loss(*link.grid, flows, packet_bits=link.packet, as_printed=True)
    )
    kept = np.asarray(lu_hunter.crowd_controlled_loss(*link.grid, **link.sized))
    ends(context, findings, link, "packets lost without DLCC", lost)
    ends(context, findings, link, "packets lost with DLCC", kept)
    ends(context, findings, link, "packets lost without DLCC, as printed", printed)
    top = "largest loss without DLCC over loss with it"
    measures[top] = float((lost / kept).max())
    findings.rows.append(context.row(top, measures[top]))
    measures["least loss without DLCC over loss with it"] = float((lost / kept).min())
    measures["as printed: largest loss without DLCC over loss with it"] = float(
        (printed / kept).max()
    )
    over = printed / lost
    measures["loss as printed over corrected: least"] = float(over.min())
    measures["loss as printed over corrected: largest"] = float(over.max())
    _first(findings, link, kept, lost, flows)
    digits = worked["digits"]
    measures["worked losses missed as printed"] = missed(
        worked["printed"], corners(printed), digits
    ) + missed(worked["controlled"], corners(kept), digits)
    measures["worked losses missed by the corrected"] = missed(
        worked["printed"], corners(lost), digits
    )
    with_dlcc = curves(link, kept, ", with DLCC", "dashed")
    panels = [
        CurvePanel("corrected", [*curves(link, lost), *with_dlcc]),
        CurvePanel("V.F.1 as printed", [*curves(link, printed), *with_dlcc]),
    ]
    ticks = [1e3 * rtt for rtt in link.rtts]
    axes = Axes(RTT, "packets lost", ticks=ticks, log_y=True, domain=around(kept, printed))
    findings.draw("fig4", panels, axes)
    return findings


def _first(findings: Findings, link: Link, kept: Grid, lost: Grid, flows: float) -> None:
    """Note what is lost in the first round trip alone, and what flows one by one lose."""
    rise = np.asarray(link.shares[:, None]) * link.capacity / 6
    first = rise * link.rtts / link.packet
    measures = findings.measures
    measures["in the first round trip alone: loss without DLCC over loss with it"] = float(
        (first / kept).max()
    )
    measures["least loss with DLCC over loss without"] = float((kept / lost).min())
    share, rtt = float(link.shares[-1]), float(link.rtts[0])
    one_by_one = halved_one_by_one(link.capacity, share, rtt, flows, link.packet)
    measures["loss of flows that halve one by one over corrected"] = one_by_one / float(lost[-1, 0])


def fig7(context: Context) -> Findings:
    """Evaluate the packets lost against the number of flows."""
    plan, findings = context.plan, Findings()
    link, worked, flows = Link.of(plan), plan["worked"], np.asarray(plan["flows"], dtype=float)
    (share,) = link.shares
    place = link.capacity, share, link.rtts[:, None]
    lost = np.asarray(lu_hunter.crowd_loss(*place, flows, packet_bits=link.packet))
    printed = np.asarray(
        lu_hunter.crowd_loss(*place, flows, packet_bits=link.packet, as_printed=True)
    )
    kept = np.asarray(lu_hunter.crowd_controlled_loss(*place, **link.sized)) * np.ones(len(flows))
    at = int(np.flatnonzero(link.rtts == worked["rtt_s"])[0])
    for what, values in (("", lost), (", as printed", printed), (", with DLCC", kept)):
        for number, value in zip(flows, values[at], strict=True):
            label = f"packets lost{what}, {1e3 * link.rtts[at]:g} ms, N = {number:g}"
            context.tell(findings, label, float(value))
    findings.measures["worked losses missed as printed"] = missed(
        worked["printed"], printed[at], worked["digits"]
    )
    findings.measures["worked losses missed by the corrected"] = missed(
        worked["printed"], lost[at], worked["digits"]
    )
    _courses(findings, link, flows, lost, kept)
    panels = [
        CurvePanel(title, _against_flows(link, flows, values))
        for title, values in (
            (f"without DLCC, R = {share:g}", lost),
            ("with DLCC", kept),
            ("without DLCC, as printed", printed),
        )
    ]
    axes = Axes(
        "flows N",
        "packets lost",
        log_x=True,
        log_y=True,
        ticks=list(flows),
        domain=around(lost, kept, printed),
        columns=3,
        width=290,
    )
    findings.draw("fig7", panels, axes)
    return findings


def _courses(findings: Findings, link: Link, flows: Grid, lost: Grid, kept: Grid) -> None:
    """Say how losses go with the number of flows and with the round trip."""
    measures = findings.measures
    measures["without DLCC: largest step over the one before"] = float(
        (lost[:, 1:] / lost[:, :-1]).max()
    )
    slopes = -np.diff(np.log(lost), axis=1) / np.diff(np.log(flows))
    at = len(link.rtts) // 2
    measures["decrease with N, first exponent"] = float(slopes[at, 0])
    measures["decrease with N, last exponent"] = float(slopes[at, -1])
    measures["without DLCC: fewest flows over most"] = float((lost[:, 0] / lost[:, -1]).min())
    measures["first step with the round trip"] = float(lost[1, -1] / lost[0, -1])
    measures["last step with the round trip"] = float(lost[-1, -1] / lost[-2, -1])
    measures["with DLCC: fewest flows over most"] = float((kept[:, 0] / kept[:, -1]).max())
    measures["least step with the round trip"] = float((lost[1:] / lost[:-1]).min())
    growth = np.diff(np.log(lost), axis=0) / np.diff(np.log(link.rtts))[:, None]
    measures["growth with the round trip, first exponent"] = float(growth[0, -1])
    measures["growth with the round trip, last exponent"] = float(growth[-1, -1])
    span = lost[-1] / lost[0]
    measures["longest over shortest round trip, fewest flows"] = float(span[0])
    measures["longest over shortest round trip, most flows"] = float(span[-1])


def _against_flows(link: Link, flows: Grid, values: Grid) -> list[Curve]:
    return [
        Curve(f"2T = {1e3 * rtt:g} ms", colour, dots(flows, row), "line")
        for rtt, colour, row in zip(link.rtts, COLOURS, values, strict=True)
    ]


TARGETS = {"fig3": fig3, "fig4": fig4, "fig7": fig7}
