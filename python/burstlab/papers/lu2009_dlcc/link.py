"""The link of section VI, and what the figures of the analysis have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.plot import Curve, Dot, theme
from burstlab.reproduce.context import Context, Findings

Grid = NDArray[np.float64]

#: The most that one chart tells apart: shares of UDP, or round-trip times.
COLOURS = (*theme.SERIES, theme.LOST, theme.MUTED)

RTT = "round-trip time 2T (ms)"


@dataclass(frozen=True)
class Link:
    """Parameters of the plan."""

    capacity: float
    shares: Grid
    rtts: Grid
    packet: float
    geometry: Mapping[str, Any]

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> Link:
        """Read the plan of a figure."""
        return cls(
            float(plan["capacity_bps"]),
            np.asarray(plan["shares"], dtype=np.float64),
            np.asarray(plan["rtts_s"], dtype=np.float64),
            float(plan["packet_bits"]),
            {"core_ratio": plan["core_ratio"], "near": plan["near"]},
        )

    @property
    def grid(self) -> tuple[float, Grid, Grid]:
        """Capacity, shares and round trips; rows are shares, columns round trips."""
        return self.capacity, self.shares[:, None], self.rtts

    @property
    def sized(self) -> dict[str, Any]:
        """Options of the formulas that depend on the path and count packets."""
        return {**self.geometry, "packet_bits": self.packet}

    def wide(self, values: ArrayLike) -> Grid:
        """Spread what does not depend on the round trip over all of them."""
        return np.broadcast_to(values, (len(self.shares), len(self.rtts))).astype(np.float64)


def curves(
    link: Link, values: Grid, suffix: str = "", look: Literal["line", "dashed"] = "line"
) -> list[Curve]:
    """Return a curve against the round-trip time for each share."""
    return [
        Curve(f"R = {share:g}{suffix}", colour, dots(1e3 * link.rtts, row), look)
        for share, colour, row in zip(link.shares, COLOURS, values, strict=False)
    ]


def dots(xs: Sequence[float] | Grid, ys: Sequence[float] | Grid) -> list[Dot]:
    """Return the points of a formula."""
    return [Dot(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]


def ends(context: Context, findings: Findings, link: Link, what: str, values: Grid) -> None:
    """Note the values at the ends of both ranges, and their growth with the round trip."""
    for i in (0, -1):
        for j in (0, -1):
            label = f"{what}, R = {link.shares[i]:g}, {1e3 * link.rtts[j]:g} ms"
            context.tell(findings, label, float(values[i, j]))
    for share, row in zip(link.shares, values, strict=True):
        span = f"{1e3 * link.rtts[-1]:g} over {1e3 * link.rtts[0]:g} ms"
        findings.measures[f"{what}, R = {share:g}: {span}"] = float(row[-1] / row[0])


def at_shares(findings: Findings, link: Link, what: str, values: ArrayLike) -> None:
    """Note a value for each share."""
    for share, value in zip(link.shares, np.asarray(values), strict=True):
        findings.measures[f"{what}, R = {share:g}"] = float(value)


def missed(worked: ArrayLike, found: ArrayLike, digits: int) -> int:
    """Count the worked values that are not what was found, both rounded to some digits."""
    pairs = zip(np.ravel(worked), np.ravel(found), strict=True)
    return sum(f"{one:.{digits}g}" != f"{other:.{digits}g}" for one, other in pairs)


def corners(values: Grid) -> Grid:
    """Return the values at the ends of both ranges."""
    return values[np.ix_([0, -1], [0, -1])]


def around(*values: ArrayLike) -> tuple[float, float]:
    """Return round ends of a logarithmic axis around values, for panels to be compared."""
    low, high = min(np.min(v) for v in values), max(np.max(v) for v in values)
    return theme.rounded_log(float(low), float(high))
