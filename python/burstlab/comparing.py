"""Compares results that lie in directories: which parameters differ, and which metrics.

Runs with the same seed have the same random numbers in replications of the same number: they are
compared pair by pair (a paired t test), others by Welch's test. The p-values of all comparisons
that are made together are corrected after Holm: the chance that any of them is called significant
though there is no difference is at most 5 %.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from burstlab import classes
from burstlab.completion import is_of_completion
from burstlab.directories import is_result, settle
from burstlab.errors import InputError
from burstlab.results import Result
from burstlab.results import read as read_run
from burstlab.statistics import LEVEL, Comparison, holm, paired_difference, welch_difference
from burstlab.studies import Study
from burstlab.studies import read as read_study
from burstlab.studies.metrics import Reader, every
from burstlab.studies.rows import groups, paths

#: What a group of runs has in common: the settings of its point as JSON, and its scheme.
Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Samples:
    """Runs of one scenario that differ in their random numbers alone.

    Attributes
    ----------
    seeds
        The seed of each, by number of the replication.
    values
        Of each metric, by number of the replication; what has no value is left out.
    """

    seeds: Mapping[int, int]
    values: Mapping[str, Mapping[int, float]]


@dataclass(frozen=True)
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
        What was run: fields of the scenario, or of the plan, by path.
    samples
        Its runs, by what they have in common.
    result
        The whole.
    """

    label: str
    kind: str
    version: str
    seed: int
    interrupted: bool
    parameters: Mapping[str, Any]
    samples: Mapping[Key, Samples]
    result: Result | Study = field(repr=False)

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
        What the point sets.
    scheme
        The scheme, where results are compared.
    metric
        Which metric.
    means
        Its two means.
    found
        How far they are apart.
    p_holm
        The p-value, corrected for all comparisons; None where it cannot be told.
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
    def equal(self) -> bool:
        """Whether there is nothing to test: no difference in any run."""
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


@dataclass(frozen=True)
class Compared:
    """What `compare` found.

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
    differences: Sequence[Difference]

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``burstlab results --json`` prints."""
        tests = sum(one.p_holm is not None for one in self.differences)
        return {
            "results": [entry.to_json() for entry in self.entries],
            "parameters": {path: list(values) for path, values in self.parameters.items()},
            "level": LEVEL,
            "correction": "holm",
            "tests": tests,
            "differences": [one.to_json() for one in self.differences],
        }


def find(directories: Sequence[str | os.PathLike[str]]) -> list[Entry]:
    """Read results; of a directory that is none, those within.

    Raises
    ------
    InputError
        If there is none, or one cannot be read.
    """
    found: list[Entry] = []
    for directory in directories:
        where = Path(directory)
        if not where.is_dir():
            raise InputError(
                f"{where}: no such directory\n  fix: give one that --out of run or study named"
            )
        settle(where)
        inside = [where] if _is_result(where) else sorted(filter(_is_result, where.iterdir()))
        if not inside:
            raise InputError(
                f"{where}: neither a result of burstlab nor a directory of some\n"
                "  fix: give one that --out of run or study named"
            )
        found.extend(_entry(one) for one in inside)
    return found


def compare(entries: Sequence[Entry]) -> Compared:
    """Compare results with the first of them; one study alone by its schemes."""
    parameters: dict[str, list[Any]] = {}
    for path in dict.fromkeys(path for entry in entries for path in entry.parameters):
        values = [entry.parameters.get(path) for entry in entries]
        if any(value != values[0] for value in values):
            parameters[path] = values
    first = entries[0]
    if len(entries) == 1:
        differences = list(_of_schemes(first))
    else:
        differences = [one for entry in entries[1:] for one in _of_results(entry, first)]
    tested = [i for i, one in enumerate(differences) if one.found.p is not None and not one.equal]
    corrected = holm([differences[i].found.p or 0.0 for i in tested])
    for i, p in zip(tested, corrected, strict=True):
        differences[i] = replace(differences[i], p_holm=p)
    return Compared(entries, parameters, differences)


