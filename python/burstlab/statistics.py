"""Means with confidence intervals, ratios of paired runs, and when to stop replicating."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from burstlab.measures import student

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Sample = TypeVar("Sample")


#: Chance that any difference is called significant where there is none.
LEVEL = 0.05


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % confidence interval.

    Attributes
    ----------
    mean
        The point estimate.
    ci95
        Half of the interval's width; None with fewer than two samples.
    n
        Number of independent samples.
    least
        The least value that the quantity can have; no interval goes below it.
    """

    mean: float
    ci95: float | None
    n: int
    least: float = -math.inf

    @property
    def low(self) -> float:
        """Lower end of the interval; the mean itself when there is no interval."""
        return max(self.least, self.mean - (self.ci95 or 0.0))

    @property
    def high(self) -> float:
        """Upper end of the interval; the mean itself when there is no interval."""
        return self.mean + (self.ci95 or 0.0)

    def relative(self) -> float:
        """Half-width as a share of the mean; infinite without an interval.

        Returns
        -------
        float
            The share; infinite without an interval.
        """
        if self.ci95 is None:
            return math.inf
        if self.ci95 == 0.0:
            return 0.0
        return abs(self.ci95 / self.mean) if self.mean else math.inf

    def to_json(self) -> dict[str, float | int | None]:
        """Return the three fields as JSON carries them.

        Returns
        -------
        dict
            ``mean``, ``ci95`` and ``n``; ``ci95`` is None without an interval.
        """
        return {"mean": self.mean, "ci95": self.ci95, "n": self.n}

    def __str__(self) -> str:
        if self.ci95 is None:
            return f"{self.mean:.4g} (n = {self.n})"
        if self.mean - self.ci95 < self.least:
            return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g}, n = {self.n})"
        return f"{self.mean:.4g} ± {self.ci95:.2g} (n = {self.n})"


def t_quantile(degrees: float, probability: float = 0.975) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    degrees
        Degrees of freedom, more than 0.
    probability
        The share of the distribution below the quantile.

    Returns
    -------
    float
        The quantile.
    """
    return student.quantile(degrees, probability)


def mean_ci95(values: ArrayLike) -> Estimate:
    """Mean of independent samples with its 95 % t interval.

    Parameters
    ----------
    values
        At least one sample.

    Returns
    -------
    Estimate
        The mean; with one sample there is no interval.
    """
    if isinstance(values, list) and len(values) == 1:
        # The usual case, without numpy: loading it takes longer than many runs.
        return Estimate(float(values[0]), None, 1)
    import numpy as np

    sample = np.asarray(values, dtype=float).ravel()
    n = int(sample.size)
    if n == 0:
        return Estimate(math.nan, None, 0)
    means, halves = means_ci95(sample[np.newaxis])
    return Estimate(float(means[0]), None if n == 1 else float(halves[0]), n)


def means_of(series: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Return `mean_ci95` of each of many quantities.

    Quantities with equally many samples are computed together. One call of numpy for each would
    take a minute for a run with a million numbers.

    Parameters
    ----------
    series
        The samples of each quantity, by name; at least one sample each.

    Returns
    -------
    dict of Estimate
        By name, in the same order.
    """
    if all(len(values) == 1 for values in series.values()):
        return {name: mean_ci95(list(values)) for name, values in series.items()}
    import numpy as np

    alike: dict[int, list[str]] = {}
    for name, values in series.items():
        alike.setdefault(len(values), []).append(name)
    found: dict[str, Estimate] = {}
    for n, names in alike.items():
        means, halves = means_ci95(np.array([series[name] for name in names], dtype=float))
        spreads: list[float | None] = halves.tolist() if n > 1 else [None] * len(names)
        for name, mean, half in zip(names, means.tolist(), spreads, strict=True):
            found[name] = Estimate(mean, half, n)
    return {name: found[name] for name in series}


