"""Replay every case of a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from burstlab.errors import InputError, ScenarioError
from burstlab.oracle.cases import Case, NotReplayable
from burstlab.oracle.compare import (
    TIME_TOLERANCE_S,
    Difference,
    first_difference,
    first_tie,
    in_order,
)
from burstlab.oracle.index import read_index
from burstlab.oracle.rows import OF_TIES, Row, read_trace, rebuild, rebuild_several
from burstlab.oracle.several import ARRIVALS, SeveralCase
from burstlab.running.worker_pool import each
from burstlab.simulation import run


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case.

    Attributes
    ----------
    compared
        Number of rows that were compared and agree; with a tie, those before it.
    difference
        Where the logs differ before any tie; None if they do not.
    tie_s
        The first instant at which several flows tie at the queue that they share. From there on
        each simulator chooses the order, and the logs are not compared. None if there is none.
    agrees_beyond
        With a tie: whether the rows after it agree nevertheless.
    problem
        Why the case could not be run; empty if it was.
    """

    case: Case
    compared: int
    difference: Difference | None
    problem: str = ""
    tie_s: float | None = None
    agrees_beyond: bool = False

    @property
    def match(self) -> bool:
        """Whether every row was compared and agrees."""
        return self.outcome == "match"

    @property
    def outcome(self) -> str:
        """One of ``match``, ``tie``, ``differs`` and ``failed``."""
        if self.problem:
            return "failed"
        if self.difference is not None:
            return "differs"
        return "match" if self.tie_s is None else "tie"

    def to_json(self) -> dict[str, Any]:
        """Return the case as ``burstlab oracle --json`` prints it."""
        first = str(self.difference) if self.difference else self.problem or None
        return {
            "case": self.case.name,
            "variant": self.case.variant,
            "match": self.match,
            "outcome": self.outcome,
            "compared": self.compared,
            "first_difference": first,
            "tie_s": self.tie_s,
            "agrees_beyond": self.agrees_beyond if self.tie_s is not None else None,
        }


@dataclass(frozen=True)
class Report:
    """The outcomes of a directory, in the order of its index."""

    outcomes: list[Outcome]
    skipped: list[tuple[Case, str]]

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``burstlab oracle --json``."""
        return {
            "cases": [outcome.to_json() for outcome in self.outcomes],
            "skipped": [
                {"case": case.name, "variant": case.variant, "reason": reason}
                for case, reason in self.skipped
            ],
        }


def replay(
    directory: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Report:
    """Replay the cases listed in ``index.json`` of a directory.

    Raises
    ------
    InputError
        If the index or a trace cannot be read; the error names file and line.
    """
    where = Path(directory)
    cases = read_index(where)
    skipped: list[tuple[Case, str]] = []
    work: list[tuple[Case, Mapping[str, Any]]] = []
    problems: dict[str, Outcome] = {}
    for case in cases:
        try:
            work.append((case, case.scenario()))
        except NotReplayable as reason:
            skipped.append((case, str(reason)))
        except InputError as error:
            problems[case.name] = Outcome(case, 0, None, str(error))
    # Cases that behave alike share a trace.
    recorded = lru_cache(maxsize=64)(
        lambda path, several: in_order(read_trace(path, several=several))
    )
    done: dict[str, Outcome] = dict(problems)
    for outcome in each(lambda one: _replay_one(*one, recorded), work, jobs):
        done[outcome.case.name] = outcome
        if progress is not None:
            progress(len(done) / len(cases))
    return Report([done[case.name] for case in cases if case.name in done], skipped)


def _replay_one(
    case: Case, document: Mapping[str, Any], recorded: Callable[[Path, bool], list[Row]]
) -> Outcome:
    several = isinstance(case, SeveralCase)
    theirs = [row for row in recorded(case.trace, several) if row.t <= case.until_s + 1e-12]
    try:
        result = run(document, trace=("packets", "cwnd"), jobs=1)
    except ScenarioError as error:
        return Outcome(case, 0, None, str(error))
    if isinstance(case, SeveralCase):
        ours = in_order(rebuild_several(result, case.tick_s, case.until_s, case.kind))
        return _up_to_a_tie(case, theirs, ours)
    ours = in_order(rebuild(result, case.tick_s, case.until_s, assembled=case.assembled))
    difference = first_difference(theirs, ours)
    return Outcome(case, difference.index if difference else len(theirs), difference)


def _up_to_a_tie(case: SeveralCase, theirs: list[Row], ours: list[Row]) -> Outcome:
    """Compare the logs of several flows until the first tie in either."""
    queues = ARRIVALS[case.kind]
    ties = [first_tie(log, arrivals) for log in (theirs, ours) for arrivals in queues]
    tie_s = min((tie for tie in ties if tie is not None), default=None)
    theirs, ours = ([row for row in log if row.event not in OF_TIES] for log in (theirs, ours))
    whole = first_difference(theirs, ours)
    if tie_s is None:
        return Outcome(case, whole.index if whole else len(theirs), whole)
    until_s = tie_s - TIME_TOLERANCE_S
    before = [[row for row in log if row.t < until_s] for log in (theirs, ours)]
    difference = first_difference(*before)
    compared = difference.index if difference else len(before[0])
    return Outcome(case, compared, difference, tie_s=tie_s, agrees_beyond=whole is None)
