"""The saw of the congestion window: equations (6) to (10).

In congestion avoidance the window of each of N flows in step goes from M/2 to M segments, one a
round trip, and is halved where all of them fill what UDP leaves of the link.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import (
    PACKET_BITS,
    PAPER,
    Capacity,
    Headers,
    InStep,
    Packet,
    Rtt,
    UdpOnLink,
)


@declared("Segments", f"{PAPER}, text before (6), equation (8)")
def peak_window(
    udp_bps: UdpOnLink,
    capacity_bps: Capacity,
    rtt_s: Rtt,
    flows: InStep = 1,
    packet_bits: Packet = PACKET_BITS,
) -> FloatArray:
    """Largest window M of a flow in segments, 2T (C - a)/(N (S + H)): before (6), (8).

    Examples
    --------
    >>> f"{peak_window(1e9, 10e9, 0.28):.0f}"
    '157500'
    """
    udp, capacity, rtt, count, packet = np.broadcast_arrays(
        udp_bps, capacity_bps, rtt_s, flows, packet_bits
    )
    return rtt * (capacity - udp) / (count * packet)


@declared(
    "Bits; the paper has bytes, and rates in bit/s, without the factor 8",
    f"{PAPER}, text before (6), equation (7)",
)
def peak_cwnd_bits(
    udp_bps: UdpOnLink,
    capacity_bps: Capacity,
    rtt_s: Rtt,
    flows: InStep = 1,
    packet_bits: Packet = PACKET_BITS,
    header_bits: Headers = 320,
) -> FloatArray:
    """Largest congestion window W^p in bits of payload, M S: before (6), (7)."""
    segments = peak_window(udp_bps, capacity_bps, rtt_s, flows, packet_bits)
    packet, header = arrays(packet_bits, header_bits)
    return np.asarray(segments) * (packet - header)


@declared(
    "Segments",
    f"{PAPER}, equations (6) and (10)",
    start="M/2 <= k <= M (as printed 0 <= k <= M).",
    as_printed=(
        "((t - k 2T) mod M T)/T: a saw from 0 to M, twice as steep, without k segments at first."
    ),
)
def window_at(
    time_s: Annotated[ArrayLike, Argument("Time t = T^UDP since the start", "s", at_least=0)],
    start: Annotated[ArrayLike, Argument("Window k = W_k/S at the start", "segments", at_least=0)],
    peak: Annotated[ArrayLike, Argument("Largest window M", "segments", at_least=2)],
    rtt_s: Rtt,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Window W^r in segments after a time in the saw: (6), (10).

    M/2 + ((t - (M - k) 2T) mod M T)/2T: k segments at first, M after M - k round trips.

    Examples
    --------
    >>> float(window_at(0, 80, 100, 0.1)), float(window_at(2.0, 80, 100, 0.1))
    (80.0, 50.0)
    """
    time, first, most, rtt = np.broadcast_arrays(time_s, start, peak, rtt_s)
    low = np.zeros_like(most) if as_printed else most / 2
    wrong = (first < low) | (first > most)
    if wrong.any():
        raise ValueError(
            f"start = {first[wrong].flat[0]:g} is not on the saw from {low[wrong].flat[0]:g} to "
            f"{most[wrong].flat[0]:g} segments: the model assumes congestion avoidance from the "
            "start"
        )
    if as_printed:
        return np.mod(time - first * rtt, most * rtt / 2) / (rtt / 2)
    # In round trips: M/2 of them are one tooth.
    return most / 2 + np.mod(time / rtt - (most - first), most / 2)


@declared(
    "bit/s",
    f"{PAPER}, text after (3), equation (9)",
    window="Equation (9) has the largest one here, for which X is a, whatever the phase.",
)
def free_capacity(
    window: Annotated[
        ArrayLike,
        Argument("Window of each flow when the rate of UDP changes", "segments", at_least=0),
    ],
    capacity_bps: Capacity,
    rtt_s: Rtt,
    flows: InStep = 1,
    packet_bits: Packet = PACKET_BITS,
) -> FloatArray:
    """Capacity X that TCP leaves free in bit/s, C - N W (S + H)/(2T S): after (3), (9).

    Examples
    --------
    >>> f"{free_capacity(118125, 10e9, 0.28):.4g}"
    '3.25e+09'
    """
    size, capacity, rtt, count, packet = arrays(window, capacity_bps, rtt_s, flows, packet_bits)
    return capacity - count * size * packet / rtt
