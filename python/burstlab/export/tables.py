"""Every table as comma-separated values, with names in the first line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.errors import InputError
from burstlab.storage.directories import TABLES, Room
from burstlab.storage.files import sync
from burstlab.storage.parquet import writing
from burstlab.tables import STORED

if TYPE_CHECKING:
    from burstlab.results import Result
    from burstlab.storage.columnar.column import Column
    from burstlab.tables import Table


def there(path: Path) -> list[Path]:
    """Return the files of tables that a directory has."""
    files = (path / f"{name}.csv" for name in STORED)
    return [file for file in files if file.is_file()]


def refuse(files: Sequence[Path]) -> None:
    """Refuse to replace files that are there."""
    if files:
        raise InputError(
            f"{files[0]}: exists already\n"
            "  fix: give another --out, or replace it (--force, force=True)"
        )


def write(result: Result, path: Path, *, force: bool) -> list[Path]:
    """Write one file a table, of all replications; no value is nothing between commas.

    They are put in the directory when all are complete, in place of all that were there before.
    Nobody else writes there meanwhile.
    """
    names = result.recorded
    with Room(path, TABLES) as room:
        if not force:
            # Another process may have put them there since this one looked.
            refuse(there(path))
        new = room.begin()
        for name in names:
            with writing(path / f"{name}.csv"):
                _write(result.table(name), new / f"{name}.csv")
                sync(new / f"{name}.csv")
        room.move_in(file.name for file in there(path))
    return [path / f"{name}.csv" for name in names]


def _write(table: Table, file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(",".join(map(_quoted, table.columns)) + "\n")
        for part in table.batches():
            cells = [_cells(column) for column in part.read().values()]
            out.writelines(f"{','.join(row)}\n" for row in zip(*cells, strict=True))


def _cells(column: Column) -> list[str]:
    """Return values as they are written; a missing one is empty."""
    if column.labels is not None:
        known = [_quoted(label) for label in column.labels]
        found = [known[code] if known else "" for code in column.values.tolist()]
    elif column.kind == "bool":
        found = ["true" if value else "false" for value in column.values.tolist()]
    else:
        found = list(map(repr, column.values.tolist()))
    if column.valid is None:
        return found
    pairs = zip(found, column.valid.tolist(), strict=True)
    return [cell if there else "" for cell, there in pairs]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
