"""Paired runs over a grid: points, groups of settings, and the series compared within each.

A plan's table ``grid`` has ``points`` (``label``, ``x``, optionally ``p`` and ``set``), ``series``
(``label`` and ``set``) and optionally ``groups`` (``label``, ``set``, ``at``: one table of settings
a point, ``series``: the labels that are run, ``deterministic``: nothing is drawn, so two
replications, which agree, are enough). Within a group and point all series have the same random
numbers. Replications are added until the compared numbers are as precise as the plan asks: for all
series of a corner together or, where an effort says ``each``, for each by itself. Where an effort
names ``points``, ``groups`` or ``series`` by their labels, it runs these alone. Each table of its
``only`` says of some ``groups`` and ``points`` (of all, where it names none) which ``series`` are
run there; where that leaves none there is no corner. A grid that is ``like`` one of another target
(``"stacks.grid"``) has its points, series and groups, but for those that it has itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from burstlab import _core
from burstlab.loading import Document
from burstlab.reproduce.context import Context, Key
from burstlab.reproduce.making import make_all, replication
from burstlab.results import Replication, together
from burstlab.statistics import Estimate, ask_until, mean_ci95, paired_ratio
from burstlab.studies.running import Done, PointRun
from burstlab.studies.work import Order

#: The group of a plan that names none.
_ALL: Document = {"label": ""}


#: The result of one replication of one series: its summary, and the tables that the plan traces.
Sample: TypeAlias = Replication

Metric = Callable[[Sample], float]


def round_trip_s(sample: Sample) -> float:
    """Return the mean round trip that the sender of flow 0 measured; NaN where it measured none."""
    mean = sample.summary["flows"][0]["rtt_s"]
    return math.nan if mean is None else mean


@dataclass(frozen=True)
class Corner:
    """One point of one group.

    Attributes
    ----------
    group, label
        Names of the group and the point.
    x
        Where the point is drawn.
    p
        Its loss probability, where the plan gives one.
    samples
        One per replication, by series; some series may have more than others.
    reached
        Whether the wanted precision was reached.
    """

    group: str
    label: str
    x: float
    p: float | None
    samples: Mapping[str, Sequence[Sample]]
    reached: bool

    def values(self, series: str, metric: Metric) -> list[float]:
        """Return a number of each replication."""
        return [metric(sample) for sample in self.samples[series]]

    def mean(self, series: str, metric: Metric) -> Estimate:
        """Return the mean of a number over the replications."""
        values = self.values(series, metric)
        return _floored(mean_ci95(values), values)

    def ratio(self, series: str, over: str, metric: Metric) -> Estimate:
        """Return the ratio of two series, replication by replication."""
        both = zip(self.values(series, metric), self.values(over, metric), strict=False)
        above, below = map(list, zip(*both, strict=True))
        return _floored(paired_ratio(above, below), [*above, *below])


def _floored(estimate: Estimate, values: Sequence[float]) -> Estimate:
    """Keep the interval of numbers none of which is negative (rates, times, counts) from zero."""
    return replace(estimate, least=0.0) if values and min(values) >= 0.0 else estimate


#: Returns the estimates of a corner that have to be precise.
Wanted = Callable[[Corner], Sequence[Estimate]]


def run_grid(context: Context, name: str, wanted: Wanted) -> list[Corner]:
    """Run a grid of the plan, group by group and point by point.

    Parameters
    ----------
    context
        The target.
    name
        Which table of its plan is the grid.
    wanted
        The values that must reach the precision of the effort.
    """
    grid = _grid(context, name)
    effort = _effort(context, grid)
    groups = _chosen(effort, "groups", grid.get("groups", [_ALL]))
    points = _chosen(effort, "points", grid["points"])
    cells = [
        (group, grid["points"].index(point), point)
        for group in groups
        for point in points
        if _series(grid, group, point, effort)
    ]
    whole = [_Cell.of(context, grid, *cell, effort, wanted) for cell in cells]
    every = [part for cell in whole for part in cell.parts()]
    finished = iter(_run(context, every, grid.get("trace", ())))
    return [cell.corner_of([next(finished) for _ in cell.parts()]) for cell in whole]


def _grid(context: Context, name: str) -> Document:
    """Return a table of the plan, with the entries of the grid that it refers to."""
    grid: Document = context.plan[name]
    if "like" not in grid:
        return grid
    target, _, table = str(grid["like"]).partition(".")
    model: Document = context.paper.plans[target][table]
    parts = ("points", "series", "groups")
    return {**{part: model[part] for part in parts if part in model}, **grid}


def _effort(context: Context, grid: Document) -> Document:
    return {**context.plan[context.effort], **grid.get(context.effort, {})}


def _chosen(effort: Document, kind: str, entries: Sequence[Document]) -> list[Document]:
    """Return the entries of a grid that an effort runs, in the order of the grid."""
    named: Sequence[str] | None = effort.get(kind)
    missing = set(named or ()) - {entry["label"] for entry in entries}
    if missing:
        raise ValueError(f"{kind} of an effort: the grid has no {sorted(missing)}")
    return [entry for entry in entries if named is None or entry["label"] in named]


@dataclass(frozen=True)
class _Cell:
    """A corner that is yet to be run, with the scenario of each series."""

    group: Document
    point: Document
    effort: Document
    wanted: Wanted
    scenarios: Mapping[str, Document]

    @classmethod
    def of(
        cls,
        context: Context,
        grid: Document,
        group: Document,
        i: int,
        point: Document,
        effort: Document,
        wanted: Wanted,
    ) -> _Cell:
        """Resolve the scenarios of one corner."""
        return cls(group, point, effort, wanted, _scenarios(context, grid, group, i, point, effort))

    @property
    def label(self) -> str:
        """Name of the corner in its target."""
        return " ".join(part for part in (self.group["label"], self.point["label"]) if part)

    def parts(self) -> list[_Cell]:
        """Return the series that become precise together: all in one group, or each alone."""
        if not self.effort.get("each", False):
            return [self]
        return [replace(self, scenarios={name: one}) for name, one in self.scenarios.items()]

    def corner_of(self, parts: Sequence[Done[Sample]]) -> Corner:
        """Return the corner, of whose parts these are done."""
        samples = {name: found for part in parts for name, found in part.samples.items()}
        return self.corner(samples, all(part.reached for part in parts))

    def corner(self, samples: Mapping[str, Sequence[Sample]], reached: bool) -> Corner:
        """Return the corner with its samples."""
        x, p = float(self.point["x"]), self.point.get("p")
        return Corner(self.group["label"], self.point["label"], x, p, samples, reached)

    def point_run(self, place: int) -> PointRun[Sample]:
        """Ask for replications until the corner is as precise as the effort wants."""
        texts = {name: json.dumps(scenario) for name, scenario in self.scenarios.items()}
        seed = int(next(iter(self.scenarios.values()))["run"]["seed"])
        first, batch, most = (self.effort[key] for key in ("first", "batch", "most"))
        if self.group.get("deterministic", False):
            first, batch, most = 2, 2, 2
        asking = ask_until(self._precise, first=first, batch=batch, most=most)
        return PointRun(place, seed, texts, asking)

    def _precise(self, samples: Sequence[Mapping[str, Sample]]) -> bool:
        by_series = {name: [one[name] for one in samples] for name in self.scenarios}
        estimates = self.wanted(self.corner(by_series, reached=False))
        return all(estimate.relative() <= self.effort["precision"] for estimate in estimates)


def _run(context: Context, cells: Sequence[_Cell], trace: Sequence[str]) -> list[Done[Sample]]:
    """Run cells, and note the runs, cell by cell."""
    every = [(cell.label, cell.point_run(place)) for place, cell in enumerate(cells)]
    resolved = [scenario for cell in cells for scenario in cell.scenarios.values()]
    found = make_all(context, every, resolved, partial(_sample, context.done, trace))
    for done in found:
        for numbers in done.batches:
            for samples in done.samples.values():
                prints = [samples[number].summary["fingerprint"] for number in numbers]
                context.fingerprints.append(together(prints))
    return found


def _sample(
    done: dict[Key, Sample],
    tables: Sequence[str],
    order: Order,
    number: int,
    monitor: _core.Monitor,
) -> Sample:
    """Return all that a run leaves; one that the paper has made already is not made again.

    A run with tables is not kept, for these are large.
    """
    if tables:
        return replication(order, number, monitor, tables)
    key = (order.scenario, order.seed, number)
    try:
        return done[key]
    except KeyError:
        done[key] = found = replication(order, number, monitor)
        return found


@dataclass(frozen=True)
class Run:
    """The runs of one series at one corner.

    Attributes
    ----------
    group, point, series
        Names of the group, the point and the series.
    x
        Where the point is drawn.
    settings
        The settings of the plan for the scenario, by path.
    scenario
        The scenario, resolved.
    replications
        The number of runs that an effort begins with.
    """

    group: str
    point: str
    series: str
    x: float
    settings: Document
    scenario: Document
    replications: int

    @property
    def label(self) -> str:
        """Name of the run in its target."""
        return " ".join(part for part in (self.group, self.point, self.series) if part)


def runs_of(context: Context, name: str) -> Iterator[Run]:
    """Return all that a grid runs at an effort, in the order of `run_grid`.

    Parameters
    ----------
    context
        The target.
    name
        Which table of its plan is the grid.
    """
    grid = _grid(context, name)
    effort = _effort(context, grid)
    for group in _chosen(effort, "groups", grid.get("groups", [_ALL])):
        first = 2 if group.get("deterministic", False) else effort["first"]
        for point in _chosen(effort, "points", grid["points"]):
            at = grid["points"].index(point)
            for series, settings in _settings(context, grid, group, at, point, effort).items():
                yield Run(
                    group["label"], point["label"], series, float(point["x"]), settings,
                    context.scenario(settings), first,
                )  # fmt: skip


def _scenarios(
    context: Context, grid: Document, group: Document, i: int, point: Document, effort: Document
) -> dict[str, Document]:
    """Build the resolved scenario of every series at one corner."""
    every = _settings(context, grid, group, i, point, effort)
    return {label: context.scenario(settings) for label, settings in every.items()}


def _settings(
    context: Context, grid: Document, group: Document, i: int, point: Document, effort: Document
) -> dict[str, Document]:
    """Return the settings of the plan for every series at one corner."""
    settings: Document = {
        **context.plan.get("set", {}),
        **grid.get("set", {}),
        **point.get("set", {}),
        **group.get("set", {}),
    }
    if "at" in group:
        settings.update(group["at"][i])
    if "bursts" in effort:
        bursts = int(effort["bursts"])
        if "losses" in effort and point.get("p"):
            bursts = max(bursts, math.ceil(effort["losses"] / point["p"]))
        settings["run.bursts"] = bursts
    for field in ("duration", "warmup"):
        if field in effort:
            settings[f"run.{field}"] = effort[field]
    return {
        one["label"]: {**settings, **one.get("set", {})}
        for one in _series(grid, group, point, effort)
    }


def _series(grid: Document, group: Document, point: Document, effort: Document) -> list[Document]:
    """Return the series of a grid that an effort runs at one corner."""
    chosen = _chosen(effort, "series", grid["series"])
    allowed: list[Sequence[str]] = [group["series"]] if "series" in group else []
    for rule in effort.get("only", ()):
        groups = _chosen(rule, "groups", grid.get("groups", [_ALL]))
        if group in groups and point in _chosen(rule, "points", grid["points"]):
            allowed.append([one["label"] for one in _chosen(rule, "series", grid["series"])])
    return [one for one in chosen if all(one["label"] in labels for labels in allowed)]
