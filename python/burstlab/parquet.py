"""Tables in Parquet files: written chunk by chunk while a run goes on, read when asked for."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from burstlab.errors import FULL, InputError
from burstlab.files import sync
from burstlab.marks import Marks
from burstlab.tables import BATCH, STORED, Table, from_engine

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

_SUFFIX = ".parquet"


def number_of(error: BaseException) -> int | None:
    """Return the number of an error of the system, which Arrow tells in its text alone."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = re.search(r"\[errno (\d+)\]", str(error))
    return int(found[1]) if found else None


class writing:
    """Turn a failure to write into an error that names the file and what to do.

    Parameters
    ----------
    out
        The file or directory.
    flag
        The flag that gave it.
    after
        Where the disk is full, what to do once there is room.
    """

    def __init__(self, out: Path, flag: str = "--out", after: str = "") -> None:
        self._out = out
        self._flag = flag
        self._after = after

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: object, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (OSError, ValueError)) and not isinstance(error, InputError):
            number = number_of(error)
            reason = str(error) if number is None else os.strerror(number)
            fix = f"give another {self._flag}"
            if number in FULL:
                fix = f"make room{self._after and f', and {self._after}'}; or {fix}"
            raise InputError(f"{self._out}: cannot be written ({reason})\n  fix: {fix}") from None


class FileWriter:
    """A Parquet file that grows by row groups, under a name of its own until it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: pq.ParquetWriter | None = None

    def write(self, rows: pa.Table) -> None:
        """Add rows, one row group for each chunk of them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._file is None:
            # Times and numbers rise from row to row: their differences take a tenth of the room, in
            # half the time.
            wide = {pa.uint64(), pa.int64()}
            rising = [field.name for field in rows.schema if field.type in wide]
            few = [name for name in rows.schema.names if name not in rising]
            self._file = pq.ParquetWriter(
                self.path,
                rows.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=few,  # pyright: ignore[reportArgumentType]
                column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
            )
        for batch in rows.to_batches():
            self._file.write_table(pa.Table.from_batches([batch]))

    def close(self, marks: Mapping[str, str] | None = None) -> None:
        """Complete the file; the marks go into its metadata."""
        if self._file is not None:
            if marks is not None:
                self._file.add_key_value_metadata(marks)
            self._file.close()
            self._file = None


def hidden(directory: Path, name: str) -> Path:
    """Return where a table lies until all of its result is there."""
    return directory / f".{name}{_SUFFIX}"


def write_hidden(
    directory: Path, name: str, parts: Iterable[pa.Table], marks: Mapping[str, str] | None = None
) -> Path:
    """Write one table, its parts one below the other, under its hidden name; return the file."""
    writer = FileWriter(hidden(directory, name))
    try:
        for part in parts:
            writer.write(part)
        writer.close(marks)
        sync(writer.path)
    except BaseException:
        with suppress(OSError):  # of a full disk, a second time
            writer.close()
        writer.path.unlink(missing_ok=True)
        raise
    return writer.path


