"""Rounds with contention where a burst is sent again once: equations (17) to (25)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.shihada.arguments import (
    CONTENTION,
    LOSS_AFTER_CONTENTION,
    PAPER,
    BaseRtt,
    Beta,
    Contention,
    DelayedRtt,
    DelayedRttOverBase,
    LossAfterContention,
    Rtt,
    Window,
)
from burstlab.analytic.shihada.phases import (
    avoidance_rounds,
    rounds_between_losses,
    slow_start_rounds,
)


@declared("Probability", f"{PAPER}, equation (17)")
def contended_share(pc: Contention, p: LossAfterContention | None = None) -> FloatArray:
    """Share P_sr of delivered bursts that were sent again, (p_c - p)/(1 - p): (17)."""
    contention, loss = _probabilities(pc, p)
    # Without p it is p_c², and numerator and denominator have the factor 1 - p_c.
    return contention / (1 + contention) if p is None else (contention - loss) / (1 - loss)


@declared("Probability", f"{PAPER}, equation (18)")
def uncontended_share(pc: Contention, p: LossAfterContention | None = None) -> FloatArray:
    """Share P_nc of delivered bursts that met no contention, (1 - p_c)/(1 - p): (18)."""
    contention, loss = _probabilities(pc, p)
    return 1 / (1 + contention) if p is None else (1 - contention) / (1 - loss)


@declared(
    "Segments, at least 2",
    f"{PAPER}, equation (21)",
    as_printed="The ceiling, at which Diff_C is still above beta.",
)
def lowest_window(
    rtt_r_s: DelayedRttOverBase, base_rtt_s: BaseRtt, beta: Beta = 5, *, as_printed: bool = False
) -> FloatArray:
    """Window W_0' at which delayed round trips lower it no further: (21).

    The first window from above with Diff_C <= beta, floor(beta · RTT_r/(RTT_r - BaseRTT)).

    Examples
    --------
    >>> float(lowest_window(0.113, 0.1)), float(lowest_window(0.113, 0.1, as_printed=True))
    (43.0, 44.0)
    """
    delayed, base, high = np.broadcast_arrays(rtt_r_s, base_rtt_s, beta)
    window = high * delayed / (delayed - base)
    # A window that is whole but for rounding is whole.
    rounded = np.ceil(window - 1e-9) if as_printed else np.floor(window + 1e-9)
    return np.maximum(rounded, 2)


@declared(
    "Probability (1 - r)/(1 - r^(N+1))",
    f"{PAPER}, equation (22)",
    pc="The chain has r = P_sr/P_nc.",
    as_printed="(1 - r^(N+1))/(1 - r), which is the inverse and above 1.",
)
def top_share(
    pc: Contention,
    steps: Annotated[
        ArrayLike,
        Argument(
            "Windows N = W_0 - W_0' below the top",
            at_least=0,
            because="give W_0 - W_0', or 0 where W_0 is not above W_0'",
        ),
    ],
    p: LossAfterContention | None = None,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Share pi_0 of rounds at W_0, the top of the chain: (22)."""
    ratio, count = np.broadcast_arrays(_ratio(pc, p), steps)
    total = _geometric(ratio, count)
    return total if as_printed else 1 / total


@declared(
    "N + 1 probabilities",
    f"{PAPER}, the balance equations before (22), the last of which is P_nc pi_N = P_sr pi_(N-1)",
)
def window_shares(
    pc: Annotated[float, CONTENTION],
    steps: Annotated[int, Argument("Windows N below the top", at_least=0)],
    p: Annotated[float, LOSS_AFTER_CONTENTION] | None = None,
) -> FloatArray:
    """Share of rounds at each window from W_0 down to W_0': the chain of (19) to (22).

    A delayed round lowers the window by one, any other raises it: pi_i is pi_0 r^i.
    """
    ratio = float(_ratio(pc, p))
    places = np.arange(steps + 1)
    if ratio <= 1:
        return ratio**places / _geometric(np.asarray(ratio), np.asarray(steps))
    # From the bottom up, where powers of more than 1 would be too large.
    powers = (1 / ratio) ** places[::-1]
    return powers / _geometric(np.asarray(1 / ratio), np.asarray(steps))


