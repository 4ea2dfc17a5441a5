"""A stored scenario has every field that it uses, and says all that the run went by."""

from __future__ import annotations

import json
import re
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import tomli_w
from fuzz_scenarios import Draw, corrected

import burstlab as bl
from burstlab import _core, classes
from burstlab.documents.parameters import OF_LINUX, tcp_of
from burstlab.documents.paths import without_none
from burstlab.documents.schema import scenario_schema
from burstlab.loading import read_toml, to_document
from burstlab.scenario import Profile, Topology

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/burstlab"
PAGE = ROOT / "docs/reference/scenario.md"
TOPOLOGY = ROOT / "docs/models/topology.md"
MESH = ROOT / "docs/models/mesh.md"
SCHEMA = scenario_schema()

#: Scenarios of examples, papers and the page; plans, claims and what papers cover are none.
SCENARIOS = sorted(
    path
    for folder in ("examples", "papers", "page/scenarios")
    for path in (PACKAGE / folder).rglob("*.toml")
    if not re.match(r"(plans|claims|coverage|study|about|errata|readings)", path.name)
)

#: Random scenarios, and how many of them at least run.
DRAWN, RUNS = 900, 150

#: Seconds of a run.
LONG_S = 1.0

CUSTOM = {
    "topology": "custom",
    "node": [{"name": "a"}, {"name": "b"}],
    "link": [{"from": "a", "to": "b", "delay": "1 ms"}],
}


def outcome(document: dict[str, Any]) -> str | None:
    """Return the numbers of a run, fingerprint included; nothing if it takes long or fails."""
    monitor = _core.Monitor(1 << 28)
    timer = threading.Timer(LONG_S, monitor.cancel)
    timer.start()
    try:
        found = _core.simulate_several(json.dumps(document), 7, 0, 1, monitor)
    except (_core.Cancelled, _core.InvalidScenario, _core.ClassError):
        return None
    finally:
        timer.cancel()
    summary = json.loads(found[0])
    # A field without effect is not stored, and with it goes the warning that it has none.
    summary["warnings"] = [one for one in summary["warnings"] if "has no effect" not in one]
    # Times of this machine are none of the numbers.
    return json.dumps(summary, sort_keys=True)


def held(document: dict[str, Any]) -> bool:
    """Check what holds of every scenario; say whether it was run as written and as stored."""
    stored = bl.resolve(document)
    text = tomli_w.dumps(without_none(stored))
    again = bl.resolve(tomllib.loads(text))
    assert json.dumps(again) == json.dumps(stored)
    assert tomli_w.dumps(without_none(again)) == text
    first = outcome(document)
    if first is None:
        return False
    second = outcome(stored)
    assert second is None or second == first
    return second is not None


