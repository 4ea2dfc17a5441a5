"""Many flows out of step, which fill the link together: section V.F.

UDP rises by d = b - a. A round trip later flow after flow halves its window, K of them in all, one
every M_N T/N: that is how often one of N saws of M_N T each is at its peak.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import (
    PACKET_BITS,
    PAPER,
    Capacity,
    CoreRatio,
    Crowd,
    Near,
    OpsAcks,
    Packet,
    Rise,
    Rtt,
    Share,
    UdpOnLink,
    UdpRate,
    crowd,
    most_udp,
    with_udp,
)
from burstlab.analytic.lu_hunter.path import buffering, exposure
from burstlab.analytic.lu_hunter.quadrature import over_udp

Per = Annotated[
    Literal["round trip", "congestion"],
    Argument(
        "Time that what is lost is divided by",
        note=(
            '"round trip": over 2T C, as (2) has it. "congestion": what is lost in heavy '
            "congestion over its mean length."
        ),
    ),
]


@declared(
    "bit/s. Its mean over a is c/6",
    f"{PAPER}, section V.F, r_i^e",
    given_rise=(
        'Mean over changes upwards only, (c - a)/2: "when heavy congestion occurs", as the '
        "paper says of the other."
    ),
)
def mean_rise(
    udp_bps: UdpRate, capacity_bps: Capacity, share: Share, *, given_rise: bool = False
) -> FloatArray:
    """Mean rise r^e of UDP after a change from a, E[(b - a)+], (c - a)²/(2c): V.F."""
    udp, _, most = with_udp(udp_bps, capacity_bps, share)
    rise = most - udp
    return rise / 2 if given_rise else rise / most * rise / 2


@declared("Flows, not rounded", f"{PAPER}, section V.F.1", udp_bps="Before the rise.")
def halvings(
    rise_bps: Rise,
    udp_bps: UdpOnLink,
    capacity_bps: Capacity,
    flows: Annotated[ArrayLike, Argument("Number N of flows", at_least=2)],
) -> FloatArray:
    """Count K of the flows that have to halve their rate for a rise d, 2N d/(C - a): V.F.1."""
    rise, udp, capacity, count = arrays(rise_bps, udp_bps, capacity_bps, flows)
    return 2 * count * rise / (capacity - udp)


@declared(
    "Seconds; 0 without a rise",
    f"{PAPER}, section V.F.1",
    rise_bps="K below 1 counts as 1: one flow is enough.",
    udp_bps="Before the rise.",
)
def congestion_time(
    rise_bps: Rise,
    udp_bps: UdpOnLink,
    capacity_bps: Capacity,
    rtt_s: Rtt,
    flows: Crowd,
    packet_bits: Packet = PACKET_BITS,
) -> FloatArray:
    """Length of the heavy congestion after a rise, 2T + (K - 1) M_N T/N: V.F.1."""
    number = np.asarray(halvings(rise_bps, udp_bps, capacity_bps, flows))
    udp, capacity = arrays(udp_bps, capacity_bps)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, udp)
    time = rtt + np.maximum(number - 1, 0) * _pace(udp, capacity, rtt, count, packet)
    return np.where(number > 0, time, 0.0)


@declared(
    "Packets",
    f"{PAPER}, section V.F.1, L_i",
    udp_bps="Before the rise.",
    as_printed="All of d until the last flow has halved.",
)
def loss_of_rise(
    rise_bps: Rise,
    udp_bps: UdpOnLink,
    capacity_bps: Capacity,
    rtt_s: Rtt,
    flows: Crowd,
    packet_bits: Packet = PACKET_BITS,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Packets lost after a rise d: all of d for 2T, then half of it while flows halve: V.F.1."""
    time = congestion_time(rise_bps, udp_bps, capacity_bps, rtt_s, flows, packet_bits)
    rise, rtt, packet = arrays(rise_bps, rtt_s, packet_bits)
    later = np.maximum(np.asarray(time) - rtt, 0)
    weighed = rtt + (later if as_printed else later / 2)
    return rise * weighed / packet


