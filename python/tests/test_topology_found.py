"""Topology files as they are found: each is read, and what was assumed is said with names."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.errors import ScenarioError, ScenarioWarning
from burstlab.topology import read

# A node that nobody placed, between two that have places; one that hangs on a single node; one
# that hangs on nothing; two links in parallel; a loop.
ZOO = """
graph [
  node [ id 0 label "A" Longitude 0.0 Latitude 0.0 ]
  node [ id 1 label "B" Longitude 2.0 Latitude 0.0 ]
  node [ id 2 label "between" ]
  node [ id 3 label "leaf" ]
  node [ id 4 label "alone" ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 0 ]
  edge [ source 0 target 2 ]
  edge [ source 2 target 1 ]
  edge [ source 1 target 3 ]
  edge [ source 0 target 0 ]
]
"""

#: Kilometres of a degree of the equator, of a sphere of 6371 km.
DEGREE = 111.195


def found(tmp_path: Path, name: str, text: str, **how: Any) -> tuple[dict[str, Any], str]:
    """Return what is read of a file, and all warnings as one text."""
    path = tmp_path / name
    path.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScenarioWarning)
        tables = read(path, **how)
    return tables, "\n".join(str(one.message) for one in caught)


def lengths(tables: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(link["from"], link["to"]): link["length_km"] for link in tables["link"]}


def test_what_a_zoo_file_leaves_out_is_assumed_and_said(tmp_path):
    tables, said = found(tmp_path, "net.gml", ZOO)
    assert [node["name"] for node in tables["node"]] == ["A", "B", "between", "leaf"]
    assert tables["link"][0]["fibres"] == 2
    km = lengths(tables)
    assert km["A", "B"] == pytest.approx(2 * DEGREE, rel=1e-4)
    assert km["A", "between"] == pytest.approx(DEGREE, rel=1e-4)
    assert km["B", "between"] == pytest.approx(DEGREE, rel=1e-4)
    assert km["B", "leaf"] == pytest.approx(DEGREE, rel=1e-4), "the median of the others"
    for words in (
        "fibres of one link: A to B",
        "placed between their neighbours: between",
        "B to leaf",
        "left out: alone",
        "from a node to itself are left out: A",
    ):
        assert words in said, said


def test_hop_takes_the_median_for_what_has_no_coordinates(tmp_path):
    tables, said = found(tmp_path, "net.gml", ZOO, lengths="hop")
    km = lengths(tables)
    assert km["A", "between"] == km["B", "leaf"] == km["A", "B"]
    assert "placed" not in said
    bare = ZOO.replace("Longitude 0.0 Latitude 0.0", "").replace("Longitude 2.0 Latitude 0.0", "")
    tables, said = found(tmp_path, "bare.gml", bare)
    assert set(lengths(tables).values()) == {100.0}
    assert "no length at all" in said


def test_given_refuses_what_is_not_given(tmp_path):
    with pytest.raises(ScenarioError, match="no coordinates") as error:
        found(tmp_path, "net.gml", ZOO, lengths="given")
    assert '"placed" or "hop"' in error.value.fix


def test_a_node_is_placed_across_the_date_line(tmp_path):
    text = ZOO.replace("Longitude 0.0", "Longitude 179.0").replace(
        "Longitude 2.0", "Longitude -179.0"
    )
    tables, _ = found(tmp_path, "net.gml", text)
    assert lengths(tables)["A", "between"] == pytest.approx(DEGREE, rel=1e-4)


SNDLIB = """?SNDlib native format; type: network; version: 1.0
NODES (
  A ( {a} )
  B ( {b} )
)
LINKS (
  L1 ( A B ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )
  {more}
)
DEMANDS ( D1 ( A B ) 1 195.00 UNLIMITED
          D2 ( B A ) 1 5.00 UNLIMITED )