def means_ci95(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of independent samples, and the half-widths of their 95 % t intervals.

    Parameters
    ----------
    rows
        Shape (quantities, samples); at least one sample.

    Returns
    -------
    means : numpy.ndarray of float64
        One per quantity.
    halves : numpy.ndarray of float64
        One per quantity; NaN with one sample.
    """
    import numpy as np

    n = rows.shape[1]
    # numpy sums contiguous numbers in an order of its own.
    means = np.ascontiguousarray(rows).mean(axis=1)
    if n == 1:
        return means, np.full(len(rows), math.nan)
    return means, t_quantile(n - 1) * (
        np.ascontiguousarray(rows).std(axis=1, ddof=1) / math.sqrt(n)
    )


def paired_ratio(numerator: ArrayLike, denominator: ArrayLike) -> Estimate:
    """Ratio of two means measured in pairs, with its 95 % interval.

    Both members of a pair come from the same random numbers, so common variation cancels. The
    interval is the usual one of a ratio estimator: the spread of ``x - R y`` divided by the mean
    of ``y`` (Cochran, Sampling Techniques, 3rd edition, section 6.3).

    Parameters
    ----------
    numerator, denominator
        Samples of equal number; those at the same place are a pair.

    Returns
    -------
    Estimate
        The ratio; with one pair there is no interval. NaN if the denominators have mean 0.
    """
    import numpy as np

    x = np.asarray(numerator, dtype=float)
    y = np.asarray(denominator, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} numerators do not pair with {y.size} denominators")
    n = int(x.size)
    if n == 0:
        return Estimate(math.nan, None, n)
    ratios, halves = paired_ratios(x[np.newaxis], y[np.newaxis])
    no_interval = n == 1 or math.isnan(ratios[0])
    return Estimate(float(ratios[0]), None if no_interval else float(halves[0]), n)


def paired_ratios(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ratios of means measured in pairs, and the half-widths of their 95 % intervals.

    Parameters
    ----------
    numerators, denominators
        Shape (quantities, pairs); at least one pair.

    Returns
    -------
    ratios : numpy.ndarray of float64
        One per quantity; NaN where the mean of the denominators is 0.
    halves : numpy.ndarray of float64
        One per quantity; NaN with one pair.
    """
    import numpy as np

    below = denominators.mean(axis=1)
    below = np.where(below == 0.0, math.nan, below)
    ratios = numerators.mean(axis=1) / below
    n = numerators.shape[1]
    if n == 1:
        return ratios, np.full(len(ratios), math.nan)
    left = numerators - ratios[:, np.newaxis] * denominators
    spread = left.std(axis=1, ddof=1) / math.sqrt(n)
    return ratios, t_quantile(n - 1) * spread / np.abs(below)


@dataclass(frozen=True)
class Replicated(Generic[Sample]):
    """Result of `replicate_until`.

    Attributes
    ----------
    samples
        One per replication, in the order of the replications.
    reached
        Whether the wanted precision was reached before the limit.
    """

    samples: list[Sample]
    reached: bool


#: Requests replications of several schemes, which run in parallel; see `ask_until`.
Asking: TypeAlias = Generator[
    range, Sequence[Mapping[str, Sample]], Replicated[Mapping[str, Sample]]
]


def replicate_until(
    sample: Callable[[range], Sequence[Sample]],
    precise: Callable[[Sequence[Sample]], bool],
    *,
    first: int,
    batch: int,
    most: int,
) -> Replicated[Sample]:
    """Replicate until a criterion is met.

    Batches have a fixed size, and the criterion is evaluated only between them. So the number of
    replications does not depend on how many ran in parallel.

    Parameters
    ----------
    sample
        Runs the replications of a range and returns one sample for each, in order.
    precise
        Whether the samples so far are enough.
    first
        Size of the first batch.
    batch
        Size of each further batch.
    most
        Largest number of replications.

    Returns
    -------
    Replicated
        All samples, and whether they are enough.
    """
    asking = ask_until(precise, first=first, batch=batch, most=most)
    numbers = next(asking)
    while True:
        found = sample(numbers)
        try:
            numbers = asking.send(found)
        except StopIteration as end:
            return end.value


def ask_until(
    precise: Callable[[Sequence[Sample]], bool], *, first: int, batch: int, most: int
) -> Generator[range, Sequence[Sample], Replicated[Sample]]:
    """Do as `replicate_until`, for a caller that runs the replications itself.

    Parameters
    ----------
    precise, first, batch, most
        As in `replicate_until`.

    Yields
    ------
    range
        The numbers of the next batch; send the list of their samples, in order.

    Returns
    -------
    Replicated
        All samples, and whether they are enough.
    """
    if not (0 < first <= most and batch > 0):
        raise ValueError("replications: 0 < first <= most and 0 < batch are needed")
    samples: list[Sample] = []
    end = first
    while True:
        samples.extend((yield range(len(samples), end)))
        if precise(samples):
            return Replicated(samples, reached=True)
        if len(samples) >= most:
            return Replicated(samples, reached=False)
        end = min(len(samples) + batch, most)


def side_by_side(samples: Mapping[str, Sequence[Sample]]) -> list[dict[str, Sample]]:
    """Turn one list of samples per name into one dictionary per replication.

    Parameters
    ----------
    samples
        By name: one sample per replication, equally many for each name.

    Returns
    -------
    list of dict
        For each replication its sample of each name.
    """
    names = list(samples)
    return [dict(zip(names, row, strict=True)) for row in zip(*samples.values(), strict=True)]


@dataclass(frozen=True)
class Comparison:
    """The difference of two means, with its test.

    Attributes
    ----------
    difference
        The difference of the means, with its 95 % interval.
    p
        Two-sided probability of so large a difference if the means were equal; None if it cannot
        be computed. It is 0 if neither sample varies and they differ.
    paired
        Whether it is a paired t test over replications, or Welch's test.
    """

    difference: Estimate
    p: float | None
    paired: bool


def paired_difference(x: ArrayLike, y: ArrayLike) -> Comparison:
    """Compare samples measured in pairs: the t test of ``x - y``.

    Parameters
    ----------
    x, y
        Samples of equal number; those at the same place are a pair.

    Returns
    -------
    Comparison
        The difference of the means, and its p-value.
    """
    import numpy as np

    gaps = np.asarray(x, dtype=float) - np.asarray(y, dtype=float)
    estimate = mean_ci95(gaps)
    if estimate.n < 2:
        return Comparison(estimate, None, True)
    spread = float(gaps.std(ddof=1)) / math.sqrt(estimate.n)
    return Comparison(estimate, _two_sided(estimate.mean, spread, estimate.n - 1), True)


def welch_difference(x: ArrayLike, y: ArrayLike) -> Comparison:
    """Compare independent samples whose variances may differ (Welch, Biometrika 34, 1947).

    Parameters
    ----------
    x, y
        Samples, of any number.

    Returns
    -------
    Comparison
        The difference of the means, and its p-value.
    """
    import numpy as np

    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n = int(min(a.size, b.size))
    gap = float(a.mean() - b.mean()) if n else math.nan
    if n < 2:
        return Comparison(Estimate(gap, None, n), None, False)
    shares = [float(one.var(ddof=1)) / one.size for one in (a, b)]
    both = sum(shares)
    if both == 0.0:
        return Comparison(Estimate(gap, 0.0, n), _two_sided(gap, 0.0, 1.0), False)
    degrees = both**2 / sum(s**2 / (one.size - 1) for s, one in zip(shares, (a, b), strict=True))
    spread = math.sqrt(both)
    half = t_quantile(degrees) * spread
    return Comparison(Estimate(gap, half, n), _two_sided(gap, spread, degrees), False)


def two_sided(
    gaps: NDArray[np.float64], halves: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """P-values of paired differences with known 95 % intervals, as of `paired_difference`.

    Parameters
    ----------
    gaps, halves
        Differences, and the half-widths of their intervals.
    counts
        Numbers of pairs, at least two.

    Returns
    -------
    numpy.ndarray of float64
        One p-value per difference.
    """
    import numpy as np

    degrees = counts - 1.0
    spread = halves / student.quantiles(degrees, 0.975)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gaps == 0.0, 0.0, np.abs(gaps / spread))
    return student.two_sided(t, degrees)


def _two_sided(gap: float, spread: float, degrees: float) -> float:
    if spread == 0.0:
        return 1.0 if gap == 0.0 else 0.0
    return 2.0 * student.below(degrees, -abs(gap / spread))


def holm(p: ArrayLike) -> list[float]:
    """Correct the p-values of a family of tests (Holm, Scand. J. Statist. 6, 1979).

    The chance that any test of a true null hypothesis falls below a level is at most that level.

    Parameters
    ----------
    p
        The p-values of the tests.

    Returns
    -------
    list of float
        The corrected p-values, in the same order.
    """
    import numpy as np

    given = np.asarray(p, dtype=float)
    order = np.argsort(given, kind="stable")
    grown = np.minimum(1.0, np.arange(len(given), 0, -1) * given[order])
    corrected = np.empty(len(given))
    corrected[order] = np.maximum.accumulate(grown)
    return corrected.tolist()