def _is_result(directory: Path) -> bool:
    return (directory / "study.json").is_file() or is_result(directory)


def _entry(where: Path) -> Entry:
    if (where / "study.json").is_file():
        study = read_study(where)
        plan = dict(_leaves(study.plan.to_document()))
        samples = dict(_of_study(study))
        seed, version = study.plan.seed, study.version
        return Entry(str(where), "study", version, seed, study.interrupted, plan, samples, study)
    run = read_run(where)
    fields = dict(_leaves(run.scenario))
    samples = {_key({}, ""): _of_run(run)}
    return Entry(str(where), "run", run.version, run.seed, run.interrupted, fields, samples, run)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)) and any(isinstance(one, Mapping) for one in value):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, list(value) if isinstance(value, tuple) else classes.brief(path, value)


def _key(point: Mapping[str, Any], scheme: str) -> Key:
    return json.dumps(point, sort_keys=True), scheme


def _of_run(run: Result) -> Samples:
    names = every(run.replications[0].summary) if run.replications else []
    reader = Reader(names)
    values: dict[str, dict[int, float]] = {name: {} for name in names}
    seeds: dict[int, int] = {}
    for one in run.replications:
        number = one.summary["replication"]
        seeds[number] = run.seed
        for name, value in zip(names, reader.read(one.summary), strict=True):
            if value is not None:
                values[name][number] = value
    return Samples(seeds, _known(values, dict(zip(names, names, strict=True)), len(seeds)))


def _of_study(study: Study) -> Iterator[tuple[Key, Samples]]:
    import numpy as np

    table = study.runs
    names = study.metrics
    seeds = table["seed"].tolist()
    for group in groups(study.plan, table):
        count = group.values.shape[1]
        values = {
            name: {i: float(row[i]) for i in range(count) if not np.isnan(row[i])}
            for name, row in zip(names, group.values, strict=True)
        }
        values = _known(values, dict(zip(names, paths(study.plan, names), strict=True)), count)
        of_run = {i: int(seeds[group.first + i]) for i in range(count)}
        yield _key(study.plan.points[group.point], group.scheme), Samples(of_run, values)


def _known(
    values: Mapping[str, dict[int, float]], where: Mapping[str, str], runs: int
) -> dict[str, dict[int, float]]:
    """Leave out completion times that some runs do not tell: there transfers took longest."""
    return {
        name: {} if len(found) < runs and is_of_completion(where[name]) else found
        for name, found in values.items()
    }


def _of_results(entry: Entry, first: Entry) -> Iterator[Difference]:
    for key, samples in entry.samples.items():
        if key in first.samples:
            point, scheme = json.loads(key[0]), key[1]
            for metric, means, found in _shared(samples, first.samples[key]):
                yield Difference(entry.label, first.label, point, scheme, metric, means, found)


def _of_schemes(entry: Entry) -> Iterator[Difference]:
    by_point: dict[str, dict[str, Samples]] = {}
    for (point, scheme), samples in entry.samples.items():
        by_point.setdefault(point, {})[scheme] = samples
    for point, by_scheme in by_point.items():
        for over, name in combinations(by_scheme, 2):
            for metric, means, found in _shared(by_scheme[name], by_scheme[over]):
                yield Difference(name, over, json.loads(point), "", metric, means, found)


def _shared(a: Samples, b: Samples) -> Iterator[tuple[str, tuple[float, float], Comparison]]:
    """Compare each metric that two groups have, in pairs where these have the same numbers."""
    import numpy as np

    for metric, of_a in a.values.items():
        of_b = b.values.get(metric, {})
        if not of_a or not of_b:
            continue
        pairs = [i for i in of_a if i in of_b and a.seeds[i] == b.seeds[i]]
        if len(pairs) >= 2 or len(of_a) == len(of_b) == len(pairs) == 1:
            x, y = [of_a[i] for i in pairs], [of_b[i] for i in pairs]
            found = paired_difference(x, y)
        else:
            x, y = list(of_a.values()), list(of_b.values())
            found = welch_difference(x, y)
        yield metric, (float(np.mean(x)), float(np.mean(y))), found
