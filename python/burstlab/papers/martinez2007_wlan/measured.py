"""What a run shows: throughput, round trips, and the losses of both networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart, curve_rows, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample
from burstlab.statistics import Estimate

#: Colours of as many curves as a panel has here.
COLOURS = (*theme.SERIES, "#b08900", theme.MUTED)

Number = Callable[[Sample], float]

#: A corner and where it is drawn.
Placed = tuple[float, Corner]


def throughput(sample: Sample) -> float:
    """Answer the data that the flow brought in order, in Mb/s."""
    return float(sample.summary["flows"][0]["goodput_bps"]) / 1e6


def round_trip(sample: Sample) -> float:
    """Answer the mean round trip that the sender measured, in ms."""
    mean = sample.summary["flows"][0]["rtt_s"]
    return math.nan if mean is None else 1e3 * float(mean)


def optical_loss(sample: Sample) -> float:
    """Answer the packets in lost bursts over all in bursts, between all edge nodes."""
    return float(sample.summary["network"]["all"]["packet_loss_ratio"])


def own_loss(sample: Sample) -> float:
    """Answer the lost bursts over all that carried a segment of the flow."""
    flow = sample.summary["flows"][0]
    return float(flow["bursts_lost"]) / max(float(flow["bursts"]), 1.0)


def wireless_loss(sample: Sample) -> float:
    """Answer the packets for the mobile host that never got there over those that were sent."""
    return float(sample.summary["wlan"][0]["down"]["residual_loss_ratio"])


def everything(corner: Corner) -> list[Estimate]:
    """Want no precision: the plan says how many replications there are."""
    del corner
    return []


def over_measured(
    corners: Sequence[Corner], series: str, loss: Number, nothing: float
) -> list[Placed]:
    """Place corners by a loss that is known but by measuring."""
    placed = [(max(c.mean(series, loss).mean, nothing), c) for c in corners]
    return sorted(placed, key=lambda one: one[0])


def over_label(labels: Sequence[str], corners: Sequence[Corner], nothing: float) -> list[Placed]:
    """Place corners by the loss of their label: of some, too little is lost to measure it well."""
    return [(max(float(q), nothing), c) for q, c in zip(labels, corners, strict=True)]


def dots(placed: Sequence[Placed], series: str, number: Number) -> list[Dot]:
    """Answer a measured curve."""
    found = [(x, corner.mean(series, number)) for x, corner in placed]
    return [Dot(x, e.mean, e.ci95, e.n) for x, e in found]


def draw(context: Context, findings: Findings, panels: Sequence[CurvePanel], axes: Axes) -> None:
    """Put a figure and its numbers into the findings."""
    findings.charts[context.target] = curve_chart(panels, axes)
    findings.data[context.target] = curve_rows(panels)


def knee(points: Sequence[tuple[float, float]], falls: float) -> float:
    """Answer the loss at which throughput has fallen by a share of that at the first point.

    Between two points the logarithm of the loss is interpolated; not a number where throughput
    never falls so far.
    """
    (_, highest), *_ = points
    wanted = (1.0 - falls) * highest
    for (x, y), (further, below) in itertools.pairwise(points):
        if below <= wanted < y and x > 0.0:
            share = (y - wanted) / (y - below)
            return math.exp(math.log(x) + share * (math.log(further) - math.log(x)))
    return math.nan


def rise(first: Estimate, second: Estimate) -> float:
    """Answer how far the second mean is above the first, less the interval of that."""
    return second.mean - first.mean - math.hypot(first.ci95 or 0.0, second.ci95 or 0.0)


def curve(label: str, colour: str, found: Sequence[Dot]) -> Curve:
    """Answer a measured curve."""
    return Curve(label, colour, found)
