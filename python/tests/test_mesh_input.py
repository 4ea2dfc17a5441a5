"""Bad input of a mesh: exit status 2, a message with field, value and fix, never a traceback."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab.documents.schema import scenario_schema
from burstlab.errors import ScenarioError
from burstlab.loading import set_at

LINE = {"network": {"topology": "line", "nodes": 3}}
NODES = [{"name": name} for name in "abc"]
ROW = [{"from": "a", "to": "b", "length_km": 10}, {"from": "b", "to": "c", "length_km": 10}]


def custom(**fields: Any) -> dict[str, Any]:
    return {"network": {"topology": "custom", "node": NODES, "link": ROW, **fields}}


def line(**tables: Any) -> dict[str, Any]:
    return {**LINE, **tables}


def sizes(**fields: Any) -> dict[str, Any]:
    return line(demand=[{"size": fields}])


def cwnd(**fields: Any) -> dict[str, Any]:
    return line(edge={"assembly": "cwnd-classes", **fields})


TIMERS = ["1 ms", "2 ms", "3 ms"]

# The mistake, the scenario, the field in the message, and further words of it.
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "unreachable destination",
        custom(link=[{**link, "one_way": True} for link in ROW]),
        "network.link",
        "no route",
    ),
    ("disconnected graph", custom(link=ROW[:1]), "network", "c"),
    (
        "more converters than wavelengths of an output",
        line(
            network={**LINE["network"], "wavelengths": 4},
            core={"converters": {"number": 5, "shared": "output"}},
        ),
        "core.converters.number",
        "at most 4",
    ),
    (
        "more converters than wavelengths of a node",
        line(network={**LINE["network"], "wavelengths": 4}, core={"converters": {"number": 9}}),
        "core.converters.number",
        "at most 8",
    ),
    (
        "converters without conversion",
        line(
            network={**LINE["network"], "wavelengths": 4},
            core={"conversion": "none", "converters": {"number": 1}},
        ),
        "core.converters.number",
        "remove it, or change core.conversion",
    ),
    (
        "converters of one wavelength",
        line(core={"converters": {"number": 1}}),
        "core.converters.number",
        "every fibre has one wavelength",
    ),
    (
        "converters without a number",
        line(core={"converters": {"shared": "node"}}),
        "core.converters",
        "number",
    ),
    ("zero wavelengths", line(network={"topology": "line", "wavelengths": 0}), "wavelengths", "0"),
    (
        "zero wavelengths of a fibre",
        custom(link=[{**ROW[0], "wavelengths": 0}, ROW[1]]),
        "network.link[0].wavelengths",
        "0",
    ),
    (
        "a route over a missing link",
        custom(route=[{"from": "a", "to": "c", "via": []}]),
        "network.route[0]",
        "link",
    ),
    (
        "a route to nowhere",
        custom(route=[{"from": "a", "to": "z", "via": ["b"]}]),
        "network.route[0].to",
        "z",
    ),
    (
        "a link to nowhere",
        custom(link=[*ROW, {"from": "a", "to": "z", "length_km": 1}]),
        "network.link[2].to",
        "z",
    ),
    ("a link without length", custom(link=[{"from": "a", "to": "b"}, ROW[1]]), "link[0]", "length"),
    ("a node twice", custom(node=[*NODES, {"name": "a"}]), "network.node[3]", "a"),
    (
        "an offset too small",
        line(signalling={"offset": "12 us"}),
        "signalling.offset",
        "write more than",
    ),
    (
        "a guard too small",
        line(signalling={"guard": "0 s", "switching": "5 us"}),
        "signalling.guard",
        "write more than",
    ),
    (
        "a switch slower than the offset",
        {
            "network": {"topology": "line", "nodes": 2},
            "signalling": {"switching": "1 ms", "guard": "1 us"},
        },
        "signalling.guard",
        "write more than",
    ),
    (
        "ages of processing",
        line(signalling={"processing": "2000 s"}),
        "signalling.processing",
        "1000 s",
    ),
    (
        "too many processors",
        line(signalling={"processors": 4_000_000_000}),
        "signalling.processors",
        "1000",
    ),
    (
        "a header of a gigabyte",
        line(signalling={"header_size": "1 GB"}),
        "signalling.header_size",
        "65535",
    ),
    (
        "a burst of ages",
        {
            "network": {"topology": "line", "link_rate": "1 Mb/s"},
            "signalling": {"guard": "9 ms"},
            "bursts": [{"length": {"mean": "1 GB"}}],
        },
        "bursts[0].length",
        "link_rate",
    ),
    (
        "padding of ages",
        {
            "network": {"topology": "line", "link_rate": "1 Mb/s"},
            "signalling": {"guard": "9 ms"},
            "edge": {"min_size": "1 GB"},
        },
        "edge.min_size",
        "link_rate",
    ),
    ("a class", line(flows=[{"class": 4_294_967_295}]), "flows[0].class", "999"),
    (
        "too many queues",
        line(
            network={"topology": "line", "nodes": 700},
            edge={"queues": "class", "burstifiers": 1000},
            flows=[{"class": 9}],
        ),
        "edge.burstifiers",
        "queues",
    ),
    ("no control channel", line(signalling={"channels": 0}), "signalling.channels", "1 to 1000"),
    ("no processor", line(signalling={"processors": 0}), "signalling.processors", "1 to 1000"),
    ("a slow control channel", line(signalling={"rate": "1 b/s"}), "signalling.rate", "100 b/s"),
    ("a protocol", line(signalling={"protocol": "jut"}), "signalling.protocol", "jet"),
    ("a scheduler", line(core={"scheduler": "lauc-v"}), "core.scheduler", "lauc-vf"),
    (
        "two-way and deflection",
        line(signalling={"protocol": "two-way"}, core={"contention": ["deflection"]}),
        "core.contention[0]",
        "two-way",
    ),
    (
        "a step twice",
        line(core={"contention": ["deflection", "deflection"]}),
        "core.contention[1]",
        "twice",
    ),
    ("a step", line(core={"contention": ["pray"]}), "core.contention[0]", "deflection"),
    ("a limit without range", line(core={"conversion": "limited"}), "conversion_range", "add"),
    ("a range without limit", line(core={"conversion_range": 2}), "conversion_range", "limited"),
    (
        "delay lines without delays",
        line(core={"contention": ["delay-line"]}),
        "core.delay_lines.delays",
        "0.1 ms",
    ),
    (
        "delays without delay lines",
        line(core={"delay_lines": {"delays": ["1 ms"]}}),
        "core.delay_lines.delays",
        "contention",
    ),
    (
        "a delay of nothing",
        line(core={"contention": ["delay-line"], "delay_lines": {"delays": ["0 s"]}}),
        "core.delay_lines.delays[0]",
        "positive",
    ),
    (
        "more passes at a node than on a path",
        line(
            core={
                "contention": ["delay-line"],
                "delay_lines": {"delays": ["1 ms"], "passes": 3, "passes_on_path": 2},
            }
        ),
        "core.delay_lines.passes_on_path",
        "at least core.delay_lines.passes",
    ),
    (
        "more passes on a path than it has nodes with lines",
        line(
            core={
                "contention": ["delay-line"],
                "delay_lines": {"delays": ["1 ms"], "passes_on_path": 2},
            },
            edge={"port": "shared"},
        ),
        "core.delay_lines.passes_on_path",
        "write at most 1, or remove it",
    ),
    (
        "passes on paths with one node that delays",
        line(
            core={
                "contention": ["delay-line"],
                "delay_lines": {"delays": ["1 ms"], "passes_on_path": 1},
            }
        ),
        "core.delay_lines.passes_on_path",
        "fix: remove it",
    ),
    (
        "a node that differs in nothing",
        custom(node=[{"name": "a", "core": {}}, *NODES[1:]]),
        "network.node[0].core",
        "nothing differs",
    ),
    (
        "a node with a range and full conversion",
        custom(node=[{"name": "a", "core": {"conversion_range": 2}}, *NODES[1:]]),
        "network.node[0].core.conversion_range",
        "limited",
    ),
    (
        "a node with delay lines that it does not use",
        custom(node=[{"name": "a", "core": {"delay_lines": {"delays": ["1 ms"]}}}, *NODES[1:]]),
        "network.node[0].core.delay_lines.delays",
        "delay-line",
    ),
    (
        "a node that bounds the passes of a path",
        custom(
            node=[{"name": "a", "core": {"delay_lines": {"passes_on_path": 2}}}, *NODES[1:]],
        ),
        "network.node[0].core.delay_lines.passes_on_path",
        "write core.delay_lines.passes_on_path",
    ),
    (
        "a node with more converters than its outputs have wavelengths",
        custom(
            node=[{"name": "a", "core": {"converters": {"number": 5}}}, *NODES[1:]],
            wavelengths=4,
        ),
        "network.node[0].core.converters.number",
        "at most 4",
    ),
    (
        "a slotted network with nodes that differ",
        custom(node=[{"name": "a", "core": {"conversion": "none"}}, *NODES[1:]]) | {"ops": {}},
        "network.node[0].core",
        "remove [ops]",
    ),
    (
        "a group without nodes",
        line(core={"group": [{"set": {"conversion": "none"}}]}),
        "core.group[0].nodes",
        "first = 3",
    ),
    (
        "a group that names and counts nodes",
        line(core={"group": [{"nodes": ["1"], "first": 2, "set": {"conversion": "none"}}]}),
        "core.group[0].first",
        "keep one of the two",
    ),
    (
        "a group of an unknown node",
        line(core={"group": [{"nodes": ["9"], "set": {"conversion": "none"}}]}),
        "core.group[0].nodes[0]",
        "9",
    ),
    (
        "a group of more nodes than there are",
        line(core={"group": [{"first": 4, "set": {"conversion": "none"}}]}),
        "core.group[0].first",
        "at most 3",
    ),
    (
        "an order of nodes that are named",
        line(core={"group": [{"nodes": ["1"], "by": "routes", "set": {"conversion": "none"}}]}),
        "core.group[0].by",
        "first",
    ),
    (
        "no attempts",
        line(core={"contention": ["retransmission"], "retransmission": {"attempts": 0}}),
        "core.retransmission.attempts",
        "at least 1",
    ),
    ("edge.offset on a mesh", line(edge={"offset": "1 ms"}), "edge.offset", "signalling.offset"),
    ("edge.ack.offset", line(edge={"ack": {"offset": "1 ms"}}), "edge.ack.offset", "path"),
    (
        "core.forwarding on a mesh",
        line(core={"forwarding": "store-and-forward"}),
        "core.forwarding",
        "remove",
    ),
    (
        "core_nodes on a mesh",
        line(network={"topology": "line", "core_nodes": 3}),
        "network.core_nodes",
        "line",
    ),
    ("signalling on a path", {"signalling": {"guard": "2 us"}}, "signalling", "path"),
    ("a scheduler on a path", {"core": {"scheduler": "horizon"}}, "core", "path"),
    ("demand on a path", {"demand": [{"size": {"mean": "1 KB"}}]}, "demand", "path"),
    ("bursts on a path", {"bursts": [{"length": {"mean": "1 KB"}}]}, "bursts", "path"),
    ("queues on a path", {"edge": {"queues": "flow"}}, "edge.queues", "path"),
    ("a port on a path", {"edge": {"port": "shared"}}, "edge.port", "path"),
    ("samples of a path", {"run": {"sample": "1 ms"}}, "run.sample", "path"),
    ("wavelengths on a path", {"network": {"wavelengths": 4}}, "network.wavelengths", "path"),
    ("a flow from nowhere", line(flows=[{"from": "9", "to": "1"}]), "flows[0].from", "no such"),
    ("a flow to itself", line(flows=[{"from": "1", "to": "1"}]), "flows[0].to", "different"),
    (
        "a flow from a core node",
        {"network": {"topology": "star"}, "flows": [{"from": "hub", "to": "1"}]},
        "flows[0].from",
        "core",
    ),
    ("traffic on a side", line(traffic=[{"side": "sender"}]), "traffic[0].side", "path"),
    ("traffic to nowhere", line(traffic=[{"from": "1", "to": "x"}]), "traffic[0].to", "x"),
    (
        "bursts to themselves",
        line(bursts=[{"from": "2", "to": "2", "length": {"mean": "1 KB"}}]),
        "bursts[0].to",
        "different",
    ),
    (
        "a load below nothing",
        line(bursts=[{"erlangs": -1.0, "length": {"mean": "1 KB"}}]),
        "bursts[0].erlangs",
        "-1",
    ),
    (
        "more bursts than fit",
        line(bursts=[{"erlangs": 1e6, "length": {"mean": "1 B"}}]),
        "bursts[0].erlangs",
        "longer bursts",
    ),
    (
        "a demand that ends before it starts",
        line(demand=[{"start": "2 s", "stop": "1 s", "size": {"mean": "1 KB"}}]),
        "demand[0].stop",
        "later",
    ),
    (
        "no arrivals",
        line(demand=[{"flows_per_second": 0.0, "size": {"mean": "1 KB"}}]),
        "demand[0].flows_per_second",
        "0",
    ),
    (
        "a matrix without entries",
        line(demand=[{"destination": "matrix", "size": {"mean": "1 KB"}}]),
        "demand[0].matrix",
        "needs",
    ),
    (
        "weights without gravity",
        line(demand=[{"weights": [{"node": "1", "weight": 2.0}], "size": {"mean": "1 KB"}}]),
        "demand[0].weights",
        "uniform",
    ),
    (
        "a weight of nobody",
        line(
            demand=[
                {
                    "destination": "gravity",
                    "weights": [{"node": "zurich", "weight": 2.0}],
                    "size": {"mean": "1 KB"},
                }
            ]
        ),
        "demand[0].weights[0].node",
        "zurich",
    ),
    ("no size", line(demand=[{}]), "demand[0].size.mean", "add"),
    (
        "an impossible mean",
        sizes(distribution="bounded-pareto", min="1 KB", max="2 KB", mean="3 KB"),
        "demand[0].size.mean",
        "range",
    ),
    (
        "a mean below the least",
        sizes(distribution="pareto", min="2 KB", mean="1 KB"),
        "demand[0].size.mean",
        "above",
    ),
    (
        "a shape without mean",
        sizes(distribution="pareto", min="2 KB", shape=0.9),
        "demand[0].size.shape",
        "above 1",
    ),
    (
        "a mean of web search",
        sizes(distribution="web-search", mean="1 KB"),
        "demand[0].size.mean",
        "remove",
    ),
    ("no points", sizes(distribution="empirical"), "demand[0].size.cdf", "file"),
    (
        "points that do not end",
        sizes(distribution="empirical", cdf=[["1 KB", 0.5]]),
        "demand[0].size.cdf[0]",
        "probability",
    ),
    ("no thresholds", cwnd(class_timers=TIMERS), "edge.cwnd_thresholds", "[32, 100]"),
    ("no timers", cwnd(cwnd_thresholds=[8, 32]), "edge.class_timers", "add"),
    (
        "too few timers",
        cwnd(cwnd_thresholds=[8, 32], class_timers=TIMERS[:2]),
        "edge.class_timers",
        "3 timers",
    ),
    (
        "falling thresholds",
        cwnd(cwnd_thresholds=[32, 8], class_timers=TIMERS),
        "edge.cwnd_thresholds",
        "rising",
    ),
    (
        "a timer of nothing",
        cwnd(cwnd_thresholds=[8, 32], class_timers=["0 s", "1 ms", "2 ms"]),
        "edge.class_timers[0]",
        "positive",
    ),
    (
        "a common timer",
        cwnd(cwnd_thresholds=[8, 32], class_timers=TIMERS, timer="1 ms"),
        "edge.timer",
        "remove",
    ),
    ("thresholds of a timer", line(edge={"cwnd_thresholds": [8]}), "edge.cwnd_thresholds", "none"),
    (
        "an adaptive timer without bound",
        line(edge={"assembly": "adaptive", "timer": "5 ms", "size": "9 KB", "weight": 0.5}),
        "edge.timer_min",
        "add",
    ),
    (
        "a weight of two",
        line(
            edge={
                "assembly": "adaptive",
                "timer": "5 ms",
                "timer_min": "1 ms",
                "size": "9 KB",
                "weight": 2.0,
            }
        ),
        "edge.weight",
        "2",
    ),
    ("no burstifier", line(edge={"burstifiers": 0}), "edge.burstifiers", "0"),
    (
        "burstifiers of a flow",
        line(edge={"queues": "flow", "burstifiers": 3}),
        "edge.burstifiers",
        "remove",
    ),
    ("a class of ACKs", line(edge={"ack": {"class": 2}}), "edge.ack.class", "2"),
    ("a sample of no time", line(run={"sample": "0 s"}), "run.sample", "at least"),
    ("samples beyond number", line(run={"sample": "10 ns"}), "run.sample", "1 us"),
]


def wrote(path: Any, scenario: dict[str, Any]) -> Any:
    path.write_text(tomli_w.dumps(scenario))
    return path


@pytest.mark.parametrize(
    ("scenario", "names", "says"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_a_wrong_field(burstlab, tmp_path, scenario, names, says):
    answer = burstlab("run", wrote(tmp_path / "wrong.toml", scenario))
    assert answer.status == 2, answer
    assert answer.out == ""
    head, fix = answer.err.strip().split("\n  fix: ")
    assert head.startswith("error: ")
    assert names in head.partition(": ")[2].partition(": ")[0]
    assert says in answer.err
    assert fix
    assert "Traceback" not in answer.err


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/>"""

