"""Connections of a demand from CSV or Parquet files: when, from where, to where, how much.

A row is a connection. The columns are ``start`` in seconds, ``from`` and ``to``, names of edge
nodes, and ``bytes`` of application data, in any order; other columns are ignored. Some other names
of these columns are known. A list of flows of the HPCC simulator can be read too.

The engine knows the nodes. This module checks only whether each cell is valid for its column.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from burstlab.documents.named_files import NamedFiles
from burstlab.errors import ScenarioError
from burstlab.extras import MissingExtra, extra
from burstlab.sizes import whole_bytes
from burstlab.storage.files import Reader, decoded, named_bytes

#: The columns, in the order of a row of ``trace``.
COLUMNS = ("start", "from", "to", "bytes")

#: Other words for them, which count where a column is not there under its own name.
_ALSO = {
    "start": ("start_s", "start_time", "time", "arrival"),
    "from": ("src", "source", "sender"),
    "to": ("dst", "dest", "destination", "receiver", "target"),
    "bytes": ("size", "size_bytes", "flow_size", "length"),
}

#: Picoseconds of a second, and the longest start that is read: some 213 days.
_PS = 10**12
_LATEST = Decimal("18e6")

#: Digits before the point of a start that is certainly before `_LATEST`, and behind it of one that
#: is whole in picoseconds.
_WHOLE, _PART = 7, 12


def read(path: str | os.PathLike[str], reader: Reader = named_bytes) -> list[list[str]]:
    """Read the connections of a trace.

    Parameters
    ----------
    path
        A file that ends in ``.csv`` or ``.parquet``. ``start`` is in s and rounded to 1 ps; of
        Parquet it may be a duration too. In CSV the first row names the columns; empty rows and
        text after ``#`` are skipped. A ``.txt`` is a list of HPCC: the number of flows, then rows
        of sender, receiver, priority, port, bytes and start in s.
    reader
        Answers what the file holds.

    Returns
    -------
    list
        Rows as ``trace`` of ``[[demand]]`` has them, such as
        ``["1500000 ps", "leaf1", "leaf2", "20000 B"]``, in the order of the file.

    Raises
    ------
    ScenarioError
        If the file cannot be read or holds no table of connections; the error names the file and
        the row.
    """
    where = Path(path)
    formats = {".csv": _csv, ".parquet": _parquet, ".txt": _hpcc}
    parse = formats.get(where.suffix.lower())
    if parse is None:
        fix = f"use one of {', '.join(formats)}"
        raise ScenarioError(str(where), "", "the ending names no format", fix)
    rows = [_row(place, cells) for place, cells in parse(where, reader(where))]
    if not rows:
        fix = "give it rows of start, from, to and bytes"
        raise ScenarioError(str(where), "", "there are no connections", fix)
    return rows


def expand(document: dict[str, Any], files: NamedFiles) -> None:
    """Replace the name of each ``file`` of connections by its rows.

    Parameters
    ----------
    document
        A scenario; changed in place. Left unchanged if the engine has to refuse it anyway.
    files
        The files that it names.
    """
    entries = document.get("demand")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or entry.get("pattern") != "trace":
            continue
        if not isinstance(entry.get("file"), str):
            continue
        if "trace" in entry:
            path = f"demand[{index}].file"
            raise ScenarioError(path, entry["file"], "trace is given too", "keep one of the two")
        name = entry.pop("file")
        entry["trace"] = read(files.where(name), files.reader(name))


def _csv(where: Path, content: bytes) -> Iterator[tuple[str, tuple[Any, ...]]]:
    text = decoded(content, where)
    lines = (line.partition("#")[0].rstrip() for line in io.StringIO(text, newline=""))
    # A stray quote would make one cell of all that follows.
    table = csv.reader(lines, skipinitialspace=True, strict=True)
    order: list[int] | None = None
    width, begins = 0, f"{where}, line "
    try:
        for row in table:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            place = f"{begins}{table.line_num}"
            if order is None:
                order = _order(place, [cell.lower() for cell in cells])
                width = len(cells)
                continue
            if len(cells) != width:
                problem = f"{len(cells)} cells, and {width} columns"
                raise ScenarioError(place, ",".join(row)[:60], problem, "write one cell for each")
            yield place, tuple(cells[index] for index in order)
    except csv.Error as error:
        place = f"{where}, line {table.line_num}"
        raise ScenarioError(place, "", f"not CSV: {error}", "correct it there") from None


def _parquet(where: Path, content: bytes) -> Iterator[tuple[str, tuple[Any, ...]]]:
    try:
        pa, pq = (extra(name, "Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    except MissingExtra:
        fix = "pip install 'burstlab[arrow]', or save the table as CSV"
        raise ScenarioError(str(where), "", "Parquet needs pyarrow", fix) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        order = _order(str(where), [str(name) for name in file.schema_arrow.names])
        names = [file.schema_arrow.names[index] for index in order]
        batches: Iterable[Any] = file.iter_batches(columns=names)
        row = 0
        for batch in batches:
            columns = [_cells(batch.column(name)) for name in names]
            for cells in zip(*columns, strict=True):
                row += 1
                yield f"{where}, row {row}", cells
    except (pa.ArrowException, OSError) as error:
        problem = f"not a Parquet file: {str(error).splitlines()[0]}"
        raise ScenarioError(str(where), "", problem, "write it anew") from None


def _cells(column: Any) -> list[Any]:
    """Return the content of a column of Parquet; a duration is exact, in s."""
    import pyarrow as pa

    if not pa.types.is_duration(column.type):
        return column.to_pylist()
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[column.type.unit]
    ticks = column.cast(pa.int64()).to_pylist()
    return [None if tick is None else Decimal(tick).scaleb(-digits) for tick in ticks]


def _hpcc(where: Path, content: bytes) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Read a list of flows of HPCC's simulator, whose columns have no names."""
    lines = [line.split() for line in decoded(content, where).splitlines()]
    rows = [(number, cells) for number, cells in enumerate(lines, start=1) if cells]
    first = rows[0][1] if rows else []
    if len(first) != 1 or not first[0].isdigit() or int(first[0]) != len(rows) - 1:
        problem = f"the first row is no number of flows that follow, of which there are {len(rows)}"
        fix = "write it, or save the table as CSV with start, from, to and bytes"
        raise ScenarioError(f"{where}, line 1", " ".join(first)[:60], problem, fix)
    for number, cells in rows[1:]:
        place = f"{where}, line {number}"
        if len(cells) != 6:
            fix = "write sender, receiver, priority, port, bytes and start in s"
            raise ScenarioError(place, " ".join(cells)[:60], f"{len(cells)} columns", fix)
        source, to, _, _, size, start = cells
        yield place, (start, source, to, size)