def write_table(directory: Path, name: str, parts: Iterable[pa.Table]) -> None:
    """Write one table, in place of a file of that name."""
    path = write_hidden(directory, name, parts)
    try:
        path.replace(directory / f"{name}{_SUFFIX}")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class Part:
    """The tables of one replication, written while it runs.

    They lie beside the files of the result, hidden, until `assemble` puts them together.

    Parameters
    ----------
    directory
        Directory of the result.
    replication
        Number of the replication.
    """

    def __init__(self, directory: Path, replication: int) -> None:
        self.replication = replication
        self._directory = directory
        self._writers: dict[str, FileWriter] = {}
        self._early: dict[str, deque[FileWriter]] = {}
        self._came_early = 0

    def rows(self, name: str, columns: Mapping[str, Any]) -> None:
        """Take the next rows of a table from the engine."""
        self._write(name, from_engine(columns, self.replication))

    def early(self, name: str, columns: Mapping[str, Any]) -> None:
        """Take a chunk whose turn comes when the last of its rows is final, and put it aside."""
        self._came_early += 1
        aside = self._writer(f"{name}-{self.replication}-{self._came_early}")
        self._early.setdefault(name, deque()).append(aside)
        with writing(self._directory / f"{name}{_SUFFIX}"):
            aside.write(from_engine(columns, self.replication))
            aside.close()

    def late(self, name: str, places: NDArray[np.uint32], columns: Mapping[str, Any]) -> None:
        """Take the rows that the chunk next in turn lacked when it came early."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        aside = self._early[name].popleft()
        with writing(self._directory):
            chunk = pq.read_table(aside.path)
            aside.path.unlink()
        both = pa.concat_tables([chunk, from_engine(columns, self.replication)])
        order = np.arange(chunk.num_rows)
        order[places] = chunk.num_rows + np.arange(len(places))
        self._write(name, both.unify_dictionaries().take(order).combine_chunks())

    def _write(self, name: str, rows: pa.Table) -> None:
        with writing(self._directory / f"{name}{_SUFFIX}"):
            if name not in self._writers:
                self._writers[name] = self._writer(f"{name}-{self.replication}")
            self._writers[name].write(rows)

    def _writer(self, name: str) -> FileWriter:
        return FileWriter(self._directory / f".{name}{_SUFFIX}")

    def close(self, marks: Marks | None = None) -> dict[str, Path]:
        """Complete the files, with marks if they are the tables; return them by table."""
        for name, writer in self._writers.items():
            with writing(self._directory / f"{name}{_SUFFIX}"):
                writer.close(None if marks is None else marks.of(name))
        return {name: writer.path for name, writer in self._writers.items()}

    def discard(self) -> None:
        """Remove the files."""
        aside = (writer for early in self._early.values() for writer in early)
        for writer in (*self._writers.values(), *aside):
            with suppress(OSError):  # of a full disk, a second time
                writer.close()
            writer.path.unlink(missing_ok=True)


def assemble(directory: Path, parts: Sequence[Part], marks: Marks) -> list[str]:
    """Put the tables of replications one below the other, in the order given.

    They are then whole under their hidden names, which are answered without the dot.
    """
    alone = len(parts) == 1
    files = [part.close(marks if alone else None) for part in parts]
    names = list(dict.fromkeys(name for found in files for name in found))
    with writing(directory):
        for name in names:
            paths = [found[name] for found in files if name in found]
            if alone:
                paths[0].replace(hidden(directory, name))
            else:
                write_hidden(directory, name, _row_groups(paths), marks.of(name))
                for path in paths:
                    path.unlink()
    return names


def _row_groups(paths: Iterable[Path]) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    for path in paths:
        with pq.ParquetFile(path) as file:
            if file.num_row_groups == 0:
                yield file.schema_arrow.empty_table()
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)


class Store:
    """The tables in the directory of a result.

    Parameters
    ----------
    directory
        Directory of the result.
    names
        The tables that it holds.
    replications
        Numbers of the replications, in order.
    """

    def __init__(self, directory: Path, names: Sequence[str], replications: Sequence[int]) -> None:
        self.names = tuple(names)
        self.replications = tuple(replications)
        self._directory = directory
        self._seen = {name: _seen(directory / f"{name}{_SUFFIX}") for name in self.names}

    @classmethod
    def open(
        cls, directory: Path, listed: Iterable[str], marks: Marks, replications: Sequence[int]
    ) -> Store:
        """Look which of the tables there are, and that each is one of this result.

        Parameters
        ----------
        directory
            Directory of the result.
        listed
            Tables that its summary names.
        marks
            What they have to say of themselves.
        replications
            Numbers of the replications, in order.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        listed = tuple(listed)
        present = [name for name in STORED if (directory / f"{name}{_SUFFIX}").exists()]
        for name in present:
            path = directory / f"{name}{_SUFFIX}"
            try:
                said = pq.read_metadata(path).metadata or {}
            except (OSError, pa.ArrowException) as error:
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                raise InputError(
                    f"{path}: damaged ({reason})\n  fix: run it again, or remove the file to do "
                    "without this table"
                ) from None
            marks.check(path, name, said)
            if name not in listed:
                raise InputError(
                    f"{path}: summary.json does not list this table\n  fix: remove this file"
                )
        return cls(directory, [name for name in present if name != "flows"], replications)

    def table(self, name: str) -> StoredTable:
        """Return a table, all replications one below the other."""
        return StoredTable(self._directory / f"{name}{_SUFFIX}", self._seen[name])

    def part(self, replication: int) -> StoredPart:
        """Return the tables of one replication."""
        return StoredPart(self, replication)

    def lies_in(self, directory: Path) -> bool:
        """Whether this is the directory that the tables are read from."""
        return self._directory.resolve() == directory.resolve()


