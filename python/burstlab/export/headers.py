"""IPv4, TCP and UDP headers with their checksums; a payload is all zeros where none is given.

A checksum is a sum of 16-bit words modulo 2^16 - 1 (RFC 1071), and 2^16 is 1 modulo that: longer
numbers are added as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

MODULUS = 0xFFFF
_TCP = struct.Struct(">BBHHHBBHIIHHIIHHHH")
_UDP = struct.Struct(">BBHHHBBHIIHHHH")
_VERSION_AND_LENGTH = 0x4500
_DO_NOT_FRAGMENT = 0x4000
_TTL = 64
_IS_TCP, _IS_UDP = 6, 17

#: Bytes of an IPv4 header, of a TCP header without options and of a UDP header.
IPV4, TCP, UDP = 20, 20, 8


def tcp(
    ends: tuple[int, int],
    ports: tuple[int, int],
    numbers: tuple[int, int],
    flags: int,
    window: int,
    options: bytes = b"",
    payload: int = 0,
    identification: int = 0,
) -> tuple[bytes, int]:
    """Return the headers of a segment, and the length of the packet.

    Parameters
    ----------
    ends, ports
        Addresses and ports, of the source and of the destination.
    numbers
        Sequence number and acknowledgement number.
    flags, window, options
        As they stand in the header; the length of the options is a multiple of 4.
    payload
        Bytes of data, all of them zero.
    identification
        Of the IPv4 header.
    """
    sequence, acknowledged = numbers
    segment = TCP + len(options) + payload
    total = IPV4 + segment
    bits = (TCP + len(options)) // 4 << 12 | flags
    words = sum(ends) + _IS_TCP + segment + sum(ports) + sequence + acknowledged + bits + window
    check = -(words + int.from_bytes(options, "big")) % MODULUS
    head = _TCP.pack(
        0x45,
        0,
        total,
        identification,
        _DO_NOT_FRAGMENT,
        _TTL,
        _IS_TCP,
        _ipv4_check(total, identification, _IS_TCP, ends),
        *ends,
        *ports,
        sequence,
        acknowledged,
        bits,
        window,
        check,
        0,
    )
    return head + options, total


def udp(
    ends: tuple[int, int],
    ports: tuple[int, int],
    payload: int,
    identification: int = 0,
    says: bytes = b"",
) -> tuple[bytes, int]:
    """Return the headers of a datagram that `says` this, or zeros, and the length of the packet."""
    datagram = UDP + payload
    total = IPV4 + datagram
    words = sum(ends) + _IS_UDP + datagram + sum(ports) + datagram
    words += int.from_bytes(says + bytes(len(says) % 2), "big")
    # No checksum is written as 0 (RFC 768).
    check = -words % MODULUS or MODULUS
    head = _UDP.pack(
        0x45,
        0,
        total,
        identification,
        _DO_NOT_FRAGMENT,
        _TTL,
        _IS_UDP,
        _ipv4_check(total, identification, _IS_UDP, ends),
        *ends,
        *ports,
        datagram,
        check,
    )
    return head, total


def _ipv4_check(total: int, identification: int, protocol: int, ends: tuple[int, int]) -> int:
    words = _VERSION_AND_LENGTH + total + identification + _DO_NOT_FRAGMENT
    return -(words + (_TTL << 8 | protocol) + sum(ends)) % MODULUS


def syn_options(mss: int, *, sack: bool, shift: int | None) -> bytes:
    """Return the options of a SYN: maximum segment size, SACK permitted, window scale."""
    options = struct.pack(">BBH", 2, 4, mss)
    if sack:
        options += bytes([1, 1, 4, 2])
    if shift is not None:
        options += bytes([1, 3, 3, shift])
    return options


def sack_option(blocks: Sequence[tuple[int, int]]) -> bytes:
    """Return the option that carries the SACK blocks (RFC 2018); nothing for none."""
    if not blocks:
        return b""
    edges = [edge for block in blocks for edge in block]
    return struct.pack(f">BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
