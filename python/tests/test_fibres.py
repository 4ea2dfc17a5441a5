"""Parallel fibres of a link: how many there are, and which wavelengths a burst finds in them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import burstlab as bl
from burstlab.analytic.erlang import erlang_b
from burstlab.statistics import mean_ci95


def line(wavelengths: int, fibres: int, conversion: str, **edge: Any) -> dict[str, Any]:
    names = ["a", "b", "c"]
    one = {"length_km": 0.2, "wavelengths": wavelengths, "fibres": fibres}
    return {
        "network": {
            "topology": "custom",
            "node": [{"name": name} for name in names],
            "link": [{"from": a, "to": b, **one} for a, b in pairwise(names)],
        },
        "core": {"conversion": conversion},
        "edge": {"port": "shared", **edge},
        "bursts": [{"from": "a", "to": "c", "erlangs": 2.0, "length": {"mean": "125 KB"}}],
        "run": {"duration": "200 ms", "warmup": "10 ms", "replications": 10},
    }


def losses(scenario: dict[str, Any]) -> list[float]:
    return [one["all"]["bursts_lost"] / one["all"]["bursts"] for one in bl.run(scenario).network]


def test_with_conversion_two_fibres_of_two_wavelengths_are_one_of_four():
    assert losses(line(2, 2, "full")) == losses(line(4, 1, "full"))


@pytest.mark.parametrize("conversion", ["none", "full"])
def test_each_wavelength_has_a_server_in_each_fibre(conversion):
    scenario = line(2, 3, conversion, wavelength="random")
    if conversion == "full":
        scenario["edge"].pop("wavelength")
    scenario["run"]["duration"] = "2 s"
    found = mean_ci95(losses(scenario))
    # Two wavelengths that share the load, of three servers each; or six servers for all of it.
    exact = erlang_b(1.0, 3) if conversion == "none" else erlang_b(2.0, 6)
    half = found.ci95 or 0.0
    assert abs(found.mean - exact) < 1.5 * half < 0.15 * exact


def test_fibres_that_are_too_many_are_refused():
    scenario = line(600, 2, "full")
    with pytest.raises(bl.ScenarioError, match=r"fibres = 2: 2 fibres of 600 wavelengths") as error:
        bl.resolve(scenario)
    assert "at most 1" in error.value.fix
