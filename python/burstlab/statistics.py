"""Means with confidence intervals, ratios of paired runs, and when to stop replicating."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Sample = TypeVar("Sample")


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
    """

    mean: float
    ci95: float | None
    n: int

    @property
    def low(self) -> float:
        """Lower end of the interval; the mean itself when there is no interval."""
        return self.mean - (self.ci95 or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval; the mean itself when there is no interval."""
        return self.mean + (self.ci95 or 0.0)

    def relative(self) -> float:
        """Half-width as a share of the mean; infinite without an interval."""
        if self.ci95 is None:
            return math.inf
        if self.ci95 == 0.0:
            return 0.0
        return abs(self.ci95 / self.mean) if self.mean else math.inf

    def to_json(self) -> dict[str, float | int | None]:
        """Answer the three fields as JSON carries them."""
        return {"mean": self.mean, "ci95": self.ci95, "n": self.n}

    def __str__(self) -> str:
        if self.ci95 is None:
            return f"{self.mean:.4g} (n = {self.n})"
        return f"{self.mean:.4g} ± {self.ci95:.2g} (n = {self.n})"


def t_quantile(degrees: int, probability: float = 0.975) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    degrees
        Degrees of freedom, at least 1.
    probability
        The share of the distribution below the quantile.
    """
    # scipy.special is imported here: scipy.stats alone would cost a second at every start.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def mean_ci95(values: ArrayLike) -> Estimate:
    """Mean of independent samples with its 95 % t interval."""
    import numpy as np

    sample = np.asarray(values, dtype=float)
    n = int(sample.size)
    if n == 0:
        return Estimate(math.nan, None, 0)
    if n == 1:
        return Estimate(float(sample[0]), None, 1)
    spread = float(sample.std(ddof=1)) / math.sqrt(n)
    return Estimate(float(sample.mean()), t_quantile(n - 1) * spread, n)


def paired_ratio(numerator: ArrayLike, denominator: ArrayLike) -> Estimate:
    """Ratio of two means measured in pairs, with its 95 % interval.

    Both members of a pair come from the same random numbers, so what is common to them cancels.
    The interval is the usual one of a ratio estimator: the spread of ``x - R y`` over the mean
    of ``y`` (Cochran, Sampling Techniques, 3rd edition, section 6.3).
    """
    import numpy as np

    x = np.asarray(numerator, dtype=float)
    y = np.asarray(denominator, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} numerators do not pair with {y.size} denominators")
    n = int(x.size)
    if n == 0 or float(y.mean()) == 0.0:
        return Estimate(math.nan, None, n)
    ratio = float(x.mean() / y.mean())
    if n == 1:
        return Estimate(ratio, None, 1)
    spread = float((x - ratio * y).std(ddof=1)) / math.sqrt(n)
    return Estimate(ratio, t_quantile(n - 1) * spread / abs(float(y.mean())), n)


@dataclass(frozen=True)
class Replicated(Generic[Sample]):
    """What `replicate_until` gathered.

    Attributes
    ----------
    samples
        One per replication, in the order of the replications.
    reached
        Whether the wanted precision was reached before the limit.
    """

    samples: list[Sample]
    reached: bool


def replicate_until(
    sample: Callable[[range], Sequence[Sample]],
    precise: Callable[[Sequence[Sample]], bool],
    *,
    first: int,
    batch: int,
    most: int,
) -> Replicated[Sample]:
    """Replicate until a criterion is met.

    Batches have a fixed size and the criterion is looked at only between them, so the number of
    replications does not depend on how many ran side by side.

    Parameters
    ----------
    sample
        Runs the replications of a range and answers one sample for each, in order.
    precise
        Whether the samples so far are enough.
    first
        Size of the first batch.
    batch
        Size of each further batch.
    most
        Largest number of replications.
    """
    if not (0 < first <= most and batch > 0):
        raise ValueError("replications: 0 < first <= most and 0 < batch are needed")
    samples = list(sample(range(first)))
    while not precise(samples):
        if len(samples) >= most:
            return Replicated(samples, reached=False)
        end = min(len(samples) + batch, most)
        samples.extend(sample(range(len(samples), end)))
    return Replicated(samples, reached=True)
