"""Fibres and nodes that go down: losses, their duration, and the alternative paths."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import burstlab as bl
from burstlab.errors import ScenarioError
from burstlab.statistics import mean_ci95

#: A burst of 12.5 kB takes 10 us at 10 Gb/s.
LENGTH = {"mean": "12.5 KB"}


def scenario(topology: dict[str, Any], **more: Any) -> dict[str, Any]:
    network = {"link_delay": "10 us", "wavelengths": 16, **topology}
    run = {"duration": "1 s", "seed": 7, **more.pop("run", {})}
    return {"network": network, "edge": {"port": "shared"}, **more, "run": run}


def lost_to(result: bl.Result, cause: str) -> list[int]:
    alls = [one["all"] for one in result.network]
    return [
        sum(entry["bursts"] for entry in one["causes"] if entry["cause"] == cause) for one in alls
    ]


def conserved(result: bl.Result) -> None:
    for one in result.replications:
        counters: dict[str, Any] = {**one.summary["counters"]}
        for kind in ("packets", "acks", "bursts", "ack_bursts", "background_bursts"):
            ends = ("delivered", "lost", "in_flight")
            assert counters[f"{kind}_sent"] == sum(counters[f"{kind}_{end}"] for end in ends), kind


def test_the_share_of_bursts_that_arrive_is_that_of_time_up():
    """Poisson arrivals see time averages: without another path, loss is the share of time down."""
    down = [(0.1, 0.25), (0.4, 0.45), (0.43, 0.6), (0.9, None)]
    failures = [
        {"link": ["1", "2"], "down": f"{a} s", **({} if b is None else {"up": f"{b} s"})}
        for a, b in down
    ]
    load = [{"from": "1", "to": "2", "erlangs": 0.2, "length": LENGTH}]
    result = bl.run(
        scenario({"topology": "line", "nodes": 2}, bursts=load, failures=failures),
        replications=8,
    )
    conserved(result)
    found = [one["all"]["burst_loss_ratio"] for one in result.network]
    estimate = mean_ci95(found)
    up = 1 - (0.15 + 0.2 + 0.1)
    # A burst is on the fibre for 20 us of its own: that much more is down each of three times.
    edges = 3 * 20e-6
    assert estimate.low - edges < 1 - up < estimate.high + edges
    assert estimate.ci95 is not None and estimate.ci95 < 0.01
    for one in result.network:
        there, back = one["links"]
        assert there["up"] == pytest.approx(up, abs=1e-12)
        assert back["up"] == pytest.approx(up, abs=1e-12)


def test_routes_follow_after_their_time_and_come_back():
    """On a ring the burst takes the long path from `reroute` after the fibre went down."""
    failure = {"link": ["1", "2"], "down": "200 ms", "up": "600 ms", "reroute": "50 ms"}
    load = [{"from": "1", "to": "2", "erlangs": 0.5, "length": LENGTH}]
    result = bl.run(
        scenario({"topology": "ring", "nodes": 5}, bursts=load, failures=[failure]),
        trace="bursts",
    )
    conserved(result)
    bursts = result.bursts.to_pylist()
    lost = [burst for burst in bursts if burst["fate"] == "lost"]
    assert {burst["cause"] for burst in lost} == {"failure"}
    assert {burst["node"] for burst in lost} == {1}
    times = [burst["lost_ps"] for burst in lost]
    assert min(times) >= 200 * 10**9 and max(times) < 250 * 10**9
    # Poisson: 50,000 bursts a second for 50 ms.
    assert abs(len(lost) - 2500) < 5 * 50
    hops = Counter(
        (burst["hops"], 0.25 <= burst["closed_ps"] * 1e-12 < 0.65)
        for burst in bursts
        if burst["fate"] == "delivered"
    )
    assert set(hops) == {(1, False), (4, True)}


def test_a_burst_on_the_fibre_is_lost_as_it_goes_down():
    """A long fibre: what has not left it by then is lost, what has is not."""
    failure = {"link": ["2", "3"], "down": "100 ms", "up": "100100 us"}
    load = [{"from": "1", "to": "4", "erlangs": 0.5, "length": LENGTH}]
    long = {"topology": "line", "nodes": 4, "link_delay": "5 ms"}
    result = bl.run(
        scenario(long, bursts=load, failures=[failure], run={"duration": "200 ms"}), trace="bursts"
    )
    conserved(result)
    struck = [burst for burst in result.bursts.to_pylist() if burst["cause"] == "failure"]
    assert {burst["node"] for burst in struck} == {2}
    numbers = {burst["burst"] for burst in struck}
    second = [
        (row["burst"] in numbers, row["departed_ps"] * 1e-9, row["end_ps"] * 1e-9)
        for row in result.table("bursts_hops").to_pylist()
        if (row["from"], row["to"]) == (2, 3) and row["wavelength"] is not None
    ]
    for is_lost, departs_ms, ends_ms in second:
        on_it = ends_ms + 5 > 100 and departs_ms < 100.1
        assert is_lost == on_it, (departs_ms, ends_ms)
    assert sum(is_lost for is_lost, *_ in second) > 200


def test_a_node_takes_its_fibres_with_it():
    failure = {"node": "hub", "down": "50 ms", "up": "70 ms"}
    load = [{"erlangs": 0.2, "length": LENGTH}]
    star = {"topology": "star", "nodes": 3, "link_delay": "1 ms"}
    result = bl.run(
        scenario(star, bursts=load, failures=[failure], run={"duration": "100 ms"}), trace="bursts"
    )
    conserved(result)
    lost = [burst for burst in result.bursts.to_pylist() if burst["cause"] == "failure"]
    assert {burst["node"] for burst in lost} == {1, 2, 3, 4}, "at edges, and in the hub"
    assert all(link["up"] == pytest.approx(0.8) for link in result.network[0]["links"])


def test_one_direction_may_fail_alone():
    failure = {"link": ["1", "2"], "one_way": True, "down": "0 s"}
    load = [{"erlangs": 0.2, "length": LENGTH}]
    found = bl.run(
        scenario(
            {"topology": "line", "nodes": 2},
            bursts=load,
            failures=[failure],
            run={"duration": "100 ms"},
        )
    )
    routes = {route["from"]: route for route in found.network[0]["all"]["routes"]}
    assert routes["1"]["loss_ratio"] == 1.0
    assert routes["2"]["loss_ratio"] == 0.0


def test_deflection_finds_a_way_at_once():
    """A node knows of its own fibre before routes follow."""
    failure = {"link": ["1", "2"], "down": "100 ms"}
    load = [{"from": "1", "to": "2", "erlangs": 0.5, "length": LENGTH}]
    core = {"contention": ["deflection"], "deflection": {"hop_limit": 4}}
    base = scenario(
        {"topology": "ring", "nodes": 3},
        bursts=load,
        failures=[failure],
        run={"duration": "200 ms"},
    )
    found = bl.run({**base, "core": core})
    resolutions = found.network[0]["all"]["resolutions"]
    # All that set out after the fibre went down, but for those that were on it.
    assert resolutions["deflected"] > 4000
    assert sum(lost_to(found, "failure")) < 20
    assert resolutions["contentions"] == 0, "nothing contended"


@pytest.mark.parametrize(
    "signalling", [{}, {"protocol": "jit"}, {"protocol": "two-way", "requests": 3}]
)
@pytest.mark.parametrize("port", ["shared", "fifo"])
@pytest.mark.parametrize("choice", ["first", "round-robin", "random", "ecmp"])
def test_flows_live_through_it(signalling, port, choice):
    """Whatever the rules: conserved, the same again and cut in two, and TCP ends its transfers."""
    network = {
        "topology": "torus",
        "dimensions": [3, 3],
        "link_delay": "100 us",
        "route_choice": choice,
        "routes_per_pair": 3,
    }
    base = scenario(
        network,
        signalling=signalling,
        failures=[
            {"link": ["1-1", "1-2"], "down": "5 ms", "up": "30 ms", "reroute": "4 ms"},
            {"node": "2-2", "down": "10 ms", "up": "12 ms"},
            {"node": "3-3", "down": "20 ms", "up": "40 ms", "reroute": "1 ms"},
        ],
        demand=[{"pattern": "permutation", "every": "5 ms", "size": {"mean": "40 KB"}}],
        bursts=[{"erlangs": 0.05, "length": LENGTH}],
        run={"duration": "50 ms", "drain": "20 s"},
    )
    base["edge"] = {"port": port, "assembly": "timer", "timer": "50 us"}
    # Transfers end soon: what others send meanwhile is most of the work.
    base["access"] = {"rate": "100 Mb/s", "delay": "100 us"}
    base["tcp"] = {"rto_min": "10 ms", "rto_initial": "50 ms"}
    result = bl.run(base)
    conserved(result)
    assert sum(lost_to(result, "failure")) > 10
    [demand] = result.replications[0].summary.get("demand", [])
    # Ten rounds of nine nodes: the one at 50 ms, as the measured time is over, does not begin.
    assert demand["started"] == demand["completed"] == 90
    assert bl.run(base, trace=("bursts", "packets", "ledger")).fingerprint == result.fingerprint


def test_time_outs_lead_back_to_a_failure():
    base = scenario(
        {"topology": "line", "nodes": 3, "link_delay": "1 ms"},
        flows=[{"bytes": "100 KB"}],
        failures=[{"link": ["2", "3"], "down": "60 ms", "up": "120 ms"}],
        access={"delay": "100 us"},
        run={"duration": "5 s"},
    )
    base["edge"] = {"assembly": "timer", "timer": "100 us"}
    result = bl.run(base, trace=("ledger", "packets"))
    causes = {row["cause"] for row in result.table("ledger_losses").to_pylist()}
    assert causes == {"failure"}
    assert result.replications[0].summary["flows"][0]["timeouts"] >= 1
    assert result.replications[0].summary["flows"][0]["received_after_s"]


def test_a_checkpoint_in_an_outage_goes_on_as_if_never_cut(tmp_path):
    base = scenario(
        {"topology": "ring", "nodes": 5},
        bursts=[{"erlangs": 0.4, "length": LENGTH}],
        failures=[{"link": ["1", "2"], "down": "100 ms", "up": "900 ms", "reroute": "10 ms"}],
    )
    whole = bl.run(base)
    kept: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_every": "50 ms"}

    class Stop(Exception):
        """Ends the run somewhere in the outage."""

    def stop(done: float) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bl.run(base, progress=stop, **kept)
    assert bl.run(base, resume=True, **kept).fingerprint == whole.fingerprint


@pytest.mark.parametrize(
    ("failure", "path", "says"),
    [
        ({"down": "1 s"}, "failures[0].link", "nothing is named"),
        ({"link": ["1", "2"], "node": "1"}, "failures[0].node", "link is given too"),
        ({"link": ["1", "3"]}, "failures[0].link", "no such fibre"),
        ({"link": ["1", "x"]}, "failures[0].link[1]", "no such node"),
        ({"link": ["1", "1"]}, "failures[0].link", "no such fibre"),
        ({"node": "9"}, "failures[0].node", "no such node"),
        ({"node": "1", "one_way": True}, "failures[0].one_way", "all fibres"),
        ({"node": "1", "down": "2 s", "up": "2 s"}, "failures[0].up", "not after down"),
        ({"node": "1", "down": "3000000 s"}, "failures[0].down", "too l"),
    ],
)
def test_mistakes_are_named(failure, path, says):
    load = [{"length": LENGTH}]
    with pytest.raises(ScenarioError) as refused:
        bl.resolve(scenario({"topology": "line", "nodes": 3}, bursts=load, failures=[failure]))
    assert refused.value.path == path
    assert says in str(refused.value)
    assert refused.value.fix


def test_a_path_and_slots_have_none():
    for network in ({"topology": "path"}, {"topology": "line"}):
        ops = {} if network["topology"] == "path" else {"ops": {}}
        with pytest.raises(ScenarioError) as refused:
            bl.resolve({"network": network, **ops, "failures": [{"node": "1"}]})
        assert refused.value.path == "failures"
