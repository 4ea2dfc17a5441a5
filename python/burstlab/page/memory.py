"""The tables of a run that is in memory, as those of a result on disk are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.page.columns import values

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from numpy.typing import NDArray

    from burstlab.results import Result

#: Bursts of a run that are drawn one by one; of more, one in so many that were not lost.
BURSTS = 4_000


class Played:
    """The tables of one traced run.

    Parameters
    ----------
    result
        The run.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        # The rows of a flow that is alone are all there are.
        self._several = len(result.flows) != 1 or "connections" in result.recorded

    def has(self, name: str) -> bool:
        """Whether a table was recorded."""
        return name in self._result.recorded

    def rows(
        self, name: str, columns: Sequence[str], condition: pc.Expression | None = None
    ) -> dict[str, NDArray[Any]]:
        """Read columns of the rows that meet a condition, times in seconds."""
        table = self._result.table(name).to_arrow()
        if condition is not None and self._several:
            table = table.filter(condition)
        return {column: values(table, column) for column in columns}


def bursts(played: Played) -> dict[str, NDArray[Any]]:
    """Return the bursts of data: when each left, how many packets it held, whether it was lost.

    Parameters
    ----------
    played
        The run.
    """
    names = ("burst", "direction", "departed_ps", "packets", "fate")
    rows = played.rows("bursts", names)
    lost = rows["fate"] == "lost"
    mine = (rows["direction"] == "data") & np.isfinite(rows["departed_ps"])
    every = -(-int(mine.sum()) // BURSTS) or 1
    if every > 1:
        mine &= lost | (np.arange(len(mine)) % every == 0)
    return {
        "burst": rows["burst"][mine].astype(np.uint32),
        "left_s": rows["departed_ps"][mine],
        "packets": rows["packets"][mine].astype(np.uint32),
        "gone": lost[mine].astype(np.uint8),
    }
