"""Topologies from files: every format gives the same, and no file breaks the reader."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import networkx
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab.errors import ScenarioError
from burstlab.topology import read
from burstlab.topology.places import great_circle_km

# Four nodes in a circle with a chord of one direction.
NODES = [
    {"name": "ham", "role": "edge"},
    {"name": "ber", "role": "both"},
    {"name": "muc", "role": "core"},
    {"name": "cgn", "role": "edge"},
]
LINKS: list[dict[str, Any]] = [
    {"from": "ham", "to": "ber", "length_km": 255.5},
    {"from": "ham", "to": "cgn", "length_km": 357.0, "wavelengths": 8},
    {"from": "ber", "to": "muc", "delay": "3 ms"},
    {"from": "muc", "to": "cgn", "length_km": 456.0},
]
TABLES = {"node": NODES, "link": LINKS}

ZOO = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d0" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="label" attr.type="string" for="node" id="d2" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d0">51.5074</data><data key="d1">-0.1278</data>
      <data key="d2">London</data></node>
    <node id="1"><data key="d0">48.8566</data><data key="d1">2.3522</data>
      <data key="d2">Paris</data></node>
    <edge source="0" target="1" />
  </graph>
</graphml>
"""

SNDLIB = """?SNDlib native format; type: network; version: 1.0
# a comment ( with a bracket
META ( granularity = year
  origin = somewhere )
NODES (
  London ( -0.1278 51.5074 )
  Paris ( 2.3522 48.8566 )
  Rome ( 12.4964 41.9028 )
)
LINKS (
  L1 ( London Paris ) 0.00 0.00 0.00 0.00 ( 40.00 650.00 155.00 1075.00 )
  L2 ( Paris Rome ) 0.00 0.00 0.00 0.00 ( )
)
DEMANDS ( D1 ( London Rome ) 1 195.00 UNLIMITED )
"""


def as_networkx(directed: bool = False) -> Any:
    graph = networkx.DiGraph() if directed else networkx.Graph()
    for node in NODES:
        graph.add_node(node["name"], role=node["role"])
    for link in LINKS:
        rest = {key: value for key, value in link.items() if key not in ("from", "to")}
        graph.add_edge(link["from"], link["to"], **rest)
    return graph


def write(path, graph: Any) -> None:
    if path.suffix == ".graphml":
        networkx.write_graphml(graph, path)
    elif path.suffix == ".gml":
        networkx.write_gml(graph, path)
    else:
        path.write_text(json.dumps(networkx.node_link_data(graph)))


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".json"])
def test_what_networkx_writes_is_read(tmp_path, ending):
    path = tmp_path / f"net{ending}"
    write(path, as_networkx())
    assert read(path) == TABLES


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".json"])
def test_links_of_a_directed_graph_lead_one_way(tmp_path, ending):
    path = tmp_path / f"net{ending}"
    write(path, as_networkx(directed=True))
    assert read(path)["link"] == [{**link, "one_way": True} for link in LINKS]


@pytest.mark.parametrize("key", ["links", "edges"])
def test_either_key_of_node_link_json_will_do(tmp_path, key):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(networkx.node_link_data(as_networkx(), edges=key)))
    assert read(path) == TABLES


def test_our_own_format_is_read(tmp_path):
    path = tmp_path / "net.toml"
    one_way = {"from": "ber", "to": "cgn", "length_km": 480.0, "one_way": True}
    path.write_text(tomli_w.dumps({"node": NODES, "link": [*LINKS, one_way]}))
    assert read(path) == {"node": NODES, "link": [*LINKS, one_way]}


def test_lengths_follow_from_coordinates(tmp_path):
    zoo, native = tmp_path / "zoo.graphml", tmp_path / "native.txt"
    zoo.write_text(ZOO)
    native.write_text(SNDLIB)
    found = read(zoo)
    assert found["node"] == [{"name": "London"}, {"name": "Paris"}]
    (link,) = found["link"]
    # The distance that geographers give is 343 to 344 km.
    assert link["length_km"] == pytest.approx(343.56, abs=0.1)
    found = read(native)
    assert [node["name"] for node in found["node"]] == ["London", "Paris", "Rome"]
    assert found["link"][0] == link
    assert found["link"][1]["length_km"] == pytest.approx(1105.3, abs=1)


