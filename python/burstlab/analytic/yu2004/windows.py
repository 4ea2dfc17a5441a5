"""Flow classes, rounds between losses and congestion windows: equations (1) to (3) and (5)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.analytic.arguments import FloatArray, at_least, choice, positive, probability

SlowStart = Literal["paper", "half", "full"]
"""How slow start from a window of 1 up to W/2 is counted.

======= ============ =========== ===================================================
name    rounds       packets     meaning
======= ============ =========== ===================================================
paper   log2(W/2)    W - 1       as (4) and (5) have it; the two disagree by a round
half    log2(W/2)    W/2 - 1     rounds of 1, 2, ..., W/4
full    log2(W)      W - 1       rounds of 1, 2, ..., W/2
======= ============ =========== ===================================================
"""

SLOW_STARTS: tuple[SlowStart, ...] = ("paper", "half", "full")

NEWTON_STEPS = 12
"""The start is within a factor of two of the root and the number of right digits doubles with
every step, so that half of these reach the last bit."""


def flow_class(
    rate_pps: ArrayLike, assembly_s: ArrayLike, window: ArrayLike, *, as_printed: bool = False
) -> NDArray[np.str_]:
    """Class of a flow by how many packets of a round share one burst: (1) to (3).

    With N = rate_pps * assembly_s the paper calls a flow slow if N < 1 (1), medium if
    1 <= N < W_m (2) and fast if N >= W_m - 1 (3). For W_m - 1 <= N < W_m both (2) and (3) hold.
    The packet that starts the timer comes on top of the N that arrive while it runs, so a whole
    window fits into one burst from N = W_m - 1 on: (3) is what happens, and it is tested first.

    Parameters
    ----------
    rate_pps
        Rate of the access link in packets/s, above 0.
    assembly_s
        Time of the burst assembler in s, at least 0.
    window
        Largest window W_m in packets, at least 1.
    as_printed
        Test in the order of the paper, so that where both hold the answer is "medium".

    Returns
    -------
    numpy.ndarray of str
        "slow", "medium" or "fast", in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    With W_m < 2 a slow flow also satisfies (3): one packet is a whole window. It is called fast.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), II.A, equations (1) to (3).

    Examples
    --------
    >>> str(flow_class(1000, 0.2, 200))
    'fast'
    """
    rate = positive("rate_pps", rate_pps)
    assembly = at_least("assembly_s", assembly_s, 0)
    limit = at_least("window", window, 1)
    arrivals = rate * assembly
    slow, medium, fast = arrivals < 1, (arrivals >= 1) & (arrivals < limit), arrivals >= limit - 1
    order = [(slow, "slow"), (medium, "medium"), (fast, "fast")]
    if not as_printed:
        order = [order[2], order[0], order[1]]
    conditions = [
        np.broadcast_to(test, np.broadcast_shapes(slow.shape, fast.shape)) for test, _ in order
    ]
    return np.select(conditions, [np.str_(word) for _, word in order], np.str_("medium"))[()]


def rounds_between_losses(p: ArrayLike) -> FloatArray:
    """Mean number of rounds delivered between two burst losses, (1 - p)/p.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.

    Returns
    -------
    numpy.ndarray
        Rounds, in the shape of `p`.

    Raises
    ------
    ValueError
        If `p` is out of range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, the text before (4).
    """
    loss = probability("p", p)
    return ((1 - loss) / loss)[()]


def mean_window_tcp(
    p: ArrayLike, *, slow_start: SlowStart = "paper", as_printed: bool = False
) -> FloatArray:
    """Mean window E[W] at which a flow without false time-out detection loses a burst: (5).

    Solves (1-p)/p = log2(W/2) + W/2 for W. With x = W/2 the right side is increasing and concave,
    and Newton's iteration from below the root climbs to it without overshooting.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1. Meaningful for p <= 1/2 (p <= 1/3 with
        ``slow_start="full"``): beyond, slow start would have less than no round.
    slow_start
        Count of the rounds in slow start, see `SlowStart`. "half" has the rounds of "paper".
    as_printed
        Return (1-p)/p, which the text before (4) calls E[W]. It is the number of rounds.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of `p`; NaN where E[W] would be below 2.

    Raises
    ------
    ValueError
        If `p` or `slow_start` is out of range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (5).

    Examples
    --------
    >>> f"{mean_window_tcp(0.1):.2f}"
    '12.67'
    """
    choice("slow_start", slow_start, SLOW_STARTS)
    rounds = np.asarray(rounds_between_losses(p))
    if as_printed:
        return rounds[()]
    half = _root(rounds - (1 if slow_start == "full" else 0))
    # p = 1/2 has the root 1 exactly; rounding must not push it out of the range.
    return np.where(half >= 1 - 1e-12, 2 * half, np.nan)[()]


def mean_window_btcp(p: ArrayLike) -> FloatArray:
    """Mean window at which a flow with false time-out detection loses a burst, 2(1-p)/p.

    It starts a round at W/2 and grows by one packet a round.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1. Below 2 packets (p > 1/2) there is no
        window to halve.

    Returns
    -------
    numpy.ndarray
        Packets, in the shape of `p`; NaN where it would be below 2.

    Raises
    ------
    ValueError
        If `p` is out of range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, the text before (6).
    """
    window = 2 * np.asarray(rounds_between_losses(p))
    return np.where(window >= 2, window, np.nan)[()]


def mean_window_ratio(p: ArrayLike, *, slow_start: SlowStart = "paper") -> FloatArray:
    """Mean window of BTCP over that of TCP: the second curve of Fig. 5(a).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1; meaningful as for `mean_window_tcp`.
    slow_start
        Count of the rounds in slow start, see `SlowStart`.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of `p`; NaN where a window is.

    Raises
    ------
    ValueError
        If `p` or `slow_start` is out of range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), Fig. 5(a), from (5) and the text before (6).
    """
    return mean_window_btcp(p) / mean_window_tcp(p, slow_start=slow_start)


def window_regime(
    p: ArrayLike,
    window: ArrayLike,
    *,
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> NDArray[np.str_]:
    """Which equations hold: whether losses or W_m limit the window.

    ================= ============================= ==================== =============
    regime            condition                     packets of TCP       of BTCP
    ================= ============================= ==================== =============
    "loss-limited"    W_m >= 2(1-p)/p               (4) with (5)         (6)
    "mixed"           E[W] <= W_m < 2(1-p)/p        (4) with (5)         (8)
    "window-limited"  W_m < E[W] of (5)             (7)                  (8)
    ================= ============================= ==================== =============

    The paper's condition for the first is W_m > 1/p; but (6) lets the window of BTCP rise to
    2(1-p)/p, nearly twice that, and the window of TCP only to E[W].

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1. For p > 1/2 no window is ever reached and
        the answer is "loss-limited".
    window
        Largest window W_m in packets, at least 2.
    slow_start
        Count of the rounds in slow start in (5), see `SlowStart`.
    as_printed
        "loss-limited" where W_m * p > 1, else "window-limited".

    Returns
    -------
    numpy.ndarray of str
        The regime, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, the text before (4) and before (7).
    """
    loss, limit = probability("p", p), at_least("window", window, 2)
    if as_printed:
        return np.where(limit * loss > 1, "loss-limited", "window-limited")[()]
    tcp_limited = limit < np.asarray(mean_window_tcp(loss, slow_start=slow_start))
    btcp_limited = limit < np.asarray(mean_window_btcp(loss))
    return np.where(tcp_limited, "window-limited", np.where(btcp_limited, "mixed", "loss-limited"))[
        ()
    ]


def _root(rounds: FloatArray) -> FloatArray:
    """Solve x + log2(x) = rounds for x, element by element."""
    above = np.maximum(rounds, 1)
    # Both starts lie at or below the root.
    x = np.where(
        rounds >= 1, np.maximum(1, above - np.log2(above)), np.exp2(np.minimum(rounds, 1) - 1)
    )
    for _ in range(NEWTON_STEPS):
        x = x - (x + np.log2(x) - rounds) / (1 + 1 / (x * np.log(2)))
    return x
