"""Packets as an observer at one place sees them, in the order of time, in bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
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

#: A column that results of older versions lack; see `burstlab.export.flows.Flows`.
_WINDOW = "window_bytes"

_COLUMNS = ("replication", "flow", "kind", "seq", "transmission", "size_bytes", "sent_ps", "burst")


class Sight(NamedTuple):
    """A packet that passes a place.

    Attributes
    ----------
    time_ps
        The time.
    row
        Its row in the table ``packets`` of the replication, from 0.
    kind
        `DATA`, `ACK` or `UDP`.
    flow
        Its flow; of a UDP packet its source.
    seq
        The segment; for an ACK the highest one in order, or -1.
    transmission
        Which one of the segment, from 1.
    size
        Bytes on the wire, as simulated.
    burst
        The burst it crosses in; `NULL` for none.
    fate, cause
        Its fate, and the cause of a loss.
    opens
        Whether it is the SYN or the answer to it.
    sent
        For an ACK on a connection with data in both directions, the highest segment of its own
        data that its host had sent; else -1.
    sack
        SACK blocks in segments, each ``(left, right)``, the most recent first: its own, or those of
        the ACK that it carries.
    window
        The window in bytes that the ACK advertises; `NULL` if the receiver never changes it, so
        that it is that of the scenario.
    carries
        For data on a connection with data in both directions, the highest segment in order that
        the piggybacked ACK acknowledges; `NULL` for none.
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
    sent: int = -1
    window: int = NULL
    sack: Sequence[tuple[int, int]] = ()
    carries: int = NULL


def sights(
    result: Result,
    place: str,
    *,
    flow: int | Collection[int] | None = None,
    pairs: Collection[int] = (),
    replication: int = 0,
) -> Iterator[Sight]:
    """Return the packets that pass a place.

    Parameters
    ----------
    result
        A run that traced packets.
    place
        One of `PLACES`, or a core node: ``"node:3"``, which needs ``bursts`` too.
    flow
        The only flow, or flows, to look at; by default all, and at an edge node UDP too.
    pairs
        Of connections with data in both directions the flows that open them, each with its flow
        back behind it. The places of both are those of the first: its sender has the receiver of
        the other. By default each flow has its own.
    replication
        Its number.
    """
    import numpy as np

    check(place)
    waiting: list[dict[str, NDArray[Any]]] = []
    besides = _Besides(result, replication)
    wanted = {flow} if isinstance(flow, int) else flow
    for rows, first, sent in _Rows(result, place, wanted, (pairs, replication)):
        besides.read_below(first)
        waiting.append(rows)
        joined = {name: np.concatenate([part[name] for part in waiting]) for name in rows}
        # Nothing passes before it is sent, and rows are in the order of sending.
        due = joined["time_ps"] < sent
        yield from _in_order(joined, due, besides)
        waiting = [{name: column[~due] for name, column in joined.items()}]
    if waiting:
        besides.read_below(None)
        yield from _in_order(waiting[0], np.ones(len(waiting[0]["time_ps"]), dtype=bool), besides)


def check(place: str) -> None:
    """Refuse a place that there is not."""
    if place not in PLACES and not place.startswith(NODE):
        raise unknown("place", place, (*PLACES, f"{NODE}N"))


def _in_order(
    rows: dict[str, NDArray[Any]], due: NDArray[np.bool_], besides: _Besides
) -> Iterator[Sight]:
    import numpy as np

    # At one instant arrivals come before the packets that they trigger.
    order = np.lexsort((rows["row"][due], rows["goes_out"][due], rows["time_ps"][due]))
    columns = [rows[name][due][order].tolist() for name in Sight._fields[:-2]]
    for known in zip(*columns, strict=True):
        yield Sight._make((*known, *besides.of(known[1])))