FILES = [
    ("net.graphml", GRAPHML, "not valid GraphML"),
    ("net.graphml", "", "not valid GraphML"),
    ("net.gml", "graph [ node [ id 1 ", "not valid GML"),
    ("net.json", '{"nodes": [', "line 1"),
    ("net.json", '{"nodes": 3}', "nodes"),
    ("net.txt", "hello", "line 1"),
    ("net.txt", "?SNDlib native format\nNODES ( a ( 1 2 )", "line 2"),
    ("net.toml", "[[node]]\nname = 3", "node[0].name"),
    ("net.toml", "[[node", "not valid TOML"),
    ("net.csv", "a,b\nc", "line 2"),
    ("net.csv", "a,b,far", "line 1, km"),
    ("net.yaml", "a,b", ".graphml"),
]

#: Files that give no length, and the place of the link.
WITHOUT_LENGTHS = [
    ("net.graphml", GRAPHML + "</graph></graphml>", "edge a to b"),
    ("net.csv", "a,b", "net.csv, line 1"),
]


@pytest.mark.parametrize(("name", "content", "says"), FILES)
def test_a_malformed_topology(burstlab, tmp_path, name, content, says):
    refused(burstlab, tmp_path, name, content, says)


@pytest.mark.parametrize(("name", "content", "place"), WITHOUT_LENGTHS)
def test_a_topology_without_the_lengths_that_are_asked_of_it(
    burstlab, tmp_path, name, content, place
):
    refused(burstlab, tmp_path, name, content, place, lengths="given")


