"""The gain of a perfect detector where losses are rarest and where they are most frequent."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.papers.today2026_stacks.measures import (
    false_timeouts,
    goodputs,
    mean_over,
    over,
    some,
    unreached,
)
from burstlab.papers.today2026_stacks.pictures import draw
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid


def ends(context: Context) -> Findings:
    """Run the senders at the points that full runs of `stacks` leave out."""
    corners = run_grid(context, "grid", goodputs)
    findings = Findings()
    for place in context.plan["places"]:
        row = some(corners, place["groups"], place["points"])
        if row:
            _tell(context, findings, row, place["label"])
    groups = list(dict.fromkeys(corner.group for corner in corners))
    draw(context, findings, corners, groups, gains="ends-gains")
    findings.notes.append(unreached(corners))
    return findings


def _tell(context: Context, findings: Findings, row: Sequence[Corner], place: str) -> None:
    """Tell what is compared at one loss probability, of the senders that the effort runs."""
    senders = [name for name in row[0].samples if f"{name}, oracle" in row[0].samples]
    for name in senders:
        for detector in ("BLE", "BACK", "BNAK", "oracle"):
            series = f"{name}, {detector}"
            if series in row[0].samples:
                context.tell(findings, f"gain of {series}, {place}", over(row, series, name))
    for name in (*senders, "CUBIC, RFC 6675"):
        label = f"false time-outs a lost burst, {name}, {place}"
        if label not in findings.measures:
            context.tell(findings, label, mean_over(row, name, false_timeouts))
    label = f"CUBIC, RACK over Reno, oracle, {place}"
    context.tell(findings, label, over(row, "CUBIC, RACK", "Reno, oracle"))
