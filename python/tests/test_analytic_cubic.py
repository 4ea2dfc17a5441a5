"""The mean window of CUBIC against its curve, added up."""

from __future__ import annotations

import numpy as np
import pytest

from burstlab.analytic import cubic


@pytest.mark.parametrize("p", [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("rtt_s", [0.02, 0.1, 0.4])
def test_the_curve_between_two_losses_has_that_mean(p, rtt_s):
    # W(t) = C (t - K)^3 + W_max from 0.7 W_max on, until 1/p segments were sent.
    c, beta = 0.4, 0.7

    def of(top):
        k = (top * (1 - beta) / c) ** (1 / 3)
        t = np.linspace(0.0, k, 20_001)
        window = c * (t - k) ** 3 + top
        mean = float(np.trapezoid(window, t)) / k
        return mean * k / rtt_s, mean

    low, high, mean = 1e-3, 1e9, 0.0
    for _ in range(200):
        middle = (low * high) ** 0.5
        sent, mean = of(middle)
        low, high = (middle, high) if sent < 1 / p else (low, middle)
    assert cubic.mean_window(p, rtt_s) == pytest.approx(mean, rel=1e-4)
    assert cubic.mean_rate(p, rtt_s) == pytest.approx(mean / rtt_s, rel=1e-4)


def test_what_it_refuses():
    with pytest.raises(ValueError, match="p"):
        cubic.mean_window(0.0, 0.1)
    with pytest.raises(ValueError, match="beta"):
        cubic.mean_window(0.1, 0.1, beta=1.0)
