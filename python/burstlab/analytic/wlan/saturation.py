"""Stations that always have a packet to send: the model of Bianchi."""

from __future__ import annotations

from dataclasses import dataclass

from burstlab.analytic.arguments import choice, whole
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, STAGES, WINDOW, Timing

ACCESSES: tuple[str, ...] = ("basic", "rts")
PAUSES: tuple[str, ...] = ("eifs", "difs")


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


def transmission_probability(
    p: float, window: int = WINDOW, stages: int = STAGES, tries: int | None = None
) -> float:
    """Probability tau that a station sends in a slot.

    Parameters
    ----------
    p
        Probability that a try meets a collision, 0 <= p < 1.
    window
        Slots of the first back-off, at least 1.
    stages
        Times that the window doubles, at least 0.
    tries
        Tries of a packet, at least 1; None: until it succeeds.

    Returns
    -------
    float
        Probability.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Bianchi 2000, equation (7), here written as 2/(1 + mean window), which has no gap at p = 1/2.
    With `tries`: Wu et al. 2002, equation (7) of whose chain it is the stationary solution.

    Examples
    --------
    >>> f"{transmission_probability(0.0):.4f} {transmission_probability(0.3):.4f}"
    '0.0606 0.0359'
    """
    if not 0 <= p < 1:
        raise ValueError(f"p = {p:g} is out of range: give a probability with 0 <= p < 1")
    first, doublings = whole("window", window, 1), whole("stages", stages, 0)
    if tries is None:
        weights = [(1 - p) * p**stage for stage in range(doublings)] + [p**doublings]
    else:
        weights = [p**stage for stage in range(whole("tries", tries, 1))]
    sent = sum(weights)
    slots = sum(
        weight * (first * 2 ** min(stage, doublings) + 1) / 2
        for stage, weight in enumerate(weights)
    )
    return sent / slots


def bianchi(
    stations: int, window: int = WINDOW, stages: int = STAGES, tries: int | None = None
) -> tuple[float, float]:
    """Find the fixed point of saturated stations: tau and p.

    Parameters
    ----------
    stations
        Stations that send, at least 1.
    window, stages, tries
        As of `transmission_probability`.

    Returns
    -------
    tuple
        Probability tau that a station sends in a slot, and p that another one does too.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Bianchi 2000, equations (7) and (9).

    Examples
    --------
    >>> tau, p = bianchi(10)
    >>> f"{tau:.4f} {p:.4f}"
    '0.0371 0.2885'
    """
    others = whole("stations", stations, 1) - 1
    low, high = 0.0, 1.0
    # What a station's own rule asks for falls with p, what the others make of it rises.
    for _ in range(100):
        p = (low + high) / 2
        met = 1 - (1 - transmission_probability(p, window, stages, tries)) ** others
        low, high = (p, high) if met > p else (low, p)
    p = low if others else 0.0
    return transmission_probability(p, window, stages, tries), p


def saturation(
    stations: int,
    size: int = 1500,
    timing: Timing | None = None,
    *,
    access: str = "basic",
    window: int = WINDOW,
    stages: int = STAGES,
    tries: int | None = None,
    after_collision: str = "eifs",
) -> Saturation:
    """Throughput of saturated stations.

    Parameters
    ----------
    stations
        Stations that send, at least 1.
    size
        Bytes of each packet, at least 1; they count for the throughput, the MAC header does not.
    timing
        Speeds and preamble; 802.11b at 11 Mb/s with answers at 1 Mb/s if absent.
    access
        "basic", or "rts": each data frame is preceded by an RTS.
    window, stages, tries
        As of `transmission_probability`. 802.11b: 32, 5, and 7 tries of a short frame.
    after_collision
        How long all wait after a collision: "eifs", as the standard has it, or "difs", as Bianchi
        simplifies.

    Returns
    -------
    Saturation
        The fixed point and the throughput.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Bianchi 2000, equations (10) to (14) and (17); propagation takes no time.

    Examples
    --------
    >>> f"{saturation(10, tries=7).throughput_mbps:.3f}"
    '5.873'
    """
    choice("access", access, ACCESSES)
    choice("after_collision", after_collision, PAUSES)
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
