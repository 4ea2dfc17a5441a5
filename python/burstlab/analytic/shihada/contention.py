"""Rounds with contention where a burst is sent again once: equations (17) to (25)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, positive, probability
from burstlab.analytic.shihada.phases import (
    avoidance_rounds,
    rounds_between_losses,
    slow_start_rounds,
    window_of,
)


def contended_share(pc: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
    """Share P_sr of delivered bursts that were sent again, (p_c - p)/(1 - p): (17).

    Parameters
    ----------
    pc
        Probability that a burst meets contention, 0 < pc < 1.
    p
        Probability that it is lost, 0 < p <= pc; by default pc², both attempts being independent.

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
    Shihada, Zhang, Ho (BROADNETS 2006), equation (17).
    """
    contention, loss = _probabilities(pc, p)
    return ((contention - loss) / (1 - loss))[()]


def uncontended_share(pc: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
    """Share P_nc of delivered bursts that met no contention, (1 - p_c)/(1 - p): (18).

    Parameters
    ----------
    pc, p
        As of `contended_share`.

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
    Shihada, Zhang, Ho (BROADNETS 2006), equation (18).
    """
    contention, loss = _probabilities(pc, p)
    return ((1 - contention) / (1 - loss))[()]


def lowest_window(
    rtt_r_s: ArrayLike,
    base_rtt_s: ArrayLike,
    beta: ArrayLike = 5,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Window W_0' at which delayed round trips lower it no further: (21).

    The first window from above with Diff_C <= beta, floor(beta · RTT_r/(RTT_r - BaseRTT)).

    Parameters
    ----------
    rtt_r_s
        Round-trip time RTT_r in s when the burst is sent again, above `base_rtt_s`.
    base_rtt_s
        Shortest round-trip time in s, above 0.
    beta
        Upper threshold of Vegas in segments, above 0.
    as_printed
        The ceiling, at which Diff_C is still above beta.

    Returns
    -------
    numpy.ndarray
        Segments, at least 2, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (21).

    Examples
    --------
    >>> float(lowest_window(0.113, 0.1)), float(lowest_window(0.113, 0.1, as_printed=True))
    (43.0, 44.0)
    """
    delayed, base, high = np.broadcast_arrays(
        positive("rtt_r_s", rtt_r_s), positive("base_rtt_s", base_rtt_s), positive("beta", beta)
    )
    if (delayed <= base).any():
        raise ValueError(
            "rtt_r_s is not above base_rtt_s: to send a burst again is assumed to take time"
        )
    window = high * delayed / (delayed - base)
    # A window that is whole but for rounding is whole.
    rounded = np.ceil(window - 1e-9) if as_printed else np.floor(window + 1e-9)
    return np.maximum(rounded, 2)[()]


def top_share(
    pc: ArrayLike, steps: ArrayLike, p: ArrayLike | None = None, *, as_printed: bool = False
) -> FloatArray:
    """Share pi_0 of rounds at W_0, the top of the chain: (22).

    Parameters
    ----------
    pc, p
        As of `contended_share`; r = P_sr/P_nc.
    steps
        Windows N = W_0 - W_0' below the top, at least 0.
    as_printed
        (1 - r^(N+1))/(1 - r), which is the inverse and above 1.

    Returns
    -------
    numpy.ndarray
        Probability (1 - r)/(1 - r^(N+1)), in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (22).
    """
    ratio, count = np.broadcast_arrays(_ratio(pc, p), np.asarray(steps, dtype=np.float64))
    if not (np.isfinite(count) & (count >= 0)).all():
        raise ValueError("steps is negative: give W_0 - W_0', or 0 where W_0 is not above W_0'")
    total = _geometric(ratio, count)
    return (total if as_printed else 1 / total)[()]


def window_shares(pc: float, steps: int, p: float | None = None) -> FloatArray:
    """Share of rounds at each window from W_0 down to W_0': the chain of (19) to (22).

    A delayed round lowers the window by one, any other raises it: pi_i is pi_0 r^i.

    Parameters
    ----------
    pc, p
        As of `contended_share`, one number each.
    steps
        Windows N below the top, at least 0.

    Returns
    -------
    numpy.ndarray
        N + 1 probabilities.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), the balance equations before (22), the last of which is
    P_nc pi_N = P_sr pi_(N-1).
    """
    powers = float(_ratio(pc, p)) ** np.arange(int(steps) + 1)
    return top_share(pc, int(steps), p) * powers


