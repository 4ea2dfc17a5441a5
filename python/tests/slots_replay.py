"""A slotted network in plain Python, from what comes to its edges: no code of the engine.

Slot by slot it does what ``docs/models/ops.md`` says: edges smooth and send, switches serve what
arrives, buffer it or drop it. Congestion control is left out. Draws are those of Philox 4x32-10.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from typing import Any

SLOT = 1 << 20
"""Parts of a slot in which a buffer counts the time between two slots."""


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Return the block of Salmon, Moraes, Dror and Shaw (2011), ten rounds."""
    for step in range(10):
        k0, k1 = ((key[n] + step * (0x9E3779B9, 0xBB67AE85)[n]) % 2**32 for n in (0, 1))
        low, high = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            (high >> 32) ^ counter[1] ^ k0,
            high % 2**32,
            (low >> 32) ^ counter[3] ^ k1,
            low % 2**32,
        ]
    return counter


@dataclass
class Draws:
    """The numbers that one name draws, by ordinal."""

    name: str
    seed: int
    replication: int = 0

    def __post_init__(self) -> None:
        self.entity = 0xCBF29CE484222325
        for byte in self.name.encode() + self.replication.to_bytes(8, "little"):
            self.entity = (self.entity ^ byte) * 0x100000001B3 % 2**64

    def two(self, ordinal: int) -> tuple[float, float]:
        """Return the two uniform numbers of an ordinal."""
        split = [ordinal % 2**64, self.entity, self.seed]
        counter = [word for whole in split[:2] for word in (whole % 2**32, whole >> 32)]
        a, b, c, d = philox(counter, [self.seed % 2**32, self.seed >> 32])
        return ((a << 32 | b) >> 11) / 2**53, ((c << 32 | d) >> 11) / 2**53


@dataclass
class Packet:
    """Arrivals at an edge, and their fates."""

    at: int
    size: int
    ends: tuple[int, int]
    slot: int | None = None
    number: int | None = None
    out: int | None = None
    lost: str | None = None
    parts: int = 1
    gone: int = 0
    ended: int = 0


@dataclass
class Cell:
    """A slot that travels."""

    pieces: list[Packet]
    route: list[int]
    hop: int = 0


@dataclass
class Buffer:
    """The buffer of an edge for another one."""

    ends: tuple[int, int]
    route: list[int]
    queue: deque[Packet] = field(default_factory=deque)
    rate: float | None = None
    due: int = 0
    estimate: float = 0.0
    arrived: float = 0.0
    total: float = 0.0
    done: int = 0
    skipped: int = 0
    quiet: bool = True
    holds: bool = False
    sent: int = 0
    requests: int = 0
    refused: int = 0

    @property
    def period(self) -> int:
        """Parts of a slot from one slot to the next."""
        return max(1, round(SLOT / (self.rate or 1.0)))


