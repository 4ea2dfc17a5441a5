"""Compares results that lie in directories: which parameters differ, and which metrics.

Runs with the same seed have the same random numbers in replications of the same number: they are
compared pair by pair (a paired t test), others by Welch's test. The p-values of all comparisons
that are made together are corrected after Holm: the chance that any of them is called significant
though there is no difference is at most 5 %.
"""

from __future__ import annotations

import json
import math
import operator
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from burstlab.documents.stored_fields import Fields, leaves
from burstlab.errors import InputError
from burstlab.measures.completion import is_of_completion
from burstlab.results import Result, read_head
from burstlab.results import read as read_run
from burstlab.statistics import (
    LEVEL,
    Comparison,
    Estimate,
    holm,
    paired_difference,
    welch_difference,
)
from burstlab.storage.directories import SUMMARY, Names, is_unsettled, names_in, settle
from burstlab.storage.heads import Head
from burstlab.studies import Study
from burstlab.studies import read as read_study
from burstlab.studies.metrics import Reader, every
from burstlab.studies.rows import groups, paths

#: The common key of runs of a group: the settings of their point as JSON, and their scheme.
Key: TypeAlias = tuple[str, str]

#: The file of a study.
_STUDY = "study.json"


@dataclass(frozen=True, slots=True)
class Samples:
    """Runs of one scenario that differ in their random numbers alone.

    Attributes
    ----------
    seeds
        The seed of each, by number of the replication.
    names
        The metrics.
    rows
        Their values in each run, in the order of `seeds`; none where it has no value.
    """

    seeds: Mapping[int, int]
    names: tuple[str, ...]
    rows: Sequence[array[float]]

    @property
    def values(self) -> dict[str, dict[int, float]]:
        """Values of each metric by number of the replication; missing ones are left out."""
        runs = list(zip(self.seeds, self.rows, strict=True))
        return {
            name: {number: row[place] for number, row in runs if not math.isnan(row[place])}
            for place, name in enumerate(self.names)
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """A result in a directory.

    Attributes
    ----------
    label
        Its directory, as it was given.
    kind
        ``"run"`` or ``"study"``.
    version
        Version of burstlab that made it.
    seed
        Its seed.
    interrupted
        Whether some of it is missing.
    parameters
        Its settings: fields of the scenario, or of the plan, by path.
    samples
        Its runs, by what they have in common.
    study
        The whole, of a study.
    """

    label: str
    kind: str
    version: str
    seed: int
    interrupted: bool
    parameters: Mapping[str, Any]
    samples: Mapping[Key, Samples]
    study: Study | None = field(default=None, repr=False)

    @property
    def result(self) -> Result | Study:
        """The whole; that of a run is read anew."""
        return self.study if self.study is not None else read_run(self.label)

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return sum(len(group.seeds) for group in self.samples.values())

    def to_json(self) -> dict[str, Any]:
        """Return it as ``burstlab results --json`` lists it."""
        return {
            "result": self.label,
            "kind": self.kind,
            "burstlab": self.version,
            "seed": self.seed,
            "runs": self.runs,
            "points": len({point for point, _ in self.samples}),
            "interrupted": self.interrupted,
        }


@dataclass(frozen=True)
class Difference:
    """One metric of two groups of runs.

    Attributes
    ----------
    result, over
        The two: directories, or schemes of one study.
    point
        The settings of the point.
    scheme
        The scheme, where results are compared.
    metric
        Which metric.
    means
        Its two means.
        The difference of the means, with its test.
    p_holm
        The p-value, corrected for all comparisons; None if it cannot be computed.
    """

    result: str
    over: str
    point: Mapping[str, Any]
    scheme: str
    metric: str
    means: tuple[float, float]
    found: Comparison
    p_holm: float | None = None

    @property
    def significant(self) -> bool:
        """Whether they differ significantly."""
        return self.p_holm is not None and self.p_holm <= LEVEL

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value, which is to be corrected."""
        return self.found.p is not None and not self.equal

    @property
    def equal(self) -> bool:
        """Whether no run differs, so that there is nothing to test."""
        return self.found.difference.mean == 0.0 and self.found.difference.ci95 in (0.0, None)

    def to_json(self) -> dict[str, Any]:
        """Return it as ``burstlab results --json`` lists it."""
        return {
            "result": self.result,
            "over": self.over,
            "point": dict(self.point),
            "scheme": self.scheme,
            "metric": self.metric,
            "means": list(self.means),
            "difference": self.found.difference.to_json(),
            "test": "paired" if self.found.paired else "welch",
            "p": self.found.p,
            "p_holm": self.p_holm,
            "significant": self.significant,
        }


class Pair(NamedTuple):
    """Two groups of runs that are compared.

    Attributes
    ----------
    result, over, scheme
        As of a `Difference`.
    point
        The settings of the point, as JSON.
    a, b
        The runs.
    """

    result: str
    over: str
    point: str
    scheme: str
    a: Samples
    b: Samples

    def differences(self) -> Iterator[Difference]:
        """Return each metric that both have, without corrected p-values."""
        point = json.loads(self.point)
        for metric, means, found in _shared(self.a, self.b):
            yield Difference(self.result, self.over, point, self.scheme, metric, means, found)

    @property
    def is_single(self) -> bool:
        """Whether each of the two is one run, so that there is nothing to test."""
        return len(self.a.rows) == len(self.b.rows) == 1

    def alike(self) -> tuple[int, int]:
        """Return of two single runs how many metrics both have, and how many are equal."""
        (x,), (y,) = self.a.rows, self.b.rows
        if self.a.names != self.b.names:
            places = {name: place for place, name in enumerate(self.b.names)}
            both = [name for name in self.a.names if name in places]
            x = [x[place] for place, name in enumerate(self.a.names) if name in places]
            y = [y[places[name]] for name in both]
        # A sum with a NaN is NaN.
        there = len(x) - sum(map(math.isnan, map(operator.add, x, y)))
        return there, sum(map(operator.eq, x, y))


class Differences(Sequence[Difference]):
    """All differences of some pairs of groups; each is computed on demand.

    Ten thousand results have a million differences. Only their number is kept, and the p-values of
    those that were tested, which are corrected together.

    Parameters
    ----------
    pairs
        The groups that are compared.

    Attributes
    ----------
    tested, paired, equal
        How many were tested, how many of these by pairs, and how many are equal in every run.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._counts: list[int] = []
        self.tested = self.paired = self.equal = 0
        values: list[float] = []
        of_pair: list[tuple[int, int]] = []
        for index, pair in enumerate(pairs):
            if pair.is_single:
                count, equal = pair.alike()
                self._counts.append(count)
                self.equal += equal
                continue
            before, count = len(values), 0
            for one in pair.differences():
                count += 1
                self.equal += one.equal
                if one.is_tested:
                    values.append(one.found.p or 0.0)
                    self.paired += one.found.paired
            self._counts.append(count)
            if len(values) > before:
                of_pair.append((index, before))
        self.tested = len(values)
        self._corrected = holm(values)
        self._from = dict(of_pair)

    def __len__(self) -> int:
        return sum(self._counts)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[Difference]:
        for index in range(len(self._pairs)):
            yield from self._of(index)

    def significant(self) -> Iterator[Difference]:
        """Return the differences that are significant."""
        starts = [*self._from.values(), self.tested]
        for (index, start), end in zip(self._from.items(), starts[1:], strict=True):
            if any(p <= LEVEL for p in self._corrected[start:end]):
                yield from (one for one in self._of(index) if one.significant)

    def _of(self, index: int) -> Iterator[Difference]:
        place = self._from.get(index, 0)
        for one in self._pairs[index].differences():
            if one.is_tested:
                yield replace(one, p_holm=self._corrected[place])
                place += 1
            else:
                yield one


@dataclass(frozen=True)
class Compared:
    """The result of `compare`.

    Attributes
    ----------
    entries
        The results.
    parameters
        Those that differ: a value for each result, None where it has no such field.
    differences
        Every metric that they share, of each result after the first against the first; of a study
        alone, of each two of its schemes.
    """

    entries: Sequence[Entry]
    parameters: Mapping[str, Sequence[Any]]
    differences: Differences

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``burstlab results --json`` prints."""
        return {
            "results": [entry.to_json() for entry in self.entries],
            "parameters": {path: list(values) for path, values in self.parameters.items()},
            "level": LEVEL,
            "correction": "holm",
            "tests": self.differences.tested,
            "differences": [one.to_json() for one in self.differences],
        }


def find(directories: Sequence[str | os.PathLike[str]]) -> list[Entry]:
    """Read results; for a directory that is no result, the results in it.

    Raises
    ------
    InputError
        If there is no result, or a result cannot be read.
    """
    found: list[Entry] = []
    fields = Fields()
    for directory in directories:
        where = Path(directory)
        if not where.is_dir():
            raise InputError(
                f"{where}: no such directory\n  fix: give one that --out of run or study wrote"
            )
        settle(where)
        inside = [(where, names)] if _is_result(names := _names_of(where)) else _results_in(where)
        if not inside:
            raise InputError(
                f"{where}: holds no result of burstlab\n"
                "  fix: give one that --out of run or study named"
            )
        found.extend(_entry(one, there, fields) for one, there in inside)
    return found


def compare(entries: Sequence[Entry]) -> Compared:
    """Compare results with the first of them; one study alone by its schemes."""
    parameters: dict[str, list[Any]] = {}
    fields = [entry.parameters for entry in entries]
    for path in dict.fromkeys(chain.from_iterable(fields)):
        values = [one.get(path) for one in fields]
        if values.count(values[0]) < len(values):
            parameters[path] = values
    first = entries[0]
    if len(entries) == 1:
        pairs = list(_of_schemes(first))
    else:
        pairs = [one for entry in entries[1:] for one in _of_results(entry, first)]
    return Compared(entries, parameters, Differences(pairs))


def _results_in(directory: Path) -> list[tuple[Path, Names]]:
    with os.scandir(directory) as found:
        inside = [directory / name for name in sorted(one.name for one in found)]
    looked = [(one, _names_of(one)) for one in inside]
    return [(one, names) for one, names in looked if _is_result(names)]


def _names_of(directory: Path) -> Names:
    """Return the content of a directory, after an interrupted move there is completed."""
    names = names_in(directory)
    if is_unsettled(names):
        settle(directory)
        names = names_in(directory)
    return names


def _is_result(names: Names) -> bool:
    return any(names.get(name, False) for name in (SUMMARY, _STUDY))


def _entry(where: Path, names: Names, known: Fields) -> Entry:
    if names.get(_STUDY):
        study = read_study(where)
        plan = dict(leaves(study.plan.to_document()))
        samples = dict(_of_study(study))
        seed, version = study.plan.seed, study.version
        return Entry(str(where), "study", version, seed, study.interrupted, plan, samples, study)
    head = read_head(where, names)
    fields = known.of(head.scenario)
    samples = {_OF_RUNS: _of_run(head)}
    common = str(where), "run", head.version, head.seed, head.interrupted
    return Entry(*common, fields, samples)


def _key(point: Mapping[str, Any], scheme: str) -> Key:
    return json.dumps(point, sort_keys=True), scheme


#: The key of the runs of a result, which has no points.
_OF_RUNS = _key({}, "")


def _of_run(head: Head) -> Samples:
    names = _names(head) if head.summaries else ()
    reader = _reader(names)
    numbers = [summary["replication"] for summary in head.summaries]
    nan = math.nan
    rows = [
        array("d", [nan if value is None else value for value in reader.read(one)])
        for one in head.summaries
    ]
    return Samples(dict.fromkeys(numbers, head.seed), names, _known(rows, names))


#: The metrics of summaries, by the shape of these.
_metrics: dict[Any, tuple[str, ...]] = {}


def _names(head: Head) -> tuple[str, ...]:
    """Return the metrics of the first run; those of one that looks alike are known."""
    names = _metrics.get(head.looks)
    if names is None:
        names = _metrics[head.looks] = tuple(every(head.summaries[0]))
    return names


@lru_cache(maxsize=64)
def _reader(names: tuple[str, ...]) -> Reader:
    return Reader(names)


def _of_study(study: Study) -> Iterator[tuple[Key, Samples]]:
    import numpy as np

    table = study.runs
    names = study.metrics
    seeds = table["seed"].tolist()
    where = paths(study.plan, names)
    for group in groups(study.plan, table):
        count = group.values.shape[1]
        rows = [array("d", column.tolist()) for column in np.asarray(group.values).T]
        of_run = {i: int(seeds[group.first + i]) for i in range(count)}
        samples = Samples(of_run, tuple(names), _known(rows, where))
        yield _key(study.plan.points[group.point], group.scheme), samples


def _known(rows: list[array[float]], where: Sequence[str]) -> list[array[float]]:
    """Leave out completion times that some runs lack: their transfers took longest."""
    if len(rows) == 1:
        return rows
    missing = {
        place
        for row in rows
        if any(map(math.isnan, row))
        for place, one in enumerate(row)
        if math.isnan(one)
    }
    for place in missing:
        if is_of_completion(where[place]):
            for row in rows:
                row[place] = math.nan
    return rows


def _of_results(entry: Entry, first: Entry) -> Iterator[Pair]:
    for key, samples in entry.samples.items():
        if key in first.samples:
            yield Pair(entry.label, first.label, key[0], key[1], samples, first.samples[key])


def _of_schemes(entry: Entry) -> Iterator[Pair]:
    by_point: dict[str, dict[str, Samples]] = {}
    for (point, scheme), samples in entry.samples.items():
        by_point.setdefault(point, {})[scheme] = samples
    for point, by_scheme in by_point.items():
        for over, name in combinations(by_scheme, 2):
            yield Pair(name, over, point, "", by_scheme[name], by_scheme[over])


def _shared(a: Samples, b: Samples) -> Iterator[tuple[str, tuple[float, float], Comparison]]:
    """Compare each metric that two groups have, in pairs where these have the same numbers."""
    import numpy as np

    values = b.values
    for metric, of_a in a.values.items():
        of_b = values.get(metric, {})
        if not of_a or not of_b:
            continue
        pairs = [i for i in of_a if i in of_b and a.seeds[i] == b.seeds[i]]
        if len(of_a) == len(of_b) == 1:
            (x,), (y,) = of_a.values(), of_b.values()
            yield metric, (x, y), Comparison(Estimate(x - y, None, 1), None, len(pairs) == 1)
            continue
        if len(pairs) >= 2 or len(of_a) == len(of_b) == len(pairs) == 1:
            x, y = [of_a[i] for i in pairs], [of_b[i] for i in pairs]
            found = paired_difference(x, y)
        else:
            x, y = list(of_a.values()), list(of_b.values())
            found = welch_difference(x, y)
        yield metric, (float(np.mean(x)), float(np.mean(y))), found
