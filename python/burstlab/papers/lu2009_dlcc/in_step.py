"""Figure 2: the loss of one flow, or of flows in step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from burstlab.analytic import lu_hunter
from burstlab.papers.lu2009_dlcc.link import (
    RTT,
    Link,
    around,
    at_shares,
    corners,
    curves,
    dots,
    ends,
    missed,
)
from burstlab.papers.lu2009_dlcc.summed import Change
from burstlab.plot import Axes, Curve, CurvePanel, theme
from burstlab.reproduce.context import Context, Findings


def fig2(context: Context) -> Findings:
    """Evaluate (2), and what is lost in a change, with and without DLCC."""
    plan, findings = context.plan, Findings()
    link, measures = Link.of(plan), findings.measures
    worked = plan["worked"]
    rate = lu_hunter.loss_rate(link.capacity, link.shares, **link.geometry)
    kept = lu_hunter.loss_rate(link.capacity, link.shares, control=True, **link.geometry)
    lost = np.asarray(lu_hunter.mean_loss(*link.grid, **link.sized))
    lost_kept = np.asarray(lu_hunter.mean_loss(*link.grid, control=True, **link.sized))
    gain = lost / lost_kept
    measures["largest distance of the gain from six"] = float(np.abs(gain - worked["gain"]).max())
    measures["least loss without DLCC over loss with it"] = float(gain.min())
    top = "largest loss without DLCC over loss with it"
    context.tell(findings, top, float(gain.max()))
    _summed(findings, link)
    probability = lu_hunter.mean_congestion_probability(link.capacity, link.shares)
    digits = worked["digits"]
    measures["worked P(B) missed"] = missed(worked["probability"], probability, digits)
    measures["worked losses missed"] = missed(worked["loss"], corners(lost), digits)
    _wrong(findings, link, worked)
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
    findings.draw(
        "fig2",
        panels,
        Axes(RTT, "loss rate P_L", ticks=ticks, log_y=True, domain=around(kept, rate)),
    )
    milliseconds = 1e3 * link.packet / link.capacity
    each = [
        *curves(link, lost * milliseconds),
        *curves(link, lost_kept * milliseconds, ", with DLCC", "dashed"),
    ]
    axes = Axes(RTT, "time of the link lost in a change (ms)", ticks=ticks, log_y=True)
    findings.draw("fig2-per-change", [CurvePanel("not divided by 2T", each)], axes)
    return findings


def _summed(findings: Findings, link: Link) -> None:
    """Hold the formulas against sums over rates and phases, at the largest share."""
    measures, share = findings.measures, float(link.shares[-1])
    change, at = Change.of(link.capacity, share), (link.capacity, share)
    most, rtt = link.capacity * share, float(link.rtts[-1])
    excess = float(lu_hunter.mean_excess(*at))
    measures["mean excess, summed: over the formula"] = change.mean_excess() / excess
    probability = float(lu_hunter.mean_congestion_probability(*at))
    measures["P(B), summed: over the formula"] = change.congested() / probability
    before = change.before.ravel()
    rises = np.asarray(lu_hunter.rise_probability(before, *at))
    measures["(4), summed: largest distance"] = float(np.abs(change.rises() - rises).max())
    uniform = lu_hunter.congestion_probability(before, *at, free="uniform")
    measures["(5), joint, summed: over the formula"] = change.joint(most) / float(np.mean(uniform))
    printed = lu_hunter.congestion_probability(before, *at, as_printed=True)
    measures["(5) as printed: over the sum"] = float(np.mean(printed)) / change.joint(most)
    product = lu_hunter.product_probability(before, *at)
    measures["(3) as a product: over the sum"] = float(np.mean(product)) / change.congested()
    loss = float(lu_hunter.mean_loss(*at, rtt, **link.sized)) * link.packet
    rate = float(lu_hunter.loss_rate(*at, **link.geometry))
    measures["mean loss over 2T C: over P_L"] = loss / (rtt * link.capacity) / rate
    both = float(lu_hunter.mean_excess(*at, flows=2))
    measures["loss of flows in step with the window of (6): over one flow's"] = both / excess
    given = float(lu_hunter.mean_excess(*at, given_congestion=True))
    measures["loss given heavy congestion times P(B): over that of all"] = (
        given * change.congested() / excess
    )
    left = [
        lu_hunter.free_capacity(
            lu_hunter.peak_window(most, link.capacity, rtt, flows), link.capacity, rtt, flows
        )
        for flows in (1, 40)
    ]
    measures["what N peak windows leave over a: one flow"] = float(left[0]) / most
    measures["what N peak windows leave over a: forty"] = float(left[1]) / most


def _wrong(findings: Findings, link: Link, worked: Mapping[str, Any]) -> None:
    """Count the values worked by hand that wrong models miss."""
    digits = worked["digits"]
    printed = lu_hunter.mean_congestion_probability(link.capacity, link.shares, as_printed=True)
    missing = missed(worked["probability"], printed, digits)
    findings.measures["worked P(B) missed by (5) as printed"] = missing
    saw = np.asarray(lu_hunter.mean_loss(*link.grid, as_printed=True, **link.sized))
    missing = missed(worked["loss"], corners(saw), digits)
    findings.measures["worked losses missed by (6) as printed"] = missing


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
        "corrected": (theme.INK, lu_hunter.loss_rate(*point, **link.geometry)),
        "P(B|a) twice": (theme.AGAIN, lu_hunter.loss_rate(*point, weight="twice", **link.geometry)),
        "all as printed": (
            theme.MUTED,
            lu_hunter.loss_rate(*point, as_printed=True, **link.geometry),
        ),
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
