"""The points of a plan, as they are run: their scenarios, and when they are precise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from burstlab.statistics import Estimate, ask_until, mean_ci95, paired_ratio
from burstlab.studies.plan import Plan, picoseconds
from burstlab.studies.running import PointRun
from burstlab.studies.work import Sample


def point_runs(
    plan: Plan, metrics: Sequence[str], todo: Sequence[int]
) -> Iterator[PointRun[Sample]]:
    """Begin points of a plan, one after the other.

    Parameters
    ----------
    plan
        The plan.
    metrics
        Names of the values that samples have.
    todo
        The points.
    """
    for point in todo:
        yield point_run(plan, metrics, point)


def point_run(plan: Plan, metrics: Sequence[str], point: int) -> PointRun[Sample]:
    """Begin a point."""
    stop = plan.stopping
    places = [metrics.index(name) for name in stop.metrics]

    def scenarios(warmup_s: float | None = None) -> dict[str, str]:
        warmup = "" if warmup_s is None else picoseconds(warmup_s)
        return {name: plan.scenario(point, name, warmup) for name in plan.names}

    def precise(samples: Sequence[Mapping[str, Sample]]) -> bool:
        wanted = stop.relative
        if wanted is None:
            return True
        return all(one.relative() <= wanted for one in _estimates(plan, places, samples))

    asking = ask_until(precise, first=stop.first, batch=stop.batch, most=stop.most)
    return PointRun(point, plan.seed_of(point), scenarios(), asking, plan.warmup, scenarios)


def _estimates(
    plan: Plan, places: Sequence[int], samples: Sequence[Mapping[str, Sample]]
) -> Iterator[Estimate]:
    """Return the estimates that must be precise; one without a value in some run need not be."""
    for place in places:
        values = {
            name: [math.nan if (v := one[name].values[place]) is None else v for one in samples]
            for name in plan.names
        }
        if plan.stopping.of == "means":
            yield from (mean_ci95(found) for found in values.values())
        else:
            yield from (paired_ratio(values[b], values[a]) for a, b in combinations(plan.names, 2))
