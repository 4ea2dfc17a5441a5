"""What if a burst had arrived: the run that is shown, and the same run without that one loss."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.page.columns import document, pack
from burstlab.page.flow import GONE, columns, thinned
from burstlab.page.memory import Played
from burstlab.page.serving import BadRequest, Body
from burstlab.printable import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from burstlab.page.slices import Tables
    from burstlab.results import Result
    from burstlab.surgery import WhatIf

    Columns = dict[str, NDArray[Any]]

#: Connections and bursts that are listed; the command has all.
LISTED = 12

#: Segments of a flow that are drawn one by one, on each side.
SEGMENTS = 20_000

#: Pairs of runs that are kept in memory for their charts.
_KEPT = 2

#: Tables of a flow that are drawn, by the column that has their time.
_DRAWN = {
    "sent_s": ("sent_s", "seq", "flags"),
    "window_s": ("window_s", "acked", "cwnd", "ssthresh", "srtt_ms"),
    "event_s": (
        "event_s",
        "event",
        "event_seq",
        "truth",
        "verdict",
        "event_packets",
        "event_bursts",
    ),
}


class Sparing:
    """Pairs of runs of one replication: as it was, and as if one burst had arrived.

    Parameters
    ----------
    result
        The run that is shown.
    number
        The number of its replication.
    tables
        Its recorded tables.
    whole
        Returns the history of a flow in it, by its number.
    path
        Whether bursts of data and of ACKs are numbered apart.
    """

    def __init__(
        self,
        result: Result,
        number: int,
        tables: Tables,
        whole: Callable[[int], Mapping[str, NDArray[Any]]],
        *,
        path: bool,
    ) -> None:
        self._result, self._number, self._path = result, number, path
        self._tables, self._whole = tables, whole
        self._pairs: dict[str, WhatIf] = {}
        self._lock = threading.Lock()

    def about(self, query: Mapping[str, str]) -> Body:
        """Return how the two runs differ.

        Parameters
        ----------
        query
            ``burst``: its number in the tables; ``back``: 1 for one of ACKs on a path.

        Raises
        ------
        InputError
            If the run has no such burst, or cannot part.
        """
        from burstlab.surgery.effects import sentence

        found = self._of(query)
        connections = found.connections.to_pylist()
        bursts = found.bursts.to_pylist()
        return document(
            {
                "told": [shown(sentence(entry)) for entry in found.operations],
                "same": found.same,
                "parted_s": found.parted_s,
                "end_s": float(found.first.replications[0].summary["simulated_s"]),
                "fingerprints": [found.first.fingerprint, found.other.fingerprint],
                "totals": found.divergence.totals,
                "connections": connections[:LISTED],
                "bursts": [_told(row) for row in bursts[:LISTED]],
            }
        )

    def flow(self, query: Mapping[str, str]) -> Body:
        """Return the history of a flow in one of the two runs.

        Parameters
        ----------
        query
            As of `about`; ``flow``: its number; ``side``: ``first`` or ``other``.
        """
        number, side = _number(query, "flow"), query.get("side")
        if side not in ("first", "other"):
            raise BadRequest("side is first or other")
        flow = self._whole(number)
        if side == "other":
            found = self._of(query)
            after = columns(Played(found.other), number, path=self._path)
            flow = _joined(flow, self._spared(query, number), after, found.parted_s)
        drawn, every = thinned(flow, SEGMENTS)
        return pack({name: drawn[name] for names in _DRAWN.values() for name in names},
                    {"every": every})  # fmt: skip

    def _spared(self, query: Mapping[str, str], number: int) -> NDArray[np.bool_]:
        """Mark the segments of a flow that are in the spared burst."""
        if not self._tables.has("packets") or query.get("back") == "1":
            return np.zeros(len(self._whole(number)["sent_s"]), dtype=bool)
        rows = self._tables.rows("packets", ("kind", "burst"), [("flow", "==", number)])
        return rows["burst"][rows["kind"] == "data"] == _number(query, "burst")

    def _of(self, query: Mapping[str, str]) -> WhatIf:
        """Return a pair; several that ask at once wait for one."""
        from burstlab.surgery import what_if

        number = _number(query, "burst")
        burst = f"ack:{number}" if query.get("back") == "1" else str(number)
        with self._lock:
            found = self._pairs.pop(burst, None)
            if found is None:
                found = what_if(self._result, spare=burst, replication=self._number)
            self._pairs[burst] = found
            while len(self._pairs) > _KEPT:
                self._pairs.pop(next(iter(self._pairs)))
            return found


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a burst whose fate differs, with names of nodes that a page can show."""
    return {name: shown(value) if isinstance(value, str) else value for name, value in row.items()}


def _joined(
    whole: Mapping[str, NDArray[Any]],
    spared: NDArray[np.bool_],
    after: Mapping[str, NDArray[Any]],
    parted_s: float,
) -> Columns:
    """Put what a flow did before the runs part in front of what it does then.

    The tables of the other run begin where they part; until then it is the run that is shown, but
    that what is in the burst that lives is not lost.
    """
    flags = np.where(spared, whole["flags"] & ~np.uint8(GONE), whole["flags"])
    before = {**whole, "flags": flags.astype(np.uint8)}
    found: Columns = {}
    for time, names in _DRAWN.items():
        early, late = before[time] < parted_s, after[time] >= parted_s
        for name in names:
            found[name] = np.concatenate([before[name][early], after[name][late]])
    return found


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "")
    # More digits than any number of a burst has are none.
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise BadRequest(f"{name} is a whole number")
    return int(text)
