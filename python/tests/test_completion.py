"""Completion times: recomputed from traces by other means, censored, drained, and in studies."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.measures.completion import is_biased, is_of_completion
from burstlab.studies import metrics
from burstlab.studies.verdicts import significance, versus

PS = 1e-12
EXAMPLES = Path(__file__).parents[2] / "examples"
RING = 5


def ring(*, drain: str | None = None, **over: Any) -> dict[str, Any]:
    """Make a small ring with losses, connections of all sizes, and a flow."""
    run = {"duration": "900 ms", "warmup": "200 ms", **({"drain": drain} if drain else {})}
    return {
        "network": {
            "topology": "ring",
            "nodes": RING,
            "link_delay": "1.5 ms",
            "link_rate": "100 Mb/s",
            "wavelengths": 1,
        },
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "access": {"rate": "20 Mb/s", "delay": "0.4 ms", "receiver": {"rate": "13 Mb/s"}},
        "signalling": {"guard": "300 us"},
        "tcp": {"variant": "sack", "window": 40},
        "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "4", "bytes": "40 KB"}],
        "demand": [
            {
                "label": "web",
                "flows_per_second": 25,
                "size": {
                    "distribution": "bounded-pareto",
                    "min": "200 B",
                    "max": "1 MB",
                    "mean": "9 KB",
                },
            }
        ],
        "run": run,
        **over,
    }


def seconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit]


def bits(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}[unit]


def known_quantile(known: list[float], bounds: list[float], share: float) -> float | None:
    """Return a quantile that is the same if the censored are done at once or never."""
    rank = math.ceil(round(share * (len(known) + len(bounds)), 9))
    soon = sorted([*known, *(math.nextafter(one, math.inf) for one in bounds)])
    never = sorted([*known, *(math.inf for _ in bounds)])
    if rank == 0 or soon[rank - 1] != never[rank - 1]:
        return None
    return never[rank - 1]


def close(shown: float | None, found: float | None) -> bool:
    if shown is None or found is None:
        return shown is found
    return shown == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("drain", [None, "40 ms", "100 s"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_number_of_a_demand_comes_out_of_the_tables(drain, seed):
    result = bl.run(ring(drain=drain), seed=seed, trace=("packets",))
    shown = result.demand[0][0]
    summary = result.summary
    rows = {name: result.connections[name] for name in ("id", "from", "to", "bytes", "ideal_ps")}
    times = {
        name: [None if np.isnan(float(one)) else float(one) * PS for one in column]
        for name in ("started_ps", "received_ps", "completed_ps")
        for column in [np.asarray(result.connections.to_pandas()[name], dtype=float)]
    }
    names = ("flow", "seq", "kind", "size_bytes", "delivered_ps")
    packet: dict[str, Any] = {name: result.packets.to_arrow()[name].to_pylist() for name in names}
    first: dict[tuple[int, int], int] = {}
    size = 0
    for flow, seq, kind, whole, at in zip(*(packet[name] for name in names), strict=True):
        if kind == "data" and at is not None:
            first[flow, seq] = min(at, first.get((flow, seq), at))
            size = max(size, whole)
    payload = size - 40
    access = result.scenario["access"]
    slowest = min(
        bits(access["rate"]),
        bits(access["receiver"]["rate"]),
        bits(result.scenario["network"]["link_rate"]),
    )
    received: list[tuple[float, bool]] = []
    acknowledged: list[tuple[float, bool]] = []
    slow: dict[int, list[tuple[float, bool]]] = {}
    end_s, open_now = summary["simulated_s"], 0
    for place, number in enumerate(rows["id"]):
        whole = int(rows["bytes"][place])
        segments = math.ceil(whole / payload)
        found = [first.get((number, seq)) for seq in range(segments + 1)]
        there = [at for at in found if at is not None]
        last = max(there) * PS if len(there) == len(found) else None
        assert close(times["received_ps"][place], last)
        start = times["started_ps"][place]
        assert start is not None
        assert start <= 0.9
        if start < 0.2:
            continue
        hops = abs(int(rows["from"][place]) - int(rows["to"][place]))
        delay = 0.8e-3 + 1.5e-3 * min(hops, RING - hops)
        ideal = 8 * (whole + 40 * segments) / slowest + delay
        assert int(rows["ideal_ps"][place]) * PS == pytest.approx(ideal, abs=2e-12)
        done = last is not None
        open_now += not done
        took = (last if last is not None else end_s) - start
        received.append((took, done))
        acked = times["completed_ps"][place]
        acknowledged.append(((acked if acked is not None else end_s) - start, acked is not None))
        slow.setdefault(len(str(whole)) - 1, []).append((took / ideal, done))
    assert shown["cohort"] == len(received) > 30
    assert shown["censored"] == open_now
    assert shown["unacknowledged"] == sum(not done for _, done in acknowledged)
    for name, cohort in (("received", received), ("acknowledged", acknowledged)):
        known = [value for value, done in cohort if done]
        bounds = [value for value, done in cohort if not done]
        mean = sum(known + bounds) / len(cohort)
        assert close(shown[f"{name}_mean_bound_s"], mean)
        assert close(shown[f"{name}_mean_s"], None if bounds else mean)
        for digits in ("50", "90", "99", "999"):
            share = int(digits) / 10 ** len(digits)
            assert close(shown[f"{name}_p{digits}_s"], known_quantile(known, bounds, share))
    assert [one["from_bytes"] for one in shown["slowdown"]] == [10**power for power in sorted(slow)]
    for one, power in zip(shown["slowdown"], sorted(slow), strict=True):
        known = [value for value, done in slow[power] if done]
        bounds = [value for value, done in slow[power] if not done]
        assert (one["connections"], one["censored"]) == (len(slow[power]), len(bounds))
        assert close(one["mean"], None if bounds else sum(known) / len(known))
        assert close(one["p50"], known_quantile(known, bounds, 0.5))
        assert close(one["p99"], known_quantile(known, bounds, 0.99))
        assert min([*known, 1.0]) >= 1.0
    every = [one for of_size in slow.values() for one in of_size]
    known = [value for value, done in every if done]
    bounds = [value for value, done in every if not done]
    assert close(shown["slowdown_mean"], None if bounds else sum(known) / len(known))
    assert close(shown["slowdown_p99"], known_quantile(known, bounds, 0.99))
    warned = any("web" in one and "run.drain" in one for one in result.warnings)
    assert warned == (shown["censored"] > 0)
    if drain == "100 s":
        assert (shown["censored"], shown["unacknowledged"]) == (0, 0)
        means = shown["received_mean_s"], shown["acknowledged_mean_s"]
        assert means[0] is not None and means[1] is not None and means[0] < means[1]
    if drain is None:
        assert shown["censored"] > 0
        assert summary["simulated_s"] == pytest.approx(0.9)
    departed = shown["departed"]
    found = [
        (float(start), float(end), int(whole))
        for start, end, whole in zip(
            times["started_ps"], times["completed_ps"], rows["bytes"], strict=True
        )
        if start is not None and end is not None and 0.2 < end <= 0.9
    ]
    assert departed["connections"] == len(found)
    assert close(departed["completion_time_s"], float(np.mean([e - s for s, e, _ in found])))
    assert close(departed["throughput_bps"], float(np.mean([8 * b / (e - s) for s, e, b in found])))
    assert close(departed["size_bytes"], float(np.mean([b for _, _, b in found])))


def measured(networks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Networks without the bytes of the whole run, drain included."""
    kinds = ("data", "acks", "background", "all")
    return [
        {**network, **{kind: {**network[kind], "run": None} for kind in kinds}}
        for network in networks
    ]


