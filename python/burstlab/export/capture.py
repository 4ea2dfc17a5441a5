"""Packets as somebody sees them who looks at one place, in the order of time, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from burstlab.errors import InputError, unknown
from burstlab.export.core import NODE, passing
from burstlab.tables import NULL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.results import Result
    from burstlab.tables import Table

#: When data and when ACKs pass a place, and which of the two go out there. At an edge node this is
#: its fibre: packets of a burst pass at the instant at which the burst leaves, or has arrived.
PLACES = {
    "sender": ("sent_ps", "delivered_ps"),
    "receiver": ("delivered_ps", "sent_ps"),
    "ingress": ("departed_ps", "egress_ps"),
    "egress": ("egress_ps", "departed_ps"),
}

#: At a core node (``node:3``) packets pass as the first bit of their burst leaves it.
_CORE = ("sent_ps", "sent_ps")

_EDGES = ("ingress", "egress")
_OUTGOING = ("sent_ps", "departed_ps")

DATA, ACK, UDP = 0, 1, 2
_KINDS = {"data": DATA, "ack": ACK, "udp": UDP}

_COLUMNS = ("replication", "flow", "kind", "seq", "transmission", "size_bytes", "sent_ps", "burst")


class Sight(NamedTuple):
    """A packet that passes.

    Attributes
    ----------
    time_ps
        When.
    row
        Its row in the table ``packets`` of the replication, from 0.
    kind
        `DATA`, `ACK` or `UDP`.
    flow
        Its flow; of a UDP packet its source.
    seq
        Segment, or of an ACK the highest one in order, or -1.
    transmission
        Which one of the segment, from 1.
    size
        Bytes on the wire, as simulated.
    burst
        The burst it crosses in; `NULL` for none.
    fate, cause
        What becomes of it.
    opens
        Whether it is the SYN or the answer to it.
    sack
        Its SACK blocks in segments, each ``(left, right)``, the most recent first.
    """

    time_ps: int
    row: int
    kind: int
    flow: int
    seq: int
    transmission: int
    size: int
    burst: int
    fate: str
    cause: str
    opens: bool
    sack: Sequence[tuple[int, int]]


def sights(
    result: Result, place: str, *, flow: int | None = None, replication: int = 0
) -> Iterator[Sight]:
    """Return the packets that pass a place.

    Parameters
    ----------
    result
        A run that traced packets.
    place
        One of `PLACES`, or a core node: ``"node:3"``, which needs ``bursts`` too.
    flow
        The only flow to look at; by default all, and at an edge node UDP too.
    replication
        Its number.
    """
    import numpy as np

    check(place)
    waiting: list[dict[str, NDArray[Any]]] = []
    sacks = _Sacks(result, replication)
    blocks: dict[int, list[tuple[int, int]]] = {}
    for rows, first, sent in _Rows(result, place, flow, replication):
        blocks.update(sacks.below(first))
        waiting.append(rows)
        joined = {name: np.concatenate([part[name] for part in waiting]) for name in rows}
        # Nothing passes before it is sent, and rows are in the order of sending.
        due = joined["time_ps"] < sent
        yield from _in_order(joined, due, blocks)
        waiting = [{name: column[~due] for name, column in joined.items()}]
    if waiting:
        blocks.update(sacks.below(None))
        yield from _in_order(waiting[0], np.ones(len(waiting[0]["time_ps"]), dtype=bool), blocks)


def check(place: str) -> None:
    """Refuse a place that there is not."""
    if place not in PLACES and not place.startswith(NODE):
        raise unknown("place", place, (*PLACES, f"{NODE}N"))


def _in_order(
    rows: dict[str, NDArray[Any]],
    due: NDArray[np.bool_],
    blocks: dict[int, list[tuple[int, int]]],
) -> Iterator[Sight]:
    import numpy as np

    # At one instant what arrives comes before what it sets off.
    order = np.lexsort((rows["row"][due], rows["goes_out"][due], rows["time_ps"][due]))
    columns = [rows[name][due][order].tolist() for name in Sight._fields[:-1]]
    for known in zip(*columns, strict=True):
        yield Sight._make((*known, blocks.pop(known[1], ())))


class _Rows:
    """The rows of packets that pass a place, part by part, each with what is known of it."""

    def __init__(self, result: Result, place: str, flow: int | None, replication: int) -> None:
        self._packets = result.packets
        self._data, self._ack = PLACES.get(place, _CORE)
        core = place.startswith(NODE)
        self._core = passing(result, place, replication) if core else None
        self._udp = self._data if (core or place in _EDGES) and flow is None else None
        self._flow = flow
        self._replication = replication
        self._begun: set[int] = set()
        missing = {"egress_ps"} - set(self._packets.columns)
        if missing:
            raise InputError(
                "the table packets of this result is that of an older version\n  fix: run it again"
            )

    def __iter__(self) -> Iterator[tuple[dict[str, NDArray[Any]], int, int]]:
        """Return rows, the number of the first row that comes after them and when it is sent."""
        import numpy as np

        count = 0
        columns = list(dict.fromkeys((*_COLUMNS, self._data, self._ack, "fate", "cause")))
        for batch in self._packets.batches(columns):
            part = batch.where(replication=self._replication)
            if len(part) == 0:
                continue
            numbers = {name: _numbers(part, name) for name in columns if name not in _TEXTS}
            kind = _codes(part)
            row = count + np.arange(len(part))
            count += len(part)
            data, ack = numbers[self._data], numbers[self._ack]
            udp = np.full_like(data, NULL) if self._udp is None else data
            time = np.where(kind == DATA, data, np.where(kind == ACK, ack, udp))
            outward = np.array([name in _OUTGOING for name in (self._data, self._ack, self._data)])
            found = {
                "time_ps": time,
                "row": row,
                "kind": kind,
                **{name: numbers[name] for name in ("flow", "seq", "transmission", "burst")},
                "size": numbers["size_bytes"],
                "fate": part["fate"],
                "cause": part["cause"],
                "opens": self._opening(kind, numbers["seq"], numbers["flow"]),
                "goes_out": outward[kind],
            }
            passes = time != NULL
            if self._flow is not None:
                passes &= (found["flow"] == self._flow) & (kind != UDP)
            sent = int(numbers["sent_ps"][-1])
            found = {name: column[passes] for name, column in found.items()}
            yield self._at_core(found), count, sent

    def _at_core(self, found: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return rows with the times at which they leave the core node, if it is one."""
        import numpy as np

        if self._core is None:
            return found
        rows, times = self._core.of(found["burst"], found["kind"] == ACK)
        passed = {name: column[rows] for name, column in found.items()}
        return passed | {"time_ps": times, "goes_out": np.ones(len(rows), dtype=bool)}

    def _opening(
        self, kind: NDArray[Any], seq: NDArray[Any], flow: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Return which rows are a SYN, or its answer: what acknowledges it before data are sent."""
        import numpy as np

        opens = (kind == DATA) & (seq == 0)
        of_data = (kind == DATA) & (seq == 1)
        for place in np.flatnonzero(of_data | ((kind == ACK) & (seq == 0))).tolist():
            if of_data[place]:
                self._begun.add(int(flow[place]))
            else:
                opens[place] = int(flow[place]) not in self._begun
        return opens


class _Sacks:
    """SACK blocks by the row of their ACK, read no further than asked for."""

    def __init__(self, result: Result, replication: int) -> None:
        found = "packets_sack" in result.recorded
        self._parts = self._read(result.table("packets_sack"), replication) if found else iter(())
        self._left: list[tuple[int, int, int]] = []

    def below(self, row: int | None) -> dict[int, list[tuple[int, int]]]:
        """Return the blocks of rows below this, or of all, that were not answered before."""
        while row is None or not self._left or self._left[-1][0] < row:
            part = next(self._parts, None)
            if part is None:
                break
            self._left += part
        found: dict[int, list[tuple[int, int]]] = {}
        taken = 0
        for packet, left, right in self._left:
            if row is not None and packet >= row:
                break
            found.setdefault(packet, []).append((left, right))
            taken += 1
        del self._left[:taken]
        return found

    @staticmethod
    def _read(table: Table, replication: int) -> Iterator[list[tuple[int, int, int]]]:
        for batch in table.batches(["replication", "packet", "left", "right"]):
            part = batch.where(replication=replication)
            columns = [part.column(name).to_pylist() for name in ("packet", "left", "right")]
            yield list(zip(*columns, strict=True))


_TEXTS = ("kind", "fate", "cause")


def _numbers(batch: Table, name: str) -> NDArray[Any]:
    column = batch.column(name)
    return column.filled(NULL if column.kind == "uint64" else 0)


def _codes(batch: Table) -> NDArray[np.int8]:
    import numpy as np

    column = batch.column("kind")
    codes = np.array([_KINDS[label] for label in column.labels or ()], dtype=np.int8)
    return codes[column.values]
