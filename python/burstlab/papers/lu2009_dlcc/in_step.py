"""Figure 2: the loss of one flow, or of flows in step."""

from __future__ import annotations

import numpy as np

from burstlab.analytic import lu_hunter
from burstlab.papers.lu2009_dlcc.link import (
    RTT,
    Link,
    at_shares,
    corners,
    curves,
    decades,
    dots,
    draw,
    ends,
    missed,
)
from burstlab.plot import Axes, Curve, CurvePanel, theme
from burstlab.reproduce.context import Context, Findings


def fig2(context: Context) -> Findings:
    """Evaluate (2), and what is lost in a change, with and without DLCC."""
    plan, findings = context.plan, Findings()
    link, measures = Link.of(plan), findings.measures
    worked = plan["worked"]
    rate = lu_hunter.loss_rate(link.capacity, link.shares, **link.way)
    kept = lu_hunter.loss_rate(link.capacity, link.shares, control=True, **link.way)
    lost = np.asarray(lu_hunter.mean_loss(*link.grid, **link.sized))
    lost_kept = np.asarray(lu_hunter.mean_loss(*link.grid, control=True, **link.sized))
    gain = lost / lost_kept
    measures["largest distance of the gain from six"] = float(np.abs(gain - worked["gain"]).max())
    measures["least loss without DLCC over loss with it"] = float(gain.min())
    top = "largest loss without DLCC over loss with it"
    measures[top] = float(gain.max())
    findings.rows.append(context.row(top, float(gain.max())))
    probability = lu_hunter.mean_congestion_probability(link.capacity, link.shares)
    digits = worked["digits"]
    measures["worked P(B) missed"] = missed(worked["probability"], probability, digits)
    measures["worked losses missed"] = missed(worked["loss"], corners(lost), digits)
    at_shares(findings, link, "P(B)", probability)
    at_shares(findings, link, "P_L without DLCC", rate)
    at_shares(findings, link, "P_L with DLCC", kept)
    wide = link.wide(np.asarray(rate)[:, None])
    ends(context, findings, link, "P_L without DLCC", wide)
    ends(context, findings, link, "packets lost in a change", lost)
    ends(context, findings, link, "the same with DLCC", lost_kept)
    _printed(findings, link)
    panels = [
        CurvePanel(
            "(2), lost over 2T C",
            [
                *curves(link, wide),
                *curves(link, link.wide(np.asarray(kept)[:, None]), ", with DLCC", "dashed"),
            ],
        ),
        _readings(link, plan["drawn_share"]),
    ]
    ticks = [1e3 * rtt for rtt in link.rtts]
    draw(
        findings,
        "fig2",
        panels,
        Axes(RTT, "loss rate P_L", ticks=ticks, log_y=True, domain=decades(kept, rate)),
    )
    milliseconds = 1e3 * link.packet / link.capacity
    each = [
        *curves(link, lost * milliseconds),
        *curves(link, lost_kept * milliseconds, ", with DLCC", "dashed"),
    ]
    axes = Axes(RTT, "time of the link lost in a change (ms)", ticks=ticks, log_y=True)
    draw(findings, "fig2-per-change", [CurvePanel("not divided by 2T", each)], axes)
    return findings


def _printed(findings: Findings, link: Link) -> None:
    """Hold what is printed against what is corrected, share by share."""
    rate = lu_hunter.loss_rate(link.capacity, link.shares)
    twice = lu_hunter.loss_rate(link.capacity, link.shares, weight="twice")
    printed = lu_hunter.loss_rate(link.capacity, link.shares, as_printed=True)
    at_shares(findings, link, "P_L with P(B|a) twice", twice)
    at_shares(findings, link, "P_L with P(B|a) twice: over corrected", twice / rate)
    at_shares(findings, link, "P_L as printed", printed)
    at_shares(findings, link, "P_L as printed: over corrected", printed / rate)
    excess = lu_hunter.mean_excess(link.capacity, link.shares)
    saw = lu_hunter.mean_excess(link.capacity, link.shares, as_printed=True)
    at_shares(findings, link, "loss with (6) as printed: over corrected", saw / excess)
    many = lu_hunter.mean_excess(link.capacity, link.shares, flows=2, as_printed=True)
    at_shares(
        findings, link, "loss of flows in step with (9) as printed: over one flow's", many / excess
    )
    given = lu_hunter.mean_excess(link.capacity, link.shares, given_congestion=True)
    at_shares(
        findings, link, "loss given heavy congestion: over that of all changes", given / excess
    )


def _readings(link: Link, share: float) -> CurvePanel:
    """Draw (2) at one share, corrected and as printed."""
    point = link.capacity, share
    found = {
        "corrected": (theme.INK, lu_hunter.loss_rate(*point, **link.way)),
        "P(B|a) twice": (theme.AGAIN, lu_hunter.loss_rate(*point, weight="twice", **link.way)),
        "all as printed": (theme.MUTED, lu_hunter.loss_rate(*point, as_printed=True, **link.way)),
    }
    drawn = [
        Curve(
            name,
            colour,
            dots(1e3 * link.rtts, np.full(len(link.rtts), value)),
            "line" if colour == theme.INK else "dashed",
        )
        for name, (colour, value) in found.items()
    ]
    return CurvePanel(f"(2) without DLCC, R = {share:g}", drawn)


TARGETS = {"fig2": fig2}
