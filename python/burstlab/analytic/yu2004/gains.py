"""Throughput of BTCP over that of TCP: equations (9) to (11), and what Fig. 5 draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive, probability
from burstlab.analytic.yu2004.packets import (
    Rounds,
    limited_packets_btcp,
    limited_packets_tcp,
    slow_start_of,
    unlimited_packets_btcp,
    unlimited_packets_tcp,
)
from burstlab.analytic.yu2004.windows import SlowStart, mean_window_ratio, window_regime

FIG5_POINTS = 51
"""Points of a curve by default: every twentieth of a decade, two and a half decades."""


class Fig5a(NamedTuple):
    """What Fig. 5(a) draws: two ratios of BTCP to TCP where W_m is never reached."""

    p: FloatArray
    """Probability that a burst is lost, shape (n,)."""
    throughput_ratio: FloatArray
    """E[H2]/E[H1] of (6) and (4), shape (n,)."""
    window_ratio: FloatArray
    """Mean window of BTCP over that of TCP, shape (n,)."""


class Fig5b(NamedTuple):
    """What Fig. 5(b) draws: the throughput ratio where W_m is reached."""

    p: FloatArray
    """Probability that a burst is lost, shape (n,)."""
    windows: FloatArray
    """Largest windows W_m in packets, shape (m,)."""
    throughput_ratio: FloatArray
    """E[H2]/E[H1] of (9), shape (m, n); NaN where W_m is not reached."""


def limited_gain(
    p: ArrayLike,
    window: ArrayLike,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP where W_m is reached: (9).

    1 + (W_m*(log2(W_m/2) - 1) + 1)/E[H1] with E[H1] of (7), which is (8) over (7).

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    window
        Largest window W_m in packets, at least 2.
    rounds, slow_start
        Counts of rounds and packets, as in `limited_packets_tcp`.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of the arguments broadcast together; NaN where
        W_m/2 + log2(W_m/2) exceeds the rounds. From W_m = 4 on it rises with `p` and with
        `window`. Below W_m = 3.23 "paper" gives less than 1, which is an artefact: W_m - 1
        packets for a slow start of hardly a round.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equation (9).

    Examples
    --------
    >>> f"{limited_gain(0.01, 20):.4f}"
    '1.0249'
    """
    packets = limited_packets_tcp(p, window, rounds=rounds, slow_start=slow_start)
    limit = at_least("window", window, 2)
    starting, carried = slow_start_of(limit, slow_start)
    # The packets that BTCP sends in the rounds that TCP spends in slow start, beyond TCP's.
    return (1 + (limit * starting - carried) / packets)[()]