"""

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <networkStructure>
  <nodes coordinatesType="{kind}">
   <node id="A"><coordinates><x>30.0</x><y>40.0</y></coordinates></node>
   <node id="B"><coordinates><x>0.0</x><y>0.0</y></coordinates></node>
  </nodes>
  <links><link id="L1"><source>A</source><target>B</target></link></links>
 </networkStructure>
 <demands><demand id="D1"><source>A</source><target>B</target>
  <demandValue>195.0</demandValue></demand></demands>
</network>
"""


def test_two_directed_links_that_are_alike_are_one(tmp_path):
    text = SNDLIB.format(a="0 0", b="2 0", more="")
    plain, said = found(tmp_path, "one.txt", text)
    assert said == ""
    graph = {"directed": True, "nodes": [{"id": "A"}, {"id": "B"}]}
    both = [{"source": a, "target": b, "km": 12} for a, b in ("AB", "BA")]
    tables, said = found(tmp_path, "net.json", json.dumps({**graph, "links": both}))
    assert tables["link"] == [{"from": "A", "to": "B", "length_km": 12.0}]
    assert said == ""
    # Lengths that differ are two links, one in each direction.
    both[1]["km"] = 13
    tables, said = found(tmp_path, "net.json", json.dumps({**graph, "links": both}))
    assert [link["one_way"] for link in tables["link"]] == [True, True]
    assert said == ""
    # In SNDlib's format a second link between two nodes is a second fibre.
    more = "L2 ( B A ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 )"
    tables, _ = found(tmp_path, "two.txt", text.replace("( 40.00 1.00 )\n  \n", f"()\n{more}\n"))
    assert tables["link"] == [{**plain["link"][0], "fibres": 2}]


def test_a_network_that_does_not_lead_back_is_said(tmp_path):
    text = ZOO.replace("graph [", "graph [ directed 1").replace("edge [ source 1 target 0 ]", "")
    _, said = found(tmp_path, "net.gml", text)
    assert "no path leads from between to A" in said or "no path leads from B to A" in said


def test_coordinates_of_a_plane(tmp_path):
    for name, text in [
        ("net.txt", SNDLIB.format(a="300 400", b="0 0", more="")),
        ("net.xml", XML.format(kind="pixel").replace("30.0", "300").replace("40.0", "400")),
        ("net.gml", "graph [ node [ id 0 label \"A\" graphics [ x 300.0 y 400.0 ] ]"
                    " node [ id 1 label \"B\" graphics [ x 0.0 y 0.0 ] ]"
                    " edge [ source 0 target 1 ] ]"),
    ]:  # fmt: skip
        tables, said = found(tmp_path, name, text)
        assert tables["link"] == [{"from": "A", "to": "B", "length_km": 500.0}], name
        assert "one unit is taken for 1 km" in said
    tables, said = found(tmp_path, "globe.xml", XML.format(kind="geographical"))
    assert tables["link"][0]["length_km"] == pytest.approx(5387, rel=0.01)
    assert said == ""
    # Coordinates beyond the globe that no length needs are no mistake.
    odd = "graph [ node [ id 0 lon 283.0 lat 248.0 ] node [ id 1 lon 1.0 lat 2.0 ]"
    tables, _ = found(tmp_path, "odd.gml", f"{odd} edge [ source 0 target 1 dist 120.0 ] ]")
    assert tables["link"][0]["length_km"] == 120.0


def test_a_document_for_d3_names_ends_by_place_or_by_name(tmp_path):
    nodes = [{"name": "x"}, {"name": "y"}, {"name": "z"}]
    links = [{"source": 0, "target": 1, "km": 5}, {"source": "y", "target": "z", "km": 6}]
    tables, _ = found(tmp_path, "d3.json", json.dumps({"nodes": nodes, "links": links}))
    assert lengths(tables) == {("x", "y"): 5.0, ("y", "z"): 6.0}


