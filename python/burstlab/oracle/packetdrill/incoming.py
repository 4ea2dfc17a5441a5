"""The receiving side of a host: bytes in order, early segments, and the reports about them."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Segments that Linux acknowledges at once in the beginning (``TCP_MAX_QUICKACKS``, Linux 6.12).
QUICK = 16
#: SACK blocks in an ACK, without and with time stamps (RFC 2018 section 3).
_BLOCKS = (4, 3)


@dataclass
class Incoming:
    """The receiving side of a connection.

    Attributes
    ----------
    next
        The number of the byte that it waits for.
    waiting
        Bytes that nobody has read.
    fin
        Whether the FIN has come in order.
    """

    next: int = 1
    waiting: int = 0
    fin: bool = False
    _early: list[tuple[int, int]] = field(default_factory=list)
    _fin_at: int | None = None
    _quick: int = QUICK

    def take(self, seq: int, length: int, *, fin: bool) -> tuple[int, int] | None:
        """Take a segment; answers what of it had come before, if anything had."""
        end = seq + length
        twice = (seq, min(end, self.next)) if seq < self.next and length else None
        if fin:
            self._fin_at = end
        if end > self.next:
            self._early.append((max(seq, self.next), end))
            self._merge()
        before = self.next
        while self._early and self._early[0][0] <= self.next:
            self.next = max(self.next, self._early.pop(0)[1])
        self.waiting += self.next - before
        if self._fin_at is not None and self._fin_at <= self.next and not self.fin:
            self.fin = True
            self.next += 1
        return twice

    def _merge(self) -> None:
        runs: list[tuple[int, int]] = []
        for left, right in sorted(self._early):
            if runs and left <= runs[-1][1]:
                runs[-1] = (runs[-1][0], max(runs[-1][1], right))
            else:
                runs.append((left, right))
        self._early = runs

    def blocks(self, seq: int, *, stamps: bool) -> list[tuple[int, int]]:
        """Report what came early, the run with ``seq`` first (RFC 2018 section 4)."""
        first = [run for run in self._early if run[0] <= seq < run[1]]
        others = [run for run in self._early if run not in first]
        return (first + others)[: _BLOCKS[stamps]]

    def acknowledges_at_once(self) -> bool:
        """Whether an ACK in order goes at once; counts the ACKs of the beginning."""
        self._quick -= 1
        return self._quick >= 0

    def read(self, most: int) -> int:
        """Read; answers how many bytes there were."""
        count = min(most, self.waiting)
        self.waiting -= count
        return count
