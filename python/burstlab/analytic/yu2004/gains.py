"""Throughput of BTCP over that of TCP: equations (9) to (11), and what Fig. 5 draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.yu2004.arguments import (
    PAPER,
    Loss,
    Rounds,
    Rto,
    RtoOverRtt,
    Rtt,
    RttAssembled,
    SlowStart,
    Window,
)
from burstlab.analytic.yu2004.packets import (
    limited_packets_btcp,
    limited_packets_tcp,
    slow_start_of,
    unlimited_packets_tcp,
)
from burstlab.analytic.yu2004.windows import (
    mean_window_btcp,
    mean_window_ratio,
    mean_window_tcp,
    rounds_between_losses,
    window_regime,
)

Gain = Annotated[
    ArrayLike, Argument("Throughput with BNAK, and with BLE or BACK, over that of TCP", above=0)
]
LossyPart = Annotated[
    ArrayLike,
    Argument(
        "Length of the lossy part of a period in units of the RTO",
        at_least=0,
        note="With four losses in a batch TCP waits 1 + 2 + 4 + 8 = 15.",
    ),
]

FIG5_POINTS = 51
"""Points of a curve by default: every twentieth of a decade, two and a half decades."""


class Fig5a(NamedTuple):
    """The curves of Fig. 5(a): two ratios of BTCP to TCP where W_m is never reached."""

    p: FloatArray
    """Probability that a burst is lost, shape (n,)."""
    throughput_ratio: FloatArray
    """E[H2]/E[H1] of (6) and (4), shape (n,)."""
    window_ratio: FloatArray
    """Mean window of BTCP over that of TCP, shape (n,)."""


class Fig5b(NamedTuple):
    """The curve of Fig. 5(b): the throughput ratio where W_m is reached."""

    p: FloatArray
    """Probability that a burst is lost, shape (n,)."""
    windows: FloatArray
    """Largest windows W_m in packets, shape (m,)."""
    throughput_ratio: FloatArray
    """E[H2]/E[H1] of (9), shape (m, n); NaN where W_m is not reached."""


@declared(
    "Ratio without unit; NaN where W_m/2 + log2(W_m/2) exceeds the rounds. From W_m = 4 on it "
    'rises with `p` and with `window`. Below W_m = 3.23 "paper" gives less than 1, which is an '
    "artefact: W_m - 1 packets for a slow start of hardly a round",
    f"{PAPER}, V.A.1, equation (9)",
)
def limited_gain(
    p: Loss, window: Window, *, rounds: Rounds = "inverse", slow_start: SlowStart = "paper"
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP where W_m is reached: (9).

    1 + (W_m*(log2(W_m/2) - 1) + 1)/E[H1] with E[H1] of (7), which is (8) over (7).

    Examples
    --------
    >>> f"{limited_gain(0.01, 20):.4f}"
    '1.0249'
    """
    packets = limited_packets_tcp(p, window, rounds=rounds, slow_start=slow_start)
    (limit,) = arrays(window)
    starting, carried = slow_start_of(limit, slow_start)
    # The packets that BTCP sends in the rounds that TCP spends in slow start, beyond TCP's.
    return 1 + (limit * starting - carried) / packets