def test_names_name_nodes_where_there_are_no_labels(tmp_path):
    nodes = [{"id": 0, "name": "Oslo"}, {"id": 1, "name": "Bergen"}]
    graph = {"nodes": nodes, "edges": [{"source": 0, "target": 1, "km": 300}]}
    tables, _ = found(tmp_path, "net.json", json.dumps(graph))
    assert [node["name"] for node in tables["node"]] == ["Oslo", "Bergen"]


def element(uid: str, kind: str, length: float | None = None) -> dict[str, Any]:
    params = {} if length is None else {"params": {"length": length, "length_units": "km"}}
    return {"uid": uid, "type": kind, **params}


def test_a_network_of_gnpy_is_its_roadms_and_the_fibre_between_them(tmp_path):
    elements = [
        element("trx A", "Transceiver"), element("roadm A", "Roadm"), element("roadm B", "Roadm"),
        element("trx B", "Transceiver"), element("roadm C", "Roadm"),
        element("AB 1", "Fiber", 80.0), element("amp", "Edfa"), element("AB 2", "Fiber", 60.5),
        element("BA", "Fiber", 140.5), element("BC", "RamanFiber", 40.0),
        element("CB", "Fiber", 41.0),
    ]  # fmt: skip
    chains = [
        ["trx A", "roadm A", "AB 1", "amp", "AB 2", "roadm B", "trx B"],
        ["trx B", "roadm B", "BA", "roadm A", "trx A"],
        ["roadm B", "BC", "roadm C", "CB", "roadm B"],
    ]
    connections = [{"from_node": a, "to_node": b} for chain in chains for a, b in pairwise(chain)]
    text = json.dumps({"elements": elements, "connections": connections})
    tables, said = found(tmp_path, "gnpy.json", text)
    assert tables["node"] == [
        {"name": "roadm A", "role": "both"},
        {"name": "roadm B", "role": "both"},
        {"name": "roadm C", "role": "core"},
    ]
    assert tables["link"] == [
        {"from": "roadm A", "to": "roadm B", "length_km": 140.5},
        {"from": "roadm B", "to": "roadm C", "length_km": 40.0, "one_way": True},
        {"from": "roadm C", "to": "roadm B", "length_km": 41.0, "one_way": True},
    ]
    assert said == ""


def test_lists_of_edges(tmp_path):
    for name, text in [
        ("net.csv", "from,to,km\na,b,10\nb,c,20\n"),
        ("net.csv", "a;b;10\nb;c;20\n"),
        ("net.txt", "# three columns\na b 10\nb\tc\t20\n".replace("\t", " ")),
        ("net.csv", "\ufeffkm,Source,Target,note\n10,a,b,x\n20,b,c,\n"),
    ]:
        tables, _ = found(tmp_path, name, text)
        assert lengths(tables) == {("a", "b"): 10.0, ("b", "c"): 20.0}, text
    tables, said = found(tmp_path, "bare.txt", "a b\nb c\n")
    assert set(lengths(tables).values()) == {100.0}
    assert "no length at all" in said


REPETITA = """NODES 2
label x y
Roma 12.5 41.9
Roma 2.3 48.9

EDGES 2
label src dest weight bw delay
e0 0 1 1 1000000 {0}
e1 1 0 1 1000000 5
"""


def test_repetita_has_delays_in_us_and_may_repeat_labels(tmp_path):
    tables, _ = found(tmp_path, "net.graph", REPETITA.format(5))
    assert [node["name"] for node in tables["node"]] == ["0", "1"]
    assert tables["link"] == [{"from": "0", "to": "1", "delay": "5 us"}]
    tables, _ = found(tmp_path, "net.graph", REPETITA.format(6))
    assert [link["one_way"] for link in tables["link"]] == [True, True]


def scenario(file: Path, **more: Any) -> dict[str, Any]:
    return {"network": {"file": str(file), **more}, "run": {"duration": "20 ms"}}


