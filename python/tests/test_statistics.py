"""Intervals against known values, and the stopping rule."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstlab import statistics
from burstlab.statistics import (
    Estimate,
    mean_ci95,
    means_of,
    paired_ratio,
    replicate_until,
    t_quantile,
)


def test_t_quantile_matches_printed_tables():
    # Student's t, two-sided 95 %: 1, 9 and 30 degrees of freedom.
    assert t_quantile(1) == pytest.approx(12.706, abs=5e-4)
    assert t_quantile(9) == pytest.approx(2.262, abs=5e-4)
    assert t_quantile(30) == pytest.approx(2.042, abs=5e-4)


def test_mean_of_a_known_sample():
    estimate = mean_ci95([1.0, 2.0, 3.0, 4.0])
    assert estimate.mean == 2.5
    # t(3) = 3.182, s = 1.29099, half-width = t s / 2
    assert estimate.ci95 == pytest.approx(3.18245 * 1.2909944 / 2, rel=1e-5)
    assert (estimate.low, estimate.high) == pytest.approx((0.4457, 4.5543), abs=1e-4)


def test_one_sample_has_no_interval():
    assert mean_ci95([3.0]) == Estimate(3.0, None, 1)
    assert mean_ci95([3.0]).relative() == math.inf
    assert math.isnan(mean_ci95([]).mean)


def test_what_is_common_to_a_pair_cancels():
    rng = np.random.default_rng(7)
    common = rng.uniform(1.0, 10.0, 50)
    ratio = paired_ratio(1.3 * common, common)
    assert ratio.mean == pytest.approx(1.3)
    assert ratio.ci95 == pytest.approx(0.0, abs=1e-12)


def test_the_interval_of_a_ratio_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        common = rng.normal(10.0, 1.0, 20)
        x = 1.2 * common + rng.normal(0.0, 0.5, 20)
        y = common + rng.normal(0.0, 0.5, 20)
        ratio = paired_ratio(x, y)
        hits += ratio.low <= 1.2 <= ratio.high
    # Binomial(400, 0.95): four standard deviations below its mean is 362.
    assert 362 <= hits <= 397


def test_unpaired_samples_are_refused():
    with pytest.raises(ValueError, match="do not pair"):
        paired_ratio([1.0, 2.0], [1.0])


def test_replication_stops_at_the_first_batch_that_is_precise():
    asked: list[range] = []

    def sample(numbers: range) -> list[int]:
        asked.append(numbers)
        return list(numbers)

    done = replicate_until(sample, lambda s: len(s) >= 12, first=5, batch=4, most=40)
    assert done.samples == list(range(13))
    assert done.reached
    assert asked == [range(5), range(5, 9), range(9, 13)]


def test_replication_stops_at_the_limit():
    done = replicate_until(list, lambda s: False, first=5, batch=4, most=11)
    assert len(done.samples) == 11
    assert not done.reached


@given(st.lists(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40), max_size=12))
def test_many_quantities_at_once_are_each_by_itself(samples):
    series = {f"metric {number}": values for number, values in enumerate(samples)}
    expected = {name: mean_ci95(values) for name, values in series.items()}
    found = means_of(series)
    assert found == expected and list(found) == list(expected)


def test_numpy_is_asked_once_for_all_of_one_length(monkeypatch):
    calls: list[int] = []
    real = statistics.means_ci95
    monkeypatch.setattr(statistics, "means_ci95", lambda rows: calls.append(1) or real(rows))
    means_of({f"flow[{number}]": [float(number), 2.0] for number in range(10_000)})
    assert len(calls) == 1
