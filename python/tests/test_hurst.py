"""Estimators of the Hurst exponent, judged by exact fractional Gaussian noise, and then the judges
of what the engine generates.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import burstlab as bl
from burstlab import batches, hurst
from burstlab.errors import InputError, ScenarioError

#: Exponents of the noise, and how far an estimate from 2^17 numbers may be off.
_EXPONENTS = (0.5, 0.7, 0.9)
_BAND = {"variance": 0.06, "rs": 0.06, "gph": 0.06, "whittle": 0.05, "wavelet": 0.04}


@cache
def noise(h: float, n: int, seed: int) -> np.ndarray:
    """Exact fractional Gaussian noise, by circulant embedding (Davies and Harte 1987)."""
    lags = np.arange(n + 1, dtype=float)
    powers = np.abs(np.arange(-1, n + 2, dtype=float)) ** (2 * h)
    covariance = 0.5 * (powers[2:] - 2 * powers[1:-1] + powers[:-2])
    assert len(covariance) == len(lags)
    eigenvalues = np.fft.fft(np.concatenate([covariance, covariance[-2:0:-1]])).real
    assert eigenvalues.min() > -1e-9
    generator = np.random.default_rng(seed)
    size = len(eigenvalues)
    draws = generator.standard_normal(size) + 1j * generator.standard_normal(size)
    return np.fft.fft(np.sqrt(np.maximum(eigenvalues, 0) / size) * draws).real[:n]


@pytest.mark.parametrize("h", _EXPONENTS)
@pytest.mark.parametrize("name", sorted(hurst.ESTIMATORS))
def test_exact_noise_has_its_exponent(name: str, h: float) -> None:
    estimates = [hurst.ESTIMATORS[name](noise(h, 2**17, seed)) for seed in range(3)]
    mean = float(np.mean([estimate.h for estimate in estimates]))
    assert mean == pytest.approx(h, abs=_BAND[name]), estimates


@pytest.mark.parametrize("name", ["gph", "whittle", "wavelet"])
def test_intervals_hold_the_exponent_as_often_as_they_say(name: str) -> None:
    held = 0
    for seed in range(60):
        estimate = hurst.ESTIMATORS[name](noise(0.7, 2**13, 100 + seed))
        assert estimate.interval is not None
        low, high = estimate.interval
        held += low <= 0.7 <= high
    # 57 of 60 are expected; 48 or fewer have a chance of 0.1 % if it is 95 %.
    assert held > 48, held


def test_a_line_and_a_level_are_no_long_memory() -> None:
    # Three vanishing moments take a trend away; the variance of means is misled by it.
    sequence = noise(0.5, 2**14, 1) + np.linspace(0, 3, 2**14)
    assert hurst.abry_veitch(sequence).h == pytest.approx(0.5, abs=0.06)
    assert hurst.aggregated_variance(sequence).h > 0.7
    shifted = noise(0.7, 2**14, 1) + 1000.0
    for estimator in hurst.ESTIMATORS.values():
        assert estimator(shifted).h == pytest.approx(estimator(noise(0.7, 2**14, 1)).h, abs=1e-3)


@pytest.mark.parametrize("sequence", [[1.0] * 5000, [1.0, 2.0], [float("nan")] * 2000])
def test_what_has_no_exponent_is_refused(sequence: list[float]) -> None:
    for estimator in hurst.ESTIMATORS.values():
        with pytest.raises(ValueError, match="numbers"):
            estimator(sequence)


def scenario(arrivals: float, sizes: float) -> dict[str, object]:
    return {
        "network": {"topology": "martinez", "link_rate": "1 Gb/s", "wavelengths": 7},
        "signalling": {"guard": "2 us"},
        "edge": {"assembly": "hybrid", "timer": "10 ms", "size": "70 KB", "at_most": True},
        "batches": [
            {
                "batches_per_second": 10_000,
                "size": {"distribution": "exponential", "mean": "5 KB"},
                "hurst_arrivals": arrivals,
                "hurst_sizes": sizes,
            }
        ],
        "run": {"duration": "1 s"},
    }


@cache
def drawn(arrivals: float, sizes: float) -> batches.Drawn:
    return batches.draw(scenario(arrivals, sizes), 10**6, between=("E1", "E2"), seed=7)


@pytest.mark.parametrize(("arrivals", "sizes"), [(0.5, 0.9), (0.7, 0.7), (0.9, 0.5)])
@pytest.mark.parametrize("name", ["whittle", "wavelet"])
def test_batches_have_the_exponents_asked_for(name: str, arrivals: float, sizes: float) -> None:
    sequence = drawn(arrivals, sizes)
    estimate = hurst.ESTIMATORS[name]
    assert estimate(sequence.gaps_s).h == pytest.approx(arrivals, abs=0.05)
    assert estimate(sequence.sizes).h == pytest.approx(sizes, abs=0.05)


@pytest.mark.parametrize(("arrivals", "sizes"), [(0.5, 0.5), (0.5, 0.9), (0.9, 0.5)])
def test_bytes_in_bins_have_the_larger_exponent(arrivals: float, sizes: float) -> None:
    """In bins of 10 ms; half of a bin's variance is short-range, which the coarse scales forget."""
    binned = drawn(arrivals, sizes).bytes_per(0.010)
    estimate = hurst.abry_veitch(binned, first=3)
    assert estimate.h == pytest.approx(max(arrivals, sizes), abs=0.07), estimate