class _Rows:
    """The rows of packets that pass a place, part by part, with the facts known about each."""

    def __init__(
        self,
        result: Result,
        place: str,
        flows: Collection[int] | None,
        of: tuple[Collection[int], int],
    ) -> None:
        self._packets = result.packets
        self._data, self._ack = PLACES.get(place, _CORE)
        self._both = _BothWays(of[0])
        core = place.startswith(NODE)
        self._core = passing(result, place, of[1]) if core else None
        self._udp = self._data if (core or place in _EDGES) and flows is None else None
        self._flows = flows
        self._replication = of[1]
        self._begun: set[int] = set()
        self._opened: set[int] = set()
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
        has_window = _WINDOW in self._packets.columns
        columns += [_WINDOW] if has_window else []
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
            # Data of the reverse direction pass the places that ACKs of the other direction pass.
            seen = np.where(self._both.goes_back(kind, numbers["flow"]), 1 - kind, kind)
            time = np.where(seen == DATA, data, np.where(seen == ACK, ack, udp))
            outward = np.array([name in _OUTGOING for name in (self._data, self._ack, self._data)])
            found = {
                "time_ps": time,
                "row": row,
                "kind": kind,
                **{name: numbers[name] for name in ("flow", "seq", "transmission", "burst")},
                "size": numbers["size_bytes"],
                "fate": part["fate"],
                "cause": part["cause"],
                "opens": self._opening(
                    kind, *(numbers[name] for name in ("seq", "flow", "transmission"))
                ),
                "sent": self._both.sent(kind, numbers["seq"], numbers["flow"]),
                "window": numbers[_WINDOW] if has_window else np.full_like(data, NULL),
                "goes_out": outward[seen],
            }
            passes = time != NULL
            if self._flows is not None:
                passes &= np.isin(found["flow"], list(self._flows)) & (kind != UDP)
            sent = int(numbers["sent_ps"][-1])
            found = {name: column[passes] for name, column in found.items()}
            yield self._at_core(found), count, sent

    def _at_core(self, found: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return rows with the times at which they leave the core node, if the place is one."""
        import numpy as np

        if self._core is None:
            return found
        rows, times = self._core.of(found["burst"], found["kind"] == ACK)
        passed = {name: column[rows] for name, column in found.items()}
        return passed | {"time_ps": times, "goes_out": np.ones(len(rows), dtype=bool)}

    def _opening(
        self, kind: NDArray[Any], seq: NDArray[Any], flow: NDArray[Any], nth: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Return which rows are a SYN or its answer: an ACK before data are sent."""
        import numpy as np

        opens = (kind == DATA) & (seq == 0)
        for place in np.flatnonzero(opens & (nth == 1)).tolist():
            # Linux ends the handshake by an ACK that is segment 0 too.
            opens[place] = int(flow[place]) not in self._opened
            self._opened.add(int(flow[place]))
        of_data = (kind == DATA) & (seq == 1)
        # With data in both directions the answer is a SYN, which has a row of its own.
        answers = (kind == ACK) & (seq == 0) & ~self._both.has(flow)
        for place in np.flatnonzero(of_data | answers).tolist():
            if of_data[place]:
                self._begun.add(int(flow[place]))
            else:
                opens[place] = int(flow[place]) not in self._begun
        return opens


class _BothWays:
    """Connections with data in both directions, by the flow that opens each."""

    def __init__(self, pairs: Collection[int]) -> None:
        self._back = {one + 1 for one in pairs}
        self._all = sorted({*pairs, *self._back})
        self._highest: dict[int, int] = defaultdict(lambda: -1)

    def has(self, flow: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which flows are a direction of one."""
        import numpy as np

        return np.isin(flow, self._all)

    def goes_back(self, kind: NDArray[Any], flow: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which packets are of a flow back."""
        import numpy as np

        return np.isin(flow, list(self._back)) & (kind != UDP)

    def sent(self, kind: NDArray[Any], seq: NDArray[Any], flow: NDArray[Any]) -> NDArray[np.int64]:
        """Return for each ACK the highest segment that its host had sent; rows are in order."""
        import numpy as np

        found = np.full(len(kind), -1, dtype=np.int64)
        for row in np.flatnonzero(self.has(flow) & (kind != UDP)).tolist():
            mine = int(flow[row])
            if kind[row] == DATA:
                self._highest[mine] = max(self._highest[mine], int(seq[row]))
            else:
                found[row] = self._highest[mine - 1 if mine in self._back else mine + 1]
        return found


class _Besides:
    """Further columns of packets, by their row; rows are read only as far as they are asked for."""

    def __init__(self, result: Result, replication: int) -> None:
        self._sack = _Beside(result, replication, "packets_sack", ("left", "right"))
        self._acks = _Beside(result, replication, "packets_acks", ("seq",))

    def read_below(self, row: int | None) -> None:
        """Read what rows below this have, or all."""
        self._sack.read_below(row)
        self._acks.read_below(row)

    def of(self, row: int) -> tuple[Sequence[tuple[int, int]], int]:
        """Return the SACK blocks of a row, and the ACK that it carries; once."""
        blocks: list[Any] = self._sack.found.pop(row, [])
        ((carries,),) = self._acks.found.pop(row, [(NULL,)])
        return blocks, carries


class _Beside:
    """A table whose rows say something of a row of ``packets``."""

    def __init__(
        self, result: Result, replication: int, name: str, columns: tuple[str, ...]
    ) -> None:
        recorded = name in result.recorded
        self._columns = ("packet", *columns)
        self._parts = self._read(result.table(name), replication) if recorded else iter(())
        self._left: list[tuple[int, ...]] = []
        #: Rows that were read and not yet asked for.
        self.found: dict[int, list[tuple[int, ...]]] = {}

    def read_below(self, row: int | None) -> None:
        """Read what rows below this have, or all."""
        while row is None or not self._left or self._left[-1][0] < row:
            part = next(self._parts, None)
            if part is None:
                break
            self._left += part
        taken = 0
        for packet, *values in self._left:
            if row is not None and packet >= row:
                break
            self.found.setdefault(packet, []).append(tuple(values))
            taken += 1
        del self._left[:taken]

    def _read(self, table: Table, replication: int) -> Iterator[list[tuple[int, ...]]]:
        for batch in table.batches(["replication", *self._columns]):
            part = batch.where(replication=replication)
            columns = [part.column(name).to_pylist() for name in self._columns]
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
