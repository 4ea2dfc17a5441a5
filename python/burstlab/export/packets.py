"""Capture files for Wireshark, tshark and tcptrace.

The capture has what the simulation has: when each packet passes, segments, ACKs, SACK blocks, and
the receiver's window. A receiver that decides on its window advertises it in each ACK
(`packets.window_bytes`). The other fields of IPv4 and TCP are made up, alike in every capture. They
are the addresses, the ports, initial sequence numbers of 0, and the options of SYN and SYN-ACK
(MSS, SACK permitted, and the window scale that the receiver's window needs). A host that receives
no data has a made-up window too. Payloads are zeros, which the capture leaves out. Longer headers,
as with time stamps, are filled with no-operations: no table has the stamps. The simulated TCP does
not close connections.

The packets of third-party hosts are those that the hosts sent, byte for byte, from the table
``datagrams``. Packets of live hosts are whole, those of smoltcp have the addresses of the capture,
and those of QUIC have made-up headers of IPv4 and UDP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.errors import InputError
from burstlab.export import headers
from burstlab.export.capture import ACK, DATA, UDP, Sight, check, sights
from burstlab.export.datagrams import Datagrams, between, in_ipv4, key_log, refuse
from burstlab.export.flows import FlowFacts, Flows
from burstlab.export.pcapng import Writer
from burstlab.tables import NULL

if TYPE_CHECKING:
    from burstlab.results import Result

#: Bytes that are kept of a packet: all headers.
SNAP = 96

#: Those of a capture with packets of third-party hosts: all.
WHOLE = 65535

_SENDERS, _RECEIVERS = 10 << 24, 10 << 24 | 1 << 23
_SOURCES, _SINKS = 172 << 24 | 16 << 16, 172 << 24 | 24 << 16
_PORTS = (40000, 61000)
#: The largest window that a header has.
_FIELD = 65535
_WRAP = 0xFFFFFFFF

#: Most bytes of options of a TCP header (RFC 9293 section 3.1).
_OPTIONS = 40


@dataclass
class _Endpoint:
    """A flow as its packets are written."""

    facts: FlowFacts
    ends: tuple[int, int]
    shift: int
    ports: tuple[int, int]
    #: The last segment, once it was seen to be short, and by how many bytes; not of groups.
    short: tuple[int, int]
    #: The flow of the other direction, if that has data too, and whether this one goes back.
    other: int | None
    back: bool
    #: The window in bytes that was advertised last, as the packets pass.
    advertised: int

    def end(self, segment: int) -> int:
        """Return the sequence number behind a segment."""
        if segment < 1:
            return segment + 1
        short = self.short[1] if segment == self.short[0] else 0
        return 1 + self.facts.bytes_before(segment + 1) - short

    def window(self, sight: Sight, *, scaled: bool = True) -> int:
        """Return the window that an ACK advertises, as its header has it."""
        self.advertised = self.facts.window_after(sight, self.advertised)
        return self.field(self.advertised) if scaled else min(self.advertised, _FIELD)

    def field(self, window: int) -> int:
        """Return bytes as a header has them: never fewer."""
        return min(-(-window >> self.shift), _FIELD)

    @property
    def own_window(self) -> int:
        """The window in bytes that the host of the sender advertises, which receives no data."""
        return self.facts.first_window or _FIELD


class Capture:
    """Writes what passes a place.

    Parameters
    ----------
    result, place, flow, replication
        As of `sights`.
    snap
        Bytes that are kept of a packet; all of one of third-party hosts.
    """

    def __init__(
        self,
        result: Result,
        place: str,
        *,
        flow: int | None = None,
        replication: int = 0,
        snap: int = SNAP,
    ) -> None:
        check(place)
        self._result = result
        self._place = place
        self._flows = Flows(result, replication)
        if flow is not None:
            _ = self._flows[flow]
        self._only = flow
        self._replication = replication
        self._snap = snap
        wanted = self._flows.third_party()
        self._third_party = wanted if flow is None else wanted & {flow}
        refuse(result, self._third_party)
        self._datagrams = Datagrams(result, replication) if self._third_party else None
        self._endpoints: dict[int, _Endpoint] = {}
        self._lost = _lost_bursts(result, replication, by_direction=not self._flows.is_mesh)

    def write(self, path: Path) -> int:
        """Write the file; return how many packets it has."""
        count = 0
        # A buffer of its own keeps the number of system calls down.
        with path.open("wb", buffering=1 << 20) as file:
            self._writer = Writer(file, WHOLE if self._third_party else self._snap)
            self._writer.section(f"burstlab {self._result.version}", self._about())
            self._interface()
            secrets = key_log(self._result, self._replication, self._third_party)
            if secrets:
                self._writer.secrets(secrets)
            flows = self._flows
            flows.check_windows(flows.numbers() if self._only is None else (self._only,))
            only = None if self._only is None else self._flows.connection(self._only)
            passing = sights(
                self._result,
                self._place,
                flow=only,
                pairs=self._flows.pairs(),
                replication=self._replication,
            )
            for sight in passing:
                self._packet(sight)
                count += 1
        return count

    def _about(self) -> str:
        result = self._result
        return (
            f"Simulated; seed {result.seed}, replication {self._replication}, "
            f"fingerprint {result.fingerprint}; seen at the {self._place}. Time 0 is the start of "
            "the run. Made up: addresses, ports, initial sequence numbers (0), options of SYN and "
            "SYN-ACK, windows of hosts that receive no data, payloads (zeros), no-operations for "
            "time stamps. IPv4 identification: row in the table packets mod 65536."
            + (_OF_THIRD_PARTIES if self._third_party else "")
        )

    def _packet(self, sight: Sight) -> None:
        row = sight.row & 0xFFFF
        if sight.kind != UDP and sight.flow in self._third_party:
            packet = self._says(sight)
            self._writer.packet(0, sight.time_ps // 1000, packet, len(packet), self._comment(sight))
            return
        if sight.kind == UDP:
            ends = (_SOURCES + sight.flow, _SINKS + sight.flow)
            payload = max(sight.size - headers.IPV4 - headers.UDP, 0)
            packet, length = headers.udp(ends, _PORTS, payload, row)
        else:
            flow = self._endpoint(sight.flow)
            other = None if flow.other is None else self._endpoint(flow.other)
            payload = 0
            if sight.kind == DATA:
                payload = self._data_of(flow, sight)
                packet, length = _data(flow, other, sight, payload, row)
            else:
                packet, length = _ack(flow, other, sight, row)
        if len(packet) < self._snap and payload:
            packet += bytes(min(payload, self._snap - len(packet)))
        comment = self._comment(sight)
        self._writer.packet(0, sight.time_ps // 1000, packet, length, comment)

    def _says(self, sight: Sight) -> bytes:
        """Return a packet of third-party hosts."""
        assert self._datagrams is not None, "they were found where there is such a flow"
        says = self._datagrams.of(sight.row, sight.size)
        if says is None:
            raise InputError(
                f"flow {sight.flow}: its hosts report the lengths of packets, but not the data in "
                "them\n  fix: name another flow (--flow), or export qlog, xplot or csv"
            )
        flow, back = self._endpoint(sight.flow), sight.kind == ACK
        if len(says) < sight.size:
            return in_ipv4(says, flow.ends, back=back, row=sight.row & 0xFFFF)
        return says if flow.facts.live else between(says, flow.ends, back=back)

    def _comment(self, sight: Sight) -> str:
        """Name the burst in which a packet crosses, and the fate of the packet."""
        parts = [] if sight.burst == NULL else [f"burst {sight.burst}"]
        if sight.transmission > 1:
            parts.append(f"transmission {sight.transmission}")
        if sight.fate != "delivered":
            back = sight.kind == ACK and not self._flows.is_mesh
            cause = self._lost.get((back, sight.burst), sight.cause)
            parts.append(sight.fate if cause == "none" else f"{sight.fate}: {cause}")
        return ", ".join(parts)

    @staticmethod
    def _data_of(flow: _Endpoint, sight: Sight) -> int:
        """Return the bytes of data in a segment; a short one is the last."""
        payload = flow.facts.data_in(sight)
        if sight.seq and payload < flow.facts.payload and not flow.facts.groups:
            flow.short = (sight.seq, flow.facts.payload - payload)
        return payload

    def _endpoint(self, number: int) -> _Endpoint:
        known = self._endpoints.get(number)
        if known is not None:
            return known
        facts = self._flows[number]
        first, *behind = self._flows.connection(number)
        back = number != first
        ends, ports = (_SENDERS + first, _RECEIVERS + first), _PORTS
        if back:
            ends, ports = (ends[1], ends[0]), (ports[1], ports[0])
        else:
            names = (f"sender-{number}.{facts.ingress}", f"receiver-{number}.{facts.egress}")
            # Live hosts have addresses of their own.
            for address, name in zip(ends, names, strict=True) if not facts.live else ():
                self._writer.name(address, name)
        shift = facts.scale or 0
        while facts.scale is None and facts.window_bytes > _FIELD << shift:
            shift += 1
        other = None if not behind else first if back else behind[0]
        window = facts.window_bytes
        endpoint = _Endpoint(facts, ends, shift, ports, facts.last, other, back, window)
        self._endpoints[number] = endpoint
        return endpoint

    def _interface(self) -> None:
        """Describe the place; one, as libpcap reads a second one without a link layer wrongly."""
        flows = self._flows
        rates = {"sender": flows.sender_bps, "receiver": flows.receiver_bps}
        what = "access links of hosts" if self._place in rates else "fibres of edge nodes"
        name = self._place if self._only is None else f"{self._place} of flow {self._only}"
        self._writer.interface(name, what, rates.get(self._place, flows.link_bps))


_OF_THIRD_PARTIES = (
    " Of third-party hosts packets are as they were sent, but for the addresses of smoltcp, and "
    "headers of IPv4 and UDP before datagrams of QUIC."
)


def _data(
    flow: _Endpoint, other: _Endpoint | None, sight: Sight, payload: int, row: int
) -> tuple[bytes, int]:
    facts = flow.facts
    if sight.opens:
        return _syn(flow, sight, other if flow.back else None, row)
    number = 1 + facts.bytes_before(sight.seq) & _WRAP
    if other is None or sight.carries == NULL:
        window = flow.field(flow.own_window)
        options = _filled(b"", sight, payload)
        return headers.tcp(
            flow.ends, flow.ports, (number, 1), headers.ACK, window, options, payload, row
        )
    numbers = (number, other.end(sight.carries) & _WRAP)
    options = _filled(_blocks(other, sight), sight, payload)
    return headers.tcp(
        flow.ends, flow.ports, numbers, headers.ACK, other.window(sight), options, payload, row
    )


def _syn(flow: _Endpoint, sight: Sight, answers: _Endpoint | None, row: int) -> tuple[bytes, int]:
    """Return the SYN of a sender, or the SYN with which a host answers it."""
    facts = flow.facts
    shift = flow.shift or None
    options = _filled(
        headers.syn_options(facts.payload, sack=facts.sack, shift=shift), sight, payload=0
    )
    # It is not scaled (RFC 7323 section 2.2).
    window = min(flow.own_window, _FIELD)
    if answers is not None:
        window = answers.window(sight, scaled=False)
    flags = headers.SYN | headers.ACK if answers else headers.SYN
    numbers = (0, 1 if answers else 0)
    return headers.tcp(flow.ends, flow.ports, numbers, flags, window, options, 0, row)


def _ack(flow: _Endpoint, other: _Endpoint | None, sight: Sight, row: int) -> tuple[bytes, int]:
    ends, ports = (flow.ends[1], flow.ends[0]), (flow.ports[1], flow.ports[0])
    if sight.opens:
        return _syn(replace(flow, ends=ends, ports=ports), sight, flow, row)
    # The data that its own host has sent.
    sequence = 1 if other is None else other.end(sight.sent)
    numbers = (sequence & _WRAP, flow.end(sight.seq) & _WRAP)
    options = _filled(_blocks(flow, sight), sight, payload=0)
    return headers.tcp(ends, ports, numbers, headers.ACK, flow.window(sight), options, 0, row)


def _filled(options: bytes, sight: Sight, payload: int) -> bytes:
    """Return options with no-operations before them, so that the packet is as long as simulated.

    They stand for time stamps, of which the tables do not say what is in them.
    """
    missing = sight.size - headers.IPV4 - headers.TCP - len(options) - payload
    fits = 0 < missing <= _OPTIONS - len(options) and missing % 4 == 0
    return b"\x01" * missing + options if fits else options


def _blocks(flow: _Endpoint, sight: Sight) -> bytes:
    """Return the option with the SACK blocks of an ACK for a flow."""
    edges = ((flow.end(left - 1), flow.end(right - 1)) for left, right in sight.sack)
    return headers.sack_option([(left & _WRAP, right & _WRAP) for left, right in edges])


def _lost_bursts(
    result: Result, replication: int, *, by_direction: bool
) -> dict[tuple[bool, int], str]:
    """Return why bursts were lost, by direction and number, where the run says."""
    if "bursts" not in result.recorded:
        return {}
    lost: dict[tuple[bool, int], str] = {}
    names = ("replication", "direction", "burst", "rival", "fate", "cause", "node")
    for batch in result.bursts.batches(names):
        for row in batch.where(fate="lost").to_pylist():
            if row["replication"] == replication:
                rival = f" with burst {row['rival']}" if row["rival"] is not None else ""
                back = by_direction and row["direction"] == "ack"
                lost[back, row["burst"]] = f"{row['cause']}{rival} at node {row['node']}"
    return lost


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write a capture."""
    Capture(result, at or "sender", flow=flow, replication=replication).write(path)
    return [path]
