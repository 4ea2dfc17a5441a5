"""The gain of a perfect detector of lost bursts, with senders of 2004 and of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burstlab.papers.today2026_stacks.measures import (
    false_timeouts,
    goodput,
    goodputs,
    mean_over,
    over,
    some,
    unreached,
)
from burstlab.papers.today2026_stacks.pictures import draw
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid

#: Senders of 2004; window laws of today, each with two methods to find and repair a loss.
OLD = ("Reno", "SACK")
LAWS = ("Linux Reno", "CUBIC", "BBR", "DCTCP")


def stacks(context: Context) -> Findings:
    """Run every sender over every path, with the same bursts lost."""
    plan = context.plan
    corners = run_grid(context, "grid", goodputs)
    findings = Findings()
    _tell_gains(context, findings, corners)
    _tell_laws(context, findings, some(corners, plan["whole_window"], plan["moderate"]))
    _tell_apart(context, findings, corners)
    findings.measures["BBR: most goodput over its bound"] = _bound(corners, plan["rates_bps"])
    draw(context, findings, corners, plan["whole_window"])
    findings.notes.append(unreached(corners))
    return findings


def _tell_gains(context: Context, findings: Findings, corners: Sequence[Corner]) -> None:
    """Tell what each detector gains each sender, as far as this effort runs it."""
    plan = context.plan
    where = {
        "whole window": (some(corners, plan["whole_window"], plan["moderate"]), plan["detectors"]),
        "one packet": (
            some(corners, plan["one_packet"], plan["moderate"]),
            plan["detectors_alone"],
        ),
    }
    senders = (*OLD, *(f"{law}, {how}" for law in LAWS for how in ("RFC 6675", "RACK")))
    for place, (row, detectors) in where.items():
        for name in senders:
            for detector in detectors:
                series = f"{name}, {detector}"
                if all(series in corner.samples for corner in row):
                    label = f"gain of {series}, {place}"
                    context.tell(findings, label, over(row, series, name))


def _tell_laws(context: Context, findings: Findings, whole: Sequence[Corner]) -> None:
    for law in LAWS:
        today, before = f"{law}, RACK", f"{law}, RFC 6675"
        context.tell(findings, f"RACK over RFC 6675, {law}", over(whole, today, before))
        for old in OLD:
            label = f"{today} over {old}, oracle"
            context.tell(findings, label, over(whole, today, f"{old}, oracle"))
        for series in (before, today):
            label = f"false time-outs a lost burst, {series}"
            context.tell(findings, label, mean_over(whole, series, false_timeouts))
        notified = f"{today}, BNAK"
        if all(notified in corner.samples for corner in whole):
            label = f"{today}: BNAK over oracle"
            context.tell(findings, label, over(whole, notified, f"{today}, oracle"))
    for old in OLD:
        label = f"false time-outs a lost burst, {old}"
        context.tell(findings, label, mean_over(whole, old, false_timeouts))
    label = "DCTCP, RACK over Linux Reno, RACK"
    context.tell(findings, label, over(whole, "DCTCP, RACK", "Linux Reno, RACK"))


def _tell_apart(context: Context, findings: Findings, corners: Sequence[Corner]) -> None:
    """Tell what is measured without what is said to make claims differ."""
    row = run_grid(context, "in_burst", goodputs)
    for old in OLD:
        label = f"gain of {old}, oracle, window in a burst"
        context.tell(findings, label, over(row, f"{old}, oracle", old))
    label = "RACK over RFC 6675, CUBIC, window in a burst"
    context.tell(findings, label, over(row, "CUBIC, RACK", "CUBIC, RFC 6675"))
    for series in ("CUBIC, RFC 6675", "CUBIC, RACK"):
        label = f"false time-outs a lost burst, {series}, window in a burst"
        context.tell(findings, label, mean_over(row, series, false_timeouts))
    row = run_grid(context, "unmarked", goodputs)
    label = "DCTCP without marks over Linux Reno, RACK"
    context.tell(findings, label, over(row, "DCTCP, RACK", "Linux Reno, RACK"))
    row = some(corners, context.plan["reduced"], context.plan["moderate"][1:])
    label = "gain of CUBIC, RACK, oracle, where its window is reduced"
    context.tell(findings, label, over(row, "CUBIC, RACK, oracle", "CUBIC, RACK"))


def _bound(corners: Sequence[Corner], rates: Mapping[str, float]) -> float:
    """Return the largest goodput of BBR over what is left of the rate of its link without losses.

    Nothing that is lost arrives, and nobody sends faster than the link.
    """
    shares: list[float] = []
    for corner in corners:
        for series in ("BBR, RFC 6675", "BBR, RACK"):
            left = rates[corner.group.partition(",")[0]] * (1.0 - (corner.p or 0.0))
            shares.append(corner.mean(series, goodput).mean / left)
    return max(shares)
