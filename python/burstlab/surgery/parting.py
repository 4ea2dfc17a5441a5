"""What if this burst had arrived: a run, and the same run with operations on its bursts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import _core
from burstlab.errors import InputError, unknown
from burstlab.loading import Document, ScenarioLike
from burstlab.measures.summary_text import read_summary
from burstlab.results import Replication, Result
from burstlab.running import lazy_load
from burstlab.running.checkpoints import Keeper
from burstlab.running.engine import fault, heard, memory_allowed, scenario_error
from burstlab.running.worker_pool import UnderWay, threads
from burstlab.storage.directories import WHAT_IF, Room, holds
from burstlab.surgery.operations import Burst, entries, named, operated
from burstlab.surgery.source import Source, other_run, ps, source
from burstlab.tables import TRACES, Recorded, Table

if TYPE_CHECKING:
    from burstlab.surgery.divergence import Divergence

#: Tables of earlier versions, which had the names of tables of a result.
_EARLIER = ("connections.parquet", "bursts.parquet")


@dataclass(frozen=True)
class WhatIf:
    """Two runs that are equal until an operation on a burst.

    Attributes
    ----------
    first
        The original run. Its tables begin where the two runs part.
    other
        The run with the operations, which its scenario lists under ``surgery``.
    operations
        The outcome of each: ``effect`` is ``"done"``, ``"nothing"`` or ``"absent"``.
    parted_s
        Simulated time at which they part, shortly before the first of these bursts is closed.
    reached
        The progress of each connection in both runs: ``id``, ``bytes`` in order at its receiver,
        and ``until_ps``, when a finite transfer was complete, or the end of the run.
    wall_s
        The wall time of both, in seconds.
        How long it took.
    """

    first: Result
    other: Result
    operations: Sequence[Mapping[str, Any]]
    parted_s: float
    reached: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    wall_s: float

    @property
    def same(self) -> bool:
        """Whether both runs have one fingerprint, so that the operations changed nothing."""
        return self.first.fingerprint == self.other.fingerprint

    @cached_property
    def divergence(self) -> Divergence:
        """How the two differ."""
        from burstlab.surgery.divergence import Divergence

        return Divergence.of(self)

    @property
    def connections(self) -> Table:
        """One row per connection that differs between the runs, as in `Divergence`."""
        return self.divergence.connections

    @property
    def bursts(self) -> Table:
        """One row per burst that differs between the runs, as in `Divergence`."""
        return self.divergence.bursts

    @property
    def warnings(self) -> list[str]:
        """Operations that changed nothing, such as to spare a burst that is not lost."""
        from burstlab.surgery import effects

        return effects.warnings(self.operations)

    @property
    def summary(self) -> dict[str, Any]:
        """The document that ``burstlab what-if --json`` prints."""
        return {
            "burstlab": self.first.version,
            "seed": self.first.seed,
            "replication": int(self.first.replications[0].summary["replication"]),
            "parted_s": self.parted_s,
            "same": self.same,
            "fingerprints": [self.first.fingerprint, self.other.fingerprint],
            "operations": [dict(one) for one in self.operations],
            "warnings": self.warnings,
            **self.divergence.totals,
            "connections": self.connections.to_pylist(),
            "bursts": self.bursts.to_pylist(),
            "wall_s": round(self.wall_s, 6),
        }

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write both runs (``first``, ``other``) and their differences.

        The differences are ``different_connections.parquet``, ``different_bursts.parquet`` and
        ``what-if.json``. All files take their places together.

        Parameters
        ----------
        directory
            Where; a directory with another pair of runs, or anything else, is refused.
        force
            Replace another pair.

        Returns
        -------
        Path
            The directory.
        """
        from burstlab.storage.files import put
        from burstlab.storage.parquet import write_file, writing
        from burstlab.storage.sums import FIELD, sealed, sum_of

        with Room(directory, WHAT_IF, force=force) as room, writing(room.path):
            refuse_pair(room.path, force=force)
            new = room.begin()
            self.first.write(new / "first")
            self.other.write(new / "other")
            sums: dict[str, str] = {}
            for name, table in (("connections", self.connections), ("bursts", self.bursts)):
                path = new / f"different_{name}.parquet"
                write_file(path, [table])
                sums[path.name] = sum_of(path)
            document = sealed({**self.summary, FIELD: sums})
            text = json.dumps(document, indent=2, allow_nan=False)
            put(new / "what-if.json", f"{text}\n".encode())
            room.move_in(_EARLIER if (room.path / "what-if.json").exists() else ())
            return room.path


