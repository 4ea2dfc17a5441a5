"""Packets delivered between two time-outs: equations (4) and (6) to (8)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, choice, probability
from burstlab.analytic.yu2004.windows import (
    SLOW_STARTS,
    SlowStart,
    mean_window_btcp,
    mean_window_tcp,
)

Spacing = Literal["even", "geometric"]
"""Distance of losses in rounds: always the mean, or independent losses."""

Rounds = Literal["inverse", "delivered"]
"""Rounds between two losses in (7) and (8): 1/p as printed, or (1-p)/p as in (4) to (6)."""

SPACINGS: tuple[Spacing, ...] = ("even", "geometric")
ROUNDS: tuple[Rounds, ...] = ("inverse", "delivered")


def packets_to_window(window: ArrayLike, *, slow_start: SlowStart = "paper") -> FloatArray:
    """Packets from a window of 1 up to the window W, with ssthresh W/2: (4).

    3W^2/8 + W - 1: slow start carries W - 1, congestion avoidance W/2 rounds of 3W/4 on average.

    Parameters
    ----------
    window
        The window W in packets at which the burst is lost, at least 2.
    slow_start
        Count of the packets in slow start, see `SlowStart`; "half" has W/2 less.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of `window`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (4).
    """
    return _packets_to(at_least("window", window, 2), slow_start)[()]


def unlimited_packets_tcp(
    p: ArrayLike, *, slow_start: SlowStart = "paper", as_printed: bool = False
) -> FloatArray:
    """Packets of TCP between two time-outs where W_m is never reached: (4) with (5).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1; meaningful as for `mean_window_tcp`.
    slow_start
        Count of slow start, see `SlowStart`, used in (4) and in (5).
    as_printed
        Put E[W] = (1-p)/p of the text into (4), in place of the solution of (5).

    Returns
    -------
    numpy.ndarray
        Packets E[H1], in the shape of `p`; NaN where the window would be below 2.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equations (4) and (5).
    """
    window = np.asarray(mean_window_tcp(p, slow_start=slow_start, as_printed=as_printed))
    return _packets_to(np.where(window >= 2, window, np.nan), slow_start)[()]


def unlimited_packets_btcp(p: ArrayLike, *, spacing: Spacing = "even") -> FloatArray:
    """Packets of BTCP between two time-outs where W_m is never reached: (6).

    With even spacing 3(1-p)^2/(2p^2): every round count is (1-p)/p. With independent losses the
    count X is geometric, the packets are X*W/2 + X^2/2 and W/2 is independent of X, so that
    E[H2] = (1-p)(4-3p)/(2p^2).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1; meaningful for p <= 1/2.
    spacing
        "even" as printed, or "geometric".

    Returns
    -------
    numpy.ndarray
        Packets E[H2], in the shape of `p`; NaN where `mean_window_btcp` is.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (6). The geometric variant is not in the paper.
    """
    choice("spacing", spacing, SPACINGS)
    loss = probability("p", p)
    even = 3 * (1 - loss) ** 2 / (2 * loss**2)
    geometric = (1 - loss) * (4 - 3 * loss) / (2 * loss**2)
    packets = even if spacing == "even" else geometric
    return np.where(np.isnan(mean_window_btcp(loss)), np.nan, packets)[()]


def limited_packets_tcp(
    p: ArrayLike,
    window: ArrayLike,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Packets of TCP between two time-outs where W_m is reached: (7).

    W_m/p - W_m^2/8 + W_m - 1 - W_m*log2(W_m/2), the second line of (7). The first line has 3W_m/8
    for congestion avoidance; with 3W_m^2/8 the lines agree.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    window
        Largest window W_m in packets, at least 2. It is reached if
        W_m/2 + log2(W_m/2) <= 1/p.
    rounds
        Rounds between two losses: "inverse" (1/p, as printed) or "delivered" ((1-p)/p, as in (4)
        to (6)); the second is W_m packets less.
    slow_start
        Count of slow start, see `SlowStart`; "half" is W_m/2 packets less, "full" W_m.
    as_printed
        Evaluate the first line as printed.

    Returns
    -------
    numpy.ndarray
        Packets E[H1], in the shape of the arguments broadcast together; NaN where W_m is not
        reached.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (7).
    """
    count, limit = _count(p, rounds), at_least("window", window, 2)
    starting, carried = slow_start_of(limit, slow_start)
    full = count - limit / 2 - starting
    avoidance = 3 * limit / 8 if as_printed else 3 * limit**2 / 8
    packets = carried + avoidance + limit * full
    return np.where(full >= 0, packets, np.nan)[()]


def limited_packets_btcp(
    p: ArrayLike, window: ArrayLike, *, rounds: Rounds = "inverse"
) -> FloatArray:
    """Packets of BTCP between two time-outs where W_m is reached: (8), W_m/p - W_m^2/8.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    window
        Largest window W_m in packets, at least 2. It is reached if W_m/2 <= 1/p.
    rounds
        Rounds between two losses, as in `limited_packets_tcp`.

    Returns
    -------
    numpy.ndarray
        Packets E[H2], in the shape of the arguments broadcast together; NaN where W_m is not
        reached.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (8).
    """
    count, limit = _count(p, rounds), at_least("window", window, 2)
    full = count - limit / 2
    return np.where(full >= 0, limit * full + 3 * limit**2 / 8, np.nan)[()]


def slow_start_of(window: FloatArray, slow_start: SlowStart) -> tuple[FloatArray, FloatArray]:
    """Count the rounds and packets of slow start from a window of 1 to half of `window`.

    Parameters
    ----------
    window
        The window in packets that congestion avoidance goes on to, at least 2.
    slow_start
        How they are counted, see `SlowStart`.

    Returns
    -------
    rounds, packets : numpy.ndarray
        In the shape of `window`.

    Raises
    ------
    ValueError
        If `slow_start` is not known.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, the text before (4).
    """
    choice("slow_start", slow_start, SLOW_STARTS)
    rounds = np.log2(window if slow_start == "full" else window / 2)
    return rounds, window / 2 - 1 if slow_start == "half" else window - 1


def _packets_to(window: FloatArray, slow_start: SlowStart) -> FloatArray:
    return 3 * window**2 / 8 + slow_start_of(window, slow_start)[1]


def _count(p: ArrayLike, rounds: Rounds) -> FloatArray:
    choice("rounds", rounds, ROUNDS)
    loss = probability("p", p)
    return 1 / loss if rounds == "inverse" else (1 - loss) / loss
