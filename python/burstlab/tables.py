"""Tables of columns, which convert to what the user works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from burstlab.errors import InputError, NotRecorded, unknown
from burstlab.extras import extra
from burstlab.printable import shown

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column
    from burstlab.storage.columnar.conditions import Condition

# numpy is imported where tables are made: a run that records none starts without it, in half the
# time.

#: What is recorded only when asked for.
TRACES = ("packets", "bursts", "cwnd", "ledger")

#: What packets of third-party hosts say, byte for byte, which is recorded with ``packets`` where it
#: is asked for by name.
DATAGRAMS = "datagrams"

#: Tables of a mesh, which need no recording.
MESH = ("histograms", "connections", "samples")

#: Tables of a mesh of bursts that is looked at with ``run.occupancy``.
OCCUPANCY = ("queues", "ports", "wavelengths")

#: Tables that come with one that is recorded, under its name and more.
WITH = (
    "packets_sack",
    "packets_acks",
    "packets_rates",
    "bursts_hops",
    "bursts_steps",
    "ledger_losses",
    DATAGRAMS,
    "datagrams_keys",
)

#: All tables but ``flows``.
RECORDED = (*TRACES, *WITH, *MESH, *OCCUPANCY)

#: All tables that the directory of a result can hold.
STORED = ("flows", *RECORDED)

#: Columns that name a row of each table, first of all the replication: rows of several replications
#: have the same numbers. A table that another one belongs to is joined by the key of that one.
KEYS: Mapping[str, tuple[str, ...]] = {
    "flows": ("replication", "id"),
    "bursts": ("replication", "direction", "burst"),
    "packets_sack": ("replication", "packet", "left", "right"),
    "packets_acks": ("replication", "packet"),
    "datagrams": ("replication", "packet", "word"),
    "datagrams_keys": ("replication", "word"),
    "ledger": ("replication", "event"),
    "ledger_losses": ("replication", "event", "seq"),
    "connections": ("replication", "id"),
    "samples": ("replication", "t_ps", "node"),
    "histograms": ("replication", "of", "kind", "value"),
    "queues": ("replication", "t_ps", "from", "to", "class", "route"),
}


def to_trace(trace: Iterable[str] | str, resolved: Mapping[str, Any]) -> list[str]:
    """Return the tables that a run of a scenario is to record, in their order; refuse others."""
    asked = [trace] if isinstance(trace, str) else list(trace)
    known = (*TRACES, DATAGRAMS)
    for name in asked:
        if name not in known:
            raise unknown("table to trace", name, known)
    if DATAGRAMS in asked and not any(flow.get("stack") for flow in resolved.get("flows", ())):
        raise InputError(
            "datagrams are of third-party hosts, and this scenario has none\n"
            "  fix: leave out the trace of datagrams, or give a flow a stack"
        )
    return [name for name in known if name in asked]


def not_recorded(name: str) -> NotRecorded:
    """Return the error of a table that a run has not recorded, with what records it."""
    traced = name.split("_")[0]
    fix = f"run it with --trace {traced} (trace=({traced!r},))"
    if name in MESH:
        fix = "run a mesh; connections need [[demand]], samples need run.sample"
    if name in OCCUPANCY:
        fix = 'run a mesh of bursts with run.occupancy, such as "1 ms"'
    return NotRecorded(f"the table {name} of this run was not recorded\n  fix: {fix}")


#: What the engine writes in an unsigned 64-bit column where there is nothing to say.
NULL = 2**64 - 1

#: Most rows that are looked at at once where a table is read part by part.
BATCH = 2**16


class Table:
    """Columns of equal length; ``table["column"]`` is a numpy array.

    Parameters
    ----------
    columns
        The data, by name.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    def to_arrow(self) -> pa.Table:
        """Return a `pyarrow.Table`; it needs the extra ``arrow``."""
        from burstlab.storage.arrow import to_arrow

        return to_arrow(self.read(), "to_arrow()", "arrow")

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame; times stay whole picoseconds (nullable integers)."""
        from burstlab.storage.arrow import to_arrow

        arrow = to_arrow(self.read(), "to_pandas()", "pandas")
        pa = extra("pyarrow", "to_pandas()", "pandas")
        pd = extra("pandas", "to_pandas()")
        return arrow.to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype()}.get)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame; it needs the extra ``polars``."""
        from burstlab.storage.arrow import to_arrow

        # First pyarrow: polars that is imported without it does not look for it again.
        arrow = to_arrow(self.read(), "to_polars()", "polars")
        return extra("polars", "to_polars()").from_arrow(arrow)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return one dictionary per row."""
        found = self.read()
        names = list(found)
        cells = (column.to_pylist() for column in found.values())
        return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]

    def where(self, **equal: Any) -> Table:
        """Return the rows whose columns have the given values."""
        if not equal:
            return self
        return Table(self.read(conditions=[(name, "==", value) for name, value in equal.items()]))

    def seconds(self, name: str) -> NDArray[np.float64]:
        """Return a column of picoseconds in seconds, with NaN where there is no value."""
        import numpy as np

        return np.asarray(self[name], dtype=np.float64) * 1e-12

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def column(self, name: str) -> Column:
        """Return a column with its type and what is missing in it."""
        return self.read([name])[name]

    def read(
        self, names: Sequence[str] | None = None, conditions: Sequence[Condition] = ()
    ) -> dict[str, Column]:
        """Return columns of the rows that meet all conditions, or of all rows.

        Parameters
        ----------
        names
            Of the columns; by default all.
        conditions
            Such as ``("flow", "==", 3)``; see `burstlab.storage.columnar.conditions`.

        Raises
        ------
        KeyError
            If there is no such column; with what there is.
        """
        from burstlab.storage.columnar.conditions import meet

        self._know([*(names or ()), *(name for name, _, _ in conditions)])
        found = {name: self._columns[name] for name in names or self._columns}
        if not conditions:
            return found
        mask = meet(self._columns, conditions)
        return {name: column.take(mask) for name, column in found.items()}

    def select(self, names: Sequence[str]) -> Table:
        """Return some of the columns."""
        return Table(self.read(names))

    def take(self, which: NDArray[Any] | slice) -> Table:
        """Return some of the rows: their numbers, a mask, or a slice."""
        return Table({name: column.take(which) for name, column in self.read().items()})

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Return the rows part by part, of all columns or of those named."""
        yield from in_parts(self.read(columns))

    def equals(self, other: Table) -> bool:
        """Whether both have the same columns with the same values, NaN being equal to NaN."""
        ours, theirs = self.read(), other.read()
        return list(ours) == list(theirs) and all(
            column.equals(theirs[name]) for name, column in ours.items()
        )

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.column(name).to_numpy()

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

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
        shown = self if rows is None else self.head(rows)
        body = "".join(
            "<tr>" + "".join(f"<td>{_html_cell(row[name])}</td>" for name in kept) + "</tr>"
            for row in shown.select(kept).to_pylist()
        )
        return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"

    def head(self, rows: int) -> Table:
        """Return the first rows."""
        return self.take(slice(0, rows))

    def _know(self, names: Sequence[str]) -> None:
        """Refuse names of columns that there are not."""
        known = self.columns
        for name in names:
            if name not in known:
                raise NoColumn(str(unknown("column", name, known)))


