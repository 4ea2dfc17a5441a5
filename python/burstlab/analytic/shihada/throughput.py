"""Throughput, bare and with retransmission: equations (16), (23) to (27)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.shihada.arguments import (
    PAPER,
    BaseRtt,
    Beta,
    Contention,
    DelayedRttOverBase,
    Loss,
    LossAfterContention,
    Rto,
    Rtt,
    Window,
)
from burstlab.analytic.shihada.contention import (
    contended_share,
    lowest_window,
    mean_contended_window,
    top_share,
    uncontended_share,
)
from burstlab.analytic.shihada.phases import (
    avoidance_rounds,
    avoidance_segments,
    failed_retransmissions,
    slow_start_rounds,
    slow_start_segments,
    stable_share,
    timeout_time,
)

PRINTED: tuple[str, ...] = ("(21)", "(22)", "E[W_CG]", "(25)")
"""Places whose misprints enter (27), as `as_printed` of `retransmission_throughput` names them."""


@declared(
    "Segments/s",
    f"{PAPER}, equation (16)",
    p="That is, meets contention; at most `loss_limit`.",
    window="See `stable_window`.",
    goodput="Leave out E[H], the segments sent in vain.",
)
def bare_throughput(
    p: Loss, window: Window, rtt_s: Rtt, rto_s: Rto, *, goodput: bool = False
) -> FloatArray:
    """Throughput B_1 over OBS without retransmission, (E[Y] + E[H])/(E[A] + E[TO]): (16).

    Examples
    --------
    >>> f"{bare_throughput(1e-3, 128, 0.1, 0.2):.1f}"
    '1245.1'
    """
    size, rtt = arrays(window, rtt_s)
    (loss,) = arrays(p)
    # All of it times p: the rounds between two losses may be more than a number can be.
    stable = stable_share(loss, size)
    segments = np.asarray(slow_start_segments(size)) + np.asarray(avoidance_segments(size))
    return _rate(loss * segments + size * stable, (1 - loss) * rtt, loss, rto_s, goodput)


@declared(
    "Segments/s",
    f"{PAPER}, equations (23) to (27)",
    window="See `stable_window`.",
    p="At most `loss_limit`.",
    base_rtt_s="By default `rtt_s`.",
    goodput="Leave out E[H], the segments sent in vain.",
    as_printed=(
        "Take what enters (27) as it is printed: True for all of it, or the names of some "
        'of `PRINTED`, each on its own. "(21)" is the ceiling; "(22)" the inverse for '
        "pi_0, by which all pi_i are multiplied, so that they do not add up to 1 and the "
        'throughput can pass W_0/R; "E[W_CG]" the last term of the first line of that sum, '
        'W_0 pi_N; "(25)" the time of all E[X] rounds. True leaves "E[W_CG]" out: the '
        "second line, printed right, contradicts the first."
    ),
)
def retransmission_throughput(
    pc: Contention,
    window: Window,
    rtt_s: Rtt,
    rtt_r_s: DelayedRttOverBase,
    rto_s: Rto,
    p: LossAfterContention | None = None,
    *,
    base_rtt_s: BaseRtt | None = None,
    beta: Beta = 5,
    goodput: bool = False,
    as_printed: bool | Collection[str] = False,
) -> FloatArray:
    """Throughput B_2 where a burst is sent again once after contention: (23) to (27).

    Raises
    ------
    ValueError
        If an argument is out of its range, or `as_printed` has a name that `PRINTED` has not.

    Examples
    --------
    >>> f"{retransmission_throughput(1e-2, 128, 0.1, 0.11, 0.2):.1f}"
    '1275.2'
    >>> f"{retransmission_throughput(1e-2, 128, 0.1, 0.11, 0.2, as_printed=['(25)']):.1f}"
    '1265.8'
    """
    printed = _printed(as_printed)
    contention, size, rtt = arrays(pc, window, rtt_s)
    # p_c² may be too small for a number; then nothing hangs on it.
    loss = np.maximum(contention**2, np.finfo(float).tiny) if p is None else np.asarray(p)
    base = rtt if base_rtt_s is None else base_rtt_s
    mean = _mean_window(contention, size, rtt_r_s, base, beta, p, printed)
    # All of it times p, as of the bare network.
    segments = np.asarray(slow_start_segments(size)) + np.asarray(avoidance_segments(size))
    segments = loss * segments + np.asarray(mean) * stable_share(loss, size)
    climb = np.asarray(slow_start_rounds(size)) + np.asarray(avoidance_rounds(size))
    rounds = (1 - loss) - (0 if "(25)" in printed else loss * climb)
    lasts = np.asarray(uncontended_share(contention, p)) * rtt
    lasts = lasts + np.asarray(contended_share(contention, p)) * np.asarray(rtt_r_s)
    return _rate(segments, loss * climb * rtt + rounds * lasts, loss, rto_s, goodput)


def _printed(as_printed: bool | Collection[str]) -> Collection[str]:
    """Return the names of what is to be taken as printed."""
    if isinstance(as_printed, bool):
        return ("(21)", "(22)", "(25)") if as_printed else ()
    unknown = [name for name in as_printed if name not in PRINTED]
    if unknown or isinstance(as_printed, str):
        raise ValueError(
            f"as_printed = {as_printed!r}: give True, False or a list of some of "
            + ", ".join(PRINTED)
        )
    return as_printed


def _mean_window(
    contention: FloatArray,
    size: FloatArray,
    rtt_r_s: ArrayLike,
    base: ArrayLike,
    beta: ArrayLike,
    p: ArrayLike | None,
    printed: Collection[str],
) -> FloatArray:
    """Return E[W_CG], with (21), (22) or its own last term as printed."""
    lowest = np.asarray(lowest_window(rtt_r_s, base, beta, as_printed="(21)" in printed))
    mean = np.asarray(
        mean_contended_window(contention, size, lowest, p, as_printed="E[W_CG]" in printed)
    )
    if "(22)" not in printed:
        return mean
    steps = np.maximum(0, np.floor(size - lowest + 1e-9))
    # The sum is linear in pi_0: what is printed for it is put in place of what it is.
    ratio = np.asarray(top_share(contention, steps, p, as_printed=True)) / np.asarray(
        top_share(contention, steps, p)
    )
    even = np.asarray(contended_share(contention, p)) == np.asarray(
        uncontended_share(contention, p)
    )
    return mean * np.where(even | (steps == 0), 1, ratio)


def _rate(
    segments: FloatArray, seconds: FloatArray, p: ArrayLike, rto_s: ArrayLike, goodput: bool
) -> FloatArray:
    """Return segments over seconds, each times p, with the time-outs and what they send in vain."""
    (loss,) = arrays(p)
    vain = 0 if goodput else loss * np.asarray(failed_retransmissions(loss))
    return (segments + vain) / (seconds + loss * np.asarray(timeout_time(loss, rto_s)))
