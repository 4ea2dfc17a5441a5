"""The file format of Wireshark: blocks of a section, written one after the other.

As in the IETF draft "PCAP Next Generation (pcapng) Capture File Format". Little-endian; times are
nanoseconds; the packets are IPv4 without a link layer (`LINKTYPE_RAW`).
"""

from __future__ import annotations

import struct
from typing import BinaryIO

_SECTION, _INTERFACE, _NAMES, _PACKET, _SECRETS = 0x0A0D0D0A, 1, 4, 6, 10
_TLS_KEY_LOG = 0x544C534B
_LINKTYPE_RAW = 101

#: Codes of options, by the block they belong to.
_COMMENT = 1
_USER_APPLICATION = 4
_IF_NAME, _IF_DESCRIPTION, _IF_SPEED, _IF_TSRESOL = 2, 3, 8, 9

_NRB_IPV4 = 1

_PACKET_HEAD = struct.Struct("<IIIIIII")


class Writer:
    """A capture file.

    Parameters
    ----------
    file
        Where it goes; it is only appended to.
    snap
        Most bytes that are kept of a packet.
    """

    def __init__(self, file: BinaryIO, snap: int) -> None:
        self._file = file
        self._snap = snap
        self._interfaces = 0

    def section(self, application: str, comment: str) -> None:
        """Begin the file: the name of its writer, and comments."""
        head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
        options = _option(_COMMENT, comment.encode())
        options += _option(_USER_APPLICATION, application.encode())
        self._block(_SECTION, head + options + _END)

    def interface(self, name: str, description: str, speed_bps: int) -> int:
        """Describe a place where packets are seen; return its number."""
        head = struct.pack("<HHI", _LINKTYPE_RAW, 0, self._snap)
        options = _option(_IF_NAME, name.encode())
        options += _option(_IF_DESCRIPTION, description.encode())
        options += _option(_IF_SPEED, struct.pack("<Q", speed_bps))
        options += _option(_IF_TSRESOL, bytes([9]))
        self._block(_INTERFACE, head + options + _END)
        self._interfaces += 1
        return self._interfaces - 1

    def secrets(self, lines: bytes) -> None:
        """Give the key log that decrypts the packets behind it."""
        head = struct.pack("<II", _TLS_KEY_LOG, len(lines))
        self._block(_SECRETS, head + lines + bytes(-len(lines) % 4))

    def name(self, address: int, name: str) -> None:
        """Give an IPv4 address a name."""
        record = address.to_bytes(4, "big") + name.encode() + b"\0"
        self._block(_NAMES, _option(_NRB_IPV4, record) + _END)

    def packet(
        self, interface: int, time_ns: int, packet: bytes, length: int, comment: str = ""
    ) -> None:
        """Add a packet of `length` bytes, of which `packet` is the beginning."""
        packet = packet[: self._snap]
        kept = len(packet)
        options = _option(_COMMENT, comment.encode()) + _END if comment else b""
        total = 32 + kept + -kept % 4 + len(options)
        head = _PACKET_HEAD.pack(
            _PACKET, total, interface, time_ns >> 32, time_ns & 0xFFFFFFFF, kept, length
        )
        tail = b"\0" * (-kept % 4) + options + total.to_bytes(4, "little")
        self._file.write(head + packet + tail)

    def _block(self, kind: int, body: bytes) -> None:
        total = 12 + len(body)
        self._file.write(struct.pack("<II", kind, total) + body + total.to_bytes(4, "little"))


_END = bytes(4)


def _option(code: int, value: bytes) -> bytes:
    value = value[:0xFFFF]
    return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)
