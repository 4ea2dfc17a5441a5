"""SQL over tables, by DuckDB in memory: nothing is written, and nothing stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from burstlab.columnar.column import of_objects, of_values
from burstlab.columnar.database import KINDS, file_name, literal, quoted, registered
from burstlab.errors import InputError
from burstlab.parquet import opened
from burstlab.tables import Table

if TYPE_CHECKING:
    import duckdb

    from burstlab.columnar.column import Column

#: A table, or the Parquet files of one by the label of each, which becomes a column ``result``.
Source: TypeAlias = "Table | Mapping[str, Table | Path]"


def query(sql: str, sources: Mapping[str, Source]) -> Table:
    """Return a query.

    Parameters
    ----------
    sql
        In the dialect of DuckDB. Names with dots need double quotes.
    sources
        The tables that it may name.

    Raises
    ------
    InputError
        If DuckDB refuses it; the error says where.
    """
    import duckdb

    with duckdb.connect(":memory:") as database:
        database.execute("set autoinstall_known_extensions = false")
        for name, source in sources.items():
            _register(database, name, source)
        try:
            found = database.sql(sql)
            if found is None:
                raise InputError(f"--sql: no rows come of it\n  fix: select from {_known(sources)}")
            kinds = dict(zip(found.columns, map(str, found.types), strict=True))
            rows = found.fetchall()
        except duckdb.Error as error:
            raise InputError(f"--sql: {error}\n  fix: the tables are {_known(sources)}") from None
    cells = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return Table(
        {name: _column(kinds[name], each) for name, each in zip(kinds, cells, strict=True)}
    )


def _known(sources: Mapping[str, Source]) -> str:
    return ", ".join(sources) or "none"


def _register(database: duckdb.DuckDBPyConnection, name: str, source: Source) -> None:
    if not isinstance(source, Mapping):
        if source.columns:
            rows = registered(database, f"{name}:rows", source.read())
            database.execute(f"create view {quoted(name)} as {rows}")
        return
    parts: list[str] = []
    for index, (label, part) in enumerate(source.items()):
        if not _columns(part):
            # DuckDB knows no table without columns: that of a run without flows.
            parts.append(f"select {literal(label)} as result where false")
            continue
        if isinstance(part, Path):
            origin = f"read_parquet({file_name(part)})"
        else:
            origin = f"({registered(database, f'{name}:{index}', part.read())})"
        parts.append(f"select {literal(label)} as result, * from {origin}")
    database.execute(f"create view {quoted(name)} as {' union all by name '.join(parts)}")


def _columns(part: Table | Path) -> list[str]:
    if isinstance(part, Table):
        return part.columns
    with opened(part) as file:
        return list(file.kinds)


def _column(kind: str, values: Sequence[Any]) -> Column:
    """Return a column of a query; times, lists and the like are Python's objects."""
    if kind in KINDS:
        return of_values(values, KINDS[kind])
    if kind == "HUGEINT" and all(abs(value or 0) < 2**63 for value in values):
        return of_values(values, "int64")  # a sum of whole numbers
    return of_objects(values)
