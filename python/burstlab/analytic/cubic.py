"""Mean window of CUBIC where losses come evenly.

L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert (eds.), "CUBIC for Fast and Long-Distance Networks",
RFC 9438, 2023.

Limitations: congestion avoidance alone, each loss reduces once, none times out, and a round trip
lasts the same whatever the window. The Reno-friendly part of the window is not in it: where the
mean of AIMD is larger (`burstlab.analytic.padhye.mathis`), that is what holds.
"""

from __future__ import annotations

from typing import Annotated

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared

Loss = Annotated[ArrayLike, Argument("Loss probability", above=0, below=1)]
Rtt = Annotated[ArrayLike, Argument("Round-trip time", "s", above=0)]
Scale = Annotated[ArrayLike, Argument("Factor C of the curve", "segments/s^3", above=0)]
Beta = Annotated[ArrayLike, Argument("What a loss leaves of the window", above=0, below=1)]


@declared("Segments", "RFC 9438, section 5.1")
def mean_window(p: Loss, rtt_s: Rtt, c: Scale = 0.4, beta: Beta = 0.7) -> FloatArray:
    """Mean window of the cubic curve between two losses, 1/p segments apart.

    Examples
    --------
    >>> f"{mean_window(1e-4, 0.1):.1f}"
    '187.4'
    """
    loss, rtt, scale, left = arrays(p, rtt_s, c, beta)
    constant = (scale * (3 + left) / (4 * (1 - left))) ** 0.25
    # Not (rtt/loss)^0.75, whose quotient may be too large for a number.
    return constant * rtt**0.75 / loss**0.75


@declared("Segments/s", "RFC 9438, section 5.1")
def mean_rate(p: Loss, rtt_s: Rtt, c: Scale = 0.4, beta: Beta = 0.7) -> FloatArray:
    """Rate of that window, a window a round trip.

    Examples
    --------
    >>> f"{mean_rate(1e-4, 0.1):.0f}"
    '1874'
    """
    _, rtt = arrays(p, rtt_s)
    return mean_window(p, rtt_s, c, beta) / rtt
