"""Many flows out of step, which fill the link together: section V.F.

UDP rises by d = b - a. A round trip later flow after flow halves its window, K of them in all, one
every M_N T/N: that is how often one of N saws of M_N T each is at its peak.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, choice, positive
from burstlab.analytic.lu_hunter.path import buffering, exposure
from burstlab.analytic.lu_hunter.quadrature import over_udp
from burstlab.analytic.lu_hunter.ranges import PACKET_BITS, crowd, shared, with_udp

Per = Literal["round trip", "congestion"]
"""Time that what is lost is divided by: 2T as in (2), or the mean length of the congestion."""

PERS: tuple[Per, ...] = ("round trip", "congestion")


def mean_rise(
    udp_bps: ArrayLike, capacity_bps: ArrayLike, share: ArrayLike, *, given_rise: bool = False
) -> FloatArray:
    """Mean rise r^e of UDP after a change from a, E[(b - a)+], (c - a)²/(2c): V.F.

    Parameters
    ----------
    udp_bps
        Rate a of UDP before the change in bit/s, 0 <= a <= C R.
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    share
        Share R that UDP may take, 0 < R <= 0.5.
    given_rise
        Mean over changes upwards only, (c - a)/2: "when heavy congestion occurs", as the paper says
        of the other.

    Returns
    -------
    numpy.ndarray
        bit/s, in the shape of the arguments broadcast together. Its mean over a is c/6.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.F, r_i^e.
    """
    udp, _, most = with_udp(udp_bps, capacity_bps, share)
    rise = most - udp
    return (rise / 2 if given_rise else rise**2 / (2 * most))[()]


def halvings(
    rise_bps: ArrayLike, udp_bps: ArrayLike, capacity_bps: ArrayLike, flows: ArrayLike
) -> FloatArray:
    """Count K of the flows that have to halve their rate for a rise d, 2N d/(C - a): V.F.1.

    Parameters
    ----------
    rise_bps
        Rise d of UDP in bit/s, at least 0.
    udp_bps
        Rate a of UDP before the rise in bit/s, 0 <= a < C.
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    flows
        Number N of flows, at least 2.

    Returns
    -------
    numpy.ndarray
        Flows, not rounded, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.F.1.
    """
    free = positive(
        "capacity_bps less udp_bps",
        positive("capacity_bps", capacity_bps) - at_least("udp_bps", udp_bps, 0),
    )
    return (2 * at_least("flows", flows, 2) * at_least("rise_bps", rise_bps, 0) / free)[()]


def congestion_time(
    rise_bps: ArrayLike,
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike,
    packet_bits: ArrayLike = PACKET_BITS,
) -> FloatArray:
    """Length of the heavy congestion after a rise, 2T + (K - 1) M_N T/N: V.F.1.

    Parameters
    ----------
    rise_bps, udp_bps, capacity_bps, flows
        As of `halvings`. K below 1 counts as 1: one flow is enough.
    rtt_s
        Round-trip time 2T in s, above 0.
    packet_bits
        Optical packet in bits, above 0; the largest window M_N is to be at least 2 packets.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together; 0 without a rise.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.F.1.
    """
    number = np.asarray(halvings(rise_bps, udp_bps, capacity_bps, flows))
    capacity = positive("capacity_bps", capacity_bps)
    udp = np.asarray(udp_bps, dtype=np.float64)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, udp)
    time = rtt + np.maximum(number - 1, 0) * _pace(udp, capacity, rtt, count, packet)
    return np.where(number > 0, time, 0.0)[()]


def loss_of_rise(
    rise_bps: ArrayLike,
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike,
    packet_bits: ArrayLike = PACKET_BITS,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Packets lost after a rise d: all of d for 2T, then half of it while flows halve: V.F.1.

    Parameters
    ----------
    rise_bps, udp_bps, capacity_bps, rtt_s, flows, packet_bits
        As of `congestion_time`.
    as_printed
        All of d until the last flow has halved.

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
    Lu, Hunter (JOCN 2009), section V.F.1, L_i.
    """
    time = congestion_time(rise_bps, udp_bps, capacity_bps, rtt_s, flows, packet_bits)
    rtt = positive("rtt_s", rtt_s)
    later = np.maximum(np.asarray(time) - rtt, 0)
    weighed = rtt + (later if as_printed else later / 2)
    return (np.asarray(rise_bps) * weighed / positive("packet_bits", packet_bits))[()]


