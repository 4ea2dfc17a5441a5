"""Jain's index of the throughputs of flows: how alike flows are, whatever their average is.

R. Jain, D. M. Chiu, W. R. Hawe: A Quantitative Measure of Fairness and Discrimination for Resource
Allocation in Shared Computer Systems. DEC Research Report TR-301, 1984. The index of n values is
their squared sum over n times the sum of their squares: 1 if all are equal, 1/n if all but one are
zero. With average a and variance v it is 1/(1 + v/a²), so that a common factor does not change it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import Flows, Seen
from burstlab.papers.ramantas2007_burstifiers.shown import GROUPS, Corners, throughput
from burstlab.reproduce.context import Context, Findings

#: Name of the index in rows and measures.
INDEX = "Jain's index"

#: Flows that share burstifiers: those of one pair of edge nodes; its mean over the pairs.
AGGREGATED = "flows of a pair"

_RATIOS = (
    ("10 ms", "1 ms"),
    ("5 ms", "1 ms"),
    ("B = 32, C = 100", "1 ms"),
    ("B = 32, C = 100", "10 ms"),
)


def jain(values: np.ndarray) -> float:
    """Return Jain's index of values, from 1/n to 1; not a number of nothing.

    Parameters
    ----------
    values
        At least zero, such as throughputs of flows in Mb/s.
    """
    squares = len(values) * float(np.square(values).sum())
    return float(values.sum()) ** 2 / squares if squares else float("nan")


def by_print(average: float, variance: float) -> float:
    """Return the index of flows with an average throughput (Mb/s) and a variance ((Mb/s)²)."""
    return 1.0 / (1.0 + variance / average**2)


def tell_fairness(context: Context, corners: Corners, findings: Findings) -> None:
    """Add the index of every row of Table 1, and its ratios.

    Parameters
    ----------
    context
        Of a target whose plan has ``largest_kb`` and ``alike_kb``.
    corners
        Its runs.
    findings
        Where the numbers are put.
    """
    largest, alike = context.plan["largest_kb"], context.plan["alike_kb"]
    of: dict[str, Callable[[Seen], float]] = {
        shown: throughput(group, jain) for group, shown in GROUPS.items()
    }
    of[AGGREGATED] = _aggregated(0.0, np.inf)
    for shown, measure in of.items():
        for name, (corner,) in corners.items():
            context.tell(findings, f"{shown}, {INDEX}: {name}", corner.mean(measure))
    of[f"{AGGREGATED}, files up to {largest / 1e3:g} MB"] = _aggregated(0.0, largest)
    low, high = alike
    of[f"{AGGREGATED}, files of {low:g} to {high:g} KB"] = _aggregated(low, high)
    for shown, measure in of.items():
        for name, over in _RATIOS:
            ratio = corners[name][0].over(corners[over][0], measure)
            findings.measures[f"{shown}, {INDEX}: {name} over {over}"] = ratio
    _tell_print(context, corners, findings)
    _tell_slower(context, corners, findings)


def _aggregated(least_kb: float, largest_kb: float) -> Callable[[Seen], float]:
    """Return what measures the mean, over pairs, of the index of their flows of these sizes."""

    def inside(flows: Flows) -> np.ndarray:
        keep = (flows.size >= 1e3 * least_kb) & (flows.size <= 1e3 * largest_kb)
        return flows.where(keep).throughput

    def of(one: Seen) -> float:
        found = [inside(flows) for pair, flows in one.flows.items() if pair not in GROUPS]
        every = [jain(values) for values in found if len(values) > 1]
        return float(np.mean(every)) if every else float("nan")

    return of


def _tell_print(context: Context, corners: Corners, findings: Findings) -> None:
    """Add the index that the printed averages and variances of Table 1 imply."""
    printed: dict[str, float] = {}
    for name in corners:
        average = context.published(f"all pairs, average (Mb/s): {name}")
        variance = context.published(f"all pairs, variance: {name}")
        if average is not None and variance is not None:
            printed[name] = by_print(average, variance)
            findings.measures[f"print, {INDEX}: {name}"] = printed[name]
    for name, over in _RATIOS:
        if name in printed and over in printed:
            ratio = printed[name] / printed[over]
            findings.measures[f"print, {INDEX}: {name} over {over}"] = ratio


def _tell_slower(context: Context, corners: Corners, findings: Findings) -> None:
    """Add the ratios that decide the index: deviations and averages, of all files and of some."""
    one, ten = corners["1 ms"][0], corners["10 ms"][0]
    for what, statistic in (("standard deviation", np.std), ("average", np.mean)):
        ratio = ten.over(one, _of_pairs(statistic))
        findings.measures[f"{AGGREGATED}, {what}: 10 ms over 1 ms"] = ratio
    small, large = context.plan["unlike_kb"]
    for what, keep in (
        (f"files up to {small:g} KB", lambda flows: flows.size <= 1e3 * small),
        (f"files from {large / 1e3:g} MB on", lambda flows: flows.size >= 1e3 * large),
    ):
        of = _average_of(keep)
        for name in ("10 ms", "B = 32, C = 100"):
            ratio = corners[name][0].over(one, of)
            findings.measures[f"all pairs, {what}, average: {name} over 1 ms"] = ratio


def _average_of(keep: Callable[[Flows], np.ndarray]) -> Callable[[Seen], float]:
    """Return what measures the average throughput of some flows; not a number of none."""

    def of(one: Seen) -> float:
        flows = one.flows["all"]
        values = flows.where(keep(flows)).throughput
        return float(values.mean()) if len(values) else float("nan")

    return of


def _of_pairs(statistic: Callable[[np.ndarray], float]) -> Callable[[Seen], float]:
    def of(one: Seen) -> float:
        found = [flows.throughput for pair, flows in one.flows.items() if pair not in GROUPS]
        return float(np.mean([float(statistic(values)) for values in found if len(values) > 1]))

    return of