def gain_ble(
    p: ArrayLike,
    window: ArrayLike,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP, in whichever regime holds.

    "window-limited": (9). "loss-limited": (6) over (4). "mixed": (8) over (4), both with (1-p)/p
    rounds, for (4) has those. With ``rounds="delivered"`` the result is continuous; with the
    paper's 1/p in (9) it jumps where the first regime ends, by W_m packets in E[H1] and E[H2].

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1; meaningful for p <= 1/2.
    window
        Largest window W_m in packets, at least 2.
    rounds
        Rounds between two losses in the regime "window-limited", as in `limited_packets_tcp`.
    slow_start
        Count of slow start, see `SlowStart`: "half" is nearest to `round_level` with even losses.
    as_printed
        Part the regimes by W_m*p > 1, as the text does; there is no mixed one then.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of the arguments broadcast together; NaN for p > 1/2.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.1, equations (4) to (9).
    """
    regime = np.asarray(window_regime(p, window, slow_start=slow_start, as_printed=as_printed))
    unlimited_tcp = unlimited_packets_tcp(p, slow_start=slow_start)
    mixed = limited_packets_btcp(p, window, rounds="delivered") / unlimited_tcp
    ratio = np.select(
        [regime == "window-limited", regime == "mixed"],
        [limited_gain(p, window, rounds=rounds, slow_start=slow_start), mixed],
        unlimited_packets_btcp(p) / unlimited_tcp,
    )
    return ratio[()]


def timeout_period_tcp(p: ArrayLike, rtt_s: ArrayLike, rto_s: ArrayLike) -> FloatArray:
    """Mean time between two time-outs without BNAK, (1-p)/p*RTT + RTO, in s.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    rtt_s
        Round-trip time in s, above 0.
    rto_s
        Retransmission time-out in s, above 0.

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
    Yu, Qiao, Liu (INFOCOM 2004), V.A.2, ``|TOP1|``.
    """
    loss = probability("p", p)
    return ((1 - loss) / loss * positive("rtt_s", rtt_s) + positive("rto_s", rto_s))[()]


def timeout_period_bnak(p: ArrayLike, rtt_s: ArrayLike) -> FloatArray:
    """Mean time between two losses with BNAK, RTT/p, in s: the loss itself costs one RTT.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    rtt_s
        Round-trip time in s, above 0.

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
    Yu, Qiao, Liu (INFOCOM 2004), V.A.2, ``|TOP2|``.
    """
    return (positive("rtt_s", rtt_s) / probability("p", p))[()]


def bnak_time_factor(
    p: ArrayLike, rtt_s: ArrayLike, rto_s: ArrayLike, *, as_printed: bool = False
) -> FloatArray:
    """Time that BNAK saves, ``|TOP1|/|TOP2|``: the second factor of (10).

    1 + p*(RTO - RTT)/RTT. The last line of (10) has p/(1-p) in place of p.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1.
    rtt_s
        Round-trip time in s, above 0.
    rto_s
        Retransmission time-out in s, at least `rtt_s`.
    as_printed
        Evaluate the last line as printed.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.2, equation (10).
    """
    loss, rtt, rto = probability("p", p), positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    short = np.broadcast_arrays(rto, rto < rtt)
    if np.any(short[1]):
        raise ValueError(
            f"rto_s = {short[0][short[1]].flat[0]:g} is below rtt_s: a retransmission time-out "
            "lasts at least one round trip; raise rto_s or lower rtt_s"
        )
    weight = loss / (1 - loss) if as_printed else loss
    return (1 + weight * (rto - rtt) / rtt)[()]


def rto_from_gains(
    gain_bnak: ArrayLike, gain_ble: ArrayLike, p: ArrayLike, rtt_s: ArrayLike
) -> FloatArray:
    """RTO that the corrected (10) needs to explain two measured gains, in s.

    RTT*(1 + (gain_bnak/gain_ble - 1)/p). The paper does not give its RTO; this infers it.

    Parameters
    ----------
    gain_bnak, gain_ble
        Throughput with BNAK and with BLE or BACK over that of TCP, above 0.
    p
        Probability that a burst is lost, 0 < p < 1.
    rtt_s
        Round-trip time in s with assembly (RTT0 + T_b), above 0.

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
    Yu, Qiao, Liu (INFOCOM 2004), V.A.2, equation (10), solved for RTO.
    """
    factor = positive("gain_bnak", gain_bnak) / positive("gain_ble", gain_ble)
    return (positive("rtt_s", rtt_s) * (1 + (factor - 1) / probability("p", p)))[()]


def gain_bnak(
    p: ArrayLike,
    window: ArrayLike,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BNAK over TCP: (10), `gain_ble` times `bnak_time_factor`.

    The first line of (10) as printed lacks a stroke: ``E[H1]|TOP1|`` stands for ``E[H1]/|TOP1|``.

    Parameters
    ----------
    p
        Probability that a burst is lost, 0 < p < 1; meaningful for p <= 1/2.
    window
        Largest window W_m in packets, at least 2.
    rtt_s
        Round-trip time in s with assembly (RTT0 + T_b), above 0.
    rto_s
        Retransmission time-out in s, at least `rtt_s`.
    rounds, slow_start
        As in `gain_ble`.
    as_printed
        Take both factors as printed: the last line of (10) and the condition W_m*p > 1.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of the arguments broadcast together; NaN for p > 1/2.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.A.2, equation (10).
    """
    gain = gain_ble(p, window, rounds=rounds, slow_start=slow_start, as_printed=as_printed)
    return gain * bnak_time_factor(p, rtt_s, rto_s, as_printed=as_printed)


def gain_batch(
    packet_ratio: ArrayLike,
    alpha_btcp: ArrayLike,
    alpha_tcp: ArrayLike,
    rto_s: ArrayLike,
    rtt_s: ArrayLike,
    rounds: ArrayLike,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP when losses come in batches: (11).

    W_b/W_t * (alpha_t*RTO + N*RTT)/(alpha_b*RTO + N*RTT), the first line of (11), which is
    W_b/W_t * (1 + (alpha_t - alpha_b)*RTO/(alpha_b*RTO + N*RTT)). The second line as printed has
    the difference reversed, and TO for RTO.

    Parameters
    ----------
    packet_ratio
        W_b/W_t, packets of BTCP in a period over those of TCP, above 0.
    alpha_btcp, alpha_tcp
        Length of the lossy part of a period in units of the RTO, at least 0. With four losses in a
        batch TCP waits 1 + 2 + 4 + 8 = 15.
    rto_s
        Retransmission time-out in s, above 0.
    rtt_s
        Round-trip time in s with assembly (RTT0 + T_b), above 0.
    rounds
        Rounds N of a period, above 0.
    as_printed
        Evaluate the second line as printed, TO read as RTO.

    Returns
    -------
    numpy.ndarray
        Ratio without unit, in the shape of the arguments broadcast together. It falls as `rtt_s`
        rises if alpha_tcp > alpha_btcp, and does not depend on it if they are equal.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), V.B.1, equation (11).
    """
    ratio = positive("packet_ratio", packet_ratio)
    with_detection = at_least("alpha_btcp", alpha_btcp, 0)
    without = at_least("alpha_tcp", alpha_tcp, 0)
    rto = positive("rto_s", rto_s)
    sending = positive("rtt_s", rtt_s) * positive("rounds", rounds)
    saved = (without - with_detection) * rto
    change = (-saved if as_printed else saved) / (with_detection * rto + sending)
    return (ratio * (1 + change))[()]


def fig5a(p: ArrayLike | None = None) -> Fig5a:
    """Curves of Fig. 5(a): throughput and mean window of BTCP over those of TCP.

    Parameters
    ----------
    p
        Probabilities that a burst is lost, shape (n,), 0 < p < 1; by default 51 points from
        10^-3 to 10^-0.5, equally far apart in the logarithm.

    Returns
    -------
    Fig5a
        The points and both curves; NaN for p > 1/2.

    Raises
    ------
    ValueError
        If `p` is out of range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), Fig. 5(a).
    """
    points = _points(p)
    ratio = unlimited_packets_btcp(points) / unlimited_packets_tcp(points)
    return Fig5a(points, ratio, mean_window_ratio(points))


def fig5b(p: ArrayLike | None = None, windows: Sequence[float] = (10, 20, 40)) -> Fig5b:
    """Curves of Fig. 5(b): (9) over the loss probability, one curve for each W_m.

    Parameters
    ----------
    p
        Probabilities that a burst is lost, shape (n,), 0 < p < 1; by default as in `fig5a`.
    windows
        Largest windows W_m in packets, shape (m,), at least 2. Which windows the printed figure
        has is not legible from the text; the default covers those of the tables.

    Returns
    -------
    Fig5b
        The points, the windows and a row for each window; NaN where W_m is not reached.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Yu, Qiao, Liu (INFOCOM 2004), Fig. 5(b).
    """
    points = _points(p)
    limits = np.atleast_1d(at_least("windows", windows, 2))
    return Fig5b(points, limits, limited_gain(points, limits[:, np.newaxis]))


def _points(p: ArrayLike | None) -> FloatArray:
    if p is None:
        return np.logspace(-3, -0.5, FIG5_POINTS)
    return np.atleast_1d(probability("p", p))
