"""One column of a table: numbers, truth values or text, some of which may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Column:
    """A column; it is not changed once it is made.

    Parameters
    ----------
    values
        One-dimensional: numbers, truth values, codes of text, or objects that are none of these.
    valid
        Where there is a value; None if everywhere. Floating-point numbers are NaN elsewhere.
    labels
        Of text, what each code stands for.
    category
        Whether the labels are those of a category, as all text of the engine.
    """

    __slots__ = ("category", "labels", "valid", "values")

    def __init__(
        self,
        values: NDArray[Any],
        valid: NDArray[np.bool_] | None = None,
        labels: Sequence[str] | None = None,
        *,
        category: bool = False,
    ) -> None:
        self.values = values
        self.valid = valid
        self.labels = None if labels is None else tuple(labels)
        self.category = category

    @property
    def kind(self) -> str:
        """The name of numpy's type, or ``"text"``."""
        return self.values.dtype.name if self.labels is None else "text"

    @property
    def null_count(self) -> int:
        """How many values are missing."""
        return 0 if self.valid is None else int(len(self.valid) - np.count_nonzero(self.valid))

    def is_valid(self) -> NDArray[np.bool_]:
        """Return where there is a value."""
        return np.ones(len(self), dtype=bool) if self.valid is None else self.valid

    def is_equal(self, value: Any) -> NDArray[np.bool_]:
        """Return where the value is this one."""
        if self.labels is not None:
            known = [code for code, label in enumerate(self.labels) if label == value]
            found = np.isin(self.values, known)
        else:
            found = np.asarray(self.values == value, dtype=bool)
        return found if self.valid is None else found & self.valid

    def take(self, which: NDArray[Any] | slice) -> Column:
        """Return the values at some places: their numbers, a mask, or a slice."""
        valid = None if self.valid is None else self.valid[which]
        return Column(self.values[which], valid, self.labels, category=self.category)

    def recoded(self) -> Column:
        """Return text with codes in the order in which its labels first appear, and no others."""
        if self.labels is None:
            return self
        there = self.values if self.valid is None else self.values[self.valid]
        codes, first = np.unique(there, return_index=True)
        kept = codes[np.argsort(first)]
        places = np.zeros(max(len(self.labels), 1), dtype=np.int32)
        places[kept] = np.arange(len(kept))
        labels = [self.labels[code] for code in kept]
        return Column(places[self.values], self.valid, labels, category=self.category)

    def filled(self, value: Any) -> NDArray[Any]:
        """Return the values, with this one where there is none."""
        if self.labels is not None:
            return np.where(self.is_valid(), self.texts(), value)
        return self.values if self.valid is None else np.where(self.valid, self.values, value)

    def texts(self) -> NDArray[np.str_]:
        """Return text in an array of one width, which is much faster than one of objects."""
        return np.array(self.labels or [""], dtype=np.str_)[self.values]

    def to_numpy(self) -> NDArray[Any]:
        """Return an array; a missing number is NaN, any other missing value None."""
        if self.labels is not None:
            found = np.array([*self.labels, None], dtype=object)
            return found[self.values if self.valid is None else self._or_last()]
        if self.valid is None or self.values.dtype.kind == "f":
            return self.values
        if self.values.dtype.kind in "bO":
            found = self.values.astype(object)
            found[~self.valid] = None
            return found
        return np.where(self.valid, self.values.astype(np.float64), np.nan)

    def to_pylist(self) -> list[Any]:
        """Return the values as they are in Python; a missing one is None."""
        if self.labels is not None:
            return self.to_numpy().tolist()
        found = self.values.tolist()
        if self.valid is None:
            return found
        pairs = zip(found, self.valid.tolist(), strict=True)
        return [value if there else None for value, there in pairs]

    def equals(self, other: Column) -> bool:
        """Whether both have the same type, and the same values, NaN being equal to NaN."""
        if self.kind != other.kind or len(self) != len(other):
            return False
        there = self.is_valid()
        if not np.array_equal(there, other.is_valid()):
            return False
        if self.labels is not None:
            return self.to_pylist() == other.to_pylist()
        numbers = self.values.dtype.kind == "f"
        return np.array_equal(self.values[there], other.values[there], equal_nan=numbers)

    def __len__(self) -> int:
        return len(self.values)

    def _or_last(self) -> NDArray[Any]:
        """Return the codes, with one after the last where there is no text."""
        assert self.labels is not None
        return np.where(self.is_valid(), self.values, len(self.labels))


