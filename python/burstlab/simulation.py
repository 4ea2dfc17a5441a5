"""Run a scenario: replications side by side, the same numbers for any number of workers."""

from __future__ import annotations

import json
import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from burstlab import _core, classes
from burstlab.documents.paths import without_none
from burstlab.errors import (
    ControlError,
    EngineError,
    InputError,
    MemoryExceeded,
)
from burstlab.loading import Document, ScenarioLike, admitted, read_toml, to_document
from burstlab.measures.summary_text import read_summary, shortened
from burstlab.results import Interrupted, Replication, Result, marks_of
from burstlab.running import lazy_load
from burstlab.running.checked import Checked
from burstlab.running.checkpoints import EVERY, Checkpoints
from burstlab.running.engine import Bound, fault, scenario_error
from burstlab.running.interrupts import deferred
from burstlab.running.worker_pool import UnderWay, threads, workers_asked
from burstlab.storage.directories import SCENARIO, Place
from burstlab.storage.parquet import Part, Store, assemble
from burstlab.tables import Recorded, to_trace

Progress = Callable[[float], None]

#: The early ends of a run that keep the part before them. Any other end keeps nothing.
_KEEPS = (KeyboardInterrupt, EngineError, MemoryExceeded)

#: The exception that ended a run early; None if it ran to its end.
End: TypeAlias = KeyboardInterrupt | EngineError | MemoryExceeded | None

SEED_MAX = 2**63 - 1


def load(path: str | os.PathLike[str]) -> Document:
    """Read a scenario from a TOML file and check it.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    dict
        The fields of the file, as nested dictionaries to change and to hand to `run`. Defaults are
        not filled in; `resolve` does that.
    """
    document = to_document(path)
    resolve(document)
    return document


def resolve(scenario: ScenarioLike) -> Document:
    """Check a scenario and return it with every field that it uses, defaults included.

    The page of the scenario lists the fields that have no effect; those are left out.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file.

    Returns
    -------
    dict
        The values in force; it resolves to itself. ``tcp`` has the general parameters; each flow
        and demand has those that differ. Python classes are included as the text of their files;
        nothing is executed.

    Raises
    ------
    ScenarioError
        If a field is wrong; the error names the field and the fix.
    """
    return Checked(to_document(scenario)).resolved


def announcements(resolved: Document) -> list[str]:
    """Return the notices about a long or a large run, for the user to read before it begins.

    Parameters
    ----------
    resolved
        A scenario with every default, as `resolve` answers it.

    Raises
    ------
    ScenarioError
        If the run certainly needs more than the allowed memory.
    """
    return Checked(resolved).announcements()


def doubts(scenario: ScenarioLike) -> list[str]:
    """Return warnings about settings that are allowed but probably not meant.

    Each line names the field and the fix. A result repeats them among its warnings.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file; one that `resolve` accepts.
    """
    return Checked(to_document(scenario)).doubts()


