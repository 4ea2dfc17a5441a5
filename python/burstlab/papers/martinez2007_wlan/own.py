"""Where the knee is and what makes it, and other readings of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    Placed,
    curve,
    dots,
    draw,
    everything,
    knee,
    over_label,
    over_measured,
    own_loss,
    round_trip,
    throughput,
    wireless_loss,
)
from burstlab.plot import Axes, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import run_grid

_MBPS, _MS = "throughput (Mb/s)", "mean round trip (ms)"

#: What is drawn for a sender whose losses come without load.
_UNLOADED = "New-Reno, losses without load"

_TCP = "New-Reno"


def knee_of_throughput(context: Context) -> Findings:
    """Measure throughput over the losses of the core for several ways to lose."""
    plan, findings, panels = context.plan, Findings(), list[CurvePanel]()
    loaded = run_grid(context, "loaded", everything)
    unloaded = run_grid(context, "unloaded", everything)
    for q in dict.fromkeys(corner.group for corner in loaded):
        row = [corner for corner in loaded if corner.group == q]
        ways = {
            name: (name, over_measured(row, name, own_loss, plan["nothing"]))
            for name in row[0].samples
        }
        bare = [corner for corner in unloaded if corner.group == q]
        ways[_UNLOADED] = _TCP, over_measured(bare, _TCP, own_loss, plan["nothing"])
        knees = {
            name: _tell(context, findings, f"q = {q}, ", name, series, placed)
            for name, (series, placed) in ways.items()
        }
        over = {name: at / knees[_TCP] for name, at in knees.items()}
        findings.measures[f"q = {q}: knee without load over that with load"] = over[_UNLOADED]
        findings.measures[f"q = {q}: largest change of the knee by the sender"] = max(
            abs(over[name] - 1.0) for name in plan["senders"]
        )
        curves = [
            curve(name, COLOURS[i], dots(placed, series, throughput))
            for i, (name, (series, placed)) in enumerate(ways.items())
        ]
        panels.append(CurvePanel(f"loss in the wireless network {q}", curves))
    axes = Axes("lost bursts of the flow (left end: none)", _MBPS, log_x=True, width=400)
    draw(context, findings, panels, axes)
    return findings


def _tell(
    context: Context,
    findings: Findings,
    start: str,
    name: str,
    series: str,
    placed: Sequence[Placed],
) -> float:
    """Put the means of a curve into the findings and answer its knee."""
    at = knee(
        [(x, corner.mean(series, throughput).mean) for x, corner in placed], context.plan["falls"]
    )
    findings.measures[f"{start}{name}: knee"] = at
    findings.rows.append(context.row(f"{start}{name}: knee", at))
    for _, corner in placed:
        label = f"{start}p = {corner.label}, {name}: lost bursts of the flow"
        findings.rows.append(context.row(label, corner.mean(series, own_loss)))
    for _, corner in placed:
        for what, number in ((_MBPS, throughput), (_MS, round_trip)):
            label = f"{start}p = {corner.label}, {name}: {what}"
            findings.measures[label] = corner.mean(series, number)
            findings.rows.append(context.row(label, corner.mean(series, number)))
    return at


def readings(context: Context) -> Findings:
    """Measure throughput and round trips over the losses of the wireless network."""
    findings, nothing = Findings(), context.plan["nothing"]
    corners = run_grid(context, "grid", everything)
    names = list(dict.fromkeys(corner.group for corner in corners))
    panels: list[CurvePanel] = []
    for what, number in ((_MBPS, throughput), (_MS, round_trip)):
        curves = []
        for i, name in enumerate(names):
            row = [corner for corner in corners if corner.group == name]
            for corner in row:
                label = f"{name}, q = {corner.label}: {what}"
                findings.measures[label] = corner.mean(_TCP, number)
                findings.rows.append(context.row(label, corner.mean(_TCP, number)))
            placed = over_label([corner.label for corner in row], row, nothing)
            found = dots(placed, _TCP, number)
            curves.append(curve(name, COLOURS[i], found))
        panels.append(CurvePanel(what, curves))
    for name in names:
        row = [corner for corner in corners if corner.group == name]
        by = {corner.label: corner.mean(_TCP, throughput).mean for corner in row}
        findings.measures[f"{name}: q = 1e-2 over q = 0"] = by["1e-2"] / by["0"]
        for corner in row:
            label = f"{name}, q = {corner.label}: loss in the wireless network"
            findings.rows.append(context.row(label, corner.mean(_TCP, wireless_loss)))
    axes = Axes("loss in the wireless network (left end: none)", "", log_x=True, width=400)
    draw(context, findings, panels, axes)
    return findings


TARGETS = {"knee": knee_of_throughput, "readings": readings}