def test_great_circles():
    quarter = math.pi / 2 * 6371
    assert great_circle_km((0, 0), (0, 90)) == pytest.approx(quarter)
    assert great_circle_km((90, 17), (0, 80)) == pytest.approx(quarter)
    assert great_circle_km((0, -180), (0, 180)) == pytest.approx(0, abs=1e-6)
    assert great_circle_km((30, 10), (-30, -170)) == pytest.approx(2 * quarter)


def test_labels_name_nodes_only_where_they_differ(tmp_path):
    path = tmp_path / "zoo.graphml"
    path.write_text(ZOO.replace("London", "Paris"))
    assert read(path)["node"] == [{"name": "0"}, {"name": "1"}]


def test_a_scenario_takes_in_its_file(tmp_path, monkeypatch):
    (tmp_path / "nets").mkdir()
    write(tmp_path / "nets" / "net.graphml", as_networkx())
    path = tmp_path / "scenario.toml"
    path.write_text('[network]\nfile = "nets/net.graphml"\nedges = ["ham", "ber"]\n')
    document = bl.to_document(path)
    assert document["network"] == {"topology": "custom", "edges": ["ham", "ber"], **TABLES}
    resolved = bl.resolve(path)
    assert "file" not in resolved["network"]
    assert bl.resolve(resolved) == resolved
    # A dictionary has no place of its own: the working directory counts.
    monkeypatch.chdir(tmp_path)
    given = {"network": {"file": "nets/net.graphml", "topology": "custom"}}
    assert bl.resolve(given)["network"]["link"] == resolved["network"]["link"]
    assert given["network"]["file"], "what is given is left alone"


def test_a_file_beside_tables_or_another_shape_is_refused(tmp_path):
    write(tmp_path / "net.json", as_networkx())
    name = str(tmp_path / "net.json")
    for network, says in [
        ({"file": name, "node": []}, "network.node is given too"),
        ({"file": name, "topology": "ring"}, "does not use it"),
        ({"file": 3, "topology": "custom"}, "network.file"),
        ({"file": str(tmp_path / "no.json")}, "cannot be read (No such file"),
        ({"file": str(tmp_path)}, "ending"),
    ]:
        with pytest.raises(ScenarioError) as error:
            bl.resolve({"network": network})
        assert says in str(error.value)
        assert error.value.fix


NODE_A_B = '[[node]]\nname = "a"\n[[node]]\nname = "b"\n'
LINK = '[[link]]\nfrom = "a"\nto = "b"\n'

