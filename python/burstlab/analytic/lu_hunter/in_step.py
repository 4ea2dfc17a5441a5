"""One flow, or N in step: what is sent too much, and what is lost of it; (2), V.D, V.E.

N flows in step take what one flow takes, so their number does not matter.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from burstlab.analytic.arguments import Argument, FloatArray
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import (
    PACKET_BITS,
    PAPER,
    Capacity,
    Control,
    CoreRatio,
    CountInStep,
    Near,
    OpsAcks,
    Packet,
    Rtt,
    Share,
    UdpRate,
    most_udp,
    with_udp,
)
from burstlab.analytic.lu_hunter.congestion import congestion_probability
from burstlab.analytic.lu_hunter.congestion import mean_congestion_probability as _mean_probability
from burstlab.analytic.lu_hunter.path import buffering, exposure
from burstlab.analytic.lu_hunter.quadrature import over_udp

Weight = Annotated[
    Literal["once", "twice"],
    Argument(
        "How often P(B|a) is in (2)",
        note=(
            '"once": within L_i. "twice" multiplies L_i by it again, as printed, all else being '
            "corrected."
        ),
    ),
]


@declared(
    "bit/s",
    f"{PAPER}, L_i of sections V.D and V.E, equations (6) and (9)",
    as_printed=(
        "For one flow half of it, (c - a)³/(6c (C - a)), with (6) as printed. For more the "
        "largest window of (9): X = a for every k, hence (c - a)²/(2c)."
    ),
)
def excess(
    udp_bps: UdpRate,
    capacity_bps: Capacity,
    share: Share,
    *,
    flows: CountInStep = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean excess over the capacity after a change from a, E[(b - X)+ | a]: within L_i.

    (c - a)³/(3c (C - a)) for c = C R, over all phases of the saw. It is zero without heavy
    congestion, so it includes P(B|a). T^UDP drops out where the phase is uniform.
    """
    udp, capacity, most = with_udp(udp_bps, capacity_bps, share)
    several = flows > 1
    if as_printed and several:
        return (most - udp) / most * (most - udp) / 2
    rise = most - udp
    # Quotients first: powers of a small share are too small for a number.
    cubic = rise / most * (rise / (capacity - udp)) * rise / 3
    return cubic / 2 if as_printed else cubic


@declared(
    "bit/s",
    f"{PAPER}, section V.D",
    given_congestion=(
        "Mean over changes with heavy congestion only: divided by P(B), which is not printed."
    ),
    as_printed="As of `excess`.",
)
def mean_excess(
    capacity_bps: Capacity,
    share: Share,
    *,
    given_congestion: bool = False,
    flows: CountInStep = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean excess over the capacity after a change, over all a: `excess` averaged."""
    capacity, most = most_udp(capacity_bps, share)
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


@declared(
    "Packets",
    f"{PAPER}, section V.D, text before V.D.2",
    control="Loss lasts 2T, or 2 T_1 with DLCC.",
    given_congestion=(
        "Mean over changes with heavy congestion only. The paper says so of its sum, which is not."
    ),
    as_printed="As of `excess`.",
)
def mean_loss(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    *,
    control: Control = False,
    packet_bits: Packet = PACKET_BITS,
    core_ratio: CoreRatio = 0.5,
    near: Near = 0.5,
    given_congestion: bool = False,
    flows: CountInStep = 1,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of packets lost for a change of UDP, the mean of L_i: section V.D.

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
    return np.asarray(rate * lasts) / np.asarray(packet_bits)


@declared(
    "Ratio",
    f"{PAPER}, equation (2)",
    as_printed="All as printed: P(B|a) of (5) together with L_i with (6).",
)
def loss_rate(
    capacity_bps: Capacity,
    share: Share,
    *,
    control: Control = False,
    core_ratio: CoreRatio = 0.5,
    near: Near = 0.5,
    weight: Weight = "once",
    as_printed: bool = False,
) -> FloatArray:
    """Loss rate P_L: traffic lost within a round trip after a change, over 2T C: (2).

    2T cancels: P_L does not depend on the round-trip time.

    Examples
    --------
    >>> [f"{loss_rate(10e9, 0.4, weight=weight):.5f}" for weight in ("once", "twice")]
    ['0.01457', '0.00404']
    """
    capacity, most = most_udp(capacity_bps, share)
    double = weight == "twice" or as_printed

    def lost(udp: FloatArray, link: FloatArray, ratio: FloatArray) -> FloatArray:
        rate = np.asarray(excess(udp, link, ratio, as_printed=as_printed))
        if double:
            rate = rate * congestion_probability(udp, link, ratio, as_printed=as_printed)
        return rate

    mean = over_udp(lost, most, capacity, most / capacity)
    share_of_2t = exposure(1.0, control=control, core_ratio=core_ratio, near=near)
    return np.asarray(mean * share_of_2t) / capacity


@declared(
    "Packets",
    f"{PAPER}, section V.D.2",
    ops_acks="What is too much comes for 2 T_0, without OPS ACKs for 2T - 2 T_1.",
    as_printed="As of `excess`.",
)
def edge_buffer(
    capacity_bps: Capacity,
    share: Share,
    rtt_s: Rtt,
    *,
    ops_acks: OpsAcks = True,
    packet_bits: Packet = PACKET_BITS,
    core_ratio: CoreRatio = 0.5,
    near: Near = 0.5,
    as_printed: bool = False,
) -> FloatArray:
    """Mean backlog of the edge router after a change, B_2, without OPS ACKs B_1: V.D.2."""
    rate = mean_excess(capacity_bps, share, as_printed=as_printed)
    lasts = buffering(rtt_s, ops_acks=ops_acks, core_ratio=core_ratio, near=near)
    return np.asarray(rate * lasts) / np.asarray(packet_bits)
