"""Propagation delays T_0 to T_3 of Fig. 1, and for how long each part reacts to nothing.

Source, T_0, ingress edge, T_1, congested switch, T_2, egress edge, T_3, receiver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burstlab.analytic.arguments import FloatArray
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import PAPER, Control, CoreRatio, Near, OpsAcks, Rtt


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


@declared(
    "In s, in the shape of the arguments broadcast together", f"{PAPER}, Fig. 1 and section VI"
)
def delays(rtt_s: Rtt, core_ratio: CoreRatio = 0.5, near: Near = 0.5) -> Delays:
    """Delays of the four parts of the path.

    Examples
    --------
    >>> [f"{delay:.2f}" for delay in delays(0.6)]
    ['0.10', '0.05', '0.05', '0.10']
    """
    rtt, ratio, share = np.broadcast_arrays(rtt_s, core_ratio, near)
    front, back = rtt / 2 * share, rtt / 2 * (1 - share)
    # Each by itself: differences would lose the digits of a small core.
    outer, inner = 1 / (1 + ratio), ratio / (1 + ratio)
    t0, t1, t2, t3 = front * outer, front * inner, back * inner, back * outer
    return Delays(t0[()], t1[()], t2[()], t3[()])


@declared("Seconds", f"{PAPER}, V.D")
def exposure(
    rtt_s: Rtt, *, control: Control = False, core_ratio: CoreRatio = 0.5, near: Near = 0.5
) -> FloatArray:
    """How long the switch is sent too much: a round trip 2T, with DLCC 2 T_1."""
    parts = delays(rtt_s, core_ratio, near)
    return 2 * parts.t1_s if control else 2 * (parts.t0_s + parts.t1_s + parts.t2_s + parts.t3_s)


@declared("Seconds", f"{PAPER}, V.D.2")
def buffering(
    rtt_s: Rtt, *, ops_acks: OpsAcks = True, core_ratio: CoreRatio = 0.5, near: Near = 0.5
) -> FloatArray:
    """How long the edge router is sent too much with DLCC: 2 T_0, without OPS ACKs 2T - 2 T_1."""
    parts = delays(rtt_s, core_ratio, near)
    return 2 * parts.t0_s if ops_acks else 2 * (parts.t0_s + parts.t2_s + parts.t3_s)
