"""One link: the formulas of Erlang and Engset."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray
from burstlab.analytic.declared import declared

SERVERS_MAX = 1_000_000
"""More wavelengths than any fibre has; the recursions take a step for each."""

Servers = Annotated[
    ArrayLike, Argument("Number of wavelengths W", at_least=0, at_most=SERVERS_MAX, whole=True)
]
Seen = Annotated[
    Literal["arrivals", "time"],
    Argument(
        "The base of the loss ratio",
        note=(
            '"arrivals": of the bursts, those lost (call congestion). "time": of the time, that in '
            "which all wavelengths are taken and one would be lost (time congestion)."
        ),
    ),
]

SLACK = 1e-6
"""By how much the lower bound is lowered, so that no rounding puts it above the load."""
BISECTIONS = 200
"""More halvings than there are numbers between the bounds."""


@declared(
    "Loss ratio, in [0, 1]",
    "A. K. Erlang, 1917. B. A. Sevast'yanov, 1957, for the insensitivity to the lengths",
)
def erlang_b(
    load: Annotated[
        ArrayLike,
        Argument(
            "Load A offered to the link",
            "Erlang",
            at_least=0,
            note=(
                "Arrivals per second times the mean time that a burst takes. The sum over all "
                "wavelengths, not the load of one."
            ),
        ),
    ],
    servers: Servers,
) -> FloatArray:
    """Share of Poisson bursts that is lost on a link without buffers.

    By the recursion B(0) = 1, B(n) = A B(n-1) / (n + A B(n-1)), which neither overflows nor
    cancels. Holds for any distribution of the lengths of bursts with a finite mean.

    Examples
    --------
    >>> f"{erlang_b(2, 3):.4f}"  # (8/6) / (1 + 2 + 4/2 + 8/6) = 4/19
    '0.2105'
    """
    offered, count = np.broadcast_arrays(load, servers)
    blocking = np.ones(offered.shape)
    for n in range(1, int(count.max(initial=0)) + 1):
        carried = offered * blocking
        blocking = np.where(n <= count, carried / (n + carried), blocking)
    return blocking


@declared("Load in Erlang")
def erlang_b_load(
    blocking: Annotated[ArrayLike, Argument("Loss ratio", above=0, below=1)],
    servers: Annotated[
        ArrayLike, Argument("Number of wavelengths", at_least=1, at_most=SERVERS_MAX, whole=True)
    ],
) -> FloatArray:
    """Load of a link that loses a given share: the inverse of `erlang_b`.

    Examples
    --------
    >>> f"{erlang_b_load(0.01, 15):.3f}"
    '8.108'
    """
    target, count = np.broadcast_arrays(blocking, servers)
    # B is at most A^W/W!, which gives the least load that may lose so much.
    least = np.log(target) + np.vectorize(math.lgamma, otypes=[float])(count + 1.0)
    low = np.exp(least / count) * (1 - SLACK)
    # The carried load, A (1 - B), is at most one Erlang per wavelength.
    high = count / (1 - target)
    low = np.minimum(low, high)
    for _ in range(BISECTIONS):
        # The ends may be many powers of ten apart.
        far = high > 2 * low
        middle = np.where(far, np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        lost, kept = _lost_and_kept(middle, count)
        # The smaller of the two has all its digits.
        below = np.where(target < 0.5, lost < target, kept > 1 - target)
        narrow_low, narrow_high = np.where(below, middle, low), np.where(below, high, middle)
        if np.array_equal(narrow_low, low) and np.array_equal(narrow_high, high):
            break
        low, high = narrow_low, narrow_high
    return high


def _lost_and_kept(offered: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return B and 1 - B, each with all its digits: 1 - B(n) = n / (n + A B(n-1))."""
    before = np.asarray(erlang_b(offered, count - 1))
    return np.asarray(erlang_b(offered, count)), count / (count + offered * before)


@declared("Loss ratio, in [0, 1]", "T. O. Engset, 1918")
def engset(
    load: Annotated[
        ArrayLike,
        Argument(
            "Load a of a source while it is silent",
            at_least=0,
            note="Mean time of a burst over mean silence.",
        ),
    ],
    servers: Servers,
    sources: Annotated[
        ArrayLike, Argument("Number of sources S", at_least=1, at_most=SERVERS_MAX, whole=True)
    ],
    *,
    seen: Seen = "arrivals",
) -> FloatArray:
    """Loss on a link that a finite number of sources share.

    Each source sends one burst at a time; after a burst, or after a lost one at once, it is silent
    for a random time. As many sources as there are wavelengths, or fewer, never lose.

    Notes
    -----
    The time congestion is C(S, W) a^W over the sum of C(S, k) a^k for k from 0 to W; an arrival
    sees the system with one source less. By the recursion of `erlang_b` with load (S - n + 1) a at
    step n. A burst that is lost ends at once here. Where its source goes on sending it into the
    void, as an input wavelength of a core node does, the source offers less and less is lost.

    Examples
    --------
    >>> float(engset(0.5, 1, 2, seen="time"))  # 2a / (1 + 2a)
    0.5
    """
    offered, count, many = np.broadcast_arrays(load, servers, sources)
    rivals = many - (seen == "arrivals")
    blocking = np.ones(offered.shape)
    for n in range(1, int(count.max(initial=0)) + 1):
        # A load near the largest number, times the sources, is infinite, and nothing is carried.
        with np.errstate(over="ignore", divide="ignore"):
            carried = offered * np.maximum(rivals - n + 1, 0) * blocking
            lost = np.where(carried > n, 1 / (1 + n / carried), carried / (n + carried))
        blocking = np.where(n <= count, lost, blocking)
    return blocking
