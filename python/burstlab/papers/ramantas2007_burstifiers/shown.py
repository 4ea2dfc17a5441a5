"""Parts that the figures share: rows and measures, distribution functions, printed marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import Corner, Seen
from burstlab.plot import Curve, Dot, theme
from burstlab.reproduce.context import Context
from burstlab.statistics import Estimate, mean_ci95

COLOURS: dict[str, str] = dict(zip(("1 ms", "5 ms", "10 ms", "100 ms"), theme.SERIES, strict=True))

#: Which connections: how the report calls them, and their name in what was seen.
GROUPS = {"pair": "one pair", "all": "all pairs"}

Corners = Mapping[str, Sequence[Corner]]


def extreme(measures: Sequence[Estimate], largest: bool = True) -> Estimate:
    """Return the largest, or the smallest, of several measures with its interval."""
    return (max if largest else min)(measures, key=lambda one: one.mean)


def gap_share(measure: Estimate) -> Estimate:
    """Return by how much a ratio is away from 1, with its interval."""
    return Estimate(abs(measure.mean - 1.0), measure.ci95, measure.n)


def less(one: Corner, other: Corner, of: Callable[[Seen], float]) -> Estimate:
    """Return by how much one corner is above another, replication by replication."""
    pairs = zip(one.values(of), other.values(of), strict=True)
    return mean_ci95([a - b for a, b in pairs])


def dots(corners: Sequence[Corner], of: Callable[[Seen], float]) -> list[Dot]:
    """Return a number of each corner, with its interval, over the places of the corners."""
    means = [corner.mean(of) for corner in corners]
    return [
        Dot(corner.x, mean.mean, mean.ci95, mean.n)
        for corner, mean in zip(corners, means, strict=True)
    ]


def at_point(corners: Sequence[Corner], label: str) -> Corner:
    """Return the corner of a point."""
    return next(corner for corner in corners if corner.point == label)


def active(one: Seen) -> float:
    """Return the active sources of an edge node."""
    return float(one.demand["active"]) / sites(one)


def sites(one: Seen) -> int:
    """Return the number of edge nodes."""
    return len({route["from"] for route in one.network["all"]["routes"]})


def loss(one: Seen) -> float:
    """Return the burst loss ratio of the network."""
    return float(one.network["all"]["burst_loss_ratio"])


def number(measure: Estimate | float) -> float:
    """Return a measure without its interval."""
    return measure.mean if isinstance(measure, Estimate) else float(measure)


def distribution(values: np.ndarray, counts: np.ndarray) -> list[Dot]:
    """Return the steps of a distribution function, as a line."""
    below = np.cumsum(counts) / np.sum(counts)
    dots: list[Dot] = []
    level = 0.0
    for value, share in zip(values, below, strict=True):
        dots += [Dot(float(value), level), Dot(float(value), float(share))]
        level = float(share)
    return dots


def cdf_curve(name: str, values: np.ndarray, counts: np.ndarray) -> Curve:
    """Return a distribution function as a curve."""
    return Curve(name, COLOURS[name], distribution(values, counts), "line")


def printed_share(context: Context, name: str, label: str, share: float) -> list[Curve]:
    """Return where the paper has a distribution function come to a share."""
    printed = context.published(label)
    if printed is None:
        return []
    return [Curve(f"{name}, published", COLOURS[name], [Dot(printed, share)], "published")]


def titled(name: str) -> str:
    """Return a name with a capital letter in front."""
    return name[:1].upper() + name[1:]


def throughput(group: str, statistic: Callable[[np.ndarray], Any]) -> Callable[[Seen], float]:
    """Return a statistic of the throughputs of connections, Mb/s."""
    return lambda one: float(statistic(one.flows[group].throughput))


def throughput_up_to(
    group: str, statistic: Callable[[np.ndarray], Any], largest_bytes: float
) -> Callable[[Seen], float]:
    """Return a statistic of the connections with files up to a size."""

    def of(one: Seen) -> float:
        flows = one.flows[group]
        return float(statistic(flows.where(flows.size <= largest_bytes).throughput))

    return of


def published_curve(name: str, colour: str, dots: Sequence[Dot]) -> list[Curve]:
    """Return printed marks as a curve, or nothing where there is none."""
    return [Curve(f"{name}, published", colour, list(dots), "published")] if dots else []
