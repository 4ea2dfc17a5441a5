"""Packets delivered between two time-outs: equations (4) and (6) to (8)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.yu2004.arguments import PAPER, Loss, Rounds, SlowStart, Window
from burstlab.analytic.yu2004.windows import mean_window_btcp, mean_window_tcp

Spacing = Annotated[
    Literal["even", "geometric"],
    Argument(
        "Distance of losses in rounds",
        note='"even": always the mean, as printed. "geometric": independent losses.',
    ),
]


@declared(
    "Packets", f"{PAPER}, V.A.1, equation (4)", slow_start='The packets enter; "half" has W/2 less.'
)
def packets_to_window(
    window: Annotated[
        ArrayLike, Argument("The window W, at which the burst is lost,", "packets", at_least=2)
    ],
    *,
    slow_start: SlowStart = "paper",
) -> FloatArray:
    """Packets from a window of 1 up to the window W, with ssthresh W/2: (4).

    3W^2/8 + W - 1: slow start carries W - 1, congestion avoidance W/2 rounds of 3W/4 on average.
    """
    (size,) = arrays(window)
    return _packets_to(size, slow_start)


@declared(
    "Packets E[H1]; NaN where the window would be below 2",
    f"{PAPER}, V.A.1, equations (4) and (5)",
    p="Meaningful as for `mean_window_tcp`.",
    slow_start="Used in (4) and in (5).",
    as_printed="Put E[W] = (1-p)/p of the text into (4), in place of the solution of (5).",
)
def unlimited_packets_tcp(
    p: Loss, *, slow_start: SlowStart = "paper", as_printed: bool = False
) -> FloatArray:
    """Packets of TCP between two time-outs where W_m is never reached: (4) with (5)."""
    window = np.asarray(mean_window_tcp(p, slow_start=slow_start, as_printed=as_printed))
    return _packets_to(np.where(window >= 2, window, np.nan), slow_start)


@declared(
    "Packets E[H2]; NaN where `mean_window_btcp` is",
    f"{PAPER}, V.A.1, equation (6). The geometric variant is not in the paper",
    p="Meaningful for p <= 1/2.",
)
def unlimited_packets_btcp(p: Loss, *, spacing: Spacing = "even") -> FloatArray:
    """Packets of BTCP between two time-outs where W_m is never reached: (6).

    With even spacing 3(1-p)^2/(2p^2): every round count is (1-p)/p. With independent losses the
    count X is geometric, the packets are X*W/2 + X^2/2 and W/2 is independent of X, so that
    E[H2] = (1-p)(4-3p)/(2p^2).
    """
    (loss,) = arrays(p)
    even = 3 * (1 - loss) ** 2 / (2 * loss**2)
    geometric = (1 - loss) * (4 - 3 * loss) / (2 * loss**2)
    packets = even if spacing == "even" else geometric
    return np.where(np.isnan(mean_window_btcp(loss)), np.nan, packets)


@declared(
    "Packets E[H1]; NaN where W_m is not reached",
    f"{PAPER}, V.A.1, equation (7)",
    window="It is reached if W_m/2 + log2(W_m/2) <= 1/p.",
    rounds="The second is W_m packets less.",
    slow_start='"half" is W_m/2 packets less, "full" W_m.',
    as_printed="Evaluate the first line as printed.",
)
def limited_packets_tcp(
    p: Loss,
    window: Window,
    *,
    rounds: Rounds = "inverse",
    slow_start: SlowStart = "paper",
    as_printed: bool = False,
) -> FloatArray:
    """Packets of TCP between two time-outs where W_m is reached: (7).

    W_m/p - W_m^2/8 + W_m - 1 - W_m*log2(W_m/2), the second line of (7). The first line has 3W_m/8
    for congestion avoidance; with 3W_m^2/8 the lines agree.
    """
    loss, limit = arrays(p, window)
    count = _count(loss, rounds)
    starting, carried = slow_start_of(limit, slow_start)
    full = count - limit / 2 - starting
    avoidance = 3 * limit / 8 if as_printed else 3 * limit**2 / 8
    packets = carried + avoidance + limit * full
    return np.where(full >= 0, packets, np.nan)


@declared(
    "Packets E[H2]; NaN where W_m is not reached",
    f"{PAPER}, V.A.1, equation (8)",
    window="It is reached if W_m/2 <= 1/p.",
)
def limited_packets_btcp(p: Loss, window: Window, *, rounds: Rounds = "inverse") -> FloatArray:
    """Packets of BTCP between two time-outs where W_m is reached: (8), W_m/p - W_m^2/8."""
    loss, limit = arrays(p, window)
    count = _count(loss, rounds)
    full = count - limit / 2
    return np.where(full >= 0, limit * full + 3 * limit**2 / 8, np.nan)


@declared(
    "In the shape of `window`",
    f"{PAPER}, V.A.1, the text before (4)",
    window="The window in packets that congestion avoidance goes on to, at least 2.",
)
def slow_start_of(window: FloatArray, slow_start: SlowStart) -> tuple[FloatArray, FloatArray]:
    """Count the rounds and packets of slow start from a window of 1 to half of `window`."""
    rounds = np.log2(window if slow_start == "full" else window / 2)
    return rounds, window / 2 - 1 if slow_start == "half" else window - 1


def _packets_to(window: FloatArray, slow_start: SlowStart) -> FloatArray:
    return 3 * window**2 / 8 + slow_start_of(window, slow_start)[1]


def _count(loss: FloatArray, rounds: Rounds) -> FloatArray:
    return 1 / loss if rounds == "inverse" else (1 - loss) / loss
