"""The same senders where bursts meet others: losses by contention, and a last hop on the air."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.papers.today2026_stacks.measures import (
    false_timeouts,
    flow_by_flow,
    goodputs,
    loss_of_bursts,
    mean_over,
    megabits,
    over,
)
from burstlab.plot import Axes, Curve, CurvePanel, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid

_SENDERS = ("SACK", "CUBIC, RACK", "BBR, RACK")
_COLOURS = dict(zip(_SENDERS, theme.SERIES, strict=False))


def contention(context: Context) -> Findings:
    """Run senders over a mesh with background bursts, paired: the same for every sender."""
    corners = run_grid(context, "grid", goodputs)
    findings = Findings()
    for name, series, other in context.plan["ratios"]:
        context.tell(findings, name, over(corners, series, other))
        context.tell(findings, f"{name}, flow by flow", flow_by_flow(corners, series, other))
    for series in context.plan["told"]:
        label = f"false time-outs a lost burst, {series}"
        context.tell(findings, label, mean_over(corners, series, false_timeouts))
        label = f"share of bursts lost, {series}"
        context.tell(findings, label, mean_over(corners, series, loss_of_bursts))
    _draw(context, corners, findings)
    return findings


def _draw(context: Context, corners: Sequence[Corner], findings: Findings) -> None:
    panels: list[CurvePanel] = []
    for group in dict.fromkeys(corner.group for corner in corners):
        row = [corner for corner in corners if corner.group == group]
        curves: list[Curve] = []
        for series, colour in _COLOURS.items():
            dots = [megabits(corner, series) for corner in row]
            curves.append(Curve(series, colour, dots))
            label = f"{series}, oracle"
            dots = [megabits(corner, label) for corner in row]
            curves.append(Curve(label, colour, dots, "measured-dashed"))
        panels.append(CurvePanel(group, curves))
    axes = Axes(
        "load of others between each two nodes (Erlang)",
        "goodput of all flows (Mb/s)",
        ticks=[corner.x for corner in corners if corner.group == corners[0].group],
        floor=0.0,
        shared_y=True,
        columns=2,
        width=360,
    )
    findings.draw(context.target, panels, axes)
