"""Flow classes, rounds between losses and congestion windows: equations (1) to (3) and (5)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.yu2004.arguments import PAPER, Assembly, Loss, SlowStart, Window

NEWTON_STEPS = 12
"""The start is within a factor of two of the root and the number of right digits doubles with
every step, so that half of these reach the last bit."""


@declared(
    '"slow", "medium" or "fast"',
    f"{PAPER}, II.A, equations (1) to (3)",
    as_printed='Test in the order of the paper, so that where both hold the answer is "medium".',
)
def flow_class(
    rate_pps: Annotated[ArrayLike, Argument("Rate of the access link", "packets/s", above=0)],
    assembly_s: Assembly,
    window: Annotated[ArrayLike, Argument("Largest window W_m", "packets", at_least=1)],
    *,
    as_printed: bool = False,
) -> NDArray[np.str_]:
    """Class of a flow by how many packets of a round share one burst: (1) to (3).

    With N = rate_pps * assembly_s the paper calls a flow slow if N < 1 (1), medium if
    1 <= N < W_m (2) and fast if N >= W_m - 1 (3). For W_m - 1 <= N < W_m both (2) and (3) hold.
    The packet that starts the timer comes on top of the N that arrive while it runs, so a whole
    window fits into one burst from N = W_m - 1 on: (3) is what happens, and it is tested first.

    Notes
    -----
    With W_m < 2 a slow flow also satisfies (3): one packet is a whole window. It is called fast.

    Examples
    --------
    >>> str(flow_class(1000, 0.2, 200))
    'fast'
    """
    rate, assembly, limit = arrays(rate_pps, assembly_s, window)
    arrivals = rate * assembly
    slow, medium, fast = arrivals < 1, (arrivals >= 1) & (arrivals < limit), arrivals >= limit - 1
    order = [(slow, "slow"), (medium, "medium"), (fast, "fast")]
    if not as_printed:
        order = [order[2], order[0], order[1]]
    conditions = [
        np.broadcast_to(test, np.broadcast_shapes(slow.shape, fast.shape)) for test, _ in order
    ]
    return np.select(conditions, [np.str_(word) for _, word in order], np.str_("medium"))


@declared("Rounds", f"{PAPER}, V.A.1, the text before (4)")
def rounds_between_losses(p: Loss) -> FloatArray:
    """Mean number of rounds delivered between two burst losses, (1 - p)/p."""
    (loss,) = arrays(p)
    return (1 - loss) / loss


@declared(
    "Packets; NaN where E[W] would be below 2",
    f"{PAPER}, V.A.1, equation (5)",
    p=(
        'Meaningful for p <= 1/2 (p <= 1/3 with `slow_start="full"`): beyond, slow start would '
        "have less than no round."
    ),
    slow_start='The rounds enter; "half" has those of "paper".',
    as_printed="Return (1-p)/p, which the text before (4) calls E[W]. It is the number of rounds.",
)
def mean_window_tcp(
    p: Loss, *, slow_start: SlowStart = "paper", as_printed: bool = False
) -> FloatArray:
    """Mean window E[W] at which a flow without false time-out detection loses a burst: (5).

    Solves (1-p)/p = log2(W/2) + W/2 for W. With x = W/2 the right side is increasing and concave,
    and Newton's iteration from below the root climbs to it without overshooting.

    Examples
    --------
    >>> f"{mean_window_tcp(0.1):.2f}"
    '12.67'
    """
    rounds = np.asarray(rounds_between_losses(p))
    if as_printed:
        return rounds
    half = _root(rounds - (1 if slow_start == "full" else 0))
    # p = 1/2 has the root 1 exactly; rounding must not push it out of the range.
    return np.where(half >= 1 - 1e-12, 2 * half, np.nan)


@declared(
    "Packets; NaN where it would be below 2",
    f"{PAPER}, V.A.1, the text before (6)",
    p="Below 2 packets (p > 1/2) there is no window to halve.",
)
def mean_window_btcp(p: Loss) -> FloatArray:
    """Mean window at which a flow with false time-out detection loses a burst, 2(1-p)/p.

    It starts a round at W/2 and grows by one packet a round.
    """
    window = 2 * np.asarray(rounds_between_losses(p))
    return np.where(window >= 2, window, np.nan)


@declared(
    "Ratio without unit; NaN where a window is",
    f"{PAPER}, Fig. 5(a), from (5) and the text before (6)",
    p="Meaningful as for `mean_window_tcp`.",
    slow_start="The rounds enter.",
)
def mean_window_ratio(p: Loss, *, slow_start: SlowStart = "paper") -> FloatArray:
    """Mean window of BTCP over that of TCP: the second curve of Fig. 5(a)."""
    return mean_window_btcp(p) / mean_window_tcp(p, slow_start=slow_start)


@declared(
    "The regime",
    f"{PAPER}, V.A.1, the text before (4) and before (7)",
    p='For p > 1/2 no window is ever reached and the answer is "loss-limited".',
    slow_start="The rounds enter, in (5).",
    as_printed='"loss-limited" where W_m * p > 1, else "window-limited".',
)
def window_regime(
    p: Loss, window: Window, *, slow_start: SlowStart = "paper", as_printed: bool = False
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
    """
    loss, limit = arrays(p, window)
    if as_printed:
        return np.where(limit * loss > 1, "loss-limited", "window-limited")
    tcp_limited = limit < np.asarray(mean_window_tcp(loss, slow_start=slow_start))
    btcp_limited = limit < np.asarray(mean_window_btcp(loss))
    return np.where(tcp_limited, "window-limited", np.where(btcp_limited, "mixed", "loss-limited"))


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
