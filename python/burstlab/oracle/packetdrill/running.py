"""Run a script: its packets and calls go to the host, and what the host does is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from burstlab.oracle.packetdrill import assertions
from burstlab.oracle.packetdrill.events import (
    CallEvent,
    CodeEvent,
    CommandEvent,
    Differs,
    Event,
    NotModelled,
    Option,
    Packet,
    PacketEvent,
    Script,
    When,
)
from burstlab.oracle.packetdrill.host import Answer, Attempt, Host, information
from burstlab.oracle.packetdrill.settings import Settings

#: By how much a time may differ where a script says nothing: packetdrill's own defaults, in
#: microseconds, and as a part of the time since the event before.
_TOLERANCE_US = 4_000
_TOLERANCE_PART = 0.125
_NS_PER_US = 1_000
#: The time to hand over a packet: an ACK never arrives at the exact instant of its time.
_INJECTION_NS = 1_000
#: Options of a script that are of the program packetdrill or of IP addresses.
_IGNORED = frozenset(
    {
        "ip_version",
        "mss",
        "local_ip",
        "remote_ip",
        "bind_port",
        "connect_port",
        "gateway_ip",
        "netmask_ip",
        "mtu",
        "send_omit_free",
        "speed",
    }
)


@dataclass
class _Blocked:
    """A call that has not returned."""

    event: CallEvent
    attempt: Attempt
    since: int
    until: int


class Run:
    """One run of a script; times are in ns since it began."""

    def __init__(self, script: Script, directory: Path) -> None:
        self.script = script
        self.directory = directory
        self.settings = Settings()
        self.settings.read(script.setup, directory)
        self.tolerance_us = _TOLERANCE_US
        self.stamp_us = 0
        self._read_options()
        self.host = Host(self.settings)
        self.now = 0
        self.events = 0
        self._before: int | None = None
        self._anchored = False
        self._blocked: list[_Blocked] = []
        self._variables: dict[str, Any] = {}
        #: The host's time stamps by those of the script.
        self._stamps: dict[int, int] = {}
        self._stamp_shift: int | None = None

    def _read_options(self) -> None:
        for name, value in self.script.options.items():
            if name == "tolerance_usecs":
                self.tolerance_us = int(value)
            elif name == "tcp_ts_tick_usecs":
                self.stamp_us = int(value)
            elif name not in _IGNORED:
                raise NotModelled(f"the option --{name}")

    def go(self) -> None:
        """Run all events.

        Raises
        ------
        Differs
            If the host does something else than the script expects.
        NotModelled
            If the script needs what the model has not.
        """
        for event in self.script.events:
            if isinstance(event, PacketEvent) and not event.inbound:
                self._expect(event, self._time(event.when, anchored=False))
            else:
                at = self._time(event.when, anchored=True)
                self._advance(at)
                self._do(event, at)
            self.events += 1
        for blocked in self._blocked:
            self._differs(blocked.event, f"{blocked.event.name}() does not return")

    def _time(self, when: When, *, anchored: bool) -> int:
        """When an event is due; relative to the time of the event before where both are ours."""
        if when.kind == "absolute":
            at = when.start_us * _NS_PER_US
        else:
            both = anchored and self._anchored and self._before is not None
            base = self._before if both and self._before is not None else self.now
            at = base + when.start_us * _NS_PER_US
        self._before, self._anchored = at, anchored
        return at

    def _advance(self, until: int) -> None:
        """Let time pass, with what timers do meanwhile."""
        while (due := self.host.deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            self.host.expire(self.now)
            self._go_on()
        self.now = max(self.now, until)

    def _do(self, event: Event, at: int) -> None:
        match event:
            case PacketEvent(packet=packet):
                self.now += _INJECTION_NS
                self.host.take(self.now, self._live(packet))
                self._go_on()
            case CallEvent():
                self._call(event, at)
            case CommandEvent(text=text):
                self.settings.read(text, self.directory)
            case CodeEvent(text=text):
                try:
                    state = information(self.host, self.now)
                    assertions.check(text, state, self._variables)
                except Differs as found:
                    self._differs(event, str(found))

    # Calls.

    def _call(self, event: CallEvent, at: int) -> None:
        try:
            attempt = self.host.call(event)
            answer = attempt(self.now)
        except IndexError:
            raise NotModelled(f"{event.name}() with these arguments") from None
        except Differs as found:
            self._differs(event, str(found))
        if answer is not None:
            self._returned(event, answer)
            self._go_on()
            return
        if not event.when.blocks or event.when.end_us is None:
            self._differs(event, f"{event.name}() has to wait")
        relative = event.when.kind == "relative"
        until = event.when.end_us * _NS_PER_US
        until += at - event.when.start_us * _NS_PER_US if relative else 0
        self._blocked.append(_Blocked(event, attempt, at, until))

    def _go_on(self) -> None:
        """Something has changed: calls that wait may return."""
        for blocked in list(self._blocked):
            answer = blocked.attempt(self.now)
            if answer is None:
                continue
            self._blocked.remove(blocked)
            self._returned(blocked.event, answer)
            if not self._in_time(blocked.until, blocked.until, blocked.since):
                returned = f"{blocked.event.name}() returns at {_seconds(self.now)}"
                self._differs(blocked.event, f"{returned}, not at {_seconds(blocked.until)}")

    def _returned(self, event: CallEvent, answer: Answer) -> None:
        value, error = answer
        wanted = event.returns
        try:
            same = wanted == "..." or int(wanted, 0) == value
        except ValueError:
            raise NotModelled(f"the return value {wanted!r}") from None
        if not same or event.error != error:
            found, expected = f"{value} {error}".strip(), f"{wanted} {event.error}".strip()
            self._differs(event, f"{event.name}() returns {found}, not {expected}")

    # Packets.

    def _live(self, packet: Packet) -> Packet:
        """Put the time stamp that the host sent for the one that the script echoes."""
        stamp = packet.option("TS")
        if stamp is None or packet.ack is None:
            return packet
        value, echo = stamp.values
        live = Option("TS", (value, self._stamps.get(echo, echo + (self._stamp_shift or 0))))
        options = tuple(live if one.name == "TS" else one for one in packet.options or ())
        return replace(packet, options=options)

    def _expect(self, event: PacketEvent, at: int) -> None:
        """Look for the packet that the script expects next."""
        before = self.now
        when = event.when
        end = at
        if when.end_us is not None:
            end += (when.end_us - when.start_us) * _NS_PER_US
        patience = end + self._slack(at, before) + 1
        self._wait(event, patience if when.kind != "any" else None)
        left, packet = self.host.sent.popleft()
        self.now = max(self.now, left)
        while packet.length < event.packet.length:
            left, packet = self._join(event, packet, patience)
        self._compare(event, packet)
        self.now = max(self.now, left)
        if when.kind != "any" and not self._in_time(at, end, before, left):
            self._differs(event, f"{packet} leaves at {_seconds(left)}, not at {_seconds(at)}")

    def _wait(self, event: PacketEvent, patience: int | None) -> None:
        while not self.host.sent:
            due = self.host.deadline()
            if due is None or (patience is not None and due > patience):
                self._differs(event, f"nothing leaves where {event.packet} is expected")
            self.now = max(self.now, due)
            self.host.expire(self.now)
            self._go_on()

    def _join(self, event: PacketEvent, packet: Packet, patience: int) -> tuple[int, Packet]:
        """Take one more segment of what the script has as one packet."""
        self._wait(event, patience)
        left, more = self.host.sent.popleft()
        if more.seq != packet.seq + packet.length or not more.length:
            self._differs(event, f"{more} leaves where {event.packet} is expected to go on")
        self.now = max(self.now, left)
        return left, replace(more, seq=packet.seq, length=packet.length + more.length)

    def _compare(self, event: PacketEvent, packet: Packet) -> None:
        wanted = event.packet
        if wanted.window is not None:
            raise NotModelled("the window that a host offers")
        same = (packet.flags, packet.seq, packet.length, packet.ack) == (
            wanted.flags,
            wanted.seq,
            wanted.length,
            wanted.ack,
        )
        if not same:
            self._differs(event, f"{packet} leaves, not {wanted}")
        if wanted.ecn and wanted.ecn != (packet.ecn or "noecn"):
            self._differs(event, f"{packet} is {packet.ecn or 'noecn'}, not {wanted.ecn}")
        if wanted.options is not None:
            self._compare_options(event, packet)

    def _compare_options(self, event: PacketEvent, packet: Packet) -> None:
        ours, theirs = packet.options or (), event.packet.options or ()
        plain = [one for one in ours if one.name != "TS"]
        expected = [one for one in theirs if one.name != "TS"]
        our, their = packet.option("TS"), event.packet.option("TS")
        if plain != expected or (our is None) != (their is None):
            self._differs(event, f"{packet} leaves, not {event.packet}")
        if our is None or their is None:
            return
        self._stamps[their.values[0]] = our.values[0]
        if self._stamp_shift is None:
            self._stamp_shift = our.values[0] - their.values[0]
        if our.values[1] != their.values[1]:
            self._differs(event, f"{packet} echoes {our.values[1]}, not {their.values[1]}")
        apart = abs(our.values[0] - self._stamp_shift - their.values[0]) * self.stamp_us
        slack = max(self.tolerance_us, _TOLERANCE_PART * self.now / _NS_PER_US)
        if apart > slack:
            self._differs(event, f"{packet} has another time stamp than {event.packet}")

    def _slack(self, at: int, before: int) -> int:
        """By how much a time may differ, in ns."""
        part = int(_TOLERANCE_PART * max(0, at - before))
        return max(self.tolerance_us * _NS_PER_US, part)

    def _in_time(self, start: int, end: int, before: int, found: int | None = None) -> bool:
        slack = self._slack(start, before)
        at = self.now if found is None else found
        return start - slack <= at <= end + slack

    def _differs(self, event: Event, problem: str) -> NoReturn:
        raise Differs(f"line {event.line}: {problem}")


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.6f} s"


def run(script: Script, directory: Path, progress: Callable[[float], None] | None = None) -> int:
    """Run a script whose shell lines are relative to a directory; answers how many events it has.

    Raises
    ------
    Differs, NotModelled
        As :meth:`Run.go` says.
    """
    one = Run(script, directory)
    one.go()
    if progress is not None:
        progress(1.0)
    return one.events
