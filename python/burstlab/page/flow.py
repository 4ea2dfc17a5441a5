"""The history of one flow, as columns: its segments, its window, its time-outs with their truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from burstlab.storage.columnar.conditions import Condition

    Columns = dict[str, NDArray[Any]]

#: A segment that was sent again, and a transmission that was lost, as bits.
AGAIN, GONE = 1, 2

#: Of an event of the ledger, as the page numbers them.
EVENTS = ("timeout", "fast-retransmit", "early-repair", "spurious-retransmission")
TRUTHS = ("none", "false", "true", "spurious")
VERDICTS = ("none", "false", "true")


class Readable(Protocol):
    """Where rows come from."""

    def has(self, name: str) -> bool:
        """Whether a table was recorded."""
        ...

    def rows(
        self, name: str, columns: Sequence[str], conditions: Sequence[Condition] = ()
    ) -> Columns:
        """Read columns of the rows that meet all conditions."""
        ...


def columns(tables: Readable, number: int, *, path: bool) -> Columns:
    """Return all that is drawn of a flow; a table that was not recorded gives empty columns.

    Parameters
    ----------
    tables
        The recorded tables.
    number
        The flow.
    path
        Whether bursts of data and of ACKs are numbered apart.
    """
    return {
        **_packets(tables, number, path),
        **_window(tables, number),
        **_events(tables, number),
    }


def _packets(tables: Readable, number: int, path: bool) -> Columns:
    names = ("kind", "seq", "transmission", "sent_ps", "fate", "burst")
    times = ("ingress_ps", "departed_ps", "delivered_ps")
    rows = _of(tables, "packets", number, (*names, *times))
    data, ack = rows["kind"] == "data", rows["kind"] == "ack"
    flags = (rows["transmission"] > 1) * AGAIN + (rows["fate"] == "lost") * GONE
    burst = np.nan_to_num(rows["burst"].astype(np.float64), nan=-1.0)
    carrier = np.unique(burst[burst >= 0] * 2 + ack[burst >= 0] if path else burst[burst >= 0])
    found: Columns = {
        "sent_s": rows["sent_ps"][data],
        "seq": rows["seq"][data].astype(np.int32),
        "flags": flags[data].astype(np.uint8),
        "carrier": carrier.astype(np.uint32),
    }
    if path:
        # On a path its packets are also drawn with the optics.
        for kind, which in (("data", data), ("ack", ack)):
            for name in ("sent_ps", *times):
                found[f"{kind}_{name.removesuffix('_ps')}"] = rows[name][which]
    return found


def _window(tables: Readable, number: int) -> Columns:
    rows = _of(tables, "cwnd", number, ("t_ps", "ack", "cwnd", "ssthresh", "srtt_ps"))
    return {
        "window_s": rows["t_ps"],
        "acked": rows["ack"].astype(np.int32),
        "cwnd": rows["cwnd"].astype(np.float32),
        "ssthresh": rows["ssthresh"].astype(np.float32),
        "srtt_ms": (rows["srtt_ps"] * 1e3).astype(np.float32),
    }


def _events(tables: Readable, number: int) -> Columns:
    names = ("t_ps", "kind", "seq", "truth", "verdict", "lost_packets", "lost_bursts")
    rows = _of(tables, "ledger", number, names)
    return {
        "event_s": rows["t_ps"],
        "event": _codes(rows["kind"], EVENTS),
        "event_seq": rows["seq"].astype(np.int32),
        "truth": _codes(rows["truth"], TRUTHS),
        "verdict": _codes(rows["verdict"], VERDICTS),
        "event_packets": rows["lost_packets"].astype(np.int32),
        "event_bursts": rows["lost_bursts"].astype(np.int32),
    }


def thinned(found: Mapping[str, NDArray[Any]], most: int) -> tuple[Columns, int]:
    """Leave out what cannot be told apart: every n-th plain segment and ACK stays.

    Retransmissions, losses and events all stay.

    Parameters
    ----------
    found
        Columns of a flow.
    most
        About how many segments, and how many changes of the window, may stay.
    """
    every = -(-max(len(found["sent_s"]), len(found["window_s"])) // most) or 1
    columns = dict(found)
    if every > 1:
        keep = (np.arange(len(found["seq"])) % every == 0) | (found["flags"] > 0)
        for name in ("sent_s", "seq", "flags"):
            columns[name] = found[name][keep]
        nth = np.arange(len(found["window_s"]))
        cwnd = found["cwnd"]
        # The ends of each fall stay, or a short one would be lost.
        falls = np.flatnonzero(np.diff(cwnd) < 0)
        keep = nth % every == 0
        keep[falls] = keep[np.minimum(falls + 1, len(cwnd) - 1)] = True
        for name in ("window_s", "acked", "cwnd", "ssthresh", "srtt_ms"):
            columns[name] = found[name][keep]
    return columns, every


def _of(tables: Readable, name: str, number: int, names: tuple[str, ...]) -> Columns:
    if not tables.has(name):
        return {name: np.zeros(0) for name in names}
    return tables.rows(name, names, [("flow", "==", number)])


def _codes(labels: NDArray[Any], known: tuple[str, ...]) -> NDArray[np.uint8]:
    codes = np.zeros(len(labels), np.uint8)
    for code, label in enumerate(known):
        codes[labels == label] = code
    return codes
