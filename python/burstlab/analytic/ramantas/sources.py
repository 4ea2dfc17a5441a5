"""Sources of a node, the sizes of their files, and what they lose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive, probability, whole
from burstlab.analytic.ramantas.stated import NODES


def active_sources(
    flows_per_s: ArrayLike,
    completion_s: ArrayLike,
    *,
    nodes: int = NODES,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of active sources of an edge node (Little's law).

    Parameters
    ----------
    flows_per_s
        Flows that begin at the node in a second, at least 0.
    completion_s
        Mean time that one is active in s, at least 0.
    nodes
        Edge nodes, at least 1.
    as_printed
        The number of all nodes, which is what the size of the printed numbers fits.

    Returns
    -------
    numpy.ndarray
        Sources, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 3: 800 and 600 at each edge node; section 4: 1.25 and 1.6 s. J. D. C. Little, A Proof
    for the Queuing Formula L = λW, Operations Research 9, 1961.

    Examples
    --------
    >>> active_sources(50, [1.25, 1.6]).tolist()
    [62.5, 80.0]
    """
    rate = at_least("flows_per_s", flows_per_s, 0)
    time = at_least("completion_s", completion_s, 0)
    return (rate * time * (whole("nodes", nodes, 1) if as_printed else 1))[()]


def completion_time(sources: ArrayLike, flows_per_s: ArrayLike) -> FloatArray:
    """Mean time that a flow is active when so many are, by Little's law.

    Parameters
    ----------
    sources
        Active sources of an edge node, at least 0.
    flows_per_s
        Flows that begin there in a second, above 0.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> completion_time([800, 600], 50).tolist()
    [16.0, 12.0]
    """
    return (at_least("sources", sources, 0) / positive("flows_per_s", flows_per_s))[()]


def file_mean(shape: float, smallest: float, largest: float = math.inf) -> float:
    """Mean of a Pareto distribution that is cut at its largest value.

    Parameters
    ----------
    shape
        Shape, above 0.
    smallest, largest
        Its ends, 0 < smallest < largest; infinite for none.

    Returns
    -------
    float
        In the unit of the ends; infinite without an end and with a shape of 1 or less.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    a = float(positive("shape", shape))
    low = _ends(smallest, largest)
    if math.isinf(largest):
        return math.inf if a <= 1 else low * a / (a - 1)
    spread = math.log(largest / low)
    # a/(1 - r^-a) times the integral of low (x/low)^-a, both without cancellation near 0 and 1.
    weight = a * spread / -math.expm1(-a * spread)
    tilt = (1 - a) * spread
    return low * weight * (math.expm1(tilt) / tilt if tilt else 1.0)


def file_shape(mean: float, smallest: float, largest: float, *, as_printed: bool = False) -> float:
    """Shape with which a Pareto distribution has a mean.

    Parameters
    ----------
    mean
        The mean, above `smallest`.
    smallest, largest
        Ends of the distribution, 0 < smallest < largest.
    as_printed
        A distribution without an end, as the paper has it; its variance is infinite for a shape
        up to 2.

    Returns
    -------
    float
        Shape; NaN where no shape above 0 has this mean.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 3: Pareto, at least 40 KB, 700 KB on average; Figure 4: up to 2 MB.

    Examples
    --------
    >>> f"{file_shape(700, 40, 10_000):.3f}", f"{file_shape(700, 40, 10_000, as_printed=True):.3f}"
    ('0.455', '1.061')
    >>> file_shape(700, 40, 2000)
    nan
    """
    from scipy.optimize import brentq

    low = _ends(smallest, largest)
    if not (math.isfinite(mean) and mean > low):
        raise ValueError(f"mean = {mean:g} is out of range: give a finite mean above the smallest")
    if as_printed:
        return mean / (mean - low)
    least, most = 1e-9, 1e3
    if not file_mean(most, low, largest) < mean < file_mean(least, low, largest):
        return math.nan
    root: Any = brentq(lambda a: file_mean(a, low, largest) - mean, least, most, xtol=1e-13)
    return float(root)


def lost_bursts(bursts: int, loss: float, share: float = 0.8) -> int:
    """Answer the least number of lost bursts that a share of such flows does not exceed.

    Parameters
    ----------
    bursts
        Bursts of each flow, at least 1.
    loss
        Probability that a burst is lost, 0 < loss < 1, independent of the others.
    share
        Share of the flows, 0 < share < 1.

    Returns
    -------
    int
        Bursts.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 3: 5, 4 and 4 of 80, 40 and 34 bursts at a loss of 2 %.

    Examples
    --------
    >>> [lost_bursts(n, 0.02) for n in (80, 40, 34)]
    [3, 1, 1]
    """
    from scipy.special import bdtr

    count, p = whole("bursts", bursts, 1), float(probability("loss", loss))
    wanted = float(probability("share", share))
    return int(np.argmax(bdtr(np.arange(count + 1.0), count, p) >= wanted))


def _ends(smallest: float, largest: float) -> float:
    low = float(positive("smallest", smallest))
    if not largest > low:
        raise ValueError(f"largest = {largest:g} is out of range: give one above the smallest")
    return low
