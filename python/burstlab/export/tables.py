"""Every table as comma-separated values, with names in the first line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.files import whole
from burstlab.parquet import writing

if TYPE_CHECKING:
    import pyarrow as pa

    from burstlab.results import Result
    from burstlab.tables import Table


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write one file a table, of all replications; no value is nothing between commas."""
    path.mkdir(exist_ok=True)
    written: list[Path] = []
    for name in result.recorded:
        file = path / f"{name}.csv"
        with writing(file), whole(file) as part:
            _write(result.table(name), part)
        written.append(file)
    return written


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
    """Answer the rows with texts in place of codes."""
    import pyarrow as pa

    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
