"""Stations that always have a packet to send: the model of Bianchi."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from burstlab.analytic.arguments import Argument
from burstlab.analytic.declared import declared
from burstlab.analytic.wlan.arguments import (
    Access,
    FirstWindow,
    Size,
    Speeds,
    Stages,
    Stations,
    Tries,
)
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, STAGES, WINDOW, Timing

Pause = Annotated[
    str,
    Argument(
        "How long all wait after a collision",
        words=("eifs", "difs"),
        note='"eifs": as the standard has it. "difs": as Bianchi simplifies.',
    ),
]


@dataclass(frozen=True)
class Saturation:
    """A saturated cell."""

    tau: float
    """Probability that a station sends in a slot."""
    p: float
    """Probability that what it sends meets something."""
    throughput_mbps: float
    """Packets that arrive, in Mb/s."""
    dropped: float
    """Share of packets that are given up; 0 without a limit."""


@declared(
    "Probability",
    "Bianchi 2000, equation (7), here written as 2/(1 + mean window), which has no gap at p = "
    "1/2. With `tries`: Wu et al. 2002, equation (7) of whose chain it is the stationary solution",
    tries="None: until it succeeds.",
)
def transmission_probability(
    p: Annotated[float, Argument("Probability that a try meets a collision", at_least=0, below=1)],
    window: FirstWindow = WINDOW,
    stages: Stages = STAGES,
    tries: Tries | None = None,
) -> float:
    """Probability tau that a station sends in a slot.

    Examples
    --------
    >>> f"{transmission_probability(0.0):.4f} {transmission_probability(0.3):.4f}"
    '0.0606 0.0363'
    """
    if tries is None:
        weights = [(1 - p) * p**stage for stage in range(stages)] + [p**stages]
    else:
        weights = [p**stage for stage in range(tries)]
    sent = sum(weights)
    slots = sum(
        weight * (window * 2 ** min(stage, stages) + 1) / 2 for stage, weight in enumerate(weights)
    )
    return sent / slots


@declared(
    "Probability tau that a station sends in a slot, and p that another one does too",
    "Bianchi 2000, equations (7) and (9)",
    tries="None: until it succeeds.",
)
def bianchi(
    stations: Stations,
    window: FirstWindow = WINDOW,
    stages: Stages = STAGES,
    tries: Tries | None = None,
) -> tuple[float, float]:
    """Find the fixed point of saturated stations: tau and p.

    Examples
    --------
    >>> tau, p = bianchi(10)
    >>> f"{tau:.4f} {p:.4f}"
    '0.0373 0.2898'
    """
    others = stations - 1
    low, high = 0.0, 1.0
    # The rate of a station's own rule falls with p; the rate that the others cause rises.
    for _ in range(100):
        p = (low + high) / 2
        if not low < p < high:
            break
        sent = transmission_probability(p, window, stages, tries)
        # 1 - (1 - tau)^n, with all digits of a small tau.
        met = 1.0 if sent == 1.0 else -math.expm1(others * math.log1p(-sent))
        low, high = (p, high) if met > p else (low, p)
    p = low if others else 0.0
    return transmission_probability(p, window, stages, tries), p


@declared(
    "The fixed point and the throughput",
    "Bianchi 2000, equations (10) to (14) and (17); propagation takes no time",
    size="It counts for the throughput, the MAC header does not.",
    window="802.11b: 32.",
    stages="802.11b: 5.",
    tries="None: until it succeeds. 802.11b: 7 of a short frame.",
)
def saturation(
    stations: Stations,
    size: Size = 1500,
    timing: Speeds = None,
    *,
    access: Access = "basic",
    window: FirstWindow = WINDOW,
    stages: Stages = STAGES,
    tries: Tries | None = None,
    after_collision: Pause = "eifs",
) -> Saturation:
    """Throughput of saturated stations.

    Examples
    --------
    >>> f"{saturation(10, tries=7).throughput_mbps:.3f}"
    '5.873'
    """
    times = timing or Timing()
    tau, p = bianchi(stations, window, stages, tries)
    silent = (1 - tau) ** stations
    alone = stations * tau * (1 - tau) ** (stations - 1)
    data = times.data(size)
    success = data + SIFS_US + times.ack + DIFS_US
    first = data
    if access == "rts":
        success += times.rts + SIFS_US + times.cts + SIFS_US
        first = times.rts
    failure = first + (times.eifs if after_collision == "eifs" else DIFS_US)
    mean_us = silent * SLOT_US + alone * success + (1 - silent - alone) * failure
    dropped = 0.0 if tries is None else p**tries
    return Saturation(tau, p, alone * 8 * size / mean_us, dropped)
