"""One output with a limited number of wavelength converters, as a Markov chain."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, Relation
from burstlab.analytic.declared import declared

WAVELENGTHS_MAX = 128
"""The chain has a state for each number of bursts and of converters."""


class ConverterLoss(NamedTuple):
    """Shares of bursts that an output with a pool of converters loses."""

    contention: FloatArray
    """Share of bursts that find no free wavelength."""
    no_converter: FloatArray
    """Share of bursts that find a free wavelength other than their own, and no free converter."""


@declared(
    "Loss ratios, each in [0, 1]; their sum is the loss of the output",
    "The chain of states (bursts, converters taken), solved by elimination (Grassmann, Taksar and "
    "Heyman, 1985)",
)
def converter_pool(
    load: Annotated[
        ArrayLike,
        Argument("Load A offered to the output", "Erlang", at_least=0, at_most=1e6),
    ],
    wavelengths: Annotated[
        ArrayLike,
        Argument("Number of wavelengths W", at_least=1, at_most=WAVELENGTHS_MAX, whole=True),
    ],
    converters: Annotated[
        ArrayLike,
        Argument(
            "Number of converters r of the output",
            at_least=0,
            whole=True,
            relation=Relation("<=", "wavelengths", "each wavelength needs at most one"),
        ),
    ],
) -> ConverterLoss:
    """Loss of an output whose bursts come on any wavelength, and share r converters.

    Poisson bursts of exponential lengths come on each wavelength equally likely. A burst keeps its
    wavelength if the wavelength is free. Else it takes any free wavelength and a converter, to its
    end. A burst without a free wavelength or without a free converter is lost.

    Notes
    -----
    With k bursts in transmission a burst finds its own wavelength taken with probability k/W,
    whichever they are. So k and the number of converters taken are a Markov chain. With r = W the
    loss is Erlang B; with r = 0 it is the loss of a single wavelength, a/(1 + a) for a = A/W.
    Elimination without subtractions keeps all digits of small shares.

    Examples
    --------
    >>> loss = converter_pool(2.4, 4, 1)
    >>> f"{loss.contention:.4f} {loss.no_converter:.4f}"
    '0.0523 0.2120'
    """
    offered, count, pool = np.broadcast_arrays(load, wavelengths, converters)
    each = zip(offered.flat, count.flat, pool.flat, strict=True)
    found = np.array([_shares(float(a), int(w), int(r)) for a, w, r in each])
    contention, no_converter = found.reshape(*offered.shape, 2).transpose(-1, *range(offered.ndim))
    return ConverterLoss(contention, no_converter)


def _shares(load: float, wavelengths: int, converters: int) -> tuple[float, float]:
    """Return the shares of one output: no wavelength is free, and no converter."""
    band = converters + 1
    bursts, taken = (axis.ravel() for axis in np.mgrid[0 : wavelengths + 1, 0:band])
    # A state with more converters than bursts is never reached, and has no weight.
    rates = np.zeros((bursts.size, 2 * band + 3))
    middle = band + 1
    room = (bursts < wavelengths) & (taken <= bursts)
    rates[:, middle + band] = np.where(room, load * (1 - bursts / wavelengths), 0)
    changes = room & (taken < converters)
    rates[:, middle + band + 1] = np.where(changes, load * bursts / wavelengths, 0)
    rates[:, middle - band] = np.where(taken <= bursts, bursts - taken, 0)
    rates[:, middle - band - 1] = np.where(taken <= bursts, taken, 0)
    weights = _stationary(rates)
    blocked = bursts == wavelengths
    lacking = (taken == converters) & ~blocked
    return (
        float(weights[blocked].sum()),
        float((weights * bursts)[lacking].sum() / wavelengths),
    )


def _stationary(rates: FloatArray) -> FloatArray:
    """Return the share of time in each state; column `middle` + d has the rate to state n + d."""
    states, width = rates.shape
    reach = width // 2
    square = np.zeros((states + 2 * reach, width))
    square[reach:-reach] = rates
    down = np.zeros(states)
    # From the last state on, each state is taken out, and its moves go to lower ones.
    steps = np.arange(reach)
    for state in range(states - 1, 0, -1):
        row = state + reach
        down[state] = square[row, :reach].sum()
        if down[state] == 0.0:
            continue
        # States below by `reach` to 1, and their rates to these states themselves: each row begins
        # one column earlier than the row before.
        first = row - reach
        into = square[first + steps, 2 * reach - steps]
        among = as_strided(
            square.ravel()[first * width + reach :],
            (reach, reach),
            ((width - 1) * square.itemsize, square.itemsize),
        )
        among += np.outer(into, square[row, :reach] / down[state])
    weights = np.zeros(states + reach)
    weights[reach] = 1.0
    for state in range(1, states):
        if down[state] > 0.0:
            rows = state + steps
            weights[state + reach] = weights[rows] @ square[rows, 2 * reach - steps] / down[state]
        # Weights grow by the load, to the number of wavelengths.
        if weights[state + reach] > 1e200:
            weights /= weights[state + reach]
    return weights[reach:] / weights.sum()