def test_batches_with_exponent_one_half_are_a_poisson_process() -> None:
    sequence = drawn(0.5, 0.5)
    counts = np.bincount((sequence.times_ps // 10**9).astype(int))[:-1]
    # Of a Poisson count the variance is the mean, 10 in 1 ms; of n counts it is known to
    # 5 sqrt(2 / n) of itself.
    assert np.var(counts) == pytest.approx(10.0, rel=5 * np.sqrt(2 / len(counts)) + 0.01)
    for numbers in (sequence.gaps_s, sequence.sizes.astype(float)):
        # Exponential: the standard deviation is the mean.
        assert np.std(numbers) / np.mean(numbers) == pytest.approx(1.0, abs=0.01)
        neighbours = np.corrcoef(numbers[1:], numbers[:-1])[0, 1]
        assert abs(neighbours) < 5 / np.sqrt(len(numbers))
    cross = np.corrcoef(sequence.gaps_s, sequence.sizes)[0, 1]
    assert abs(cross) < 5 / np.sqrt(len(sequence.sizes))


def test_draws_are_those_of_the_seed_and_the_replication() -> None:
    first = batches.draw(scenario(0.5, 0.5), 100, between=("E1", "E2"), seed=1)
    again = batches.draw(scenario(0.5, 0.5), 100, between=("E1", "E2"), seed=1)
    other = batches.draw(scenario(0.5, 0.5), 100, between=("E2", "E1"), seed=1)
    third = batches.draw(scenario(0.5, 0.5), 100, between=("E1", "E2"), seed=1, replication=2)
    assert (first.times_ps == again.times_ps).all() and (first.sizes == again.sizes).all()
    assert (first.times_ps != other.times_ps).any() and (first.times_ps != third.times_ps).any()
    assert first.gaps_s.sum() == pytest.approx(float(first.times_ps[-1]) * 1e-12)


def test_batches_that_are_not_there_are_named() -> None:
    with pytest.raises(ScenarioError, match="does not go from E1 to E1"):
        batches.draw(scenario(0.5, 0.5), 10, between=("E1", "E1"))
    with pytest.raises(ScenarioError, match="there is no batches\\[3\\]"):
        batches.draw(scenario(0.5, 0.5), 10, between=("E1", "E2"), entry=3)
    with pytest.raises(InputError, match="at least 1"):
        batches.draw(scenario(0.5, 0.5), 0, between=("E1", "E2"))


def bytes_of_traffic(entry: dict[str, object], seconds: int) -> np.ndarray:
    """Packets in bins of 50 ms, of traffic in which each packet is a burst of its own."""
    traffic = {"from": "E1", "to": "E2", "packet_size": "1000 B", **entry}
    document = {
        "network": {"topology": "martinez", "link_rate": "10 Gb/s", "wavelengths": 7},
        "signalling": {"guard": "2 us"},
        "edge": {"assembly": "none"},
        "flows": [],
        "traffic": [traffic],
        "run": {"duration": f"{seconds} s", "seed": 3},
    }
    (replication,) = bl.run(document, trace="bursts").replications
    closed = replication.tables["bursts"]["closed_ps"]
    # On/off sources all begin with a silence: they need a while to forget that.
    return np.bincount((closed // (5 * 10**10)).astype(int))[4000:-1].astype(float)


@pytest.mark.parametrize(("shape", "h"), [(1.2, 0.9), (1.5, 0.75), (5.0, 0.5)])
@pytest.mark.parametrize(
    "entry",
    [
        {"pattern": "pareto", "count": 20, "off_mean": "0.4 s"},
        {"pattern": "sessions", "sessions_per_second": 20},
    ],
    ids=["on-off", "sessions"],
)
def test_pareto_times_make_long_memory(entry: dict[str, object], shape: float, h: float) -> None:
    """H = (3 - shape) / 2, at scales beyond the mean times; with a finite variance, none."""
    common = {"rate": "400 kb/s", "on_mean": "0.1 s", "shape": shape}
    counts = bytes_of_traffic({**entry, **common}, 2000)
    estimate = hurst.abry_veitch(counts, first=6)
    assert estimate.h == pytest.approx(h, abs=0.12), estimate
