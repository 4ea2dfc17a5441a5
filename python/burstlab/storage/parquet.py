"""Tables in Parquet files: written chunk by chunk during a run, read on demand."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from burstlab.errors import FULL, InputError
from burstlab.storage.behind import Behind
from burstlab.storage.files import sync
from burstlab.storage.source_tags import SourceTags
from burstlab.storage.sums import check_sum, note_sums, sum_of
from burstlab.tables import STORED, Table, from_engine, in_parts, join

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column
    from burstlab.storage.columnar.conditions import Condition
    from burstlab.storage.columnar.reading import File
    from burstlab.storage.columnar.writing import Writer

_SUFFIX = ".parquet"

#: Chunks of tables that may wait to be written; the engine makes one more meanwhile.
_WAITING = 1


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
            number = error.errno if isinstance(error, OSError) else None
            reason = str(error) if number is None else os.strerror(number)
            fix = f"give another {self._flag}"
            if number in FULL:
                fix = f"make room{self._after and f', and {self._after}'}; or {fix}"
            raise InputError(f"{self._out}: cannot be written ({reason})\n  fix: {fix}") from None


class FileWriter:
    """A Parquet file whose rows come in parts, under a name of its own until it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Writer | None = None

    def write(self, rows: Table) -> None:
        """Add rows."""
        from burstlab.storage.columnar.writing import Writer

        if self._file is None:
            self._file = Writer(self.path)
        self._file.write(rows.read())

    def close(self, marks: Mapping[str, str] | None = None) -> None:
        """Complete the file; the marks go into its metadata."""
        if self._file is not None:
            self._file.close(marks)
            self._file = None

    def discard(self) -> None:
        """Remove the file, whole or not."""
        if self._file is not None:
            with suppress(OSError):  # of a full disk, a second time
                self._file.abandon()
            self._file = None
        self.path.unlink(missing_ok=True)


@contextmanager
def opened(path: Path, *, categories: bool = False, known: File | None = None) -> Iterator[File]:
    """Open a Parquet file; one that is damaged is refused.

    Parameters
    ----------
    path
        The file.
    categories
        Whether its text is that of categories.
    known
        The same file as it was opened before, which knows its columns.
    """
    # DuckDB is imported with the first file: a run that records nothing needs none.
    from burstlab.storage.columnar.database import Damaged
    from burstlab.storage.columnar.reading import File

    try:
        yield known or File(path, categories=categories)
    except (OSError, Damaged) as error:
        raise InputError(
            f"{path}: damaged ({error})\n  fix: run it again, or remove the file to do without "
            "this table"
        ) from None


def read_table(path: Path) -> Table:
    """Read all of a Parquet file."""
    with opened(path) as file:
        return Table(file.read())


def hidden(directory: Path, name: str) -> Path:
    """Return where a table lies until all of its result is there."""
    return directory / f".{name}{_SUFFIX}"


def write_file(path: Path, parts: Iterable[Table], marks: Mapping[str, str] | None = None) -> None:
    """Write one table, its parts one below the other; nothing is left of one that is not whole."""
    writer = FileWriter(path)
    try:
        for part in parts:
            writer.write(part)
        writer.close(marks)
        sync(path)
    except BaseException:
        writer.discard()
        raise


def write_hidden(
    directory: Path, name: str, parts: Iterable[Table], marks: Mapping[str, str] | None = None
) -> Path:
    """Write one table, its parts one below the other, under its hidden name; return the file."""
    path = hidden(directory, name)
    write_file(path, parts, marks)
    return path