def short(document: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario whose run is over soon."""
    run = {**document.get("run", {}), "duration": "200 ms", "warmup": "0 s", "replications": 1}
    for name in ("drain", "bursts"):
        run.pop(name, None)
    return {**document, "run": run}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_scenarios_of_the_package_are_stored_whole(path):
    document = to_document(path)
    classes.expand(document)
    if "live" not in document and not any(flow.get("stack") for flow in document.get("flows", [])):
        held(short(document))
        return
    stored = bl.resolve(document)
    assert bl.resolve(stored) == stored


@pytest.mark.slow
def test_random_scenarios_are_stored_whole():
    ran = valid = 0
    for seed in range(DRAWN):
        document = short(Draw(1_000_000 + seed).scenario())
        for _ in range(40):
            try:
                bl.resolve(document)
            except bl.ScenarioError as error:
                if not corrected(document, error):
                    break
            else:
                valid += 1
                ran += held(document)
                break
    assert valid > 300
    assert ran > RUNS, ran


def test_what_a_run_stores_is_what_it_went_by(tmp_path):
    scenario = {
        "network": {"topology": "line"},
        "core": {"conversion": "none"},
        "demand": [{"size": {"mean": "20 KB"}, "flows_per_second": 20.0}],
        "tcp": {"window": 30},
        "run": {"duration": "1 s"},
    }
    first = bl.run(scenario, out=tmp_path / "out")
    stored = read_toml(tmp_path / "out/scenario.toml")
    assert stored["core"] == {
        "scheduler": "lauc-vf",
        "conversion": "none",
        "contention": [],
        "injection": {"data": 0.0, "ack": 0.0, "per": "burst"},
    }
    assert stored == without_none(bl.resolve(scenario))
    assert bl.run(tmp_path / "out/scenario.toml").fingerprint == first.fingerprint


def test_a_general_parameter_of_a_stored_scenario_still_counts():
    scenario: dict[str, Any] = {"loss": {"data": {"process": "bernoulli", "probability": 0.02}}}
    scenario |= {"flows": [{"bytes": "1 MB"}, {"bytes": "1 MB", "tcp": {"window": 9}}]}
    stored = bl.resolve(scenario)
    assert (stored["tcp"]["window"], stored["flows"][0]["tcp"]) == (64, {})
    assert stored["flows"][1]["tcp"] == {"window": 9, "initial_ssthresh": 9}
    stored["tcp"]["window"] = 2
    assert bl.run(stored).fingerprint != bl.run(scenario).fingerprint
    assert [tcp_of(stored, flow)["window"] for flow in stored["flows"]] == [2, 9]


def test_a_scenario_that_an_earlier_version_stored_means_the_same():
    """That had all parameters at each flow, and in `[tcp]` what was written."""
    linux = {"profile": "linux", "variant": "linux", "window_law": "bbr"}
    scenario: dict[str, Any] = {"tcp": {"variant": "reno"}, "flows": [{}, {"tcp": linux}]}
    scenario["run"] = {"duration": "1 s"}
    stored = bl.resolve(scenario)
    flows = [{**flow, "tcp": tcp_of(stored, flow)} for flow in stored["flows"]]
    earlier: dict[str, Any] = {**stored, "tcp": scenario["tcp"], "flows": flows}
    del earlier["run"]["tie_break"]
    assert bl.resolve(earlier) == bl.resolve(scenario)
    assert bl.run(earlier).fingerprint == bl.run(scenario).fingerprint


def test_parameters_of_linux_are_those_that_no_other_sender_has():
    whole = bl.resolve({"tcp": {"profile": "linux"}})["tcp"]
    other = bl.resolve({})["tcp"]
    assert not OF_LINUX & other.keys()
    assert whole.keys() - other.keys() <= OF_LINUX
    fields = SCHEMA["$defs"]["Tcp"]["properties"]
    # Absent where they are not given, whoever sends.
    given = {
        *("window_law_class", "detector_class", "class_notices", "aimd_alpha", "aimd_beta"),
        *("bcl_alpha", "bcl_beta", "em_recent", "em_sure", "ncr", "saimd_long", "saimd_short"),
        *("saimd_sure", "vegas_margin", "vegas_recent", "vegas_threshold"),
    }
    assert fields.keys() - other.keys() - given == OF_LINUX
    mixed = {"tcp": {"profile": "linux"}, "flows": [{}, {"tcp": {"variant": "reno"}}]}
    resolved = bl.resolve(mixed)
    assert not OF_LINUX & tcp_of(resolved, resolved["flows"][1]).keys()


def test_check_prints_what_is_stored(tmp_path, burstlab):
    file = tmp_path / "scenario.toml"
    file.write_text('[network]\ntopology = "nsfnet"\n')
    said = burstlab("check", str(file), "--resolve")
    assert tomllib.loads(said.out) == without_none(bl.resolve(file))
    (tmp_path / "stored.toml").write_text(said.out)
    again = burstlab("check", str(tmp_path / "stored.toml"), "--resolve")
    assert again.out == said.out


@pytest.mark.parametrize(
    ("tables", "flows"),
    [
        ({}, 1),
        ({"wlan": [{}]}, 1),
        ({"access": {"shared": True}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "ops": {}, "traffic": [{"rate": "100 kb/s"}]}, 0),
        ({"network": {"topology": "line"}, "demand": [{"size": {"mean": "1 KB"}}]}, 0),
        ({"network": {"topology": "line"}, "bursts": [{"length": {"mean": "1 KB"}}]}, 0),
        ({"network": {"topology": "line"}, "batches": [{"size": {"mean": "1 KB"}}]}, 0),
    ],
)
def test_a_flow_that_nobody_asked_for_is_there_only_where_nothing_else_sends(tables, flows):
    result = bl.run({**tables, "run": {"duration": "100 ms"}})
    assert (len(result.flows), len(result.scenario["flows"])) == (flows, flows)
    assert bl.run(result.scenario).fingerprint == result.fingerprint


def definition(field: dict[str, Any]) -> str | None:
    """Return the name of the table that a field is, or that it is a list of."""
    for one in (field, field.get("items", {}), *field.get("anyOf", [])[:1]):
        if "$ref" in one:
            return one["$ref"].rpartition("/")[2]
    return None


def filled(table: str, resolved: Any, written: Any) -> Iterator[tuple[str, str, Any]]:
    """Return table, field and value of what was filled in."""
    schema = SCHEMA if table == "Scenario" else SCHEMA["$defs"][table]
    for name, value in resolved.items():
        field = schema["properties"][name]
        inner, given = definition(field), (written or {}).get(name)
        if isinstance(value, dict) and inner:
            yield from filled(inner, value, given)
        elif isinstance(value, list) and value and isinstance(value[0], dict) and inner:
            for index, one in enumerate(value):
                yield from filled(inner, one, given[index] if given else None)
        elif given is None:
            yield table, name, value


def shown() -> dict[tuple[str, str], str]:
    """Return the column of defaults of the reference, by table and field."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        table = re.match(r"\w+", part)
        rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|", part, re.MULTILINE)
        found.update({(table[0] if table else "", name): cell for name, cell in rows})
    return found


CASES = [
    *({"network": CUSTOM if one == "custom" else {"topology": one}} for one in get_args(Topology)),
    *({"tcp": {"profile": one}} for one in get_args(Profile)),
    {"network": {"topology": "line", "route_choice": "ecmp"}, "traffic": [{}]},
    {"access": {"shared": True}, "traffic": [{"pattern": "periodic"}]},
    {"network": {"topology": "ring"}, "wlan": [{"loss": "shadowing", "distance_m": 9.0}]},
    {"network": {"topology": "ring"}, "ops": {"dlcc": {}}},
    {"loss": {"ack": {"process": "every", "n": 9}}, "surgery": [{"burst": 3}]},
    {"access": {"marking": {"rule": "red", "least": "9 KB", "most": "90 KB"}}},
]


@pytest.mark.parametrize("written", CASES, ids=str)
def test_the_reference_says_what_is_filled_in(written):
    page, names = shown(), bl.resolve({"network": {"topology": "line"}})
    assert page["Core", "conversion"] == '`"full"`'
    assert names["flows"][0]["from"] == "1"
    for table, field, value in filled("Scenario", bl.resolve(written), written):
        cell = page[table, field]
        if "edge node" in cell or cell in ("one, where nothing else sends", "needed"):
            continue
        text = json.dumps(value, separators=(",", ":"))
        values = re.findall(r"`([^`]*)`", cell)
        assert text in [one.replace(", ", ",") for one in values], (table, field, cell)


def test_ends_are_the_first_and_the_last_edge_node():
    known = {
        "line": ("1", "4"), "ring": ("1", "4"), "star": ("1", "4"), "dumbbell": ("left1", "right4"),
        "fat-tree": ("tor1-1", "tor4-2"), "leaf-spine": ("leaf1", "leaf4"), "torus": ("1-1", "4-4"),
        "nsfnet": ("1", "14"), "nsfnet-8e6c": ("1", "14"), "nsfnet-deeprmsa": ("1", "14"),
        "martinez": ("E1", "E4"), "custom": ("a", "b"),
    }  # fmt: skip
    assert {"path", *known} == set(get_args(Topology))
    for topology, ends in known.items():
        network = CUSTOM if topology == "custom" else {"topology": topology}
        flow = bl.resolve({"network": network})["flows"][0]
        assert (flow["from"], flow["to"]) == ends


def test_the_page_of_the_mesh_says_what_a_mesh_assumes():
    part = MESH.read_text().partition("\n## Defaults of a mesh\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| .*? \|$", part, re.MULTILINE)
    assert len(rows) > 25
    size = {"mean": "1 KB"}
    plain = {
        "network": {"topology": "nsfnet"},
        "flows": [{}],
        "demand": [{"size": size}],
        "bursts": [{"length": size}],
    }
    steps = ["delay-line", "deflection", "segmentation", "retransmission"]
    every = {**plain, "core": {"contention": steps, "delay_lines": {"delays": ["1 us"]}}}
    found = [bl.resolve(one) for one in (plain, every)]

    def at(path: str) -> Any:
        step = path.split(".")[1]
        here: Any = found[step in ("delay_lines", "deflection", "segmentation", "retransmission")]
        for name in path.split("."):
            here = here.get(name) if isinstance(here, dict) else None
            if isinstance(here, list) and here and isinstance(here[0], dict):
                here = here[0]
        return here

    for path, cell in rows:
        value = re.fullmatch(r"`(.*)`", cell)
        assert at(path) == (json.loads(value[1]) if value else None), path
    named = dict(rows).keys()
    assert {"core.conversion", "core.scheduler", "core.contention", "edge.port"} <= named
    assert {"run.tie_break", "signalling.guard", "signalling.offset"} <= named


def test_the_page_of_topologies_says_what_each_shape_has():
    part = TOPOLOGY.read_text().partition("defaults of a network depend")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`\"[^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", part, re.MULTILINE)
    shapes = {name: cells for names, *cells in rows for name in re.findall(r'`"([\w-]+)"`', names)}
    assert len(shapes) == 11
    for shape, cells in shapes.items():
        network = bl.resolve({"network": {"topology": shape}})["network"]
        found = [network.get(name) for name in ("link_delay", "route_choice", "routes_per_pair")]
        said = [None if cell == "none" else json.loads(cell.strip("`")) for cell in cells]
        assert found == said, shape
