"""The state of the connections of live hosts, after each ACK and as data leave: a table."""

from __future__ import annotations

import struct
from typing import TextIO

from burstlab.live.network import Host
from burstlab.live.tcp_info import Info

#: Columns of the table, before those of `Info`.
HEAD = ("t_ns", "host", "port", "other", "other_port", "event", "seq", "bytes", "flags")

_TCP = 6
_FIN, _SYN, _ACK = 1, 2, 16
_WRAP = 1 << 32

Packet = tuple[int, int, int, int, int, int]

#: A connection: the number of the host, the address of the other, its port and that of the other.
Ends = tuple[int, bytes, int, int]


class Samples:
    """Samples connections, and writes a row for each sample.

    Parameters
    ----------
    file
        Takes the rows, as CSV.
    """

    def __init__(self, file: TextIO) -> None:
        self.file = file
        #: First sequence number by host and ports, and whether data were sent.
        self._first: dict[Ends, int] = {}
        self._sends: set[Ends] = set()
        file.write(",".join((*HEAD, *Info._fields)) + "\n")

    def sent(
        self,
        now_ps: int,
        host: Host,
        other: Host,
        packet: bytes,
        looked: dict[Ends, Info | None],
    ) -> Info | None:
        """Sample a connection when a packet with data leaves.

        Packets that leave together left the kernel before. ``looked`` keeps the state of their
        connections, so that all get the same.
        """
        found = parsed(packet)
        if found is None:
            return None
        own_port, other_port, seq, _, flags, size = found
        key = (host.number, other.packed, own_port, other_port)
        if flags & _SYN:
            self._first[key] = seq
        if size == 0 and not flags & (_SYN | _FIN):
            return None
        if size > 0:
            self._sends.add(key)
        if key not in looked:
            looked[key] = host.diagnosis.look((host.packed, own_port), (other.packed, other_port))
        info = looked[key]
        if info is not None:
            self._write(now_ps, key, (host, other), ("sent", seq, size, flags), info)
        return info

    def heard(self, now_ps: int, host: Host, other: Host, packet: bytes) -> Info | None:
        """Sample a connection that sends data, after an ACK."""
        found = parsed(packet)
        if found is None:
            return None
        other_port, own_port, _, ack, flags, _ = found
        key = (host.number, other.packed, own_port, other_port)
        if not flags & _ACK or not (key in self._sends or flags & _SYN):
            return None
        info = host.diagnosis.look((host.packed, own_port), (other.packed, other_port))
        # Of the last ACK of a connection that is over, the kernel has nothing more to tell.
        self._write(now_ps, key, (host, other), ("ack", ack, 0, flags), info)
        return info

    def _write(
        self,
        now_ps: int,
        key: Ends,
        ends: tuple[Host, Host],
        what: tuple[str, int, int, int],
        info: Info | None,
    ) -> None:
        event, seq, size, flags = what
        seq = (seq - self._first.get(key, seq)) % _WRAP
        head = (ends[0].address, key[2], ends[1].address, key[3], event, seq, size, flags)
        values = info if info is not None else ("",) * len(Info._fields)
        self.file.write(",".join(map(str, (now_ps // 1000, *head, *values))) + "\n")


def carries(packet: bytes) -> bool:
    """Whether a packet has data for an application: all but segments of TCP without any."""
    found = parsed(packet)
    return found is None or found[5] > 0


def parsed(packet: bytes) -> Packet | None:
    """Return ports, sequence and acknowledgment number, flags and bytes of data of TCP.

    None of another packet, or of a part of one.
    """
    head = (packet[0] & 15) * 4
    if packet[9] != _TCP or len(packet) < head + 20 or packet[6] & 31 or packet[7]:
        return None
    own, other, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", packet, head)
    return own, other, seq, ack, flags, len(packet) - head - (offset >> 4) * 4
