"""Replay every case of a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from burstlab.errors import InputError, ScenarioError
from burstlab.oracle.cases import Case, NotReplayable, read_index
from burstlab.oracle.compare import Difference, first_difference, in_order
from burstlab.oracle.rows import Row, read_trace, rebuild
from burstlab.simulation import run


@dataclass(frozen=True)
class Outcome:
    """What became of one case.

    Attributes
    ----------
    compared
        Number of rows that were compared and agree.
    difference
        Where the logs part; None if they do not.
    problem
        Why the case could not be run; empty if it was.
    """

    case: Case
    compared: int
    difference: Difference | None
    problem: str = ""

    @property
    def match(self) -> bool:
        """Whether every row agrees."""
        return self.difference is None and not self.problem

    def to_json(self) -> dict[str, Any]:
        """Answer the case as ``burstlab oracle --json`` prints it."""
        first = str(self.difference) if self.difference else self.problem or None
        return {
            "case": self.case.name,
            "variant": self.case.variant,
            "match": self.match,
            "compared": self.compared,
            "first_difference": first,
        }


@dataclass(frozen=True)
class Report:
    """The outcomes of a directory, in the order of its index."""

    outcomes: list[Outcome]
    skipped: list[tuple[Case, str]]

    def to_json(self) -> dict[str, Any]:
        """Answer the document of ``burstlab oracle --json``."""
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
    recorded = lru_cache(maxsize=64)(lambda path: in_order(read_trace(path)))
    done: dict[str, Outcome] = dict(problems)
    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count()) as pool:
        futures = [pool.submit(_replay_one, case, doc, recorded) for case, doc in work]
        try:
            for future in as_completed(futures):
                outcome = future.result()
                done[outcome.case.name] = outcome
                if progress is not None:
                    progress(len(done) / len(cases))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Report([done[case.name] for case in cases if case.name in done], skipped)


def _replay_one(
    case: Case, document: Mapping[str, Any], recorded: Callable[[Path], list[Row]]
) -> Outcome:
    theirs = [row for row in recorded(case.trace) if row.t <= case.until_s + 1e-12]
    try:
        result = run(document, trace=("packets", "cwnd"), jobs=1)
    except ScenarioError as error:
        return Outcome(case, 0, None, str(error))
    ours = in_order(rebuild(result, case.tick_s, case.until_s, assembled=case.assembled))
    difference = first_difference(theirs, ours)
    return Outcome(case, difference.index if difference else len(theirs), difference)
