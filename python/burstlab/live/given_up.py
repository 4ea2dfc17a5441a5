"""Connections that a kernel has given up: it sends nothing more of them (RFC 9293, 3.8.3)."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.live.network import Host
from burstlab.live.samples import parsed
from burstlab.live.tcp_info import Info

#: How long after its timer a connection is looked at, in ps: two ticks of a kernel.
_LATER_PS = 2_000_000_000

#: Longer timers of a kernel go off later, by up to an eighth. Until then a connection is looked at
#: again and again, after this part of its time-out.
_PART = 32

#: A connection: the number of its pair, whether the second host sends, its port, and the other.
Key = tuple[int, bool, int, int]


class GivenUp:
    """Finds connections that were given up among those whose timer went off last.

    A kernel that has sent again as often as it may (``tcp_retries2``, ``tcp_syn_retries``,
    ``TCP_USER_TIMEOUT``) sends nothing more, and its program hears ETIMEDOUT.

    Parameters
    ----------
    ends
        Both hosts of each pair.
    """

    def __init__(self, ends: Sequence[tuple[Host, Host]]) -> None:
        self._ends = ends
        #: When each is looked at.
        self._due: dict[Key, int] = {}

    @property
    def next_ps(self) -> int | None:
        """When the next one is to be looked at."""
        return min(self._due.values(), default=None)

    def sent(self, at: int, way: tuple[int, bool], packet: bytes, info: Info | None) -> None:
        """Note a packet that left, and how its connection stands."""
        if info is not None and info.timeouts > 0:
            found = parsed(packet)
            if found is not None:
                self._due[(*way, found[0], found[1])] = at + info.rto * 1_000_000 + _LATER_PS

    def heard(self, pair: int, packet: bytes, info: Info | None, *, far: bool) -> None:
        """Note a packet that came for the sender of a pair, and how its connection stands."""
        if self._due and info is not None and info.timeouts == 0:
            found = parsed(packet)
            if found is not None:
                self._due.pop((pair, far, found[1], found[0]), None)

    def look(self, at: int) -> list[Key]:
        """Return those that the kernel knows no more, whose timer has gone off before ``at``."""
        gone: list[Key] = []
        for key in [key for key, due in self._due.items() if due <= at]:
            pair, far, own, other = key
            near, peer = self._ends[pair][::-1] if far else self._ends[pair]
            info = near.diagnosis.look((near.packed, own), (peer.packed, other))
            if info is None:
                del self._due[key]
                gone.append(key)
            else:
                self._due[key] = at + max(info.rto * 1_000_000 // _PART, _LATER_PS)
        return gone

    def look_soon(self, at: int) -> None:
        """Have all be looked at now: a program has ended, and may have heard of one."""
        self._due = {key: min(due, at) for key, due in self._due.items()}
