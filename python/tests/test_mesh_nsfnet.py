"""Losses of routes of NSFNET against the reduced-load approximation."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.analytic.erlang import reduced_load
from burstlab.statistics import mean_ci95, t_quantile

WAVELENGTHS = 32
#: Load of each of the 182 pairs in Erlang; the fibres between 8 and 9 have 23 of them.
ERLANGS = 0.75 * WAVELENGTHS / 23
REPLICATIONS = 10
BURSTS = 300_000
HOLD_S = 1e-4
#: Offsets are nearly equal where headers take no time: no route reserves before another.
EQUAL_OFFSETS = {"processing": "0 s", "guard": "1 us"}

Route = tuple[str, str]


def nsfnet(erlangs: float, bursts: int, **load: Any) -> dict[str, Any]:
    pairs = 1 if load else 182
    second = bursts / (erlangs * pairs) * HOLD_S
    length = {"distribution": "exponential", "mean": "125 KB"}
    return {
        "network": {"topology": "nsfnet", "wavelengths": WAVELENGTHS},
        "edge": {"port": "shared"},
        "signalling": EQUAL_OFFSETS,
        "bursts": [{"erlangs": erlangs, "length": length, **load}],
        # The longest route takes 32 ms; losses count at once, deliveries when they land.
        "run": {
            "duration": f"{second + 0.1:.9f} s",
            "warmup": "100 ms",
            "seed": 3,
            "replications": REPLICATIONS,
        },
    }


@cache
def routes() -> dict[Route, list[Route]]:
    """Return the fibres of each route, found by sending bursts along it."""
    names = [str(number) for number in range(1, 15)]
    found: dict[Route, list[Route]] = {}
    for start in names:
        for end in names:
            if start == end:
                continue
            scenario = nsfnet(0.1, 10, **{"from": start, "to": end})
            (network,) = bl.run(scenario, replications=1).network
            onward = {
                link["from"]: link["to"] for link in network["links"] if link["all"]["offered"]
            }
            steps: list[Route] = []
            here = start
            while here != end:
                steps.append((here, onward[here]))
                here = onward[here]
            assert len(steps) == len(onward)
            found[start, end] = steps
    return found


@pytest.mark.slow
def test_routes_of_nsfnet_lose_what_the_reduced_load_says():
    paths = routes()
    fibres = {fibre for steps in paths.values() for fibre in steps}
    assert len(fibres) == 42
    theory = reduced_load(
        list(paths.values()), [ERLANGS] * len(paths), dict.fromkeys(fibres, WAVELENGTHS)
    )
    result = bl.run(nsfnet(ERLANGS, BURSTS))
    everything = mean_ci95([network["all"]["burst_loss_ratio"] for network in result.network])
    assert everything.mean == pytest.approx(theory.blocking, rel=0.1)
    assert everything.mean < 0.01  # a low load

    rows = [
        {(row["from"], row["to"]): row["loss_ratio"] for row in network["all"]["routes"]}
        for network in result.network
    ]
    samples = np.array([[row[route] for route in paths] for row in rows])
    means = samples.mean(0)
    errors = samples.std(0, ddof=1) / np.sqrt(REPLICATIONS)
    # Losses of other routes are too few to tell.
    shown = theory.route_blocking > 4e-3
    assert shown.sum() >= 25
    bound = t_quantile(REPLICATIONS - 1, 1 - 0.005 / shown.sum())
    beyond = np.abs(means - theory.route_blocking) - 0.15 * theory.route_blocking
    assert (beyond < bound * errors)[shown].all()
    deviations = (means / np.maximum(theory.route_blocking, 1e-12) - 1)[shown]
    assert np.median(np.abs(deviations)) < 0.1
    assert means[~shown].mean() < 4e-3


def test_a_burst_with_more_fibres_ahead_reserves_earlier():
    """With JET the offset that is left falls by a processing time at each node."""
    network = {"topology": "line", "nodes": 4, "wavelengths": 1, "link_delay": "1 us"}
    length = {"distribution": "exponential", "mean": "125 KB"}
    scenario: dict[str, Any] = {
        "network": network,
        "edge": {"port": "shared"},
        "bursts": [
            {"from": "1", "to": end, "erlangs": 0.3, "length": length} for end in ("2", "4")
        ],
        "run": {"duration": "1 s", "replications": REPLICATIONS},
    }
    for processing, sign in (("100 us", 1), ("0 s", 0)):
        scenario["signalling"] = {"processing": processing}
        ratios = [
            {row["to"]: row["loss_ratio"] for row in network["all"]["routes"]}
            for network in bl.run(scenario).network
        ]
        # On the first fibre the two meet; further fibres are free for whoever comes through.
        gain = mean_ci95([row["2"] - row["4"] for row in ratios])
        assert (gain.low > 0.1) if sign else (gain.low < 0 < gain.high)
