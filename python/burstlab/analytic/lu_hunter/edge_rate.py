"""The rate of an edge router: the average of equation (1), and what notifications take off."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays, choice
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter.arguments import PAPER

AnyReading = Literal["recommended", "literal", "last", "largest", "present"]
Reading = Annotated[
    AnyReading,
    Argument("What is taken off of the granted rate, as `ops.dlcc.reading` of a scenario"),
]

RATE = Argument("R_i, the smoothed rate before,", "bit/s", at_least=0)
ARRIVALS = Argument("U_i, what entered the buffer in the unit,", "bit/s", at_least=0)
BACKLOG = Argument(
    "B, what waits at the end of the unit,", "bits", at_least=0, note="The paper doesn't define it."
)
INTERVAL = Argument(
    "tau, the time from one negotiation to the next,",
    "s",
    above=0,
    note="The paper doesn't define it.",
)
WEIGHT = Argument(
    "nu, the weight of the past", at_least=0, at_most=1, note="The paper has no number."
)


@declared("R_{i+1} in bit/s", f"{PAPER}, equation (1)")
def smoothed_rate(
    rate_bps: Annotated[ArrayLike, RATE],
    arrivals_bps: Annotated[ArrayLike, ARRIVALS],
    backlog_bits: Annotated[ArrayLike, BACKLOG],
    interval_s: Annotated[ArrayLike, INTERVAL] = 0.4,
    weight: Annotated[ArrayLike, WEIGHT] = 0.8,
) -> FloatArray:
    """Follow the smoothed rate over a unit of time, R' = nu R + (1 - nu)(U + B/tau).

    Examples
    --------
    >>> float(smoothed_rate(10e6, 20e6, 2e6, interval_s=0.4, weight=0.5))
    17500000.0
    """
    rate, arrivals, backlog = arrays(rate_bps, arrivals_bps, backlog_bits)
    interval, past = arrays(interval_s, weight)
    return past * rate + (1 - past) * (arrivals + backlog / interval)


@declared(
    "In the shape and unit of `notified`. The rate is the granted one less this, and not less "
    "than the least rate",
    f"{PAPER}, section III.C",
    reading=(
        '"literal": as printed, the first, then the second, then the mean of those before, which '
        'is the second for ever. "recommended": the mean of all so far. "last" and "largest": '
        'that one of them. "present": their sum, as each is taken off the present rate.'
    ),
)
def cut(
    notified: Annotated[
        ArrayLike,
        Argument(
            "Loss rates that notifications carry, in order, any unit of rate",
            at_least=0,
            note="The last axis counts them.",
        ),
    ],
    reading: Reading = "recommended",
) -> FloatArray:
    """Subtract from the granted rate the loss rates of several notifications, R_i^loss.

    Examples
    --------
    >>> cut([0.3, 0.1, 0.2], "literal").tolist()
    [0.3, 0.1, 0.1]
    >>> [f"{rate:.2f}" for rate in cut([0.3, 0.1, 0.2])]
    ['0.30', '0.20', '0.20']
    """
    (rates,) = arrays(notified)
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


@declared(
    "In the shape and unit of `excess`",
    reading=(
        'What is taken off, as of `cut`: "recommended", "largest" or "present"; the other two do '
        "not settle."
    ),
)
def settled_excess(
    excess: Annotated[
        ArrayLike,
        Argument("The excess rate before the first notification, e, in any unit", at_least=0),
    ],
    reading: AnyReading = "recommended",
) -> FloatArray:
    """Return the excess that remains if each notification carries the loss that remains.

    The mean of the remaining loss settles at half of the excess: c = mean(e - c). That needs
    a first notification that does not carry all of it, as where losses are counted over a window.

    Examples
    --------
    >>> float(settled_excess(0.3)), float(settled_excess(0.3, "largest"))
    (0.15, 0.0)
    """
    (rates,) = arrays(excess)
    choice("reading", reading, ("recommended", "largest", "present"))
    return rates / 2 if reading == "recommended" else np.zeros_like(rates)
