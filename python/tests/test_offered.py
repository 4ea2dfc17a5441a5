"""The load that demands offer: by arithmetic, and against what their connections carry."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

import burstlab as bl
from burstlab import _core
from burstlab.errors import ScenarioError

MIXTURE = {
    "distribution": "mixture",
    "parts": [
        {"weight": 90, "mean": "10 KB"},
        {"weight": 10, "distribution": "exponential", "mean": "100 KB"},
    ],
}

#: A distribution, its mean in bytes, and the mean of the squares.
SIZES: list[tuple[dict[str, Any], float, float]] = [
    ({"distribution": "exponential", "mean": "20 KB"}, 20e3, 2 * 20e3**2),
    (MIXTURE, 19e3, 0.9 * 10e3**2 + 0.1 * 2 * 100e3**2),
]

#: Bits a second that each of five nodes of the ring sends at a load of 1. Of the four others it
#: reaches two over one fibre and two over two, half of them in each direction. So a fibre carries
#: three pairs: 3/4 of what a node sends.
RATES = {"access": 20e6, "receiver": 10e6, "fibre": 2 * 30e6 / 0.75}


def ring(demand: dict[str, Any], **run: Any) -> dict[str, Any]:
    return {
        "network": {
            "topology": "ring",
            "nodes": 5,
            "link_delay": "100 us",
            "link_rate": "30 Mb/s",
            "wavelengths": 2,
        },
        "edge": {"assembly": "timer", "timer": "500 us"},
        "access": {"rate": "20 Mb/s", "delay": "100 us", "receiver": {"rate": "10 Mb/s"}},
        "demand": [demand],
        "run": {"duration": "20 s", **run},
    }


@pytest.mark.parametrize("of", RATES)
@pytest.mark.parametrize(("size", "mean", "square"), SIZES)
def test_connections_carry_the_load_that_was_asked_for(of, size, mean, square):
    result = bl.run(ring({"load": 0.2, "load_of": of, "size": size}), seed=4)
    summary: Any = result.demand[0][0]
    expected_bps = 5 * 0.2 * RATES[of]
    assert summary["offered_bps"] == pytest.approx(expected_bps)
    assert summary["offered_flows_per_second"] == pytest.approx(expected_bps / 8 / mean)
    for other, rate in RATES.items():
        assert summary[f"offered_load_{other}"] == pytest.approx(0.2 * RATES[of] / rate)
    sizes = result.connections.to_pandas()["bytes"].to_numpy(dtype=float)
    # A sum of sizes at the times of a Poisson process: its variance is that of the squares.
    arrivals = expected_bps / 8 / mean * 20
    half = 1.96 * math.sqrt(arrivals * square)
    assert half < 0.15 * arrivals * mean, "a run that says something"
    assert abs(sizes.sum() - arrivals * mean) < half
    assert abs(len(sizes) - arrivals) < 1.96 * math.sqrt(arrivals)


def test_a_rate_and_its_load_are_one_demand():
    size = {"distribution": "exponential", "mean": "20 KB"}
    by_load = bl.run(ring({"load": 0.2, "size": size}, duration="2 s"))
    # 4 Mb/s from each node.
    by_rate = bl.run(ring({"flows_per_second": 25.0, "size": size}, duration="2 s"))
    summary: Any = by_load.demand[0][0]
    other: Any = by_rate.demand[0][0]
    assert summary["started"] == other["started"] > 150
    for name in ("flows_per_second", "bps", "load_access", "load_receiver", "load_fibre"):
        assert summary[f"offered_{name}"] == pytest.approx(other[f"offered_{name}"])
    assert by_load.scenario["demand"][0]["load"] == 0.2
    assert "flows_per_second" not in by_load.scenario["demand"][0]
    assert by_rate.scenario["demand"][0]["flows_per_second"] == 25.0
    assert bl.run(by_load.scenario).fingerprint == by_load.fingerprint


def test_a_rate_that_nobody_wrote_is_one():
    found = bl.resolve(ring({"size": {"mean": "1 KB"}}))["demand"][0]
    assert found["flows_per_second"] == 1.0
    assert "load" not in found and "load_of" not in found


def test_equal_routes_of_a_fabric_share_the_load():
    scenario = {
        "network": {"topology": "leaf-spine", "leaves": 4, "spines": 2, "link_rate": "1 Gb/s",
                    "wavelengths": 2},
        "access": {"rate": "1 Gb/s", "delay": "1 us", "shared": True},
        "demand": [
            {"load": 0.5, "load_of": "fibre", "size": {"distribution": "web-search"}},
            {"pattern": "incast", "senders": 6, "receiver": "leaf1", "every": "10 ms",
             "size": {"mean": "64 KB"}},
            {"pattern": "incast", "senders": 6, "receiver": "leaf1", "size": {"mean": "64 KB"}},
        ],
        "run": {"duration": "5 ms"},
    }  # fmt: skip
    web, rounds, once = bl.run(scenario).demand[0]
    # Each leaf sends through two fibres of 2 Gb/s.
    assert web["offered_load_fibre"] == pytest.approx(0.5)
    assert web["offered_load_access"] == pytest.approx(2.0)
    assert web["offered_flows_per_second"] == pytest.approx(4 * 2e9 / 8 / 1_711_250)
    answers = 6 * 64e3 * 8 / 10e-3
    assert rounds["offered_bps"] == pytest.approx(answers)
    assert rounds["offered_load_receiver"] == pytest.approx(answers / 1e9)
    assert rounds["offered_load_access"] == pytest.approx(answers / 3 / 1e9)
    assert rounds["offered_load_fibre"] == pytest.approx(answers / 2 / 2e9)
    assert once["offered_bps"] is None and once["offered_load_fibre"] is None


def test_a_mixture_has_its_shares_and_moves_no_other_draw(tmp_path: Path):
    (tmp_path / "mice.csv").write_text("1000,0.25\n3000,1\n")
    mixture = {
        "distribution": "mixture",
        "parts": [
            {"weight": 3, "distribution": "empirical", "file": "mice.csv"},
            {"weight": 1, "mean": "40 KB"},
        ],
    }
    names = ("started_ps", "from", "to")
    found = {}
    for name, size in {"mixed": mixture, "plain": {"mean": "1 KB"}}.items():
        demand = {"flows_per_second": 40, "size": size}
        file = tmp_path / f"{name}.toml"
        file.write_text(tomli_w.dumps(ring(demand, duration="5 s", drain="100 s")))
        found[name] = bl.run(file).connections.to_pandas().sort_values("id")
    for name in names:
        assert found["mixed"][name].tolist() == found["plain"][name].tolist()
    sizes = found["mixed"]["bytes"].to_numpy(dtype=float)
    large = sizes == 40e3
    assert ((sizes <= 3000) | large).all() and len(sizes) > 900
    assert abs(large.mean() - 0.25) < 1.96 * math.sqrt(0.25 * 0.75 / len(sizes))
    assert abs((sizes == 1000).mean() - 0.75 * 0.25) < 1.96 * math.sqrt(0.19 * 0.81 / len(sizes))
    # 0.25 at 1,000 B, the others uniform from there to 3,000 B.
    mice = sizes[~large]
    assert abs(mice.mean() - 1750.0) < 1.96 * np.std(mice) / math.sqrt(len(mice))


@pytest.mark.parametrize("table", ["demand", "bursts", "batches"])
def test_files_of_sizes_are_read_wherever_sizes_are(table, tmp_path):
    (tmp_path / "sizes.csv").write_text("1000,0.5\n3000,1\n")
    part = {"distribution": "empirical", "file": "sizes.csv"}
    mixture = {"distribution": "mixture", "parts": [{"weight": 1, **part}]}
    name = "length" if table == "bursts" else "size"
    for size in (part, mixture):
        scenario = {"network": {"topology": "ring"}, table: [{name: size}]}
        (tmp_path / "file.toml").write_text(tomli_w.dumps(scenario))
        found = bl.resolve(tmp_path / "file.toml")[table][0][name]
        found = found.get("parts", [found])[0]
        assert found["cdf"] == [["1 KB", 0.5], ["3 KB", 1.0]] and "file" not in found


@pytest.mark.parametrize(
    ("demand", "path", "says"),
    [
        ({"load": 0.5, "flows_per_second": 1.0}, "load", "keep one of the two"),
        ({"load": 0.5, "per": "network"}, "per", "remove it"),
        ({"load_of": "fibre"}, "load_of", "add load = 0.5"),
        ({"load": 0.0}, "load", "above 0"),
        ({"load": 0.5, "load_of": "core"}, "load_of", "receiver"),
        ({"load": 0.5, "pattern": "permutation"}, "load", "change pattern"),
        (
            {"load": 0.5, "size": {"distribution": "pareto", "min": "1 KB", "shape": 0.9}},
            "size.shape",
            "above 1",
        ),
        (
            {"size": {"distribution": "mixture", "parts": [{"mean": "1 KB"}]}},
            "size.parts[0].weight",
            "",
        ),
        (
            {"size": {"distribution": "mixture", "parts": [{"weight": 1, **MIXTURE}]}},
            "size.parts[0].parts",
            "",
        ),
    ],
)
def test_a_wrong_demand_is_refused_with_its_fix(demand, path, says):
    with pytest.raises(ScenarioError) as refused:
        bl.resolve(ring({"size": {"mean": "20 KB"}, **demand}))
    assert refused.value.path == f"demand[0].{path}"
    assert refused.value.fix and says in str(refused.value)


def test_the_estimate_counts_arrivals_by_the_weights_of_a_matrix():
    def events(weight: float, **rate: float) -> float:
        demand = {
            "destination": "matrix",
            "matrix": [{"from": "1", "to": "3", "weight": weight}],
            "size": {"mean": "20 KB"},
            **rate,
        }
        return _core.needs(json.dumps(bl.resolve(ring(demand))))[3]

    expected = events(1.0, flows_per_second=125.0)
    assert events(500.0, flows_per_second=0.25) == pytest.approx(expected)
    # 125 files of 160 kbit are 20 Mb/s.
    assert events(500.0, load=1.0) == pytest.approx(expected)
    assert events(1.0, flows_per_second=250.0) > 1.5 * expected


def test_an_overload_is_allowed_and_named():
    scenario = ring({"load": 1.5, "load_of": "fibre", "size": {"mean": "20 KB"}}, duration="50 ms")
    result = bl.run(scenario)
    assert any(one.startswith("demand[0].load = 1.5: more data arrive") for one in result.warnings)
    assert result.demand[0][0]["offered_load_fibre"] == pytest.approx(1.5)
    within = bl.run({**scenario, "demand": [{**scenario["demand"][0], "load": 1.0}]})
    assert not any(one.startswith("demand") and "load" in one for one in within.warnings)


def test_the_command_line_prints_the_offered_load(tmp_path, burstlab):
    demand = {"name": "web", "load": 0.2, "size": {"mean": "20 KB"}}
    (tmp_path / "web.toml").write_text(tomli_w.dumps(ring(demand, duration="100 ms")))
    out = burstlab("run", tmp_path / "web.toml").out
    row = next(line for line in out.splitlines() if line.split()[:1] == ["web"])
    assert row.split() == ["web", "125", "20", "Mb/s", "0.2", "0.4", "0.05"]