@declared(
    "Segments",
    f"{PAPER}, E[W_CG] before (23)",
    as_printed="With W_0 pi_N for the last term in place of W_0' pi_N.",
)
def mean_contended_window(
    pc: Contention,
    window: Window,
    lowest: Annotated[
        ArrayLike,
        Argument(
            "Window W_0'",
            "segments",
            above=0,
            note="Where it is above W_0, the window stays at W_0.",
        ),
    ],
    p: LossAfterContention | None = None,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Mean window E[W_CG] between W_0 and W_0': the text after (22).

    Examples
    --------
    >>> f"{mean_contended_window(0.01, 128, 55):.2f}"
    '127.99'
    """
    top, low = np.broadcast_arrays(window, lowest)
    steps = np.maximum(0, np.floor(top - low + 1e-9))
    ratio, steps, top = np.broadcast_arrays(_ratio(pc, p), steps, top)
    rising = ratio > 1
    safe = np.where(rising, 1 / np.maximum(ratio, 1), ratio)
    off = _mean_step(safe, steps)
    # The mean from the end of the chain at which it mostly is.
    mean = np.where(rising, (top - steps) + off, top - off)
    last = 1 / _geometric(safe, steps) * np.where(rising, 1, safe**steps)
    return mean + steps * last if as_printed else mean


@declared(
    "Seconds; negative where the climb to W_0 takes longer than there is, which "
    "`retransmission_throughput` refuses",
    f"{PAPER}, equation (25)",
    as_printed=(
        "With all E[X] rounds, those of slow start and congestion avoidance included, "
        "which (26) counts once more."
    ),
)
def contended_time(
    pc: Contention,
    window: Window,
    rtt_s: Rtt,
    rtt_r_s: DelayedRtt,
    p: LossAfterContention | None = None,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Time A_CG of the rounds at W_0 and below, delayed ones and others: (25)."""
    contention, loss = _probabilities(pc, p)
    size, plain, delayed = arrays(window, rtt_s, rtt_r_s)
    rounds = np.asarray(rounds_between_losses(loss))
    if not as_printed:
        rounds = rounds - np.asarray(slow_start_rounds(size)) - np.asarray(avoidance_rounds(size))
    mean = (
        np.asarray(uncontended_share(contention, p)) * plain
        + np.asarray(contended_share(contention, p)) * delayed
    )
    return rounds * mean


def _probabilities(pc: ArrayLike, p: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    (contention,) = arrays(pc)
    contention, loss = np.broadcast_arrays(contention, contention**2 if p is None else p)
    return contention, loss


def _ratio(pc: ArrayLike, p: ArrayLike | None) -> FloatArray:
    """P_sr/P_nc: (p_c - p)/(1 - p_c), which without p is p_c."""
    contention, loss = _probabilities(pc, p)
    return contention if p is None else (contention - loss) / (1 - contention)


def _geometric(ratio: FloatArray, steps: FloatArray) -> FloatArray:
    """1 + r + ... + r^N."""
    even = ratio == 1
    safe = np.where(even, 0.5, ratio)
    # Near 1 the excess r - 1 has all its digits, and a power of r has not.
    with np.errstate(divide="ignore", over="ignore"):
        power = np.expm1((steps + 1) * np.where(safe > 0.5, np.log1p(safe - 1), np.log(safe)))
    return np.where(even, steps + 1, power / (safe - 1))


def _mean_step(ratio: FloatArray, steps: FloatArray) -> FloatArray:
    """Mean of i from 0 to N with weights r^i, for r of at most 1.

    It is r/(1 - r) - M r^M/(1 - r^M), M = N + 1. Near r = 1 both parts are large and nearly alike:
    with x = -log r they are 1/(e^x - 1), and what is beyond 1/x of each is taken, `_beyond`.
    """
    count = steps + 1
    low = np.minimum(ratio, 0.5)
    power = low**count
    direct = low / (1 - low) - count * power / (1 - power)
    x = -np.log1p(np.maximum(ratio, 0.5) - 1)
    near = _beyond(x) - count * _beyond(count * x)
    return np.where(steps == 0, 0.0, np.where(ratio < 0.5, direct, near))


def _beyond(y: FloatArray) -> FloatArray:
    """1/(e^y - 1) - 1/y, for y of at least 0: near 0 by the numbers of Bernoulli."""
    square = np.minimum(y, 0.5) ** 2
    series = 1 / 12 - square * (
        1 / 720 - square * (1 / 30240 - square * (1 / 1209600 - square * (1 / 47900160)))
    )
    far = np.maximum(y, 0.5)
    with np.errstate(over="ignore"):
        closed = 1 / np.expm1(far) - 1 / far
    return np.where(y < 0.5, np.minimum(y, 0.5) * series - 0.5, closed)
