"""How likely heavy congestion is when the rate of UDP changes: equations (3) to (5).

UDP goes from a to b, independent and uniform over [0, c] with c = C R. TCP leaves X free.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, choice
from burstlab.analytic.lu_hunter.quadrature import over_udp
from burstlab.analytic.lu_hunter.ranges import shared, with_udp

Free = Literal["saw", "uniform"]
"""What TCP leaves free: by the saw of its window, uniform over [a, (C + a)/2], or uniform over
[0, c] as the integrals of (5) have it."""

FREE: tuple[Free, ...] = ("saw", "uniform")


def rise_probability(udp_bps: ArrayLike, capacity_bps: ArrayLike, share: ArrayLike) -> FloatArray:
    """Probability that UDP becomes faster, (c - a)/c: (4).

    Parameters
    ----------
    udp_bps
        Rate a of UDP before the change in bit/s, 0 <= a <= C R.
    capacity_bps
        Capacity C of the bottleneck in bit/s, above 0.
    share
        Share R that UDP may take, 0 < R <= 0.5.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equation (4).
    """
    udp, _, most = with_udp(udp_bps, capacity_bps, share)
    return ((most - udp) / most)[()]


def congestion_probability(
    udp_bps: ArrayLike,
    capacity_bps: ArrayLike,
    share: ArrayLike,
    *,
    free: Free = "saw",
    as_printed: bool = False,
) -> FloatArray:
    """Probability P(B|a) that b > max(a, X), heavy congestion given a: (3), (5).

    Parameters
    ----------
    udp_bps, capacity_bps, share
        As of `rise_probability`.
    free
        "saw", what (6) leaves: (c - a)²/(c (C - a)). "uniform", what (5) integrates over:
        (c² - a²)/(2c²); then it does not depend on the window.
    as_printed
        (5), (c + a)/(2c): its denominator has b from a on, so it is P(b > X | b > a), X uniform.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equations (3) and (5).

    Examples
    --------
    >>> probability = congestion_probability(1e9, 10e9, 0.4, free="uniform")
    >>> printed = congestion_probability(1e9, 10e9, 0.4, as_printed=True)
    >>> f"{probability:.4f} {printed:.4f}"
    '0.4688 0.6250'
    """
    udp, capacity, most = with_udp(udp_bps, capacity_bps, share)
    kind = choice("free", free, FREE)
    if as_printed:
        return ((most + udp) / (2 * most))[()]
    if kind == "uniform":
        return ((most**2 - udp**2) / (2 * most**2))[()]
    return ((most - udp) ** 2 / (most * (capacity - udp)))[()]


def product_probability(
    udp_bps: ArrayLike, capacity_bps: ArrayLike, share: ArrayLike, *, free: Free = "saw"
) -> FloatArray:
    """Product P(b > a) P(b > X), which (3) prints as P(B|a) though the two are not independent.

    Parameters
    ----------
    udp_bps, capacity_bps, share, free
        As of `congestion_probability`.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equation (3).

    Examples
    --------
    >>> f"{product_probability(1e9, 10e9, 0.4, free='uniform'):.4f}"
    '0.3750'
    """
    rise = rise_probability(udp_bps, capacity_bps, share)
    if choice("free", free, FREE) == "uniform":
        return rise / 2
    # On the saw X is never below a, so b > X alone is heavy congestion.
    return rise * congestion_probability(udp_bps, capacity_bps, share)


def mean_congestion_probability(
    capacity_bps: ArrayLike, share: ArrayLike, *, free: Free = "saw", as_printed: bool = False
) -> FloatArray:
    """Probability P(B) that a change of UDP brings heavy congestion: (3), (5) averaged over a.

    Parameters
    ----------
    capacity_bps, share, free, as_printed
        As of `congestion_probability`.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equations (3) and (5).

    Examples
    --------
    >>> f"{mean_congestion_probability(10e9, 0.4):.4f}"
    '0.1494'
    """
    capacity, most = shared(capacity_bps, share)
    part = most / capacity
    return over_udp(
        lambda udp, link, ratio: np.asarray(
            congestion_probability(udp, link, ratio, free=free, as_printed=as_printed)
        ),
        most,
        capacity,
        part,
    )
