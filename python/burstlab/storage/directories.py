"""Directories that are written to: each holds one thing, which is whole, or none.

`ready_directory` stands before every writer of a directory, and `ready_file` before every writer of
a file: what is of another kind, or of nobody, is never overwritten.

While a run goes on its files have hidden names in the directory. When all of them are complete,
``.summary.json`` is written, which names them; from then on the new result is the one that is
there, and what is left to do, to take away the files of the older one and the dots of the new
names, is done again by whoever comes next if the process ends in the middle of it. Other writers
put their files into a hidden directory meanwhile (`Room`), with the same promise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from burstlab.errors import InputError
from burstlab.storage import aside
from burstlab.storage.files import Lock, put, stored_text, sync, whole
from burstlab.storage.indented import indented
from burstlab.storage.parquet import hidden, writing
from burstlab.storage.sums import FIELD, heeding, sealed, sum_of
from burstlab.tables import STORED

SCENARIO, SUMMARY = "scenario.toml", "summary.json"

#: The summary of a result that is complete, and not yet in its place.
PENDING = ".summary.json"

#: Lists the files that `export` and `plot` wrote into the directory of their result.
MADE = "made.json"

_BUSY = "another process is writing there"


#: The names in a directory, and whether each is a file.
Names: TypeAlias = Mapping[str, bool]


@dataclass(frozen=True)
class Kind:
    """A kind of content of a directory.

    Attributes
    ----------
    described
        Its name in an error.
    heads
        Files, or directories, any of which shows that it is there.
    own
        Patterns of its other files; no other writer overwrites these.
    alone
        Whether a writer refuses its own names if they exist without a head. Other writers check
        more closely themselves.
    """

    described: str
    heads: tuple[str, ...]
    own: tuple[str, ...]
    alone: bool = True


RESULT = Kind(
    "the result of a run",
    (SUMMARY, PENDING),
    (SCENARIO, MADE, *(f"{name}.parquet" for name in STORED)),
    alone=False,
)
STUDY = Kind(
    "a study",
    ("study.json",),
    (
        *("plan.toml", "points", "runs.parquet", "estimates.parquet", "differences.parquet"),
        *("report.html", "timing.json", "failed.json", "sums.json"),
    ),
    alone=False,
)
WHAT_IF = Kind(
    "the two runs of a what-if",
    ("what-if.json",),
    ("first", "other", "different_connections.parquet", "different_bursts.parquet"),
)
PRICES = Kind("the prices of bursts", ("blame.json", ".prices.jsonl"), ("prices.parquet",))
REPRODUCTION = Kind(
    "a reproduction", ("reproduce.json",), ("report.html", "runs.sqlite"), alone=False
)
DATA_SET = Kind(
    "a data set",
    ("dataset.json",),
    ("README.md", "runs.parquet", "events.parquet", "prices.parquet"),
    alone=False,
)
#: Tables of a result as text, or nothing: they may lie in the directory of another kind.
TABLES = Kind("tables", (), (), alone=False)
#: Checkpoints, of which the same is true.
CHECKPOINTS = Kind("the checkpoints of a run", (), (), alone=False)

#: All kinds that have a directory for themselves.
KINDS = (RESULT, STUDY, WHAT_IF, PRICES, REPRODUCTION, DATA_SET)


class Place:
    """A directory into which a result goes, whole.

    Parameters
    ----------
    out
        The directory; it is made if it is not there.
    force
        Replace the result that is there, once the new one is complete.
    goes_on
        Answers whether the result there, its summary at hand, is one that may be replaced anyway:
        the same run, which goes on from checkpoints.

    Raises
    ------
    InputError
        If nothing can be written there, another run is being written there, or there is a result,
        a study, or a file that a result would overwrite.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        *,
        force: bool = False,
        goes_on: Callable[[Mapping[str, Any]], bool] = lambda summary: False,
    ) -> None:
        self.path = ready_directory(out, RESULT)
        with writing(self.path):
            self._lock = Lock(self.path, _BUSY)
        try:
            with writing(self.path):
                aside.finish(self.path)
                _finish(self.path)
                self._before = _held(self.path)
                self._sweep()
            if self._before is not None and not (force or goes_on(self._before)):
                raise InputError(
                    f"{self.path} holds the result of a run ({_told(self._before)})\n"
                    "  fix: give another directory, or replace the result (--force, force=True)"
                )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove incomplete files, and release the directory."""
        with suppress(OSError):
            self._sweep()
        self._lock.close()

    def move_in(self, names: Sequence[str], scenario: bytes, summary: Mapping[str, Any]) -> Path:
        """Move a result into place; its tables already lie there under hidden names.

        A partial result of a stopped run does not replace a complete result: it goes to another
        directory.

        Parameters
        ----------
        names
            The tables.
        scenario
            The file ``scenario.toml``.
        summary
        The content of ``summary.json``; the list of its files is added.

        Returns
        -------
        Path
            The directory where it is.
        """
        import hashlib

        if summary["interrupted"] and self._before and not self._before.get("interrupted"):
            return self._beside(names, scenario, summary)
        tables = [name for name in STORED if name in names]
        document = sealed(
            {
                **summary,
                "tables": tables,
                "scenario_sha256": hashlib.sha256(scenario).hexdigest(),
                FIELD: {f"{name}.parquet": sum_of(hidden(self.path, name)) for name in tables},
            }
        )
        put(self.path / f".{SCENARIO}", scenario)
        put(self.path / PENDING, f"{indented(document)}\n".encode())
        _finish(self.path)
        return self.path

    def _beside(self, names: Sequence[str], scenario: bytes, summary: Mapping[str, Any]) -> Path:
        import shutil

        here = self.path.resolve()
        number, out = 1, here.with_name(f"{here.name}-interrupted")
        while out.exists():
            number += 1
            out = here.with_name(f"{here.name}-interrupted-{number}")
        with Place(out) as other:
            for name in names:
                shutil.move(hidden(self.path, name), hidden(other.path, name))
            return other.move_in(names, scenario, summary)

    def _sweep(self) -> None:
        """Remove the hidden files of a run that has ended, unless they are complete."""
        aside.sweep(self.path)
        if (self.path / PENDING).exists():
            return
        patterns = [
            f"{start}.{name}{end}.parquet"
            for start in ("", "tmp_")  # DuckDB's own names, of earlier versions
            for name in STORED
            for end in ("", "-[0-9]*")
        ]
        for pattern in (
            *patterns,
            ".probe-*",
            f".{SCENARIO}",
            f".{SCENARIO}.part",
            f".{PENDING}.part",
        ):
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)


class Room:
    """A directory into which files go together, so that all are there or those of before.

    Parameters
    ----------
    out
        The directory; it is made if it is not there.
    kind
        The content to be written.
    force
        Whether half of two runs, of an earlier version that was killed, may be replaced.
    flag
        The flag that gave it.

    Raises
    ------
    InputError
        If nothing can be written there, somebody else writes there, or there is something else.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        kind: Kind,
        *,
        force: bool = False,
        flag: str = "--out",
    ) -> None:
        self.path = ready_directory(out, kind, flag, force=force)
        self._kind, self._flag = kind, flag
        with writing(self.path, flag):
            self._lock = Lock(self.path, _BUSY)
        try:
            with writing(self.path, flag):
                aside.finish(self.path)
                aside.sweep(self.path)
                for file in self.path.glob(".probe-*"):
                    file.unlink(missing_ok=True)
        except BaseException:
            self.close()
            raise

    def begin(self) -> Path:
        """Return the hidden directory, which is empty, for the files."""
        with writing(self.path, self._flag):
            return aside.begin(self.path)

    def move_in(self, old: Iterable[str] = ()) -> None:
        """Put what lies in the hidden directory in the place of what is there.

        Parameters
        ----------
        old
            Names of what goes, where nothing of that name comes.
        """
        with writing(self.path, self._flag):
            aside.move_in(self.path, old, self._kind.heads)

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove incomplete files, and release the directory."""
        aside.sweep(self.path)
        self._lock.close()


def is_result(directory: Path) -> bool:
    """Whether a directory holds the result of a run."""
    return holds(directory, RESULT)


def holds(directory: Path, kind: Kind) -> bool:
    """Whether a directory holds something of a kind."""
    if any((directory / name).is_file() for name in kind.heads):
        return True
    # A complete result is there, though it is not in its place yet.
    if not aside.is_complete(directory):
        return False
    return any((aside.place(directory) / name).is_file() for name in kind.heads)


def names_in(directory: Path) -> Names:
    """Return the names in a directory; none if it is no directory, or cannot be read."""
    try:
        with os.scandir(directory) as found:
            return {one.name: one.is_file() for one in found}
    except OSError:
        return {}


def is_unsettled(names: Names) -> bool:
    """Whether a process left something undone in a directory, of which these are the names."""
    return PENDING in names or aside.NAME in names


def settle(directory: Path) -> None:
    """Complete the move of an interrupted process that put a result there."""
    if not _is_unsettled(directory):
        return
    if (directory / PENDING).exists():
        with writing(directory), Lock(directory, _BUSY):
            _finish(directory)
    # A directory may be one of two that take their place together.
    for place in (directory, directory.parent):
        if aside.is_complete(place):
            with writing(place), Lock(place, _BUSY):
                aside.finish(place)


def _is_unsettled(directory: Path) -> bool:
    """Whether there is something to finish in a directory, or in the one that it is in."""
    here = os.fspath(directory)
    places = (PENDING, aside.NAME, f"{os.pardir}/{aside.NAME}")
    return any(os.path.lexists(f"{here}/{name}") for name in places)


def ready_directory(
    directory: str | os.PathLike[str],
    kind: Kind,
    flag: str = "--out",
    *,
    force: bool = False,
) -> Path:
    """Make a directory for something, or say why it cannot be written there.

    Nothing is changed where that is refused.

    Parameters
    ----------
    directory
        The directory.
    kind
        The content to be written.
    flag
        The flag that gave it.
    force
        Whether half of two runs, of an earlier version that was killed, may be replaced.

    Raises
    ------
    InputError
        If it holds something else, or is none and cannot be made.
    """
    out = Path(directory)
    vacant(out, kind, flag, force=force)
    with writing(out, flag):
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink(missing_ok=True)
    return out


def vacant(out: Path, kind: Kind, flag: str = "--out", *, force: bool = False) -> None:
    """Refuse a directory that holds something else than it is to hold; look, and change nothing.

    Parameters
    ----------
    out, kind, flag, force
        As of `ready_directory`.
    """
    fix = f"give another {flag}"
    if (out.exists() or out.is_symlink()) and not out.is_dir():
        raise InputError(f"{out}: cannot be written (it is no directory)\n  fix: {fix}")
    if kind not in KINDS:
        return
    try:
        os.fspath(out).encode()
    except UnicodeEncodeError:
        # The library that writes the tables accepts only names in UTF-8.
        raise InputError(f"{out}: the name is not UTF-8\n  fix: {fix}, whose name is") from None
    for other in KINDS:
        if other is not kind and holds(out, other):
            raise InputError(f"{out} holds {other.described}\n  fix: {fix}")
    if kind.alone and not holds(out, kind):
        for name in kind.own:
            # A run there may be one half of a killed earlier version's output.
            replaceable = kind is WHAT_IF and is_result(out / name)
            if (out / name).exists() and not (force and replaceable):
                raise _in_the_way(out / name, kind, force=replaceable)


def ready_file(path: Path, flag: str = "--out") -> None:
    """Refuse to write a file in the place of one that a result, a study or the like consists of.

    Parameters
    ----------
    path
        The file.
    flag
        The flag that gave it.
    """
    fix = f"give another {flag}"
    if path.is_dir():
        raise InputError(f"{path}: exists already, and is a directory\n  fix: {fix}")
    if path.exists() and not path.is_file():
        return  # a device, such as /dev/stdout
    place = next(one for one in path.absolute().parents if one.exists())
    if not place.is_dir():
        raise InputError(f"{path}: cannot be written ({place} is no directory)\n  fix: {fix}")
    for directory in path.absolute().parents[:2]:
        inside = path.absolute().relative_to(directory)
        for kind in KINDS:
            if holds(directory, kind) and _belongs(inside, kind, directory):
                raise InputError(f"{path}: is part of {kind.described}\n  fix: {fix}")


def _belongs(inside: Path, kind: Kind, directory: Path) -> bool:
    """Whether a path in a directory is part of what that holds."""
    if inside.parts[0] in (*kind.heads, *kind.own):
        return True
    if kind is not REPRODUCTION or len(inside.parts) != 2:
        return False
    # Each target lists its files in one of them.
    paper = directory / inside.parts[0]
    return any(
        inside.name == file.name or str(inside) in _listed(file) for file in paper.glob("*.json")
    )


def _listed(file: Path) -> list[str]:
    try:
        return list(json.loads(file.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def note(directory: Path, files: Iterable[Path]) -> None:
    """Note files that show the result in a directory: they go when another replaces it.

    Parameters
    ----------
    directory
        Where the result is; files in other directories are not noted.
    files
        The files that were written.
    """
    here = directory.resolve()
    names = [
        str(file.relative_to(here))
        for file in (file.resolve() for file in files)
        if file.is_relative_to(here)
    ]
    if names and is_result(directory):
        # Wait until another process has noted its files.
        with writing(directory), whole(directory / MADE, wait=True) as part:
            found = [name for name in _made(directory) if name not in names]
            text = json.dumps({"made": sorted([*found, *names])}, indent=2)
            part.write_text(f"{text}\n", encoding="utf-8")
            sync(part)


def _made(directory: Path) -> list[str]:
    try:
        found = json.loads((directory / MADE).read_text(encoding="utf-8"))["made"]
        return [name for name in found if _is_within(name)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _is_within(name: object) -> bool:
    """Whether a name is that of a file in the directory, or in one of its own."""
    if not isinstance(name, str):
        return False
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and len(path.parts) in (1, 2)


def _finish(directory: Path) -> None:
    """Put a result that is complete in the place of the one before, from wherever this ended."""
    pending = directory / PENDING
    if not pending.exists():
        return
    sync(directory)
    try:
        document = heeding(pending.read_text(encoding="utf-8"))
        names = [str(name) for name in document["tables"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{pending}: damaged ({error})\n  fix: remove this file") from None
    for name in STORED:
        if name not in names:
            (directory / f"{name}.parquet").unlink(missing_ok=True)
    for name in _made(directory):
        made = directory / name
        made.unlink(missing_ok=True)
        if made.parent != directory:
            with suppress(OSError):  # there is more in it
                made.parent.rmdir()
    (directory / MADE).unlink(missing_ok=True)
    for name in names:
        _uncover(hidden(directory, name), directory / f"{name}.parquet")
    _uncover(directory / f".{SCENARIO}", directory / SCENARIO)
    pending.replace(directory / SUMMARY)
    sync(directory)


def _uncover(path: Path, place: Path) -> None:
    with suppress(FileNotFoundError):  # it was moved before
        path.replace(place)


def _held(directory: Path) -> Mapping[str, Any] | None:
    """Return the summary of the result in a directory; refuse other files in its place."""
    summary = directory / SUMMARY
    if summary.exists():
        try:
            found = heeding(stored_text(summary))
        except (OSError, ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and {"burstlab", "fingerprint"} <= found.keys():
            return found
        raise _in_the_way(summary)
    for name in (SCENARIO, *(f"{name}.parquet" for name in STORED)):
        if (directory / name).exists():
            raise _in_the_way(directory / name)
    return None


def _in_the_way(path: Path, kind: Kind = RESULT, *, force: bool = False) -> InputError:
    what = "no result, and one" if kind is RESULT else f"something else, and {kind.described}"
    return InputError(
        f"{path}: is of {what} there would overwrite it\n"
        f"  fix: give another directory, {'replace it (--force), ' if force else ''}or move it away"
    )


def _told(summary: Mapping[str, Any]) -> str:
    tables = summary.get("tables") or ()
    traced = [name for name in tables if name != "flows"]
    state = ["interrupted"] if summary.get("interrupted") else []
    parts = [
        f"seed {summary.get('seed')}",
        f"fingerprint {summary['fingerprint']}",
        *state,
        *traced,
    ]
    return ", ".join(parts)