def mean_contended_window(
    pc: ArrayLike,
    window: ArrayLike,
    lowest: ArrayLike,
    p: ArrayLike | None = None,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Mean window E[W_CG] between W_0 and W_0': the text after (22).

    Parameters
    ----------
    pc, p
        As of `contended_share`.
    window
        Window W_0 in segments, at least 4.
    lowest
        Window W_0' in segments; where it is above W_0, the window stays at W_0.
    as_printed
        With W_0 pi_N for the last term in place of W_0' pi_N.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), E[W_CG] before (23).

    Examples
    --------
    >>> f"{mean_contended_window(0.01, 128, 55):.2f}"
    '127.99'
    """
    top, low = np.broadcast_arrays(window_of("window", window), positive("lowest", lowest))
    steps = np.maximum(0, np.floor(top - low + 1e-9))
    ratio, steps, top = np.broadcast_arrays(_ratio(pc, p), steps, top)
    share = 1 / _geometric(ratio, steps)
    below = share * _weighted(ratio, steps)
    mean = top - below
    return (mean + steps * share * ratio**steps if as_printed else mean)[()]


def contended_time(
    pc: ArrayLike,
    window: ArrayLike,
    rtt_s: ArrayLike,
    rtt_r_s: ArrayLike,
    p: ArrayLike | None = None,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Time A_CG of the rounds at W_0 and below, delayed ones and others: (25).

    Parameters
    ----------
    pc, p
        As of `contended_share`.
    window
        Window W_0 in segments, at least 4.
    rtt_s
        Round-trip time R in s, above 0.
    rtt_r_s
        Round-trip time RTT_r in s when the burst is sent again, above 0.
    as_printed
        With all E[X] rounds, those of slow start and congestion avoidance included, which (26)
        counts once more.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together; negative where the climb to W_0
        takes longer than there is, which `retransmission_throughput` refuses.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (25).
    """
    contention, loss = _probabilities(pc, p)
    size = window_of("window", window)
    plain, delayed = positive("rtt_s", rtt_s), positive("rtt_r_s", rtt_r_s)
    rounds = np.asarray(rounds_between_losses(loss))
    if not as_printed:
        rounds = rounds - np.asarray(slow_start_rounds(size)) - np.asarray(avoidance_rounds(size))
    mean = (
        np.asarray(uncontended_share(contention, loss)) * plain
        + np.asarray(contended_share(contention, loss)) * delayed
    )
    return (rounds * mean)[()]


def _probabilities(pc: ArrayLike, p: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    contention = probability("pc", pc)
    loss = contention**2 if p is None else probability("p", p)
    contention, loss = np.broadcast_arrays(contention, loss)
    wrong = loss > contention
    if wrong.any():
        raise ValueError(
            f"p = {loss[wrong].flat[0]:g} is above pc = {contention[wrong].flat[0]:g}: a burst is "
            "assumed to be lost only after it met contention"
        )
    return contention, loss


def _ratio(pc: ArrayLike, p: ArrayLike | None) -> FloatArray:
    return np.asarray(contended_share(pc, p)) / np.asarray(uncontended_share(pc, p))


def _geometric(ratio: FloatArray, steps: FloatArray) -> FloatArray:
    """1 + r + ... + r^N."""
    even = np.isclose(ratio, 1, rtol=0, atol=1e-12)
    safe = np.where(even, 0.5, ratio)
    return np.where(even, steps + 1, (1 - safe ** (steps + 1)) / (1 - safe))


def _weighted(ratio: FloatArray, steps: FloatArray) -> FloatArray:
    """R + 2 r² + ... + N r^N."""
    even = np.isclose(ratio, 1, rtol=0, atol=1e-7)
    safe = np.where(even, 0.5, ratio)
    closed = safe * (1 - (steps + 1) * safe**steps + steps * safe ** (steps + 1)) / (1 - safe) ** 2
    return np.where(even, steps * (steps + 1) / 2, closed)
