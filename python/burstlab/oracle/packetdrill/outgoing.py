"""The sending side of a host: the application's bytes, as the segments that the sender counts.

The sender of the engine (`crates/tcp/src/linux.rs`) knows segments by number. Here each has its
bytes: the written ones, cut at the maximum segment size. A segment is shorter if a call ended and
nothing more came before it left.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from burstlab import _core
from burstlab.oracle.packetdrill.settings import Settings

#: IPv4 and TCP headers, in bytes.
_HEADERS = 40
#: As many segments in a group as the kernel likes.
_ANY_GROUP = 65_535


@dataclass
class Piece:
    """A segment: its first number, its bytes, and what its header says."""

    start: int
    length: int
    fin: bool = False
    sealed: bool = False

    @property
    def end(self) -> int:
        """One past its last number."""
        return self.start + self.length + self.fin


@dataclass(frozen=True)
class Sent:
    """A segment that leaves now."""

    piece: Piece
    again: bool
    pushes: bool


class Outgoing:
    """The sending side of a connection, in bytes; times in ns since the script began.

    Parameters
    ----------
    settings
        The host's.
    mss
        Bytes of a full segment.
    sack, stamps, ecn
        The options that both sides agreed on.
    buffer
        Bytes of the send buffer at first and at most.
    """

    def __init__(
        self,
        settings: Settings,
        mss: int,
        *,
        sack: bool,
        stamps: bool,
        ecn: bool,
        buffer: tuple[int, int],
    ) -> None:
        options: dict[str, Any] = {
            "congestion": settings.law,
            "sack": sack,
            "timestamps": stamps,
            "rack": settings.rack,
            "tlp": settings.probes,
            "frto": settings.f_rto,
            "ecn": ecn,
            "pacing": settings.paced,
            "reordering": settings.reordering,
            "restart_after_idle": settings.restart_after_idle,
            "payload": mss,
            "segment_size": mss + _HEADERS,
            "group_most": _ANY_GROUP,
            "group_least": settings.group_least,
            "group_divisor": settings.group_divisor,
            # Which segments are short is known here alone.
            "parts": False,
            "send_buffer": list(buffer),
        }
        self.mss = mss
        self._sender = _core.LinuxSender(json.dumps(options))
        self._pieces: list[Piece] = []
        #: Bytes that were written and not handed to the sender: less than a segment.
        self.held = 0
        #: Whether what was written last may wait for more at the receiver.
        self._more = False
        #: The end of the last segment that was shorter than a full one.
        self._short_end = 0
        self._closed = False

    def open(self, syn_ns: int, now_ns: int, window: int) -> None:
        """Take the ACK of the SYN."""
        self._sender.open(syn_ns, now_ns, window)

    @property
    def written(self) -> int:
        """The number of the next byte to be written."""
        end = self._pieces[-1].end if self._pieces else 1
        return end + self.held

    @property
    def acked(self) -> int:
        """All numbers below are acknowledged."""
        return self._number_of(self.state()["acked"] or 1)

    @property
    def next(self) -> int:
        """The number of the next byte to be sent for the first time."""
        return self._number_of(self.state()["next"] or 1)

    def state(self) -> dict[str, int | None]:
        """Return the state of the sender."""
        return self._sender.state()

    def _number_of(self, segment: int) -> int:
        """Where the segment with this number begins."""
        index = segment - 1
        if index < len(self._pieces):
            return self._pieces[index].start
        return self._pieces[-1].end if self._pieces else 1

    def write(
        self, now_ns: int, count: int, *, nagle: bool, hold: bool, more: bool, record: bool
    ) -> int:
        """Write; answers how many bytes there was room for.

        Parameters
        ----------
        now_ns
            The time.
        count
            Bytes.
        nagle
            Whether less than a segment waits while such a one is outstanding (RFC 896).
        hold
            Whether less than a segment waits in any case (MSG_MORE, TCP_CORK).
        more
            Whether the receiver may wait for more (MSG_MORE).
        record
            Whether nothing is to be added to the last segment (MSG_EOR).
        """
        self._more = more
        count, absorbed = self._absorb(count)
        total = self.held + count
        whole, rest = divmod(total, self.mss)
        short = rest > 0 and not (hold or (nagle and self._short_outstanding()))
        wanted = whole + short
        # The held part takes the push with it (`tso_fragment`).
        pushes = not more and (short or not rest)
        length = rest if short else 0
        accepted = self._hand_over(now_ns, wanted, length, pushes=pushes, record=record)
        if accepted == wanted:
            self.held = 0 if short else rest
            return absorbed + count
        taken = accepted * self.mss
        count = max(0, taken - self.held)
        self.held = max(0, self.held - taken)
        return absorbed + count

    def _absorb(self, count: int) -> tuple[int, int]:
        """Fill up the last segment if it is short and has not left."""
        if not self._pieces or self._pieces[-1].fin or self._pieces[-1].sealed or self.held:
            return count, 0
        last = self._pieces[-1]
        unsent = len(self._pieces) >= (self.state()["next"] or 1)
        if not unsent or last.length >= self.mss:
            return count, 0
        more = min(count, self.mss - last.length)
        last.length += more
        return count - more, more

    def _hand_over(
        self, now_ns: int, segments: int, short: int, *, pushes: bool, record: bool = False
    ) -> int:
        """Give whole segments, and a short one behind them, to the sender."""
        if not segments:
            if record and self._pieces:
                self._pieces[-1].sealed = True
                self._sender.write(now_ns, 0, pushes, record)
            return 0
        start = self._pieces[-1].end if self._pieces else 1
        for index in range(segments):
            last = short and index == segments - 1
            length = short if last else self.mss
            self._pieces.append(Piece(start, length))
            start += length
        self._pieces[-1].sealed = record
        accepted = self._sender.write(now_ns, segments, pushes, record)
        del self._pieces[len(self._pieces) - (segments - accepted) :]
        if short and accepted == segments:
            self._short_end = start
        return accepted

    def _short_outstanding(self) -> bool:
        """Whether a segment that was not full is in flight."""
        return self.acked < self._short_end <= self.next

    def resize(self, size: int) -> None:
        """Set the size of the send buffer."""
        self._sender.resize(size)

    @property
    def is_writable(self) -> bool:
        """Whether a call that waits for room continues, since a third of the buffer is free."""
        state = self.state()
        used, size = state["buffered"] or 0, state["buffer"] or 0
        return size - used >= used // 2

    def release(self, now_ns: int, *, pushed: bool = False) -> None:
        """Hand over what was held back; ``pushed``: the receiver is not to wait for more."""
        self._more = self._more and not pushed
        if self.held:
            length, self.held = self.held, 0
            self._hand_over(now_ns, 1, length, pushes=not self._more)

    def release_if_due(self, now_ns: int, *, nagle: bool) -> None:
        """Hand over what was held back if nothing keeps it any more."""
        if not (nagle and self._short_outstanding()):
            self.release(now_ns)

    def close(self, now_ns: int) -> None:
        """Write nothing more: the FIN follows, with what waits or alone."""
        if self._closed:
            return
        self._closed = True
        self.release(now_ns)
        waits = len(self._pieces) >= (self.state()["next"] or 1)
        if waits:
            self._pieces[-1].fin = True
        else:
            self._pieces.append(Piece(self.written, 0, fin=True))
        self._sender.close(now_ns)

    def hear(
        self,
        now_ns: int,
        acked: int,
        blocks: list[tuple[int, int]],
        window: int,
        echo_ms: int | None,
        *,
        ece: bool,
    ) -> None:
        """Take an ACK, in numbers of bytes. A segment counts once all of it is acknowledged."""
        segment = self._segments_below(acked) + 1
        runs = [(self._first_from(left), self._segments_below(right) + 1) for left, right in blocks]
        runs = [(left, right) for left, right in runs if left < right]
        self._sender.hear(now_ns, segment, runs, window, echo_ms, ece)

    def _segments_below(self, number: int) -> int:
        """How many segments end at a number or before."""
        return bisect_right(self._pieces, number, key=lambda piece: piece.end)

    def _first_from(self, number: int) -> int:
        """Return the first segment that begins at a number or behind it."""
        starts = bisect_right(self._pieces, number - 1, key=lambda piece: piece.start)
        return starts + 1

    def deadline(self) -> int | None:
        """When a timer of the sender runs out."""
        return self._sender.deadline()

    def expire(self, now_ns: int) -> None:
        """Let it run out."""
        self._sender.expire(now_ns)

    def take(self) -> list[Sent]:
        """Return what left since the last time."""
        return [
            Sent(self._piece(segment), again, pushes)
            for segment, again, pushes in self._sender.take()
        ]

    def _piece(self, segment: int) -> Piece:
        """Return what a segment carries; a probe of a closed window has number 0 and no data."""
        if segment == 0:
            # It is one number below what is acknowledged, so that the receiver answers it.
            return Piece(self.acked - 1, 0)
        return self._pieces[segment - 1]
