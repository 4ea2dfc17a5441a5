"""The tables of a study: its runs, means with intervals, and comparisons of schemes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from burstlab.measures.completion import is_of_completion
from burstlab.statistics import mean_ci95, means_ci95, paired_ratio, paired_ratios
from burstlab.studies.design import columns
from burstlab.studies.plan import Plan
from burstlab.studies.running import Done
from burstlab.studies.work import Sample
from burstlab.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column


class Rows:
    """Rows of points that are done, gathered until they are stored.

    Parameters
    ----------
    plan
        The plan of the study.
    metrics
        Names of the metrics.
    """

    def __init__(self, plan: Plan, metrics: Sequence[str]) -> None:
        kinds = {
            "point": "int32",
            "scheme": "text",
            "replication": "int32",
            "seed": "uint64",
            "fingerprint": "text",
        }
        if plan.warmup is not None:
            kinds |= {"warmup_s": "float64", "warmup_found": "bool"}
        self.kinds = {**kinds, **dict.fromkeys(metrics, "float64")}
        self._rows: list[tuple[Any, ...]] = []

    def add(self, done: Done[Sample]) -> None:
        """Take a point."""
        found = done.warmup
        warmup = () if found is None else (found.time_s, found.found)
        for scheme, samples in done.samples.items():
            for number, one in enumerate(samples):
                head = (done.point, scheme, number, done.seed, one.fingerprint, *warmup)
                self._rows.append(head + one.values)

    def __len__(self) -> int:
        return len(self._rows)

    def take(self) -> Table:
        """Hand over the gathered rows."""
        from burstlab.storage.columnar.column import of_values

        rows, self._rows = self._rows, []
        columns = zip(*rows, strict=True) if rows else [()] * len(self.kinds)
        pairs = zip(self.kinds.items(), columns, strict=True)
        return Table({name: of_values(column, kind) for (name, kind), column in pairs})


def runs(plan: Plan, rows: Table) -> Table:
    """Return the table of runs: rows in order, with the settings of each point."""
    import numpy as np

    from burstlab.storage.columnar.column import of_values

    rank = {name: place for place, name in enumerate(plan.names)}
    schemes = np.array([rank[name] for name in rows["scheme"].tolist()], dtype=int)
    order = np.lexsort((rows["replication"], schemes, rows["point"]))
    # In whatever order points were done, the bytes of their table are the same.
    found = {name: column.recoded() for name, column in rows.take(order).read().items()}
    points = found.pop("point")
    swept = {name: of_values(values) for name, values in columns(plan.points).items()}
    placed = {name: column.take(points.values) for name, column in swept.items()}
    table = Table({"point": points, **placed, **found})
    if plan.metrics is None:
        # A plan that names no metrics has none that no run has.
        empty = [n for n in metrics_of(plan, table) if found[n].null_count == len(table)]
        table = table.select([name for name in table.columns if name not in empty])
    return table


@dataclass(frozen=True)
class Group:
    """The runs of one scheme at one point.

    Attributes
    ----------
    point, scheme
        Which.
    values
        A row a metric, a column a replication; NaN where there is no value.
    first
        Number of the first of its rows in the table of runs.
    """

    point: int
    scheme: str
    values: NDArray[np.float64]
    first: int


def metrics_of(plan: Plan, table: Table) -> list[str]:
    """Return the names of the metrics in a table of runs."""
    from burstlab.studies.plan import RESERVED

    swept = columns(plan.points)
    return [name for name in table.columns if name not in RESERVED and name not in swept]


def groups(plan: Plan, table: Table) -> Iterator[Group]:
    """Iterate over a table of runs by point and scheme."""
    import numpy as np

    if not len(table):
        return
    names = metrics_of(plan, table)
    values = np.stack([table[name] for name in names]).astype(float)
    points, numbers = table["point"], table["replication"]
    schemes = table["scheme"].tolist()
    starts = [*np.flatnonzero(numbers == 0), len(table)]
    for start, stop in itertools.pairwise(starts):
        part = np.ascontiguousarray(values[:, start:stop])
        yield Group(int(points[start]), schemes[start], part, int(start))


def estimates(plan: Plan, table: Table) -> Table:
    """Return a row for each metric of each scheme at each point: mean, half-width, n, reached.

    ``reached`` is whether the metric is as precise as the plan asks; null if it does not ask.
    ``censored`` counts the runs in which the metric, a completion time, is unknown because
    transfers were unfinished at their end; then it has no mean.
    """
    from burstlab.storage.columnar.column import of_values

    names = metrics_of(plan, table)
    timed = _timed(plan, names)
    wanted = plan.stopping.metrics if plan.stopping.of == "means" else ()
    unknown: list[NDArray[np.int64]] = []
    middles: list[NDArray[np.float64]] = []
    halves: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.int64]] = []
    reached: list[bool | None] = []
    heads: list[tuple[Group, int]] = []
    for group in groups(plan, table):
        missing = _missing(group.values, timed)
        mean, half, count = means(_without(group.values, missing))
        unknown.append(missing)
        middles.append(mean)
        halves.append(half)
        counts.append(count)
        heads.append((group, len(names)))
        reached.extend(_reached(plan, names, wanted, mean, half))
    return Table(
        {
            **_heads(plan, heads),
            "metric": of_values(names * len(heads), "text"),
            "mean": _floats(middles),
            "ci95": _floats(halves),
            "n": _counts(counts),
            "censored": _counts(unknown),
            "reached": of_values(reached, "bool"),
        }
    )


def differences(plan: Plan, table: Table) -> Table:
    """Return a row for each metric of each two schemes at each point, compared run by run.

    Both have the same random numbers, so what is common to them cancels: ``difference`` is the
    mean of ``scheme`` less ``over``, ``ratio`` the one mean over the other. ``reached`` and
    ``censored`` are as in the estimates: nothing is compared where a run of either is censored.
    """
    from burstlab.storage.columnar.column import of_values

    names = metrics_of(plan, table)
    timed = _timed(plan, names)
    unknown: list[NDArray[np.int64]] = []
    by_point: dict[int, dict[str, Group]] = {}
    for group in groups(plan, table):
        by_point.setdefault(group.point, {})[group.scheme] = group
    found: list[list[NDArray[Any]]] = [[], [], [], [], []]
    heads: list[tuple[Group, int]] = []
    over: list[str] = []
    reached: list[bool | None] = []
    wanted = plan.stopping.metrics if plan.stopping.of == "ratios" else ()
    for of_point in by_point.values():
        for a, b in combinations(plan.names, 2):
            x, y = of_point[b].values, of_point[a].values
            missing = _missing(x + y, timed)
            unknown.append(missing)
            x, y = _without(x, missing), _without(y, missing)
            ratio, wide = _ratios(x, y)
            for column, part in zip(found, (*means(x - y), ratio, wide), strict=True):
                column.append(part)
            reached.extend(_reached(plan, names, wanted, ratio, wide))
            heads.append((of_point[b], len(names)))
            over.extend([a] * len(names))
    difference, half, counts, ratios, ratio_halves = found
    return Table(
        {
            **_heads(plan, heads),
            "over": of_values(over, "text"),
            "metric": of_values(names * len(heads), "text"),
            "difference": _floats(difference),
            "difference_ci95": _floats(half),
            "ratio": _floats(ratios),
            "ratio_ci95": _floats(ratio_halves),
            "n": _counts(counts),
            "censored": _counts(unknown),
            "reached": of_values(reached, "bool"),
        }
    )


def paths(plan: Plan, names: Sequence[str]) -> list[str]:
    """Return where metrics are that a plan may have given names of their own."""
    return [(plan.metrics or {}).get(name, name) for name in names]


def _timed(plan: Plan, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which metrics are of completion times."""
    import numpy as np

    return np.array([is_of_completion(path) for path in paths(plan, names)], dtype=bool)


