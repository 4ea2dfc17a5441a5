"""A scenario with live hosts, from its file to its result."""

from __future__ import annotations

import csv
import json
import os
import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.documents.provenance import came_inside
from burstlab.errors import EngineError, InputError, MemoryExceeded, ScenarioError, unknown
from burstlab.live import kernels, virtual, wall
from burstlab.live.programs import program_of
from burstlab.live.times import FOLDER, own_times
from burstlab.live.watching import DONE, MOST_PRINTED, Hung, Printed, Stopped
from burstlab.loading import Document, ScenarioLike, admitted
from burstlab.results import Replication, Result, marks_of
from burstlab.running.engine import fault
from burstlab.simulation import override, resolve
from burstlab.storage.directories import Place, note
from burstlab.storage.parquet import Part, Store, assemble, writing
from burstlab.storage.sums import FIELD, sealed, sum_of
from burstlab.tables import Recorded, Table, to_trace

#: Clocks by which live hosts can run.
CLOCKS = ("virtual", "wall")

#: By the wall clock, a run is late where an event in a hundred is later than this, in s.
LATE_S = 1e-3

_OUTCOME = "live.json"

#: Files of which a run of live hosts leaves at least one in its folder.
_LEFT = frozenset((_OUTCOME, "connections.csv", "connections.parquet", "trace.txt"))

#: Of output that is too long, so many bytes are kept.
_KEPT_OF_IT = 1 << 20

#: A disk with less room than this is full, in bytes.
_LEAST_FREE = 1 << 20

#: How directories begin in which a run takes place.
_ROOM = ".live-"


@dataclass(frozen=True)
class LiveRun:
    """The result of a run with live hosts.

    Attributes
    ----------
    result
        The result, as of any run.
    outcome
        The facts about live hosts: ``clock`` and ``kernel``; ``begun_ns``, when the run began by
        the monotonic clock of the kernel; ``programs``, one object each with ``address``,
        ``command``, ``started_s``, ``ended_s``, ``status`` (of its exit) or ``signal``,
        ``stopped`` (by the end of the run) and ``problem``; ``unroutable``, the number of packets
        to no live host of another node. By the wall clock also ``lateness_s``, with ``p50``,
        ``p99`` and ``most``, and ``late``.
    """

    result: Result
    outcome: Mapping[str, Any]


def refuse_commands(document: Mapping[str, Any], *, inside: bool, allow: bool) -> None:
    """Refuse to run programs that a result or a study names, unless that is allowed.

    Parameters
    ----------
    document
        The scenario, as it was written.
    inside
        Whether it came inside of one.
    allow
        Whether it is allowed all the same.
    """
    flows, hosts = document.get("flows"), document.get("live")
    if not isinstance(hosts, Sequence) or isinstance(hosts, str):
        return
    # Who writes a scenario writes no such flow: this is one that a run has resolved.
    resolved = isinstance(flows, Sequence) and any(
        isinstance(one, Mapping) and one.get("stack") == "live" for one in flows
    )
    for number, host in enumerate(hosts):
        named = isinstance(host, Mapping) and host.get("command") is not None
        if named and (inside or resolved) and not allow:
            raise ScenarioError(
                f"live[{number}].command",
                "",
                "it is part of a result or a study, and would be executed",
                "read the code; then allow it with --allow-code (allow_code=True)",
            )


