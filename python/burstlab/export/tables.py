"""Every table as comma-separated values, with names in the first line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.parquet import writing
from burstlab.tables import STORED

if TYPE_CHECKING:
    import pyarrow as pa

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
    from pyarrow import csv

    parts = (_plain(batch) for batch in table.batches())
    first = next(parts, None)
    if first is None:
        file.write_text(",".join(f'"{column}"' for column in table.columns) + "\n")
        return
    with csv.CSVWriter(str(file), first.schema) as writer:
        writer.write_batch(first)
        for part in parts:
            writer.write_batch(part)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with texts in place of codes."""
    import pyarrow as pa

    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
