"""Measures that the targets of the paper share: throughputs, and their precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from burstlab.reproduce.context import Findings
from burstlab.reproduce.grid import Corner, Sample
from burstlab.statistics import Estimate

#: Of a loss probability, to either side of which the slope of a formula is taken.
_STEP = 0.05


def throughput(sample: Sample) -> float:
    """Return what the flow delivered in order, in segments per second."""
    summary = sample.summary
    return float(summary["flows"][0]["segments_delivered"]) / float(summary["measured_s"])


def lost_share(sample: Sample) -> float:
    """Return the share of bursts that were lost."""
    counted = sample.summary["counters"]
    return float(counted["bursts_lost"]) / float(counted["bursts_sent"])


def at_loss_met(formula: Callable[[float], float], p: float, met: float) -> float:
    """Return a formula at the loss that a run met, on its tangent at the loss that it was to meet.

    A run that met more losses than its chance carries less for that alone. The tangent is there
    beyond the losses at which the formula ends, too.
    """
    step = _STEP * p
    slope = (formula(p + step) - formula(p - step)) / (2.0 * step)
    return formula(p) + slope * (met - p)


def means(corner: Corner) -> list[Estimate]:
    """Return the throughput of every series of a corner."""
    return [corner.mean(name, throughput) for name in corner.samples]


def by_group(corners: Sequence[Corner]) -> Mapping[str, Mapping[str, Corner]]:
    """Sort corners into groups, and these by point."""
    groups: dict[str, dict[str, Corner]] = {}
    for corner in corners:
        groups.setdefault(corner.group, {})[corner.label] = corner
    return groups


def note_precision(corners: Sequence[Corner], findings: Findings) -> None:
    """Say how many corners were not as precise as the plan asks."""
    short = sum(not corner.reached for corner in corners)
    if short:
        findings.notes.append(
            f"{short} of {len(corners)} points have an interval wider than the plan asks."
        )
