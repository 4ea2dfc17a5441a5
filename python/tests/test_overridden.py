"""A setting that another field overrides is refused, wherever it is set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab import sizing
from burstlab.documents import nearer
from burstlab.documents.parameters import tcp_of
from burstlab.documents.unresolved import unresolved
from burstlab.loading import apply_settings, to_document

LOSSY: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "10 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "run": {"duration": "2 s", "seed": 3},
}
PLAN = {"replications": 1, "metrics": ["counters.events"]}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    bl.run(LOSSY, out=tmp_path / "result")
    return tmp_path / "result" / "scenario.toml"


def of_earlier_version(stored: Path, written: dict[str, Any]) -> dict[str, Any]:
    """A stored scenario as earlier versions wrote it: all parameters at each flow."""
    document = to_document(stored)
    tables = {
        table: [{**one, "tcp": tcp_of(document, one)} for one in document.get(table) or ()]
        for table in ("flows", "demand")
    }
    return {**document, "tcp": written, **{name: of for name, of in tables.items() if of}}


@pytest.fixture
def earlier(stored: Path) -> Path:
    """That scenario as a file."""
    document = of_earlier_version(stored, {})
    assert document["flows"][0]["tcp"]["variant"] == "sack"
    file = stored.parent / "earlier.toml"
    lines = [
        f"{path} = {json.dumps(value)}"
        for path, value in (
            *((f"edge.{key}", value) for key, value in LOSSY["edge"].items()),
            *((f"loss.data.{key}", value) for key, value in LOSSY["loss"]["data"].items()),
            *((f"run.{key}", value) for key, value in LOSSY["run"].items()),
        )
    ]
    own = [f"tcp.{key} = {json.dumps(of)}" for key, of in document["flows"][0]["tcp"].items()]
    file.write_text("\n".join([*lines, "[[flows]]", *own]), encoding="utf-8")
    prints = [bl.run(one).replications[0].summary["fingerprint"] for one in (stored, file)]
    assert prints[0] == prints[1]
    return file


def custom(**link: object) -> dict[str, object]:
    nodes = [{"name": name, "role": role} for name, role in (("a", "edge"), ("b", "edge"))]
    network = {
        "topology": "custom",
        "node": nodes,
        "link": [{"from": "a", "to": "b", **(link or {"delay": "1 ms"})}],
    }
    return {"network": network, "run": {"duration": "10 ms"}}


#: Of each pair of `nearer.PAIRS` a scenario, a setting without effect, and what overrides it.
DEAD = [
    ("tcp.*", {"flows": [{"tcp": {"window": 8}}]}, "tcp.window=16", "flows[0].tcp.window = 8"),
    (
        "tcp.*",
        {
            "network": {"topology": "ring"},
            "run": {"duration": "100 ms"},
            "demand": [
                {"tcp": {"variant": "reno"}, "size": {"mean": "20 KB"}},
                {"tcp": {"variant": "sack"}, "size": {"mean": "20 KB"}},
            ],
        },
        "tcp.variant=sack",
        'demand[0].tcp.variant = "reno"',
    ),
    (
        "network.wavelengths",
        custom(length_km=10, wavelengths=4),
        "network.wavelengths=8",
        "network.link[0].wavelengths = 4",
    ),
    (
        "network.delay_per_km",
        custom(delay="2 ms"),
        "network.delay_per_km=4 us",
        'network.link[0].delay = "2 ms"',
    ),
    (
        "network.link_delay",
        {"network": {"link_delays": ["1 ms", "1 ms", "2 ms"]}},
        "network.link_delay=5 ms",
        'network.link_delays = ["1 ms", "1 ms", "2 ms"]',
    ),
    (
        "network.node[].role",
        {**custom(), "network": {**custom()["network"], "edges": ["a", "b"]}},  # pyright: ignore
        "network.node[0].role=core",
        'network.edges = ["a", "b"]',
    ),
]


@pytest.mark.parametrize(("pair", "scenario", "setting", "near"), DEAD)
def test_what_is_overridden_is_refused_and_changes_nothing(pair, scenario, setting, near):
    assert pair in nearer.PAIRS
    with pytest.raises(bl.ScenarioError) as error:
        to_document(scenario, [setting])
    shown = str(error.value)
    path = setting.partition("=")[0]
    assert shown.startswith(path) and f"{near} overrides it" in shown
    assert f"fix: set {near.partition(' = ')[0]} instead" in shown
    # It is right: the runs are the same.
    runs = [bl.run(one) for one in (scenario, apply_settings(scenario, [setting]))]
    assert runs[0].counters == runs[1].counters and runs[0].counters["events"]
    prints = [[one.summary["fingerprint"] for one in run.replications] for run in runs]
    assert prints[0] == prints[1]


def test_what_has_an_effect_or_holds_anyway_is_let_through():
    two = {"flows": [{"tcp": {"window": 8}}, {}]}
    assert to_document(two, ["tcp.window=16"])["tcp"] == {"window": 16}
    one = {"flows": [{"tcp": {"window": 8}}]}
    assert to_document(one, ["tcp.window=8"])["tcp"] == {"window": 8}
    assert to_document(one, ["flows[0].tcp.window=16", "tcp.variant=reno"])
    assert to_document(custom(length_km=1), ["network.wavelengths=8"])
    assert to_document({}, ["tcp.window=16"])
    assert to_document({"network": {"topology": "ring"}}, ["signalling.guard=5 us"])


def test_a_table_is_judged_by_its_fields_and_an_index_in_either_form():
    given = {"flows": [{"tcp": {"window": 8, "variant": "reno"}}]}
    with pytest.raises(
        bl.ScenarioError, match=r"tcp = .*: it has no effect: flows\[0\].tcp.variant"
    ):
        to_document(given, ['tcp={window=8, variant="sack"}'])
    with pytest.raises(bl.ScenarioError, match="window_law_class"):
        other = {"class": "A", "source": "x"}
        given = {"flows": [{"tcp": {"window_law": "python", "window_law_class": other}}]}
        to_document(given, ["tcp.window_law=python", "tcp.window_law_class.class=B"])


def test_parameters_of_nobody_and_a_profile_of_which_nothing_is_left_are_refused(stored, earlier):
    others = {"network": {"topology": "ring"}, "bursts": [{}], "run": {"duration": "1 ms"}}
    with pytest.raises(bl.ScenarioError, match="no flow and no demand"):
        to_document(others, ["tcp.window=16"])
    written = r"it has no effect: tcp\.window = 64 overrides it"
    for setting in ("tcp.profile=ns2", "flows[0].tcp.profile=ns2"):
        path = setting.partition("=")[0].replace("[", r"\[")
        with pytest.raises(bl.ScenarioError, match=rf"^{path} = ns2: {written}"):
            to_document(stored, [setting])
        old = r"it has no effect: flows\[0\]\.tcp\.(profile|window) = .* overrides it"
        with pytest.raises(bl.ScenarioError, match=rf"^{path} = ns2: {old}"):
            to_document(earlier, [setting])


def outcome(scenario: Any) -> str:
    return bl.run(scenario).replications[0].summary["fingerprint"]


def test_a_variant_over_a_stored_scenario_is_in_force_or_refused(stored):
    for variant in ("tahoe", "reno", "new-reno", "linux"):
        found = outcome(to_document(stored, [f"tcp.variant={variant}"]))
        assert found == outcome({**LOSSY, "tcp": {"variant": variant}}) != outcome(LOSSY)
    shown = 'its window law has no effect: tcp.window_law = "aimd" overrides it'
    for path in ("tcp", "flows[0].tcp"):
        with pytest.raises(bl.ScenarioError) as error:
            to_document(stored, [f"{path}.variant=vegas"])
        assert f"{path}.variant = vegas: {shown}" in str(error.value)
        assert "fix: set tcp.window_law too, such as tcp.window_law=vegas" in str(error.value)
        assert to_document(stored, [f"{path}.variant=vegas", "tcp.window_law=aimd"])
        both = [f"{path}.variant=vegas", "tcp.window_law=vegas"]
        found = outcome(to_document(stored, both))
        assert found == outcome({**LOSSY, "tcp": {"variant": "vegas"}})
    with pytest.raises(bl.InputError, match="its window law has no effect"):
        bl.study({"scenario": str(stored), **PLAN, "grid": {"tcp.variant": ["sack", "vegas"]}})
    # Whoever writes a scenario may have the one without the other.
    assert to_document({"tcp": {"window_law": "aimd"}}, ["tcp.variant=vegas"])


def test_a_variant_leaves_the_law_of_vegas_only_with_another(tmp_path):
    bl.run({**LOSSY, "tcp": {"variant": "vegas"}}, out=tmp_path / "vegas")
    stored = tmp_path / "vegas" / "scenario.toml"
    with pytest.raises(bl.ScenarioError, match=r'tcp.window_law = "vegas" overrides it'):
        to_document(stored, ["tcp.variant=reno"])
    found = outcome(to_document(stored, ['tcp={variant="reno", window_law="aimd"}']))
    assert found == outcome({**LOSSY, "tcp": {"variant": "reno"}})


def test_what_is_set_twice_is_refused(burstlab, small_file):
    for settings, shown in [
        (["tcp.window=8", "tcp.window=9"], "tcp.window is set after it"),
        (["tcp.window=8", "tcp={window=9}"], "tcp is set after it"),
    ]:
        with pytest.raises(bl.ScenarioError, match=shown):
            to_document(small_file, settings)
    for flags, field in [
        (["--seed", "5"], "run.seed=4"),
        (["--replications", "2"], "run.replications=4"),
        (["--max-memory", "1 GB"], "run.max_memory=2 GB"),
    ]:
        answer = burstlab("run", small_file, "--set", field, *flags)
        assert answer.status == 2 and not answer.out
        assert f"it has no effect: {flags[0]} {flags[1]} takes its place" in answer.err


def test_every_way_of_setting_a_field_that_each_flow_has(earlier, burstlab):
    """The law of all flows, over a scenario in which each flow has one."""
    shown = r"tcp.variant = reno: it has no effect: flows\[0\].tcp.variant = \"sack\" overrides it"
    answer = burstlab("run", earlier, "--set", "tcp.variant=reno")
    assert answer.status == 2 and "flows[0].tcp.variant" in answer.err and not answer.out
    answer = burstlab("view", earlier, "--set", "tcp.variant=reno")
    assert answer.status == 2 and "flows[0].tcp.variant" in answer.err
    answer = burstlab("live", earlier, "--set", "tcp.variant=reno")
    assert answer.status == 2 and "flows[0].tcp.variant" in answer.err
    for part in (
        {"set": {"tcp.variant": "reno"}},
        {"grid": {"tcp.variant": ["sack", "reno"]}},
        {"list": [{"tcp.variant": "reno"}]},
        {"list": {"tcp.variant": ["reno"]}},
        {"random": {"points": 1, "ranges": {"tcp.variant": ["reno"]}}},
        {"schemes": {"a": {"tcp.variant": "reno"}, "b": {}}},
    ):
        with pytest.raises(bl.InputError, match=shown):
            bl.study({"scenario": str(earlier), **PLAN, **part})
    with pytest.raises(bl.ScenarioError, match=shown):
        sizing.size(earlier, "goodput > 1 b/s", "tcp.variant=reno,sack", replications=2, most=2)
    with pytest.raises(bl.ScenarioError, match=shown):
        sizing.size(earlier, "goodput > 1 b/s", "tcp.window=1..4", settings=["tcp.variant=reno"])


def test_every_way_of_setting_a_field_of_a_stored_scenario(stored, tmp_path, burstlab):
    """A variant that holds, and a profile of which nothing is left, in a scenario of today."""
    answer = burstlab("run", stored, "--set", "tcp.variant=reno", "--json")
    assert answer.status == 0
    changed = outcome({**LOSSY, "tcp": {"variant": "reno"}})
    assert json.loads(answer.out)["replications"][0]["fingerprint"] == changed != outcome(stored)
    shown = "tcp.profile = ns2: it has no effect: tcp.window = 64 overrides it"
    for verb in ("run", "view", "live"):
        answer = burstlab(verb, stored, "--set", "tcp.profile=ns2")
        assert answer.status == 2 and shown in answer.err and not answer.out
    for part in (
        {"set": {"tcp.profile": "ns2"}},
        {"grid": {"tcp.profile": ["rfc", "ns2"]}},
        {"list": [{"tcp.profile": "ns2"}]},
        {"list": {"tcp.profile": ["ns2"]}},
        {"random": {"points": 1, "ranges": {"tcp.profile": ["ns2"]}}},
        {"schemes": {"a": {"tcp.profile": "ns2"}, "b": {}}},
    ):
        with pytest.raises(bl.InputError, match=shown):
            bl.study({"scenario": str(stored), **PLAN, **part})
    with pytest.raises(bl.ScenarioError, match=shown):
        sizing.size(stored, "goodput > 1 b/s", "tcp.profile=ns2,rfc", replications=2, most=2)
    with pytest.raises(bl.ScenarioError, match=shown):
        sizing.size(stored, "goodput > 1 b/s", "tcp.window=1..4", settings=["tcp.profile=ns2"])
    bl.study({"scenario": LOSSY, **PLAN}, out=tmp_path / "study")
    words = ("run", tmp_path / "study", "--point", "0", "--set")
    answer = burstlab(*words, "tcp.profile=ns2")
    assert answer.status == 2 and shown in answer.err
    answer = burstlab(*words, "tcp.variant=reno", "--json")
    assert json.loads(answer.out)["replications"][0]["fingerprint"] == changed


def test_what_a_plan_sets_and_replaces_is_refused():
    for part, shown in [
        ({"set": {"tcp.window": 8}, "grid": {"tcp.window": [1, 2]}}, "set.tcp.window.*swept too"),
        (
            {"set": {"tcp.window": 8}, "schemes": {"a": {"tcp.window": 1}, "b": {"tcp.window": 2}}},
            "set.tcp.window.*each scheme sets it",
        ),
        (
            {"grid": {"run.warmup": ["1 s", "1.5 s"]}, "warmup": "mser-5"},
            "run.warmup.*finds the warm-up",
        ),
    ]:
        with pytest.raises(bl.InputError, match=shown):
            bl.study({"scenario": LOSSY, **PLAN, **part})


LAWS = {"one": "reno", "two": "sack", "three": "cubic", "four": {"variant": "vegas", "window": 30}}

GIVEN = {
    "plain": {},
    "general": {"tcp": {"variant": "vegas", "window": 40, "rto_min": "300 ms"}},
    "profile": {"tcp": {"profile": "ns2", "delayed_ack": True}},
    "linux": {"tcp": {"profile": "linux", "receive_buffer": "100 KB"}},
    "mixed": {
        "tcp": {"window": 40},
        "flows": [{"count": 2}, {"tcp": {"delayed_ack": True}}, {"tcp": {"rto_min": "300 ms"}}],
    },
    "own": {
        "tcp": {"rto_min": "300 ms"},
        "flows": [
            {},
            {"tcp": {"window": 8}},
            {"tcp": {"profile": "ns2"}},
            {"tcp": {"profile": "linux"}},
        ],
    },
    "demand": {
        "network": {"topology": "ring", "link_length_km": 10},
        "tcp": {"window": 30},
        "demand": [{"flows_per_second": 50, "size": {"mean": "20 KB"}}],
    },
}


@pytest.mark.parametrize("name", GIVEN)
def test_laws_over_a_stored_scenario_are_those_over_the_one_it_was_made_of(name, tmp_path):
    scenario: dict[str, Any] = {**LOSSY, "run": {"duration": "500 ms", "seed": 3}, **GIVEN[name]}
    bl.run(scenario, out=tmp_path / "result")
    stored = tmp_path / "result" / "scenario.toml"
    # As earlier versions stored it: all parameters at each flow; and with all of `[tcp]` too.
    earlier = of_earlier_version(stored, scenario.get("tcp", {}))
    full = {**earlier, "tcp": to_document(stored)["tcp"]}
    tables = [
        bl.compare(LAWS, one, replications=2).study.runs.to_pylist()
        for one in (scenario, stored, earlier, full)
    ]
    numbers = [
        [{k: v for k, v in row.items() if k != "fingerprint"} for row in rows] for rows in tables
    ]
    for other in numbers[1:]:
        assert other == numbers[0]
    if name != "demand":
        means = {json.dumps(numbers[0][place], default=str) for place in (0, 2, 4)}
        assert len(means) == 3


def test_a_flow_with_a_variant_of_its_own_keeps_it_in_a_stored_scenario(tmp_path):
    own = [{}, {"tcp": {"variant": "vegas"}}, {"tcp": {"variant": "linux", "rto_min": "300 ms"}}]
    scenario = {**LOSSY, "tcp": {"window": 40}, "flows": own}
    bl.run(scenario, out=tmp_path / "result")
    stored = tmp_path / "result" / "scenario.toml"
    earlier = of_earlier_version(stored, {"window": 40})
    runs = [
        bl.compare(["reno", "sack", "vegas"], one, replications=1).study.runs.to_pylist()
        for one in (scenario, stored, earlier)
    ]
    assert runs[0] == runs[1] == runs[2]
    assert len({row["fingerprint"] for row in runs[0]}) == 3


def test_a_scenario_that_no_run_resolved_stays_as_it_is():
    for given in ({}, *GIVEN.values(), {"flows": [{"tcp": {"variant": "sack"}}]}):
        assert unresolved({**LOSSY, **given}) == {**LOSSY, **given}


def test_laws_of_flows_that_have_their_own_are_refused(tmp_path):
    other = {**LOSSY, "flows": [{"tcp": {"variant": "reno"}}]}
    bl.run(other, out=tmp_path / "result")
    stored = tmp_path / "result" / "scenario.toml"
    for one in (other, stored, of_earlier_version(stored, {})):
        with pytest.raises(bl.InputError, match=r"tcp.variant = sack: .*flows\[0\].tcp.variant"):
            bl.compare(["sack", "reno"], one, replications=1)
    alone = {**LOSSY, "flows": [{"tcp": {"variant": "sack"}}]}
    with pytest.raises(bl.InputError, match=r"tcp.variant = reno: .*flows\[0\].tcp.variant"):
        bl.compare(["reno", "sack"], alone, replications=1)
    scenario = {**LOSSY, "flows": [{"tcp": {"variant": "sack"}}, {}]}
    found = bl.compare(["reno", "sack"], scenario, replications=1)
    resolved = [found.study.scenario(0, name) for name in found.names]
    assert [tcp_of(one, one["flows"][1])["variant"] for one in resolved] == ["reno", "sack"]
    assert [tcp_of(one, one["flows"][0])["variant"] for one in resolved] == ["sack", "sack"]


def test_the_scenarios_own_window_law_gives_way(root):
    law = {"file": str(root / "examples/laws/scalable.py"), "class": "Scalable"}
    own = {**LOSSY, "tcp": {"window_law": "python", "window_law_class": law}}
    found = bl.compare(["reno", "sack"], own, replications=1).study.runs.to_pylist()
    plain = bl.compare(["reno", "sack"], LOSSY, replications=1).study.runs.to_pylist()
    assert [row["fingerprint"] for row in found] == [row["fingerprint"] for row in plain]


def test_pages_say_which_fields_override_which(root):
    text = (root / "docs/reference/cli.md").read_text(encoding="utf-8")
    for general, near in nearer.PAIRS.items():
        row = f"| `{general}` | {', '.join(f'`{one}`' for one in near)} |"
        assert row in text, row
