"""What the targets of the paper have in common: throughputs, and how precise they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burstlab.plot import Axes, CurvePanel, curve_chart, curve_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample
from burstlab.statistics import Estimate


def throughput(sample: Sample) -> float:
    """Answer what the flow delivered in order, in segments per second."""
    summary = sample.summary
    return float(summary["flows"][0]["segments_delivered"]) / float(summary["measured_s"])


def means(corner: Corner) -> list[Estimate]:
    """Answer the throughput of every series of a corner."""
    return [corner.mean(name, throughput) for name in corner.samples]


def by_group(corners: Sequence[Corner]) -> Mapping[str, Mapping[str, Corner]]:
    """Sort corners into groups, and these by point."""
    groups: dict[str, dict[str, Corner]] = {}
    for corner in corners:
        groups.setdefault(corner.group, {})[corner.label] = corner
    return groups


def draw(context: Context, findings: Findings, panels: Sequence[CurvePanel], axes: Axes) -> None:
    """Put a figure and its numbers into the findings."""
    findings.charts[context.target] = curve_chart(panels, axes)
    findings.data[context.target] = curve_rows(panels)


def note_precision(corners: Sequence[Corner], findings: Findings) -> None:
    """Say how many corners were not as precise as the plan asks."""
    short = sum(not corner.reached for corner in corners)
    if short:
        findings.notes.append(
            f"{short} of {len(corners)} points have an interval wider than the plan asks."
        )