def _order(place: str, names: list[str]) -> list[int]:
    """Find where each of the columns stands."""
    return [_column(place, name, names) for name in COLUMNS]


def _column(place: str, name: str, names: list[str]) -> int:
    found = [name] if name in names else [word for word in _ALSO[name] if word in names]
    if len(found) != 1 or names.count(found[0]) != 1:
        problem = f"{'more than one' if found else 'no'} column {name!r}"
        fix = f"name the columns {', '.join(COLUMNS)}"
        raise ScenarioError(place, ",".join(names)[:60], problem, fix)
    return names.index(found[0])


def _row(place: str, cells: tuple[Any, ...]) -> list[str]:
    start, source, target, size = cells
    return [
        _start(place, start),
        _name(place, "from", source),
        _name(place, "to", target),
        _bytes(place, size),
    ]


def _start(place: str, cell: Any) -> str:
    if isinstance(cell, str) and cell.isascii():
        # Nearly all are written so, and need no decimal arithmetic.
        whole, _, part = cell.partition(".")
        short = len(whole) <= _WHOLE and len(part) <= _PART
        if short and whole.isdigit() and (part.isdigit() or whole == cell):
            return f"{int(f'{whole}{part:0<{_PART}}')} ps"
    where = f"{place}, start"
    try:
        seconds = Decimal(str(cell))
    except InvalidOperation:
        seconds = Decimal("nan")
    if not seconds.is_finite() or isinstance(cell, bool):
        raise ScenarioError(where, _shown(cell), "no time", "write seconds, such as 0.0015")
    if seconds < 0 or seconds > _LATEST:
        problem = "it is negative" if seconds < 0 else "it is after any run"
        raise ScenarioError(where, _shown(cell), problem, "write seconds from 0 on")
    return f"{int((seconds * _PS).to_integral_value())} ps"


def _name(place: str, column: str, cell: Any) -> str:
    if isinstance(cell, str) and cell:
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    fix = "write the name of an edge node"
    raise ScenarioError(f"{place}, {column}", _shown(cell), "no name of a node", fix)


def _bytes(place: str, cell: Any) -> str:
    found = None if isinstance(cell, bool) else whole_bytes(str(cell))
    if found is not None:
        return f"{found} B"
    fix = "write bytes as a whole number below 10^15, without a unit"
    raise ScenarioError(f"{place}, bytes", _shown(cell), "no size in bytes", fix)


def _shown(cell: Any) -> str:
    return "" if cell is None else str(cell)[:60]