def live(
    scenario: ScenarioLike,
    *,
    clock: str | None = None,
    kernel: str | None = None,
    seed: int | None = None,
    trace: Iterable[str] | str = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    allow_code: bool = False,
    patience_s: float = 60.0,
    progress: Callable[[float], None] | None = None,
) -> LiveRun:
    """Run a scenario whose ``[[live]]`` hosts run programs over a Linux kernel.

    Parameters
    ----------
    scenario
        As `burstlab.run` takes it.
    clock
        ``"virtual"``: in a user-mode kernel, where code takes no time; ``"wall"``: on the running
        kernel, as root. Default: virtual.
    kernel
        Name or path of the kernel of virtual time; default: the newest.
    seed, trace, out, force
        As in `burstlab.run`; without ``out`` no table is kept.
    allow_code
        Run commands that came inside a result or a study.
    patience_s
        A kernel in which nothing happens for so long, in s of the wall clock, is ended.
    progress
        Called with the share done, 0 to 1.

    Raises
    ------
    ScenarioError
        If a field is wrong, or the kernel refuses a setting.
    InputError
        If there is no kernel, the machine lacks something, or a kernel ends or hangs. The folder
        ``live`` of ``out`` has the output until then.
    Stopped
        If a signal asked the run to end, as Ctrl-C does, and it left no result; the same.
    """
    document = admitted(scenario, allow_code=allow_code)
    refuse_commands(document, inside=came_inside(scenario), allow=allow_code)
    override(document, seed=seed, replications=None)
    resolved = resolve(document)
    if not resolved.get("live"):
        raise ScenarioError("live", "", "there is no live host", "add entries of [[live]]")
    tables = _tables(trace, resolved, out)
    _refuse_programs(resolved)
    chosen = _clock(clock, kernel)
    if out is None:
        with tempfile.TemporaryDirectory(prefix="burstlab-live-") as room:
            return _Job(resolved, [], chosen, Path(room)).run(None, patience_s, progress)
    with Place(out, force=force) as place:
        _refuse_folder(place.path / FOLDER)
        # Left by a killed run; no other process writes here.
        for left in place.path.glob(f"{_ROOM}*"):
            shutil.rmtree(left, ignore_errors=True)
        room = Path(tempfile.mkdtemp(prefix=_ROOM, dir=place.path.resolve()))
        try:
            return _Job(resolved, tables, chosen, room).run(place, patience_s, progress)
        finally:
            shutil.rmtree(room, ignore_errors=True)


def _refuse_folder(folder: Path) -> None:
    """Refuse to replace a folder that no run of live hosts has left."""
    there = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if (there and not _LEFT.intersection(there)) or (folder.exists() and not folder.is_dir()):
        raise InputError(
            f"{folder}: does not belong to a run of live hosts, which would overwrite it\n"
            "  fix: give another --out, or move it away"
        )


def _tables(trace: Iterable[str] | str, resolved: Document, out: object) -> list[str]:
    tables = to_trace(trace, resolved)
    if tables and out is None:
        raise InputError("tables of live hosts need a directory\n  fix: add --out DIR")
    return tables


def _refuse_programs(resolved: Document) -> None:
    """Refuse a program that is not there, before anything is started."""
    for number, host in enumerate(resolved["live"]):
        words = program_of(host["command"]) if host.get("command") else []
        given = dict(one.split("=", 1) for one in host.get("environment", ()))
        path = given.get("PATH", os.environ.get("PATH"))
        if words and shutil.which(words[0], path=path) is None:
            fix = "give the path of a program that may be executed"
            at = f"live[{number}].command[0]"
            raise ScenarioError(at, words[0], "there is no such program", fix)


def _clock(clock: str | None, kernel: str | None) -> kernels.Kernel | None:
    """Return the kernel of virtual time; None for the wall clock."""
    if clock is not None and clock not in CLOCKS:
        raise unknown("clock", clock, CLOCKS)
    if clock != "wall":
        return kernels.choose(kernel)
    if kernel is not None:
        raise InputError(
            "--kernel needs virtual time\n  fix: leave out --kernel, or write --clock virtual"
        )
    wall.refuse()
    return None


