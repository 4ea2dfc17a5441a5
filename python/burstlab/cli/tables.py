"""Tables as commands print them: words to the left, numbers to the right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burstlab.cli.numbers import measure

if TYPE_CHECKING:
    from rich.table import Table

#: Rows of the fibres that are used most.
_BUSIEST = 5


def table(
    words: Iterable[str],
    numbers: Iterable[str] = (),
    remarks: Iterable[str] = (),
    *,
    plain: bool = False,
    fold: bool = False,
) -> Table:
    """Make a table without rows, from the titles of its columns.

    Parameters
    ----------
    words, numbers, remarks
        Columns of words, of numbers behind them, and of words behind these.
    plain
        Leave out the line below the titles.
    fold
        Break words that are too long for their column, in place of cutting them off.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=None if plain else SIMPLE_HEAD, pad_edge=False)
    for title in words:
        made.add_column(title, overflow="fold" if fold else "ellipsis")
    for title in numbers:
        made.add_column(title, justify="right")
    for title in remarks:
        made.add_column(title)
    return made


def measured(
    runs: Iterable[Mapping[str, Any]],
    name: str,
    write: Callable[[float], str],
    unknown: str = "-",
) -> str:
    """Write a number of the replications as `measure` does; `unknown` where some have none."""
    values = [one[name] for one in runs]
    return unknown if None in values else measure([float(value) for value in values], write)


def busiest(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[Mapping[str, Any]]]:
    """Return the fibres that are used most, each as the replications have it.

    Parameters
    ----------
    runs
        The fibres of each replication, in one order.
    """
    fibres = [list(one) for one in zip(*runs, strict=True)]
    fibres.sort(key=lambda one: -sum(float(fibre["utilisation"]) for fibre in one))
    return fibres[:_BUSIEST]
