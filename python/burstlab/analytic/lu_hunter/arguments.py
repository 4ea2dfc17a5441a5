"""Arguments of the paper, each with its range and the assumption of the model that needs it."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, Relation

PAPER = "Lu, Hunter (JOCN 2009)"

PACKET_BITS = 16_000
"""Optical packet of section VI, 2000 bytes: a segment S with its headers H, in bits."""

WINDOW_MIN = 2
"""Segments of a window that can be halved."""

CAPACITY = Argument("Capacity C of the bottleneck", "bit/s", above=0)
SHARE = Argument(
    "Share R that UDP may take",
    above=0,
    at_most=0.5,
    because=(
        "the model assumes that TCP makes room for UDP by halving its rate once, which needs "
        "0 < R <= 0.5"
    ),
)
RTT = Argument("Round-trip time 2T", "s", above=0)
PACKET = Argument("Optical packet S + H, a segment with its headers,", "bits", above=0)
CORE_RATIO = Argument("T_1/T_0 = T_2/T_3", above=0, note="Section VI has 0.5.")
NEAR = Argument(
    "Share of T up to the congested switch, (T_0 + T_1)/T",
    above=0,
    below=1,
    note=(
        "The paper does not state it. At 0.5, that is T_0 = T_3, T/T_1 is the 6 of its abstract."
    ),
)

Capacity = Annotated[ArrayLike, CAPACITY]
Share = Annotated[ArrayLike, SHARE]
Rtt = Annotated[ArrayLike, RTT]
Packet = Annotated[ArrayLike, PACKET]
CoreRatio = Annotated[ArrayLike, CORE_RATIO]
Near = Annotated[ArrayLike, NEAR]
UdpRate = Annotated[
    ArrayLike, Argument("Rate a of UDP before the change", "bit/s", at_least=0, note="At most C R.")
]
UdpOnLink = Annotated[
    ArrayLike,
    Argument(
        "Rate a of UDP",
        "bit/s",
        at_least=0,
        relation=Relation(
            "<", "capacity_bps", "that leaves TCP nothing; give less than the capacity"
        ),
    ),
]
Headers = Annotated[
    ArrayLike,
    Argument(
        "Headers H",
        "bits",
        at_least=0,
        relation=Relation("<", "packet_bits", "the model assumes that a packet carries data"),
        note="TCP and IP have 320, 40 bytes.",
    ),
]
Rise = Annotated[ArrayLike, Argument("Rise d of UDP", "bit/s", at_least=0)]
InStep = Annotated[ArrayLike, Argument("Number N of flows in step", at_least=1)]
CountInStep = Annotated[
    int, Argument("Flows in step", at_least=1, note="Their number enters as printed only.")
]
Crowd = Annotated[
    ArrayLike,
    Argument(
        "Number N of flows out of step",
        at_least=2,
        note=f"Each has a largest window of at least {WINDOW_MIN} packets.",
    ),
]
Control = Annotated[
    bool, Argument("With DLCC: the edge router slows down as soon as it is notified")
]
OpsAcks = Annotated[
    bool, Argument("Whether the edge router notifies the source by ACKs of its own")
]
Free = Annotated[
    Literal["saw", "uniform"],
    Argument(
        "The rate that TCP leaves free",
        note=(
            '"saw", by the saw of its window, which (6) leaves: X uniform over [a, (C + a)/2], '
            'P(B|a) = (c - a)²/(c (C - a)). "uniform", over [0, c] as the integrals of (5) have '
            "it: (c² - a²)/(2c²); then it does not depend on the window."
        ),
    ),
]


def most_udp(capacity_bps: ArrayLike, share: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the capacity C and the most that UDP takes of it, c = C R, both in bit/s."""
    capacity, part = np.broadcast_arrays(capacity_bps, share)
    return capacity, capacity * part


def with_udp(
    udp_bps: ArrayLike, capacity_bps: ArrayLike, share: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rate a of UDP, the capacity C and c = C R, all in bit/s; refuse a above c."""
    udp, capacity, most = np.broadcast_arrays(udp_bps, *most_udp(capacity_bps, share))
    wrong = udp > most * (1 + 1e-12)
    if wrong.any():
        raise ValueError(
            f"udp_bps = {udp[wrong].flat[0]:g} is above C R = {most[wrong].flat[0]:g}: the model "
            "assumes that UDP takes at most a share R of the capacity C"
        )
    return np.minimum(udp, most), capacity, most


def crowd(
    flows: ArrayLike, rtt_s: ArrayLike, packet_bits: ArrayLike, capacity: ArrayLike, udp: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the number N of flows, their round-trip time in s and their packets in bits.

    Capacity and the highest rate of UDP have to leave each flow a window that can be halved,
    (C - a) 2T/(N P) >= 2.
    """
    count, rtt, packet, capacity, taken = np.broadcast_arrays(
        flows, rtt_s, packet_bits, capacity, udp
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