def write_table(
    directory: Path, name: str, parts: Iterable[Table], marks: Mapping[str, str] | None = None
) -> None:
    """Write one table, in place of a file of that name; its sum is there before it is."""
    path = write_hidden(directory, name, parts, marks)
    try:
        file = directory / f"{name}{_SUFFIX}"
        note_sums(directory, {file.name: sum_of(path)})
        path.replace(file)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class Part:
    """The tables of one replication, written by a thread while it runs.

    An error of writing is raised with the next rows, or once all are there. The files lie hidden
    in the directory of the result, until `assemble` puts them together.

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
        self._behind = Behind(_WAITING)

    def rows(self, name: str, columns: Mapping[str, Any]) -> None:
        """Take the next rows of a table from the engine."""
        self._behind.do(partial(self._rows, name, columns))

    def early(self, name: str, columns: Mapping[str, Any]) -> None:
        """Take a chunk whose turn comes when the last of its rows is final, and put it aside."""
        self._behind.do(partial(self._put_aside, name, columns))

    def late(self, name: str, places: NDArray[np.uint32], columns: Mapping[str, Any]) -> None:
        """Take the rows that an early chunk lacked, once it is next."""
        self._behind.do(partial(self._complete, name, places, columns))

    def written(self) -> None:
        """Wait until all that was taken is written."""
        self._behind.end()

    def refuse(self) -> None:
        """Write no more rows, whether they come late or wait: nothing of this part will be kept."""
        self._behind.refuse()

    def _rows(self, name: str, columns: Mapping[str, Any]) -> None:
        self._write(name, from_engine(columns, self.replication))

    def _put_aside(self, name: str, columns: Mapping[str, Any]) -> None:
        self._came_early += 1
        aside = self._writer(f"{name}-{self.replication}-{self._came_early}")
        self._early.setdefault(name, deque()).append(aside)
        with writing(self._directory / f"{name}{_SUFFIX}"):
            aside.write(from_engine(columns, self.replication))
            aside.close()

    def _complete(self, name: str, places: NDArray[np.uint32], columns: Mapping[str, Any]) -> None:
        import numpy as np

        aside = self._early[name].popleft()
        with writing(self._directory):
            chunk = read_table(aside.path)
            aside.path.unlink()
        both = join([chunk, from_engine(columns, self.replication)])
        order = np.arange(len(chunk))
        order[places] = len(chunk) + np.arange(len(places))
        self._write(name, both.take(order))

    def _write(self, name: str, rows: Table) -> None:
        with writing(self._directory / f"{name}{_SUFFIX}"):
            if name not in self._writers:
                self._writers[name] = self._writer(f"{name}-{self.replication}")
            self._writers[name].write(rows)

    def _writer(self, name: str) -> FileWriter:
        return FileWriter(self._directory / f".{name}{_SUFFIX}")

    def close(self, marks: SourceTags | None = None) -> dict[str, Path]:
        """Complete the files, with marks if they are the tables; return them by table."""
        self.written()
        for name, writer in self._writers.items():
            with writing(self._directory / f"{name}{_SUFFIX}"):
                writer.close(None if marks is None else marks.of(name))
        return {name: writer.path for name, writer in self._writers.items()}

    def discard(self) -> None:
        """Remove the files."""
        self._behind.drop()
        aside = (writer for early in self._early.values() for writer in early)
        for writer in (*self._writers.values(), *aside):
            writer.discard()


def assemble(directory: Path, parts: Sequence[Part], marks: SourceTags) -> list[str]:
    """Put the tables of replications one below the other, in the order given.

    They are then whole under their hidden names, which are answered without the dot.
    """
    alone = len(parts) == 1
    from burstlab.storage.columnar.writing import merge

    files = [part.close(marks if alone else None) for part in parts]
    names = list(dict.fromkeys(name for found in files for name in found))
    with writing(directory):
        for name in names:
            paths = [found[name] for found in files if name in found]
            if alone:
                paths[0].replace(hidden(directory, name))
                continue
            whole = hidden(directory, name)
            try:
                merge(whole, paths, marks.of(name))
                sync(whole)
            except BaseException:
                whole.unlink(missing_ok=True)
                raise
            for path in paths:
                path.unlink()
    return names


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
    sums
        The SHA-256 of each file, by its name, as the summary has it; those of earlier versions
        have none.
    """

    def __init__(
        self,
        directory: Path,
        names: Sequence[str],
        replications: Sequence[int],
        sums: Mapping[str, str] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.replications = tuple(replications)
        self._directory = directory
        self._sums = dict(sums or {})
        self._tables = {name: self.file(name) for name in self.names}

    @classmethod
    def open(
        cls,
        directory: Path,
        there: Mapping[str, bool],
        listed: Iterable[str],
        marks: SourceTags,
        replications: Sequence[int],
        sums: Mapping[str, str],
    ) -> Store:
        """Look which of the tables there are, and that each is one of this result.

        Parameters
        ----------
        directory
            Directory of the result.
        there
            The names in it, and whether each is a file.
        listed
            Tables that its summary names.
        marks
            The metadata that they must have.
        replications
            Numbers of the replications, in order.
        sums
            The SHA-256 of each file, by its name.
        """
        listed = tuple(listed)
        present = [name for name in STORED if f"{name}{_SUFFIX}" in there]
        for name in present:
            path = directory / f"{name}{_SUFFIX}"
            if not (there[path.name] and marks.are_in(path, name)):
                with opened(path) as file:
                    said = file.metadata
                marks.check(path, name, said)
            if name not in listed:
                raise InputError(
                    f"{path}: summary.json does not list this table\n  fix: remove this file"
                )
        return cls(directory, [name for name in present if name != "flows"], replications, sums)

    def file(self, name: str) -> StoredTable:
        """Return what lies in the file of a table, as it is there now."""
        path = self._directory / f"{name}{_SUFFIX}"
        return StoredTable(path, _seen(path), self._sums.get(path.name))

    def table(self, name: str) -> StoredTable:
        """Return a table, all replications one below the other."""
        return self._tables[name]

    def part(self, replication: int) -> StoredPart:
        """Return the tables of one replication."""
        return StoredPart(self, replication)

    def lies_in(self, directory: Path) -> bool:
        """Whether this is the directory that the tables are read from."""
        return self._directory.resolve() == directory.resolve()


class StoredPart(Mapping[str, Table]):
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

    def __getitem__(self, name: str) -> Table:
        if name not in self.store.names:
            raise KeyError(name)
        table = self.store.table(name)
        if len(self.store.replications) == 1:
            return table
        return table.where(replication=self._replication)

    def __contains__(self, name: object) -> bool:
        # A mapping would look by reading the table.
        return name in self.store.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.store.names)

    def __len__(self) -> int:
        return len(self.store.names)