def estimate(resolved: Document) -> tuple[float, float]:
    """Return the expected cost of a run: bytes of memory, and seconds on a machine of today.

    Memory is the least that the scenario needs. Time assumes one microsecond for each expected
    event: it separates seconds from hours, and no more.

    Parameters
    ----------
    resolved
        A scenario with every default, as `resolve` answers it.
    """
    return Checked(resolved).estimate()


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replications: int | None = None,
    trace: Iterable[str] | str = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: str = EVERY,
    resume: bool = False,
    allow_code: bool = False,
    announce: Callable[[str], object] | None = None,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file.
    seed
        0 to 2^63 - 1; by default that of the scenario.
    replications
        Number of independent repetitions; by default that of the scenario.
    trace
        Tables to record: any of ``"packets"``, ``"bursts"``, ``"cwnd"``, ``"ledger"`` and, of
        third-party hosts, ``"datagrams"``.
    out
        Directory to write to, as `Result.write` does. The tables go there during the run and are
        read from there on demand, so memory does not grow with them. By default tables are kept
        in memory. A directory that holds a result is refused, unless `resume` continues the run
        that wrote it.
    force
        Replace the whole result in `out` once this one is complete. If the run is stopped, its
        partial result goes to another directory; see the result's ``directory``.
    jobs
        Replications at a time; by default the number of processors. It changes no number.
    progress
        Called with the share done, 0 to 1, about ten times a second; True for a bar, on a
        terminal as in Jupyter.
    checkpoint
        Directory to write ``replication-N.ckpt`` to during the run and at its end. The files hold
        all that a run needs to continue. Not with `trace`. The tables of connections and samples
        of a mesh are then kept in memory, and in these files, until the end.
    checkpoint_every
        Wall time from one checkpoint to the next, such as ``"60 s"``, the default.
    resume
        Continue from the files in `checkpoint`, however that run ended. Replications without a
        file start at the beginning. All numbers equal the numbers of an uninterrupted run.
    allow_code
        Execute Python classes whose text is stored in the scenario, as in that of a result, and
        classes that came in a file with a result or a study. Read them before. Class files that
        your own scenario names need no permission.
    announce
        Called before the run begins with each notice about a long or a large run. By default these
        are Python warnings.

    Returns
    -------
    Result
        The finished run.

    Raises
    ------
    ScenarioError
        If a field of the scenario is wrong.
    ControlError
        If a class that it names cannot be used, or fails.
        If another argument is wrong, or a checkpoint is damaged or belongs to another run.
    MemoryExceeded
        If the run takes more memory than ``run.max_memory``; ``result`` of the error, and the
        directory, hold the numbers until then.
    EngineError
        If the engine fails because of a bug; it holds the same.
    Interrupted
        On Ctrl-C (a `KeyboardInterrupt`); it holds the same.
    """
    document = admitted(scenario, allow_code=allow_code)
    override(document, seed=seed, replications=replications)
    checked = Checked(document)
    resolved = checked.resolved
    for line in [*checked.announcements(), *checked.dropped()]:
        if announce is None:
            warnings.warn(line, stacklevel=2)
        else:
            announce(line)
    count = int(resolved["run"]["replications"])
    if checkpoint is None and resume:
        raise InputError("there is nothing to resume\n  fix: give the directory of checkpoints")
    with (
        Checkpoints(checkpoint, every=checkpoint_every, resume=resume, announce=announce)
        if checkpoint is not None
        else nullcontext() as kept,
        _watched(progress, resolved) as watch,
    ):
        return run_resolved(
            resolved,
            range(count),
            trace=trace,
            out=out,
            force=force,
            jobs=jobs,
            progress=watch,
            kept=kept,
            checked=checked,
        )


def _watched(
    progress: Progress | bool | None, resolved: Document
) -> AbstractContextManager[Progress | None]:
    if progress is not True:
        return nullcontext(progress or None)
    from burstlab.running.progress import bar

    section = resolved["run"]
    ends_early = section.get("bursts") is not None or section.get("drain") is not None
    each_s = 0.0 if ends_early else _core.seconds(section["duration"])
    return bar("running", simulated_s=each_s * int(section["replications"]))


def override(document: Document, *, seed: int | None, replications: int | None) -> None:
    """Put the seed and the number of replications into a scenario, after checking them."""
    section = document.setdefault("run", {})
    if not isinstance(section, dict):
        return
    if seed is not None:
        if not 0 <= seed <= SEED_MAX:
            raise InputError(f"seed {seed} is out of range\n  fix: use 0 to {SEED_MAX}")
        section["seed"] = seed
    if replications is not None:
        if replications < 1:
            raise InputError(
                f"replications = {replications}: at least one is needed\n  fix: use 1 or more"
            )
        section["replications"] = replications


def run_resolved(
    resolved: Document,
    numbers: Sequence[int],
    *,
    trace: Iterable[str] | str = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    kept: Checkpoints | None = None,
    checked: Checked | None = None,
) -> Result:
    """Run the given replications of a scenario that is already resolved.

    Without `checked`, the same scenario as the engine holds it, the engine reads it once again.
    """
    tables = to_trace(trace, resolved)
    if tables and kept is not None:
        raise InputError(
            "a traced run has no checkpoints\n  fix: leave out the trace, or the checkpoints"
        )
    if kept is not None and classes.used(resolved):
        raise InputError(
            "a run with a class of Python has no checkpoints\n  fix: leave out the checkpoints"
        )
    workers = workers_asked(jobs)
    if workers > 1 and len(numbers) > 1:
        checked = checked or Checked(resolved)
        workers = checked.that_fit(workers)
    work = _Work(resolved, checked.stored if checked else json.dumps(resolved), numbers, tables)
    if out is None:
        started = time.perf_counter()
        done, ended = _run_all(work, None, workers, progress, kept)
        result = _result(resolved, started, done, ended is not None)
    else:
        with Place(out, force=force, goes_on=_same_run(resolved, out, kept)) as place:
            result, ended = _run_into(place, work, workers, progress, kept)
    if isinstance(ended, KeyboardInterrupt):
        raise Interrupted(result)
    if ended is not None:
        ended.result = result
        raise ended
    return result


@dataclass(frozen=True)
class _Work:
    """Replications to run: a resolved scenario, the same for the engine, numbers and tables."""

    resolved: Document
    given: str | _core.Scenario
    numbers: Sequence[int]
    tables: list[str]


def _run_into(
    place: Place,
    work: _Work,
    workers: int,
    progress: Progress | None,
    kept: Checkpoints | None,
) -> tuple[Result, End]:
    """Run and write the tables to a directory as they come; add the result at the end."""
    resolved = work.resolved
    parts = [Part(place.path, number) for number in work.numbers]
    started = time.perf_counter()
    try:
        done, ended = _run_all(work, parts, workers, progress, kept)
        if not done:
            return _result(resolved, started, done, ended is not None), ended
        seed = int(resolved["run"]["seed"])
        marks = marks_of(_core.__version__, seed, [one.summary for one in done])
        names = assemble(place.path, parts[: len(done)], marks)
    finally:
        # Files that are in place no longer have the name under which they were written.
        for part in parts:
            part.discard()
    result = _result(resolved, started, done, ended is not None)
    directory = result.move_in(place, names)
    store = Store(directory, names, [part.replication for part in parts[: len(done)]])
    stored = [
        Replication(one.summary, store.part(number))
        for one, number in zip(done, store.replications, strict=True)
    ]
    return replace(result, replications=stored, directory=directory), ended


def _result(
    resolved: Document, started: float, done: list[Replication], interrupted: bool
) -> Result:
    wall_s = time.perf_counter() - started
    seed = int(resolved["run"]["seed"])
    return Result(resolved, seed, _core.__version__, wall_s, done, interrupted)


def _same_run(
    resolved: Document, out: str | os.PathLike[str], kept: Checkpoints | None
) -> Callable[[Mapping[str, Any]], bool]:
    """Return a check whether a result belongs to the run that continues from checkpoints."""

    def same(summary: Mapping[str, Any]) -> bool:
        if kept is None or not kept.resume or summary["burstlab"] != _core.__version__:
            return False
        with suppress(InputError):
            there = read_toml(Path(out) / SCENARIO)
            # More replications may be added.
            ours, theirs = (json.loads(json.dumps(one)) for one in (without_none(resolved), there))
            for one in (ours, theirs):
                one.get("run", {}).pop("replications", None)
                one.get("run", {}).pop("max_memory", None)
            return ours == theirs
        return False

    return same


def _run_all(
    work: _Work,
    parts: Sequence[Part] | None,
    workers: int,
    progress: Progress | None,
    kept: Checkpoints | None,
) -> tuple[list[Replication], End]:
    """Return the replications that were run, in order, and the exception that ended them early."""
    resolved, numbers, tables = work.resolved, work.numbers, work.tables
    if tables or parts or len(numbers) > 1:
        lazy_load.want(*lazy_load.TABLES)
    seed = int(resolved["run"]["seed"])
    bound = Bound(resolved)
    monitors = [_core.Monitor(bound.allowed) for _ in numbers]
    if kept is not None:
        kept.check(work.given, seed, numbers)
    ends: dict[int, EngineError | MemoryExceeded] = {}
    stopped = threading.Event()

    def one(index: int) -> Replication:
        sink = parts[index] if parts is not None else None
        asked = work.given, seed, numbers[index], monitors[index], tables, sink, kept
        found, end = replicate(*asked, stopped=stopped.is_set)
        if sink is not None:
            sink.written()
        if end is not None:
            ends[index] = end
        return found

    futures: list[Future[Replication]] = []
    under_way: UnderWay[int, Replication] = UnderWay(bound)

    def report() -> None:
        if progress is not None:
            done = len(futures) - len(under_way) + under_way.progress()
            progress(done / len(numbers))

    every_s = kept.every_s if kept is not None else math.inf
    try:
        with threads(workers, kept.ends_soon if kept is not None else None) as pool:

            def submit(index: int) -> Future[Replication]:
                futures.append(pool.submit(one, index))
                return futures[-1]

            def more() -> bool:
                first = len(futures)
                for index in range(first, min(first + under_way.room(workers), len(numbers))):
                    under_way.add(submit, index, about=index, monitor=monitors[index])
                return bool(under_way)

            try:
                _watch(under_way, more, ends, every_s, report)
            except BaseException as ended:
                stopped.set()
                if not isinstance(ended, _KEEPS):
                    for part in parts or ():
                        part.refuse()
                raise
            finally:
                under_way.stop()
        return [future.result() for future in futures], None
    except _KEEPS as ended:
        if not all(future.done() for future in futures):
            raise  # a second Ctrl-C, which does not wait for what the first one has kept
        return _what_is_done(futures), ended
    except _core.InvalidScenario as error:
        raise scenario_error(error) from None
    except _core.ClassError as error:
        raise ControlError(*error.args) from None


def replicate(
    scenario: str | _core.Scenario,
    seed: int,
    number: int,
    monitor: _core.Monitor,
    tables: list[str],
    sink: Part | None = None,
    kept: Checkpoints | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Replication, EngineError | MemoryExceeded | None]:
    """Run one replication; return it, and the exception that ended it early.

    Parameters
    ----------
    scenario
        The resolved scenario, as JSON or as the engine holds it.
    seed, number
        Of the run.
    monitor
        Can cancel it.
    tables
        The tables to record; none if checkpoints are kept.
    sink
        Takes the tables during the run.
    kept
        Where checkpoints are.
    stopped
        Whether the run is asked to end.
    """
    which = f"seed {seed}, replication {number}"
    try:
        if kept is None:
            output = _core.simulate(scenario, seed, number, tables, monitor, sink)
        else:
            keeper = kept.keeper(number)
            try:
                output = _core.simulate_kept(scenario, seed, number, monitor, keeper, sink)
            except _core.BadCheckpoint as error:
                raise keeper.refusal(error) from None
    except _core.EngineFault as error:
        raise fault(_document_of(scenario), error.args, which) from None
    found = Replication(read_summary(output.summary, stopped), Recorded(output.tables, number))
    if output.fault is not None:
        return found, fault(_document_of(scenario), output.fault, which)
    return found, MemoryExceeded(*output.stuck) if output.stuck is not None else None


def _document_of(scenario: str | _core.Scenario) -> Document:
    return json.loads(scenario if isinstance(scenario, str) else scenario.document())


def _watch(
    under_way: UnderWay[int, Replication],
    more: Callable[[], bool],
    ends: Mapping[int, EngineError | MemoryExceeded],
    every_s: float,
    report: Callable[[], None],
) -> None:
    """Wait for all replications; raise what ended one, or is to end all."""
    kept_at = time.monotonic()
    while more():
        finished = under_way.finished()
        if time.monotonic() - kept_at >= every_s:
            kept_at = time.monotonic()
            under_way.keep()
        for _, future in finished:
            future.result()
        if ends:
            raise ends[min(ends)]
        under_way.check()
        report()


def _what_is_done(futures: Sequence[Future[Replication]]) -> list[Replication]:
    """Return the results of the first replications that were begun; all have ended."""
    found: list[Replication] = []
    with deferred():
        for future in futures:
            if future.cancelled() or future.exception() is not None:
                break
            one = future.result()
            found.append(replace(one, summary=shortened(one.summary)))
    return found
