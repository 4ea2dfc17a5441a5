"""The directory of a study: finished points are stored there, whole, whatever happens next.

``plan.toml`` is the plan with all defaults, and ``study.json`` the version and a hash over every
scenario; both are written before the first run. Finished points are rows of numbered files in
``points/``, each written under a hidden name, forced to the disk and renamed. When all points are
finished, their rows become ``runs.parquet``. ``estimates.parquet`` and ``differences.parquet`` are
added, and ``points/`` is removed. Only ``timing.json`` depends on wall time. ``failed.json`` exists
if the engine failed at some points, which a resumed study runs again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlab import _core, again, classes
from burstlab.errors import InputError
from burstlab.loading import Document, read_text, read_toml
from burstlab.storage import sums
from burstlab.storage.directories import STUDY, ready_directory
from burstlab.storage.files import Lock, put, stored_text, sync
from burstlab.storage.parquet import hidden, write_table, writing
from burstlab.storage.source_tags import SourceTags
from burstlab.studies.fields import flat
from burstlab.studies.plan import Plan
from burstlab.studies.rows import Rows
from burstlab.studies.running import Done
from burstlab.studies.work import Sample
from burstlab.tables import Table, join

#: Goes up with every change of the stored form.
FORMAT = 2

#: A file is written at most this often; points that finish meanwhile go into one file.
_EVERY_S = 0.2

#: The share of the time that writing may take, and the longest that anything waits for it.
_SHARE, _LONGEST_S = 0.05, 2.0

#: Files of points; the hidden ones are being written.
_FILES = "[0-9]*.parquet"

#: So many files of points become one.
_FILES_MAX = 256

#: The table of all runs, in one file or in those of points.
_RUNS = "runs"

#: Tables of a study, without its plan.
_TABLES = (_RUNS, "estimates", "differences")
_WRITTEN = (
    *("points", *(f"{name}.parquet" for name in _TABLES), sums.NAME, "report.html"),
    *("timing.json", "failed.json"),
)

#: The flag that named the directory, and the fix for a full disk.
_OUT = ("--out", "resume (--resume): points that were done are kept")

#: Differences of plans that an error lists.
_TOLD = 4


class Directory:
    """The directory of a study that is run.

    Parameters
    ----------
    out
        Where; it is made if it is not there.
    plan
        The plan.
    metrics
        Names of the metrics.
    digest
        Hash over every scenario.
    resume
        Go on with what is there; without it there must be no study.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        plan: Plan,
        metrics: Sequence[str],
        digest: str,
        *,
        resume: bool,
    ) -> None:
        self.path = ready_directory(out, STUDY)
        self._points = self.path / "points"
        self._rows = Rows(plan, metrics)
        self._marks = _marks(digest)
        self._next_s = time.monotonic()
        self._wrote = False
        with writing(self.path):
            self._lock = Lock(self.path, "another study is being run there")
        try:
            with writing(self.path, *_OUT):
                self._begin(plan, digest, resume)
                self.done = self._found()
        except BaseException:
            self.close()
            raise

    def add(self, done: Done[Sample]) -> None:
        """Take a point that is done."""
        self._rows.add(done)

    def flush(self, *, now: bool = False) -> None:
        """Store the taken points, unless that was done a moment ago."""
        began_s = time.monotonic()
        if not len(self._rows) or (not now and began_s < self._next_s):
            return
        with writing(self.path, *_OUT):
            files = self._files()
            number = int(files[-1].stem) + 1 if files else 0
            write_table(self._points, f"{number:06}", [self._rows.take()], self._marks.of(_RUNS))
            sync(self._points)
            if len(files) >= _FILES_MAX:
                self._merge([*files, self._points / f"{number:06}.parquet"])
        ended_s = time.monotonic()
        # The first loads what writes, which takes longer than to write and comes once.
        worth_s = min((ended_s - began_s) / _SHARE, _LONGEST_S) if self._wrote else 0.0
        self._wrote = True
        self._next_s = ended_s + (max(_EVERY_S, worth_s) if _EVERY_S else 0.0)

    def rows(self) -> Table:
        """Return the rows of all points that are done."""
        return stored_rows(self.path, self._marks, self._rows.kinds)

    def finish(self, tables: Mapping[str, Table]) -> None:
        """Write the tables of a study that is done, in place of the files of its points."""
        with writing(self.path, *_OUT):
            if not _runs(self.path).exists():
                # Where all runs are in one file, which is written last, the study is done.
                for name in sorted(tables, key=lambda name: name == "runs"):
                    write_table(self.path, name, [tables[name]], self._marks.of(name))
                    sync(self.path)
            shutil.rmtree(self._points, ignore_errors=True)
            sync(self.path)

    def tell(self, session: Document) -> None:
        """Note how long a session took."""
        with writing(self.path, *_OUT):
            before = _timing(self.path / "timing.json")
            text = json.dumps(sums.sealed({"sessions": [*before, session]}), indent=2)
            put(self.path / "timing.json", f"{text}\n".encode())

    def tell_failed(self, failed: Mapping[int, str]) -> None:
        """Note the points at which the engine failed, and why; replaces an earlier note."""
        path = self.path / "failed.json"
        with writing(self.path, *_OUT):
            if failed:
                failures = [
                    {"point": point, "reason": why} for point, why in sorted(failed.items())
                ]
                put(path, f"{json.dumps(failures, indent=2)}\n".encode())
            else:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others write there."""
        self._lock.close()

    def _begin(self, plan: Plan, digest: str, resume: bool) -> None:
        import tomli_w

        text = tomli_w.dumps(plan.to_document())
        head = sums.sealed(
            {
                "burstlab": _core.__version__,
                "format": FORMAT,
                "points": len(plan.points),
                "digest": digest,
                "plan_sha256": _sha256(text.encode()),
            }
        )
        if (self.path / "study.json").exists():
            if not resume:
                raise InputError(
                    f"{self.path} holds a study\n"
                    "  fix: resume it (--resume, resume=True), or use another directory"
                )
            self._same(head, tomllib.loads(text))
            return
        self._refuse_others(text)
        put(self.path / "plan.toml", text.encode())
        self._points.mkdir(exist_ok=True)
        put(self.path / "study.json", f"{json.dumps(head, indent=2)}\n".encode())

    def _refuse_others(self, plan: str) -> None:
        """Refuse to overwrite files that belong to no study."""
        stored = self.path / "plan.toml"
        for name in ("plan.toml", *_WRITTEN):
            own = name == "plan.toml" and stored.exists() and stored.read_bytes() == plan.encode()
            if (self.path / name).exists() and not own:
                raise InputError(
                    f"{self.path / name}: is not part of a study, which would overwrite it\n"
                    "  fix: use another directory, or move it away"
                )

    def _same(self, head: Document, plan: Document) -> None:
        """Refuse to continue another study; list the differences."""
        found = head_of(self.path)
        for name in ("burstlab", "format"):
            if found.get(name) != head[name]:
                raise InputError(
                    f"{self.path}: the study was begun with {name} {found.get(name)}, and this is "
                    f"{head[name]}\n"
                    "  fix: finish it with that version, or use another directory"
                )
        differ = changes(read_toml(self.path / "plan.toml"), plan)
        if not differ and found != head:
            differ = ["what its points come to, such as a file of theirs"]
        if differ:
            more = f", and {len(differ) - _TOLD} more" if len(differ) > _TOLD else ""
            raise InputError(
                f"{self.path} holds a study of another plan: {'; '.join(differ[:_TOLD])}{more}\n"
                "  fix: restore the plan, or use another directory"
            )

    def _found(self) -> set[int]:
        """Return the finished points, and remove incomplete files."""
        left = [
            *self._points.glob(".*"),
            *self._points.glob("tmp_*.parquet"),  # DuckDB's own names, of earlier versions
            *(self.path / f"tmp_{hidden(self.path, name).name}" for name in _TABLES),
            *(hidden(self.path, name) for name in _TABLES),
            *self.path.glob(".probe-*"),
        ]
        for part in left:
            part.unlink(missing_ok=True)
        if _runs(self.path).exists():
            return set(_numbers(_runs(self.path), self._marks))
        self._points.mkdir(exist_ok=True)
        return {number for file in self._files() for number in _numbers(file, self._marks)}

    def _files(self) -> list[Path]:
        return sorted(self._points.glob(_FILES), key=lambda file: int(file.stem))

    def _merge(self, files: Sequence[Path]) -> None:
        """Put many files into one, which has the next number; whoever reads takes a row once."""
        number = int(files[-1].stem) + 1
        rows = [_read(file, self._marks) for file in files]
        write_table(self._points, f"{number:06}", rows, self._marks.of(_RUNS))
        sync(self._points)
        for file in files:
            file.unlink()


class Memory:
    """Stands for a directory if nothing is to be written."""

    def __init__(self, plan: Plan, metrics: Sequence[str]) -> None:
        self.path: Path | None = None
        self.done: set[int] = set()
        self._rows = Rows(plan, metrics)
        self._kept: Table | None = None

    def add(self, done: Done[Sample]) -> None:
        """Take a point that is done."""
        self._rows.add(done)

    def flush(self, *, now: bool = False) -> None:
        """Do nothing: the taken points stay in memory."""

    def rows(self) -> Table:
        """Return the rows of all points that are done."""
        if self._kept is None or len(self._rows):
            self._kept = self._rows.take()
        return self._kept

    def finish(self, tables: Mapping[str, Table]) -> None:
        """Do nothing."""

    def tell(self, session: Document) -> None:
        """Do nothing."""

    def tell_failed(self, failed: Mapping[int, str]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def head_of(directory: Path) -> Document:
    """Return ``study.json`` of a directory, or refuse it."""
    text = read_text(directory / "study.json")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{directory}: not a study of burstlab ({error})\n"
            "  fix: give a directory that burstlab study --out wrote"
        ) from None
    if isinstance(found, dict) and not sums.is_intact(found):
        raise InputError(
            f"{directory / 'study.json'}: damaged, or was changed\n"
            "  fix: restore it from a copy, or run the study again"
        )
    if not isinstance(found, dict) or not isinstance(found.get("points"), int):
        raise InputError(
            f"{directory}: not a study of burstlab (study.json has no points)\n"
            "  fix: give a directory that burstlab study --out wrote"
        )
    return found


def marks_of(directory: Path) -> SourceTags:
    """Return the metadata that the tables of the study in a directory must have."""
    head = head_of(directory)
    if head.get("format") != FORMAT:
        raise InputError(
            f"{directory}: a study of format {head.get('format')}, from an earlier or a later "
            f"burstlab ({head.get('burstlab')}); this one reads format {FORMAT}\n"
            f"  fix: read it with that version, or repeat the study: "
            f"{again.of_study(directory / 'plan.toml', None)}"
        )
    return _marks(str(head.get("digest")))


def check_plan(directory: Path) -> None:
    """Refuse a plan that is not the one of which the runs are."""
    path = directory / "plan.toml"
    if _sha256(path.read_bytes()) != head_of(directory).get("plan_sha256"):
        raise InputError(
            f"{path}: is not the plan of the study of study.json, or was changed\n"
            "  fix: restore the file, or use the changed file in another directory"
        )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _marks(digest: str) -> SourceTags:
    return SourceTags({"study": digest}, "study", "study.json")


def stored_rows(
    directory: Path, marks: SourceTags, kinds: Mapping[str, str] | None = None
) -> Table:
    """Return the rows of a directory, without repetitions of a point.

    Parameters
    ----------
    directory
        Of the study.
    marks
        The metadata that its tables must have.
    kinds
        The columns to return, with their types; by default those that are there.
    """
    import numpy as np

    if _runs(directory).exists():
        table = _read(_runs(directory), marks)
        return table if kinds is None else _as(table, kinds)
    files = sorted((directory / "points").glob(_FILES))
    if not files:
        return _as(Table({}), kinds or {"point": "int32"})
    table = join([_read(file, marks) for file in files])
    # A merge that was cut short left rows twice; those of a run are equal.
    keys = [table[name].tolist() for name in ("point", "scheme", "replication")]
    unique: dict[tuple[Any, ...], int] = {}
    for index, key in enumerate(zip(*keys, strict=True)):
        unique.setdefault(key, index)
    if len(unique) < len(table):
        table = table.take(np.fromiter(unique.values(), dtype=np.int64))
    return table if kinds is None else _as(table, kinds)


def changes(before: Document, after: Document) -> list[str]:
    """Describe the differences of two plans or scenarios, field by field."""
    old, new = _leaves(before), _leaves(after)
    changes: list[str] = []
    for path in dict.fromkeys([*old, *new]):
        a, b = old.get(path), new.get(path)
        if a != b:
            was = "was not there" if path not in old else f"was {_short(a)}"
            changes.append(f"{path} {was}, is {'gone' if path not in new else _short(b)}")
    return changes


def _leaves(document: Document) -> dict[str, Any]:
    found = {path: value for path, value in flat(document, "").items() if value != {}}
    return {path: classes.brief(path, value) for path, value in found.items()}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _as(table: Table, kinds: Mapping[str, str]) -> Table:
    """Return columns of these types; those that were dropped for being empty come back."""
    from burstlab.storage.columnar.column import cast, missing

    there = table.read()
    found = {
        name: cast(there[name], kind) if name in there else missing(len(table), kind)
        for name, kind in kinds.items()
    }
    return Table(found)


def _runs(directory: Path) -> Path:
    return directory / f"{_RUNS}.parquet"


def _read(file: Path, marks: SourceTags, columns: list[str] | None = None) -> Table:
    from burstlab.storage.columnar.database import Damaged
    from burstlab.storage.columnar.reading import File

    try:
        found = File(file)
        marks.check(file, _RUNS, found.metadata)
        wanted = sums.known(file.parent).get(file.name)
        if wanted is not None and sums.sum_of(file) != wanted:
            raise Damaged(f"its SHA-256 differs from the one in {sums.NAME} says")
        return Table(found.read(columns))
    except (OSError, KeyError, Damaged) as error:
        raise _damaged(file, error) from None


def _numbers(file: Path, marks: SourceTags) -> list[int]:
    return _read(file, marks, ["point"])["point"].tolist()


def _damaged(file: Path, error: Exception) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InputError(
        f"{file}: damaged, or not of a study ({reason})\n"
        "  fix: remove this file and resume; its points are run again"
    )


def _timing(path: Path) -> list[Any]:
    try:
        return list(json.loads(stored_text(path))["sessions"])
    except (OSError, ValueError, KeyError, TypeError):
        return []  # no number depends on it
