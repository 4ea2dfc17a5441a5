"""SQL over tables, by DuckDB in memory: nothing is written, and nothing stays open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from burstlab.errors import InputError
from burstlab.extras import extra
from burstlab.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

#: A table, or the Parquet files of one by the label of each, which becomes a column ``result``.
Source: TypeAlias = "pa.Table | Mapping[str, pa.Table | Path]"


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
    duckdb = extra("duckdb", "a query in SQL")
    with duckdb.connect(":memory:") as database:
        database.execute("set autoinstall_known_extensions = false")
        for name, source in sources.items():
            _register(database, name, source)
        try:
            found = database.sql(sql)
            if found is None:
                raise InputError(f"--sql: no rows come of it\n  fix: select from {_known(sources)}")
            return Table(found.to_arrow_table())
        except duckdb.Error as error:
            raise InputError(f"--sql: {error}\n  fix: the tables are {_known(sources)}") from None


def _known(sources: Mapping[str, Source]) -> str:
    return ", ".join(sources) or "none"


def _register(database: duckdb.DuckDBPyConnection, name: str, source: Source) -> None:
    if not isinstance(source, Mapping):
        if source.column_names:
            database.register(name, source)
        return
    parts: list[str] = []
    for index, (label, part) in enumerate(source.items()):
        if not _columns(part):
            # DuckDB knows no table without columns: that of a run without flows.
            parts.append(f"select {_text(label)} as result where false")
            continue
        if isinstance(part, Path):
            origin = f"read_parquet({_text(str(part))})"
        else:
            origin = f'"{name}:{index}"'
            database.register(f"{name}:{index}", part)
        parts.append(f"select {_text(label)} as result, * from {origin}")
    database.execute(f'create view "{name}" as {" union all by name ".join(parts)}')


def _columns(part: pa.Table | Path) -> list[str]:
    import pyarrow.parquet as pq

    return pq.read_schema(part).names if isinstance(part, Path) else part.column_names


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


if TYPE_CHECKING:
    import duckdb