MISTAKES = [
    # ending, content, where, what it says
    (".yaml", "", "", "use one of .graphml"),
    (".xml", "", "", "not valid XML"),
    (".xml", "<network/>", "", "holds no nodes"),
    (".xml", '<!DOCTYPE x [<!ENTITY a "b">]><network>&a;</network>', "", "entities"),
    (".csv", "", "", "no edges"),
    (".csv", "a,b,1\nb,c\n", "line 2", "2 columns where 3 are needed"),
    (".csv", "a\n", "line 1", "1 columns where 2 are needed"),
    (".csv", "from,to,km\na,b,far\n", "line 2, km", "no number"),
    (".graph", "a 0 0\n", "line 1", "begin with NODES"),
    (".graph", "NODES 1\na 0 0\nEDGES 1\ne 0 7 1 1 1\n", "line 4", "no such node"),
    (".json", '{"elements": [{"type": "Roadm"}], "connections": []}', "elements[0].uid", "no name"),
    (
        ".json",
        '{"elements": [{"uid": "a"}], "connections": [{"from_node": "b"}]}',
        "from_node",
        "uid",
    ),
    (".toml", "[[node]\n", "", "line 1"),
    (".toml", "", "", "no nodes"),
    (".toml", "[[nodes]]\nx = 1\n", "nodes", "no such table"),
    (".toml", "node = 3\n", "node", "[[node]]"),
    (".toml", "[[node]]\nnmae = 'a'\n", "node[0].nmae", "did you mean 'name'?"),
    (".toml", "[[node]]\nname = 3\n", "node[0].name", "no text"),
    (".toml", "[[node]]\nname = 'a'\nrole = 'egde'\n", "node[0], role", "edge, core, both"),
    (".toml", NODE_A_B + LINK, "link[0]", "length_km"),
    (".toml", NODE_A_B + LINK + "length_km = nan\n", "link[0], length_km", "no number"),
    (".toml", NODE_A_B + LINK + "length_km = -1\n", "link[0], length_km", "negative"),
    (".toml", NODE_A_B + LINK + "delay = 3\n", "link[0], delay", "unit"),
    (".toml", NODE_A_B + LINK + "delay = 2020-01-01\n", "link[0], delay", "unit"),
    (".toml", NODE_A_B + LINK + "length_km = 1\ndelay = '1 ms'\n", "link[0], delay", "given too"),
    (".toml", NODE_A_B + LINK + "length_km = 1\nwavelengths = 0\n", "wavelengths", "at least 1"),
    (".toml", NODE_A_B + LINK + "length_km = 1\none_way = 'no'\n", "one_way", "true or false"),
    (".toml", NODE_A_B + (LINK + "length_km = 1\n") * 2, "link[1]", "link[0] joins the two"),
    (".toml", NODE_A_B + '[[node]]\nname = "a"\n', "node[2]", "node[0] has the same name"),
    (".toml", NODE_A_B + LINK.replace('"b"', '"a"') + "length_km = 1\n", "link[0]", "begins"),
    (".toml", NODE_A_B + LINK.replace('"b"', '"c"') + "length_km = 1\n", "link[0]", "no such"),
    (".json", "{", "line 1, column 2", "not valid JSON"),
    (".json", "[]", "", "no table"),
    (".json", '{"nodes": 3}', "nodes", "no list"),
    (".json", '{"nodes": [{"id": null}]}', "nodes[0].id", "missing"),
    (".json", '{"nodes": [{"id": 1}, {"id": 2}]}', "edges", "missing"),
    (".json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "links[0].target", "missing"),
    (".json", '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}', "nodes[1]", "same name"),
    (".graphml", "<graphml", "", "not valid GraphML"),
    (".graphml", ZOO.replace("51.5074", "north"), "", "not valid GraphML"),
    (".graphml", ZOO.replace("51.5074", "515074"), "node 0, Latitude", "outside the globe"),
    (".gml", "graph [ node [ id 0 ]", "", "not valid GML"),
    (".gml", "graph [ node [ id 0 ] edge [ source 0 target 7 ] ]", "", "not valid GML"),
    (".txt", "NODES ( )", "line 1", "no number"),
    (".txt", SNDLIB.replace("Paris Rome", "Paris Berlin"), "line 12", "no such node"),
    (".txt", SNDLIB.replace("( 2.3522 48.8566 )", "( 2.3522 )"), "line 7", "name or a number"),
    (".txt", SNDLIB.replace("UNLIMITED )", "UNLIMITED"), "line 14", "end of the file"),
    (".txt", SNDLIB.replace("-0.1278", "x"), "line 6, longitude", "no number"),
]


@pytest.mark.parametrize(("ending", "content", "where", "says"), MISTAKES)
def test_mistakes_are_named_with_file_place_and_fix(tmp_path, ending, content, where, says):
    path = tmp_path / f"net{ending}"
    path.write_text(content)
    with pytest.raises(ScenarioError) as error:
        read(path)
    assert str(path) in error.value.path
    assert where in error.value.path
    assert says in str(error.value)
    assert error.value.fix


def test_a_malformed_file_ends_the_command_with_status_2(tmp_path, burstlab):
    (tmp_path / "net.graphml").write_text(ZOO[:-20])
    path = tmp_path / "scenario.toml"
    path.write_text('[network]\nfile = "net.graphml"\n')
    answer = burstlab("run", path)
    assert answer.status == 2
    assert "net.graphml" in answer.err
    assert "fix:" in answer.err
    assert "Traceback" not in answer.err


def test_what_the_engine_finds_names_the_nodes(tmp_path):
    apart = {"node": [*NODES, {"name": "sylt", "role": "edge"}], "link": LINKS}
    (tmp_path / "net.toml").write_text(tomli_w.dumps(apart))
    with pytest.raises(ScenarioError, match=r'not connected.*"sylt"'):
        bl.resolve({"network": {"file": str(tmp_path / "net.toml")}})


def test_a_scenario_without_a_file_needs_no_reader(root):
    code = (
        "import sys, burstlab as bl\n"
        "bl.resolve({'network': {'topology': 'nsfnet'}})\n"
        "sys.exit(', '.join({'networkx', 'burstlab.topology'} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_topologies_are_listed(burstlab):
    listed = burstlab("list", "--json").json()["topologies"]
    names = [each["topology"] for each in listed]
    assert {"path", "ring", "nsfnet", "nsfnet-8e6c", "custom"} <= set(names)
    assert all(each["title"] for each in listed)
    printed = burstlab("list").out
    assert all(f"\n  {name} " in printed for name in names)
    for name in names:
        if name != "custom":
            assert bl.resolve({"network": {"topology": name}})["network"]["topology"] == name


def samples(tmp_path) -> dict[str, bytes]:
    """Return one good file of each format."""
    found = {".txt": SNDLIB.encode(), ".toml": tomli_w.dumps(TABLES).encode()}
    for ending in (".graphml", ".gml", ".json"):
        path = tmp_path / f"sample{ending}"
        write(path, as_networkx())
        found[ending] = path.read_bytes()
    return found


FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def tried(path) -> None:
    """Whatever the file holds, it is taken or refused as a `ScenarioError`."""
    try:
        found = read(path)
        bl.resolve({"network": {"topology": "custom", **found}})
    except ScenarioError as error:
        assert str(error)


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".json", ".txt", ".toml"])
@FUZZ
@given(data=st.data())
def test_no_damage_to_a_file_is_a_crash(tmp_path, ending, data):
    content = samples(tmp_path)[ending]
    at = data.draw(st.integers(0, len(content)), label="at")
    length = data.draw(st.integers(0, 12), label="cut")
    words = [b"", b"(", b")", b"[", b'"', b"nan", b"-1e999", b"\xff", b"null", b"{}", b"<a>", b"0"]
    patch = data.draw(st.one_of(st.sampled_from(words), st.binary(max_size=4)), label="patch")
    path = tmp_path / f"net{ending}"
    path.write_bytes(content[:at] + patch + content[at + length :])
    tried(path)


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3))
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2))
ENTRY = st.dictionaries(
    st.sampled_from(["id", "label", "role", "Latitude", "lon", "source", "target", "delay"]),
    VALUES,
)


@FUZZ
@given(
    document=st.fixed_dictionaries(
        {"nodes": st.lists(ENTRY, max_size=3), "links": st.lists(ENTRY, max_size=3)}
    )
)
def test_no_json_is_a_crash(tmp_path, document):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(document))
    tried(path)


def test_an_edge_of_graphml_to_a_node_that_is_not_listed_is_told(tmp_path):
    (tmp_path / "net.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="l" for="edge" attr.name="length_km" attr.type="double"/>'
        '<graph edgedefault="undirected"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"><data key="l">10</data></edge>'
        '<edge source="b" target="c"/></graph></graphml>'
    )
    scenario = {"network": {"file": str(tmp_path / "net.graphml")}}
    with pytest.raises(bl.ScenarioError, match=r"edge b to c = c: there is no such node"):
        bl.resolve(scenario)
