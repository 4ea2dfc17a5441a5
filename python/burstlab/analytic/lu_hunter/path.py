"""Propagation delays T_0 to T_3 of Fig. 1, and for how long each part reacts to nothing.

Source, T_0, ingress edge, T_1, congested switch, T_2, egress edge, T_3, receiver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, positive, probability


class Delays(NamedTuple):
    """One-way delays in s; they add up to T, half of the round-trip time."""

    t0_s: FloatArray
    """From the source to its edge router."""
    t1_s: FloatArray
    """From there to the congested switch."""
    t2_s: FloatArray
    """From there to the egress edge router."""
    t3_s: FloatArray
    """From there to the receiver."""


def delays(rtt_s: ArrayLike, core_ratio: ArrayLike = 0.5, near: ArrayLike = 0.5) -> Delays:
    """Delays of the four parts of the way.

    Parameters
    ----------
    rtt_s
        Round-trip time 2T in s, above 0.
    core_ratio
        T_1/T_0 = T_2/T_3, above 0; section VI has 0.5.
    near
        Share of T up to the congested switch, (T_0 + T_1)/T, 0 < near < 1. The paper does not state
        it. At 0.5, that is T_0 = T_3, T/T_1 is the 6 of its abstract.

    Returns
    -------
    Delays
        In s, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), Fig. 1 and section VI.

    Examples
    --------
    >>> [f"{delay:.2f}" for delay in delays(0.6)]
    ['0.10', '0.05', '0.05', '0.10']
    """
    rtt, ratio, share = np.broadcast_arrays(
        positive("rtt_s", rtt_s), positive("core_ratio", core_ratio), probability("near", near)
    )
    front, back = rtt / 2 * share, rtt / 2 * (1 - share)
    t0, t3 = front / (1 + ratio), back / (1 + ratio)
    return Delays(t0[()], (front - t0)[()], (back - t3)[()], t3[()])


def exposure(
    rtt_s: ArrayLike,
    *,
    control: bool = False,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
) -> FloatArray:
    """For how long the switch is sent too much: a round trip 2T, with DLCC 2 T_1.

    Parameters
    ----------
    rtt_s, core_ratio, near
        As of `delays`.
    control
        With DLCC: the edge router slows down as soon as it is notified.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), V.D.
    """
    way = delays(rtt_s, core_ratio, near)
    return 2 * way.t1_s if control else 2 * (way.t0_s + way.t1_s + way.t2_s + way.t3_s)


def buffering(
    rtt_s: ArrayLike,
    *,
    ops_acks: bool = True,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
) -> FloatArray:
    """For how long the edge router is sent too much with DLCC: 2 T_0, without OPS ACKs 2T - 2 T_1.

    Parameters
    ----------
    rtt_s, core_ratio, near
        As of `delays`.
    ops_acks
        Whether the edge router tells the source by ACKs of its own.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), V.D.2.
    """
    way = delays(rtt_s, core_ratio, near)
    return 2 * way.t0_s if ops_acks else 2 * (way.t0_s + way.t2_s + way.t3_s)