def test_what_is_measured_is_measured_until_the_drain():
    plain, drained = bl.run(ring(), seed=4), bl.run(ring(drain="100 s"), seed=4)
    assert measured(drained.network) == measured(plain.network)
    assert drained.summary["simulated_s"] > plain.summary["simulated_s"] == pytest.approx(0.9)
    for name in ("goodput_bps", "throughput_bps", "rtt_s", "round_trips", "segments_delivered"):
        of_plain = [flow[name] for flow in plain.summary["flows"]]
        assert [flow[name] for flow in drained.summary["flows"]] == of_plain
    assert drained.replications[0].summary["measured_s"] == pytest.approx(0.7)
    assert plain.demand[0][0]["active"] == drained.demand[0][0]["active"]


@pytest.mark.parametrize(("name", "size"), [("ops", "400 KB"), ("wlan", "900 KB")])
def test_networks_of_slots_and_cells_drain_too(name, size):
    document = bl.to_document(EXAMPLES / f"{name}.toml")
    document["flows"][0]["bytes"] = size
    document["run"] = {"duration": "1400 ms", "warmup": "200 ms"}
    plain = bl.run(document)
    document["run"]["drain"] = "500 s"
    drained = bl.run(document)
    assert any(flow["received_s"] is None for flow in plain.summary["flows"])
    for part in ("ops", "wlan"):
        assert drained.summary.get(part) == plain.summary.get(part)
    assert measured(drained.network) == measured(plain.network)
    for before, after in zip(plain.summary["flows"], drained.summary["flows"], strict=True):
        assert after["goodput_bps"] == before["goodput_bps"]
        assert after["rtt_s"] == before["rtt_s"]
        assert after["received_after_s"] <= after["acknowledged_after_s"]
    assert drained.summary["simulated_s"] < 400
    assert not any("run.drain" in warning for warning in drained.warnings)


