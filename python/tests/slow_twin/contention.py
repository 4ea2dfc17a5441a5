"""The steps of a node of the slow twin for a burst: a wavelength, and contention resolution."""

from __future__ import annotations

from slow_twin.burst import Burst, Taken
from slow_twin.network import Network, Path
from slow_twin.port import Interval, Port
from slow_twin.rules import Rules

Fibre = tuple[int, int]


class Contention:
    """Ports, delay lines, and the search for a path out of a node."""

    def __init__(self, network: Network, rules: Rules) -> None:
        self.network, self.rules = network, rules
        self.ports = {fibre: Port(many) for fibre, (_, many) in network.fibres.items()}
        self.lines = {
            node: [(delay, Port(rules.at(node).line_channels)) for delay in rules.at(node).lines]
            for node in network.switches
        }
        #: The bursts that hold a converter, by node or by fibre.
        self.pools: dict[object, list[Interval]] = {}
        self.bursts: dict[int, Burst] = {}

    def trail(self, done: int, burst: Burst, place: int, left: int):
        raise NotImplementedError

    def landing(self, burst: Burst):
        raise NotImplementedError

    # Wavelengths.

    def within(self, burst: Burst, fibre: Fibre, converts: bool) -> list[int]:
        """Return the wavelengths that the burst can be moved to."""
        count, came = self.ports[fibre].count, burst.wavelength
        everything, rules = list(range(count)), self.rules.at(fibre[0])
        if came is None or (converts and rules.conversion == "full"):
            return everything
        reach = rules.conversion_range if rules.conversion == "limited" else 0
        return [one for one in everything if abs(one - came) <= (reach if converts else 0)]

    def start(self, now: int, arrives: int) -> int:
        """Return from when on a wavelength is held."""
        return now if self.rules.protocol == "jit" else arrives - self.rules.switching

    def fits(
        self, now: int, burst: Burst, fibre: Fibre, arrives: int, converts: bool
    ) -> int | None:
        among = self.within(burst, fibre, converts)
        start, end = self.start(now, arrives), arrives + burst.hold
        rules, port, came = self.rules.at(fibre[0]), self.ports[fibre], burst.wavelength
        rule = rules.scheduler
        if rules.converters is None or rules.conversion == "none" or came is None:
            return port.choose(rule, among, start, end)
        kept = port.choose(rule, [one for one in among if one == came], start, end)
        if kept is not None or not self.converter_is_free(fibre, start, end):
            return kept
        return port.choose(rule, among, start, end)

    # Converters.

    def pool(self, fibre: Fibre) -> list[Interval]:
        """Return the bursts that hold a converter of the pool of an output."""
        rules = self.rules.at(fibre[0])
        place = fibre if rules.converters_shared == "output" else fibre[0]
        return self.pools.setdefault(place, [])

    def converter_is_free(self, fibre: Fibre, start: int, end: int) -> bool:
        pool = self.pool(fibre)
        instants = [start, *(one.start for one in pool if start < one.start < end)]
        held = (sum(one.start <= at < one.end for one in pool) for at in instants)
        most = self.rules.at(fibre[0]).converters
        return most is None or max(held) < most

    def may_take(self, burst: Burst, fibre: Fibre, wavelength: int, start: int, end: int) -> bool:
        """Whether the burst keeps its wavelength, or a converter is free."""
        same = burst.wavelength in (None, wavelength)
        return same or self.converter_is_free(fibre, start, end)

    def lacks_converter(self, now: int, burst: Burst, fibre: Fibre, converts: bool) -> bool:
        """Whether a burst that was given no wavelength could take one with a converter more."""
        start, end = self.start(now, burst.arrives), burst.arrives + burst.hold
        among = self.within(burst, fibre, converts)
        rules = self.rules.at(fibre[0])
        free = self.ports[fibre].choose(rules.scheduler, among, start, end)
        return rules.converters is not None and free is not None

    def take(self, burst: Burst, fibre: Fibre, wavelength: int, start: int, departs: int):
        end = departs + burst.hold
        interval = Interval(start, end, burst.number, departs)
        self.ports[fibre].reserve(wavelength, interval)
        if burst.wavelength not in (None, wavelength):
            self.pool(fibre).append(interval)
        end = departs + min(burst.hold, burst.left)
        burst.taken.append(Taken(fibre, wavelength, departs, end, interval))
        burst.wavelength = wavelength

    def try_fibre(self, now: int, burst: Burst, fibre: Fibre, arrives: int, converts: bool) -> bool:
        chosen = self.fits(now, burst, fibre, arrives, converts)
        if chosen is not None:
            self.take(burst, fibre, chosen, self.start(now, arrives), arrives)
        return chosen is not None

    def find(self, now: int, burst: Burst) -> bool:
        """Look for a wavelength, then try the steps in their order."""
        fibre = (burst.here, burst.next)
        steps = self.rules.at(burst.here).contention
        converts = "conversion" not in steps
        if self.try_fibre(now, burst, fibre, burst.arrives, converts):
            return True
        burst.lacks = self.lacks_converter(now, burst, fibre, converts)
        for step in steps:
            if step == "conversion":
                converts = True
                found = self.try_fibre(now, burst, fibre, burst.arrives, converts)
                if not found:
                    burst.lacks = self.lacks_converter(now, burst, fibre, converts)
            elif step == "delay-line":
                found = self.delayed(now, burst, fibre, converts)
            elif step == "deflection":
                found = self.deflected(now, burst, converts)
            elif step == "segmentation":
                found = self.segmented(now, burst, fibre, converts)
            else:
                found = False  # A copy is sent when nothing was found.
            if found:
                return True
        return False

    # Delay lines.

    def delayed(self, now: int, burst: Burst, fibre: Fibre, converts: bool) -> bool:
        """Look for a line and a wavelength behind it; go round where there is none."""
        at, entered = burst.arrives, list[tuple[Port, Interval]]()
        most = min(self.rules.at(burst.here).passes, self.rules.passes_on_path - burst.delayed)
        for turn in range(most):
            # The switch in front of the line is set before the burst is there.
            start, end = at - self.rules.switching_of_lines, at + burst.hold
            free = [
                (delay, line, channel)
                for delay, line in self.lines[burst.here]
                for channel in range(line.count)
                if not line.meets(channel, start, end)
            ]
            for delay, line, channel in free:
                if self.try_fibre(now, burst, fibre, at + delay, converts):
                    line.reserve(channel, Interval(start, end, burst.number, at))
                    burst.delayed += turn + 1
                    return True
            if not free:
                break
            delay, line, channel = free[0]
            interval = Interval(start, end, burst.number, at)
            entered.append((line, line.reserve(channel, interval)))
            at += delay
        for line, interval in entered:
            line.give_back(interval)
        return False

    # Deflection.

    def deflected(self, now: int, burst: Burst, converts: bool) -> bool:
        for path in self.detours(now, burst):
            fibre = (path[0], path[1])
            if self.try_fibre(now, burst, fibre, burst.arrives, converts):
                burst.route = burst.route[: burst.at] + path
                return True
        return False

    def detours(self, now: int, burst: Burst) -> list[Path]:
        """Return the paths over other fibres, the nearest first."""
        rules, here = self.rules, burst.here
        found: list[Path] = []
        for node in self.network.onward(here):
            if node == burst.next or (node != burst.egress and not self.network.switches[node]):
                continue
            paths = (
                [(node,)] if node == burst.egress else self.network.paths(node, burst.egress)[:1]
            )
            for path in paths:
                headers = len(path)
                ahead = headers * rules.processing + rules.switching
                ahead += (headers - 1) * rules.header
                if (
                    here not in path
                    and burst.at + headers <= burst.planned + rules.hop_limit
                    and now + ahead <= burst.arrives
                ):
                    found.append((here, *path))
        return sorted(found, key=self.network.rank)

    # Segmentation.

    def kept(self, burst: Burst, left: int) -> int:
        """Return how many packets lie wholly in what is left of a burst."""
        return min(burst.packets, self.rules.bytes_in(left) // burst.packet)

    def remains(self, burst: Burst, left: int) -> bool:
        return self.kept(burst, left) > 0 if burst.packets else left > 0

    def segmented(self, now: int, burst: Burst, fibre: Fibre, converts: bool) -> bool:
        """Take the wavelength on which least is cut and something of the burst remains."""
        port = self.ports[fibre]
        start, end = self.start(now, burst.arrives), burst.arrives + burst.hold
        found: list[tuple[int, int, int, list[Interval]]] = []
        for wavelength in self.within(burst, fibre, converts):
            others = port.meets(wavelength, start, end)
            earlier = [one for one in others if one.start < start]
            later = [one.start for one in others if one.start >= start]
            stop = min(later, default=end)
            cut = sum(one.end - start for one in earlier) + end - stop
            left = min(burst.left, stop - burst.arrives)
            if stop <= start or not self.may_take(burst, fibre, wavelength, start, stop):
                continue
            if self.remains(burst, left) or (self.rules.gives_up and stop > burst.arrives):
                found.append((cut, wavelength, stop, earlier))
        if not found:
            return False
        _, wavelength, stop, earlier = min(found, key=lambda one: one[:2])
        if not self.remains(burst, min(burst.left, stop - burst.arrives)):
            return False
        for one in earlier:
            self.cut(now, fibre, one, start)
        burst.hold = min(burst.hold, stop - burst.arrives)
        burst.left = min(burst.left, burst.hold)
        self.take(burst, fibre, wavelength, start, burst.arrives)
        return True

    def cut(self, now: int, fibre: Fibre, interval: Interval, end: int):
        """Cut the tail of a burst; a trailer reports it to the nodes that reserved for it."""
        interval.end = end
        burst = self.bursts[interval.burst]
        mine = [place for place, taken in enumerate(burst.taken) if taken.interval is interval]
        if burst.fate != "in-flight" or not mine:
            return  # It was lost further on, and nobody knows of it any more.
        left, place = max(0, end - interval.departs), mine[0]
        for taken in burst.taken[place:]:
            taken.end = min(taken.end, taken.departs + left)
        if left < burst.left:
            burst.left = left
            if burst.here == burst.egress:
                self.landing(burst)
        if burst.at == place:
            # Its header is still here, behind a queue, and has the new length.
            burst.hold = min(burst.hold, max(left, 1))
        elif self.rules.trailer:
            self.trail(now + self.rules.processing, burst, place, left)
