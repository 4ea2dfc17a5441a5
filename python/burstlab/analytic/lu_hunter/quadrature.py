"""Mean over the rate of UDP before it changes, a uniform over [0, c]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray

# Relative error below 1e-13 for what is averaged here: smooth with C - a >= C/2 in denominators.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def over_udp(
    of: Callable[..., FloatArray],
    most: FloatArray,
    *arguments: ArrayLike,
    until: FloatArray | None = None,
) -> FloatArray:
    """Return the mean of `of(a, *arguments)` for a uniform over [0, `most`].

    Parameters
    ----------
    of
        Function of arrays of one shape.
    most
        Largest rate c of UDP in bit/s, above 0.
    arguments
        The further arguments of `of`; broadcast together with `most`.
    until
        Where `of` becomes zero and stays so, in [0, `most`]; by default `most`.

    Returns
    -------
    numpy.ndarray
        In the shape of the arguments broadcast together.
    """
    end, top, *others = np.broadcast_arrays(most if until is None else until, most, *arguments)
    udp = end[..., None] * (_NODES + 1) / 2
    inner = np.broadcast_arrays(udp, *(other[..., None] for other in others))
    return (np.sum(of(*inner) * _WEIGHTS, axis=-1) / 2 * end / top)[()]