def refused(
    burstlab: Any, tmp_path: Any, name: str, content: str, says: str, **fields: str
) -> None:
    """See to it that `run` and `check` refuse a file of a topology, and say what is wrong."""
    (tmp_path / name).write_text(content)
    network = {"topology": "custom", "file": name, **fields}
    scenario = wrote(tmp_path / "x.toml", {"network": network})
    for command in ("run", "check"):
        answer = burstlab(command, scenario)
        assert answer.status == 2, answer
        assert name in answer.err
        assert says in answer.err
        assert "fix: " in answer.err
        assert answer.out == ""


@pytest.mark.parametrize(
    ("content", "where", "says"),
    [
        (None, "sizes.csv", "cannot be read"),
        ("", "sizes.csv", "no points"),
        ("# nothing\n", "sizes.csv", "no points"),
        ("bytes,probability\n100\n", "line 2 = 100", "1 columns"),
        ("100,0.5\n1 KB,1\n", "line 2 = 1 KB", "whole number"),
        ("100,0.5\n\n-1,1\n", "line 3 = -1", "whole number"),
        ("100,0.5\n200,1.5\n", "line 2 = 1.5", "0 to 1"),
        ("100,half\n", "line 1 = half", "0 to 1"),
        ("100,nan\n", "line 1 = nan", "0 to 1"),
        ("100,0.5\n50,1\n", "line 2 = 50,1", "rising"),
        ("100,0.5\n200,0.4\n", "line 2 = 200,0.4", "rising"),
        ("100,0.5\n200,0.9\n", "sizes.csv = 200,0.9", "probability 1"),
        (b"\xff\xfe", "sizes.csv", "UTF-8"),
    ],
)
@pytest.mark.parametrize(("table", "field"), [("demand", "size"), ("bursts", "length")])
def test_a_malformed_file_of_sizes(burstlab, tmp_path, table, field, content, where, says):
    if content is not None:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / "sizes.csv").write_bytes(data)
    size = {"distribution": "empirical", "file": "sizes.csv"}
    answer = burstlab("run", wrote(tmp_path / "x.toml", line(**{table: [{field: size}]})))
    assert answer.status == 2, answer
    assert where in answer.err
    assert says in answer.err
    assert "fix: " in answer.err


