"""Throughput of a loss-based TCP on a path: Padhye's formula and that of Mathis.

J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput: A Simple Model and its
Empirical Validation", SIGCOMM 1998 (PFTK). M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The
Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", ACM CCR 27(3), 1997.

Limitations: Reno; long transfers without slow start; a round trip lasts the same whatever the
window; in a round all segments after a lost one are lost, and rounds are independent. `p` is the
probability that a segment is lost while none before it in its round is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.registry import Model, Parameter, Quantity, number

Loss = Annotated[ArrayLike, Argument("Loss probability", above=0, below=1)]
Rtt = Annotated[ArrayLike, Argument("Round-trip time", "s", above=0)]
Rto = Annotated[ArrayLike, Argument("First time-out T_0", "s", above=0)]
Window = Annotated[ArrayLike, Argument("Largest window W_max", "segments", at_least=1)]
Acked = Annotated[
    ArrayLike,
    Argument("Segments that an ACK acknowledges", at_least=1, note="With delayed ACKs it is 2."),
]
Losses = Annotated[
    str,
    Argument(
        "How losses come",
        words=("periodic", "random"),
        note='"periodic": C = sqrt(3/(2b)). "random": C = 1.31, or 0.93 with b = 2.',
    ),
]

RANDOM_CONSTANT = 1.31
"""Mathis et al. 1997, Table 1: C for independent losses and an ACK for each segment."""

RANDOM_CONSTANT_DELAYED = 0.93
"""The same for an ACK for every second segment."""


@declared("Factor without unit", "PFTK, equation (29)")
def backoff_factor(
    p: Annotated[
        ArrayLike,
        Argument("Probability that a retransmission after a time-out is lost", above=0, below=1),
    ],
) -> FloatArray:
    """f(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶.

    A sequence of time-outs lasts f(p)/(1-p) first time-outs when each fails with probability p,
    doubles the next, and the seventh and later ones are 64 times the first.

    Examples
    --------
    >>> f"{backoff_factor(0.1):.5f}"
    '1.12499'
    """
    (loss,) = arrays(p)
    return 1 + loss + np.polynomial.polynomial.polyval(loss, [0, 0, 2, 4, 8, 16, 32])


@declared("Segments", "PFTK, equation (13)")
def unlimited_window(p: Loss, b: Acked = 2) -> FloatArray:
    """Mean window E[W_u] at a loss that duplicate ACKs tell of, without a largest window."""
    loss, acked = arrays(p, b)
    middle = (2 + acked) / (3 * acked)
    return middle + np.sqrt(8 * (1 - loss) / (3 * acked * loss) + middle**2)


@declared(
    "Probability; 1 up to a window of 3, which three duplicate ACKs cannot come from",
    "PFTK, equation (24)",
)
def timeout_share(
    p: Loss, window: Annotated[ArrayLike, Argument("Segments in the round of the loss", at_least=1)]
) -> FloatArray:
    """Probability Q that a loss at this window ends in a time-out."""
    loss, size = np.broadcast_arrays(p, window)
    kept = 1 - loss
    above = np.maximum(size, 3)
    # 1 - kept^n for small losses, without cancellation.
    lost_of_three = -np.expm1(3 * np.log1p(-loss))
    lost_of_rest = -np.expm1((above - 3) * np.log1p(-loss))
    lost_of_all = -np.expm1(above * np.log1p(-loss))
    share = lost_of_three * (1 + kept**3 * lost_of_rest) / lost_of_all
    return np.where(size <= 3, 1.0, np.minimum(1, share))


@declared("Segments/s", "PFTK, equation (32)")
def send_rate(p: Loss, rtt_s: Rtt, rto_s: Rto, window: Window, b: Acked = 2) -> FloatArray:
    """Rate at which a sender puts segments on the wire: the full formula with W_max.

    Examples
    --------
    >>> f"{send_rate(0.01, 0.1, 0.2, 64):.1f}"
    '81.1'
    """
    loss, rtt, rto, limit, acked = arrays(p, rtt_s, rto_s, window, b)
    free = np.asarray(unlimited_window(loss, acked))
    reached = np.minimum(free, limit)
    share = np.asarray(timeout_share(loss, np.maximum(reached, 1)))
    # All of it times p: with rare losses what lies between two may be too large for a number.
    rounds = np.where(
        free < limit,
        loss * (acked / 2 * free + 1),
        loss * (acked / 8 * limit + 2) + (1 - loss) / limit,
    )
    failed = loss * share / (1 - loss)
    segments = (1 - loss) + loss * reached + failed
    seconds = rtt * rounds + failed * rto * np.asarray(backoff_factor(loss))
    return segments / seconds


@declared("Segments/s", "PFTK, equation (33)")
def send_rate_approximate(
    p: Loss, rtt_s: Rtt, rto_s: Rto, window: Window, b: Acked = 2
) -> FloatArray:
    """Approximate `send_rate` by its short form."""
    loss, rtt, rto, limit, acked = arrays(p, rtt_s, rto_s, window, b)
    avoidance = rtt * np.sqrt(2 * acked * loss / 3)
    timeouts = rto * np.minimum(1, 3 * np.sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss**2)
    return np.minimum(limit / rtt, 1 / (avoidance + timeouts))


@declared(
    "Segments/s",
    "Mathis et al. 1997, equation (3) and Table 1",
    p="Each loss halves the window, none times out.",
    b="1 or 2 with random losses.",
)
def mathis(p: Loss, rtt_s: Rtt, b: Acked = 1, *, losses: Losses = "periodic") -> FloatArray:
    """Rate of congestion avoidance alone, C/(RTT sqrt(p)).

    Examples
    --------
    >>> f"{mathis(0.01, 0.1):.1f}"
    '122.5'
    """
    loss, rtt, acked = arrays(p, rtt_s, b)
    if losses == "periodic":
        constant = np.sqrt(3 / (2 * acked))
    else:
        if not np.isin(acked, (1, 2)).all():
            raise ValueError("b is neither 1 nor 2: Table 1 has no constant for random losses")
        constant = np.where(acked == 1, RANDOM_CONSTANT, RANDOM_CONSTANT_DELAYED)
    return constant / (rtt * np.sqrt(loss))


PARAMETERS = (
    Parameter("p", "", 0.01, "loss probability of a segment, 0 < p < 1"),
    Parameter("rtt", "s", 0.1, "round-trip time, above 0"),
    Parameter("rto", "s", 0.2, "first time-out T_0, at least rtt"),
    Parameter("window", "segments", 64, "largest window W_max, at least 1"),
    Parameter("b", "segments", 2, "segments that an ACK acknowledges, at least 1"),
)


@declared("Results by name", settings="A value for each of `PARAMETERS`.")
def compute(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate every formula at one point."""
    p, rtt, rto = settings["p"], settings["rtt"], settings["rto"]
    window, b = settings["window"], settings["b"]
    if rto < rtt:
        raise ValueError(
            f"rto = {rto:g} is below rtt = {rtt:g}: "
            "a retransmission time-out lasts at least one round trip"
        )
    free = float(unlimited_window(p, b))
    reached = min(free, window)
    return {
        "send_rate": number(
            send_rate(p, rtt, rto, window, b), "segments/s", "(32)", "rate of the full formula"
        ),
        "send_rate_approximate": number(
            send_rate_approximate(p, rtt, rto, window, b), "segments/s", "(33)", "the short form"
        ),
        "mathis": number(
            mathis(p, rtt, b), "segments/s", "Mathis (3)", "without time-outs and W_max"
        ),
        "mean_window": number(reached, "segments", "(13)", "min(E[W_u], W_max)"),
        "timeout_share": number(
            timeout_share(p, max(reached, 1)), "", "(24)", "share of losses that time out"
        ),
        "backoff_factor": number(backoff_factor(p), "", "(29)", "f(p)"),
    }


MODEL = Model(
    name="padhye",
    reference=(
        "J. Padhye, V. Firoiu, D. Towsley, J. Kurose, Modeling TCP Throughput: A Simple Model "
        "and its Empirical Validation, SIGCOMM 1998"
    ),
    description="Rate of Reno under losses of segments, with time-outs and a largest window",
    parameters=PARAMETERS,
    compute=compute,
)
