"""The phases between two lost bursts: equations (1) to (15).

After a time-out slow start takes the window from 2 to W_0/2, every size for two rounds (A to B),
congestion avoidance takes it to W_0, a segment a round (B to C), and there it stays (C to D).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive, probability
from burstlab.analytic.padhye import backoff_factor

WINDOW_MIN = 4
"""Slow start ends at half the window, and begins with 2."""


def diff(
    window: ArrayLike, base_rtt_s: ArrayLike, rtt_s: ArrayLike, *, as_printed: bool = False
) -> FloatArray:
    """Diff, by which Vegas decides: segments that wait in queues; (1) to (3), (19), (20).

    Parameters
    ----------
    window
        Congestion window in segments, above 0.
    base_rtt_s
        Shortest round-trip time in s, above 0.
    rtt_s
        Round-trip time in s, at least `base_rtt_s`. That of a burst that was sent again gives
        Diff_C.
    as_printed
        Expected less Actual without the factor BaseRTT of (3): segments/s, which cannot be compared
        with alpha and beta.

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
    Shihada, Zhang, Ho (BROADNETS 2006), equations (1) to (3).

    Examples
    --------
    >>> f"{diff(128, 0.1, 0.11):.2f}"
    '11.64'
    """
    size, base, rtt = _path(window, base_rtt_s, rtt_s)
    difference = size / base - size / rtt
    return (difference if as_printed else difference * base)[()]


def stable_window(
    window_max: ArrayLike,
    rtt_s: ArrayLike,
    base_rtt_s: ArrayLike,
    alpha: ArrayLike = 2,
    beta: ArrayLike = 5,
) -> FloatArray:
    """Window W_0 at which Vegas stays, min((alpha + beta)/2 · R/(R - BaseRTT), W_max): (7).

    From below the window in fact stops at alpha · R/(R - BaseRTT), the lower end of where it stays.
    With source routing R = BaseRTT, and W_0 = W_max.

    Parameters
    ----------
    window_max
        Largest window W_max in segments, at least 4.
    rtt_s
        Round-trip time R in s, at least `base_rtt_s`.
    base_rtt_s
        Shortest round-trip time in s, above 0.
    alpha, beta
        Thresholds of Vegas in segments, above 0 and `alpha` at most `beta`.

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
    Shihada, Zhang, Ho (BROADNETS 2006), equation (7).
    """
    limit, base, rtt = _path(window_of("window_max", window_max), base_rtt_s, rtt_s)
    low, high = thresholds(alpha, beta)
    queueing = rtt - base
    with np.errstate(divide="ignore"):
        free = np.where(queueing > 0, (low + high) / 2 * rtt / queueing, np.inf)
    return np.minimum(free, limit)[()]


def slow_start_segments(window: ArrayLike, *, as_printed: bool = False) -> FloatArray:
    """Segments sent in slow start, E[Y_AB] = 2 (2 + 4 + ... + W_0/4) = W_0 - 4: (8).

    Parameters
    ----------
    window
        Window W_0 in segments, at least 4.
    as_printed
        The sum in (8), 2 (1 + 2 + ...) up to log_4(W_0/2) terms after the first, which is not the
        W_0 - 4 that it is set equal to.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of `window`.

    Raises
    ------
    ValueError
        If `window` is below 4.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (8).
    """
    size = window_of("window", window)
    if as_printed:
        last = np.floor(np.log2(size / 2) / 2 + 1e-9)
        return (2 * (np.exp2(last + 1) - 1))[()]
    return (size - 4)[()]


def slow_start_rounds(window: ArrayLike) -> FloatArray:
    """Length of slow start in rounds, 2 (log W_0 - 2): (9).

    Parameters
    ----------
    window
        Window W_0 in segments, at least 4.

    Returns
    -------
    numpy.ndarray
        Rounds, in the shape of `window`.

    Raises
    ------
    ValueError
        If `window` is below 4.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (9).
    """
    return (2 * (np.log2(window_of("window", window)) - 2))[()]


def avoidance_segments(window: ArrayLike) -> FloatArray:
    """Segments sent in congestion avoidance up to W_0, E[Y_BC] = 3 W_0²/8 - W_0/4: (10).

    Parameters
    ----------
    window
        Window W_0 in segments, at least 4.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of `window`.

    Raises
    ------
    ValueError
        If `window` is below 4.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (10).
    """
    size = window_of("window", window)
    return (3 * size**2 / 8 - size / 4)[()]


def avoidance_rounds(window: ArrayLike) -> FloatArray:
    """Length of congestion avoidance up to W_0 in rounds, W_0/2: (11).

    Parameters
    ----------
    window
        Window W_0 in segments, at least 4.

    Returns
    -------
    numpy.ndarray
        Rounds, in the shape of `window`.

    Raises
    ------
    ValueError
        If `window` is below 4.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (11).
    """
    return (window_of("window", window) / 2)[()]


def rounds_between_losses(p: ArrayLike) -> FloatArray:
    """Mean number of rounds delivered between two lost bursts, E[X] = (1-p)/p.

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
    Shihada, Zhang, Ho (BROADNETS 2006), the text before (12).
    """
    loss = probability("p", p)
    return ((1 - loss) / loss)[()]


def loss_limit(window: ArrayLike) -> FloatArray:
    """Largest loss probability at which the window reaches W_0 before it is lost.

    Parameters
    ----------
    window
        Window W_0 in segments, at least 4.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of `window`: beyond it `stable_rounds` would be negative.

    Raises
    ------
    ValueError
        If `window` is below 4.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equations (9), (11) and (12).

    Examples
    --------
    >>> f"{loss_limit(128):.4f}"
    '0.0133'
    """
    climb = np.asarray(slow_start_rounds(window)) + np.asarray(avoidance_rounds(window))
    return (1 / (1 + climb))[()]


def stable_rounds(p: ArrayLike, window: ArrayLike) -> FloatArray:
    """Length of the stable phase in rounds, E[X] - 2 (log W_0 - 2) - W_0/2: (12), (13).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p, at most `loss_limit`.
    window
        Window W_0 in segments, at least 4.

    Returns
    -------
    numpy.ndarray
        Rounds, at least 0, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the rounds between two losses do not suffice to
        reach W_0.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equations (12) and (13).
    """
    loss, size = np.broadcast_arrays(probability("p", p), window_of("window", window))
    limit = np.asarray(loss_limit(size))
    climb = np.asarray(slow_start_rounds(size)) + np.asarray(avoidance_rounds(size))
    wrong = loss > limit * (1 + 1e-12)
    if wrong.any():
        bad, most, rounds = (float(x[wrong].flat[0]) for x in (loss, limit, climb))
        raise ValueError(
            f"p = {bad:g} leaves a negative stable phase, {(1 - bad) / bad:.1f} rounds between "
            f"losses where the climb to W_0 takes {rounds:.1f}: the model assumes that W_0 is "
            f"reached before each loss, which needs p <= {most:.4g} at this window"
        )
    return np.maximum(0, np.asarray(rounds_between_losses(loss)) - climb)[()]


def timeout_time(p: ArrayLike, rto_s: ArrayLike) -> FloatArray:
    """Mean time of a sequence of time-outs, RTO f(p)/(1-p): (5), (14).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    rto_s
        First time-out in s, above 0. It doubles up to 64 times that.

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
    Shihada, Zhang, Ho (BROADNETS 2006), equation (14), after PFTK (29).
    """
    loss, rto = probability("p", p), positive("rto_s", rto_s)
    return (rto * np.asarray(backoff_factor(loss)) / (1 - loss))[()]


def failed_retransmissions(p: ArrayLike) -> FloatArray:
    """Segments sent in vain between two time-outs of a sequence, E[H] = p/(1-p): (15).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of `p`.

    Raises
    ------
    ValueError
        If `p` is out of range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006), equation (15).
    """
    loss = probability("p", p)
    return (loss / (1 - loss))[()]


def window_of(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as an array of windows that slow start can reach half of.

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        Numbers of any shape.

    Raises
    ------
    ValueError
        If a number is not finite or below 4.
    """
    array = np.asarray(at_least(name, value, 1))
    if (array < WINDOW_MIN).any():
        raise ValueError(
            f"{name} = {array[array < WINDOW_MIN].flat[0]:g} is below {WINDOW_MIN}: the model "
            "assumes a slow start that begins with 2 segments and ends at half the window"
        )
    return array


def thresholds(alpha: ArrayLike, beta: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds of Vegas as arrays.

    Parameters
    ----------
    alpha, beta
        Segments, above 0, `alpha` at most `beta`.

    Raises
    ------
    ValueError
        If one is not above 0 or they are in the wrong order.
    """
    low, high = np.broadcast_arrays(positive("alpha", alpha), positive("beta", beta))
    if (low > high).any():
        raise ValueError("alpha is above beta: Vegas grows below alpha and shrinks above beta")
    return low, high


def _path(
    window: ArrayLike, base_rtt_s: ArrayLike, rtt_s: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    size, base, rtt = np.broadcast_arrays(
        positive("window", window), positive("base_rtt_s", base_rtt_s), positive("rtt_s", rtt_s)
    )
    if (rtt < base).any():
        raise ValueError(
            "rtt_s is below base_rtt_s: the base is the shortest of all round-trip times"
        )
    return size, base, rtt
