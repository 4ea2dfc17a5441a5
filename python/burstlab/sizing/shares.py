"""Bounds of a share that was counted, without a package but what Python has."""

from __future__ import annotations

import math

#: The largest number of terms of the fraction: it needs about the root of the count.
_TERMS = 1_000_000
_TINY = 1e-300
_PRECISE = 1e-15


def clopper_pearson(part: int, whole: int, level: float) -> tuple[float, float]:
    """Bounds of a share of which ``part`` out of ``whole`` were counted.

    Clopper and Pearson (1934), Biometrika 26: the bounds are quantiles of beta distributions.

    Parameters
    ----------
    part, whole
        Counts, 0 to ``whole``.
    level
        Chance that the bounds miss it, 0 to 1, at most.

    Returns
    -------
    tuple
        The least and the greatest share of which so many, or so few, are as likely as half of
        ``level``.
    """
    if whole == 0:
        return 0.0, 1.0
    low = 0.0 if part == 0 else _quantile(part, whole - part + 1, level / 2)
    high = 1.0 if part == whole else _quantile(part + 1, whole - part, 1 - level / 2)
    return low, high


def _quantile(a: float, b: float, share: float) -> float:
    """Where so much of a beta distribution lies below, by halving."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= 1e-12 * high:
            break
        low, high = (middle, high) if beta_below(a, b, middle) < share else (low, middle)
    return 0.5 * (low + high)


def beta_below(a: float, b: float, x: float) -> float:
    """Return how much of a beta distribution lies below ``x``, from 0 to 1.

    By its continued fraction (Press, Teukolsky, Vetterling and Flannery, Numerical Recipes, 3rd
    edition, section 6.4), evaluated after Lentz.

    Parameters
    ----------
    a, b
        Shapes, more than 0.
    x
        From 0 to 1.
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_below(b, a, 1.0 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front += a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / _far(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1.0 / _far(1.0 + term * d)
            c = _far(1.0 + term / c)
            step = c * d
            value *= step
        if abs(step - 1.0) < _PRECISE:
            break
    return value


def _far(value: float) -> float:
    """Keep a denominator off 0."""
    return value if abs(value) > _TINY else _TINY