#: The Abilene backbone of 2004: 11 nodes, 14 fibres, their lengths the distances of the cities.
ABILENE = (
    ("Seattle", "Sunnyvale", 1130),
    ("Seattle", "Denver", 1640),
    ("Sunnyvale", "Los Angeles", 500),
    ("Sunnyvale", "Denver", 1500),
    ("Los Angeles", "Houston", 2210),
    ("Denver", "Kansas City", 900),
    ("Kansas City", "Houston", 1040),
    ("Kansas City", "Indianapolis", 730),
    ("Houston", "Atlanta", 1130),
    ("Indianapolis", "Chicago", 265),
    ("Indianapolis", "Atlanta", 690),
    ("Chicago", "New York", 1145),
    ("Atlanta", "Washington", 870),
    ("New York", "Washington", 330),
)


def abilene(wavelengths: int, drain: str | None) -> dict[str, Any]:
    run = {"duration": "300 ms", **({"drain": drain} if drain else {})}
    ends = [end for a, b, _ in ABILENE for end in (a, b)]
    return {
        "network": {
            "topology": "custom",
            "node": [{"name": name, "role": "both"} for name in dict.fromkeys(ends)],
            "link": [{"from": a, "to": b, "length_km": km} for a, b, km in ABILENE],
            "wavelengths": wavelengths,
            "link_rate": "1 Gb/s",
        },
        "edge": {"assembly": "hybrid", "timer": "1 ms", "size": "125 KB"},
        "access": {"rate": "1 Gb/s", "delay": "50 us"},
        "signalling": {"guard": "200 us"},
        "tcp": {"variant": "sack", "window": 1000},
        "demand": [
            {"label": "web", "flows_per_second": 25, "size": {"distribution": "web-search"}}
        ],
        "run": run,
    }


