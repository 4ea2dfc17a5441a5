"""The name of each ``[[demand]]`` of a run, in paths and in results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Words of a path that combine all entries of a list.
OVER_ALL = ("mean", "sum", "min", "max")


def demand_names(demands: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the name of each: its label, or its index, from 0, where that is no name.

    Parameters
    ----------
    demands
        As a summary has them. A label that another has too, that is a number or a word for all of
        them, or that has a dot or a bracket, is no name.
    """
    labels = [str(one["label"]) for one in demands]

    def names(label: str) -> bool:
        unread = label.isdigit() or label in OVER_ALL or set(label) & set(".[]")
        return labels.count(label) == 1 and not unread

    return [label if names(label) else str(index) for index, label in enumerate(labels)]