@pytest.mark.filterwarnings("ignore::burstlab.errors.ScenarioWarning")
def test_a_scenario_says_how_lengths_are_found(tmp_path):
    path = tmp_path / "net.gml"
    path.write_text(ZOO)
    first = bl.resolve(scenario(path))["network"]
    assert first["link"][0]["fibres"] == 2
    hop = bl.resolve(scenario(path, lengths="hop"))["network"]
    assert hop["link"] != first["link"]
    assert "lengths" not in hop
    with pytest.raises(ScenarioError, match=r"network.lengths = far"):
        bl.resolve(scenario(path, lengths="far"))
    with pytest.raises(ScenarioError, match=r"network.lengths = \"hop\": .* none is named"):
        bl.resolve({"network": {"topology": "custom", "lengths": "hop"}})


def test_what_was_assumed_is_said_as_a_run_begins(tmp_path, burstlab):
    (tmp_path / "net.gml").write_text(ZOO)
    (tmp_path / "one.toml").write_text(
        'network = { file = "net.gml" }\nrun = { duration = "9 ms" }'
    )
    answer = burstlab("run", tmp_path / "one.toml")
    assert answer.status == 0
    assert "warning: " in answer.err
    assert "left out: alone" in answer.err
    assert "ScenarioWarning" not in answer.err


def test_the_command_writes_what_it_read(tmp_path, burstlab):
    path, out = tmp_path / "net.gml", tmp_path / "net.toml"
    path.write_text(ZOO)
    answer = burstlab("topology", path, "--out", out)
    assert answer.status == 0
    assert "4 nodes" in answer.out
    assert "4 links of 5 fibres" in answer.out
    assert "placed between" in answer.err
    tables, said = found(tmp_path, "net.gml", ZOO)
    assert read(out) == tables
    assert all(line in out.read_text() for line in said.splitlines())
    assert burstlab("topology", path, "--out", out).status == 2
    assert burstlab("topology", path, "--lengths", "given").status == 2
    assert burstlab("topology", path, "--lengths", "far").status == 2
    assert burstlab("topology", path, "--json").json()["link"] == tables["link"]


def test_fibres_of_gnpy_that_part_lead_to_every_node(tmp_path):
    elements = [element(name, "Roadm") for name in ("A", "B", "C")]
    elements += [element("joint", "Fused")]
    elements += [
        element(f"{name} {side}", "Fiber", km)
        for name, km in (("A", 10.0), ("B", 20.0), ("C", 30.0))
        for side in ("in", "out")
    ]
    chains = [[name, f"{name} in", "joint", f"{name} out", name] for name in ("A", "B", "C")]
    connections = [{"from_node": a, "to_node": b} for chain in chains for a, b in pairwise(chain)]
    text = json.dumps({"elements": elements, "connections": connections})
    wanted = {("A", "B"): 30.0, ("A", "C"): 40.0, ("B", "C"): 50.0}
    tables, said = found(tmp_path, "gnpy.json", text)
    assert lengths(tables) == wanted
    assert said == ""
    wrapped = json.dumps({"gnpy-network-topology:topology": json.loads(text)})
    assert lengths(found(tmp_path, "yang.json", wrapped)[0]) == wanted


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [("EDGES 2", "EGDES 2", "NODES = 2"), ("EDGES 2", "EDGES 3", "EDGES = 3")],
)
def test_repetita_has_as_many_rows_as_it_says(tmp_path, old, new, named):
    with pytest.raises(ScenarioError, match=f"{named}: [25] rows follow"):
        found(tmp_path, "net.graph", REPETITA.format(5).replace(old, new))


@pytest.mark.parametrize(
    ("name", "text", "problem", "fix"),
    [
        ("net.xls", "", "spreadsheets are not read", "gnpy-convert-xls net.xls writes net.json"),
        ("a.json", '{"path-request": []}', "and no network", "the file of the network"),
        ("b.json", '{"response": []}', "and no network", "the file of the network"),
    ],
)
def test_files_of_gnpy_without_a_network_are_named(
    name, text, problem, fix, tmp_path, monkeypatch, burstlab
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    answer = burstlab("topology", name)
    assert answer.status == 2 and problem in answer.err and fix in answer.err, answer.err
