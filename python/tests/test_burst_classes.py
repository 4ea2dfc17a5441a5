"""Losses by class of bursts: in the summary, its estimates, tables, what is printed, the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tomli_w
from pages import data

import burstlab as bl
from burstlab.analytic.erlang import erlang_b
from burstlab.cli.app import main
from burstlab.page import viewer
from burstlab.page.network import network as drawn
from burstlab.studies.metrics import NoMetric, every, value_at

_LENGTH = {"distribution": "fixed", "mean": "12500 B"}

#: Two classes of bursts on one wavelength; the second has an offset that no burst outlasts.
OFFSETS: dict[str, Any] = {
    "network": {"topology": "line", "nodes": 2, "link_rate": "1 Gb/s", "link_delay": "1 ms"},
    "edge": {"port": "shared", "class_offsets": ["0 s", "300 us"]},
    "flows": [],
    "bursts": [
        {"from": "1", "to": "2", "erlangs": 0.3, "length": _LENGTH},
        {"from": "1", "to": "2", "erlangs": 0.2, "length": _LENGTH, "class": 1},
    ],
    "run": {"duration": "2 s", "warmup": "10 ms", "seed": 2, "replications": 3},
}


def test_bursts_by_class_add_up_and_are_those_of_the_table():
    result = bl.run(OFFSETS, trace=("bursts",), jobs=1)
    networks: list[Any] = [*result.network]
    for number, network in enumerate(networks):
        table = result.bursts.where(replication=number).to_pylist()
        whole = network["all"]
        assert [one["class"] for one in whole["classes"]] == [0, 1]
        for name in ("bursts", "bursts_lost", "bytes", "bytes_lost"):
            assert sum(one[name] for one in whole["classes"]) == whole[name]
        for one in whole["classes"]:
            start, end = 10 * 10**9, 2 * 10**12
            ends = [
                (row["lost_ps"] or row["arrived_ps"], row["fate"])
                for row in table
                if row["class"] == one["class"] and row["fate"] != "in-flight"
            ]
            fates = [fate for at, fate in ends if start <= at <= end]
            assert one["bursts"] == len(fates)
            assert one["bursts_lost"] == fates.count("lost")
            assert one["burst_loss_ratio"] == one["bursts_lost"] / one["bursts"]
            (route,) = one["routes"]
            assert (route["bursts"], route["lost"]) == (one["bursts"], one["bursts_lost"])
            lost = {cause["cause"]: cause["bursts"] for cause in one["causes"]}
            assert lost["contention"] == one["bursts_lost"]
        for link in network["links"]:
            for name, total in link["all"].items():
                assert sum(one["bursts"][name] for one in link["classes"]) == total


def test_a_class_that_an_offset_isolates_loses_what_erlang_b_says_of_its_load_alone():
    """Yoo and Qiao 1999; the class without an extra offset pays for it."""
    estimates = bl.run(OFFSETS, jobs=1).estimates()
    isolated = estimates["network.background.classes.1.burst_loss_ratio"]
    other = estimates["network.background.classes.0.burst_loss_ratio"]
    assert isolated["n"] == 3
    assert isolated["ci95"] > 0.0
    right = erlang_b(0.2, 1)
    assert abs(isolated["mean"] - right) < max(3 * isolated["ci95"], 0.01)
    assert other["mean"] > 1.5 * right
    assert estimates["network.all.classes.1.causes.contention.bursts"]["mean"] > 0


def test_packets_of_classes_have_numbers_of_their_own_with_a_queue_for_each_class():
    source = {"from": "1", "to": "3", "rate": "300 Mb/s", "packet_size": "1250 B"}
    scenario: dict[str, Any] = {
        "network": {"topology": "line", "nodes": 3, "link_rate": "1 Gb/s", "link_delay": "1 ms"},
        "edge": {
            "port": "shared",
            "assembly": "timer",
            "timer": "100 us",
            "queues": "class",
            "class_offsets": ["0 s", "0 s", "0 s", "0 s", "400 us"],
        },
        "flows": [],
        "traffic": [{**source, "pattern": "poisson"}, {**source, "pattern": "poisson", "class": 4}],
        "run": {"duration": "200 ms", "seed": 4},
    }
    networks: list[Any] = [*bl.run(scenario, trace=("bursts",)).network]
    (network,) = networks
    low, high = network["data"]["classes"]
    assert (low["class"], high["class"]) == (0, 4)
    assert low["packets_lost"] > high["packets_lost"] == 0
    assert low["packet_loss_ratio"] == low["packets_lost"] / low["packets"]
    del scenario["edge"]["queues"]
    networks = [*bl.run(scenario).network]
    (network,) = networks
    assert "classes" not in network["data"], "a burst has packets of both classes"
    assert "classes" not in network["links"][0]


def test_a_metric_names_a_class_by_its_number():
    summary: dict[str, Any] = {
        "network": {
            "all": {"classes": [{"class": 2, "bursts": 7, "causes": []}]},
            "data": {
                "classes": [
                    {"class": 0, "bursts": 3, "causes": [{"cause": "cut", "bursts": 1}]},
                    {"class": 5, "bursts": 9, "causes": []},
                ]
            },
        }
    }
    assert value_at(summary, "network.data.classes.5.bursts") == 9
    assert value_at(summary, "network.data.classes.sum.bursts") == 12
    assert value_at(summary, "network.all.classes.2.bursts") == 7
    with pytest.raises(NoMetric):
        value_at(summary, "network.data.classes.1.bursts")
    assert every(summary) == [
        "network.data.classes.0.bursts",
        "network.data.classes.0.causes.cut.bursts",
        "network.data.classes.5.bursts",
    ]


def test_classes_are_printed_and_drawn(tmp_path, capsys):
    path = tmp_path / "classes.toml"
    path.write_text(tomli_w.dumps(OFFSETS), encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(
            [
                "run",
                str(path),
                "--replications",
                "1",
                "--out",
                str(tmp_path / "out"),
                "--trace",
                "bursts",
            ]
        )
    assert end.value.code == 0
    page = capsys.readouterr().out
    assert "loss ratio" in page
    rows = [line.split() for line in page.splitlines() if "background" in line.split()]
    assert {row[0] for row in rows} >= {"0", "1"}
    result = bl.read(tmp_path / "out")
    seen = drawn(result, 0, {}).to_json([0.001] * 2)
    (there,) = [fibre for fibre in seen["fibres"] if fibre["from"] == 0]
    assert [number for number, _, _ in there["classes"]] == [0, 1]
    network: Any = result.network[0]
    (link,) = [one for one in network["links"] if one["from"] == "1"]
    assert there["classes"][1][1] == link["classes"][1]["bursts"]["offered"]
    _, found = data(viewer(tmp_path / "out"), "bursts", **{"from": 0, "to": 2})
    assert set(found["class"].tolist()) == {0, 1}
    stored = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert stored["network"]["all"]["classes"][1]["class"] == 1
