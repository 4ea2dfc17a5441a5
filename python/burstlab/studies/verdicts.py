"""The conclusions of a study: significant differences of schemes, and precision reached."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstlab.statistics import LEVEL, holm, two_sided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.studies.outcome import Study

#: Metrics to show first of a study that keeps every number.
USUAL = (
    "flows.mean.goodput_bps",
    "network.data.burst_loss_ratio",
    "network.background.burst_loss_ratio",
    "network.data.byte_loss_ratio",
    "network.background.byte_loss_ratio",
    "flows.mean.retransmissions",
    "flows.mean.timeouts",
    "counters.bursts_lost",
)


#: And those of each demand.
_TIMES = re.compile(r"demand\.[^.]+\.(received_(mean|p50|p99)_s|censored)")


@dataclass(frozen=True)
class Versus:
    """A metric of two schemes, over all points.

    Attributes
    ----------
    metric, scheme, over
        The two schemes and the metric.
    higher, lower, undecided, equal
        Numbers of points at which the scheme is significantly higher or lower than the other,
        nothing was shown, or no run differs.
    censored
        Number of points at which nothing is compared: transfers were unfinished as a run ended.
    ratios
        Smallest, median and largest ratio of their means; none where they have none.
        Smallest, middle and largest ratio of their means; none where they have none.
    """

    metric: str
    scheme: str
    over: str
    higher: int
    lower: int
    undecided: int
    equal: int
    censored: int
    ratios: tuple[float, float, float] | None


def main_metrics(study: Study) -> list[str]:
    """Return the metrics to show: those of the plan, of every number the usual ones."""
    times = [name for name in study.metrics if _TIMES.fullmatch(name)]
    usual = [name for name in USUAL if name in study.metrics and _tells(study, name)] + times
    names = study.plan.metrics or usual or study.metrics
    return [name for name in names if name in study.metrics]


def _tells(study: Study, name: str) -> bool:
    """Whether a usual metric applies: of bursts if there are any, of bytes if some were cut."""
    part, _, last = name.rpartition(".")
    needed = {"burst_loss_ratio": "bursts", "byte_loss_ratio": "bytes_cut"}.get(last)
    name = f"{part}.{needed}"
    return needed is None or (name in study.metrics and bool((study.runs[name] > 0).any()))


def significance(study: Study) -> NDArray[np.float64]:
    """Return the p-value of each row of its differences, corrected after Holm.

    It is NaN where there is nothing to test: no run differs, or fewer than two do. ``burstlab
    results`` prints the same p-values for the study.
    """
    import numpy as np

    table = study.differences
    gap, half = (table[name] for name in ("difference", "difference_ci95"))
    n = table["n"]
    found = np.full(len(gap), np.nan)
    tested = (n >= 2) & np.isfinite(gap) & ~((gap == 0.0) & (half == 0.0))
    found[tested] = holm(two_sided(gap[tested], half[tested], n[tested]))
    return found


def versus(study: Study, p_holm: NDArray[np.float64]) -> list[Versus]:
    """Compare each two schemes over all points, metric by metric.

    Parameters
    ----------
    study
        The study.
    p_holm
        The p-values of `significance`.
    """
    import numpy as np

    table = study.differences
    names = [table[name].tolist() for name in ("metric", "scheme", "over")]
    gap, ratio = (table[name] for name in ("difference", "ratio"))
    unknown = table["censored"] > 0
    rows: dict[tuple[str, ...], list[int]] = {}
    for index, key in enumerate(zip(*names, strict=True)):
        rows.setdefault(key, []).append(index)
    found: list[Versus] = []
    for (metric, scheme, over), where in rows.items():
        apart = p_holm[where] <= LEVEL
        equal = int((np.isnan(p_holm[where]) & (gap[where] == 0.0)).sum())
        higher = int((apart & (gap[where] > 0.0)).sum())
        lower = int((apart & (gap[where] < 0.0)).sum())
        censored = int(unknown[where].sum())
        left = len(where) - higher - lower - equal - censored
        known = ratio[where][np.isfinite(ratio[where])]
        span = (known.min(), np.median(known), known.max()) if len(known) else None
        ratios = None if span is None else (float(span[0]), float(span[1]), float(span[2]))
        found.append(Versus(metric, scheme, over, higher, lower, left, equal, censored, ratios))
    return found


def order(found: Sequence[Versus], first: Sequence[str]) -> list[Versus]:
    """Put the rows of some metrics first, in the order of the metrics."""
    rank = {name: place for place, name in enumerate(first)}
    return sorted(found, key=lambda one: rank.get(one.metric, len(rank)))
