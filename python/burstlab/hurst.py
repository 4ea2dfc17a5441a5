"""Estimators of the Hurst exponent of a sequence, to prove what a source of traffic generates.

All expect a stationary sequence, such as the times between batches, their sizes, or the bytes in
bins of equal length. Fractional Gaussian noise has an exponent H from 0 to 1; 0.5 is what any
sequence without long-range dependence has, independent numbers for one.

>>> import numpy as np
>>> from burstlab import hurst
>>> numbers = np.random.default_rng(1).exponential(size=100_000)
>>> hurst.local_whittle(numbers).h
0.5...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.extras import extra

__all__ = ["ESTIMATORS", "Estimate", "abry_veitch", "aggregated_variance", "gph", "local_whittle"]
__all__ += ["rescaled_range"]

#: The normal quantile of a two-sided interval of 95 %.
_Z95 = 1.959963984540054

_Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a Hurst exponent.

    Attributes
    ----------
    h
        The exponent.
    interval
        Confidence interval of 95 % from the asymptotic variance of the estimator, where it has
        one; it does not cover the bias of short-range dependence.
    method
        Name of the estimator.
    """

    h: float
    interval: tuple[float, float] | None
    method: str


def aggregated_variance(
    sequence: ArrayLike, *, smallest: int = 10, largest: int | None = None
) -> Estimate:
    """Estimate by the variance of means over blocks, which falls as m^(2H - 2).

    A line through the logarithms, by least squares, all block sizes alike (Taqqu, Teverovsky and
    Willinger, Estimators for long-range dependence: an empirical study, Fractals 3(4), 1995). The
    estimate is low for H near 1, where the variance of a finite sequence is too small.

    Parameters
    ----------
    sequence
        The numbers, at least 1,000.
    smallest, largest
        Blocks, in numbers. Absent `largest`: a hundredth of the sequence.

    Returns
    -------
    Estimate
        Without an interval: the points of the line depend on each other.
    """
    numbers = _checked(sequence)
    last = largest if largest is not None else len(numbers) // 100
    if not 1 <= smallest < last <= len(numbers) // 2:
        raise ValueError(f"no blocks from {smallest} to {last} in {len(numbers)} numbers")
    sizes = np.unique(np.geomspace(smallest, last, 20).astype(int))
    variances = [np.var(_means(numbers, int(size))) for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(variances), 1)[0]
    return Estimate(float(1.0 + slope / 2.0), None, "aggregated variance")


