"""Runs kept in a file, from which an interrupted command of hours continues."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from burstlab import _core
from burstlab.errors import InputError
from burstlab.reproduce.context import Key
from burstlab.results import Replication


class RunFile:
    """The summaries of runs, in a file.

    Parameters
    ----------
    path
        The file, which is made where there is none.

    Raises
    ------
    InputError
        If it cannot be written, or is another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        _refuse_others(path)
        with self._said():
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            # Runs that a power cut loses are made again.
            self._file.execute("pragma synchronous = off")
            self._file.execute("create table if not exists runs (run text primary key, summary)")

    def get(self, key: Key) -> Replication | None:
        """Return a run that this very engine made, if it is there."""
        with self._lock, self._said():
            found = self._file.execute("select summary from runs where run = ?", (_name(key),))
            row = found.fetchone()
        return None if row is None else Replication(json.loads(row[0]), {})

    def put(self, key: Key, run: Replication) -> None:
        """Keep a run."""
        row = (_name(key), json.dumps(run.summary))
        with self._lock, self._said():
            self._file.execute("insert or replace into runs values (?, ?)", row)

    def close(self, *, remove: bool) -> None:
        """Close the file; `remove`: it is not needed any more."""
        with self._lock:
            self._file.close()
        if remove:
            self.path.unlink(missing_ok=True)

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: finished runs cannot be stored in this file: {error}\n"
                f"  fix: remove it, make room, or give another directory with --out"
            ) from error


def _refuse_others(path: Path) -> None:
    """Refuse a foreign file, which would be changed, and removed at the end."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
            found = file.execute("select name from pragma_table_info('runs')").fetchall()
            other = file.execute("select name from sqlite_schema where name != 'runs'").fetchall()
    except sqlite3.Error as error:
        problem = f"is no file of runs ({error})"
    else:
        others = [name for (name,) in other if not name.startswith("sqlite_")]
        if not others and [name for (name,) in found] in ([], ["run", "summary"]):
            return
        problem = "is no file of runs"
    raise InputError(
        f"{path}: {problem}, and one there would overwrite it\n"
        "  fix: move it away, or give another directory with --out"
    )


class KeptRuns(dict[Key, Replication]):
    """Runs of a paper by their keys; those in a file are among them."""

    def __init__(self, file: RunFile) -> None:
        super().__init__()
        self._file = file

    def __missing__(self, key: Key) -> Replication:
        """Return a run that the file has."""
        found = self._file.get(key)
        if found is None:
            raise KeyError(key)
        super().__setitem__(key, found)
        return found

    def __setitem__(self, key: Key, run: Replication) -> None:
        """Keep a run, in the file too."""
        super().__setitem__(key, run)
        self._file.put(key, run)


def _name(key: Key) -> str:
    """Return the name of a run in the file; another build of the engine has other names."""
    engine = Path(_core.__file__).stat()
    key_text = json.dumps([engine.st_size, engine.st_mtime_ns, *key])
    return hashlib.sha256(key_text.encode()).hexdigest()