def test_more_wavelengths_shorten_the_times_of_all_that_began():
    """Those that are done in a short time are the short ones, and more others with more."""
    of_all: dict[int, float] = {}
    of_done: dict[int, float] = {}
    for wavelengths in (1, 16):
        cut = bl.run(abilene(wavelengths, None))
        shown = cut.demand[0][0]
        assert 0 < shown["censored"] < shown["cohort"]
        assert shown["received_mean_s"] is None
        assert any("run.drain" in warning for warning in cut.warnings)
        of_done[wavelengths] = shown["departed"]["completion_time_s"]
        drained = bl.run(abilene(wavelengths, "600 s"))
        shown = drained.demand[0][0]
        assert shown["censored"] == 0
        assert not any("run.drain" in warning for warning in drained.warnings)
        assert shown["received_mean_s"] is not None
        of_all[wavelengths] = shown["received_mean_s"]
    assert of_all[16] < 0.8 * of_all[1]
    assert of_done[16] > of_done[1], "the trap is there"


PLAN = {
    "replications": 4,
    "metrics": {
        "mean_s": "demand.web.received_mean_s",
        "done_s": "demand.web.departed.completion_time_s",
        "bound_s": "demand.web.received_mean_bound_s",
        "p50_s": "demand.web.received_p50_s",
        "flow_s": "flows.mean.received_after_s",
        "censored": "demand.web.censored",
        "began": "demand.web.cohort",
    },
    "schemes": {
        "slow": {"edge.timer": "40 ms"},
        "fast": {"edge.timer": "4 ms"},
    },
}

TIMED = ("mean_s", "done_s", "bound_s", "p50_s", "flow_s")


def test_a_study_draws_no_verdict_from_censored_times(tmp_path):
    cut = bl.study({"scenario": ring(), **PLAN}, out=tmp_path / "cut")
    rows = {row["metric"]: row for row in cut.differences.to_pylist()}
    for name in ("mean_s", "done_s", "bound_s"):
        assert rows[name]["censored"] == 4
        assert rows[name]["difference"] is None
        assert rows[name]["n"] == 0
    assert rows["began"]["censored"] == 0
    p_holm = significance(cut)
    shown = {one.metric: one for one in versus(cut, p_holm)}
    for name in ("mean_s", "done_s", "bound_s"):
        one = shown[name]
        assert (one.higher, one.lower, one.undecided, one.equal, one.censored) == (0, 0, 0, 0, 1)
        assert one.ratios is None
    assert any("censored" in warning and "run.drain" in warning for warning in cut.warnings)
    estimate = cut.summary["results"][0]["estimates"]["slow"]["mean_s"]
    assert (estimate["mean"], estimate["censored"]) == (None, 4)
    report = (tmp_path / "cut" / "report.html").read_text()
    assert "no verdict: censored in 4 runs" in report
    assert "run.drain" in report

    drained = bl.study({"scenario": ring(drain="1000 s"), **PLAN}, out=tmp_path / "drained")
    for row in drained.differences.to_pylist():
        assert row["censored"] == 0
        if row["metric"] in TIMED:
            assert row["difference"] < 0.0
            assert row["n"] == 4
    shown = {one.metric: one for one in versus(drained, significance(drained))}
    assert (shown["p50_s"].lower, shown["p50_s"].censored) == (1, 0)
    assert not any("censored" in warning for warning in drained.warnings)
    assert "no verdict: censored" not in (tmp_path / "drained" / "report.html").read_text()


def test_one_run_that_knows_not_is_enough():
    """The runs that have a value are those whose transfer was short."""
    duration = "700 ms"
    scenario = ring(demand=[], flows=[{"from": "1", "to": "3", "bytes": "150 KB"}])
    scenario["loss"] = {"data": {"process": "bernoulli", "probability": 0.1}}
    scenario["run"] = {"duration": duration, "replications": 12}
    result = bl.run(scenario, seed=1)
    known = [one.summary["flows"][0]["received_after_s"] for one in result.replications]
    assert any(one is None for one in known)
    assert any(one is not None for one in known)
    estimates = result.estimates()
    assert "received_after_s" not in estimates
    assert "completed_s" not in estimates
    assert "goodput_bps" in estimates
    assert any("finite transfers" in warning for warning in result.warnings)
    plan = {
        "scenario": scenario,
        "replications": 12,
        "seed": 1,
        "metrics": ["flows.mean.received_after_s", "flows.mean.goodput_bps"],
    }
    rows = {row["metric"]: row for row in bl.study(plan).estimates.to_pylist()}
    unknown = rows["flows.mean.received_after_s"]
    assert unknown["mean"] is None
    assert unknown["censored"] == sum(one is None for one in known)
    assert rows["flows.mean.goodput_bps"]["censored"] == 0