def rescaled_range(sequence: ArrayLike, *, smallest: int = 64) -> Estimate:
    """Estimate by the rescaled range, R/S, which rises as n^H.

    Means of R/S over all blocks of a length, each over the value for independent numbers (Anis and
    Lloyd, Biometrika 63(1), 1976, as corrected by Peters 1994) times the square root of
    the length, so that short blocks do not count as memory.

    Parameters
    ----------
    sequence
        The numbers, at least 1,000.
    smallest
        The shortest block, in numbers; the longest is a tenth of the sequence.

    Returns
    -------
    Estimate
        Without an interval: the method gives none.
    """
    numbers = _checked(sequence)
    lengths = np.unique(np.geomspace(smallest, len(numbers) // 10, 15).astype(int))
    points = [np.log(_rs(numbers, int(n)) / _rs_independent(int(n)) * np.sqrt(n)) for n in lengths]
    slope = np.polyfit(np.log(lengths), points, 1)[0]
    return Estimate(float(slope), None, "rescaled range")


def gph(sequence: ArrayLike, *, bandwidth: float = 0.6) -> Estimate:
    """Estimate by the periodogram near zero, which falls as frequency^(1 - 2H).

    The regression on log(4 sin(w/2)^2) of Geweke and Porter-Hudak (Journal of Time Series Analysis
    4(4), 1983) over the lowest n^`bandwidth` frequencies.

    Parameters
    ----------
    sequence
        The numbers, at least 1,000.
    bandwidth
        Exponent of the number of frequencies, below 1.

    Returns
    -------
    Estimate
        The interval is from the asymptotic variance, pi^2 / (24 m) for m frequencies.
    """
    frequencies, powers = _periodogram(_checked(sequence), bandwidth)
    regressor = -np.log(4.0 * np.sin(frequencies / 2.0) ** 2)
    d = np.polyfit(regressor, np.log(powers), 1)[0]
    return _with_error(0.5 + d, np.pi / np.sqrt(24.0 * len(frequencies)), "GPH periodogram")


def local_whittle(sequence: ArrayLike, *, bandwidth: float = 0.6) -> Estimate:
    """Estimate by the likelihood of the periodogram near zero.

    The Gaussian semiparametric estimator of Robinson (Annals of Statistics 23(5), 1995) over the
    lowest n^`bandwidth` frequencies. It needs no Gaussian sequence.

    Parameters
    ----------
    sequence
        The numbers, at least 1,000.
    bandwidth
        Exponent of the number of frequencies, below 1.

    Returns
    -------
    Estimate
        The interval is from the asymptotic variance, 1 / (4 m) for m frequencies.
    """
    frequencies, powers = _periodogram(_checked(sequence), bandwidth)
    logs = np.log(frequencies)

    def loss(h: float) -> float:
        return float(
            np.log(np.mean(frequencies ** (2.0 * h - 1.0) * powers))
            - (2.0 * h - 1.0) * np.mean(logs)
        )

    found = _least(loss, 0.001, 1.2)
    return _with_error(found, 0.5 / np.sqrt(len(frequencies)), "local Whittle")


def abry_veitch(
    sequence: ArrayLike, *, first: int = 4, wavelet: str = "db3", fewest: int = 16
) -> Estimate:
    """Estimate by the energy of wavelet coefficients, which rises as 2^(j (2H - 1)) with scale j.

    The weighted regression of Veitch and Abry (IEEE Transactions on Information Theory 45(3),
    1999), with their correction of the bias of the logarithm; PyWavelets computes the transform.

    Parameters
    ----------
    sequence
        The numbers, at least 1,000.
    first
        The finest scale of the regression, from 1: short-range dependence ends below it.
    wavelet
        A wavelet of PyWavelets; as many moments vanish as trends are removed.
    fewest
        Coefficients that the coarsest scale has at least.

    Returns
    -------
    Estimate
        The interval is the one of the regression, for independent coefficients.
    """
    pywt = extra("pywt", "abry_veitch()")
    special = extra("scipy.special", "abry_veitch()")
    numbers = _checked(sequence)
    length = int(pywt.Wavelet(wavelet).dec_len)
    points: list[tuple[int, float, float]] = []
    smooth, scale = numbers, 0
    while len(smooth) // 2 - length >= fewest:
        smooth, detail = pywt.dwt(smooth, wavelet, mode="symmetric")
        scale += 1
        # Coefficients at the ends are those of the numbers mirrored there.
        inner = detail[length // 2 : -(length // 2)]
        count = len(inner) / 2.0
        if scale >= first and len(inner) >= fewest:
            bias = special.digamma(count) / np.log(2.0) - np.log2(count)
            variance = special.polygamma(1, count) / np.log(2.0) ** 2
            points.append((scale, float(np.log2(np.mean(inner**2)) - bias), float(variance)))
    if len(points) < 3:
        raise ValueError(
            f"{len(points)} scales from {first} on: {len(numbers)} numbers are too few"
        )
    scales, energies, variances = (np.array(column, float) for column in zip(*points, strict=True))
    weights = 1.0 / variances
    centred = scales - np.average(scales, weights=weights)
    spread = np.sum(weights * centred**2)
    slope = float(np.sum(weights * centred * energies) / spread)
    return _with_error((slope + 1.0) / 2.0, 0.5 / np.sqrt(spread), "Abry-Veitch wavelet")


#: Every estimator, by a short name.
ESTIMATORS: dict[str, Callable[[ArrayLike], Estimate]] = {
    "variance": aggregated_variance,
    "rs": rescaled_range,
    "gph": gph,
    "whittle": local_whittle,
    "wavelet": abry_veitch,
}


def _checked(sequence: ArrayLike) -> _Numbers:
    numbers = np.asarray(sequence, float)
    if numbers.ndim != 1 or len(numbers) < 1000:
        raise ValueError(f"a sequence of at least 1,000 numbers is needed, not {numbers.shape}")
    if not np.isfinite(numbers).all() or np.ptp(numbers) == 0.0:
        raise ValueError("some numbers are not finite, or all numbers are equal")
    return numbers


def _means(numbers: _Numbers, size: int) -> _Numbers:
    """Average over blocks of `size` numbers; a rest is left out."""
    blocks = len(numbers) // size
    return numbers[: blocks * size].reshape(blocks, size).mean(axis=1)


def _rs(numbers: _Numbers, length: int) -> float:
    """Average the rescaled range over blocks of this length; a constant block has none."""
    blocks = len(numbers) // length
    table = numbers[: blocks * length].reshape(blocks, length)
    table = table - table.mean(axis=1, keepdims=True)
    walks = np.cumsum(table, axis=1)
    ranges = walks.max(axis=1) - walks.min(axis=1)  # the last of each walk is zero
    deviations = table.std(axis=1)
    varied = deviations > 0.0
    return float(np.mean(ranges[varied] / deviations[varied]))


def _rs_independent(length: int) -> float:
    """Expect this rescaled range of so many independent normal numbers."""
    ranks = np.arange(1, length)
    steps = np.sum(np.sqrt((length - ranks) / ranks))
    return float((length - 0.5) / length * np.sqrt(2.0 / (np.pi * length)) * steps)


def _periodogram(numbers: _Numbers, bandwidth: float) -> tuple[_Numbers, _Numbers]:
    """Return the lowest frequencies but zero, in radians, and the power there."""
    if not 0.0 < bandwidth < 1.0:
        raise ValueError(f"the bandwidth is an exponent between 0 and 1, not {bandwidth}")
    many = int(len(numbers) ** bandwidth)
    powers = np.abs(np.fft.rfft(numbers - numbers.mean())[1 : many + 1]) ** 2
    return 2.0 * np.pi * np.arange(1, many + 1) / len(numbers), powers


def _least(loss: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one valley is least, by golden sections, to 10^-7."""
    golden = (5.0**0.5 - 1.0) / 2.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > 1e-7:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = loss(right)
    return 0.5 * (low + high)


def _with_error(h: float, error: float, method: str) -> Estimate:
    return Estimate(float(h), (float(h - _Z95 * error), float(h + _Z95 * error)), method)