class _Job:
    """One run: its input for the kernel, and the result made of its output."""

    def __init__(
        self, resolved: Document, tables: list[str], kernel: kernels.Kernel | None, room: Path
    ) -> None:
        self._resolved, self._tables, self._kernel, self._room = resolved, tables, kernel, room
        self._seed = int(resolved["run"]["seed"])
        self._output = room / FOLDER
        self._output.mkdir()
        job = {
            "scenario": json.dumps(resolved),
            "seed": self._seed,
            "trace": tables,
            "real": kernel is None,
            "output": str(self._output),
        }
        (room / "job.json").write_text(json.dumps(job), encoding="utf-8")

    def run(
        self,
        place: Place | None,
        patience_s: float,
        progress: Callable[[float], None] | None,
    ) -> LiveRun:
        started = time.perf_counter()
        try:
            if self._kernel is None:
                console = wall.run(self._room, patience_s, progress)
            else:
                image = self._kernel.image
                console = virtual.boot(image, self._room, self._seed, patience_s, progress)
            done = self._done(console)
        except Hung as hung:
            raise self._keeping(too_long(hung), place) from None
        except Printed as printed:
            raise self._keeping(self._too_much(printed), place) from None
        except Stopped as stopped:
            stopped.kept = self._kept(place)
            raise
        except InputError as error:
            raise self._keeping(error, place) from None
        outcome = self._outcome(done)
        seconds = time.perf_counter() - started
        summary: Any = own_times(
            json.loads(done["summary"]), self._resolved, outcome, done["carried_ps"]
        )
        one = Replication(summary, Recorded(list, 0))
        result = Result(
            self._resolved, self._seed, _core.__version__, seconds, [one], done["interrupted"]
        )
        if place is not None:
            result = self._moved_in(place, result, outcome)
        error = self._ended(done)
        if error is not None:
            error.result = result
            raise error
        return LiveRun(result, outcome)

    def _too_much(self, printed: Printed) -> InputError:
        """Say which program has printed too much, and keep the beginning of that."""
        name = str(printed)
        address, _, kind = name.rpartition(".")
        with suppress(OSError):
            os.truncate(self._output / name, _KEPT_OF_IT)
        stream = "output" if kind == "out" else "error output"
        return InputError(
            f"the program of {address} has printed more than {MOST_PRINTED >> 20} MiB to its "
            f"standard {stream}\n  fix: have it print less, or send that to /dev/null; the first "
            f"{_KEPT_OF_IT >> 20} MiB are kept"
        )

    def _done(self, console: Sequence[str]) -> dict[str, Any]:
        """Read the output of the run; raise the error that it reports."""
        path = self._room / DONE
        if not path.is_file() and shutil.disk_usage(self._room).free < _LEAST_FREE:
            raise InputError(
                f"{self._room.parent}: there is no space left on its disk\n"
                "  fix: free some, or give another --out"
            )
        if not path.is_file():
            last = "".join(f"\n  | {line}" for line in virtual.last_lines(console))
            where = "kernel" if self._kernel is not None else "run"
            raise InputError(
                f"the {where} ended before its end:{last}\n"
                "  fix: see its last lines; a kernel that lacks memory needs fewer programs"
            )
        done = json.loads(path.read_text(encoding="utf-8"))
        if "refused" in done:
            problem, _, fix = done["refused"].partition("\n  fix: ")
            raise InputError(f"{problem}\n  fix: {fix}")
        if "failed" in done:
            (self._output / "trace.txt").write_text(done["trace"], encoding="utf-8")
            raise InputError(
                f"the run failed in the process of its hosts: {done['failed']}\n"
                "  fix: see trace.txt, which keeps the recorded events"
            )
        return done

    def _outcome(self, done: Mapping[str, Any]) -> dict[str, Any]:
        programs = json.loads((self._output / "programs.json").read_text(encoding="utf-8"))
        outcome: dict[str, Any] = {
            "clock": "wall" if self._kernel is None else "virtual",
            "kernel": os.uname().release if self._kernel is None else self._kernel.version,
            "programs": programs,
            "begun_ns": done["begun_ns"],
            "unroutable": done["unroutable"],
        }
        late = done["lateness_ps"]
        if self._kernel is None and late:
            at = {"p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "most": late[-1]}
            outcome["lateness_s"] = {name: value / 1e12 for name, value in at.items()}
            outcome["late"] = outcome["lateness_s"]["p99"] > LATE_S
        return outcome

    def _moved_in(self, place: Place, result: Result, outcome: Mapping[str, Any]) -> Result:
        part = Part(place.path, 0)
        try:
            _replay(self._room / "tables.pickle", part)
            marks = marks_of(result.version, self._seed, [result.replications[0].summary])
            names = assemble(place.path, [part], marks)
        finally:
            part.discard()
        directory = result.move_in(place, names)
        store = Store(directory, names, [0])
        rows, sums = self._rows(), {}
        if rows is not None:
            sums[rows.name] = sum_of(rows)
        text = json.dumps(sealed({**outcome, FIELD: sums}), indent=2) + "\n"
        (self._output / _OUTCOME).write_text(text, encoding="utf-8")
        self._move(directory)
        stored = [Replication(result.replications[0].summary, store.part(0))]
        return replace(result, replications=stored, directory=directory)

    def _move(self, directory: Path) -> None:
        """Move the files about live hosts to the directory of the tables."""
        self._rows()
        with writing(directory):
            folder = directory / FOLDER
            shutil.rmtree(folder, ignore_errors=True)
            self._output.replace(folder)
        note(directory, sorted(folder.iterdir()))

    def _rows(self) -> Path | None:
        """Make the rows of connections a table; return its file, if there are any."""
        rows = self._output / "connections.csv"
        with writing(self._output):
            if rows.is_file():
                _to_parquet(rows)
        table = rows.with_suffix(".parquet")
        return table if table.is_file() else None

    def _keeping(self, error: InputError, place: Place | None) -> InputError:
        """Keep the records of a run without a result; return the error that names them."""
        folder = self._kept(place)
        if folder is None:
            return error
        message, _, fix = str(error).partition("\n  fix: ")
        return InputError(f"{message}\n  what was recorded is in {folder}\n  fix: {fix}")

    def _kept(self, place: Place | None) -> Path | None:
        """Keep the records of a run without a result; return their folder, if there are any."""
        with suppress(OSError):
            (self._output / "programs.json").unlink(missing_ok=True)
        kept = [one for one in self._output.iterdir() if one.stat().st_size > 0]
        if place is None or not kept:
            return None
        part = Part(self._output, 0)
        with suppress(InputError, OSError, EOFError, pickle.UnpicklingError):
            _replay(self._room / "tables.pickle", part)
        with suppress(InputError):
            for name, path in part.close().items():
                path.replace(self._output / f"{name}.parquet")
        self._move(place.path)
        return place.path / FOLDER

    def _ended(self, done: Mapping[str, Any]) -> EngineError | MemoryExceeded | None:
        if done["fault"] is not None:
            return fault(self._resolved, tuple(done["fault"]), f"seed {self._seed}")
        return MemoryExceeded(*done["stuck"]) if done["stuck"] is not None else None


def too_long(hung: Hung) -> InputError:
    """Name the last action of a run that was ended for its length."""
    done = f"after {hung.share:.1%} of it"
    if hung.computes:
        return InputError(
            f"the run hung: a program has computed for {hung.computed_s:.0f} s of processor time "
            f"{done}, and never waited\n"
            "  fix: correct the program that never waits (in virtual time code takes no time, and "
            "one that only sends goes on for ever), or give it longer (--patience)"
        )
    return InputError(
        f"the run hung: nothing happened for {hung.waited_s:.0f} s {done}, and no processor time "
        "was used\n  fix: correct what is waited for, or give it longer (--patience)"
    )


def _replay(path: Path, part: Part) -> None:
    """Have a sink called as the engine has called that of the run."""
    with path.open("rb") as file:
        while True:
            try:
                name, call = pickle.load(file)
            except EOFError:
                return
            getattr(part, name)(*call)


def _to_parquet(rows: Path) -> None:
    from burstlab.storage.columnar.column import of_values
    from burstlab.storage.parquet import write_file

    with rows.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        names = next(lines, [])
        # The last one, of a kernel that has ended in the middle of it, is shorter.
        whole = [line for line in lines if len(line) == len(names)]
    if not names:
        return
    columns = zip(*whole, strict=True) if whole else [()] * len(names)
    pairs = zip(names, columns, strict=True)
    table = Table({name: of_values(_numbers(column)) for name, column in pairs})
    write_file(rows.with_suffix(".parquet"), [table])
    rows.unlink()


def _numbers(column: Sequence[str]) -> Sequence[int | float | str | None]:
    """Return a column of texts as numbers if all are; an empty one is missing."""
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(text) if text else None for text in column]
    return column
