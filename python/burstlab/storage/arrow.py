"""Columns as tables of Arrow, and back; pyarrow belongs to extras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burstlab.extras import extra

if TYPE_CHECKING:
    import pyarrow as pa

    from burstlab.storage.columnar.column import Column


def to_arrow(columns: Mapping[str, Column], what: str, by: str) -> pa.Table:
    """Return a table of Arrow.

    Parameters
    ----------
    columns
        The columns, by name. Numbers are not copied; text of a category stays coded.
    what
        The function that needs it, such as ``"to_arrow()"``.
    by
        The extra that brings pyarrow for that.

    Raises
    ------
    MissingExtra
        If pyarrow is not installed.
    """
    pa = extra("pyarrow", what, by)
    return pa.table({name: _array(pa, column) for name, column in columns.items()})


def _array(pa: Any, column: Column) -> Any:
    import numpy as np

    missing = None if column.valid is None else ~column.valid
    if column.labels is None:
        if column.values.dtype == object:
            return pa.array(column.values.tolist())
        return pa.array(column.values, mask=missing)
    # pandas knows no unsigned codes.
    small = np.int8 if len(column.labels) < 128 else np.int32
    codes = pa.array(column.values.astype(small), mask=missing)
    labels = pa.array(column.labels, type=pa.string())
    found = pa.DictionaryArray.from_arrays(codes, labels)
    return found if column.category else found.cast(pa.string())


def from_arrow(table: pa.Table) -> dict[str, Column]:
    """Return its columns by name; times, lists and other types become Python's objects."""
    names = table.column_names
    return {name: _column(table.column(place)) for place, name in enumerate(names)}


def _column(column: Any) -> Column:
    import pyarrow as pa

    from burstlab.storage.columnar.column import of_objects, of_values

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return of_values(column.to_pylist(), "text")
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return of_values(column.to_pylist(), kind.to_pandas_dtype())
    return of_objects(column.to_pylist())
