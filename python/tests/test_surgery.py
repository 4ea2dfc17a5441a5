"""Surgery on bursts: what it does, what it leaves alone, and what a lost burst has cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audit.generator import scenario
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab import _core
from burstlab.errors import InputError
from burstlab.surgery.operations import entries

#: Examples of each random test; `make fuzz` draws others.
CASES = 40

random = settings(
    max_examples=CASES,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

MESH: dict[str, Any] = {
    "network": {"topology": "ring", "nodes": 5, "wavelengths": 1, "link_rate": "50 Mb/s"},
    "access": {"rate": "20 Mb/s"},
    "edge": {
        "assembly": "hybrid",
        "timer": "2 ms",
        "size": "9 KB",
        "port": "shared",
        "ack": {"with_data": True},
    },
    "signalling": {"guard": "300 us"},
    "flows": [{"from": "1", "to": "3", "count": 2}],
    "demand": [
        {
            "flows_per_second": 12,
            "per": "node",
            "size": {"distribution": "exponential", "mean": "30 KB"},
        }
    ],
    "run": {"duration": "1 s", "warmup": "100 ms"},
}

PATH: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "tcp": {"variant": "sack", "window": 30},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "run": {"duration": "5 s"},
}


def lost(document: Any) -> list[dict[str, Any]]:
    resolved = bl.resolve(document)
    seed = int(resolved["run"]["seed"])
    prices = _core.Prices(json.dumps(resolved), (seed, 0), _core.Monitor())
    return json.loads(prices.lost())


def named(one: dict[str, Any]) -> str:
    return f"ack:{one['burst']}" if one["back"] else str(one["burst"])


def numbers(result: bl.Result) -> dict[str, Any]:
    """All numbers of a run but what was done to it, and its events: none is left out then."""
    summary: dict[str, Any] = {**result.replications[0].summary}
    summary.pop("surgery", None)
    summary.pop("events_per_packet")
    summary.pop("speed")
    counters = dict(summary["counters"])
    for work in ("events", "core_events", "packets_one_by_one"):
        del counters[work]
    return {**summary, "counters": counters}


def operated(document: Any, **operations: Any) -> dict[str, Any]:
    return {**document, "surgery": entries(**operations)}


def drawn(number: int) -> tuple[str, dict[str, Any]]:
    family, document = scenario(number, seed=22)
    document["run"].pop("replications", None)
    return family, document


@random
@given(number=st.integers(0, 10_000), place=st.integers(0, 1000))
def test_a_burst_that_is_spared_and_killed_again_is_lost_as_it_was(number, place):
    _, document = drawn(number)
    found = lost(document)
    assume(found)
    burst = named(found[place % len(found)])
    plain = bl.run(document, replications=1)
    both = bl.run(operated(document, spare=burst, kill=burst), replications=1)
    cut = "segmentation" in document.get("core", {}).get("contention", [])
    if cut and found[place % len(found)]["cause"] == "cut":
        return
    assert numbers(both) == numbers(plain)


@random
@given(number=st.integers(0, 10_000), burst=st.integers(1, 400))
def test_a_burst_that_is_not_lost_cannot_be_spared(number, burst):
    _, document = drawn(number)
    plain = bl.run(document, replications=1)
    spared = bl.run(operated(document, spare=burst), replications=1)
    (done,) = spared.replications[0].summary.get("surgery", [])
    if done["effect"] != "done":
        assert numbers(spared) == numbers(plain)
        assert done["at_s"] is None and done["bursts"] == 0
    else:
        assert done["at_s"] is not None


@random
@given(
    number=st.integers(0, 10_000),
    place=st.integers(0, 1000),
    operation=st.sampled_from(["spare", "kill", "delay"]),
)
def test_a_run_that_is_cut_and_operated_is_the_operated_run(number, place, operation):
    _, document = drawn(number)
    found = lost(document)
    burst: Any = named(found[place % len(found)]) if found else 1 + place % 50
    asked: Any = {operation: burst} if operation != "delay" else {"delay": {burst: "3 ms"}}
    whole = bl.run(operated(document, **asked), replications=1)
    (done,) = whole.replications[0].summary.get("surgery", [])
    assume(done["effect"] != "absent")
    cut = bl.what_if(document, trace=(), **asked)
    assert numbers(cut.other) == numbers(whole)
    assert cut.operations == [done]
    assert numbers(cut.first) == numbers(bl.run(document, replications=1))


def test_a_checkpoint_spares_what_was_before_and_changes_nothing(tmp_path):
    burst = named(lost(MESH)[-1])
    kept = tmp_path / "before.ckpt"
    first = bl.what_if(MESH, spare=burst, checkpoint=kept)
    assert kept.is_file()
    again = bl.what_if(MESH, spare=burst, checkpoint=kept)
    assert again.summary | {"wall_s": 0, "parted_s": 0} == first.summary | {
        "wall_s": 0,
        "parted_s": 0,
    }
    with pytest.raises(bl.InputError, match="closed before"):
        bl.what_if(MESH, spare=1, checkpoint=kept)


def test_what_differs_is_what_two_whole_runs_tell():
    burst = int(named(lost(MESH)[3]))
    found = bl.what_if(MESH, spare=burst)
    whole = [
        bl.run(document, trace=("packets", "bursts"))
        for document in (MESH, operated(MESH, spare=burst))
    ]
    (done,) = found.operations
    assert done["effect"] == "done" and not found.same
    rows = {row["connection"]: row for row in found.connections.to_pylist()}
    assert set(done["connections"]) <= rows.keys()
    for number in done["connections"]:
        assert rows[number]["aboard"]
    # The first packet that differs, packet by packet.
    for number, row in rows.items():
        if row["different_ps"] is None:
            continue
        sides = [
            [
                tuple(one[name] for name in ("sent_ps", "kind", "seq", "delivered_ps", "fate"))
                for one in run.packets.where(flow=number).to_pylist()
            ]
            for run in whole
        ]
        pairs = zip(*sides, strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if first is not None:
            assert row["different_ps"] == min(one[0] for one in first)
    # Completion times are those of the tables of connections.
    for side, run in zip(("first", "other"), whole, strict=True):
        ends = {row["id"]: row["received_ps"] for row in run.connections.to_pylist()}
        for number, row in rows.items():
            if number in ends and ends[number] is not None:
                assert row[f"received_{side}_s"] == pytest.approx(ends[number] * 1e-12)
    # Bursts that fare otherwise: the operated one is among them.
    mine = [row for row in found.bursts.to_pylist() if row["burst_first"] == burst]
    assert [row["fate_other"] for row in mine] != ["lost"] and mine[0]["fate_first"] == "lost"


def test_slots_are_operated_on_by_their_number():
    from audit.generator import FAMILIES

    document = next(
        document
        for number in range(FAMILIES.index("slots"), 400, len(FAMILIES))
        if lost(document := drawn(number)[1])
    )
    burst = lost(document)[0]["burst"]
    spared = bl.what_if(document, spare=burst)
    assert spared.operations[0]["effect"] == "done"
    ops = [result.ops[0] for result in (spared.first, spared.other)]
    for one in ops:
        ended = one["slots_delivered"] + one["slots_in_flight"]
        dropped = one["slots_dropped_contention"] + one["slots_dropped_congestion"]
        assert one["slots_sent"] == ended + dropped
    killed = bl.what_if(document, kill=1)
    assert killed.operations[0]["effect"] == "done"
    ops = killed.other.ops[0]
    assert ops["slots_killed"] == 1
    for port in ops["ports"]:
        dropped = port["dropped_contention"] + port["dropped_congestion"]
        assert port["arrived"] >= port["carried"] + dropped


def test_prices_are_those_of_one_surgery_each_for_any_number_of_workers():
    found = bl.blame(MESH, jobs=2)
    alone = bl.blame(MESH, jobs=1)
    assert found.prices.to_arrow().equals(alone.prices.to_arrow())
    losses = lost(MESH)
    assert found.lost == len(losses) == len(found.prices)
    for row in (found.top(1)[0], found.prices.to_pylist()[-1]):
        asked = bl.what_if(MESH, spare=row["burst"], trace=())
        sides = [{one["id"]: one for one in reached} for reached in asked.reached]
        gained = sum(sides[1][n]["bytes"] - sides[0][n]["bytes"] for n in sides[0])
        assert row["bytes"] == gained
        ps = sum(
            sides[0][n]["until_ps"] - sides[1][n]["until_ps"]
            for n in sides[0]
            if sides[0][n]["until_ps"] is not None
        )
        assert row["seconds"] == pytest.approx(ps * 1e-12)
    aboard = {named(one): set(one["connections"]) for one in losses}
    indirect = 0
    for row in found.prices.to_pylist():
        asked = bl.what_if(MESH, spare=row["burst"], trace=())
        first, other = ({one["id"]: one for one in reached} for reached in asked.reached)
        others = first.keys() - aboard[str(row["burst"])]
        assert row["bytes_indirect"] == sum(other[n]["bytes"] - first[n]["bytes"] for n in others)
        ended = [n for n in others if first[n]["until_ps"] is not None]
        ps = sum(first[n]["until_ps"] - other[n]["until_ps"] for n in ended)
        assert row["seconds_indirect"] == pytest.approx(ps * 1e-12)
        indirect += ps != 0 and row["seconds_indirect"] != row["seconds"]
    assert indirect > 0
    # All together: no burst of data or of ACKs is lost.
    none = bl.run(operated(MESH, spare="all"))
    assert none.counters["bursts_lost"] == none.counters["ack_bursts_lost"] == 0
    assert found.sums["bytes"].mean == sum(found.prices["bytes"])


def test_a_sample_says_so_and_a_horizon_cuts_prices():
    whole = bl.blame(MESH)
    sample = bl.blame(MESH, sample=10)
    assert sample.sampled and len(sample.prices) == 10 and sample.lost == whole.lost
    known = {row["burst"]: row for row in whole.prices.to_pylist()}
    assert all(known[row["burst"]] == row for row in sample.prices.to_pylist())
    estimate = sample.sums["seconds"]
    assert estimate.ci95 is not None and estimate.n == 10
    far = bl.blame(MESH, horizon="100 s")
    assert [row["bytes"] for row in far.top(9)] == [row["bytes"] for row in whole.top(9)]
    near = bl.blame(MESH, horizon="1 us")
    assert near.horizon_s == pytest.approx(1e-6)
    assert all(row["seconds_indirect"] == 0.0 for row in near.prices.to_pylist())


def test_the_bursts_of_one_flow_have_the_prices_that_they_have_among_all():
    whole = bl.blame(MESH)
    places = {(one["burst"], one["acks"]): one for one in lost(MESH)}
    of = {
        row["burst"]: places[row["burst"], row["direction"] == "ack"]["connections"]
        for row in whole.prices.to_pylist()
    }
    flow = max({one for carried in of.values() for one in carried}, key=lambda one: hits(of, one))
    assert 2 <= hits(of, flow) < whole.lost
    found = bl.blame(MESH, flow=flow)
    expected = [row for row in whole.prices.to_pylist() if flow in of[row["burst"]]]
    assert found.prices.to_pylist() == expected
    assert (found.lost, found.flow, found.sampled) == (len(expected), flow, False)
    assert found.all == whole.all and whole.flow is None
    sample = bl.blame(MESH, flow=flow, sample=1)
    assert sample.sampled and sample.lost == len(expected)
    assert sample.prices.to_pylist()[0] in expected
    with pytest.raises(
        InputError, match=r"flow = 1000000: (.|\n)*fix: choose a flow that lost some"
    ):
        bl.blame(MESH, flow=1_000_000)


def hits(of: dict[int, list[int]], flow: int) -> int:
    return sum(flow in carried for carried in of.values())


def test_prices_go_on_where_they_were_stopped(tmp_path, monkeypatch):
    from burstlab.surgery import ledger

    whole = bl.blame(PATH, out=tmp_path / "whole")
    assert {path.name for path in (tmp_path / "whole").iterdir()} == {
        "prices.parquet",
        "blame.json",
    }
    out, noted = tmp_path / "cut", []

    def note(self: Any, price: Any) -> None:
        if len(noted) >= 3:
            raise KeyboardInterrupt
        noted.append(price)
        kept(self, price)

    kept = ledger.Ledger.note
    monkeypatch.setattr(ledger.Ledger, "note", note)
    with pytest.raises(KeyboardInterrupt):
        bl.blame(PATH, out=out, jobs=1)
    monkeypatch.undo()
    assert len((out / ledger.NAME).read_text(encoding="utf-8").splitlines()) == 4
    with pytest.raises(bl.InputError, match="another run"):
        bl.blame(PATH, out=out, seed=5, resume=True)
    prices = out / ledger.NAME
    lines = prices.read_text(encoding="utf-8").splitlines()
    kept_text = prices.read_text(encoding="utf-8")
    for line in lines[1:]:
        name = next(key for key, value in json.loads(line).items() if isinstance(value, int))
        altered = json.dumps({**json.loads(line), name: json.loads(line)[name] + 1})
        for wrong in (altered, line[:-1], line.replace('"seal"', '"sea1"')):
            prices.write_text(kept_text.replace(line, wrong), encoding="utf-8")
            with pytest.raises(bl.InputError, match="is damaged"):
                bl.blame(PATH, out=out, resume=True)
    prices.write_text(kept_text + lines[1][:9], encoding="utf-8")  # cut off as it was written
    again = bl.blame(PATH, out=out, resume=True)
    assert again.prices.to_arrow().equals(whole.prices.to_arrow())


def test_commands_ask_and_answer(burstlab, tmp_path):
    file = tmp_path / "mesh.json"
    result = tmp_path / "run"
    bl.run(MESH, out=result, trace="bursts")
    burst = named(lost(MESH)[2])
    answer = burstlab("what-if", result, "--spare", burst, "--json")
    assert answer.status == 0
    assert answer.json()["operations"][0]["effect"] == "done"
    out, figure = tmp_path / "out", tmp_path / "parted.svg"
    answer = burstlab("what-if", result, "--spare", burst, "--out", out, "--figure", figure)
    assert answer.status == 0 and "it would be lost" in answer.out
    assert figure.is_file() and not file.exists()
    assert {path.name for path in out.iterdir()} >= {
        "first",
        "other",
        "different_connections.parquet",
        "different_bursts.parquet",
        "what-if.json",
    }
    other = bl.read(out / "other")
    assert other.scenario["surgery"] == [{"burst": int(burst), "operation": "spare"}]
    # Killed again, it is the first run.
    again = bl.what_if(out / "other", kill=int(burst), trace=())
    assert numbers(again.other) == numbers(bl.run(MESH))
    price = burstlab("blame", result, "--top", "3", "--figure", tmp_path / "prices.svg", "--json")
    assert price.status == 0 and len(price.json()["top"]) == 3
    text = burstlab("blame", result, "--sample", "5")
    assert text.status == 0 and "a sample of 5 priced" in text.out
    flow = lost(MESH)[0]["connections"][0]
    text = burstlab("blame", result, "--flow", flow, "--top", "2")
    assert text.status == 0 and f"with packets of flow {flow}, all priced" in text.out
    text = burstlab("blame", result, "--flow", "1000000")
    assert text.status == 2 and "fix: choose a flow that lost some" in text.err


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--spare", "99999999"], "there is no such burst"),
        (["--spare", "x"], "not the number of a burst"),
        (["--spare", "0"], "not the number of a burst"),
        ([], "no burst is named"),
        (["--delay", "7"], "not a burst and a time"),
        (["--delay", "7=2 parsecs"], "--delay"),
        (["--delay", "7=0 s"], "the delay must be above 0"),
        (["--spare", "ack:7"], "surgery[0].direction"),
        (["--spare", "7", "--until", "soon"], "--until"),
        (["--spare", "7", "--replication", "4"], "--replication 4"),
        (["--spare", "7", "--seed", "9"], "of seed 1"),
        (["--spare", "7", "--trace", "windows"], "unknown table"),
    ],
)
def test_what_cannot_be_asked_is_answered_with_its_mend(burstlab, tmp_path, flags, says):
    bl.run(MESH, out=tmp_path / "run")
    answer = burstlab("what-if", tmp_path / "run", *flags)
    assert answer.status == 2
    assert says in answer.err and "fix:" in answer.err


def test_a_result_has_to_be_whole_and_of_this_version(burstlab, tmp_path):
    where = tmp_path / "run"
    bl.run(MESH, out=where)
    for command in (["what-if", where, "--spare", "7"], ["blame", where]):
        summary = json.loads((where / "summary.json").read_text())
        (where / "summary.json").write_text(json.dumps({**summary, "burstlab": "0.0.9"}))
        answer = burstlab(*command)
        assert answer.status == 2 and "0.0.9" in answer.err and "fix:" in answer.err
        (where / "summary.json").write_text(json.dumps({**summary, "fingerprint": "0" * 16}))
        answer = burstlab(*command)
        assert answer.status == 2 and "fingerprint" in answer.err
        (where / "summary.json").write_text(json.dumps(summary))
        scenario = (where / "scenario.toml").read_bytes()
        (where / "scenario.toml").unlink()
        answer = burstlab(*command)
        assert answer.status == 2 and "scenario.toml" in answer.err
        (where / "scenario.toml").write_bytes(scenario)
    calm = {**PATH, "loss": {}}
    file = Path(tmp_path / "calm.toml")
    file.write_text('[run]\nduration = "1 s"\n')
    answer = burstlab("blame", file)
    assert answer.status == 2 and "has lost no burst" in answer.err
    assert bl.run(calm).counters["bursts_lost"] == 0


def test_what_is_said_of_a_lost_burst_is_what_its_row_says():
    """Its node and its kind, in either direction of a path and in a mesh."""
    path = {
        **PATH,
        "network": {"core_nodes": 3},
        "edge": {
            "assembly": "timer",
            "timer": "5 ms",
            "ack": {"assembly": "timer", "timer": "1 ms"},
        },
        "loss": {
            "data": {"process": "every", "n": 30, "node": 1},
            "ack": {"process": "every", "n": 40, "node": 0},
        },
    }
    mesh = {**MESH, "edge": {**MESH["edge"], "ack": {}}}
    kinds = set()
    for document in (path, mesh):
        bursts = bl.run(document, trace=("bursts",)).bursts.to_pylist()
        rows = {
            (row["direction"], row["burst"]): row["node"] for row in bursts if row["fate"] == "lost"
        }
        for price in bl.blame(document, sample=40).prices.to_pylist():
            kinds.add(price["direction"])
            assert rows[price["direction"], price["burst"]] == price["node"]
    assert kinds == {"data", "ack"}
    spared = bl.what_if(path, spare="ack:40")
    assert spared.operations[0]["node"] == 4


def test_a_slot_that_is_spared_has_the_cause_that_it_is_lost_by():
    from audit.generator import FAMILIES

    def causes(document: Any) -> dict[str, int]:
        return {one["cause"]: one["burst"] for one in reversed(lost(document))}

    numbers = range(FAMILIES.index("slots"), 400, len(FAMILIES))
    documents = (drawn(number)[1] for number in numbers)
    document = next(one for one in documents if "congestion" in causes(one))
    for cause, burst in causes(document).items():
        operation = bl.what_if(document, spare=burst).operations[0]
        assert (operation["effect"], operation["cause"]) == ("done", cause)


def test_an_operation_that_changes_nothing_is_a_warning(burstlab, tmp_path):
    """Nobody should take the same two runs for an answer."""
    bursts = bl.run(PATH, trace="bursts").bursts.where(direction="data").to_pylist()
    delivered = next(row["burst"] for row in bursts if row["fate"] == "delivered")
    hit = next(row["burst"] for row in bursts if row["fate"] == "lost")
    said = {
        "spare": (delivered, "it is not lost", "fate in the table bursts is lost"),
        "kill": (hit, "it is lost by itself", "fate in the table bursts is delivered"),
        "delay": (hit, "lands neither earlier nor later", "fate in the table bursts is delivered"),
    }
    bl.run(PATH, out=tmp_path / "run")
    for operation, (burst, why, fix) in said.items():
        value = f"{burst}=2ms" if operation == "delay" else str(burst)
        answer = burstlab("what-if", tmp_path / "run", f"--{operation}", value)
        assert answer.status == 0
        assert "warning: surgery changes nothing" in answer.err
        assert why in answer.err and f"fix: name one whose {fix}" in answer.err
        asked: Any = {burst: "2 ms"} if operation == "delay" else burst
        found = bl.what_if(PATH, trace=(), **{operation: asked})
        assert found.same and len(found.warnings) == 1 and why in found.warnings[0]
        assert found.summary["warnings"] == found.warnings
        # A run of it says so as well.
        whole = bl.run(operated(PATH, **{operation: asked}))
        assert whole.warnings == whole.summary["warnings"] == found.warnings
    done = bl.what_if(PATH, spare=hit, trace=())
    assert done.warnings == []
    absent = bl.run(operated(PATH, spare=10**6))
    (line,) = absent.warnings
    assert "the run has no such burst" in line and "fix: name one of the table bursts" in line


def test_an_operation_that_changes_one_replication_is_no_warning():
    """A burst of a number is lost in one of several replications."""
    result = bl.run(PATH, replications=3, trace="bursts")
    fates: dict[int, set[str]] = {}
    for row in result.bursts.where(direction="data").to_pylist():
        fates.setdefault(row["burst"], set()).add(row["fate"])
    burst = next(number for number, one in fates.items() if one == {"lost", "delivered"})
    spared = bl.run(operated(PATH, spare=burst), replications=3)
    entries = [one.summary.get("surgery", []) for one in spared.replications]
    effects = {entry["effect"] for one in entries for entry in one}
    assert effects == {"done", "nothing"}
    assert spared.warnings == []


def test_a_burst_behind_the_end_comes_later(burstlab, tmp_path):
    path = tmp_path / "one.toml"
    path.write_text("[edge]\nassembly = 'timer'\ntimer = '40 ms'\n[run]\nduration = '20 s'\n")
    found = bl.run(path, trace="bursts")
    closed = found.bursts.where(burst=300, direction="data").to_pylist()[0]["closed_ps"] * 1e-12
    answer = burstlab("what-if", path, "--kill", "300", "--until", "5 s")
    assert answer.status == 2
    assert "it comes later" in answer.err and "--until ends the run at 5 s" in answer.err
    assert "fix: leave out --until" in answer.err
    for flags in ([], ["--until", f"{closed + 1} s"]):
        assert burstlab("what-if", path, "--kill", "300", *flags).status == 0
    answer = burstlab("what-if", path, "--kill", "30000", "--until", "5 s")
    assert answer.status == 2 and "there is no such burst" in answer.err
