"""The formulas of Padhye et al. and Mathis et al.: limits, sums written out, a sawtooth."""

import math

import numpy as np
import pytest

from burstlab.analytic import MODELS, padhye


def test_backoff_factor_is_the_mean_of_a_sequence():
    for p in (0.01, 0.2, 0.6):
        lengths = np.arange(1, 3000)
        lasts = np.cumsum(np.minimum(2.0 ** np.minimum(lengths - 1, 6), 64))
        mean = np.sum(p ** (lengths - 1) * (1 - p) * lasts)
        assert padhye.backoff_factor(p) / (1 - p) == pytest.approx(mean)


@pytest.mark.parametrize("p", [1e-4, 0.01, 0.2])
@pytest.mark.parametrize("window", [4, 7, 20])
def test_timeout_share_is_the_sum_over_what_was_lost(p, window):
    """PFTK (22): A(w, k) and C(n, m) added up as they are defined."""

    def first(k):
        return (1 - p) ** k * p / (1 - (1 - p) ** window)

    def in_order(n, m):
        return (1 - p) ** m * p if m < n else (1 - p) ** n

    share = sum(first(k) for k in range(3)) + sum(
        first(k) * sum(in_order(k, m) for m in range(3)) for k in range(3, window)
    )
    assert padhye.timeout_share(p, window) == pytest.approx(min(1, share), rel=1e-9)


def test_timeout_share_at_its_ends():
    assert padhye.timeout_share(0.1, [1, 2.5, 3]).tolist() == [1, 1, 1]
    assert padhye.timeout_share(1e-9, 30) == pytest.approx(3 / 30, rel=1e-6)


def test_small_losses_are_congestion_avoidance():
    p = 1e-8
    rate = padhye.send_rate(p, 0.1, 0.2, 1e9, 1)
    assert rate == pytest.approx(padhye.mathis(p, 0.1), rel=1e-3)
    assert padhye.send_rate_approximate(p, 0.1, 0.2, 1e9, 2) == pytest.approx(
        padhye.mathis(p, 0.1, 2), rel=1e-3
    )


def test_a_largest_window_bounds_the_rate():
    assert padhye.send_rate(1e-9, 0.1, 0.2, 64) == pytest.approx(640, rel=1e-4)
    rates = padhye.send_rate(1e-3, 0.1, 0.2, np.array([1, 4, 16, 64, 1000]))
    assert (np.diff(rates) > 0).all() or rates[-1] == rates[-2]


def test_the_two_cases_join():
    """Where E[W_u] crosses W_max the rate must not jump by more than the model's own rounds."""
    limit = float(padhye.unlimited_window(0.01))
    below, above = (padhye.send_rate(0.01, 0.1, 0.2, limit * (1 + e)) for e in (-1e-9, 1e-9))
    assert below == pytest.approx(above, rel=0.02)


def test_mathis_is_the_sawtooth():
    """A window that grows by one a round and is halved after every 1/p segments."""
    p, window, segments, rounds, since = 1e-5, 100.0, 0.0, 0, 0.0
    for _ in range(200_000):
        segments, since, rounds = segments + window, since + window, rounds + 1
        window += 1
        if since >= 1 / p:
            window, since = window / 2, since - 1 / p
    assert padhye.mathis(p, 0.1) == pytest.approx(segments / (rounds * 0.1), rel=0.01)


def test_constants_of_mathis():
    assert padhye.mathis(0.01, 1) == pytest.approx(10 * math.sqrt(1.5))
    assert padhye.mathis(0.01, 1, 2) == pytest.approx(10 * math.sqrt(0.75))
    assert padhye.mathis(0.01, 1, losses="random") == pytest.approx(13.1)
    assert padhye.mathis(0.01, 1, [1, 2], losses="random") == pytest.approx([13.1, 9.3])
    with pytest.raises(ValueError, match="neither 1 nor 2"):
        padhye.mathis(0.01, 1, 3, losses="random")


def test_model_and_its_range():
    results = MODELS["padhye"].evaluate({"p": 0.02, "b": 1})
    assert results["send_rate"].value == pytest.approx(padhye.send_rate(0.02, 0.1, 0.2, 64, 1))
    for given, says in (
        ({"p": 2}, "0 < p < 1"),
        ({"p": 0}, "0 < p < 1"),
        ({"window": 0.5}, "window"),
        ({"b": 0}, "b = 0"),
        ({"rto": 0.01}, "at least one round trip"),
    ):
        with pytest.raises(ValueError, match=says):
            MODELS["padhye"].evaluate(given)


def test_arguments_are_broadcast():
    assert padhye.send_rate(np.full((3, 1), 0.01), 0.1, 0.2, [8, 64]).shape == (3, 2)
