"""One link: the formulas of Erlang and Engset."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.analytic.arguments import FloatArray, at_least, choice, probability

Seen = Literal["arrivals", "time"]
"""Whether a loss is a share of the bursts, or a share of the time in which one would be lost."""

SERVERS_MAX = 1_000_000
"""More wavelengths than any fibre has; the recursions take a step for each."""

BISECTIONS = 200
"""More halvings than there are numbers between the bounds."""


def erlang_b(load: ArrayLike, servers: ArrayLike) -> FloatArray:
    """Share of Poisson bursts that is lost on a link without buffers.

    By the recursion B(0) = 1, B(n) = A B(n-1) / (n + A B(n-1)), which neither overflows nor
    cancels. Holds for any distribution of the lengths of bursts with a finite mean.

    Parameters
    ----------
    load
        Load A offered to the link in Erlang, at least 0: arrivals per second times the mean time
        that a burst takes. The sum over all wavelengths, not the load of one.
    servers
        Number of wavelengths, whole and at least 0.

    Returns
    -------
    numpy.ndarray
        Loss ratio, in [0, 1], in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    A. K. Erlang, 1917. B. A. Sevast'yanov, 1957, for the insensitivity to the lengths.

    Examples
    --------
    >>> f"{erlang_b(2, 3):.4f}"  # (8/6) / (1 + 2 + 4/2 + 8/6) = 4/19
    '0.2105'
    """
    offered, count = np.broadcast_arrays(at_least("load", load, 0), _servers(servers))
    blocking = np.ones(offered.shape)
    for n in range(1, int(count.max(initial=0)) + 1):
        carried = offered * blocking
        blocking = np.where(n <= count, carried / (n + carried), blocking)
    return blocking[()]


def erlang_b_load(blocking: ArrayLike, servers: ArrayLike) -> FloatArray:
    """Load of a link that loses a given share: the inverse of `erlang_b`.

    Parameters
    ----------
    blocking
        Loss ratio, with 0 < blocking < 1.
    servers
        Number of wavelengths, whole and at least 1.

    Returns
    -------
    numpy.ndarray
        Load in Erlang, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> f"{erlang_b_load(0.01, 15):.3f}"
    '8.108'
    """
    target, count = np.broadcast_arrays(
        probability("blocking", blocking), _servers(servers, minimum=1)
    )
    low = np.zeros(target.shape)
    # What is carried, A (1 - B), is at most one Erlang a wavelength.
    high = count / (1 - target)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        below = np.asarray(erlang_b(middle, count)) < target
        narrow_low, narrow_high = np.where(below, middle, low), np.where(below, high, middle)
        if np.array_equal(narrow_low, low) and np.array_equal(narrow_high, high):
            break
        low, high = narrow_low, narrow_high
    return high[()]


def engset(
    load: ArrayLike, servers: ArrayLike, sources: ArrayLike, *, seen: Seen = "arrivals"
) -> FloatArray:
    """Loss on a link that a finite number of sources share.

    Each source sends one burst at a time; after a burst, or after a lost one at once, it is silent
    for a random time. As many sources as there are wavelengths, or fewer, never lose.

    Parameters
    ----------
    load
        Load a of a source while it is silent, at least 0: mean time of a burst over mean silence.
    servers
        Number of wavelengths W, whole and at least 0.
    sources
        Number of sources S, whole and at least 1.
    seen
        "arrivals": share of the bursts that is lost (call congestion). "time": share of the time
        in which all wavelengths are taken (time congestion).

    Returns
    -------
    numpy.ndarray
        Loss ratio, in [0, 1], in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The time congestion is C(S, W) a^W over the sum of C(S, k) a^k for k from 0 to W; an arrival
    sees the system with one source less. By the recursion of `erlang_b` with load (S - n + 1) a at
    step n. A burst that is lost ends at once here. Where its source goes on sending it into the
    void, as an input wavelength of a core node does, the source offers less and less is lost.

    References
    ----------
    T. O. Engset, 1918.

    Examples
    --------
    >>> float(engset(0.5, 1, 2, seen="time"))  # 2a / (1 + 2a)
    0.5
    """
    choice("seen", seen, ("arrivals", "time"))
    offered, count, many = np.broadcast_arrays(
        at_least("load", load, 0), _servers(servers), _counts("sources", sources, 1)
    )
    rivals = many - (seen == "arrivals")
    blocking = np.ones(offered.shape)
    for n in range(1, int(count.max(initial=0)) + 1):
        carried = offered * np.maximum(rivals - n + 1, 0) * blocking
        blocking = np.where(n <= count, carried / (n + carried), blocking)
    return blocking[()]


def _servers(value: ArrayLike, minimum: int = 0) -> NDArray[np.int64]:
    return _counts("servers", value, minimum)


def _counts(name: str, value: ArrayLike, minimum: int) -> NDArray[np.int64]:
    numbers = at_least(name, value, minimum)
    wrong = (numbers != np.floor(numbers)) | (numbers > SERVERS_MAX)
    if np.any(wrong):
        raise ValueError(
            f"{name} = {numbers[wrong].flat[0]:g} is no count: "
            f"give a whole number from {minimum} to {SERVERS_MAX}"
        )
    return numbers.astype(np.int64)
