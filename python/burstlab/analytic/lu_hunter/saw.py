"""The saw of the congestion window: equations (6) to (10).

In congestion avoidance the window of each of N flows in step goes from M/2 to M segments, one a
round trip, and is halved where all of them fill what UDP leaves of the link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive
from burstlab.analytic.lu_hunter.ranges import PACKET_BITS


def peak_window(
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike = 1,
    packet_bits: ArrayLike = PACKET_BITS,
) -> FloatArray:
    """Largest window M of a flow in segments, 2T (C - a)/(N (S + H)): before (6), (8).

    Parameters
    ----------
    udp_bps
        Rate a of UDP in bit/s, 0 <= a < C.
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    rtt_s
        Round-trip time 2T in s, above 0.
    flows
        Number N of flows in step, at least 1.
    packet_bits
        Segment with its headers, S + H, in bits, above 0.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), text before (6), equation (8).

    Examples
    --------
    >>> f"{peak_window(1e9, 10e9, 0.28):.0f}"
    '157500'
    """
    udp, capacity, rtt, count, packet = np.broadcast_arrays(
        at_least("udp_bps", udp_bps, 0),
        positive("capacity_bps", capacity_bps),
        positive("rtt_s", rtt_s),
        at_least("flows", flows, 1),
        positive("packet_bits", packet_bits),
    )
    if (udp >= capacity).any():
        raise ValueError(
            f"udp_bps = {udp[udp >= capacity].flat[0]:g} leaves TCP nothing: give less than the "
            "capacity"
        )
    return (rtt * (capacity - udp) / (count * packet))[()]


def peak_cwnd_bits(
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike = 1,
    packet_bits: ArrayLike = PACKET_BITS,
    header_bits: ArrayLike = 320,
) -> FloatArray:
    """Largest congestion window W^p in bits of payload, M S: before (6), (7).

    Parameters
    ----------
    udp_bps, capacity_bps, rtt_s, flows, packet_bits
        As of `peak_window`.
    header_bits
        Headers H in bits, at least 0 and below `packet_bits`; TCP and IP have 320, 40 bytes.

    Returns
    -------
    numpy.ndarray
        Bits; the paper has bytes, and rates in bit/s, without the factor 8.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), text before (6), equation (7).
    """
    segments = peak_window(udp_bps, capacity_bps, rtt_s, flows, packet_bits)
    payload = np.asarray(packet_bits, dtype=np.float64) - at_least("header_bits", header_bits, 0)
    return (np.asarray(segments) * positive("packet_bits less header_bits", payload))[()]


def window_at(
    time_s: ArrayLike,
    start: ArrayLike,
    peak: ArrayLike,
    rtt_s: ArrayLike,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Window W^r in segments after a time in the saw: (6), (10).

    M/2 + ((t - (M - k) 2T) mod M T)/2T: k segments at first, M after M - k round trips.

    Parameters
    ----------
    time_s
        Time t = T^UDP since the start in s, at least 0.
    start
        Window k = W_k/S at the start in segments, M/2 <= k <= M (as printed 0 <= k <= M).
    peak
        Largest window M in segments, at least 2.
    rtt_s
        Round-trip time 2T in s, above 0.
    as_printed
        ((t - k 2T) mod M T)/T: a saw from 0 to M, twice as steep, without k segments at first.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equations (6) and (10).

    Examples
    --------
    >>> float(window_at(0, 80, 100, 0.1)), float(window_at(2.0, 80, 100, 0.1))
    (80.0, 50.0)
    """
    time, first, most, rtt = np.broadcast_arrays(
        at_least("time_s", time_s, 0),
        at_least("start", start, 0),
        at_least("peak", peak, 2),
        positive("rtt_s", rtt_s),
    )
    low = np.zeros_like(most) if as_printed else most / 2
    wrong = (first < low) | (first > most)
    if wrong.any():
        raise ValueError(
            f"start = {first[wrong].flat[0]:g} is not on the saw from {low[wrong].flat[0]:g} to "
            f"{most[wrong].flat[0]:g} segments: the model assumes congestion avoidance from the "
            "start"
        )
    if as_printed:
        return (np.mod(time - first * rtt, most * rtt / 2) / (rtt / 2))[()]
    # In round trips: M/2 of them are one tooth.
    return (most / 2 + np.mod(time / rtt - (most - first), most / 2))[()]


def free_capacity(
    window: ArrayLike,
    capacity_bps: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike = 1,
    packet_bits: ArrayLike = PACKET_BITS,
) -> FloatArray:
    """Capacity X that TCP leaves free in bit/s, C - N W (S + H)/(2T S): after (3), (9).

    Parameters
    ----------
    window
        Window of each flow when the rate of UDP changes in segments, at least 0. Equation (9) has
        the largest one here, for which X is a, whatever the phase.
    capacity_bps, rtt_s, flows, packet_bits
        As of `peak_window`.

    Returns
    -------
    numpy.ndarray
        bit/s, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), text after (3), equation (9).

    Examples
    --------
    >>> f"{free_capacity(118125, 10e9, 0.28):.4g}"
    '3.25e+09'
    """
    size, capacity = at_least("window", window, 0), positive("capacity_bps", capacity_bps)
    rtt, packet = positive("rtt_s", rtt_s), positive("packet_bits", packet_bits)
    return (capacity - at_least("flows", flows, 1) * size * packet / rtt)[()]
