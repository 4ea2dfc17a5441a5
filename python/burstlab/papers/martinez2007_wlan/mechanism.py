"""Where the knee of Figure 3 is, and what puts it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    Placed,
    away,
    curve,
    dots,
    knee_of,
    largest,
    optical_loss,
    over_label,
    over_measured,
    own_loss,
    precise,
    round_trip,
    share,
    throughput,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate

_MBPS, _MS = "throughput (Mb/s)", "mean round trip (ms)"
_LOADED, _APART = "by load", "by load, queues apart"
_BARE, _SINGLE = "at random, no load", "at random, no load, a packet a burst"
_PAPER, _OWN = "as the paper counts it", "lost bursts of the flow"


def knee(context: Context) -> Findings:
    """Measure throughput over the losses of the core, for several kinds of losses."""
    plan, findings = context.plan, Findings()
    nothing, falls = plan["nothing"], plan["falls"]
    loaded, senders = (run_grid(context, name, precise) for name in ("loaded", "senders"))
    bare = run_grid(context, "unloaded", precise)
    over_all = {n: over_measured(loaded, n, optical_loss, nothing) for n in loaded[0].samples}
    over_own = {
        n: over_measured(corners, n, own_loss, nothing)
        for corners in (loaded, senders)
        for n in corners[0].samples
    }
    labels = [corner.label for corner in bare]
    at_random = {n: over_label(labels, bare, nothing) for n in bare[0].samples}
    panels: list[CurvePanel] = []
    knees: dict[tuple[str, str], Estimate] = {}
    for axis, kinds in ((_PAPER, over_all | at_random), (_OWN, over_own | at_random)):
        for name, placed in kinds.items():
            counted = None if name in at_random else own_loss if axis == _OWN else optical_loss
            at = knees[axis, name] = knee_of(placed, name, falls, counted)
            context.tell(findings, f"knee, {axis}: {name}", at)
        curves = [
            curve(
                plan["drawn"]["shown"].get(name, name),
                COLOURS[list(over_own | at_random).index(name)],
                _dots(plan, placed, name),
            )
            for name, placed in kinds.items()
        ]
        if axis == _PAPER:
            curves += _printed(context, loaded[0])
        counted_as = f"loss {axis}" if axis == _PAPER else f"share of {axis}"
        panels.append(CurvePanel(f"Over the {counted_as}", curves, x=counted_as))
    _compare(context, findings, knees)
    for corners in (loaded, senders, bare):
        _tell(context, findings, corners)
    axes = Axes(
        "", _MBPS, log_x=True, ticks=plan["drawn"]["ticks"], none=plan["drawn"]["none"],
        shared_y=True, width=400, legend="losses of the core",
    )  # fmt: skip
    findings.draw(context.target, panels, axes)
    return findings


def _compare(context: Context, findings: Findings, knees: dict[tuple[str, str], Estimate]) -> None:
    """Measure where knees are over that with load."""
    for axis, name in ((_PAPER, _BARE), (_OWN, _BARE), (_OWN, _SINGLE), (_OWN, _APART)):
        label = f"knee, {axis}: {name}, over by load"
        context.tell(findings, label, share(knees[axis, name], knees[axis, _LOADED]))
    others = ("SACK", "New-Reno with BLE")
    findings.measures[f"knee, {_OWN}: largest change by the sender"] = largest(
        away(share(knees[_OWN, name], knees[_OWN, _LOADED])) for name in others
    )
    label = f"knee, {_OWN}: {_SINGLE}, over {_BARE}"
    context.tell(findings, label, share(knees[_OWN, _SINGLE], knees[_OWN, _BARE]))


def _printed(context: Context, first: Corner) -> list[Curve]:
    """Return the mark of where the paper says that throughput begins to fall."""
    label = "q = 0: loss in the optical network at the knee"
    at = context.paper.published.get(("fig3", label))
    if at is None:
        return []
    left = (1.0 - context.plan["falls"]) * first.mean(_LOADED, throughput).mean
    return [Curve("published: the fall begins", theme.INK, [Dot(at, left)], "placed-x")]


def _dots(plan: Mapping[str, Any], placed: list[Placed], name: str) -> list[Dot]:
    """Return the throughputs, with no loss at its place in the picture."""
    nothing, none = plan["nothing"], plan["drawn"]["none"]
    found = dots(placed, name, throughput)
    return [replace(dot, x=none) if dot.x <= nothing else dot for dot in found]


def _tell(context: Context, findings: Findings, corners: list[Corner]) -> None:
    """Put the means of a kind of losses into the findings."""
    for corner in corners:
        for name in corner.samples:
            start = f"p = {corner.label}, {name}"
            for what, number in (
                (_OWN, own_loss),
                (_MBPS, throughput),
                (_MS, round_trip),
                ("segments a burst", _segments),
            ):
                context.tell(findings, f"{start}: {what}", corner.mean(name, number))


def _segments(sample: Sample) -> float:
    """Return the segments of the flow in a burst that has any."""
    flow = sample.summary["flows"][0]
    return float(flow["packets_sent"]) / max(float(flow["bursts"]), 1.0)


TARGETS = {"knee": knee}