def test_a_mean_over_flows_needs_all_that_end():
    flows: list[dict[str, Any]] = [
        {"bytes": None, "received_after_s": None},
        {"bytes": 5, "received_after_s": 1.0},
        {"bytes": 5, "received_after_s": 3.0},
    ]
    read = metrics.value_at
    assert read({"flows": flows}, "flows.mean.received_after_s") == 2.0
    flows[2]["received_after_s"] = None
    assert read({"flows": flows}, "flows.mean.received_after_s") is None
    assert metrics.Reader(["flows.max.received_after_s"]).read({"flows": flows}) == (None,)


def test_departures_and_bounds_are_biased_where_some_are_censored():
    demand = {
        "label": "web",
        "censored": 0,
        "unacknowledged": 1,
        "received_mean_bound_s": 1.0,
        "departed": {"completion_time_s": 2.0, "connections": 3},
        "received_p50_s": 0.5,
    }
    summary = {"demand": [demand]}
    paths = [
        "demand.web.departed.completion_time_s",
        "demand.web.received_mean_bound_s",
        "demand.web.received_p50_s",
    ]
    assert metrics.Reader(paths).read(summary) == (None, None, 0.5)
    assert [metrics.value_at(summary, path) for path in paths] == [None, None, 0.5]
    demand["unacknowledged"] = 0
    assert metrics.Reader(paths).read(summary) == (2.0, 1.0, 0.5)
    assert is_biased({"censored": 1}, "departed")
    assert not is_biased({"censored": 1}, "received_p50_s")


@pytest.mark.parametrize(
    ("path", "timed"),
    [
        ("demand.web.received_mean_s", True),
        ("demand.web.acknowledged_p999_s", True),
        ("demand.web.slowdown_p99", True),
        ("demand.web.slowdown.10KB.p99", True),
        ("demand.web.departed.throughput_bps", True),
        ("flows.mean.received_after_s", True),
        ("flows[0].completed_s", True),
        ("demand.web.censored", False),
        ("demand.web.active", False),
        ("demand.web.departed.connections", False),
        ("demand.web.slowdown.10KB.connections", False),
        ("flows.mean.rtt_s", False),
        ("network.assembly_delay_s", False),
    ],
)
def test_which_numbers_are_of_completion_times(path, timed):
    assert is_of_completion(path) is timed


def test_the_tables_of_a_run_say_what_is_not_known(burstlab, tmp_path):
    path = tmp_path / "x.json"
    for drain, mean in ((None, r"over \d"), ("100 s", r"\d")):
        import tomli_w

        path = tmp_path / "x.toml"
        path.write_text(tomli_w.dumps(ring(drain=drain)))
        answer = burstlab("run", str(path))
        assert answer.status == 0
        assert re.search(r"began\s+censored\s+received: mean\s+p50\s+p99\s+ack", answer.out)
        assert re.search(rf"web\s+\d+\s+\d+\s+{mean}", answer.out)
        assert re.search(r"web, from \d+\w?B\s+\d+\s+\d+\s+(unknown|[\d.]+)\s+[\d.]+", answer.out)
        assert ("run.drain" in answer.err) is (drain is None)


def test_a_drain_beyond_all_bounds_is_refused(burstlab, tmp_path):
    import tomli_w

    path = tmp_path / "x.toml"
    path.write_text(tomli_w.dumps(ring(drain="2000000 s")))
    answer = burstlab("run", str(path))
    assert answer.status == 2
    assert "run.drain" in answer.err
    assert "fix: " in answer.err


