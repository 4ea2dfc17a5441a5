"""Measures of a run: throughput, round trips, and the losses of both networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from burstlab.plot import Curve, Dot, theme
from burstlab.reproduce.grid import Corner, Sample, round_trip_s
from burstlab.statistics import Estimate

#: Labelled losses of the figures.
TICKS = (1e-4, 1e-3, 1e-2, 1e-1)

#: Colours of as many curves as a panel has here.
COLOURS = (*theme.SERIES, "#b08900", theme.MUTED)

Number = Callable[[Sample], float]

#: A corner and where it is drawn.
Placed = tuple[float, Corner]


def throughput(sample: Sample) -> float:
    """Return the data that the flow brought in order, in Mb/s."""
    return float(sample.summary["flows"][0]["goodput_bps"]) / 1e6


def round_trip(sample: Sample) -> float:
    """Return the mean round trip that the sender measured, in ms."""
    return 1e3 * round_trip_s(sample)


def optical_loss(sample: Sample) -> float:
    """Return the packets in lost bursts over all in bursts, between all edge nodes."""
    return float(sample.network["all"]["packet_loss_ratio"])


def own_loss(sample: Sample) -> float:
    """Return the lost bursts over all that carried a segment of the flow."""
    flow = sample.summary["flows"][0]
    return float(flow["bursts_lost"]) / max(float(flow["bursts"]), 1.0)


def wireless_loss(sample: Sample) -> float:
    """Return the packets for the mobile host that never got there over those that were sent."""
    return float(sample.wlan[0]["down"]["residual_loss_ratio"])


def total_loss(sample: Sample) -> float:
    """Return the packets of the flow that were lost anywhere over all that were sent."""
    flow = sample.summary["flows"][0]
    return float(flow["packets_lost"]) / max(float(flow["packets_sent"]), 1.0)


def assembly_delay(sample: Sample) -> float:
    """Return how long bursts were open on average, those of all edge nodes, in ms."""
    return 1e3 * float(sample.network["all"]["assembly_delay_s"])


def precise(corner: Corner) -> list[Estimate]:
    """Want precise throughputs of every series."""
    return [corner.mean(series, throughput) for series in corner.samples]


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
    """Return a measured curve."""
    found = [(x, corner.mean(series, number)) for x, corner in placed]
    return [Dot(x, e.mean, e.ci95, e.n) for x, e in found]


def knee(points: Sequence[tuple[float, float]], falls: float) -> float:
    """Return the loss at which throughput has fallen by a share of that at the first point.

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


def knee_of(
    placed: Sequence[Placed], series: str, falls: float, loss: Number | None = None
) -> Estimate:
    """Return the knee of mean throughput, with the interval that those of its points leave.

    The interval is that of a linear expansion in the throughputs without loss and on both sides of
    the knee and, if `loss` says how the losses were measured, in these.
    """
    means = [(x, corner.mean(series, throughput)) for x, corner in placed]
    at = knee([(x, mean.mean) for x, mean in means], falls)
    n = min(mean.n for _, mean in means)
    if math.isnan(at):
        return Estimate(at, None, n)
    i = next(i for i, (x, _) in enumerate(means) if x >= at)
    (x, y), (further, below) = means[i - 1 : i + 1]
    steep = math.log(further / x) / (y.mean - below.mean)
    part = math.log(at / x) / math.log(further / x)
    halves = [
        steep * (1.0 - part) * (y.ci95 or 0.0),
        steep * part * (below.ci95 or 0.0),
        steep * (1.0 - falls) * (means[0][1].ci95 or 0.0),
    ]
    if loss is not None:
        sides = [placed[k][1].mean(series, loss) for k in (i - 1, i)]
        weights = (1.0 - part, part)
        halves += [w * e.relative() for w, e in zip(weights, sides, strict=True) if e.mean]
    return Estimate(at, at * math.hypot(*halves), n, least=0.0)


def gap(first: Estimate, second: Estimate) -> Estimate:
    """Return how far the first mean is above the second, of runs that are not paired."""
    half = math.hypot(first.ci95 or 0.0, second.ci95 or 0.0)
    return Estimate(first.mean - second.mean, half, min(first.n, second.n))


def share(first: Estimate, second: Estimate) -> Estimate:
    """Return the first mean over the second, of runs that are not paired."""
    ratio = first.mean / second.mean
    half = abs(ratio) * math.hypot(first.relative(), second.relative())
    return Estimate(ratio, half, min(first.n, second.n))


def over(measured: Estimate, exact: float) -> Estimate:
    """Return the mean over a number that is known."""
    return Estimate(measured.mean / exact, (measured.ci95 or 0.0) / exact, measured.n)


def away(ratio: Estimate) -> Estimate:
    """Return how far a ratio is from 1, up or down."""
    return Estimate(abs(ratio.mean - 1.0), ratio.ci95, ratio.n, least=0.0)


def fall(before: Estimate, after: Estimate) -> Estimate:
    """Return which part of the first mean is gone at the second."""
    left = share(after, before)
    return Estimate(1.0 - left.mean, left.ci95, left.n)


def log_fall(before: Estimate, after: Estimate) -> Estimate:
    """Return by how much the logarithm of the mean has fallen."""
    half = math.hypot(before.relative(), after.relative())
    return Estimate(math.log(before.mean / after.mean), half, min(before.n, after.n))


def largest(estimates: Iterable[Estimate]) -> Estimate:
    """Return the one with the largest mean."""
    return max(estimates, key=lambda one: one.mean)


def least(estimates: Iterable[Estimate]) -> Estimate:
    """Return the one with the least mean."""
    return min(estimates, key=lambda one: one.mean)


def curve(label: str, colour: str, found: Sequence[Dot]) -> Curve:
    """Return a measured curve."""
    return Curve(label, colour, found)
