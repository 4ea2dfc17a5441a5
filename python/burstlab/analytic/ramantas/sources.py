"""Sources of a node, the sizes of their files, and what they lose."""

from __future__ import annotations

import math
from typing import Annotated

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, Relation, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.ramantas.arguments import Largest, Smallest
from burstlab.analytic.ramantas.stated import NODES, SLACK


@declared(
    "Sources",
    "Section 3: 800 and 600 at each edge node; section 4: 1.25 and 1.6 s. J. D. C. Little, A "
    "Proof for the Queuing Formula L = λW, Operations Research 9, 1961",
    as_printed="The number of all nodes, which is what the size of the printed numbers fits.",
)
def active_sources(
    flows_per_s: Annotated[
        ArrayLike, Argument("Flows that begin at the node in a second", at_least=0)
    ],
    completion_s: Annotated[ArrayLike, Argument("Mean time that one is active", "s", at_least=0)],
    *,
    nodes: Annotated[int, Argument("Edge nodes", at_least=1)] = NODES,
    as_printed: bool = False,
) -> FloatArray:
    """Mean number of active sources of an edge node (Little's law).

    Examples
    --------
    >>> active_sources(50, [1.25, 1.6]).tolist()
    [62.5, 80.0]
    """
    rate, time = arrays(flows_per_s, completion_s)
    return rate * time * (nodes if as_printed else 1)


@declared("Seconds")
def completion_time(
    sources: Annotated[ArrayLike, Argument("Active sources of an edge node", at_least=0)],
    flows_per_s: Annotated[ArrayLike, Argument("Flows that begin there in a second", above=0)],
) -> FloatArray:
    """Mean time that a flow is active when so many are, by Little's law.

    Examples
    --------
    >>> completion_time([800, 600], 50).tolist()
    [16.0, 12.0]
    """
    count, rate = arrays(sources, flows_per_s)
    return count / rate


@declared("In the unit of the ends; infinite without an end and with a shape of 1 or less")
def file_mean(
    shape: Annotated[float, Argument("Shape", above=0)],
    smallest: Smallest,
    largest: Largest = math.inf,
) -> float:
    """Mean of a Pareto distribution that is cut at its largest value."""
    a = shape
    if math.isinf(largest):
        return math.inf if a <= 1 else smallest * a / (a - 1)
    # The logarithm of largest/smallest, also where they are nearly alike.
    spread = math.log1p((largest - smallest) / smallest)
    # a/(1 - r^-a) times the integral of low (x/low)^-a, both without cancellation near 0 and 1.
    weight = a * spread / -math.expm1(-a * spread)
    tilt = (1 - a) * spread
    return smallest * weight * (math.expm1(tilt) / tilt if tilt else 1.0)


@declared(
    "Shape; NaN where no shape above 0 has this mean",
    "Section 3: Pareto, at least 40 KB, 700 KB on average; Figure 4: up to 2 MB",
    as_printed=(
        "A distribution without an end, as the paper has it; its variance is infinite for "
        "a shape up to 2."
    ),
)
def file_shape(
    mean: Annotated[
        float,
        Argument("The mean", relation=Relation(">", "smallest", "give one above the smallest")),
    ],
    smallest: Smallest,
    largest: Largest,
    *,
    as_printed: bool = False,
) -> float:
    """Shape with which a Pareto distribution has a mean.

    Examples
    --------
    >>> f"{file_shape(700, 40, 10_000):.3f}", f"{file_shape(700, 40, 10_000, as_printed=True):.3f}"
    ('0.455', '1.061')
    >>> file_shape(700, 40, 2000)
    nan
    """
    if as_printed:
        return mean / (mean - smallest)
    # The mean falls as the shape grows: from that of a shape of 0, and below that without an end.
    flat = (largest - smallest) / math.log1p((largest - smallest) / smallest)
    if not math.isinf(largest) and mean >= flat:
        return math.nan
    least, most = 0.0, mean / (mean - smallest)
    if math.isinf(largest):
        return most
    while True:
        middle = 0.5 * (least + most)
        if not least < middle < most:
            return middle
        if file_mean(middle, smallest, largest) > mean:
            least = middle
        else:
            most = middle


BURSTS_MAX = 1_000_000_000
"""More bursts than any flow has; the sum takes the root of it."""


@declared("Bursts", "Section 3: 5, 4 and 4 of 80, 40 and 34 bursts at a loss of 2 %")
def lost_bursts(
    bursts: Annotated[int, Argument("Bursts of each flow", at_least=1, at_most=BURSTS_MAX)],
    loss: Annotated[
        float,
        Argument("Probability that a burst is lost, independent of the others,", above=0, below=1),
    ],
    share: Annotated[float, Argument("Share of the flows", above=0, below=1)] = 0.8,
) -> int:
    """Return the least number of lost bursts that a given share of flows does not exceed.

    Examples
    --------
    >>> [lost_bursts(n, 0.02) for n in (80, 40, 34)]
    [3, 1, 1]
    """
    import numpy as np

    # Around what is lost most often; all further off together is less likely than 1e-340.
    spread = math.sqrt(bursts * loss * (1.0 - loss))
    mode = min(bursts, int((bursts + 1) * loss))
    reach = int(40 * spread) + 560
    lost = np.arange(max(0, mode - reach), min(bursts, mode + reach) + 1)
    # The chance of each relative to the first, by the ratio of neighbours: none is ever 0.
    steps = np.log((bursts - lost[1:] + 1.0) / lost[1:]) + (math.log(loss) - math.log1p(-loss))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    total = float(chances.sum())
    if share <= 0.5:
        reached = np.cumsum(chances) >= share * total * (1 - SLACK)
    else:
        # More than so many, from the far end on: the share above has all its digits.
        above = np.cumsum(chances[::-1])[::-1] - chances
        reached = above <= (1.0 - share) * total * (1 + SLACK)
    return int(lost[np.argmax(reached)])
