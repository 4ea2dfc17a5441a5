"""Generalised AIMD (Yang and Lam 2000): its window under random losses, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import burstlab as bl

LOSS = 0.001

#: Each packet is a burst of its own, and nothing waits: a round trip is always as long.
RANDOM: dict[str, Any] = {
    "network": {"link_delay": "4 ms"},
    "access": {"rate": "10 Gb/s", "delay": "1 ms"},
    "edge": {"assembly": "none", "ack": {"assembly": "none"}},
    "loss": {"data": {"process": "bernoulli", "probability": LOSS}},
    "tcp": {"profile": "ns2", "window": 10_000, "initial_ssthresh": 50},
    "run": {"warmup": "5 s", "duration": "600 s"},
}


def having(**tcp: Any) -> dict[str, Any]:
    return {**RANDOM, "tcp": {**RANDOM["tcp"], **tcp}}


def mean_square(**tcp: Any) -> float:
    """Return the mean over time of the squared congestion window."""
    table = bl.run(having(**tcp), trace=("cwnd",)).cwnd.to_arrow().to_pydict()
    times, windows = np.array(table["t_ps"]) / 1e12, np.array(table["cwnd"])
    return float(np.average(windows[:-1] ** 2, weights=np.diff(times)))


def goodput(**tcp: Any) -> float:
    return float(bl.run(having(**tcp)).flows["goodput_bps"].mean())


@pytest.mark.parametrize(("alpha", "beta"), [(None, None), (0.2, 0.875), (1.0, 0.75), (2.0, 0.5)])
def test_the_mean_square_of_the_window_is_that_of_random_losses(alpha, beta):
    # A window W gains alpha each round trip, and loses (1 - beta) W at each of its W p losses. In
    # the mean both are equal: E[W^2] = alpha / ((1 - beta) p). During a repair a window neither
    # grows nor is cut once more.
    fields = {"aimd_alpha": alpha, "aimd_beta": beta}
    found = mean_square(**{name: value for name, value in fields.items() if value is not None})
    alpha, beta = alpha or 1.0, beta or 0.5
    expected = alpha / ((1 - beta) * LOSS)
    assert found == pytest.approx(expected, rel=0.1)
    for wrong in (expected * 0.75, expected * 4 / 3):
        assert found != pytest.approx(wrong, rel=0.1)


def test_alpha_follows_beta_so_that_a_flow_is_friendly_to_others():
    usual, friendly = goodput(), goodput(aimd_beta=0.875)
    assert friendly == pytest.approx(usual, rel=0.07)
    assert goodput(aimd_beta=0.875, aimd_alpha=1.0) > 1.7 * usual
    assert goodput(aimd_beta=0.875, aimd_alpha=0.2) == friendly


@pytest.mark.parametrize(
    ("tcp", "says"),
    [
        ({"aimd_alpha": 0}, "tcp.aimd_alpha = 0: not above 0 and at most 1000"),
        ({"aimd_beta": 1.5}, "tcp.aimd_beta = 1.5: not above 0 and below 1"),
    ],
)
def test_no_law_is_refused(tcp, says):
    with pytest.raises(bl.ScenarioError) as stated:
        bl.resolve(having(**tcp))
    assert says in str(stated.value) and "fix: write" in str(stated.value)


@pytest.mark.parametrize("tcp", [{"profile": "linux"}, {"window_law": "fast"}])
def test_fields_without_effect_are_named(tcp):
    scenario = {**RANDOM, "tcp": {"aimd_beta": 0.75, **tcp}, "run": {"duration": "1 s"}}
    [warning] = bl.run(scenario).warnings
    assert warning.startswith("tcp.aimd_beta = 0.75 has no effect")
