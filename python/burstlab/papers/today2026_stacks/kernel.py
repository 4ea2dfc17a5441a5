"""Recorded connections of a kernel, each held against the spread of our runs over the same path."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.plot import Named, named_chart, named_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate


def received(sample: Sample) -> float:
    """Return what the receiver had in order at the end, in Mb/s over the run."""
    flow, run_s = sample.summary["flows"][0], sample.summary["simulated_s"]
    return flow["bytes_in_order"] * 8e-6 / run_s


def kernel(context: Context) -> Findings:
    """Count the recordings that lie where 95 % of our runs do."""
    import numpy as np

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.mean("Linux", received)]

    corners = run_grid(context, "grid", wanted)
    findings, share = Findings(), context.plan["share"]
    inside: list[str] = []
    drawn: list[Named] = []
    for corner in corners:
        values = corner.values("Linux", received)
        low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
        recorded = _recorded(context, corner)
        if low <= recorded <= high:
            inside.append(corner.label)
        middle, half = (low + high) / 2, (high - low) / 2
        findings.rows.append(context.row(corner.label, corner.mean("Linux", received)))
        drawn.append(Named(corner.label, middle / recorded, half / recorded, len(values)))
    outside = [corner.label for corner in corners if corner.label not in inside]
    findings.measures["recordings"] = len(corners)
    findings.measures["recordings inside, of each 30"] = 30.0 * len(inside) / len(corners)
    findings.measures["mean of ours over the recording"] = _mean_ratio(context, corners)
    if outside:
        findings.notes.append(f"Outside the interval of ours: {', '.join(outside)}.")
    title = "where 95 % of our runs lie, over the recording"
    findings.charts["kernel"] = named_chart(drawn, title)
    findings.data["kernel"] = named_rows(drawn)
    return findings


def _recorded(context: Context, corner: Corner) -> float:
    return context.paper.published[context.target, corner.label]


def _mean_ratio(context: Context, corners: Sequence[Corner]) -> Estimate:
    from burstlab.statistics import mean_ci95

    ratios = [
        corner.mean("Linux", received).mean / _recorded(context, corner) for corner in corners
    ]
    return mean_ci95(ratios)
