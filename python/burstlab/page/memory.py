"""The tables of a run that is in memory, as those of a result on disk are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.page.columns import values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.results import Result
    from burstlab.storage.columnar.conditions import Condition

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
        self, name: str, columns: Sequence[str], conditions: Sequence[Condition] = ()
    ) -> dict[str, NDArray[Any]]:
        """Read columns of the rows that meet all conditions, times in seconds."""
        found = self._result.table(name).read(columns, conditions if self._several else ())
        return {name: values(name, column) for name, column in found.items()}


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