@dataclass
class Window:
    """Counters of an output over the last slots."""

    slots: int
    seen: list[int] = field(default_factory=list)

    def rate(self, slot: int) -> float:
        """Return how many a slot there were: slot by slot up to 128, else in 32 parts."""
        part = 1 if self.slots <= 128 else -(-self.slots // 32)
        first = slot // part * part - (self.slots - 1 if part == 1 else 31 * part)
        return (len(self.seen) - bisect_left(self.seen, first)) / (slot + 1 - first)


class Network:
    """The network of a resolved scenario, whose fibres are a tree.

    Parameters
    ----------
    names
        Its nodes.
    fibres
        Both directions of each link: the nodes, slots that it takes, wavelengths.
    ops
        ``[ops]``, with numbers in place of texts.
    slot_ps
        How long a slot takes.
    seed
        ``run.seed``.
    """

    def __init__(
        self,
        names: list[str],
        fibres: list[tuple[int, int, int, int]],
        ops: dict[str, Any],
        slot_ps: int,
        seed: int,
    ) -> None:
        self.names, self.fibres, self.ops, self.slot_ps = names, fibres, ops, slot_ps
        nodes = range(len(names))
        self.into = [[n for n, fibre in enumerate(fibres) if fibre[1] == node] for node in nodes]
        self.flying: list[deque[tuple[int, Cell]]] = [deque() for _ in fibres]
        self.queues: list[deque[Cell]] = [deque() for _ in fibres]
        self.first = [0] * len(fibres)
        self.windows = [Window(ops["window"]) for _ in fibres]
        self.buffers: dict[tuple[int, int], Buffer] = {}
        self.granted = [0.0] * len(fibres)
        self.order = [Draws(f"ops/order/{node}", seed) for node in nodes]
        self.turns = [Draws(f"ops/turn/{node}", seed) for node in nodes]
        self.asks = Draws("ops/negotiation", seed)
        self.units = self.numbered = 0
        self.causes = {
            (n, why): 0 for n in range(len(fibres)) for why in ("contention", "congestion")
        }

    def run(self, packets: list[Packet], end: int) -> None:
        """Bring ``packets``, which come in order, to their ends, before ``end``."""
        coming, slot, unit = deque(packets), 0, self.ops["unit"]
        while (now := slot * self.slot_ps) < end:
            while unit * (self.units + 1) < now:
                at = unit * (self.units + 1)
                while coming and coming[0].at < at:
                    self.enters(coming.popleft())
                self.ends_unit(at)
            while coming and coming[0].at < now:
                self.enters(coming.popleft())
            for node in range(len(self.names)):
                self.switch(node, slot)
            slot += 1

    # The edge.

    def route(self, ends: tuple[int, int]) -> list[int]:
        """Return the fibres from one node to another."""
        found, wave = {ends[0]: list[int]()}, [ends[0]]
        for node in wave:
            for number, (begin, to, *_) in enumerate(self.fibres):
                if begin == node and to not in found:
                    found[to] = [*found[node], number]
                    wave.append(to)
        return found[ends[1]]

    def buffer(self, ends: tuple[int, int]) -> Buffer:
        """Return the buffer between two edges."""
        if ends not in self.buffers:
            buffer = Buffer(ends, self.route(ends))
            if self.names[ends[0]] not in self.ops["unsmoothed"]:
                buffer.rate = self.ops["min_rate"]
                if self.ops["phase"] == "drawn":
                    key = ends[0] * len(self.names) + ends[1]
                    drawn = int(self.asks.two(key)[0] * self.ops["units"])
                    buffer.done = buffer.skipped = drawn
            self.buffers[ends] = buffer
        return self.buffers[ends]

    def enters(self, packet: Packet) -> None:
        """Put a packet into its buffer."""
        buffer = self.buffer(packet.ends)
        payload = self.ops["payload"]
        packet.parts = max(1, -(-packet.size // payload))
        whole = self.ops["packing"] == "one"
        buffer.arrived += packet.parts if whole else packet.size / payload
        if buffer.rate is not None and not buffer.holds:
            buffer.holds = True
            for link in buffer.route:
                self.granted[link] += buffer.rate
        if not buffer.queue:
            after = packet.at // self.slot_ps + 1
            buffer.due = max(buffer.due, after * SLOT)
        buffer.queue.append(packet)

    def backlog(self, buffer: Buffer) -> float:
        """Return the slots that what waits fills."""
        payload = self.ops["payload"]
        if self.ops["packing"] == "one":
            return float(sum(packet.parts - packet.gone // payload for packet in buffer.queue))
        return sum(packet.size - packet.gone for packet in buffer.queue) / payload

    def ends_unit(self, at: int) -> None:
        """Move the estimates, and let those ask whose interval is over."""
        self.units += 1
        unit, units, weight = self.ops["unit"] / self.slot_ps, self.ops["units"], self.ops["weight"]
        asking = []
        for buffer in self.buffers.values():
            if buffer.rate is None:
                continue
            backlog, arrivals = self.backlog(buffer), buffer.arrived / unit
            buffer.quiet = buffer.quiet and arrivals == 0 and backlog == 0
            moved = arrivals + backlog / (unit * units)
            buffer.estimate = weight * buffer.estimate + (1.0 - weight) * moved
            buffer.total += buffer.estimate
            buffer.arrived = 0.0
            buffer.done += 1
            if buffer.done == units:
                asking.append((buffer, buffer.total / (units - buffer.skipped), buffer.quiet))
                buffer.done, buffer.total, buffer.skipped, buffer.quiet = 0, 0.0, 0, True
        count = len(self.names)

        def turn(one: tuple[Buffer, float, bool]) -> float:
            begin, to = one[0].ends
            return self.asks.two(self.units * count**2 + begin * count + to)[1]

        if self.ops["phase"] == "drawn":
            asking.sort(key=turn)
        else:
            place = {ends: number for number, ends in enumerate(self.buffers)}
            behind = self.units % len(self.buffers) if self.buffers else 0
            asking.sort(key=lambda one: (place[one[0].ends] - behind) % len(self.buffers))
        for buffer, wish, idle in asking:
            self.asks_for(buffer, wish, idle)

    def asks_for(self, buffer: Buffer, wish: float, idle: bool) -> None:
        """Let a buffer negotiate its rate."""
        old, least = buffer.rate or 0.0, self.ops["min_rate"]
        if idle and wish <= least:
            if buffer.holds:
                for link in buffer.route:
                    self.granted[link] -= old
            buffer.holds, got = False, least
            buffer.requests += 1
        else:
            widths = [float(self.fibres[link][3]) for link in buffer.route]
            wish = min(max(wish, least), min(widths))
            links = zip(buffer.route, widths, strict=True)
            left = [width - (self.granted[link] - old) for link, width in links]
            most = min(left)
            if wish <= old or wish <= most + 1e-9:
                got = wish
            else:
                got = old if self.ops["refusal"] == "keep" else max(most, old)
            for link in buffer.route:
                self.granted[link] += got - old
            buffer.requests += 1
            buffer.refused += got < wish
        last = max(0, buffer.due - buffer.period)
        buffer.rate = got
        buffer.due = last + buffer.period

    def fill(self, buffer: Buffer) -> Cell:
        """Fill a slot from a buffer."""
        pieces, room = [], self.ops["payload"]
        while buffer.queue:
            packet = buffer.queue[0]
            left = packet.size - packet.gone
            if pieces and (packet.size > room or self.ops["packing"] == "one"):
                break
            length = min(left, room)
            packet.gone += length
            room -= length
            pieces.append(packet)
            if packet.gone < packet.size:
                break
            buffer.queue.popleft()
        return Cell(pieces, buffer.route)

    def send(self, node: int, slot: int, free: dict[int, int]) -> None:
        """Let the buffers of an edge send, first the one whose first packet came first."""
        mine = [buffer for buffer in self.buffers.values() if buffer.ends[0] == node]

        def turn(buffer: Buffer) -> tuple[int, float]:
            ordinal = slot * len(self.names) + buffer.ends[1]
            return buffer.queue[0].at, self.turns[node].two(ordinal)[0]

        while True:
            ready = [
                buffer
                for buffer in mine
                if buffer.queue and free[buffer.route[0]] > 0 and not self.queues[buffer.route[0]]
                if buffer.rate is None or buffer.due // SLOT <= slot
            ]
            if not ready:
                return
            buffer = min(ready, key=turn) if len(ready) > 1 else ready[0]
            if buffer.rate is not None:
                buffer.due = max(buffer.due, slot * SLOT - buffer.period) + buffer.period
            cell = self.fill(buffer)
            self.numbered += 1
            buffer.sent += 1
            for packet in cell.pieces:
                packet.slot, packet.number = slot, self.numbered
            self.windows[buffer.route[0]].seen.append(slot)
            self.leaves(cell, slot, free)

    # The switch.

    def leaves(self, cell: Cell, slot: int, free: dict[int, int]) -> None:
        """Send a cell over its next fibre."""
        link = cell.route[cell.hop]
        cell.hop += 1
        free[link] -= 1
        self.flying[link].append((slot + self.fibres[link][2], cell))

    def switch(self, node: int, slot: int) -> None:
        """Do what a node does in a slot."""
        outputs = [n for n, fibre in enumerate(self.fibres) if fibre[0] == node]
        free = {link: self.fibres[link][3] for link in outputs}
        for link in outputs:
            while self.queues[link] and free[link] > 0:
                self.leaves(self.queues[link].popleft(), slot, free)
        came: list[tuple[int, Cell]] = []
        for link in self.into[node]:
            while self.flying[link] and self.flying[link][0][0] == slot:
                cell = self.flying[link].popleft()[1]
                if cell.hop == len(cell.route):
                    self.lands(cell, slot)
                else:
                    came.append((link, cell))
        came = self.in_order(node, slot, came)
        meet = False
        for _, cell in came:
            link = cell.route[cell.hop]
            self.windows[link].seen.append(slot)
            if free[link] > 0 and not self.queues[link]:
                self.leaves(cell, slot, free)
                continue
            meet = True
            if sum(len(self.queues[output]) for output in outputs) < self.ops["buffer"]:
                self.queues[link].append(cell)
            else:
                self.drops(cell, link, slot)
        if meet and len(came) > 1:
            self.first[came[0][0]] = slot + 1
        self.send(node, slot, free)

    def in_order(
        self, node: int, slot: int, came: list[tuple[int, Cell]]
    ) -> list[tuple[int, Cell]]:
        """Return what came in the order in which it is served."""
        if len(came) < 2 or self.ops["order"] == "fixed":
            return came
        if self.ops["order"] == "rotating":
            place = min(range(len(came)), key=lambda n: self.first[came[n][0]])
        else:
            first, sense = self.order[node].two(slot)
            if sense < 0.5:
                came = came[::-1]
            place = min(int(first * len(came)), len(came) - 1)
        return came[place:] + came[:place]

    def drops(self, cell: Cell, link: int, slot: int) -> None:
        """Lose a cell before ``link``."""
        full = self.ops["threshold"] * self.fibres[link][3]
        heavy = self.windows[link].rate(slot) >= full
        cause = "congestion" if heavy else "contention"
        self.causes[link, cause] += 1
        for packet in cell.pieces:
            packet.lost = packet.lost or cause

    def lands(self, cell: Cell, slot: int) -> None:
        """Take a cell out at its egress."""
        for packet in cell.pieces:
            packet.ended += 1
            if packet.ended == packet.parts and not packet.lost:
                packet.out = (slot + 1) * self.slot_ps
