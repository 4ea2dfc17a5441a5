"""Ties at the assemblers of a recording.

A packet that reaches an assembler in the nanosecond in which its timer closes the burst is a tie:
which of the two is first is the simulator's own. A recording has no row for what reaches an
assembler. So the access links are computed again as the recorder has them, in whole nanoseconds,
from what left the hosts; and the recorded bursts must be those that follow, one by one. From the
first that is not, nothing is taken for a tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from burstlab.oracle import entries
from burstlab.oracle.linux import HEADERS, TIMESTAMP, LinuxCase

#: Bursts that end at a tie, and whether the packet fell into each.
OfDirection: TypeAlias = "Sequence[tuple[int, bool]]"
#: Those of data and those of ACKs.
Sides: TypeAlias = "tuple[OfDirection, OfDirection]"

#: Delay of an access link.
_ACCESS_NS = 1_000_000

#: Options of a SYN: segment size, SACK alone, and the scale of the window.
_MSS, _SACK_PERMITTED, _SCALE = 4, 4, 4
#: Bytes of SACK blocks: the constant part, and each block.
_SACK, _BLOCK = 4, 8
#: The largest window that is said without a scale.
_UNSCALED = 65_535


@dataclass(frozen=True)
class Ties:
    """The ties of a recording.

    Attributes
    ----------
    sides
        Bursts that end at one, and on which side the packet fell.
    first_ns
        When the first is, after the SYN.
    """

    sides: Sides
    first_ns: int

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(direction) for direction in self.sides)


@dataclass(frozen=True)
class _Direction:
    """One direction: its rows for packets that leave a host, are lost there, or end a burst."""

    leaves: str
    lost: tuple[str, ...]
    closes: str
    timer_ns: int


def ties_of(case: LinuxCase, rows: Sequence[Sequence[str]]) -> Ties:
    """Find the ties of a recording that `path.recorded` has read."""
    entry = case.entry
    directions = (
        _Direction("S", ("D", "Q"), "B", int(entry["tb_ms"] * 1e6)),
        _Direction("a", ("d", "q"), "b", int(entry.get("tb_ack_ms", 0) * 1e6)),
    )
    sizes = _Sizes(entry)
    found = [list(_of_direction(one, float(entry["rate"]), sizes, rows)) for one in directions]
    times = [at for one in found for at, _, _ in one]
    data, acks = ([(burst, inside) for _, burst, inside in one] for one in found)
    return Ties((data, acks), min(times, default=0))


class _Sizes:
    """Bytes of packets, from their rows."""

    def __init__(self, entry: Any) -> None:
        settings = dict(entries.settings_of(entry))
        names = ("tcp_timestamps", "tcp_sack", "tcp_window_scaling")
        stamps, sack, scale = (settings.get(name) != "0" for name in names)
        self._plain = HEADERS + TIMESTAMP * stamps
        options = _MSS + (TIMESTAMP if stamps else _SACK_PERMITTED * sack) + _SCALE * scale
        self._syn = HEADERS + options

    def of(self, cells: Sequence[str]) -> int:
        """Bytes of the packet of a row S or a."""
        if cells[0] == "S":
            return self._syn if int(cells[4]) & 2 else int(cells[3]) + self._plain
        blocks = len(cells[4].split())
        if cells[2] == "1" and int(cells[3]) <= _UNSCALED and not blocks:
            return self._syn
        return self._plain + (_SACK + _BLOCK * blocks if blocks else 0)


def _arrivals(
    direction: _Direction, rate: float, sizes: _Sizes, rows: Sequence[Sequence[str]]
) -> Iterator[tuple[int, int]]:
    """When each packet reaches the assembler, and its bytes, as the recorder computes them."""
    free = 0
    for number, cells in enumerate(rows):
        if cells[0] != direction.leaves:
            continue
        at, size = int(cells[1]), sizes.of(cells)
        after = rows[number + 1] if number + 1 < len(rows) else [""]
        if after[0] in direction.lost and after[1:3] == list(cells[1:3]):
            # Lost as it leaves, which is said in the row behind it.
            continue
        free = max(at, free) + int(size * 8e9 / rate)
        yield free + _ACCESS_NS, size


def _of_direction(
    direction: _Direction, rate: float, sizes: _Sizes, rows: Sequence[Sequence[str]]
) -> Iterator[tuple[int, int, bool]]:
    """When each tie of a direction is, of which burst, and whether the packet fell into that."""
    if direction.timer_ns <= 0:
        return
    arrivals = list(_arrivals(direction, rate, sizes, rows))
    closed = [cells for cells in rows if cells[0] == direction.closes]
    first = 0
    for number, cells in enumerate(closed, start=1):
        if first >= len(arrivals):
            return
        ends = arrivals[first][0] + direction.timer_ns
        last = first
        while last < len(arrivals) and arrivals[last][0] < ends:
            last += 1
        tied = last < len(arrivals) and arrivals[last][0] == ends
        at, burst, packets, size = (int(cell) for cell in cells[1:5])
        inside = tied and packets == last - first + 1
        last += inside
        whole = sum(size for _, size in arrivals[first:last])
        if (at, burst, packets, size) != (ends, number, last - first, whole):
            return
        if tied:
            yield ends, number, inside
        first = last
