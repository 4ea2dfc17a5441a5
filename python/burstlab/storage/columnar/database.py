"""DuckDB in memory, which reads and writes the Parquet files; its database holds no table.

It is imported, and the database made, where the first file is read or written.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.errors import InputError

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column

#: One thread, so that rows keep their order and a file its bytes; runs have the other processors.
_SETTINGS = {
    "threads": 1,
    "temp_directory": "",
    "enable_external_file_cache": False,
    "autoinstall_known_extensions": False,
}

#: DuckDB's names of the types of columns, with numpy's names.
KINDS = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "VARCHAR": "text",
    '"NULL"': "float64",  # a column without any value
}

#: Most labels that a query spells out; of more, each text is handed over by itself.
_SPELT = 64

#: Texts of DuckDB's errors at Ctrl-C.
_INTERRUPTED = ("Query interrupted", "KeyboardInterrupt")

#: The database of this process, and those of the processes that it was forked from, which are never
#: closed here: their threads are not in this process.
_made: tuple[int, duckdb.DuckDBPyConnection] | None = None
_of_others: list[duckdb.DuckDBPyConnection] = []


class Damaged(Exception):
    """A file is damaged, or of a kind that Burstlab does not write."""


@contextmanager
def cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection of its own to the database.

    Raises
    ------
    OSError
        If a file cannot be written.
    Damaged
        If DuckDB refuses a file.
    KeyboardInterrupt
        At Ctrl-C, for which DuckDB has an error of its own.
    """
    global _made
    import duckdb

    made = _made
    if made is None or made[0] != os.getpid():
        _of_others.extend([] if made is None else [made[1]])
        made = _made = (os.getpid(), duckdb.connect(":memory:", config=dict(_SETTINGS)))
    try:
        with made[1].cursor() as opened:
            yield opened
    except duckdb.Error as error:
        if isinstance(error, (duckdb.InternalError, duckdb.OperationalError)):
            _made = None  # an error within DuckDB leaves the database of no use
        said = str(error)
        if _is_interrupt(error):
            raise KeyboardInterrupt from None
        # DuckDB has the system's reason in its text alone.
        for number in errno.errorcode:
            if f": {os.strerror(number)}" in said:
                raise OSError(number, os.strerror(number)) from None
        raise Damaged(said.splitlines()[0]) from None
    except RuntimeError as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from None
        raise


def finish(connection: duckdb.DuckDBPyConnection, command: str) -> None:
    """Do a command to its end, so that nothing is lost; Ctrl-C is heard then, a second at once."""
    try:
        connection.execute(command)
    except Exception as error:
        if _is_interrupt(error):
            connection.execute(command)
        raise


def _is_interrupt(error: Exception) -> bool:
    return any(sign in str(error) for sign in _INTERRUPTED)


def file_name(path: Path) -> str:
    """Return what a query names a file: no sign in its name stands for others."""
    return literal(re.sub(r"([*?\[])", r"[\1]", known_name(path)))


def known_name(path: Path) -> str:
    """Return the name of a file; DuckDB knows no other than UTF-8."""
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{path}: the name is not UTF-8, which the file of a table needs\n"
            "  fix: rename the directory"
        ) from None
    return name


def literal(value: str) -> str:
    """Return text as a query has it."""
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """Return the name of a column or a table as a query has it."""
    return '"' + value.replace('"', '""') + '"'


def registered(
    database: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, Column]
) -> str:
    """Have columns known as a table; return the query that selects them as what they are.

    Parameters
    ----------
    database
        The connection.
    table
        A name that no other table has.
    columns
        At least one, of numbers, truth values or text.
    """
    arrays: dict[str, NDArray[Any]] = {}
    terms: list[str] = []
    for place, (title, column) in enumerate(columns.items()):
        value, there = f"v{place}", f"t{place}"
        arrays[value], term = _term(column, value)
        if column.valid is not None:
            arrays[there] = np.ascontiguousarray(column.valid)
            term = f"case when {there} then {term} end"
        terms.append(f"{term} as {quoted(title)}")
    database.register(table, arrays)
    return f"select {', '.join(terms)} from {quoted(table)}"


def _term(column: Column, value: str) -> tuple[NDArray[Any], str]:
    """Return the array that is handed over, and what a query makes of it."""
    labels = column.labels
    if labels is None:
        return np.ascontiguousarray(column.values), value
    if not labels:
        return np.zeros(len(column), np.int8), "null::varchar"
    if len(labels) > _SPELT or any("\0" in label for label in labels):
        return np.array(labels, dtype=object)[column.values], f"{value}::varchar"
    cases = " ".join(f"when {code} then {literal(label)}" for code, label in enumerate(labels))
    return np.ascontiguousarray(column.values), f"case {value} {cases} end"
