"""The values of the formulas of section V, summed over rates and phases, without their code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from burstlab.papers.lu2009_dlcc.link import Grid

_POINTS = 160


@dataclass(frozen=True)
class Change:
    """Rates of UDP before and after a change, and phases of the saw: midpoints of a grid.

    Attributes
    ----------
    capacity
        C in bit/s.
    before, after, phase
        a and b in bit/s and the part of the saw that is over, in grids of three axes.
    """

    capacity: float
    before: Grid
    after: Grid
    phase: Grid

    @classmethod
    def of(cls, capacity: float, share: float) -> Change:
        """Spread rates over [0, C R]."""
        middle = (np.arange(_POINTS) + 0.5) / _POINTS
        rates = capacity * share * middle
        return cls(capacity, rates[:, None, None], rates[None, :, None], middle[None, None, :])

    @property
    def free(self) -> Grid:
        """X, what a saw from half of its peak to its peak leaves."""
        return self.capacity - (self.capacity - self.before) * (1 + self.phase) / 2

    @property
    def excess(self) -> Grid:
        """The excess after the change, where UDP has become faster; else 0."""
        much = np.maximum(self.after - self.free, 0)
        return np.where(self.after > self.before, much, 0)

    def mean_excess(self) -> float:
        """Mean over all changes, in bit/s."""
        return float(self.excess.mean())

    def congested(self) -> float:
        """Share of changes that bring heavy congestion, P(B)."""
        return float((self.excess > 0).mean())

    def rises(self) -> Grid:
        """P(b > a) for each a."""
        return (self.after > self.before).mean(axis=(1, 2))

    def joint(self, most: float) -> float:
        """P(b > a and b > X) with X uniform over [0, most], as (5) has it."""
        free = most * self.phase
        return float(((self.after > self.before) & (self.after > free)).mean())


def halved_one_by_one(
    capacity: float, share: float, rtt: float, flows: float, packet: float
) -> float:
    """Packets lost, on average over changes, while flow after flow halves its window.

    For the first round trip all of the rise is lost; then one flow halves every M_N T/N, and takes
    its part of the rise away. A rise of less than a halving is over in the first round trip.
    """
    middle = (np.arange(400) + 0.5) / 400 * capacity * share
    before, after = middle[:, None], middle[None, :]
    rise = np.maximum(after - before, 0)
    part = (capacity - before) / (2 * flows)
    window = rtt * (capacity - before) / (flows * packet)
    step = window * (rtt / 2) / flows
    halved = np.floor(rise / part)
    # The rest of the rise after each flow that halves, all of them together: a series.
    left = halved * rise - part * halved * (halved + 1) / 2
    return float((rise * rtt + left * step).mean()) / packet