def test_sizes_come_from_a_file_beside_the_scenario(burstlab, tmp_path, monkeypatch):
    (tmp_path / "sizes.csv").write_text(
        "# measured last year\nbytes,probability\n1000,0.25  # a quarter\n\n3000, 1\n"
    )
    size = {"distribution": "empirical", "file": "sizes.csv"}
    scenario = wrote(
        tmp_path / "x.toml",
        line(demand=[{"flows_per_second": 50.0, "size": size}], bursts=[{"length": size}]),
    )
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    document = bl.to_document(scenario)
    points = [["1000 B", 0.25], ["3000 B", 1.0]]
    assert document["demand"][0]["size"] == {"distribution": "empirical", "cdf": points}
    answer = burstlab("run", scenario, "--json", "--out", "out", "--set", "run.duration=1 s")
    assert answer.status == 0
    # 1000 B with a quarter, else evenly from 1000 to 3000 B.
    assert 1200 < answer.json()["demand"][0]["departed"]["size_bytes"] < 2300
    again = bl.run("out/scenario.toml")
    assert again.fingerprint == answer.json()["fingerprint"]


def test_settings_can_name_a_file(burstlab, tmp_path):
    toml = tomli_w.dumps({"node": NODES[:2], "link": ROW[:1]})
    (tmp_path / "small.toml").write_text(toml)
    (tmp_path / "large.toml").write_text(tomli_w.dumps({"node": NODES, "link": ROW}))
    network = {"topology": "custom", "file": "small.toml"}
    scenario = wrote(tmp_path / "x.toml", {"network": network, "run": {"duration": "1 s"}})
    for settings_, count in ((), 2), (("--set", "network.file=large.toml"), 3):
        answer = burstlab("run", scenario, "--json", *settings_)
        assert len(answer.json()["network"]["nodes"]) == count


