"""Every table as comma-separated values, with names in the first line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from burstlab.results import Result


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write one file a table, of all replications; no value is nothing between commas."""
    from pyarrow import csv

    path.mkdir(exist_ok=True)
    written: list[Path] = []
    for name in result.recorded:
        table, file = result.table(name), path / f"{name}.csv"
        writer: csv.CSVWriter | None = None
        for batch in table.batches():
            plain = _plain(batch)
            writer = writer or csv.CSVWriter(str(file), plain.schema)
            writer.write_batch(plain)
        if writer is None:
            file.write_text(",".join(f'"{column}"' for column in table.columns) + "\n")
        else:
            writer.close()
        written.append(file)
    return written


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Answer the rows with texts in place of codes."""
    import pyarrow as pa

    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