def demands(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    return summary["demand"]


def alike(first: str | None, second: str | None) -> dict[str, Any]:
    """Two demands of a fibre, with these labels."""
    sizes = zip((first, second), (10, 40), ("5 KB", "20 KB"), strict=True)
    return {
        "network": {"topology": "line", "nodes": 2, "link_rate": "100 Mb/s", "link_delay": "1 ms"},
        "demand": [
            {
                "flows_per_second": rate,
                "per": "network",
                "size": {"mean": mean},
                **({"label": label} if label else {}),
            }
            for label, rate, mean in sizes
        ],
        "run": {"duration": "1 s", "drain": "30 s", "replications": 2},
    }


@pytest.mark.parametrize(
    "labels", [(None, None), ("web", "web"), ("1", "2"), ("v1.5", "max"), ("a", "b")]
)
def test_demands_are_told_apart_whatever_they_are_called(labels: tuple[str | None, str | None]):
    result = bl.run(alike(*labels))
    called = labels if labels == ("a", "b") else ("0", "1")
    for index, name in enumerate(called):
        runs = [demands(one.summary)[index] for one in result.replications]
        paths = metrics.every(result.replications[0].summary)
        for number in ("started", "received_mean_s", "departed.connections"):
            table, _, last = number.rpartition(".")
            values = [(one[table] if table else one)[last] for one in runs]
            estimate = result.estimates()[f"demand.{name}.{number}"]
            assert estimate["n"] == 2
            assert estimate["mean"] == pytest.approx(sum(values) / 2)
            assert f"demand.{name}.{number}" in paths
            found = metrics.value_at(result.replications[0].summary, f"demand.{name}.{number}")
            assert found == values[0]


def test_a_label_of_two_demands_is_no_name():
    summary = bl.run(alike("web", "web")).replications[0].summary
    with pytest.raises(metrics.NoMetric):
        metrics.value_at(summary, "demand.web.started")


def test_what_censored_transfers_leave_unknown_is_so_over_all_demands_and_no_count_is():
    short = {"label": "short", "flows_per_second": 10, "size": {"mean": "5 KB"}, "stop": "300 ms"}
    long = {"label": "long", "flows_per_second": 5, "size": {"mean": "500 KB"}}
    demand = [{"per": "network", **one} for one in (short, long)]
    scenario = {**alike(None, None), "demand": demand, "run": {"duration": "1 s"}}
    result = bl.run(scenario)
    summary = result.replications[0].summary
    known, unknown = demands(summary)
    assert known["censored"] == 0 < unknown["censored"]
    for over in ("max", "mean", "min", "sum"):
        assert metrics.value_at(summary, f"demand.{over}.received_mean_s") is None
    gone = [one["departed"]["connections"] for one in demands(summary)]
    assert metrics.value_at(summary, "demand.sum.departed.connections") == sum(gone)
    assert result.estimates()["demand.long.departed.connections"]["mean"] == gone[1]
    reader = metrics.Reader(["demand.long.departed.connections", "demand.long.departed.mean_s"])
    assert reader.read(summary)[0] == gone[1]


@pytest.mark.parametrize("profile", ["ns2", "rfc", "linux"])
def test_a_last_write_of_few_bytes_has_to_arrive_before_the_transfer_ends(profile):
    """It is no part of a segment that was sent before."""
    writes = {"0 s": 5_000, "1 s": 100, "2 s": 300}
    script = [{"at": at, "bytes": f"{count} B"} for at, count in writes.items()]
    scenario = {"tcp": {"profile": profile}, "flows": [{"script": script}]}
    result = bl.run({**scenario, "run": {"duration": "20 s"}})
    (flow,) = result.summary["flows"]
    assert flow["bytes_delivered"] == sum(writes.values())
    assert 2.0 < flow["received_s"] < flow["completed_s"] < 3.0
    assert result.simulated_s < 20.0, "the run ends with its last flow"
