"""The phases between two lost bursts: equations (1) to (15).

After a time-out slow start takes the window from 2 to W_0/2, every size for two rounds (A to B),
congestion avoidance takes it to W_0, a segment a round (B to C), and there it stays (C to D).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.padhye import backoff_factor
from burstlab.analytic.shihada.arguments import (
    PAPER,
    Alpha,
    BaseRtt,
    Beta,
    Loss,
    Rto,
    RttOverBase,
    Window,
    WindowMax,
)


@declared(
    "Segments",
    f"{PAPER}, equations (1) to (3)",
    rtt_s="That of a burst that was sent again gives Diff_C.",
    as_printed=(
        "Expected less Actual without the factor BaseRTT of (3): segments/s, which cannot "
        "be compared with alpha and beta."
    ),
)
def diff(
    window: Annotated[ArrayLike, Argument("Congestion window", "segments", above=0)],
    base_rtt_s: BaseRtt,
    rtt_s: RttOverBase,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Diff, by which Vegas decides: segments that wait in queues; (1) to (3), (19), (20).

    Examples
    --------
    >>> f"{diff(128, 0.1, 0.11):.2f}"
    '11.64'
    """
    size, base, rtt = np.broadcast_arrays(window, base_rtt_s, rtt_s)
    # W/BaseRTT - W/RTT, which loses the digits of a short queue.
    waiting = size * ((rtt - base) / rtt)
    return waiting / base if as_printed else waiting


@declared("Segments", f"{PAPER}, equation (7)")
def stable_window(
    window_max: WindowMax, rtt_s: RttOverBase, base_rtt_s: BaseRtt, alpha: Alpha = 2, beta: Beta = 5
) -> FloatArray:
    """Window W_0 at which Vegas stays, min((alpha + beta)/2 · R/(R - BaseRTT), W_max): (7).

    From below the window in fact stops at alpha · R/(R - BaseRTT), the lower end of where it stays.
    With source routing R = BaseRTT, and W_0 = W_max.
    """
    limit, base, rtt = np.broadcast_arrays(window_max, base_rtt_s, rtt_s)
    low, high = np.broadcast_arrays(alpha, beta)
    queueing = rtt - base
    with np.errstate(divide="ignore"):
        free = np.where(queueing > 0, (low + high) / 2 * rtt / queueing, np.inf)
    return np.minimum(free, limit)


@declared(
    "Segments",
    f"{PAPER}, equation (8)",
    as_printed=(
        "The sum in (8), 2 (1 + 2 + ...) up to log_4(W_0/2) terms after the first, which "
        "is not the W_0 - 4 that it is set equal to."
    ),
)
def slow_start_segments(window: Window, *, as_printed: bool = False) -> FloatArray:
    """Segments sent in slow start, E[Y_AB] = 2 (2 + 4 + ... + W_0/4) = W_0 - 4: (8)."""
    (size,) = arrays(window)
    if as_printed:
        last = np.floor(np.log2(size / 2) / 2 + 1e-9)
        return 2 * (np.exp2(last + 1) - 1)
    return size - 4


@declared("Rounds", f"{PAPER}, equation (9)")
def slow_start_rounds(window: Window) -> FloatArray:
    """Length of slow start in rounds, 2 (log W_0 - 2): (9)."""
    (size,) = arrays(window)
    # Of a window of hardly more than 4 by its excess, which the logarithm rounds off.
    return np.where(size < 8, 2 * np.log1p((size - 4) / 4) / np.log(2), 2 * (np.log2(size) - 2))


@declared("Segments", f"{PAPER}, equation (10)")
def avoidance_segments(window: Window) -> FloatArray:
    """Segments sent in congestion avoidance up to W_0, E[Y_BC] = 3 W_0²/8 - W_0/4: (10)."""
    (size,) = arrays(window)
    return 3 * size**2 / 8 - size / 4


@declared("Rounds", f"{PAPER}, equation (11)")
def avoidance_rounds(window: Window) -> FloatArray:
    """Length of congestion avoidance up to W_0 in rounds, W_0/2: (11)."""
    (size,) = arrays(window)
    return size / 2


@declared("Rounds", f"{PAPER}, the text before (12)")
def rounds_between_losses(p: Loss) -> FloatArray:
    """Mean number of rounds delivered between two lost bursts, E[X] = (1-p)/p."""
    (loss,) = arrays(p)
    return (1 - loss) / loss


@declared(
    "Probability; beyond it `stable_rounds` would be negative",
    f"{PAPER}, equations (9), (11) and (12)",
)
def loss_limit(window: Window) -> FloatArray:
    """Largest loss probability at which the window reaches W_0 before it is lost.

    Examples
    --------
    >>> f"{loss_limit(128):.4f}"
    '0.0133'
    """
    climb = np.asarray(slow_start_rounds(window)) + np.asarray(avoidance_rounds(window))
    return 1 / (1 + climb)


@declared("Rounds, at least 0", f"{PAPER}, equations (12) and (13)", p="At most `loss_limit`.")
def stable_rounds(p: Loss, window: Window) -> FloatArray:
    """Length of the stable phase in rounds, E[X] - 2 (log W_0 - 2) - W_0/2: (12), (13).

    Raises
    ------
    ValueError
        If an argument is out of its range, or the rounds between two losses do not suffice to
        reach W_0.
    """
    share = stable_share(p, window)
    return share / np.asarray(p)


def stable_share(p: ArrayLike, window: ArrayLike) -> FloatArray:
    """Return `stable_rounds` times p, which is at most 1; refuse what that refuses.

    The rounds themselves may be more than a number can be.
    """
    loss, size = np.broadcast_arrays(p, window)
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
    return np.maximum(0, (1 - loss) - loss * climb)


@declared("Seconds", f"{PAPER}, equation (14), after PFTK (29)")
def timeout_time(p: Loss, rto_s: Rto) -> FloatArray:
    """Mean time of a sequence of time-outs, RTO f(p)/(1-p): (5), (14)."""
    loss, rto = arrays(p, rto_s)
    return rto * np.asarray(backoff_factor(loss)) / (1 - loss)


@declared("Segments", f"{PAPER}, equation (15)")
def failed_retransmissions(p: Loss) -> FloatArray:
    """Segments sent in vain between two time-outs of a sequence, E[H] = p/(1-p): (15)."""
    (loss,) = arrays(p)
    return loss / (1 - loss)
