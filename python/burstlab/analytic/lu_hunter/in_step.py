"""One flow, or N in step: what is sent too much, and what is lost of it; (2), V.D, V.E.

N flows in step take what one flow takes, so their number does not matter.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, choice, positive, whole
from burstlab.analytic.lu_hunter.congestion import congestion_probability
from burstlab.analytic.lu_hunter.congestion import mean_congestion_probability as _mean_probability
from burstlab.analytic.lu_hunter.path import buffering, exposure
from burstlab.analytic.lu_hunter.quadrature import over_udp
from burstlab.analytic.lu_hunter.ranges import PACKET_BITS, shared, with_udp

Weight = Literal["once", "twice"]
"""How often P(B|a) is in (2): within L_i, or beside it once more, as printed."""

WEIGHTS: tuple[Weight, ...] = ("once", "twice")


def excess(
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    share: ArrayLike,
    *,
    flows: int = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean of what is sent beyond capacity after a change from a, E[(b - X)+ | a]: within L_i.

    (c - a)³/(3c (C - a)) for c = C R, over all phases of the saw. It is zero where there is no
    heavy congestion, so P(B|a) is in it. T^UDP drops out where the phase is uniform.

    Parameters
    ----------
    udp_bps
        Rate a of UDP before the change in bit/s, 0 <= a <= C R.
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    share
        Share R that UDP may take, 0 < R <= 0.5.
    flows
        Flows in step, at least 1. Their number enters as printed only.
    as_printed
        For one flow half of it, (c - a)³/(6c (C - a)), with (6) as printed. For more the largest
        window of (9): X = a for every k, hence (c - a)²/(2c).

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
    Lu, Hunter (JOCN 2009), L_i of sections V.D and V.E, equations (6) and (9).
    """
    udp, capacity, most = with_udp(udp_bps, capacity_bps, share)
    several = whole("flows", flows, 1) > 1
    if as_printed and several:
        return ((most - udp) ** 2 / (2 * most))[()]
    cubic = (most - udp) ** 3 / (3 * most * (capacity - udp))
    return (cubic / 2 if as_printed else cubic)[()]


def mean_excess(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    *,
    given_congestion: bool = False,
    flows: int = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean of what is sent beyond capacity after a change, over all a: `excess` averaged.

    Parameters
    ----------
    capacity_bps, share, flows, as_printed
        As of `excess`.
    given_congestion
        Mean over changes with heavy congestion only: divided by P(B), which is not printed.

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
    Lu, Hunter (JOCN 2009), section V.D.
    """
    capacity, most = shared(capacity_bps, share)
    part = most / capacity
    mean = over_udp(
        lambda udp, link, ratio: np.asarray(
            excess(udp, link, ratio, flows=flows, as_printed=as_printed)
        ),
        most,
        capacity,
        part,
    )
    return mean / _mean_probability(capacity, part) if given_congestion else mean


def mean_loss(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    *,
    control: bool = False,
    packet_bits: ArrayLike = PACKET_BITS,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
    given_congestion: bool = False,
    flows: int = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP, the mean of L_i: section V.D.

    Parameters
    ----------
    capacity_bps, share, flows, as_printed
        As of `excess`.
    rtt_s, control, core_ratio, near
        As of `exposure`: loss lasts 2T, or 2 T_1 with DLCC.
    packet_bits
        Optical packet in bits, above 0.
    given_congestion
        Mean over changes with heavy congestion only. The paper says so of its sum, which is not.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.D, text before V.D.2.

    Examples
    --------
    >>> lost, kept = mean_loss(10e9, 0.1, 0.06), mean_loss(10e9, 0.1, 0.06, control=True)
    >>> f"{lost:.1f} {lost / kept:.2f}"
    '31.9 6.00'
    """
    rate = mean_excess(
        capacity_bps, share, given_congestion=given_congestion, flows=flows, as_printed=as_printed
    )
    lasts = exposure(rtt_s, control=control, core_ratio=core_ratio, near=near)
    return (np.asarray(rate * lasts) / positive("packet_bits", packet_bits))[()]


def loss_rate(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    *,
    control: bool = False,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
    weight: Weight = "once",
    as_printed: bool = False,
) -> FloatArray:
    """Loss rate P_L: traffic lost within a round trip after a change, over 2T C: (2).

    2T cancels: P_L does not depend on the round-trip time.

    Parameters
    ----------
    capacity_bps, share
        As of `excess`.
    control, core_ratio, near
        As of `exposure`.
    weight
        "twice" multiplies L_i by P(B|a) again, all else being corrected.
    as_printed
        All as printed: P(B|a) of (5) beside L_i with (6).

    Returns
    -------
    numpy.ndarray
        Ratio, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equation (2).

    Examples
    --------
    >>> [f"{loss_rate(10e9, 0.4, weight=weight):.5f}" for weight in ("once", "twice")]
    ['0.01457', '0.00404']
    """
    capacity, most = shared(capacity_bps, share)
    double = choice("weight", weight, WEIGHTS) == "twice" or as_printed

    def lost(udp: FloatArray, link: FloatArray, ratio: FloatArray) -> FloatArray:
        rate = np.asarray(excess(udp, link, ratio, as_printed=as_printed))
        if double:
            rate = rate * congestion_probability(udp, link, ratio, as_printed=as_printed)
        return rate

    mean = over_udp(lost, most, capacity, most / capacity)
    share_of_2t = exposure(1.0, control=control, core_ratio=core_ratio, near=near)
    return (np.asarray(mean * share_of_2t) / capacity)[()]


def edge_buffer(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    *,
    ops_acks: bool = True,
    packet_bits: ArrayLike = PACKET_BITS,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
    as_printed: bool = False,
) -> FloatArray:
    """Mean of what the edge router has to hold after a change, B_2, without OPS ACKs B_1: V.D.2.

    Parameters
    ----------
    capacity_bps, share, as_printed
        As of `excess`.
    rtt_s, ops_acks, core_ratio, near
        As of `buffering`: what is too much comes for 2 T_0, without OPS ACKs for 2T - 2 T_1.
    packet_bits
        Optical packet in bits, above 0.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.D.2.
    """
    rate = mean_excess(capacity_bps, share, as_printed=as_printed)
    lasts = buffering(rtt_s, ops_acks=ops_acks, core_ratio=core_ratio, near=near)
    return (np.asarray(rate * lasts) / positive("packet_bits", packet_bits))[()]