def of_numbers(values: Any, *, nan: bool = True) -> Column:
    """Return a column of an array of numbers.

    Parameters
    ----------
    values
        The numbers.
    nan
        Whether one that is NaN is a value; else it is missing.
    """
    array = np.asarray(values)
    if nan or array.dtype.kind != "f":
        return Column(array)
    missing = np.isnan(array)
    return Column(array, ~missing if missing.any() else None)


def of_values(values: Iterable[Any], dtype: Any = None) -> Column:
    """Return a column of plain values of one type, None where one is missing.

    Parameters
    ----------
    values
        Numbers, truth values or text.
    dtype
        Type of the numbers, as numpy names it, or ``"text"``; by default the one that holds all.
    """
    every = list(values)
    there = [value for value in every if value is not None]
    valid = None
    if len(there) < len(every):
        valid = np.array([value is not None for value in every], dtype=bool)
    if dtype == "text" or (dtype is None and any(isinstance(value, str) for value in there)):
        return _of_texts(every, valid)
    if dtype is None and not there:
        dtype = np.float64
    found = np.array(there, dtype=dtype)
    if valid is None:
        return Column(found)
    whole = np.full(len(every), np.nan if found.dtype.kind == "f" else 0, dtype=found.dtype)
    whole[valid] = found
    return Column(whole, valid)


def _of_texts(every: Sequence[str | None], valid: NDArray[np.bool_] | None) -> Column:
    codes: dict[str, int] = {}
    found = [0 if text is None else codes.setdefault(text, len(codes)) for text in every]
    return Column(np.array(found, dtype=np.int32), valid, list(codes))


def of_objects(values: Sequence[Any]) -> Column:
    """Return a column of whatever values, None where one is missing."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return Column(found, np.array([value is not None for value in values], dtype=bool))


def joined(parts: Sequence[Column]) -> Column:
    """Put columns of one type one below the other; one without any value is of every type."""
    kind = _common([part for part in parts if part.null_count < len(part)] or parts[:1])
    alike = [cast(part, kind) for part in parts]
    if len(alike) == 1:
        return alike[0]
    valid = None
    if any(part.valid is not None for part in alike):
        valid = np.concatenate([part.is_valid() for part in alike])
    if kind != "text":
        return Column(np.concatenate([part.values for part in alike]), valid)
    codes = {label: None for part in alike for label in part.labels or ()}
    places = {label: place for place, label in enumerate(codes)}
    labels = tuple(places)
    values: list[NDArray[Any]] = []
    for part in alike:
        if part.labels != labels[: len(part.labels or ())]:
            place = np.array([places[label] for label in part.labels or ()] or [0], dtype=np.int32)
            values.append(place[part.values])
        else:
            values.append(part.values.astype(np.int32, copy=False))
    category = any(part.category for part in alike)
    return Column(np.concatenate(values), valid, labels, category=category)


def _common(parts: Sequence[Column]) -> str:
    """Return the type that holds the values of all."""
    kinds = {part.kind for part in parts}
    if len(kinds) == 1:
        return kinds.pop()
    if "text" in kinds:
        raise TypeError(f"columns of {' and of '.join(sorted(kinds))} have no type in common")
    return np.result_type(*(part.values.dtype for part in parts)).name


def missing(length: int, kind: str) -> Column:
    """Return a column of a type without any value."""
    if kind == "text":
        return Column(np.zeros(length, dtype=np.int32), np.zeros(length, dtype=bool), ())
    dtype = np.dtype(kind)
    values = np.full(length, np.nan if dtype.kind == "f" else 0, dtype=dtype)
    return Column(values, np.zeros(length, dtype=bool))


def cast(part: Column, kind: str) -> Column:
    """Return a column as one of another type; without any value it is of every type."""
    if part.kind == kind:
        return part
    if part.null_count == len(part):
        return missing(len(part), kind)
    return Column(part.values.astype(kind), part.valid)