@declared(
    "Packets",
    f"{PAPER}, section V.F.1",
    given_congestion="Mean over changes upwards only, which are half of all.",
    as_printed=(
        "Without the factor 1/2 of `loss_of_rise`, and with K of the mean rise (c - a)/2 "
        "in place of the mean over b: (c - a)²/(2c) (2T + (K - 1) M_N T/N)."
    ),
)
def crowd_loss(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    flows: Crowd,
    *,
    packet_bits: Packet = PACKET_BITS,
    given_congestion: bool = False,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP without DLCC: V.F.1 averaged over a and b.

    Examples
    --------
    >>> f"{crowd_loss(10e9, 0.1, 0.06, 10_000):.1f}"
    '683.5'
    """
    capacity, most = most_udp(capacity_bps, share)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, most)
    mean = most / 6 * rtt
    later = _later_loss_printed if as_printed else _later_loss
    arguments = (most, capacity, rtt, count, packet)
    mean = mean + over_udp(later, most, *arguments, until=_until(most, capacity, count, as_printed))
    return np.asarray(mean) / packet * (2 if given_congestion else 1)


@declared(
    "Seconds",
    f"{PAPER}, section V.F.1",
    as_printed="With K of the mean rise (c - a)/2, and every a with equal weight.",
)
def crowd_congestion_time(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    flows: Crowd,
    *,
    packet_bits: Packet = PACKET_BITS,
    as_printed: bool = False,
) -> FloatArray:
    """Mean length of heavy congestion where there is any, that is, UDP rises: V.F.1."""
    capacity, most = most_udp(capacity_bps, share)
    count, rtt, packet = crowd(flows, rtt_s, packet_bits, capacity, most)
    arguments = (most, capacity, rtt, count, packet)
    until = _until(most, capacity, count, as_printed)
    if as_printed:
        return rtt + over_udp(_later_time_printed, most, *arguments, until=until)
    # A rise has probability 1/2.
    return rtt + 2 * over_udp(_later_time, most, *arguments, until=until)


@declared("Ratio", f"{PAPER}, equation (2), section V.F.1", as_printed="As of `crowd_loss`.")
def crowd_loss_rate(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    flows: Crowd,
    *,
    packet_bits: Packet = PACKET_BITS,
    per: Per = "round trip",
    as_printed: bool = False,
) -> FloatArray:
    """Loss rate without DLCC: traffic lost after a change, over time and capacity: (2), V.F.1."""
    lost = np.asarray(
        crowd_loss(
            capacity_bps, share, rtt_s, flows, packet_bits=packet_bits, as_printed=as_printed
        )
    )
    time, capacity, packet = arrays(rtt_s, capacity_bps, packet_bits)
    if per == "congestion":
        time = np.asarray(
            crowd_congestion_time(
                capacity_bps, share, rtt_s, flows, packet_bits=packet_bits, as_printed=as_printed
            )
        )
        # As printed neither the loss nor the length is that of changes with congestion alone.
        lost = lost if as_printed else 2 * lost
    return lost * packet / (time * capacity)


@declared("Packets; the number of flows is not in it", f"{PAPER}, section V.F.2")
def crowd_controlled_loss(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    *,
    packet_bits: Packet = PACKET_BITS,
    core_ratio: CoreRatio = 0.5,
    near: Near = 0.5,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP with DLCC, c/6 · 2 T_1: V.F.2.

    Examples
    --------
    >>> f"{crowd_controlled_loss(10e9, 0.1, 0.06):.1f}"
    '104.2'
    """
    lasts = exposure(rtt_s, control=True, core_ratio=core_ratio, near=near)
    return _risen(capacity_bps, share, lasts, packet_bits)


@declared("Packets; the number of flows is not in it", f"{PAPER}, section V.F.2")
def crowd_edge_buffer(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    *,
    ops_acks: OpsAcks = True,
    packet_bits: Packet = PACKET_BITS,
    core_ratio: CoreRatio = 0.5,
    near: Near = 0.5,
) -> FloatArray:
    """Mean backlog of the edge router after a change, B_2, without OPS ACKs B_1: V.F.2."""
    lasts = buffering(rtt_s, ops_acks=ops_acks, core_ratio=core_ratio, near=near)
    return _risen(capacity_bps, share, lasts, packet_bits)


def _risen(
    capacity_bps: ArrayLike, share: ArrayLike, lasts: FloatArray, packet_bits: ArrayLike
) -> FloatArray:
    """Packets of a rise of c/6, its mean over a and b, for a time."""
    _, most = most_udp(capacity_bps, share)
    return most / 6 * lasts / np.asarray(packet_bits)


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
