"""The state of a connection in the kernel: `tcp_info`, from its socket diagnosis by addresses."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST = 1
_DUMP = 0x300
_ERROR, _DONE = 2, 3
_INFO = 2
_NO_COOKIE = 0xFFFFFFFF

#: Lengths of a netlink header, and of the part before the attributes of an answer.
_HEADER, _MESSAGE = 16, 72

#: States in which the kernel has data, or an end, to bring over: FIN-WAIT-1, LAST-ACK, CLOSING.
_CLOSING = 1 << 4 | 1 << 9 | 1 << 11

_TCP_INFO = struct.Struct("=8B24I4Q6I4Q2I")


class Info(NamedTuple):
    """The reported state of a connection; windows in segments, times in us."""

    cwnd: int
    ssthresh: int
    mss: int
    srtt: int
    rto: int
    unacked: int
    timeouts: int
    state: int
    rttvar: int
    backoff: int
    sacked: int
    lost: int
    retransmitted: int
    reordering: int
    pacing_rate: int
    min_rtt: int
    delivered: int
    total_retransmissions: int

    @property
    def sample(self) -> tuple[int, ...]:
        """The values that the engine gets."""
        return self[:8]


def _request(ends: bytes, flags: int, states: int) -> bytes:
    body = struct.pack("=BBBBI", socket.AF_INET, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, states)
    body += ends
    length = _HEADER + len(body)
    return struct.pack("=IHHII", length, _SOCK_DIAG_BY_FAMILY, flags, 1, 0) + body


def _read(info: bytes) -> Info:
    f = _TCP_INFO.unpack(info[: _TCP_INFO.size])
    return Info(
        cwnd=f[26],
        ssthresh=f[25],
        mss=f[10],
        srtt=f[23],
        rto=f[8],
        unacked=f[12],
        timeouts=f[2],
        state=f[1],
        rttvar=f[24],
        backoff=f[4],
        sacked=f[13],
        lost=f[14],
        retransmitted=f[15],
        reordering=f[28],
        pacing_rate=f[32],
        min_rtt=f[39],
        delivered=f[46],
        total_retransmissions=f[31],
    )


class Diagnosis:
    """The connections of the network namespace in which this is made."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
        self._socket.bind((0, 0))

    def look(self, own: tuple[bytes, int], other: tuple[bytes, int]) -> Info | None:
        """Return how the connection between two addresses and ports stands.

        None where there is none that could say.
        """
        ends = struct.pack(
            ">HH16s16s12s", own[1], other[1], own[0], other[0], b"\0\0\0\0" + b"\xff" * 8
        )
        self._socket.send(_request(ends, _REQUEST, 0xFFFFFFFF))
        answer = self._socket.recv(8192)
        kind = struct.unpack_from("=H", answer, 4)[0]
        if kind != _SOCK_DIAG_BY_FAMILY:
            return None
        at, end = _HEADER + _MESSAGE, struct.unpack_from("=I", answer)[0]
        while at + 4 <= end:
            length, which = struct.unpack_from("=HH", answer, at)
            if which == _INFO and length - 4 >= _TCP_INFO.size:
                return _read(answer[at + 4 : at + length])
            at += (max(length, 4) + 3) & ~3
        return None

    def has_open_ends(self) -> bool:
        """Whether a connection whose program is gone still has something to bring over."""
        self._socket.send(_request(bytes(48), _REQUEST | _DUMP, _CLOSING))
        found = False
        while True:
            answer = self._socket.recv(65536)
            at = 0
            while at + _HEADER <= len(answer):
                length, kind = struct.unpack_from("=IH", answer, at)
                if kind in (_DONE, _ERROR):
                    return found
                found = True
                at += (length + 3) & ~3
