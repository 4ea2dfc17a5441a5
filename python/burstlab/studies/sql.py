"""SQL over tables, by DuckDB in memory: it answers queries, and reaches nothing but the tables.

Each query has a database of its own. Before it is run, the database loses its access to files, to
the network and to extensions, except to read the files of the tables, and its settings are locked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from burstlab.errors import InputError
from burstlab.storage.columnar.column import of_objects, of_values
from burstlab.storage.columnar.database import KINDS, file_name, literal, quoted, registered
from burstlab.storage.parquet import StoredTable
from burstlab.tables import Table

if TYPE_CHECKING:
    import duckdb

    from burstlab.storage.columnar.column import Column

#: A table, or the parts of one by the label of each, which becomes a column ``result``.
Source: TypeAlias = "Table | Mapping[str, Table]"

#: Settings that restrict the database from the start.
_SETTINGS: Mapping[str, Any] = {
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    # A name in a query is a table, and no variable of the program.
    "python_enable_replacements": False,
}

_ONE_QUERY = "write one query, which begins with select, from, with, pivot or explain"

#: DuckDB splits a pivot into several statements, whose kind it does not tell.
_PIVOT = re.compile(r"\s*(\(\s*)*(pivot|select|from|with)\b", re.IGNORECASE)

_EXPLAIN = re.compile(r"\s*explain(\s+analyze)?\s", re.IGNORECASE)


def query(sql: str, sources: Mapping[str, Source]) -> Table:
    """Return a query.

    A column whose name another one has already gets a number behind it, as DuckDB does it.

    Parameters
    ----------
    sql
        In the dialect of DuckDB. Names with dots need double quotes.
    sources
        The tables that it may name.

    Raises
    ------
    InputError
        If it is no query, names another file, or DuckDB refuses it; the error says where.
    """
    import duckdb

    sql.encode()  # DuckDB takes text of UTF-8 alone, and this says what is none
    with duckdb.connect(":memory:", config=dict(_SETTINGS)) as database:
        try:
            for statement in database.extract_statements(sql):
                _refuse_all_but_queries(database, statement)
            for name in _named(database, sql, sources):
                _check(sources[name])
            for name, source in sources.items():
                _register(database, name, source)
            _lock(database, sources)
            found = database.sql(sql)
            if found is None:
                raise InputError(
                    f"--sql: the query returns no rows\n  fix: select from {_known(sources)}"
                )
            kinds = list(map(str, found.types))
            names = list(_apart(found.columns))
            rows = found.fetchall()
        except duckdb.PermissionException as error:
            raise InputError(
                f"--sql: {_first_line(error)}\n"
                f"  fix: a query may read only these tables: {_known(sources)}"
            ) from None
        except duckdb.Error as error:
            raise InputError(f"--sql: {error}\n  fix: the tables are {_known(sources)}") from None
    cells = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return Table(
        {name: _column(kind, each) for name, kind, each in zip(names, kinds, cells, strict=True)}
    )


def _refuse_all_but_queries(database: duckdb.DuckDBPyConnection, statement: Any) -> None:
    """Refuse what changes a file, a setting or the database, such as COPY TO, ATTACH and SET."""
    kind, text = statement.type.name, str(statement.query)
    explained = _EXPLAIN.match(text)
    if kind == "EXPLAIN" and explained:
        for inner in database.extract_statements(text[explained.end() :]):
            _refuse_all_but_queries(database, inner)
        return
    if kind == "SELECT" or (kind == "MULTI" and _PIVOT.match(text)):
        return
    word = (text.split() or [kind])[0].upper()
    raise InputError(f"--sql: {word} is no query; only queries are allowed\n  fix: {_ONE_QUERY}")


def _named(
    database: duckdb.DuckDBPyConnection, sql: str, sources: Mapping[str, Source]
) -> Sequence[str]:
    """Return the sources that a query names, or all if they cannot be found in its text."""
    import duckdb

    try:
        words = {name.strip('"').lower() for name in database.get_table_names(sql)}
    except duckdb.Error:
        return list(sources)
    return [name for name in sources if name.lower() in words] or list(sources)


def _check(source: Source) -> None:
    """Refuse a damaged file, because the database itself would read it."""
    for part in _files(source):
        part.check()


def _lock(database: duckdb.DuckDBPyConnection, sources: Mapping[str, Source]) -> None:
    """Restrict the database to reading the files of its tables."""
    files = [_absolute(part.path) for source in sources.values() for part in _files(source)]
    paths = {text for path in files for text in (file_name(path), literal(str(path)))}
    database.execute(f"set allowed_paths = [{', '.join(sorted(paths))}]")
    database.execute("set enable_external_access = false")
    database.execute("set lock_configuration = true")


def _files(source: Source) -> Sequence[StoredTable]:
    """Return the parts that the database reads from files, which have at least a column."""
    parts = list(source.values()) if isinstance(source, Mapping) else []
    return [part for part in parts if isinstance(part, StoredTable) and part.columns]


def _absolute(path: Path) -> Path:
    """Return where a file is; below a directory whose name is not UTF-8, from where this runs."""
    found = path.absolute()
    try:
        str(found).encode()
    except UnicodeEncodeError:
        return path
    return found


def _apart(names: Sequence[str]) -> Iterator[str]:
    """Return names of columns, those that came before with a number behind them."""
    taken = set(names)
    seen: set[str] = set()
    for name in names:
        new, number = name, 0
        while new in seen or (number and new in taken):
            number += 1
            new = f"{name}_{number}"
        seen.add(new)
        yield new


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


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
        if not part.columns:
            # DuckDB knows no table without columns: that of a run without flows.
            parts.append(f"select {literal(label)} as result where false")
            continue
        if isinstance(part, StoredTable):
            origin = f"read_parquet({file_name(_absolute(part.path))})"
        else:
            origin = f"({registered(database, f'{name}:{index}', part.read())})"
        parts.append(f"select {literal(label)} as result, * from {origin}")
    database.execute(f"create view {quoted(name)} as {' union all by name '.join(parts)}")


def _column(kind: str, values: Sequence[Any]) -> Column:
    """Return a column of a query; times, lists and other types become Python's objects."""
    if kind in KINDS:
        return of_values(values, KINDS[kind])
    if kind == "HUGEINT" and all(abs(value or 0) < 2**63 for value in values):
        return of_values(values, "int64")  # a sum of whole numbers
    return of_objects(values)
