"""Measures of a connection, and averages over grid points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from burstlab.plot import Dot
from burstlab.reproduce.grid import Corner, Metric, Sample
from burstlab.statistics import Estimate, mean_ci95


def goodput(sample: Sample) -> float:
    """Return the goodput of all flows in bit/s; flows that bring nothing through have one bit."""
    return max(math.fsum(float(flow["goodput_bps"]) for flow in sample.summary["flows"]), 1.0)


def goodputs(corner: Corner) -> list[Estimate]:
    """Return the mean goodput of each sender at a corner: what has to be precise."""
    return [corner.mean(series, goodput) for series in corner.samples]


def unreached(corners: Sequence[Corner]) -> str:
    """Say at how many points not all senders became precise."""
    count = sum(not corner.reached for corner in corners)
    return f"{count} of {len(corners)} points did not reach the precision that the plan asks for."


def false_timeouts(sample: Sample) -> float:
    """Return how often all that a time-out waited for was lost in one burst, per lost burst."""
    flows = sample.summary["flows"]
    false = sum(flow["false_timeouts"] for flow in flows)
    return false / max(sum(flow["bursts_lost"] for flow in flows), 1)


def loss_of_bursts(sample: Sample) -> float:
    """Return the share of the bursts with data that was lost."""
    counters = sample.summary["counters"]
    return counters["bursts_lost"] / max(counters["bursts_sent"], 1)


def some(corners: Iterable[Corner], groups: Sequence[str], points: Sequence[str]) -> list[Corner]:
    """Return the corners of these groups at these points."""
    return [one for one in corners if one.group in groups and one.label in points]


def over(corners: Sequence[Corner], series: str, other: str, metric: Metric = goodput) -> Estimate:
    """Return the geometric mean over corners of a ratio of two series.

    The mean is taken replication by replication: the interval is that of their spread.
    """
    count = min(len(corner.samples[name]) for corner in corners for name in (series, other))
    logs = [
        math.fsum(
            math.log(metric(corner.samples[series][i]) / metric(corner.samples[other][i]))
            for corner in corners
        )
        / len(corners)
        for i in range(count)
    ]
    found = mean_ci95(logs)
    mean = math.exp(found.mean)
    return Estimate(mean, None if found.ci95 is None else mean * found.ci95, found.n, least=0.0)


def flow_by_flow(corners: Sequence[Corner], series: str, other: str) -> Estimate:
    """Return the geometric mean, over corners and flows, of a ratio of the goodputs of a flow.

    Each flow counts alike, however much it brings through; one that brings nothing through counts
    as if it had brought one segment of 1460 bytes.
    """
    count = min(len(corner.samples[name]) for corner in corners for name in (series, other))
    logs = [
        math.fsum(
            _log_ratio(corner.samples[series][i], corner.samples[other][i]) for corner in corners
        )
        / len(corners)
        for i in range(count)
    ]
    found = mean_ci95(logs)
    mean = math.exp(found.mean)
    return Estimate(mean, None if found.ci95 is None else mean * found.ci95, found.n, least=0.0)


def _log_ratio(sample: Sample, other: Sample) -> float:
    """Return the mean over flows of the logarithm of the ratio of their goodputs."""

    def logs(of: Sample) -> list[float]:
        least = 1460 * 8 / of.summary["simulated_s"]
        return [math.log(max(flow["goodput_bps"], least)) for flow in of.summary["flows"]]

    above, below = logs(sample), logs(other)
    return (math.fsum(above) - math.fsum(below)) / len(above)


def mean_over(corners: Sequence[Corner], series: str, metric: Metric) -> Estimate:
    """Return the mean over corners of a number, with the interval of its replications."""
    count = min(len(corner.samples[series]) for corner in corners)
    means = [
        math.fsum(metric(corner.samples[series][i]) for corner in corners) / len(corners)
        for i in range(count)
    ]
    return mean_ci95(means)


def megabits(corner: Corner, series: str) -> Dot:
    """Return where the goodput of a series is drawn, in Mb/s."""
    found = corner.mean(series, goodput)
    half = None if found.ci95 is None else found.ci95 / 1e6
    return Dot(corner.x, found.mean / 1e6, half, found.n)


def gain(corner: Corner, series: str, other: str) -> Dot:
    """Return where the ratio of the goodputs of two series is drawn."""
    found = corner.ratio(series, other, goodput)
    return Dot(corner.x, found.mean, found.ci95, found.n)
