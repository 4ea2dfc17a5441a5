"""Times of 802.11b in microseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from burstlab.analytic.arguments import Argument, choice

SPEEDS: tuple[float, ...] = (1, 2, 5.5, 11)
PREAMBLES: tuple[str, ...] = ("long", "short")

SLOT_US = 20.0
SIFS_US = 10.0
DIFS_US = 50.0
WINDOW = 32
"""Slots of the first back-off: 0 to 31."""
STAGES = 5
"""Times that the window doubles, to 1,024."""
HEADER = 28
"""MAC header and check sequence of a data frame, in bytes."""
RTS, CTS, ACK = 20, 14, 14
PACKET = Argument("Size of a packet", "bytes", at_least=1)


@dataclass(frozen=True)
class Timing:
    """The durations of the frames of a cell.

    Parameters
    ----------
    data_mbps
        Speed of data frames in Mb/s: 1, 2, 5.5 or 11.
    basic_mbps
        Speed of RTS, CTS and ACK frames in Mb/s.
    preamble
        "long" (192 us) or "short" (96 us, but for frames at 1 Mb/s).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    data_mbps: float = 11
    basic_mbps: float = 1
    preamble: str = "long"

    def __post_init__(self) -> None:
        for name, value in (("data_mbps", self.data_mbps), ("basic_mbps", self.basic_mbps)):
            if value not in SPEEDS:
                raise ValueError(f"{name} = {value} is no speed of 802.11b: give 1, 2, 5.5 or 11")
        choice("preamble", self.preamble, PREAMBLES)

    def frame(self, size: int, speed: float) -> float:
        """Time of a MAC frame of `size` bytes at `speed` Mb/s, in whole us as its header says."""
        short = self.preamble == "short" and speed > 1
        # Twice the bits over twice the speed: both are whole numbers.
        return (96.0 if short else 192.0) + math.ceil(16 * size / (2 * speed))

    def data(self, size: int) -> float:
        """Time of a packet of `size` bytes, at least 1, in a data frame, in us."""
        return self.frame(PACKET.check("size", size, int) + HEADER, self.data_mbps)

    @property
    def rts(self) -> float:
        """Time of an RTS in us."""
        return self.frame(RTS, self.basic_mbps)

    @property
    def cts(self) -> float:
        """Time of a CTS in us."""
        return self.frame(CTS, self.basic_mbps)

    @property
    def ack(self) -> float:
        """Time of an ACK in us."""
        return self.frame(ACK, self.basic_mbps)

    @property
    def eifs(self) -> float:
        """EIFS in us, the sum of SIFS, an ACK at 1 Mb/s, and DIFS."""
        return SIFS_US + self.frame(ACK, 1) + DIFS_US