class StoredTable(Table):
    """A table in a Parquet file; only what is asked for is read, and none of the rows is kept.

    Before the first of its rows is read, the whole file is compared with its sum.

    Parameters
    ----------
    path
        The file.
    seen
        Which one it is: another that has come in its place is refused.
    sum_
        The SHA-256 of the file, where it is known.
    """

    def __init__(self, path: Path, seen: tuple[int, ...], sum_: str | None = None) -> None:
        self._there = path
        self._seen = seen
        self._sum = sum_
        self._known: File | None = None

    @property
    def path(self) -> Path:
        """The file, opened anew each time."""
        if _seen(self._there) != self._seen:
            raise InputError(
                f"{self._there}: was removed, or replaced by another run, after the "
                "result was read\n  fix: read the result anew"
            )
        return self._there

    def check(self) -> None:
        """Refuse a file that was changed, once for each time that it is opened."""
        if self._sum is not None:
            check_sum(self.path, self._sum)
            self._sum = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        with self._opened() as file:
            return list(file.kinds)

    def read(
        self, names: Sequence[str] | None = None, conditions: Sequence[Condition] = ()
    ) -> dict[str, Column]:
        """Read columns of the rows that meet all conditions, or of all rows."""
        self.check()
        with self._opened() as file:
            self._know([*(names or ()), *(name for name, _, _ in conditions)])
            return file.read(names, conditions)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Return the rows part by part, of all columns or of those named."""
        self.check()
        with self._opened() as file:
            for part in file.groups(columns):
                yield from in_parts(part)

    def head(self, rows: int) -> Table:
        """Return the first rows."""
        found: list[Table] = []
        for part in self.batches():
            found.append(part.take(slice(0, rows)))
            rows -= len(found[-1])
            if rows <= 0:
                break
        return join(found) if found else Table(self.read())

    def __len__(self) -> int:
        self.check()
        with self._opened() as file:
            return file.rows

    @contextmanager
    def _opened(self) -> Iterator[File]:
        # Text of the engine is always that of categories.
        with opened(self.path, categories=True, known=self._known) as file:
            yield file
            self._known = file


def _seen(path: Path) -> tuple[int, ...]:
    """Return values that change when another file replaces this one."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
