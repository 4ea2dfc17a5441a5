"""Metrics by name: paths into the summary of a run.

A path goes through tables by name, ``counters.packets_lost``, and through a list by index, by the
``label`` (``name``, ``cause``) of an entry, which of the demands only one may have, or over all of
it by ``mean``, ``sum``, ``min`` or ``max``: ``flows.mean.goodput_bps``,
``demand.web.received_p99_s``, ``network.links.max.utilisation``,
``network.data.causes.contention.bursts``. Through ``classes`` it goes by the number of the class,
``network.all.classes.1.burst_loss_ratio``. A completion time has no value in a run whose
unfinished transfers could change it (see `burstlab.measures.completion`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from burstlab.errors import PlanError
from burstlab.measures.completion import (
    is_biased,
    is_open,
    leaves_under_way,
    may_be_biased,
    unbiased,
)
from burstlab.measures.demands import OVER_ALL, demand_names

Summary = Mapping[str, Any]

_OVER: Mapping[str, Callable[[list[float]], float]] = dict(
    zip(OVER_ALL, (lambda values: sum(values) / len(values), sum, min, max), strict=True)
)

#: Fields that name an entry of a list.
_LABELS = ("label", "name", "cause")

#: Parts of a summary that are no measurement, or that a run of its own may lack.
_NOT_MEASURED = ("seed", "replication", "id", "detector", "simulated_s", "measured_s")

#: Not metrics: sums of other numbers that are there too, and numbers that the scenario sets.
_LEFT_OUT = ("network.all", "flows.mean.bytes")


class NoMetric(LookupError):
    """A path leads to no number."""


def value_at(summary: Summary, path: str) -> float | None:
    """Return the number at a path, or None if the run has no value there.

    Raises
    ------
    NoMetric
        If there is no such place.
    """
    return _number(_within(summary, _steps(path)))


class Reader:
    """Reads some metrics of a run.

    Those of one table are read together: most studies keep every number, of many short runs.

    Parameters
    ----------
    paths
        Where the metrics are.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._count = len(paths)
        tables: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        for index, path in enumerate(paths):
            *table, name = _steps(path)
            tables.setdefault(tuple(table), []).append((index, name))
        self._tables = [
            (table, *zip(*wanted, strict=True), any(may_be_biased(name) for _, name in wanted))
            for table, wanted in tables.items()
        ]

    def read(self, summary: Summary) -> tuple[float | None, ...]:
        """Return the metrics in their order; None where the run has no such number."""
        values: list[float | None] = [None] * self._count
        for table, places, names, doubtful in self._tables:
            try:
                found = _within(summary, table)
            except NoMetric:
                continue  # another point of the study has it
            if type(found) is dict:
                numbers = list(map(found.get, names))
                if str in map(type, numbers):
                    numbers = [None if type(one) is str else one for one in numbers]
                if doubtful:
                    named = zip(names, numbers, strict=True)
                    numbers = [None if is_biased(found, name) else one for name, one in named]
                for index, number in zip(places, numbers, strict=True):
                    values[index] = number
            else:
                for index, name in zip(places, names, strict=True):
                    with suppress(NoMetric):
                        values[index] = _number(_within(found, (name,)))
        return tuple(values)


class _Over:
    """All entries of a list, and the operation on a number of each."""

    def __init__(self, entries: Sequence[Any], step: str) -> None:
        self._entries = entries
        self._step = step

    def within(self, steps: Sequence[str]) -> float | None:
        if any(isinstance(one, Mapping) and is_open(one, steps[0]) for one in self._entries):
            return None
        numbers: list[float] = []
        for entry in self._entries:
            number = _number(_within(entry, steps))
            if number is not None:
                numbers.append(number)
            elif isinstance(entry, Mapping) and leaves_under_way(entry):
                return None
        return _OVER[self._step](numbers) if numbers else None


def _steps(path: str) -> list[str]:
    return path.replace("[", ".").replace("]", "").split(".")


def _within(value: Any, steps: Sequence[str]) -> Any:
    for depth, step in enumerate(steps):
        if isinstance(value, dict):
            if step not in value:
                raise NoMetric(step)
            value = unbiased(value, step)
        elif isinstance(value, list):
            if step in _OVER:
                over = _Over(value, step)
                if len(value) == 1:
                    value = value[0]  # which is its own mean
                    continue
                return over.within(rest) if (rest := steps[depth + 1 :]) else over
            before = steps[depth - 1] if depth > 0 else ""
            if before == "classes" and step.isdigit():
                value = _class(value, int(step))
            else:
                value = _entry(value, step, apart=before == "demand")
        elif isinstance(value, _Over):
            return value.within(steps[depth:])
        else:
            raise NoMetric(step)
    return value


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise NoMetric("not a number")


def _entry(entries: Sequence[Any], step: str, *, apart: bool) -> Any:
    if step.isdigit():
        if int(step) < len(entries):
            return entries[int(step)]
    else:
        named = [
            entry
            for entry in entries
            if isinstance(entry, Mapping) and any(entry.get(key) == step for key in _LABELS)
        ]
        # Demands of one label are not one demand: each goes by its index.
        if named and (len(named) == 1 or not apart):
            return named[0]
    raise NoMetric(step)


def _class(entries: Sequence[Any], number: int) -> Any:
    for entry in entries:
        if entry["class"] == number:
            return entry
    raise NoMetric(str(number))


def every(summary: Summary) -> list[str]:
    """Return the paths of all single numbers, of causes and classes, and of the means over flows.

    Sums over all kinds of bursts are left out: their parts are there.
    """
    return list(dict.fromkeys(_walk(summary, "")))


def _walk(table: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in table.items():
        here = f"{path}{name}"
        if name in _NOT_MEASURED or here in _LEFT_OUT or name.endswith("_mean_bound_s"):
            continue
        if isinstance(value, Mapping):
            yield from _walk(value, f"{here}.")
        elif here == "flows":
            for flow in value:
                yield from _walk(flow, "flows.mean.")
        elif here == "demand":
            for called, demand in zip(demand_names(value), value, strict=True):
                yield from _walk(demand, f"demand.{called}.")
        elif name == "causes":
            for cause in value:
                yield from _walk(cause, f"{here}.{cause['cause']}.")
        elif name == "classes":
            for one in value:
                numbers = {key: number for key, number in one.items() if key != "class"}
                yield from _walk(numbers, f"{here}.{one['class']}.")
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield here


def check(metrics: Mapping[str, str], summaries: Sequence[Summary]) -> None:
    """Refuse a metric that no run has; the error names the nearest one.

    Parameters
    ----------
    metrics
        Paths by name.
    summaries
        Summaries of runs of the study's first point.
    """
    for name, path in metrics.items():
        if any(_has(summary, path) for summary in summaries):
            continue
        known = list(dict.fromkeys(one for summary in summaries for one in every(summary)))
        near = difflib.get_close_matches(path, known, n=3, cutoff=0.5)
        fix = (
            f"did you mean {' or '.join(near)}?"
            if near
            else f"known are {', '.join(known[:8])}, ..."
        )
        where = "metrics" if name == path else f"metrics.{name}"
        raise PlanError(where, path, "a run has no such number", fix)


def _has(summary: Summary, path: str) -> bool:
    try:
        value_at(summary, path)
    except NoMetric:
        return False
    return True