def _missing(values: NDArray[np.float64], timed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many runs have no value of each metric that is of completion times."""
    import numpy as np

    return np.isnan(values).sum(axis=1) * timed


def _without(values: NDArray[np.float64], missing: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values without those of metrics that miss in a run."""
    import numpy as np

    return np.where(missing[:, None] > 0, np.nan, values)


def _reached(
    plan: Plan,
    names: Sequence[str],
    wanted: Sequence[str],
    means: NDArray[np.float64],
    halves: NDArray[np.float64],
) -> Iterator[bool | None]:
    limit = plan.stopping.relative
    for name, mean, half in zip(names, means, halves, strict=True):
        asked = limit is not None and name in wanted
        yield bool(half <= limit * abs(mean)) if asked else None


def means(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return mean, half-width and number of the values of each row, without those that miss."""
    import numpy as np

    mean, half = means_ci95(values)
    count = np.full(len(values), values.shape[1])
    for row in np.flatnonzero(np.isnan(values).any(axis=1)):
        there = values[row][~np.isnan(values[row])]
        one = mean_ci95(there)
        mean[row], half[row], count[row] = one.mean, _nan(one.ci95), one.n
    return mean, half, count


def _ratios(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    ratio, half = paired_ratios(x, y)
    both = x + y
    for row in np.flatnonzero(np.isnan(both).any(axis=1)):
        there = ~np.isnan(both[row])
        one = paired_ratio(x[row][there], y[row][there])
        ratio[row], half[row] = one.mean, _nan(one.ci95)
    return ratio, half


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


def _heads(plan: Plan, heads: Sequence[tuple[Group, int]]) -> Mapping[str, Column]:
    """Return the columns that say where rows belong: so many for each group."""
    import numpy as np

    from burstlab.storage.columnar.column import Column, of_values

    repeats = [count for _, count in heads]
    points = np.repeat([group.point for group, _ in heads], repeats).astype(np.int32)
    schemes = [name for group, count in heads for name in [group.scheme] * count]
    swept = {name: of_values(values) for name, values in columns(plan.points).items()}
    placed = {name: column.take(points) for name, column in swept.items()}
    return {"point": Column(points), **placed, "scheme": of_values(schemes, "text")}


def _counts(parts: Sequence[NDArray[np.int64]]) -> Column:
    import numpy as np

    from burstlab.storage.columnar.column import Column

    return Column(np.concatenate([np.empty(0, np.int64), *parts]))


def _floats(parts: Sequence[NDArray[np.float64]]) -> Column:
    """Return numbers of which one that is NaN is no value."""
    import numpy as np

    from burstlab.storage.columnar.column import of_numbers

    return of_numbers(np.concatenate([np.empty(0), *parts]), nan=False)