def refuse_pair(directory: Path, *, force: bool) -> None:
    """Refuse a directory that holds a pair of runs, unless it is to be replaced."""
    if holds(directory, WHAT_IF) and not force:
        raise InputError(
            f"{directory} holds the two runs of a what-if\n"
            "  fix: give another directory, or replace them (--force, force=True)"
        )


def what_if(
    given: Result | ScenarioLike,
    *,
    spare: Iterable[Burst] | Burst = (),
    kill: Iterable[Burst] | Burst = (),
    delay: Mapping[Burst, str] | None = None,
    convert: Iterable[Burst] | Burst = (),
    until: str | None = None,
    seed: int | None = None,
    replication: int | None = None,
    trace: Iterable[str] = TRACES,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> WhatIf:
    """Run a scenario up to some bursts, and from there twice: as it is and with operations.

    Both runs have the same random numbers, so every difference follows from these bursts.
    `burstlab.Surgery` defines each operation on a path, in a mesh and in a slotted network.

    Parameters
    ----------
    given
        A result, or the directory of one; a scenario, or the file of one.
    spare, kill, convert
        Bursts by their number in the tables ``bursts`` and ``packets`` (of slots: of the optical
        packet), ``"ack:7"`` for a burst with ACKs on a path, ``"all"`` for every burst.
    delay
        The extra delay of each burst, such as ``{4711: "2 ms"}``.
    until
        Simulated time at which both runs end, such as ``"5 s"``; by default the end of the run.
    seed
        Of a scenario: its seed.
    replication
        Which replication; by default the first.
    trace
        Tables to record once the two runs part: any of ``"packets"``, ``"bursts"``, ``"cwnd"``,
        ``"ledger"``. Without packets the first different packet is unknown, without bursts the
        whose fate differs.
    checkpoint
        File of a checkpoint to start from, taken before these bursts. If the file does not exist, a
        checkpoint is written to it where the two runs part.
    progress
        Called with the share done, 0 to 1.

    Returns
    -------
    WhatIf
        Both runs, and their differences.

    Raises
    ------
    ScenarioError
        If a field of the scenario is wrong.
    InputError
        If a burst is not in the run, another version made the result, or a checkpoint is of another
        run or later than the bursts.
    """
    run = source(given, seed=seed, replication=replication)
    more = entries(spare=spare, kill=kill, convert=convert, delay=delay)
    other = _resolved(operated(run.resolved, more))
    tables = _traced(trace)
    until_ps = ps(until, "--until") if until is not None else None
    keeper = Keeper(Path(checkpoint)) if checkpoint is not None else None
    if keeper is not None and until_ps is not None:
        raise InputError(
            "a checkpoint needs a run to its end, but --until ends it earlier\n"
            "  fix: leave out one of the two"
        )
    started = time.perf_counter()
    branches = _parted(run, other, more, until_ps, keeper)
    outputs = _both(branches, run, tables, progress)
    wall_s = time.perf_counter() - started
    results = [
        Result(scenario, run.seed, _core.__version__, wall_s, [_replication(output, run)], False)
        for scenario, (output, _) in zip((run.resolved, other), outputs, strict=True)
    ]
    first, changed = results
    if run.fingerprint is not None and until is None and first.fingerprint != run.fingerprint:
        raise other_run(run, first.fingerprint)
    done = changed.replications[0].summary.get("surgery", [])[-len(more) :]
    for one in done:
        if one["effect"] == "absent" and until is not None:
            raise InputError(
                f"{named(one)}: the burst is not closed by {until}, where --until ends the run\n"
                "  fix: leave out --until, or write a later time"
            )
        if one["effect"] == "absent":
            raise _absent(run, one, ", as it is operated on")
    reached = tuple(json.loads(text) for _, text in outputs)
    parted_s = branches.parted_ps * 1e-12
    return WhatIf(first, changed, done, parted_s, (reached[0], reached[1]), wall_s)


def _traced(trace: Iterable[str]) -> list[str]:
    asked = list(trace)
    for name in asked:
        if name not in TRACES:
            raise unknown("table to trace", name, TRACES)
    return [name for name in TRACES if name in asked]


def _resolved(scenario: Document) -> Document:
    from burstlab.simulation import resolve

    return resolve(scenario)


def _parted(
    run: Source,
    other: Document,
    more: Sequence[Document],
    until_ps: int | None,
    keeper: Keeper | None,
) -> _core.Branches:
    texts = json.dumps(run.resolved), json.dumps(other)
    random = (run.seed, run.replication)
    kept = keeper.kept() if keeper is not None else None
    allowed = memory_allowed(run.resolved)

    def part(monitor: _core.Monitor, until_ps: int | None = until_ps) -> _core.Branches:
        return _core.part(*texts, random, monitor, until_ps, kept)

    try:
        _core.needs(texts[0], _core.Monitor(allowed))
        try:
            branches = heard(part)
        except _core.AbsentBurst:
            if until_ps is None:
                raise
            # It may come later: the run continues until then, and counts the bursts if not.
            later = heard(lambda monitor: part(monitor, None))
            raise _later(run, more, later.parted_ps, until_ps) from None
    except _core.InvalidScenario as error:
        raise scenario_error(error) from None
    except _core.AbsentBurst as error:
        data, acks = error.args
        beyond = [
            entry
            for entry in more
            if entry.get("burst", 0) > (acks if entry.get("direction") == "ack" else data)
        ]
        has = f": it has {data:,}" + (f", and {acks:,} with ACKs" if acks else "")
        raise _absent(run, (beyond or more)[0], has) from None
    except _core.BadCheckpoint as error:
        if keeper is None:
            raise
        raise keeper.refusal(error) from None
    except _core.EngineFault as error:
        raise fault(run.resolved, error.args, f"seed {run.seed}") from None
    if keeper is not None and kept is None:
        keeper.keep(branches.checkpoint())
    return branches


def _later(run: Source, more: Sequence[Document], parted_ps: int, until_ps: int) -> InputError:
    """Return the error of bursts of which one comes behind the end that was asked for."""
    names = ", ".join(map(named, more))
    one = "it comes" if len(more) == 1 else "one of them comes"
    return InputError(
        f"{names}: {one} later, after {parted_ps * 1e-12:.6g} s of {run.name}, and --until ends "
        f"the run at {until_ps * 1e-12:.6g} s\n"
        f"  fix: leave out --until, or write more than {parted_ps * 1e-12:.6g} s"
    )


def _absent(run: Source, entry: Mapping[str, Any], has: str) -> InputError:
    return InputError(
        f"{named(entry)}: there is no such burst in replication {run.replication} of {run.name}"
        f"{has}\n  fix: name one of the table bursts of that run"
    )


def _both(
    branches: _core.Branches,
    run: Source,
    tables: list[str],
    progress: Callable[[float], None] | None,
) -> list[tuple[_core.Output, str]]:
    """Run both branches at once."""
    monitors = [_core.Monitor(memory_allowed(run.resolved)) for _ in range(2)]
    found: dict[bool, tuple[_core.Output, str]] = {}
    lazy_load.want(*lazy_load.TABLES)
    under_way: UnderWay[bool, tuple[_core.Output, str]] = UnderWay()
    with threads(2) as pool:
        try:
            for which, monitor in zip((False, True), monitors, strict=True):
                call = (pool.submit, branches.run, which, tables, monitor)
                under_way.add(*call, about=which, monitor=monitor)
            while under_way:
                for which, task in under_way.finished():
                    found[which] = task.result()
                if progress is not None:
                    progress(sum(monitor.progress() for monitor in monitors) / 2)
        except _core.EngineFault as error:
            raise fault(run.resolved, error.args, f"seed {run.seed}") from None
        finally:
            under_way.stop()
    for output, _ in found.values():
        if output.fault is not None:
            raise fault(run.resolved, output.fault, f"seed {run.seed}")
    return [found[False], found[True]]


def _replication(output: _core.Output, run: Source) -> Replication:
    return Replication(read_summary(output.summary), Recorded(output.tables, run.replication))
