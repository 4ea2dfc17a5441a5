"""Between the engine and the kernel: packets and time, as the engine's live hosts ask for them."""

from __future__ import annotations

import errno
import os
import select
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from burstlab.live.given_up import GivenUp, Key
from burstlab.live.network import Host
from burstlab.live.programs import Program
from burstlab.live.samples import Ends, Samples, carries
from burstlab.live.system import Alarm
from burstlab.live.tcp_info import Info

#: An event so soon after the engine's last event counts as simultaneous: code takes no time in
#: virtual time, but each reading of the kernel's clock moves it by 256 ns.
AT_ONCE_PS = 60_000_000

#: How often it is looked whether connections whose programs have ended have brought all over.
_SETTLED_PS = 10_000_000_000

#: Calls of `wait` between two reports of progress.
_LOOK = 256

_PACKET_MAX = 65_536

#: By the clock of the machine, so many packets of a host are taken at once: one that sends faster
#: than they are taken would let nothing else happen.
_AT_MOST = 64

#: By that clock, how long nothing may happen before it is looked how far the run is, in ms.
_QUIET_MS = 200

#: A packet that was found: its pair, whether the second host sent it, and how it stands there.
Found = tuple[int, bool, bytes, "tuple[int, ...] | None"]

#: What is answered: when it is, packets, whether the run ends, and connections that are given up.
Answer = tuple[int, list[Found], bool, list[Key]]


