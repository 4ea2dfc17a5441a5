"""The bytes of packets of third-party hosts, from the tables that a run recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from burstlab.errors import InputError
from burstlab.export import headers

if TYPE_CHECKING:
    from burstlab.results import Result

#: Bytes that a row of the table has.
_WORD = 8

#: Ports of a datagram whose host says nothing of UDP; to the second one Wireshark expects QUIC.
PORTS = (40000, 443)

_UDP_HEADERS = headers.IPV4 + headers.UDP
_IS_IPV4 = 4


def refuse(result: Result, flows: Collection[int]) -> None:
    """Refuse a capture of third-party hosts whose datagrams were not recorded."""
    if flows and "datagrams" not in result.recorded:
        number, *more = sorted(flows)
        others = f" and {len(more)} more" if more else ""
        raise InputError(
            f"flow {number}{others}: its hosts are third-party, and their datagrams were not "
            'recorded\n  fix: run it again with --trace datagrams (trace=("datagrams",)), name '
            "another flow (--flow), or export qlog, xplot or csv"
        )


class Datagrams:
    """The packets of third-party hosts of one replication, by their row in ``packets``.

    Those that were read and not asked for are held.

    Parameters
    ----------
    result, replication
        A run that traced ``datagrams``.
    """

    def __init__(self, result: Result, replication: int) -> None:
        self._parts = _packets(result, replication)
        self._found: dict[int, bytes] = {}

    def of(self, row: int, size: int) -> bytes | None:
        """Return what the packet of a row says: an IPv4 packet, or what UDP carries; once.

        None where its host says how long it is, and nothing else.
        """
        while row not in self._found:
            number, words = next(self._parts, (-1, b""))
            if number < 0:
                return None
            self._found[number] = words
        words = self._found.pop(row)
        if len(words) >= size and words[0] >> 4 == _IS_IPV4:
            return words[:size]
        payload = size - _UDP_HEADERS
        return words[:payload] if 0 <= len(words) - payload < _WORD else None


def _packets(result: Result, replication: int) -> Iterator[tuple[int, bytes]]:
    """Return the rows of packets, rising, each with its bytes, filled up to whole words."""
    import numpy as np

    packets, words = np.empty(0, np.int64), np.empty(0, np.int64)
    for batch in result.table("datagrams").batches(["replication", "packet", "bytes"]):
        part = batch.where(replication=replication)
        packets = np.concatenate([packets, part.column("packet").filled(0).astype(np.int64)])
        words = np.concatenate([words, part["bytes"].astype(np.int64)])
        ends = np.flatnonzero(packets[1:] != packets[:-1]) + 1
        begin, text = 0, words.astype(">i8").tobytes()
        for end in ends.tolist():
            yield int(packets[begin]), text[begin * _WORD : end * _WORD]
            begin = end
        # The last one may go on in the next part.
        packets, words = packets[begin:], words[begin:]
    if len(packets):
        yield int(packets[0]), words.astype(">i8").tobytes()


def key_log(result: Result, replication: int, flows: Collection[int]) -> bytes:
    """Return the key log of flows, as NSS writes it; empty where nothing is encrypted."""
    import numpy as np

    if "datagrams_keys" not in result.recorded:
        return b""
    table = result.table("datagrams_keys").where(replication=replication)
    rows = table.take(np.flatnonzero(np.isin(table["flow"], list(flows))))
    lines = rows["bytes"].astype(">i8").tobytes().split(b"\n")
    return b"".join(line + b"\n" for line in lines if line)


def in_ipv4(says: bytes, ends: tuple[int, int], *, back: bool, row: int) -> bytes:
    """Return a datagram with headers of IPv4 and UDP before it."""
    (source, target), (own, other) = ends, PORTS
    ends, ports = ((target, source), (other, own)) if back else (ends, PORTS)
    head, _ = headers.udp(ends, ports, len(says), row, says)
    return head + says


def between(packet: bytes, ends: tuple[int, int], *, back: bool) -> bytes:
    """Return an IPv4 packet between other addresses, with checksums that are as right as before."""
    source, target = ends[::-1] if back else ends
    addresses = source.to_bytes(4, "big") + target.to_bytes(4, "big")
    change = int.from_bytes(packet[12:20], "big") - int.from_bytes(addresses, "big")
    done = bytearray(packet)
    done[12:20] = addresses
    transport = (packet[0] & 0xF) * 4
    sums = {6: transport + 16, 17: transport + 6}
    for place in (10, sums.get(packet[9])):
        if place is None or place + 2 > len(packet):
            continue
        before = int.from_bytes(packet[place : place + 2], "big")
        # A datagram without a checksum has 0 (RFC 768).
        if before or place == 10:
            now = (before + change) % headers.MODULUS or headers.MODULUS
            done[place : place + 2] = now.to_bytes(2, "big")
    return bytes(done)
