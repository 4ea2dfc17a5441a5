"""Every table as comma-separated values, with names in the first line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.parquet import writing
from burstlab.tables import STORED

if TYPE_CHECKING:
    from burstlab.columnar.column import Column
    from burstlab.results import Result
    from burstlab.tables import Table


def there(path: Path) -> list[Path]:
    """Return the files of tables that a directory has."""
    files = (path / f"{name}.csv" for name in STORED)
    return [file for file in files if file.is_file()]


def write(result: Result, path: Path) -> list[Path]:
    """Write one file a table, of all replications; no value is nothing between commas.

    They are put in the directory when all are complete, in place of all that were there before.
    """
    path.mkdir(exist_ok=True)
    names = result.recorded
    aside = {name: path / f".{name}.csv" for name in names}
    try:
        for name in names:
            with writing(path / f"{name}.csv"):
                _write(result.table(name), aside[name])
        for file in there(path):
            file.unlink()
        return [aside[name].replace(path / f"{name}.csv") for name in names]
    finally:
        for file in aside.values():
            file.unlink(missing_ok=True)


def _write(table: Table, file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(",".join(map(_quoted, table.columns)) + "\n")
        for part in table.batches():
            cells = [_cells(column) for column in part.read().values()]
            out.writelines(f"{','.join(row)}\n" for row in zip(*cells, strict=True))


def _cells(column: Column) -> list[str]:
    """Return values as they are written; what is missing is empty."""
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