@declared(
    "Ratio without unit; NaN for p > 1/2",
    f"{PAPER}, V.A.1, equations (4) to (9)",
    p="Meaningful for p <= 1/2.",
    rounds='In the regime "window-limited".',
    slow_start='"half" is nearest to `round_level` with even losses.',
    as_printed="Part the regimes by W_m*p > 1, as the text does; there is no mixed one then.",
)
def gain_ble(
    p: Loss,
    window: Window,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP, in whichever regime holds.

    "window-limited": (9). "loss-limited": (6) over (4). "mixed": (8) over (4), both with (1-p)/p
    rounds, for (4) has those. With ``rounds="delivered"`` the result is continuous; with the
    paper's 1/p in (9) it jumps where the first regime ends, by W_m packets in E[H1] and E[H2].
    """
    regime = np.asarray(window_regime(p, window, slow_start=slow_start, as_printed=as_printed))
    with np.errstate(over="ignore", invalid="ignore"):
        unlimited_tcp = unlimited_packets_tcp(p, slow_start=slow_start)
        mixed = limited_packets_btcp(p, window, rounds="delivered") / unlimited_tcp
        limited = limited_gain(p, window, rounds=rounds, slow_start=slow_start)
    return np.select(
        [regime == "window-limited", regime == "mixed"],
        [limited, mixed],
        _unlimited_gain(p, slow_start),
    )


def _unlimited_gain(p: ArrayLike, slow_start: SlowStart) -> FloatArray:
    """Return (6) over (4), neither of which has to fit into a number.

    With R rounds and the window W it is 3R²/2 over 3W²/8 and what slow start carries.
    """
    rounds = np.asarray(rounds_between_losses(p))
    window = np.asarray(mean_window_tcp(p, slow_start=slow_start))
    window = np.where(window >= 2, window, np.nan)
    carried = np.asarray(slow_start_of(window, slow_start)[1])
    known = ~np.isnan(np.asarray(mean_window_btcp(p)))
    ratio = 4 * (rounds / window) ** 2 / (1 + 8 * (carried / window) / (3 * window))
    return np.where(known, ratio, np.nan)


@declared("Seconds", f"{PAPER}, V.A.2, ``|TOP1|``")
def timeout_period_tcp(p: Loss, rtt_s: Rtt, rto_s: Rto) -> FloatArray:
    """Mean time between two time-outs without BNAK, (1-p)/p*RTT + RTO, in s."""
    loss, rtt, rto = arrays(p, rtt_s, rto_s)
    return (1 - loss) / loss * rtt + rto


@declared("Seconds", f"{PAPER}, V.A.2, ``|TOP2|``")
def timeout_period_bnak(p: Loss, rtt_s: Rtt) -> FloatArray:
    """Mean time between two losses with BNAK, RTT/p, in s: the loss itself costs one RTT."""
    loss, rtt = arrays(p, rtt_s)
    return rtt / loss


@declared(
    "Ratio without unit",
    f"{PAPER}, V.A.2, equation (10)",
    as_printed="Evaluate the last line as printed.",
)
def bnak_time_factor(
    p: Loss, rtt_s: Rtt, rto_s: RtoOverRtt, *, as_printed: bool = False
) -> FloatArray:
    """Time that BNAK saves, ``|TOP1|/|TOP2|``: the second factor of (10).

    1 + p*(RTO - RTT)/RTT. The last line of (10) has p/(1-p) in place of p.
    """
    loss, rtt, rto = arrays(p, rtt_s, rto_s)
    weight = loss / (1 - loss) if as_printed else loss
    return 1 + weight * (rto - rtt) / rtt


@declared("Seconds", f"{PAPER}, V.A.2, equation (10), solved for RTO")
def rto_from_gains(gain_bnak: Gain, gain_ble: Gain, p: Loss, rtt_s: RttAssembled) -> FloatArray:
    """RTO that the corrected (10) needs to explain two measured gains, in s.

    RTT*(1 + (gain_bnak/gain_ble - 1)/p). The paper does not give its RTO; this infers it.
    """
    bnak, ble, loss, rtt = arrays(gain_bnak, gain_ble, p, rtt_s)
    return rtt * (1 + (bnak - ble) / ble / loss)


@declared(
    "Ratio without unit; NaN for p > 1/2",
    f"{PAPER}, V.A.2, equation (10)",
    p="Meaningful for p <= 1/2.",
    as_printed="Take both factors as printed: the last line of (10) and the condition W_m*p > 1.",
)
def gain_bnak(
    p: Loss,
    window: Window,
    rtt_s: RttAssembled,
    rto_s: RtoOverRtt,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BNAK over TCP: (10), `gain_ble` times `bnak_time_factor`.

    The first line of (10) as printed lacks a stroke: ``E[H1]|TOP1|`` stands for ``E[H1]/|TOP1|``.
    """
    gain = gain_ble(p, window, rounds=rounds, slow_start=slow_start, as_printed=as_printed)
    return gain * bnak_time_factor(p, rtt_s, rto_s, as_printed=as_printed)


@declared(
    "Ratio without unit. It falls as `rtt_s` rises if alpha_tcp > alpha_btcp, and does not depend "
    "on it if they are equal",
    f"{PAPER}, V.B.1, equation (11)",
    as_printed="Evaluate the second line as printed, TO read as RTO.",
)
def gain_batch(
    packet_ratio: Annotated[
        ArrayLike, Argument("W_b/W_t, packets of BTCP in a period over those of TCP", above=0)
    ],
    alpha_btcp: LossyPart,
    alpha_tcp: LossyPart,
    rto_s: Rto,
    rtt_s: RttAssembled,
    rounds: Annotated[ArrayLike, Argument("Rounds N of a period", above=0)],
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Throughput of BTCP with BLE or BACK over TCP when losses come in batches: (11).

    W_b/W_t * (alpha_t*RTO + N*RTT)/(alpha_b*RTO + N*RTT), the first line of (11), which is
    W_b/W_t * (1 + (alpha_t - alpha_b)*RTO/(alpha_b*RTO + N*RTT)). The second line as printed has
    the difference reversed, and TO for RTO.
    """
    ratio, with_detection, without = arrays(packet_ratio, alpha_btcp, alpha_tcp)
    rto, rtt, count = arrays(rto_s, rtt_s, rounds)
    sending = rtt * count
    lasts = with_detection * rto + sending
    if as_printed:
        return ratio * (1 - (without - with_detection) * rto / lasts)
    return ratio * ((without * rto + sending) / lasts)


@declared(
    "The points and both curves; NaN for p > 1/2",
    f"{PAPER}, Fig. 5(a)",
    p=(
        "Shape (n,); by default 51 points from 10^-3 to 10^-0.5, equally far apart in the "
        "logarithm."
    ),
)
def fig5a(p: Loss | None = None) -> Fig5a:
    """Curves of Fig. 5(a): throughput and mean window of BTCP over those of TCP."""
    points = _points(p)
    return Fig5a(points, _unlimited_gain(points, "paper"), mean_window_ratio(points))


@declared(
    "The points, the windows and a row for each window; NaN where W_m is not reached",
    f"{PAPER}, Fig. 5(b)",
    p="Shape (n,); by default as in `fig5a`.",
)
def fig5b(
    p: Loss | None = None,
    windows: Annotated[
        Sequence[float],
        Argument(
            "Largest windows W_m",
            "packets",
            at_least=2,
            note=(
                "Shape (m,). Which windows the printed figure has is not legible from the text; "
                "the default covers those of the tables."
            ),
        ),
    ] = (10, 20, 40),
) -> Fig5b:
    """Curves of Fig. 5(b): (9) over the loss probability, one curve for each W_m."""
    points = _points(p)
    limits = np.atleast_1d(arrays(windows)[0])
    return Fig5b(points, limits, limited_gain(points, limits[:, np.newaxis]))


def _points(p: ArrayLike | None) -> FloatArray:
    if p is None:
        return np.logspace(-3, -0.5, FIG5_POINTS)
    return np.atleast_1d(arrays(p)[0])
