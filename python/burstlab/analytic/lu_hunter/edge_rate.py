"""The rate of an edge router: the average of equation (1), and what notifications take off."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, choice, positive

Reading = Literal["recommended", "literal", "last", "largest", "present"]
"""What is taken off of the granted rate, as `ops.dlcc.reading` of a scenario."""


def smoothed_rate(
    rate_bps: ArrayLike,
    arrivals_bps: ArrayLike,
    backlog_bits: ArrayLike,
    interval_s: ArrayLike = 0.4,
    weight: ArrayLike = 0.8,
) -> FloatArray:
    """Follow the smoothed rate over a unit of time, R' = nu R + (1 - nu)(U + B/tau).

    Parameters
    ----------
    rate_bps
        R_i, the smoothed rate before, in bit/s, at least 0.
    arrivals_bps
        U_i, what entered the buffer in the unit, in bit/s, at least 0.
    backlog_bits
        B, what waits at the end of the unit, in bits, at least 0. The paper doesn't define it.
    interval_s
        tau, the time from one negotiation to the next, in s, above 0; not defined either.
    weight
        nu, from 0 to 1; the paper has no number.

    Returns
    -------
    numpy.ndarray
        R_{i+1} in bit/s, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lu, Hunter (JOCN 2009), equation (1).

    Examples
    --------
    >>> float(smoothed_rate(10e6, 20e6, 2e6, interval_s=0.4, weight=0.5))
    17500000.0
    """
    rate, arrivals = at_least("rate_bps", rate_bps, 0), at_least("arrivals_bps", arrivals_bps, 0)
    backlog = at_least("backlog_bits", backlog_bits, 0)
    interval = positive("interval_s", interval_s)
    past = at_least("weight", weight, 0)
    if np.any(past > 1):
        raise ValueError(f"weight = {past.max():g} is above 1: give a weight from 0 to 1")
    return (past * rate + (1 - past) * (arrivals + backlog / interval))[()]


def cut(notified: ArrayLike, reading: Reading = "recommended") -> FloatArray:
    """Take off the granted rate what each of several notifications asks for, R_i^loss.

    Parameters
    ----------
    notified
        Loss rates that notifications carry, in order: any unit of rate, at least 0; the last axis
        counts them.
    reading
        ``"literal"``: as printed, the first, then the second, then the mean of those before, which
        is the second for ever. ``"recommended"``: the mean of all so far. ``"last"`` and
        ``"largest"``: that one of them. ``"present"``: their sum, as each is taken off the present
        rate.

    Returns
    -------
    numpy.ndarray
        In the shape and unit of `notified`. The rate is the granted one less this, and not less
        than the least rate.

    Raises
    ------
    ValueError
        If a rate is below 0, or the reading is not known.

    References
    ----------
    Lu, Hunter (JOCN 2009), section III.C.

    Examples
    --------
    >>> cut([0.3, 0.1, 0.2], "literal").tolist()
    [0.3, 0.1, 0.1]
    >>> [f"{rate:.2f}" for rate in cut([0.3, 0.1, 0.2])]
    ['0.30', '0.20', '0.20']
    """
    rates = at_least("notified", notified, 0)
    choice("reading", reading, get_args(Reading))
    sums = np.cumsum(rates, axis=-1)
    if reading == "recommended":
        return sums / np.arange(1, rates.shape[-1] + 1)
    if reading == "largest":
        return np.maximum.accumulate(rates, axis=-1)
    if reading == "literal":
        held = rates.copy()
        held[..., 2:] = rates[..., 1:2]
        return held
    return sums if reading == "present" else rates.copy()


def settled_excess(excess: ArrayLike, reading: Reading = "recommended") -> FloatArray:
    """Answer what stays too much where each notification carries all that is still lost.

    The mean of what is still lost settles at half of what was too much: c = mean(e - c). That needs
    a first notification that does not carry all of it, as where losses are counted over a window.

    Parameters
    ----------
    excess
        What is too much before the first notification, e, in any unit of rate, at least 0.
    reading
        ``"recommended"``, ``"largest"`` or ``"present"``; the other two do not settle.

    Returns
    -------
    numpy.ndarray
        In the shape and unit of `excess`.

    Raises
    ------
    ValueError
        If `excess` is below 0, or the reading does not settle.

    Examples
    --------
    >>> float(settled_excess(0.3)), float(settled_excess(0.3, "largest"))
    (0.15, 0.0)
    """
    rates = at_least("excess", excess, 0)
    choice("reading", reading, ("recommended", "largest", "present"))
    return (rates / 2 if reading == "recommended" else np.zeros_like(rates))[()]