class NoColumn(InputError, KeyError):
    """A table has no such column; the message names those that there are."""

    __str__ = InputError.__str__


def in_parts(columns: Mapping[str, Column]) -> Iterator[Table]:
    """Return rows in parts that are not too large."""
    whole = Table(columns)
    for start in range(0, len(whole), BATCH):
        yield whole.take(slice(start, start + BATCH))


def from_engine(columns: Mapping[str, Any], replication: int) -> Table:
    """Build a table from a chunk of a table of the engine, with the replication in front."""
    import numpy as np

    from burstlab.storage.columnar.column import Column

    found = {name: _column(column) for name, column in columns.items()}
    length = len(next(iter(found.values()), ()))
    number = Column(np.full(length, replication, dtype=np.uint32))
    return Table({"replication": number, **found})


class Recorded(Mapping[str, Table]):
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
    def _made(self) -> dict[str, Table]:
        chunks: dict[str, list[Table]] = {}
        for name, columns in self._hand_over():
            chunks.setdefault(name, []).append(from_engine(columns, self._replication))
        return {name: join(found) for name, found in chunks.items()}

    def __getitem__(self, name: str) -> Table:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def from_rows(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Build a table from dictionaries of plain values.

    A dictionary within becomes columns of its own, ``outer_inner``; lists are left out.
    """
    from burstlab.storage.columnar.column import of_values

    rows = [_flat(row) for row in rows]
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            if not isinstance(value, list):
                names[name] = None
    return Table({name: of_values(row.get(name) for row in rows) for name in names})


#: Types of most values, which are told at once from tables: to ask for those takes longer.
_PLAIN = frozenset((int, float, str, bool, type(None)))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if type(value) not in _PLAIN and isinstance(value, Mapping):
            flat.update({f"{name}_{inner}": item for inner, item in value.items()})
        else:
            flat[name] = value
    return flat


def join(tables: Sequence[Table]) -> Table:
    """Put tables one below the other; one that lacks a column has no values in it."""
    from burstlab.storage.columnar.column import joined, missing

    read = [table.read() for table in tables]
    names = dict.fromkeys(name for columns in read for name in columns)
    found: dict[str, Column] = {}
    for name in names:
        every = [
            columns[name] if name in columns else missing(len(table), "float64")
            for table, columns in zip(tables, read, strict=True)
        ]
        found[name] = joined(every)
    return Table(found)


def _html_cell(value: object) -> str:
    import html

    if value is None:
        return ""
    return html.escape(f"{value:.6g}" if isinstance(value, float) else shown(str(value)))


def _column(column: Any) -> Column:
    import numpy as np

    from burstlab.storage.columnar.column import Column, of_numbers

    if isinstance(column, tuple):
        codes, labels = column
        return Column(codes.astype(np.int32), None, labels, category=True)
    if column.dtype == np.uint64:
        there = column != NULL
        return Column(column, None if there.all() else there)
    # A number that is none, such as the window of an ACK, is no value either.
    return of_numbers(column, nan=False)
