"""Tables of columns, which convert to pandas, polars, Arrow or plain dictionaries."""

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

# numpy is imported where tables are made. A run that records none starts in half the time without.

#: Tables that are recorded only on request.
TRACES = ("packets", "bursts", "cwnd", "ledger")

#: The bytes of packets of third-party hosts, recorded with ``packets`` if this table is named.
DATAGRAMS = "datagrams"

#: Tables of a mesh, which need no recording.
MESH = ("histograms", "connections", "samples")

#: Tables of a mesh of bursts that ``run.occupancy`` samples.
OCCUPANCY = ("queues", "ports", "wavelengths")

#: Tables that are recorded together with another one.
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

#: Columns that name a row of each table. The replication comes first, because rows of several
#: replications have the same numbers. A table that belongs to another is joined by the key of that.
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
            "only third-party hosts record datagrams, and this scenario has none\n"
            "  fix: leave out the trace of datagrams, or give a flow a stack"
        )
    return [name for name in known if name in asked]


def not_recorded(name: str) -> NotRecorded:
    """Return the error for a table that a run has not recorded; it says how to record it."""
    traced = name.split("_")[0]
    fix = f"run it with --trace {traced} (trace=({traced!r},))"
    if name in MESH:
        fix = "run a mesh; connections need [[demand]], samples need run.sample"
    if name in OCCUPANCY:
        fix = 'run a mesh of bursts with run.occupancy, such as "1 ms"'
    return NotRecorded(f"the table {name} of this run was not recorded\n  fix: {fix}")


#: The value that the engine writes in an unsigned 64-bit column for a missing value.
NULL = 2**64 - 1

#: Most rows in memory at a time where a table is read part by part.
BATCH = 2**16