class StoredPart(Mapping[str, "pa.Table"]):
    """The tables of one replication of a stored result, each read when it is asked for.

    Parameters
    ----------
    store
        All tables of the result.
    replication
        Number of the replication.
    """

    def __init__(self, store: Store, replication: int) -> None:
        self.store = store
        self._replication = replication

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self.store.names:
            raise KeyError(name)
        table = self.store.table(name)
        if len(self.store.replications) == 1:
            return table.to_arrow()
        return table.where(replication=self._replication).to_arrow()

    def __contains__(self, name: object) -> bool:
        # A mapping would look by reading the table.
        return name in self.store.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.store.names)

    def __len__(self) -> int:
        return len(self.store.names)


class StoredTable(Table):
    """A table in a Parquet file; only what is asked for is read, and nothing is kept.

    Parameters
    ----------
    path
        The file.
    seen
        Which one it is: another that has come in its place is refused.
    """

    def __init__(self, path: Path, seen: tuple[int, ...]) -> None:
        self._there = path
        self._seen = seen

    @property
    def _path(self) -> Path:
        """The file, looked at anew each time."""
        if _seen(self._there) != self._seen:
            raise InputError(
                f"{self._there}: has gone, or another run has put its table there, since the "
                "result was read\n  fix: read the result anew"
            )
        return self._there

    def to_arrow(self) -> pa.Table:
        """Return all of it as a `pyarrow.Table`."""
        return self._read()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Return the rows part by part, of all columns or of those named."""
        import pyarrow.parquet as pq

        names = None if columns is None else list(columns)
        with pq.ParquetFile(self._path) as file:
            yield from file.iter_batches(batch_size=BATCH, columns=names)

    def where(self, **equal: Any) -> Table:
        """Return the rows whose columns have the given values."""
        return Table(self._read(filters=self._equal(equal)))

    def select(self, columns: Sequence[str], condition: pc.Expression) -> pa.Table:
        """Return columns of the rows that meet a condition, as they are stored."""
        import pyarrow.parquet as pq

        return pq.read_table(self._path, columns=list(columns), filters=condition)

    def _schema(self) -> pa.Schema:
        import pyarrow.parquet as pq

        return pq.read_schema(self._path)

    def _column(self, name: str) -> NDArray[Any]:
        return self._read(columns=[name]).column(name).to_numpy(zero_copy_only=False)

    def _head(self, rows: int) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self._path) as file:
            batches = file.iter_batches(batch_size=max(rows, 1))
            first = next(batches, None)
            schema = file.schema_arrow
        return schema.empty_table() if first is None else pa.Table.from_batches([first])[:rows]

    def __len__(self) -> int:
        import pyarrow.parquet as pq

        return pq.read_metadata(self._path).num_rows

    def _read(self, **which: Any) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(self._path, **which).unify_dictionaries()


def _seen(path: Path) -> tuple[int, ...]:
    """Return what tells a file from another one that takes its place."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
