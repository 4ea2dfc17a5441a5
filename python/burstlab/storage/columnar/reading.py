"""Reads Parquet files as Burstlab writes them, and as Arrow wrote those of earlier versions.

Only the columns and row groups that are asked for are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from burstlab.storage.columnar import database
from burstlab.storage.columnar.column import Column, missing
from burstlab.storage.columnar.conditions import Condition
from burstlab.storage.columnar.database import KINDS, Damaged
from burstlab.storage.columnar.writing import GROUP, NOTHING
from burstlab.storage.files import refuse_endless

Columns: TypeAlias = dict[str, Column]

#: Most labels of a column whose codes DuckDB makes; those of more are made here.
_CODED = 256

#: Text of DuckDB's error for a file of Arrow without columns.
_NO_COLUMN = "at least one non-root column"


class File:
    """A file that is read.

    Parameters
    ----------
    path
        The file.
    categories
        Whether its text is that of categories.

    Raises
    ------
    OSError
        If there is no such file.
    """

    def __init__(self, path: Path, *, categories: bool = False) -> None:
        refuse_endless(path)
        path.open("rb").close()
        self._path = path
        self._categories = categories
        self._labels: dict[str, list[str]] = {}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The columns, with their types as numpy names them, or ``"text"``."""
        try:
            with database.cursor() as connection:
                query = f"describe select * from read_parquet({self._name})"
                said = connection.execute(query).fetchall()
        except Damaged as error:
            if _NO_COLUMN in str(error):
                return {}
            raise
        found = {name: kind for name, kind, *_ in said if name != NOTHING}
        for name, kind in found.items():
            if kind not in KINDS:
                raise Damaged(f"the column {name!r} has a type that Burstlab does not read: {kind}")
        return {name: KINDS[kind] for name, kind in found.items()}

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """The metadata at its end."""
        query = f"select decode(key), decode(value) from parquet_kv_metadata({self._name})"
        with database.cursor() as connection:
            return dict(connection.execute(query).fetchall())

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        if not self.kinds:
            return 0
        query = f"select num_rows from parquet_file_metadata({self._name})"
        with database.cursor() as connection:
            return int(connection.execute(query).fetchall()[0][0])

    def read(
        self, names: Sequence[str] | None = None, conditions: Sequence[Condition] = ()
    ) -> Columns:
        """Read columns of the rows that meet all conditions, or of all rows.

        Parameters
        ----------
        names
            Of the columns; by default all.
        conditions
            Row groups that cannot meet them are passed over.

        Raises
        ------
        Damaged
            If the file is damaged, or of a kind that Burstlab does not write.
        KeyError
            If there is no such column.
        """
        terms, values = self._terms(conditions)
        return self._read(names, terms, values)

    def groups(self, names: Sequence[str] | None = None) -> Iterator[Columns]:
        """Read the rows part by part."""
        for start in range(0, self.rows, GROUP):
            term = f"file_row_number between {start} and {start + GROUP - 1}"
            yield self._read(names, [term], [])

    def _read(
        self, names: Sequence[str] | None, terms: Sequence[str], values: Sequence[Any]
    ) -> Columns:
        kinds = {name: self.kinds[name] for name in names or self.kinds}
        if not kinds:
            return {}
        wanted = [self._term(name, kind) for name, kind in kinds.items()]
        where = f" where {' and '.join(terms)}" if terms else ""
        with database.cursor() as connection:
            found = connection.execute(self._select(", ".join(wanted)) + where, values).fetchnumpy()
        arrays = zip(kinds.items(), found.values(), strict=True)
        return {name: self._column(name, kind, array) for (name, kind), array in arrays}

    def _terms(self, conditions: Sequence[Condition]) -> tuple[list[str], list[Any]]:
        """Return conditions as a query has them, with the values that stand in it as `?`."""
        terms: list[str] = []
        values: list[Any] = []
        for name, how, value in conditions:
            column, kind = database.quoted(name), self.kinds[name]
            if how == "there":
                terms.append(f"{column} is not null")
                continue
            plain = value.item() if isinstance(value, np.generic) else value
            if kind not in ("text", "bool") and isinstance(plain, int):
                plain, how = _within(kind, plain, how)
            if plain is None:
                terms.append(f"{column} is not null" if how == "all" else "false")
                continue
            # Of the column's own type, so that row groups are passed over by what they hold.
            of = next(named for named, known in KINDS.items() if known == kind)
            terms.append(f"{column} {how} ?::{of}")
            values.append(plain)
        return terms, values

    def _term(self, name: str, kind: str) -> str:
        column = database.quoted(name)
        labels = self._labels_of(name) if kind == "text" else []
        if not 0 < len(labels) <= _CODED or any("\0" in label for label in labels):
            return column
        return f"enum_code({column}::enum({', '.join(map(database.literal, labels))}))"

    def _labels_of(self, name: str) -> list[str]:
        """Return the texts of a column in the order in which they first appear."""
        if name not in self._labels:
            column = database.quoted(name)
            wanted = self._select(f"{column} as label, min(file_row_number) as place")
            query = f"{wanted} where {column} is not null group by 1 order by 2"
            with database.cursor() as connection:
                self._labels[name] = [row[0] for row in connection.execute(query).fetchall()]
        return self._labels[name]

    def _column(self, name: str, kind: str, array: Any) -> Column:
        valid = None
        if isinstance(array, np.ma.MaskedArray):
            lacking = np.ma.getmaskarray(array)
            valid = ~lacking if lacking.any() else None
            array = array.data
        if kind == "text":
            return self._texts(name, array, valid)
        values = array.astype(kind, copy=False)
        if valid is not None:
            values = np.where(valid, values, missing(1, kind).values)
        return Column(values, valid)

    def _texts(self, name: str, array: Any, valid: Any) -> Column:
        labels = self._labels_of(name)
        if not labels:
            found = missing(len(array), "text")
        elif array.dtype == object:
            codes = {label: code for code, label in enumerate(labels)}
            values = np.array([codes.get(one, 0) for one in array], dtype=np.int32)
            there = np.array([one in codes for one in array], dtype=bool)
            found = Column(values, None if there.all() else there, labels)
        else:
            codes = array.astype(np.int32)
            found = Column(codes if valid is None else np.where(valid, codes, 0), valid, labels)
        found.category = self._categories
        return found

    def _select(self, terms: str) -> str:
        return f"select {terms} from read_parquet({self._name}, file_row_number = true)"

    @property
    def _name(self) -> str:
        return database.file_name(self._path)


def _within(kind: str, value: int, how: str) -> tuple[int | None, str]:
    """Return a condition on whole numbers with a value that their type has; None: all, or none."""
    dtype = np.dtype(kind)
    if dtype.kind not in "iu":
        return value, how
    ends = np.iinfo(dtype)
    if ends.min <= value <= ends.max:
        return value, how
    met = how == "!=" or (how == ">=" and value < ends.min) or (how == "<=" and value > ends.max)
    return None, "all" if met else "none"
