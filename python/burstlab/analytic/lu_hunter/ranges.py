"""Ranges of the arguments, each with the assumption of the model that needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive

PACKET_BITS = 16_000
"""Optical packet of section VI, 2000 bytes: a segment S with its headers H, in bits."""

SHARE_MAX = 0.5
"""Largest share R of UDP for which one halving of TCP is enough."""

WINDOW_MIN = 2
"""Segments of a window that can be halved."""


def shared(capacity_bps: ArrayLike, share: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the capacity C in bit/s and the most that UDP takes of it, c = C R in bit/s.

    Parameters
    ----------
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    share
        Share R that UDP may take, 0 < R <= 0.5.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    capacity, part = np.broadcast_arrays(
        positive("capacity_bps", capacity_bps), positive("share", share)
    )
    if (part > SHARE_MAX).any():
        raise ValueError(
            f"share = {part[part > SHARE_MAX].flat[0]:g} is above {SHARE_MAX:g}: the model assumes "
            "that TCP makes room for UDP by halving its rate once, which needs R <= 0.5"
        )
    return capacity, capacity * part


def with_udp(
    udp_bps: ArrayLike, capacity_bps: ArrayLike, share: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rate a of UDP, the capacity C and c = C R, all in bit/s.

    Parameters
    ----------
    udp_bps
        Rate a of UDP before it changes in bit/s, 0 <= a <= C R.
    capacity_bps, share
        As of `shared`.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    capacity, most = shared(capacity_bps, share)
    udp, capacity, most = np.broadcast_arrays(at_least("udp_bps", udp_bps, 0), capacity, most)
    wrong = udp > most * (1 + 1e-12)
    if wrong.any():
        raise ValueError(
            f"udp_bps = {udp[wrong].flat[0]:g} is above C R = {most[wrong].flat[0]:g}: the model "
            "assumes that UDP takes at most a share R of the capacity C"
        )
    return np.minimum(udp, most), capacity, most


def crowd(
    flows: ArrayLike, rtt_s: ArrayLike, packet_bits: ArrayLike, capacity: FloatArray, udp: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the number N of flows, their round-trip time in s and their packets in bits.

    Parameters
    ----------
    flows
        Number N of flows out of step, at least 2.
    rtt_s
        Round-trip time 2T in s, above 0.
    packet_bits
        Optical packet in bits, above 0.
    capacity, udp
        Capacity and the highest rate of UDP in bit/s: they leave each flow a window that can be
        halved, (C - a) 2T/(N P) >= 2.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, rtt, packet, capacity, taken = np.broadcast_arrays(
        at_least("flows", flows, 2),
        positive("rtt_s", rtt_s),
        positive("packet_bits", packet_bits),
        capacity,
        np.asarray(udp, dtype=np.float64),
    )
    peak = (capacity - taken) * rtt / (count * packet)
    if (peak < WINDOW_MIN).any():
        least = float(peak[peak < WINDOW_MIN].flat[0])
        raise ValueError(
            f"flows = {count[peak < WINDOW_MIN].flat[0]:g} leaves a flow a peak window of "
            f"{least:.3g} segments where UDP takes most: the model assumes at least "
            f"{WINDOW_MIN}, which are halved; give fewer flows or a longer round trip"
        )
    return count, rtt, packet
