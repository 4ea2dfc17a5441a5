"""Paired runs over a grid: points, groups of settings, and the series compared within each.

A plan's table ``grid`` has ``points`` (``label``, ``x``, optionally ``p`` and ``set``), ``series``
(``label`` and ``set``) and optionally ``groups`` (``label``, ``set``, ``at``: one table of settings
a point, ``series``: the labels that are run, ``deterministic``: nothing is drawn, so two
replications, which agree, are enough). Within a group and point all series have the same random
numbers. Replications are added until the compared numbers are as precise as the plan asks. Where an
effort names ``points``, ``groups`` or ``series`` by their labels, it runs these alone.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from burstlab import _core
from burstlab.engine import Bound
from burstlab.loading import Document
from burstlab.reproduce.context import Context
from burstlab.results import Replication, together
from burstlab.simulation import replicate, that_fit
from burstlab.statistics import Asking, Estimate, ask_until, mean_ci95, paired_ratio
from burstlab.studies.running import Done, Progress, Running, Visit
from burstlab.studies.work import Answer, Order
from burstlab.studies.workers import threads
from burstlab.underway import workers_asked

#: The group of a plan that names none.
_ALL: Document = {"label": ""}


#: What one replication of one series left: its summary, and the tables that the plan wants traced.
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
        One per replication, by series.
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
        above, below = self.values(series, metric), self.values(over, metric)
        return _floored(paired_ratio(above, below), [*above, *below])


def _floored(estimate: Estimate, values: Sequence[float]) -> Estimate:
    """Keep the interval of numbers none of which is negative (rates, times, counts) from zero."""
    return replace(estimate, least=0.0) if values and min(values) >= 0.0 else estimate


#: Answers the estimates of a corner that have to be precise.
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
        What must reach the precision of the effort.
    """
    grid: Document = context.plan[name]
    effort = _effort(context, grid)
    groups = _chosen(effort, "groups", grid.get("groups", [_ALL]))
    points = _chosen(effort, "points", grid["points"])
    cells = [(g, grid["points"].index(point), point) for g in groups for point in points]
    corners: list[Corner] = []
    for done, (group, i, point) in enumerate(cells):
        what = " ".join(part for part in (group["label"], point["label"]) if part)
        context.progress(done / len(cells), f"{context.target}: {what}")
        corners.append(_corner(context, grid, group, i, point, wanted))
    return corners


def _effort(context: Context, grid: Document) -> Document:
    return {**context.plan[context.effort], **grid.get(context.effort, {})}


def _chosen(effort: Document, kind: str, entries: Sequence[Document]) -> list[Document]:
    """Return the entries of a grid that an effort runs, in the order of the grid."""
    named: Sequence[str] | None = effort.get(kind)
    missing = set(named or ()) - {entry["label"] for entry in entries}
    if missing:
        raise ValueError(f"{kind} of an effort: the grid has no {sorted(missing)}")
    return [entry for entry in entries if named is None or entry["label"] in named]


def _corner(
    context: Context,
    grid: Document,
    group: Document,
    i: int,
    point: Document,
    wanted: Wanted,
) -> Corner:
    effort = _effort(context, grid)
    scenarios = _scenarios(context, grid, group, i, point, effort)
    trace: Sequence[str] = grid.get("trace", ())

    def corner(samples: Mapping[str, Sequence[Sample]], reached: bool) -> Corner:
        x, p = float(point["x"]), point.get("p")
        return Corner(group["label"], point["label"], x, p, samples, reached)

    def precise(samples: Sequence[Mapping[str, Sample]]) -> bool:
        by_series = {name: [one[name] for one in samples] for name in scenarios}
        estimates = wanted(corner(by_series, reached=False))
        return all(estimate.relative() <= effort["precision"] for estimate in estimates)

    first, batch, most = effort["first"], effort["batch"], effort["most"]
    if group.get("deterministic", False):
        first, batch, most = 2, 2, 2
    asking = ask_until(precise, first=first, batch=batch, most=most)
    done = _run(context, scenarios, asking, trace)
    for numbers in done.batches:
        for samples in done.samples.values():
            prints = [samples[number].summary["fingerprint"] for number in numbers]
            context.fingerprints.append(together(prints))
    return corner(done.samples, done.reached)


def _run(
    context: Context,
    scenarios: Mapping[str, Document],
    asking: Asking[Sample],
    trace: Sequence[str],
) -> Done[Sample]:
    """Run a corner as a study runs a point."""
    resolved = list(scenarios.values())
    texts = {name: json.dumps(scenario) for name, scenario in scenarios.items()}
    visit = Visit(0, int(resolved[0]["run"]["seed"]), texts, asking)
    jobs = workers_asked(context.jobs)
    with threads(min(that_fit(scenario, jobs) for scenario in resolved)) as ready:
        do = partial(_observe, list(trace))
        running = Running(iter([visit]), do, ready, Bound(resolved[0]), Progress(1), 1)
        with closing(running.points()) as points:
            return next(done for finished in points for done in finished)


def _observe(tables: list[str], orders: Sequence[Order], monitor: _core.Monitor) -> Answer[Sample]:
    """Do orders as a worker of a study does, and keep all that their runs leave."""
    started = time.perf_counter()
    results: list[list[Sample]] = []
    for order in orders:
        results.append([])
        for number in range(order.first, order.first + order.count):
            found, end = replicate(order.scenario, order.seed, number, monitor, tables)
            if end is not None:
                raise end
            results[-1].append(found)
    engine_s = time.perf_counter() - started
    return Answer(results, sum(map(len, results)), 0.0, engine_s, 0.0, [])


@dataclass(frozen=True)
class Run:
    """What is run of one series at one corner.

    Attributes
    ----------
    group, point, series
        Names of the group, the point and the series.
    x
        Where the point is drawn.
    settings
        What the plan sets in the scenario, by path.
    scenario
        The scenario, resolved.
    replications
        How many an effort begins with.
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
    grid: Document = context.plan[name]
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
    """Return what the plan sets in the scenario of every series at one corner."""
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
    labels: Sequence[str] | None = group.get("series")
    return {
        one["label"]: {**settings, **one.get("set", {})}
        for one in _chosen(effort, "series", grid["series"])
        if labels is None or one["label"] in labels
    }