def test_a_file_and_points_are_one_too_many(burstlab, tmp_path):
    size = {"distribution": "empirical", "file": "a.csv", "cdf": [["1 KB", 1.0]]}
    answer = burstlab("run", wrote(tmp_path / "x.toml", line(demand=[{"size": size}])))
    assert answer.status == 2
    assert "demand[0].size.file = a.csv: cdf is given too" in answer.err


TIME = st.sampled_from(["1 us", "50 us", "1 ms", "20 ms"])
SIZE = st.sampled_from(["40 B", "1 KB", "20 KB", "1 MB"])
#: Names that most of the networks below have.
NAME = st.sampled_from(["1", "2"])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def choice(definition: str) -> st.SearchStrategy[str]:
    """Any of the names that the schema has for a choice."""
    schema = scenario_schema()["$defs"][definition]
    return st.sampled_from([each["const"] for each in schema["oneOf"] if "const" in each])


def just(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    known = st.SearchStrategy
    parts = {k: v if isinstance(v, known) else st.just(v) for k, v in fields.items()}
    return st.fixed_dictionaries(parts)


def both(
    first: st.SearchStrategy[dict[str, Any]], second: st.SearchStrategy[dict[str, Any]]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(first, second).map(lambda pair: {**pair[0], **pair[1]})


LENGTHS = st.one_of(
    just(distribution=st.sampled_from(["fixed", "exponential"]), mean=SIZE),
    just(distribution="pareto", min=SIZE, shape=st.sampled_from([1.2, 3.0])),
    just(distribution="bounded-pareto", min="1 KB", max="1 MB", mean="20 KB"),
    just(distribution="log-normal", mean=SIZE, sigma=1.0),
    just(distribution=st.sampled_from(["web-search", "data-mining"])),
    just(distribution="empirical", cdf=[["100 B", 0.5], ["9 KB", 1.0]]),
)
ASSEMBLY = st.one_of(
    just(assembly="none"),
    just(assembly="timer", timer=TIME),
    just(assembly="size", size=SIZE),
    just(assembly="hybrid", timer=TIME, size=SIZE),
)
DATA_ASSEMBLY = st.one_of(
    ASSEMBLY,
    just(assembly="adaptive", timer=TIME, timer_min="1 us", size=SIZE, weight=0.3),
    just(assembly="cwnd-classes", cwnd_thresholds=[4, 9], class_timers=["1 ms", "50 us", "2 ms"]),
)
STEPS = st.lists(choice("Resolution"), max_size=5, unique=True)


def core(steps: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    lines = both(
        just(delays=st.lists(TIME, min_size=1, max_size=3), channels=st.integers(1, 3)),
        some(passes_on_path=st.integers(1, 3)),
    )
    return both(
        just(contention=steps, **({"delay_lines": lines} if "delay-line" in steps else {})),
        both(
            some(
                scheduler=choice("SchedulerKind"),
                deflection=some(hop_limit=st.integers(0, 9)),
                segmentation=some(trailer=st.booleans()),
                retransmission=some(attempts=st.integers(1, 3), buffer=SIZE, wait=TIME),
            ),
            st.one_of(
                some(conversion=st.sampled_from(["full", "none"])),
                just(conversion="limited", conversion_range=st.integers(0, 2)),
            ),
        ),
    )


MESHES = some(
    signalling=some(
        protocol=st.sampled_from(["jet", "jit"]),
        processing=TIME,
        guard=st.sampled_from(["100 us", "10 ms"]),
        processors=st.integers(1, 3),
        switching=st.sampled_from(["1 us", "50 us"]),
        channels=st.integers(1, 2),
        rate=st.sampled_from(["100 Mb/s", "1 Gb/s"]),
    ),
    core=STEPS.flatmap(core),
    edge=both(
        DATA_ASSEMBLY,
        some(
            queues=st.sampled_from(["destination", "class"]),
            burstifiers=st.integers(1, 3),
            min_size=SIZE,
            port=choice("IngressPort"),
            class_offsets=st.lists(TIME, max_size=2),
            ack=st.one_of(ASSEMBLY, just(with_data=True)),
        ),
    ),
    flows=st.lists(just(**{"from": "1", "to": "2", "bytes": SIZE}), max_size=2),
    demand=st.lists(
        both(
            just(size=LENGTHS, flows_per_second=st.sampled_from([5.0, 300.0])),
            some(per=choice("Per"), start=TIME, **{"class": st.integers(0, 2)}),
        ),
        max_size=2,
    ),
    traffic=st.lists(just(**{"from": "2", "to": "1", "pattern": choice("Pattern")}), max_size=1),
    bursts=st.lists(
        both(
            just(length=LENGTHS, erlangs=st.sampled_from([0.0, 0.3, 5.0])),
            some(per=choice("Per"), start=TIME, to=NAME, **{"class": st.integers(0, 2)}),
        ),
        max_size=2,
    ),
)

NETWORKS = both(
    just(topology=st.sampled_from(["line", "ring", "star"]), nodes=st.integers(3, 5)),
    some(
        wavelengths=st.integers(1, 3),
        link_delay=TIME,
        routing=st.sampled_from(["delay", "hops"]),
        routes_per_pair=st.integers(1, 3),
        route_choice=choice("RouteChoice"),
        edges=st.just(["1", "2"]),
    ),
)

#: Values that are out of place in most fields.
SPOILS = st.tuples(
    st.sampled_from(
        [
            *(
                f"signalling.{name}"
                for name in ("protocol", "offset", "guard", "retry", "requests")
            ),
            *(f"signalling.{name}" for name in ("channels", "rate", "header_size", "processors")),
            *(f"network.{name}" for name in ("topology", "nodes", "wavelengths", "link_delay")),
            *(f"network.{name}" for name in ("edges", "link_rate", "routes_per_pair", "file")),
            *(f"edge.{name}" for name in ("assembly", "timer", "size", "queues", "burstifiers")),
            *(f"edge.{name}" for name in ("weight", "cwnd_thresholds", "class_timers", "min_size")),
            *(f"core.{name}" for name in ("scheduler", "conversion", "contention", "forwarding")),
            *(f"core.{name}" for name in ("delay_lines", "retransmission", "conversion_range")),
            *(f"demand[0].{name}" for name in ("size", "per", "destination", "stop", "matrix")),
            *(f"bursts[0].{name}" for name in ("length", "erlangs", "from", "to", "stop")),
            *(
                f"bursts[0].length.{name}"
                for name in ("mean", "min", "max", "shape", "cdf", "file")
            ),
            *(f"flows[0].{name}" for name in ("from", "to", "class", "start", "bytes")),
            *(f"tcp.{name}" for name in ("variant", "window", "mss", "detector")),
        ]
    ),
    st.sampled_from(
        [
            *(0, 1, -1, 4_000_000_000, 0.5, 1e300, True, [], {}, [0], [[1, 2]], ""),
            *("0 s", "1 ps", "100000 s", "0 B", "1 B", "1 PB", "1 b/s", "1000 Tb/s", "1", "none"),
            *("two-way", "adaptive", "matrix", "flow", ["1", "2"], ["1 ms"], {"node": "1"}),
        ]
    ),
)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(network=NETWORKS, tables=MESHES, spoils=st.lists(SPOILS, max_size=2))
def test_any_mesh_runs_or_is_refused(network, tables, spoils):
    run = {"duration": "20 ms", "bursts": 1000}
    scenario = {"network": network, "access": {"delay": "1 ms"}, "run": run, **tables}
    try:
        for path, value in spoils:
            set_at(scenario, path, value)
        result = bl.run(scenario, trace=("packets", "bursts"))
    except ScenarioError as error:
        assert error.path
        assert error.problem
        assert re.search(r"\w", error.fix) or spoils, error
        return
    counters: Any = result.counters
    for unit in ("packets", "acks", "bursts", "ack_bursts", "background_bursts", "other"):
        fates = [counters[f"{unit}_{fate}"] for fate in ("delivered", "lost", "in_flight")]
        assert counters[f"{unit}_sent"] == sum(fates), unit
