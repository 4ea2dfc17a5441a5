"""The slow twin's events: headers, refusals, copies and trailers, one after the other in time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from slow_twin.burst import Burst, Taken
from slow_twin.contention import Contention
from slow_twin.network import Network, Path
from slow_twin.rules import Rules


@dataclass
class Arrival:
    """Input from an engine run: a burst, with the time when it is offered to the core."""

    number: int
    start: int
    egress: int
    group: int
    size: int
    packets: int
    closed: int


class Servers:
    """Several alike, each of which serves one at a time, first come, first served."""

    def __init__(self, many: int | None) -> None:
        self.free = None if many is None else [0] * many

    def begin(self, now: int, service: int) -> int:
        """Return when one begins."""
        if self.free is None:
            return now
        first = self.free.index(min(self.free))
        begins = max(now, self.free[first])
        self.free[first] = begins + service
        return begins


class Twin(Contention):
    """One run."""

    def __init__(self, network: Network, rules: Rules, arrivals: list[Arrival]) -> None:
        super().__init__(network, rules)
        self.processors = {node: Servers(rules.processors) for node in network.switches}
        self.control = {fibre: Servers(rules.channels) for fibre in network.fibres}
        self.copies = dict.fromkeys(network.switches, 0)
        self.events: list[tuple[int, int, Callable[[int], None]]] = []
        self.order = count()
        self.bursts: dict[int, Burst] = {}
        self.turns: dict[tuple[int, int], int] = {}
        #: Which burst did something at a node at an instant, and where two did.
        self.acted: dict[tuple[int, int], int] = {}
        self.ties: set[tuple[int, int]] = set()
        for one in arrivals:
            burst = Burst(
                number=one.number,
                start=one.start,
                egress=one.egress,
                group=one.group,
                size=one.size,
                packets=one.packets,
                packet=one.size // one.packets if one.packets else 0,
                hold=rules.hold(one.size),
                left=rules.hold(one.size),
            )
            self.bursts[one.number] = burst
            self.after(one.closed, lambda now, burst=burst: self.offer(now, burst))

    def run(self) -> dict[int, Burst]:
        while self.events:
            now, _, happen = heapq.heappop(self.events)
            happen(now)
        return self.bursts

    def after(self, at: int, happen: Callable[[int], None]):
        heapq.heappush(self.events, (at, next(self.order), happen))

    def acts(self, now: int, node: int, burst: Burst):
        """Note two bursts at one node at one instant: no page says which of them comes first."""
        if self.acted.setdefault((now, node), burst.number) != burst.number:
            self.ties.add((now, node))

    # The ingress.

    def offer(self, now: int, burst: Burst):
        """Keep a copy, where there is room, and send it."""
        if self.tries("retransmission"):
            bound = self.rules.buffer
            burst.copy = bound is None or self.copies[burst.start] + burst.size <= bound
            if burst.copy:
                self.copies[burst.start] += burst.size
        self.send(now, burst)

    def tries(self, step: str) -> bool:
        """Whether some node tries a step."""
        own = (fields.get("contention", []) for fields in self.rules.nodes.values())
        return any(step in steps for steps in (self.rules.contention, *own))

    def route(self, burst: Burst) -> Path:
        """Return the first of its routes, or each in turn."""
        pair = burst.start, burst.egress
        paths = self.network.paths(*pair)[: self.rules.routes]
        if self.rules.route_choice == "first":
            return paths[0]
        turn = self.turns.get(pair)
        if turn is None:
            turn = self.network.first_turn(*pair, len(paths))
        self.turns[pair] = turn + 1
        return paths[turn % len(paths)]

    def offset(self, burst: Burst) -> int:
        rules, links = self.rules, len(burst.route) - 1
        offset = rules.offset
        if offset is None:
            detour = rules.hop_limit if self.tries("deflection") else 0
            offset = (links + detour) * rules.processing + rules.guard
        if burst.group < len(rules.class_offsets):
            offset += rules.class_offsets[burst.group]
        if rules.protocol == "two-way":
            # The last node to be asked is the one before the egress.
            offset += 2 * self.network.delay(burst.route[:-1])
        return offset

    def send(self, now: int, burst: Burst):
        rules = self.rules
        self.acts(now, burst.start, burst)
        burst.note_attempt()
        burst.route = self.route(burst)
        burst.planned, burst.at, burst.wavelength = len(burst.route) - 1, 0, None
        burst.taken, burst.delayed, burst.hold = [], 0, rules.hold(burst.size)
        burst.left = burst.hold
        offset = self.offset(burst)
        burst.leaves = now + offset
        if rules.port == "shared":
            burst.arrives = now + offset
            self.header(now, burst)
            return
        # It waits for a wavelength, and its header leaves so much before it.
        port, ahead = self.ports[burst.here, burst.next], rules.switching
        rule = rules.at(burst.here).scheduler
        start = port.earliest(rule, now + offset - ahead, burst.hold + ahead)
        burst.arrives = burst.leaves = start + ahead
        everything = list(range(port.count))
        end = burst.arrives + burst.hold
        chosen = port.choose(rule, everything, start, end)
        assert chosen is not None
        self.take(burst, (burst.here, burst.next), chosen, start, burst.arrives)
        self.after(burst.arrives - offset, lambda now: self.header(now, burst))

    # The header.

    def header(self, now: int, burst: Burst):
        """It reaches the node that schedules its burst, and waits for a processor."""
        self.acts(now, burst.here, burst)
        begins = self.processors[burst.here].begin(now, self.rules.processing)
        self.after(begins, lambda now: self.decide(now, burst))

    def decide(self, now: int, burst: Burst):
        rules = self.rules
        self.acts(now, burst.here, burst)
        done = now + rules.processing
        if len(burst.taken) > burst.at:
            # A queue at the ingress has reserved before.
            late = now > burst.arrives
        else:
            late = done + rules.switching > burst.arrives
        if rules.protocol == "two-way":
            back = self.network.delay(burst.route[: burst.at + 1])
            late = late or (len(burst.taken) == burst.at and done + back > burst.leaves)
        if late and rules.protocol == "two-way":
            self.refuse(now, burst)
        elif late:
            self.lose(now, burst, "late-header")
        elif len(burst.taken) == burst.at and not self.find(now, burst):
            self.refuse(now, burst)
        else:
            self.go_on(done, burst)

    def go_on(self, done: int, burst: Burst):
        """The node has decided; `done` with the header, it sends it on."""
        fibre = (burst.here, burst.next)
        burst.at += 1
        burst.arrives = burst.taken[-1].departs + self.network.fibres[fibre][0]
        there = self.sent(done, fibre)
        if burst.here == burst.egress:
            self.landing(burst)
        else:
            self.after(there, lambda now: self.header(now, burst))

    def sent(self, done: int, fibre: tuple[int, int]) -> int:
        """Return when what is put on a control channel is at the other end.

        All signals are processed for the same time, so that they come here in the order in which
        they are `done`.
        """
        header = self.rules.header
        return self.control[fibre].begin(done, header) + header + self.network.fibres[fibre][0]

    # The fate of a burst.

    def landing(self, burst: Burst):
        burst.arrived = burst.arrives + burst.left
        self.after(burst.arrived, lambda now: self.land(now, burst))

    def land(self, now: int, burst: Burst):
        if burst.fate != "in-flight" or burst.arrived != now:
            return
        burst.departed = burst.taken[0].departs
        self.forget_copy(burst)
        if self.remains(burst, burst.left):
            burst.fate = "delivered"
        else:
            burst.arrived = None
            burst.fate, burst.cause, burst.lost, burst.node = "lost", "cut", now, burst.here

    def lose(self, now: int, burst: Burst, stops: str):
        # The header of a burst that was cut off entirely is stopped without a reservation.
        cause = stops if self.remains(burst, burst.left) else "cut"
        burst.fate, burst.cause, burst.lost, burst.node = "lost", cause, now, burst.here
        if burst.at:
            burst.departed = burst.taken[0].departs
        self.forget_copy(burst)
        if len(burst.taken) == burst.at and stops != "blocked":
            burst.note_refusal()

    def forget_copy(self, burst: Burst):
        if burst.copy:
            self.copies[burst.start] -= burst.size

    def refuse(self, now: int, burst: Burst):
        """No step has found a path."""
        rules, back = self.rules, self.network.delay(burst.route[: burst.at + 1])
        shown = now + rules.processing + back
        if rules.protocol == "two-way":
            burst.noted.clear()
            burst.note_refusal()
            self.give_back(now + rules.processing, burst)
            self.after(shown, lambda now: self.refused(now, burst))
        elif "retransmission" in rules.at(burst.here).contention and burst.copy:
            if burst.attempts < rules.attempts:
                burst.attempts += 1
                burst.note_refusal()
                self.after(shown + rules.wait, lambda now: self.send(now, burst))
            else:
                self.lose(now, burst, self.why(burst))
        else:
            self.lose(now, burst, self.why(burst))

    def why(self, burst: Burst) -> str:
        return "no-converter" if burst.lacks else "contention"

    def give_back(self, now: int, burst: Burst):
        """The refusal goes back from node to node; each frees what it held."""
        for number in range(burst.at - 1, -1, -1):
            taken = burst.taken[number]
            now += self.network.fibres[taken.fibre][0]
            assert taken.interval
            self.after(now, lambda now, held=taken: self.free(now, burst, held))

    def free(self, now: int, burst: Burst, taken: Taken):
        assert taken.interval
        self.acts(now, taken.fibre[0], burst)
        self.ports[taken.fibre].give_back(taken.interval)
        pool = self.pool(taken.fibre)
        if taken.interval in pool:
            pool.remove(taken.interval)

    def refused(self, now: int, burst: Burst):
        burst.attempts += 1
        burst.at, burst.taken = 0, []
        if burst.attempts < self.rules.requests:
            burst.noted.clear()
            self.after(now + self.rules.retry, lambda now: self.send(now, burst))
        else:
            self.lose(now, burst, "blocked")

    # Trailers.

    def trail(self, done: int, burst: Burst, place: int, left: int):
        """A trailer leaves the node of the fibre `place` of a burst for the next one."""
        if place + 1 < len(burst.route) - 1:
            there = self.sent(done, (burst.route[place], burst.route[place + 1]))
            self.after(there, lambda now: self.shorten(now, burst, place + 1, left))

    def shorten(self, now: int, burst: Burst, place: int, left: int):
        """A trailer is there: what the node holds for the tail is free again."""
        if burst.fate != "in-flight":
            return
        self.acts(now, burst.route[place], burst)
        if place >= len(burst.taken):
            # The header still waits here, and goes on with what is left.
            burst.hold = min(burst.hold, max(left, 1))
            return
        taken = burst.taken[place]
        assert taken.interval
        taken.interval.end = min(taken.interval.end, max(now, taken.departs + left))
        self.trail(now + self.rules.processing, burst, place, left)
