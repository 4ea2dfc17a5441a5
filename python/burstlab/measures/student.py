"""Student's t distribution, so that an interval needs no package but numpy.

The share below a value is an incomplete beta function, by its continued fraction (Press, Teukolsky,
Vetterling and Flannery, Numerical Recipes, 3rd edition, section 6.4, evaluated after Lentz); the
quantile is found on it by Newton's method. Up to 10^5 degrees both are right to 11 digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

#: Terms of the fraction, of which a few dozen are used; beyond 10^8 degrees it is the normal one.
_TERMS = 10_000
_NORMAL = 1e8
_TINY = 1e-300
_PRECISE = 1e-16


def below(degrees: float, value: float) -> float:
    """Return the share of the distribution below a value.

    Parameters
    ----------
    degrees
        Degrees of freedom, more than 0; need not be whole.
    value
        Any number.
    """
    if math.isnan(degrees) or math.isnan(value):
        return math.nan
    tail = _beyond(degrees, abs(value))
    return 1.0 - tail if value > 0.0 else tail


@lru_cache(maxsize=4096)
def quantile(degrees: float, share: float) -> float:
    """Return the value below which a share of the distribution lies.

    Parameters
    ----------
    degrees
        Degrees of freedom, more than 0; need not be whole.
    share
        Between 0 and 1.
    """
    if not degrees > 0.0 or not 0.0 < share < 1.0:
        return math.nan
    if share == 0.5:
        return 0.0
    if share < 0.5:
        return -quantile(degrees, 1.0 - share)
    tail = 1.0 - share
    low, high = 0.0, 1.0
    while _beyond(degrees, high) > tail:
        low, high = high, 2.0 * high
    value = 0.5 * (low + high)
    for _ in range(200):
        gap = _beyond(degrees, value) - tail
        low, high = (value, high) if gap > 0.0 else (low, value)
        step = value + gap / _density(degrees, value)
        # A step out of the bracket is replaced by bisection.
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - value) <= 1e-15 * value:
            return step
        value = step
    return value


def two_sided(values: ArrayLike, degrees: ArrayLike) -> NDArray[np.float64]:
    """Return the share of the distribution that is farther from 0 than each value.

    Parameters
    ----------
    values, degrees
        Arrays of one shape, or an array and one number.
    """
    import numpy as np

    both = np.broadcast_arrays(
        np.abs(np.asarray(values, dtype=float)), np.asarray(degrees, dtype=float)
    )
    pairs = zip(*(one.ravel().tolist() for one in both), strict=True)
    found = [2.0 * below(k, -t) for t, k in pairs]
    return np.array(found, dtype=float).reshape(both[0].shape)


def quantiles(degrees: ArrayLike, share: float) -> NDArray[np.float64]:
    """Return `quantile` for each of many degrees of freedom."""
    import numpy as np

    given = np.asarray(degrees, dtype=float)
    found = [quantile(one, share) for one in given.ravel().tolist()]
    return np.array(found, dtype=float).reshape(given.shape)


def _beyond(degrees: float, value: float) -> float:
    """Return the share above a value that is not negative."""
    if degrees > _NORMAL:
        return 0.5 * math.erfc(value / math.sqrt(2.0))
    if math.isinf(value):
        return 0.0
    square = value * value
    x = degrees / (degrees + square)
    # Where the value is small, the other side of the beta function keeps the digits.
    return 0.5 * _beta(0.5 * degrees, x, square / (degrees + square))


def _density(degrees: float, value: float) -> float:
    if degrees > _NORMAL:
        return math.exp(-0.5 * value * value) / math.sqrt(2.0 * math.pi)
    log = _gammas(0.5 * degrees) - 0.5 * math.log(degrees * math.pi)
    return math.exp(log - 0.5 * (degrees + 1.0) * math.log1p(value * value / degrees))


def _gammas(a: float) -> float:
    """Return the logarithm of gamma(a + 1/2) / gamma(a); both are large where a is."""
    if a < 100.0:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3) - 1.0 / (640.0 * a**5)


def _beta(a: float, x: float, y: float) -> float:
    """Return the regularised incomplete beta function of a and 1/2 at x, where y is 1 - x."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    log = math.log1p(-y) if y < 0.5 else math.log(x)
    front = math.exp(_gammas(a) + a * log) * math.sqrt(y / math.pi)
    if x < (a + 1.0) / (a + 2.5):
        return front * _fraction(a, 0.5, x) / a
    return 1.0 - 2.0 * front * _fraction(0.5, a, y)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, _TERMS):
        twice = 2 * m
        for factor in (
            m * (b - m) * x / ((a + twice - 1.0) * (a + twice)),
            -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1.0)),
        ):
            d = 1.0 / _away(1.0 + factor * d)
            c = _away(1.0 + factor / c)
            found *= c * d
        if abs(c * d - 1.0) <= _PRECISE:
            break
    return found


def _away(value: float) -> float:
    """Keep a divisor from being nothing."""
    return value if abs(value) > _TINY else _TINY
