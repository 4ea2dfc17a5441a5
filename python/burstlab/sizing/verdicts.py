"""Whether runs show that a goal is met: intervals, and their verdict on a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from burstlab.measures.completion import is_of_completion
from burstlab.sizing.goals import Goal
from burstlab.sizing.shares import clopper_pearson
from burstlab.statistics import LEVEL, t_quantile

Verdict = Literal["met", "missed", "open"]


@dataclass(frozen=True)
class Interval:
    """A mean over runs and where it is bound to be.

    Attributes
    ----------
    mean
        Over the runs that tell the number; NaN where none does.
    low, high
        Ends of the interval; minus and plus infinity where runs say too little.
    n
        Runs that tell the number.
    """

    mean: float
    low: float
    high: float
    n: int


def interval(goal: Goal, runs: Sequence[Mapping[str, Any]], level: float = LEVEL) -> Interval:
    """Return the confidence interval of a number over runs.

    Parameters
    ----------
    goal
        Which number it is.
    runs
        Summaries of independent replications.
    level
        Chance that the interval misses the mean, 0 to 1.

    Returns
    -------
    Interval
        Student's t interval over the runs. For a share, such as a loss ratio, it is widened to the
        interval of Clopper and Pearson (1934) for all counts together: if no run lost anything, a
        loss is still possible. For a completion time it is unbounded as soon as one run has no
        value (see `burstlab.measures.completion`).
    """
    all_values = [goal.of(run) for run in runs]
    values = [value for value in all_values if value is not None]
    n = len(values)
    if n == 0 or (n < len(all_values) and is_of_completion(goal.path)):
        return Interval(math.nan, -math.inf, math.inf, 0)
    mean = math.fsum(values) / n
    low, high = -math.inf, math.inf
    if n > 1:
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
        half = t_quantile(n - 1, 1 - level / 2) * spread
        low, high = mean - half, mean + half
    counts = [pair for pair in map(goal.counts, runs) if pair is not None]
    if counts:
        least, most = clopper_pearson(sum(p for p, _ in counts), sum(w for _, w in counts), level)
        low, high = max(0.0, min(low, least)), min(1.0, max(high, most))
    return Interval(mean, low, high, n)


def verdict(goal: Goal, found: Interval) -> Verdict:
    """Return on which side of the limit the whole interval lies, if it lies on one."""
    under, over = found.high < goal.limit, found.low > goal.limit
    if not (under or over):
        return "open"
    return "met" if under == goal.below else "missed"
