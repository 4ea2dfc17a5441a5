"""The causal ledger with the losses behind its events: a join that knows its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from burstlab.tables import KEYS, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column
    from burstlab.storage.columnar.conditions import Condition

#: Before a column of an event that a loss has too.
OF_EVENT = "event_"


class LedgerTable(Table):
    """The table ``ledger``, which knows the lost packets behind its events.

    Parameters
    ----------
    events
        Rows of the ledger.
    losses
        Answers the table ``ledger_losses`` of the same result.
    """

    def __init__(self, events: Table, losses: Callable[[], Table]) -> None:
        self._events = events
        self._losses = losses

    def with_losses(self) -> Table:
        """Return a row for each lost packet behind an event, with the columns of both.

        ``replication`` and ``event`` name an event; `event` alone repeats in each replication.
        Columns of both tables have the value of the loss; columns of the event begin with
        ``event_``. An event without a loss, a spurious time-out, has no row.

        Examples
        --------
        >>> import burstlab as bl
        >>> lossy = {"loss": {"data": {"process": "every", "n": 20}}, "run": {"duration": "5 s"}}
        >>> result = bl.run(lossy, trace="ledger", replications=2)
        >>> timeouts = result.ledger.where(kind="timeout")
        >>> len(timeouts.with_losses()) == timeouts["lost_packets"].sum()
        True
        """
        import numpy as np

        key = KEYS["ledger"]
        losses, events = self._losses().read(), self.read()
        sides = [
            np.stack([part[name].filled(0).astype(np.int64) for name in key], axis=1)
            for part in (events, losses)
        ]
        _, which = np.unique(np.concatenate(sides), axis=0, return_inverse=True)
        which = which.reshape(-1)
        count = len(sides[0])
        place = np.full(int(which.max(initial=-1)) + 1, -1)
        place[which[:count]] = np.arange(count)
        of_loss = place[which[count:]]
        kept = of_loss >= 0
        found = {name: column.take(kept) for name, column in losses.items()}
        for name, column in events.items():
            if name not in (*key, "flow"):
                found[f"{OF_EVENT}{name}" if name in losses else name] = column.take(of_loss[kept])
        return Table(found)

    def where(self, **equal: Any) -> LedgerTable:
        """Return the events whose columns have the given values."""
        return LedgerTable(self._events.where(**equal), self._losses)

    def take(self, which: NDArray[Any] | slice) -> LedgerTable:
        """Return some of the events: their numbers, a mask, or a slice."""
        return LedgerTable(self._events.take(which), self._losses)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._events.columns

    def read(
        self, names: Sequence[str] | None = None, conditions: Sequence[Condition] = ()
    ) -> dict[str, Column]:
        """Return columns of the events that meet all conditions, or of all events."""
        return self._events.read(names, conditions)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """Return the events part by part, of all columns or of those named."""
        return self._events.batches(columns)

    def __len__(self) -> int:
        return len(self._events)
