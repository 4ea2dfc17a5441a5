"""Conditions on the rows of a table, all of which are to be met."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column

#: A column, ``==``, ``!=``, ``<=`` or ``>=``, and a value; ``there`` for any value. A row without a
#: value in the column does not meet it.
Condition: TypeAlias = tuple[str, str, Any]

_ORDERS = {"<=": operator.le, ">=": operator.ge}


def meet(columns: Mapping[str, Column], conditions: Sequence[Condition]) -> NDArray[np.bool_]:
    """Return which rows meet conditions, of which there must be one.

    Parameters
    ----------
    columns
        Those that the conditions name, at least.
    conditions
        The conditions.
    """
    found: NDArray[np.bool_] | None = None
    for name, how, value in conditions:
        one = _meets(columns[name], how, value)
        found = one if found is None else found & one
    assert found is not None, "there is no condition"
    return found


def _meets(column: Column, how: str, value: Any) -> NDArray[np.bool_]:
    if how == "==":
        return column.is_equal(value)
    if how == "!=":
        return column.is_valid() & ~column.is_equal(value)
    if how == "there":
        return column.is_valid()
    found = _ORDERS[how](column.values, value)
    return found if column.valid is None else found & column.valid


def possible(spans: Mapping[str, tuple[int, int] | None], conditions: Sequence[Condition]) -> bool:
    """Whether rows can meet conditions, by the least and the greatest value of whole numbers."""
    for name, how, value in conditions:
        span = spans[name]
        if span is not None and (
            (how == "==" and not span[0] <= value <= span[1])
            or (how == "<=" and span[0] > value)
            or (how == ">=" and span[1] < value)
        ):
            return False
    return True
