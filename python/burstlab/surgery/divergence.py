"""How two runs differ that were one: connection by connection, and burst by burst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from burstlab.results import Result
from burstlab.tables import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Columns of a packet that are compared: its identity, when it was sent, and its fate.
_OF_A_PACKET = ("kind", "seq", "transmission", "sent_ps", "delivered_ps", "fate")

#: Columns that identify a burst in both runs; its number depends on when it was begun.
_OF_A_BURST = ("direction", "from", "to", "opened_ps", "closed_ps", "packets", "bytes")

#: Columns of its fate.
_FATE = ("fate", "cause", "node", "lost_ps", "arrived_ps")

#: Counts of a connection, as the first and the other run have them.
_COUNTS = ("timeouts", "false_timeouts", "fast_retransmits", "retransmissions")


class Two(Protocol):
    """Two runs that are compared; `WhatIf` defines each attribute."""

    @property
    def first(self) -> Result:
        """The run as it is."""
        ...

    @property
    def other(self) -> Result:
        """The run with the operations."""
        ...

    @property
    def operations(self) -> Sequence[Mapping[str, Any]]:
        """The outcome of each operation."""
        ...

    @property
    def reached(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
        """How far each connection came, in the first and in the other."""
        ...


@dataclass(frozen=True)
class Divergence:
    """How two runs differ.

    Attributes
    ----------
    connections
        One row per connection that differs, beginning with the largest differences.
        Of the first run and of the other (``_first``, ``_other``): ``bytes`` in order at the
        receiver at the end, ``received_s`` when all of a finite transfer was there (none: it was
        not), ``timeouts``, ``false_timeouts``, ``fast_retransmits``, ``retransmissions``, ``cwnd``
        at the last event of the sender in segments. ``aboard``: it had packets or ACKs in a burst
        that was operated on. The first packet that differs: ``different_ps`` when it was sent,
        ``different_kind`` and ``different_seq``; ``cwnd_ps``: the first event of the sender that
        differs.
    bursts
        One row per burst that fares otherwise: its numbers ``burst_first`` and ``burst_other``
        (none: that run has no such burst), ``direction``, ``from``, ``to``, ``closed_ps``,
        ``bytes``, and of each run ``fate``, ``cause``, ``node``, ``rival`` and whether it ``met``
        contention. Bursts that only one run has count here if they were lost.
    totals
        Sums over connections and bursts.
    """

    connections: Table
    bursts: Table
    totals: Mapping[str, Any]

    @classmethod
    def of(cls, two: Two) -> Divergence:
        """Compare two runs, such as those of a `WhatIf`."""
        from burstlab.tables import from_rows

        connections = list(_connections(two))
        bursts = list(_bursts(two.first, two.other))
        tables = from_rows(connections), from_rows(bursts)
        return cls(*tables, _totals(two, connections, bursts))


def _totals(
    two: Two, connections: Sequence[Mapping[str, Any]], bursts: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    lost = [_lost(result) for result in (two.first, two.other)]
    seconds = [
        row["received_other_s"] - row["received_first_s"]
        for row in connections
        if row["received_other_s"] is not None and row["received_first_s"] is not None
    ]
    return {
        "connections_different": len(connections),
        "connections_aboard": sum(row["aboard"] for row in connections),
        "bytes_gained": sum(row["bytes_other"] - row["bytes_first"] for row in connections),
        "seconds_saved": 0.0 - sum(seconds),
        "timeouts_gained": sum(
            row["timeouts_other"] - row["timeouts_first"] for row in connections
        ),
        "bursts_different": len(bursts),
        "bursts_lost_first": lost[0],
        "bursts_lost_other": lost[1],
    }


def _lost(result: Result) -> int:
    counters = result.counters
    slots = result.ops[0] if result.ops else None
    if slots is not None:
        dropped = slots["slots_dropped_contention"] + slots["slots_dropped_congestion"]
        return dropped + slots["slots_killed"]
    return sum(counters[name] for name in ("bursts_lost", "ack_bursts_lost"))


def _connections(two: Two) -> Iterator[dict[str, Any]]:
    aboard = {one for entry in two.operations for one in entry["connections"]}
    first, other = ({one["id"]: one for one in reached} for reached in two.reached)
    counted = [_counted(result) for result in (two.first, two.other)]
    packets = _first_different(two.first, two.other, "packets", _OF_A_PACKET, "sent_ps")
    windows = _first_different(two.first, two.other, "cwnd", ("t_ps", "ack", "cwnd"), "t_ps")
    last = [_last_windows(result) for result in (two.first, two.other)]
    rows: list[dict[str, Any]] = []
    for number in sorted(first.keys() & other.keys()):
        one, changed = first[number], other[number]
        different, window = packets.get(number), windows.get(number)
        if different is None and window is None and one == changed and number not in aboard:
            continue
        row: dict[str, Any] = {
            "connection": number,
            "aboard": number in aboard,
            "different_ps": different["sent_ps"] if different else None,
            "different_kind": different["kind"] if different else None,
            "different_seq": different["seq"] if different else None,
            "cwnd_ps": window["t_ps"] if window else None,
            "bytes_first": one["bytes"],
            "bytes_other": changed["bytes"],
            "received_first_s": _received(one),
            "received_other_s": _received(changed),
        }
        for name in _COUNTS:
            for side, counts in zip(("first", "other"), counted, strict=True):
                row[f"{name}_{side}"] = counts.get(number, {}).get(name, 0)
        for side, windows_of in zip(("first", "other"), last, strict=True):
            row[f"cwnd_{side}"] = windows_of.get(number)
        rows.append(row)
    rows.sort(key=_weight, reverse=True)
    yield from rows


def _received(one: Mapping[str, Any]) -> float | None:
    return one["until_ps"] * 1e-12 if one["whole"] else None


def _weight(row: Mapping[str, Any]) -> tuple[float, float]:
    ends = row["received_first_s"], row["received_other_s"]
    late = abs(ends[0] - ends[1]) if None not in ends else 0.0
    return late, abs(row["bytes_other"] - row["bytes_first"])


def _counted(result: Result) -> dict[int, Mapping[str, Any]]:
    """Return the counts of connections, by number."""
    flows = result.replications[0].summary["flows"]
    found: dict[int, Mapping[str, Any]] = {int(one["id"]): one for one in flows}
    if "connections" in result.recorded:
        names = ["id", *_COUNTS]
        table = result.connections.select(names)
        found.update({row["id"]: row for row in table.to_pylist()})
    return found


def _last_windows(result: Result) -> dict[int, float]:
    if "cwnd" not in result.recorded:
        return {}
    table = result.cwnd
    return dict(zip(table["flow"].tolist(), table["cwnd"].tolist(), strict=True))


def _first_different(
    first: Result, other: Result, name: str, columns: Sequence[str], at: str
) -> dict[int, dict[str, Any]]:
    """Return of each flow the first row of a table that is not the same in both runs.

    Where one run has no more rows, it is the next row of the other.
    """
    import numpy as np

    if name not in first.recorded or name not in other.recorded:
        return {}
    tables = [result.table(name) for result in (first, other)]
    columns_of = [{column: _numbers(table, column) for column in columns} for table in tables]
    places = [_by_flow(table["flow"]) for table in tables]
    found: dict[int, dict[str, Any]] = {}
    for flow in sorted(places[0].keys() | places[1].keys()):
        mine, theirs = (one.get(flow, np.empty(0, dtype=np.int64)) for one in places)
        count = min(len(mine), len(theirs))
        same = np.ones(count, dtype=bool)
        for column in columns:
            same &= columns_of[0][column][mine[:count]] == columns_of[1][column][theirs[:count]]
        differ = np.flatnonzero(~same)
        if len(differ):
            run, row = 0, int(mine[differ[0]])
            if columns_of[1][at][theirs[differ[0]]] < columns_of[0][at][row]:
                run, row = 1, int(theirs[differ[0]])
        elif len(mine) != len(theirs):
            run = 0 if len(mine) > count else 1
            row = int((mine, theirs)[run][count])
        else:
            continue
        found[flow] = tables[run].take(slice(row, row + 1)).to_pylist()[0]
    return found


def _by_flow(flows: NDArray[Any]) -> dict[int, NDArray[np.int64]]:
    """Return the rows of each flow, in order."""
    import numpy as np

    order = np.argsort(flows, kind="stable")
    numbers, begins = np.unique(flows[order], return_index=True)
    parts = np.split(order, begins[1:])
    return dict(zip(numbers.tolist(), parts, strict=True)) if len(flows) else {}


def _numbers(table: Table, column: str) -> NDArray[Any]:
    """Return a column to be compared: codes of categories, and one number for no value."""
    found = table.column(column)
    return found.texts() if found.labels is not None else found.filled(0)


def _bursts(first: Result, other: Result) -> Iterator[dict[str, Any]]:
    if "bursts" not in first.recorded or "bursts" not in other.recorded:
        return
    met = [_met(result) for result in (first, other)]
    sides = [_named(result.bursts.to_pylist()) for result in (first, other)]
    for key in sorted(sides[0].keys() | sides[1].keys(), key=_place):
        rows = [side.get(key) for side in sides]
        known = [row for row in rows if row is not None]
        if len(known) == 1 and known[0]["fate"] != "lost":
            continue
        meets = [
            row is not None and row["burst"] in with_met
            for row, with_met in zip(rows, met, strict=True)
        ]
        fates = [tuple(row[name] for name in _FATE) for row in known]
        if len(known) == 2 and fates[0] == fates[1] and meets[0] == meets[1]:
            continue
        yield _changed(dict(zip(_OF_A_BURST, key, strict=False)), rows, meets)


def _named(rows: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return bursts by their identity; equal ones are numbered: the first, the second, ..."""
    alike: Counter[tuple[Any, ...]] = Counter()
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["burst"]):
        key = tuple(row[name] for name in _OF_A_BURST)
        found[*key, alike[key]] = row
        alike[key] += 1
    return found


def _place(key: tuple[Any, ...]) -> tuple[Any, ...]:
    named = dict(zip(_OF_A_BURST, key, strict=False))
    first = named["closed_ps"], named["direction"], named["from"], named["to"], named["opened_ps"]
    return *first, key[-1]


def _changed(
    named: Mapping[str, Any], rows: Sequence[Mapping[str, Any] | None], meets: Sequence[bool]
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for side, one in zip(("first", "other"), rows, strict=True):
        row[f"burst_{side}"] = one["burst"] if one else None
    row |= {name: named[name] for name in ("direction", "from", "to", "closed_ps", "bytes")}
    for side, one, meet in zip(("first", "other"), rows, meets, strict=True):
        for name in ("fate", "cause", "node", "rival"):
            row[f"{name}_{side}"] = one[name] if one else None
        row[f"met_{side}"] = meet if one else None
    return row


def _met(result: Result) -> set[int]:
    """Return the bursts that found their wavelengths taken."""
    if "bursts_steps" not in result.recorded:
        return set()
    return set(result.table("bursts_steps").where(event="contended")["burst"].tolist())