def crowd_loss(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike,
    *,
    packet_bits: ArrayLike = PACKET_BITS,
    given_congestion: bool = False,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP without DLCC: V.F.1 averaged over a and b.

    Parameters
    ----------
    capacity_bps, share
        As of `mean_rise`.
    rtt_s
        Round-trip time 2T in s, above 0.
    flows
        Number N of flows out of step, at least 2, each with a window of at least 2 packets.
    packet_bits
        Optical packet in bits, above 0.
    given_congestion
        Mean over changes upwards only, which are half of all.
    as_printed
        Without the factor 1/2 of `loss_of_rise`, and with K of the mean rise (c - a)/2 in place of
        the mean over b: (c - a)²/(2c) (2T + (K - 1) M_N T/N).

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
    Lu, Hunter (JOCN 2009), section V.F.1.

    Examples
    --------
    >>> f"{crowd_loss(10e9, 0.1, 0.06, 10_000):.1f}"
    '683.5'
    """
    capacity, most = shared(capacity_bps, share)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, most)
    mean = most / 6 * rtt
    later = _later_loss_printed if as_printed else _later_loss
    arguments = (most, capacity, rtt, count, packet)
    mean = mean + over_udp(later, most, *arguments, until=_until(most, capacity, count, as_printed))
    return (np.asarray(mean) / packet * (2 if given_congestion else 1))[()]


def crowd_congestion_time(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike,
    *,
    packet_bits: ArrayLike = PACKET_BITS,
    as_printed: bool = False,
) -> FloatArray:
    """Mean length of heavy congestion where there is any, that is, UDP rises: V.F.1.

    Parameters
    ----------
    capacity_bps, share, rtt_s, flows, packet_bits
        As of `crowd_loss`.
    as_printed
        With K of the mean rise (c - a)/2, and every a with equal weight.

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
    Lu, Hunter (JOCN 2009), section V.F.1.
    """
    capacity, most = shared(capacity_bps, share)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, most)
    arguments = (most, capacity, rtt, count, packet)
    until = _until(most, capacity, count, as_printed)
    if as_printed:
        return rtt + over_udp(_later_time_printed, most, *arguments, until=until)
    # A rise has probability 1/2.
    return rtt + 2 * over_udp(_later_time, most, *arguments, until=until)


def crowd_loss_rate(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    flows: ArrayLike,
    *,
    packet_bits: ArrayLike = PACKET_BITS,
    per: Per = "round trip",
    as_printed: bool = False,
) -> FloatArray:
    """Loss rate without DLCC: traffic lost after a change, over time and capacity: (2) with V.F.1.

    Parameters
    ----------
    capacity_bps, share, rtt_s, flows, packet_bits, as_printed
        As of `crowd_loss`.
    per
        "round trip": over 2T C, as (2) has it. "congestion": what is lost in heavy congestion over
        its mean length.

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
    Lu, Hunter (JOCN 2009), equation (2), section V.F.1.
    """
    chosen = choice("per", per, PERS)
    lost = np.asarray(
        crowd_loss(
            capacity_bps, share, rtt_s, flows, packet_bits=packet_bits, as_printed=as_printed
        )
    )
    time = positive("rtt_s", rtt_s)
    if chosen == "congestion":
        time = np.asarray(
            crowd_congestion_time(
                capacity_bps, share, rtt_s, flows, packet_bits=packet_bits, as_printed=as_printed
            )
        )
        # As printed neither the loss nor the length is that of changes with congestion alone.
        lost = lost if as_printed else 2 * lost
    link = time * positive("capacity_bps", capacity_bps)
    return (lost * positive("packet_bits", packet_bits) / link)[()]


def crowd_controlled_loss(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    *,
    packet_bits: ArrayLike = PACKET_BITS,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP with DLCC, c/6 · 2 T_1: V.F.2.

    Parameters
    ----------
    capacity_bps, share
        As of `mean_rise`.
    rtt_s, core_ratio, near
        As of `exposure`.
    packet_bits
        Optical packet in bits, above 0.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of the arguments broadcast together; the number of flows is not in it.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.F.2.

    Examples
    --------
    >>> f"{crowd_controlled_loss(10e9, 0.1, 0.06):.1f}"
    '104.2'
    """
    lasts = exposure(rtt_s, control=True, core_ratio=core_ratio, near=near)
    return _risen(capacity_bps, share, lasts, packet_bits)


def crowd_edge_buffer(
    capacity_bps: ArrayLike,
    share: ArrayLike,
    rtt_s: ArrayLike,
    *,
    ops_acks: bool = True,
    packet_bits: ArrayLike = PACKET_BITS,
    core_ratio: ArrayLike = 0.5,
    near: ArrayLike = 0.5,
) -> FloatArray:
    """Mean of what the edge router has to hold after a change, B_2, without OPS ACKs B_1: V.F.2.

    Parameters
    ----------
    capacity_bps, share
        As of `mean_rise`.
    rtt_s, ops_acks, core_ratio, near
        As of `buffering`.
    packet_bits
        Optical packet in bits, above 0.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of the arguments broadcast together; the number of flows is not in it.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), section V.F.2.
    """
    lasts = buffering(rtt_s, ops_acks=ops_acks, core_ratio=core_ratio, near=near)
    return _risen(capacity_bps, share, lasts, packet_bits)


def _risen(
    capacity_bps: ArrayLike, share: ArrayLike, lasts: FloatArray, packet_bits: ArrayLike
) -> FloatArray:
    """Packets of a rise of c/6, its mean over a and b, for a time."""
    _, most = shared(capacity_bps, share)
    return (most / 6 * lasts / positive("packet_bits", packet_bits))[()]


def _pace(
    udp: FloatArray, capacity: FloatArray, rtt: FloatArray, count: FloatArray, packet: FloatArray
) -> FloatArray:
    """Time from a flow that halves to the next, M_N T/N."""
    return rtt**2 * (capacity - udp) / (2 * count**2 * packet)


def _until(
    most: FloatArray, capacity: FloatArray, count: FloatArray, as_printed: bool
) -> FloatArray:
    """Rate a from which on one flow is enough: the largest rise there, as printed the mean one."""
    factor = count if as_printed else 2 * count
    return np.maximum((factor * most - capacity) / (factor - 1), 0)


def _later_loss(
    udp: FloatArray,
    most: FloatArray,
    capacity: FloatArray,
    rtt: FloatArray,
    count: FloatArray,
    packet: FloatArray,
) -> FloatArray:
    """Bits lost after the first round trip, averaged over b: d (d/d_1 - 1)/2 from d_1 on."""
    one, top = (capacity - udp) / (2 * count), most - udp
    mean = ((top**3 - one**3) / (3 * one) - (top**2 - one**2) / 2) / most
    return mean / 2 * _pace(udp, capacity, rtt, count, packet)


def _later_loss_printed(
    udp: FloatArray,
    most: FloatArray,
    capacity: FloatArray,
    rtt: FloatArray,
    count: FloatArray,
    packet: FloatArray,
) -> FloatArray:
    rise = (most - udp) ** 2 / (2 * most)
    return rise * _later_time_printed(udp, most, capacity, rtt, count, packet)


def _later_time(
    udp: FloatArray,
    most: FloatArray,
    capacity: FloatArray,
    rtt: FloatArray,
    count: FloatArray,
    packet: FloatArray,
) -> FloatArray:
    """Seconds after the first round trip, averaged over b; zero without a rise."""
    one, top = (capacity - udp) / (2 * count), most - udp
    mean = ((top**2 - one**2) / (2 * one) - (top - one)) / most
    return mean * _pace(udp, capacity, rtt, count, packet)


def _later_time_printed(
    udp: FloatArray,
    most: FloatArray,
    capacity: FloatArray,
    rtt: FloatArray,
    count: FloatArray,
    packet: FloatArray,
) -> FloatArray:
    number = (most - udp) * count / (capacity - udp)
    return (number - 1) * _pace(udp, capacity, rtt, count, packet)
