"""The packets that pass a sender, with the segments that each ACK acknowledges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burstlab.export.capture import ACK, Sight, sights
from burstlab.export.flows import Flows
from burstlab.tables import NULL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.results import Result


def heard(result: Result, flow: int, replication: int = 0) -> Iterator[Sight]:
    """Return the packets of a flow as its sender sees them; an ACK has the highest one in order.

    Datagrams from the receiver of a stack are numbered as they are sent, so their numbers do not
    show what they acknowledge; the table of segments does. It also has the ACKs that come with data
    of the reverse direction of the connection.

    Parameters
    ----------
    result
        A run that traced packets.
    flow
        Its number.
    replication
        Its number.
    """
    passing = sights(result, "sender", flow=flow, replication=replication)
    facts_of = Flows(result, replication)
    facts = facts_of[flow]
    if facts.two_way:
        (other,) = facts_of.others(flow)
        windows = _advertised(result, other, replication)
        return _with_data(passing, windows, *acknowledged(result, flow, replication))
    if not facts.stack:
        return passing
    return _told(passing, *acknowledged(result, flow, replication))


def acknowledged(
    result: Result, flow: int, replication: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when a sender heard of something new, in ps, and the highest segment it was of.

    Parameters
    ----------
    result
        A run that traced packets.
    flow
        Its number.
    replication
        Its number.
    """
    import numpy as np

    times, segments = [], []
    for batch in result.packets.batches(["replication", "flow", "kind", "seq", "acked_ps"]):
        part = batch.where(replication=replication, flow=flow, kind="data")
        part = part.take(part.column("acked_ps").is_valid())
        # As they are: a column with missing times would become floating-point numbers.
        times.append(part.column("acked_ps").values)
        segments.append(part["seq"])
    time = np.concatenate([np.empty(0, np.int64), *times]).astype(np.int64)
    segment = np.concatenate([np.empty(0, np.int64), *segments]).astype(np.int64)
    order = np.lexsort((segment, time))
    highest = np.maximum.accumulate(segment[order]) if len(order) else segment
    time = time[order]
    # Of several that one ACK is for, the last.
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    return time[last], highest[last]


def _told(
    passing: Iterator[Sight], times: NDArray[np.int64], highest: NDArray[np.int64]
) -> Iterator[Sight]:
    import numpy as np

    for sight in passing:
        if sight.kind == ACK and sight.time_ps != NULL:
            place = int(np.searchsorted(times, sight.time_ps, side="right")) - 1
            yield sight._replace(seq=int(highest[place]) if place >= 0 else -1)
        else:
            yield sight


def _advertised(result: Result, flow: int, replication: int) -> dict[int, int]:
    """Return the windows that came with data of a flow, by when the data arrived, in ps."""
    found: dict[int, int] = {}
    names = ("replication", "flow", "kind", "delivered_ps", "window_bytes")
    if "window_bytes" not in result.packets.columns:
        return found
    for batch in result.packets.batches(names):
        part = batch.where(replication=replication, flow=flow, kind="data")
        part = part.take(part.column("window_bytes").is_valid())
        part = part.take(part.column("delivered_ps").is_valid())
        times, windows = (part.column(name).values.tolist() for name in names[3:])
        found.update(zip(times, windows, strict=True))
    return found


def _with_data(
    passing: Iterator[Sight],
    windows: dict[int, int],
    times: NDArray[np.int64],
    highest: NDArray[np.int64],
) -> Iterator[Sight]:
    """Add the ACKs that came with data: changes in the highest segment without an ACK packet."""
    carried = list(zip(times.tolist(), highest.tolist(), strict=True))[::-1]
    for sight in passing:
        while carried and carried[-1][0] < sight.time_ps:
            yield _carried(*carried.pop(), sight.flow, windows)
        if carried and carried[-1][0] == sight.time_ps:
            if sight.kind == ACK:
                carried.pop()
            else:
                # Packets that an ACK releases come after it, at the same instant.
                yield _carried(*carried.pop(), sight.flow, windows)
        yield sight
    while carried:
        time, segment = carried.pop()
        yield _carried(time, segment, 0, windows)


def _carried(time: int, segment: int, flow: int, windows: dict[int, int]) -> Sight:
    """Return an ACK that came with data; its row is unknown."""
    window = windows.get(time, NULL)
    return Sight(time, 0, ACK, flow, segment, 1, 0, NULL, "delivered", "none", False, window=window)