class Devices:
    """The devices of live hosts and the clock by which they run.

    Parameters
    ----------
    hosts
        The live hosts, in the order of the scenario.
    programs
        Their programs.
    pairs
        Of each flow between two of them, the numbers of both.
    samples
        Takes how connections stand.
    progress
        Called with the time of the run, in ps, now and then.
    leave
        Called in each new process before its program.
        Whether the clock is that of the machine. Then nothing is simultaneous, and ``lateness_ps``
        records how late the run is.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        programs: Sequence[Program],
        pairs: Sequence[tuple[int, int]],
        samples: Samples,
        *,
        progress: Callable[[int], None],
        leave: Callable[[], None],
        real: bool = False,
    ) -> None:
        self._hosts, self._samples = hosts, samples
        self._directions: dict[tuple[bytes, bytes], tuple[int, bool]] = {}
        for number, (near, far) in enumerate(pairs):
            self._directions[hosts[near].packed, hosts[far].packed] = (number, False)
            self._directions[hosts[far].packed, hosts[near].packed] = (number, True)
        self._ends = [(hosts[near], hosts[far]) for near, far in pairs]
        self._given_up = GivenUp(self._ends)
        self._waiting = sorted(programs, key=lambda one: one.start_ps)
        self._programs = programs
        self._needed = [one for one in programs if not one.server]
        self._progress, self._leave, self._real = progress, leave, real
        self._alarm = Alarm()
        self._poll = select.poll()
        self._poll.register(self._alarm.fd, select.POLLIN)
        self._devices = {host.device: host for host in hosts}
        for device in self._devices:
            self._poll.register(device, select.POLLIN)
        self._last, self._calls = 0, 0
        self._most = _AT_MOST if real else sys.maxsize
        #: Whether the last call of `wait` found packets.
        self._found = False
        #: Devices to which a packet was handed since it was looked what that has made them send.
        self._handed: set[int] = set()
        self._look_at: int | None = None
        self.begun_ns = 0
        self.end_asked = False
        self.unroutable = 0
        #: Of each flow, when its first packet was sent, and its last data came to the second host.
        self.carried_ps: list[list[int | None]] = [[None, None] for _ in pairs]
        self.late_ps: list[int] = []

    def begin(self) -> None:
        """Let time 0 of the run be now."""
        self.begun_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def wait(self, now_ps: int, until_ps: int) -> Answer | None:
        """Wait until a time, or until a packet is sent before.

        Answers nothing at that time; else when it was, the packets, whether the run ends, and
        connections that their kernel has given up.
        """
        self._calls += 1
        if self._calls % _LOOK == 0:
            self._progress(now_ps)
        if self._is_behind(until_ps):
            self._note_lateness(until_ps)
            return None
        found = self._awaited(now_ps, until_ps)
        self._found = found is not None and bool(found[1])
        return found

    def _is_behind(self, until_ps: int) -> bool:
        """Whether events are late whose turn it is, as packets were taken last.

        So a host that sends without end cannot hold up the run, whose links would be ever later.
        """
        if not (self._real and self._found and self._next(until_ps) == until_ps):
            return False
        behind = self._clock_ps() >= until_ps
        if behind:
            self._found = False
            self._last = max(self._last, until_ps)
        return behind

    def _awaited(self, now_ps: int, until_ps: int) -> Answer | None:
        if self._handed:
            handed, self._handed = self._handed, set()
            found = self._drain(now_ps, handed)
            if found:
                return now_ps, found, False, []
        if until_ps <= self._last and not self._real:
            return None
        while not self.end_asked:
            target = self._next(until_ps)
            self._alarm.set(self.begun_ns + (target + 999) // 1000)
            try:
                ready = {fd for fd, _ in self._poll.poll(_QUIET_MS if self._real else None)}
            except InterruptedError:
                continue
            if not ready:
                self._progress(min(self._clock_ps(), until_ps))
                continue
            if ready != {self._alarm.fd}:
                at = self._now(target)
                gone = ready - self._devices.keys() - {self._alarm.fd}
                if self._real:
                    # A host that sends without end leaves no moment without packets for these.
                    self._ended(gone, at)
                    self._starts(at)
                    given_up = self._given_up.look(at)
                    if given_up:
                        return at, [], False, given_up
                    if self._is_settled(at):
                        return at, [], True, []
                found = self._drain(at, ready)
                if found:
                    return at, found, False, []
                self._ended(gone, at)
                if gone:
                    continue
            if self._alarm.fd in ready:
                self._last = max(self._last, target)
                if self._starts(target):
                    continue
                given_up = self._given_up.look(target)
                if given_up:
                    return target, [], False, given_up
                if self._is_settled(target):
                    return target, [], True, []
                if target == until_ps:
                    self._note_lateness(until_ps)
                    return None
        return max(now_ps, self._last), [], True, []

    def deliver(self, now_ps: int, pair: int, far: bool, packet: bytes) -> tuple[int, ...] | None:
        """Hand a packet to a host; return how its connection stands thereafter."""
        self._last = max(self._last, now_ps)
        host, sender = self._ends[pair][::-1] if far else self._ends[pair]
        self._handed.add(host.device)
        if far and carries(packet):
            self.carried_ps[pair][1] = now_ps
        try:
            os.write(host.device, packet)
        except OSError as error:
            # One that is cut, or of a kind that the kernel does not take: as on a real wire.
            if error.errno not in (errno.EINVAL, errno.EIO):
                raise
        info = self._samples.heard(now_ps, host, sender, packet)
        self._given_up.heard(pair, packet, info, far=far)
        return None if info is None else info.sample

    def stop(self, now_ps: int) -> None:
        """End all programs that still run."""
        for program in self._programs:
            program.stop(now_ps)

    def _now(self, target: int) -> int:
        """Return the time of the run; a packet that counts as simultaneous gets the event's."""
        at = self._clock_ps()
        if not self._real and at - self._last < AT_ONCE_PS:
            return self._last
        return max(self._last, min(at, target))

    def _next(self, until_ps: int) -> int:
        """Return the earliest time: the one that is waited for, or one of programs."""
        target = until_ps
        if self._waiting:
            target = min(target, max(self._waiting[0].start_ps, self._last))
        if self._look_at is not None:
            target = min(target, self._look_at)
        doubt = self._given_up.next_ps
        if doubt is not None:
            target = min(target, max(doubt, self._last))
        return target

    def _starts(self, at: int) -> bool:
        """Start the programs whose time has come, one: those started before run first."""
        if not self._waiting or self._waiting[0].start_ps > at:
            return False
        program = self._waiting.pop(0)
        program.start(at, self._leave)
        if program.pidfd >= 0:
            self._poll.register(program.pidfd, select.POLLIN)
        self._watch_the_end(at)
        return True

    def _ended(self, gone: set[int], at: int) -> None:
        for program in self._programs:
            if program.pidfd in gone:
                self._poll.unregister(program.pidfd)
                program.reap(at)
        if gone:
            self._given_up.look_soon(at)
            self._watch_the_end(at)

    def _watch_the_end(self, at: int) -> None:
        if self._needed and all(one.is_over for one in self._needed) and self._look_at is None:
            self._look_at = at + _SETTLED_PS

    def _is_settled(self, at: int) -> bool:
        """Whether all programs that are waited for have ended, and their connections too."""
        if self._look_at is None or at < self._look_at:
            return False
        self._look_at = at + _SETTLED_PS
        return not any(host.diagnosis.has_open_ends() for host in self._hosts)

    def _note_lateness(self, until_ps: int) -> None:
        if self._real:
            self.late_ps.append(self._clock_ps() - until_ps)

    def _clock_ps(self) -> int:
        """Return the time of the run by the clock of the kernel."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - self.begun_ns) * 1000

    def _drain(self, at: int, among: set[int]) -> list[Found]:
        """Take all packets out of those devices that are ``among`` some files."""
        found: list[Found] = []
        for device, host in self._devices.items():
            looked: dict[Ends, Info | None] = {}
            for _ in range(self._most if device in among else 0):
                try:
                    packet = os.read(device, _PACKET_MAX)
                except BlockingIOError:
                    break
                direction = self._directions.get((packet[12:16], packet[16:20]))
                if direction is None or packet[0] >> 4 != 4:
                    self.unroutable += 1
                    continue
                ends = self._ends[direction[0]]
                carried = self.carried_ps[direction[0]]
                carried[0] = at if carried[0] is None else carried[0]
                info = self._samples.sent(at, host, ends[not direction[1]], packet, looked)
                self._given_up.sent(at, direction, packet, info)
                found.append((*direction, packet, None if info is None else info.sample))
        if found:
            self._last = max(self._last, at)
        return found


def pairs_of(resolved: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the hosts of each flow between two, from a resolved scenario."""
    places = {host["address"]: number for number, host in enumerate(resolved["live"])}
    found: list[tuple[int, int]] = []
    for flow in resolved["flows"]:
        if flow.get("stack") == "live":
            near, far = (places[name] for name in str(flow["label"]).split(" - "))
            found.append((near, far))
    return found