class Table:
    """Columns of equal length; ``table["column"]`` is a one-dimensional numpy array.

    Times are whole picoseconds, in columns whose names end in ``_ps``. A column without missing
    values has the type of the engine: ``uint64``, ``float64``, ``bool`` or text. In a column of
    numbers with missing values all are ``float64`` and the missing ones NaN; elsewhere they are
    None. The conversions below write a null instead.

    Parameters
    ----------
    columns
        The data, by name.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    def to_arrow(self) -> pa.Table:
        """Convert to Arrow; it needs the extra ``arrow``.

        Returns
        -------
        pyarrow.Table
            The same columns; a missing value is null.
        """
        from burstlab.storage.arrow import to_arrow

        return to_arrow(self.read(), "to_arrow()", "arrow")

    def to_pandas(self) -> pd.DataFrame:
        """Convert to pandas; it needs the extra ``pandas``.

        Returns
        -------
        pandas.DataFrame
            The same columns. Times and counts stay whole, in nullable integers whose missing values
            are ``pandas.NA``. A missing float is NaN, a missing text None.
        """
        from burstlab.storage.arrow import to_arrow

        arrow = to_arrow(self.read(), "to_pandas()", "pandas")
        pa = extra("pyarrow", "to_pandas()", "pandas")
        pd = extra("pandas", "to_pandas()")
        return arrow.to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype()}.get)

    def to_polars(self) -> pl.DataFrame:
        """Convert to polars; it needs the extra ``polars``.

        Returns
        -------
        polars.DataFrame
            The same columns; a missing value is null.
        """
        from burstlab.storage.arrow import to_arrow

        # First pyarrow: polars that is imported without it does not look for it again.
        arrow = to_arrow(self.read(), "to_polars()", "polars")
        return extra("polars", "to_polars()").from_arrow(arrow)

    def to_pylist(self) -> list[dict[str, Any]]:
        """Convert to plain Python values.

        Returns
        -------
        list of dict
            One dictionary per row, by column; a missing value is None.
        """
        found = self.read()
        names = list(found)
        cells = (column.to_pylist() for column in found.values())
        return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]

    def where(self, **equal: Any) -> Table:
        """Select rows by the values of columns.

        Parameters
        ----------
        **equal
            A value for each column named: ``where(flow=3, kind="timeout")``.

        Returns
        -------
        Table
            The rows that have all these values, in their order.
        """
        if not equal:
            return self
        return Table(self.read(conditions=[(name, "==", value) for name, value in equal.items()]))

    def seconds(self, name: str) -> NDArray[np.float64]:
        """Return a column of times in seconds.

        Parameters
        ----------
        name
            Of a column in picoseconds, such as ``"t_ps"``.

        Returns
        -------
        numpy.ndarray of float64
            One value per row, in seconds; NaN where there is no value.
        """
        import numpy as np

        return np.asarray(self[name], dtype=np.float64) * 1e-12

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def column(self, name: str) -> Column:
        """Return a column with its type and the mask of its missing values.

        Parameters
        ----------
        name
            Of the column.

        Returns
        -------
        Column
            The values, and which of them are missing.
        """
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

        Returns
        -------
        dict of Column
            By name, in the order asked for.

        Raises
        ------
        KeyError
            If there is no such column; the message lists the columns of the table.
        """
        from burstlab.storage.columnar.conditions import meet

        self._know([*(names or ()), *(name for name, _, _ in conditions)])
        found = {name: self._columns[name] for name in names or self._columns}
        if not conditions:
            return found
        mask = meet(self._columns, conditions)
        return {name: column.take(mask) for name, column in found.items()}

    def select(self, names: Sequence[str]) -> Table:
        """Return some of the columns.

        Parameters
        ----------
        names
            Of the columns.

        Returns
        -------
        Table
            All rows of these columns, in the order of `names`.
        """
        return Table(self.read(names))

    def take(self, which: NDArray[Any] | slice) -> Table:
        """Return some of the rows.

        Parameters
        ----------
        which
            Numbers of rows from 0, a Boolean mask with one entry per row, or a slice.

        Returns
        -------
        Table
            These rows.
        """
        return Table({name: column.take(which) for name, column in self.read().items()})

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Return the rows part by part, so that a large table need not be in memory.

        Parameters
        ----------
        columns
            Names of columns; by default all.

        Returns
        -------
        iterator of Table
            Parts of at most 65,536 rows each, in order.
        """
        yield from in_parts(self.read(columns))

    def equals(self, other: Table) -> bool:
        """Compare with another table; NaN equals NaN.

        Parameters
        ----------
        other
            The other table.

        Returns
        -------
        bool
            Whether both have the same columns with the same values.
        """
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
        """Format as an HTML table.

        Parameters
        ----------
        rows
            How many of the first rows; by default all.
        columns
            Names of columns; by default all.

        Returns
        -------
        str
            The element ``<table>``.
        """
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
        """Return the first rows.

        Parameters
        ----------
        rows
            How many.

        Returns
        -------
        Table
            These rows; all if there are fewer.
        """
        return self.take(slice(0, rows))

    def _know(self, names: Sequence[str]) -> None:
        """Refuse names of columns that the table does not have."""
        known = self.columns
        for name in names:
            if name not in known:
                raise NoColumn(str(unknown("column", name, known)))


class NoColumn(InputError, KeyError):
    """The table does not have this column; the message lists the columns of the table."""

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

    A mesh always records some, but most runs are read for their summary alone.

    Parameters
    ----------
    hand_over
        Returns the chunks of the tables, each with its name; called once.
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

    A nested dictionary becomes columns of its own, ``outer_inner``; lists are left out.
    """
    from burstlab.storage.columnar.column import of_values

    rows = [_flat(row) for row in rows]
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            if not isinstance(value, list):
                names[name] = None
    return Table({name: of_values(row.get(name) for row in rows) for name in names})


#: Types of most values. They are separated from tables at once, because `isinstance` is slower.
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
    """Append tables; a table that lacks a column has missing values in it."""
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
    # A NaN, such as the window of an ACK, counts as missing.
    return of_numbers(column, nan=False)
