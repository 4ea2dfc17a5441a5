"""How likely heavy congestion is when the rate of UDP changes: equations (3) to (5).

UDP goes from a to b, independent and uniform over [0, c] with c = C R. TCP leaves X free.
"""

from __future__ import annotations

import numpy as np

from burstlab.analytic.arguments import FloatArray
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import (
    PAPER,
    Capacity,
    Free,
    Share,
    UdpRate,
    most_udp,
    with_udp,
)
from burstlab.analytic.lu_hunter.quadrature import over_udp


@declared("Probability", f"{PAPER}, equation (4)")
def rise_probability(udp_bps: UdpRate, capacity_bps: Capacity, share: Share) -> FloatArray:
    """Probability that UDP becomes faster, (c - a)/c: (4)."""
    udp, _, most = with_udp(udp_bps, capacity_bps, share)
    return (most - udp) / most


@declared(
    "Probability",
    f"{PAPER}, equations (3) and (5)",
    as_printed=(
        "(5), (c + a)/(2c): its denominator has b from a on, so it is P(b > X | b > a), X uniform."
    ),
)
def congestion_probability(
    udp_bps: UdpRate,
    capacity_bps: Capacity,
    share: Share,
    *,
    free: Free = "saw",
    as_printed: bool = False,
) -> FloatArray:
    """Probability P(B|a) that b > max(a, X), heavy congestion given a: (3), (5).

    Examples
    --------
    >>> probability = congestion_probability(1e9, 10e9, 0.4, free="uniform")
    >>> printed = congestion_probability(1e9, 10e9, 0.4, as_printed=True)
    >>> f"{probability:.4f} {printed:.4f}"
    '0.4688 0.6250'
    """
    udp, capacity, most = with_udp(udp_bps, capacity_bps, share)
    if as_printed:
        return (most + udp) / (2 * most)
    if free == "uniform":
        return (1 - udp / most) * (1 + udp / most) / 2
    return (most - udp) / most * ((most - udp) / (capacity - udp))


@declared("Probability", f"{PAPER}, equation (3)")
def product_probability(
    udp_bps: UdpRate, capacity_bps: Capacity, share: Share, *, free: Free = "saw"
) -> FloatArray:
    """Product P(b > a) P(b > X), which (3) prints as P(B|a) though the two are not independent.

    Examples
    --------
    >>> f"{product_probability(1e9, 10e9, 0.4, free='uniform'):.4f}"
    '0.3750'
    """
    rise = rise_probability(udp_bps, capacity_bps, share)
    if free == "uniform":
        return rise / 2
    # On the saw X is never below a, so b > X alone is heavy congestion.
    return rise * congestion_probability(udp_bps, capacity_bps, share)


@declared(
    "Probability", f"{PAPER}, equations (3) and (5)", as_printed="As of `congestion_probability`."
)
def mean_congestion_probability(
    capacity_bps: Capacity, share: Share, *, free: Free = "saw", as_printed: bool = False
) -> FloatArray:
    """Probability P(B) that a change of UDP brings heavy congestion: (3), (5) averaged over a.

    Examples
    --------
    >>> f"{mean_congestion_probability(10e9, 0.4):.4f}"
    '0.1494'
    """
    capacity, most = most_udp(capacity_bps, share)
    part = most / capacity
    return over_udp(
        lambda udp, link, ratio: np.asarray(
            congestion_probability(udp, link, ratio, free=free, as_printed=as_printed)
        ),
        most,
        capacity,
        part,
    )
