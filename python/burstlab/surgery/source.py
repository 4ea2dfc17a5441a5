"""The run that is operated on: one of a result, or of a scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab import _core, classes
from burstlab.errors import InputError
from burstlab.loading import Document, ScenarioLike, set_by_flags, to_document
from burstlab.results import Result, read
from burstlab.simulation import override, resolve


@dataclass(frozen=True)
class Source:
    """A run.

    Attributes
    ----------
    resolved
        Its scenario.
    seed, replication
        Which run of it.
    fingerprint
        That of the run, if it was made before and to its end.
    name
        How the user named it.
    """

    resolved: Document
    seed: int
    replication: int
    fingerprint: str | None
    name: str


def source(
    given: Result | ScenarioLike, *, seed: int | None = None, replication: int | None = None
) -> Source:
    """Find the run that is meant.

    Parameters
    ----------
    given
        A `Result`, the directory of one, or a scenario as `burstlab.run` takes it.
    seed
        Of a scenario: its seed; else that which it has.
    replication
        Number of the replication; by default the first.

    Raises
    ------
    InputError
        If the result is of another version, whose bursts have other numbers, or is none; or the
        scenario has classes of Python.
    """
    if isinstance(given, (str, os.PathLike)) and Path(given).is_dir():
        given = read(given)
    if isinstance(given, Result):
        found = _of_result(given, seed, replication)
    else:
        found = _of_scenario(given, seed, replication or 0)
    if classes.used(found.resolved):
        raise InputError(
            "a run with a Python class cannot be copied, since the state of the class is unknown\n"
            "  fix: write tcp.window_law and tcp.detector without it"
        )
    return found


def with_settings(
    given: str, settings: Sequence[str] | None, *, seed: int | None
) -> str | Document:
    """Return what is to be operated on: of a scenario with some fields changed.

    Parameters
    ----------
    given
        The directory of a result, or the file of a scenario.
    settings
        As ``--set`` takes them.
    seed
        As ``--seed`` takes it, which no setting may repeat.

    Raises
    ------
    InputError
        If a result is to be changed.
    """
    if not settings:
        return given
    if Path(given).is_dir():
        raise InputError(
            f"{given}: --set works only with a scenario, not with a result\n"
            f"  fix: leave it out, or give {Path(given) / 'scenario.toml'}"
        )
    return to_document(given, set_by_flags(settings, seed=seed))


def _of_result(result: Result, seed: int | None, replication: int | None) -> Source:
    name = str(result.directory) if result.directory else "the result"
    if result.version != _core.__version__:
        raise InputError(
            f"{name}: burstlab {result.version} made it, and this is {_core.__version__}: its "
            "bursts may have other numbers\n  fix: run it again with this version"
        )
    if seed is not None and seed != result.seed:
        raise InputError(
            f"--seed {seed}: {name} is of seed {result.seed}\n"
            "  fix: leave it out, or give the scenario"
        )
    runs: dict[int, Mapping[str, Any]] = {
        int(one.summary["replication"]): one.summary for one in result.replications
    }
    if not runs:
        raise InputError(f"{name}: no replication of it had begun\n  fix: run it again")
    number = min(runs) if replication is None else replication
    if number not in runs:
        raise InputError(
            f"--replication {number}: {name} has {', '.join(map(str, sorted(runs)))}\n"
            "  fix: give one of these"
        )
    run = runs[number]
    ended = not (result.interrupted or run.get("interrupted", False))
    resolved = resolve(dict(result.scenario))
    return Source(resolved, result.seed, number, run["fingerprint"] if ended else None, name)


def _of_scenario(given: ScenarioLike, seed: int | None, replication: int) -> Source:
    if replication < 0:
        raise InputError(f"--replication {replication}: out of range\n  fix: use 0 or more")
    document = to_document(given)
    override(document, seed=seed, replications=None)
    resolved = resolve(document)
    name = str(given) if isinstance(given, (str, os.PathLike)) else "the scenario"
    return Source(resolved, int(resolved["run"]["seed"]), replication, None, name)


def other_run(run: Source, made: str) -> InputError:
    """Return the error of a result that is not what its scenario makes here."""
    return InputError(
        f"{run.name}: its run has the fingerprint {run.fingerprint}, and this burstlab makes "
        f"{made} of its scenario\n  fix: run it again"
    )


def ps(text: str, flag: str) -> int:
    """Return a time such as ``"5 s"`` in ps."""
    try:
        seconds = _core.seconds(text)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise InputError(f"{flag}: {problem}\n  fix: {fix or 'write 5 s'}") from None
    if seconds <= 0.0:
        raise InputError(f"{flag} {text}: the time must be above 0\n  fix: write 5 s")
    return round(seconds * 1e12)
