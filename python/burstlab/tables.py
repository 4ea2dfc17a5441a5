"""Columns from the engine as Arrow tables that convert to what the user works with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from burstlab.errors import NotRecorded
from burstlab.extras import extra
from burstlab.shown import shown

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc
    from numpy.typing import NDArray

# numpy and pyarrow are imported where tables are made: a run that records none starts without them,
# in half the time.

#: What is recorded only when asked for.
TRACES = ("packets", "bursts", "cwnd", "ledger")

#: Tables of a mesh, which need no recording.
MESH = ("histograms", "connections", "samples")

#: Tables of a mesh of bursts that is looked at with ``run.occupancy``.
OCCUPANCY = ("queues", "ports", "wavelengths")

#: Tables that come with one that is recorded, under its name and more.
WITH = ("packets_sack", "bursts_hops", "bursts_steps", "ledger_losses")

#: All tables but ``flows``.
RECORDED = (*TRACES, *WITH, *MESH, *OCCUPANCY)

#: All tables that the directory of a result can hold.
STORED = ("flows", *RECORDED)


def not_recorded(name: str) -> NotRecorded:
    """Return the error of a table that a run has not recorded, with what records it."""
    fix = f"run it with trace=({name.split('_')[0]!r},)"
    if name in MESH:
        fix = "run a mesh; connections need [[demand]], samples need run.sample"
    if name in OCCUPANCY:
        fix = 'run a mesh of bursts with run.occupancy, such as "1 ms"'
    return NotRecorded(f"the table {name} of this run was not recorded\n  fix: {fix}")


#: What the engine writes in an unsigned 64-bit column where there is nothing to say.
NULL = 2**64 - 1

#: Most rows that are looked at at once where a table is read part by part.
BATCH = 2**16

EngineColumn = "NDArray[Any] | tuple[NDArray[np.uint8], list[str]]"


class Table:
    """An Arrow table; ``table["column"]`` is a numpy array.

    Parameters
    ----------
    arrow
        The data.
    """

    def __init__(self, arrow: pa.Table) -> None:
        self._arrow = arrow

    def to_arrow(self) -> pa.Table:
        """Return the data as a `pyarrow.Table`, without a copy."""
        return self._arrow

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Return the rows part by part, of all columns or of those named."""
        arrow = self._arrow if columns is None else self._arrow.select(list(columns))
        yield from arrow.to_batches(max_chunksize=BATCH)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame; times stay whole picoseconds (nullable integers)."""
        import pyarrow as pa

        pd = extra("pandas", "to_pandas()")
        return self.to_arrow().to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype()}.get)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame."""
        return extra("polars", "to_polars()").from_arrow(self.to_arrow())

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return one dictionary per row."""
        return self.to_arrow().to_pylist()

    def where(self, **equal: Any) -> Table:
        """Return the rows whose columns have the given values."""
        condition = self._equal(equal)
        return self if condition is None else Table(self._arrow.filter(condition))

    def seconds(self, name: str) -> NDArray[np.float64]:
        """Return a column of picoseconds in seconds, with NaN where there is no value."""
        import numpy as np

        return np.asarray(self[name], dtype=np.float64) * 1e-12

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._schema().names)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._column(name)

    def __len__(self) -> int:
        return self._arrow.num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        return self.to_html(rows=20) + f"<p>{len(self):,} rows</p>"

    def to_html(self, rows: int | None = None, columns: Sequence[str] | None = None) -> str:
        """Return the first rows, or all, as an HTML table; of the columns named, or of all."""
        import html

        kept = self.columns if columns is None else list(columns)
        names = "".join(f"<th>{html.escape(name)}</th>" for name in kept)
        shown = self.to_arrow() if rows is None else self._head(rows)
        body = "".join(
            "<tr>" + "".join(f"<td>{_html_cell(row[name])}</td>" for name in kept) + "</tr>"
            for row in shown.select(kept).to_pylist()
        )
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"

    def _schema(self) -> pa.Schema:
        return self._arrow.schema

    def _column(self, name: str) -> NDArray[Any]:
        return self._arrow.column(name).to_numpy(zero_copy_only=False)

    def _head(self, rows: int) -> pa.Table:
        return self._arrow.slice(0, rows)

    def _equal(self, equal: Mapping[str, Any]) -> pc.Expression | None:
        """Return the condition that columns have the given values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        schema = self._schema()
        condition: pc.Expression | None = None
        for name, value in equal.items():
            column = pc.field(name)
            if pa.types.is_dictionary(schema.field(name).type):
                column = column.cast(pa.string())
            condition = column == value if condition is None else condition & (column == value)
        return condition


def from_engine(columns: Mapping[str, Any], replication: int) -> pa.Table:
    """Build an Arrow table from a chunk of a table of the engine, with the replication in front."""
    import numpy as np
    import pyarrow as pa

    arrays: dict[str, pa.Array] = {name: _array(column) for name, column in columns.items()}
    length = len(next(iter(arrays.values()))) if arrays else 0
    number = pa.array(np.full(length, replication, dtype=np.uint32))
    return pa.table({"replication": number, **arrays})


class Recorded(Mapping[str, "pa.Table"]):
    """The tables of a run of the engine, made when the first of them is asked for.

    A mesh always leaves some, and most runs are read for their summary alone.

    Parameters
    ----------
    hand_over
        Answers the chunks of the tables, each with its name; asked once.
    replication
        Number of the run.
    """

    def __init__(
        self, hand_over: Callable[[], Sequence[tuple[str, Mapping[str, Any]]]], replication: int
    ) -> None:
        self._hand_over = hand_over
        self._replication = replication

    @cached_property
    def _made(self) -> dict[str, pa.Table]:
        import pyarrow as pa

        chunks: dict[str, list[pa.Table]] = {}
        for name, columns in self._hand_over():
            chunks.setdefault(name, []).append(from_engine(columns, self._replication))
        return {name: pa.concat_tables(found) for name, found in chunks.items()}

    def __getitem__(self, name: str) -> pa.Table:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def from_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Build an Arrow table from dictionaries of plain values.

    A dictionary within becomes columns of its own, ``outer_inner``; lists are left out.
    """
    import pyarrow as pa

    rows = [_flat(row) for row in rows]
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            if not isinstance(value, list):
                names[name] = None
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}_{inner}": item for inner, item in value.items()})
        else:
            flat[name] = value
    return flat


def join(tables: Sequence[pa.Table]) -> pa.Table:
    """Put the tables of several replications one below the other."""
    import pyarrow as pa

    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


def _html_cell(value: object) -> str:
    import html

    if value is None:
        return ""
    return html.escape(f"{value:.6g}" if isinstance(value, float) else shown(str(value)))


def _array(column: Any) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if isinstance(column, tuple):
        codes, labels = column
        # pandas knows no unsigned dictionary index.
        indices = pa.array(codes.astype(np.int8 if len(labels) < 128 else np.int32))
        return pa.DictionaryArray.from_arrays(indices, pa.array(labels, type=pa.string()))
    if column.dtype == np.uint64:
        empty = column == NULL
        return pa.array(column, mask=empty) if empty.any() else pa.array(column)
    # A number that is none, such as the window of an ACK, is no value either.
    return pa.array(column, from_pandas=True)
