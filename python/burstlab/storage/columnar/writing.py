"""Writes Parquet files, whose rows may come in parts while a run goes on.

DuckDB writes a file at once. Of more than one part each is a file meanwhile, and they are put
together at the end, so that no more than a part is in memory. A file of the same rows in the same
parts has the same bytes, whether they come one by one or at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from burstlab.storage.columnar import database
from burstlab.storage.columnar.column import Column

#: Rows of a row group: those of a chunk of the engine.
GROUP = 2**18

#: The one column of a table without columns, which Parquet has and DuckDB has not.
NOTHING = "nothing"

#: DuckDB writes to the very file: it is not the one that is read until it is whole, and a name of
#: DuckDB's own would stay behind where the process is killed.
_FORMAT = (
    f"format parquet, compression zstd, compression_level 1, row_group_size {GROUP}, "
    "use_tmp_file false"
)


class Writer:
    """A file that is written.

    Parameters
    ----------
    path
        The file; it is whole once `close` has returned.

    Raises
    ------
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        path.open("wb").close()
        self._path = path
        self._parts: list[Path] = []
        self._last: Mapping[str, Column] | None = None

    def write(self, columns: Mapping[str, Column]) -> None:
        """Add rows."""
        rows = len(next(iter(columns.values()), ()))
        for start in range(0, max(rows, 1), GROUP):
            part = slice(start, start + GROUP)
            self._add({name: column.take(part) for name, column in columns.items()})

    def _add(self, columns: Mapping[str, Column]) -> None:
        if self._last is not None:
            kinds = {name: column.kind for name, column in columns.items()}
            if kinds != {name: column.kind for name, column in self._last.items()}:
                raise ValueError("rows with other columns than the rows before them")
            self._put_aside(self._last)
        self._last = columns

    def close(self, metadata: Mapping[str, str] | None = None) -> None:
        """Complete the file; the metadata go to its end."""
        if self._parts and self._last is not None:
            self._put_aside(self._last)
            merge(self._path, self._parts, metadata)
            self._clear()
        else:
            _copy(self._path, self._last or {}, metadata or {})
        self._last = None

    def abandon(self) -> None:
        """Leave the file as it is, without its parts."""
        self._last = None
        with suppress(OSError):
            self._clear()

    def _put_aside(self, columns: Mapping[str, Column]) -> None:
        stem, suffix = self._path.stem, self._path.suffix
        part = self._path.with_name(f"{stem}-part-{len(self._parts)}{suffix}")
        self._parts.append(part)
        _copy(part, columns, {})

    def _clear(self) -> None:
        while self._parts:
            self._parts.pop().unlink(missing_ok=True)


def merge(path: Path, parts: Sequence[Path], metadata: Mapping[str, str] | None = None) -> None:
    """Concatenate files into one; a column need not be in all of them."""
    listed = ", ".join(database.file_name(part) for part in parts)
    with database.cursor() as connection:
        query = f"select * from read_parquet([{listed}], union_by_name = true)"
        database.finish(connection, _command(path, query, metadata or {}))


def _copy(path: Path, columns: Mapping[str, Column], metadata: Mapping[str, str]) -> None:
    columns = columns or {NOTHING: Column(np.zeros(0, dtype=bool))}
    with database.cursor() as connection:
        query = database.registered(connection, "rows", columns)
        database.finish(connection, _command(path, query, metadata))


def _command(path: Path, query: str, metadata: Mapping[str, str]) -> str:
    said = ", ".join(
        f"{database.literal(key)}: {database.literal(value)}" for key, value in metadata.items()
    )
    marks = f", kv_metadata {{{said}}}" if metadata else ""
    return f"copy ({query}) to {database.literal(database.known_name(path))} ({_FORMAT}{marks})"
