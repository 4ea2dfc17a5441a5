"""The page of slots, and that of a study."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pages import PATH, SLOTS, about, ask, data, recorded, serving

import burstlab as bl
from burstlab.page import viewer
from burstlab.storage import sums

# Slots.


@pytest.fixture(scope="module")
def slots(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("page") / "slots"
    recorded(SLOTS, where)
    return where


def test_slots_are_drawn_from_their_packets(slots):
    page, result = viewer(slots), bl.read(slots)
    drawn = about(page)["network"]
    assert (drawn["slots"], drawn["path"]) == (True, False)
    assert [node["name"] for node in drawn["nodes"]] == ["in", "udp", "core", "out"]
    delays = {(one["from"], one["to"]): one["delay_s"] for one in drawn["fibres"]}
    assert (delays[0, 2], delays[1, 2], delays[2, 3]) == (1e-3, 5e-4, 1e-3)
    _, found = data(page, "bursts", **{"from": 0, "to": 2})
    assert (np.diff(found["left_s"]) >= 0).all()
    number = {(one["from"], one["to"]): i for i, one in enumerate(drawn["fibres"])}
    forth, back = [number[0, 2], number[2, 3]], [number[3, 2], number[2, 0]]
    packets = result.packets.where(fate="delivered").to_pylist()
    for row in packets[:: len(packets) // 50]:
        if row["kind"] == "udp":
            continue
        mine = np.flatnonzero(found["burst"] == row["burst"])
        assert found["fibre"][mine].tolist() == (back if row["kind"] == "ack" else forth)
        assert found["left_s"][mine[0]] == pytest.approx(row["departed_ps"] * 1e-12)
        assert found["left_s"][mine[1]] + 1e-3 <= row["egress_ps"] * 1e-12 + 1e-9


def test_dropped_slots_are_those_of_the_ledger(slots):
    page, result = viewer(slots), bl.read(slots)
    behind = {
        (row["burst"], row["node"], row["port"], row["lost_ps"])
        for row in result.table("ledger_losses").to_pylist()
        if row["port"]
    }
    _, losses = data(page, "losses")
    assert len(losses["t_s"]) == len(behind) > 5
    assert set(losses["burst"].tolist()) == {one[0] for one in behind}
    assert (np.diff(losses["t_s"]) >= 0).all()
    fibres = about(page)["network"]["fibres"]
    _, found = data(page, "bursts", **{"from": 0, "to": 2})
    refused = np.flatnonzero(found["wavelength"] < 0)
    got = {
        (int(found["burst"][i]), fibres[found["fibre"][i]]["from"] + 1,
         fibres[found["fibre"][i]]["to"] + 1)
        for i in refused
    }  # fmt: skip
    assert got == {one[:3] for one in behind}
    assert all(found["lost"][found["burst"] == one[0]].all() for one in behind)


def test_slots_without_a_ledger_move_all_the_same(tmp_path, slots, monkeypatch):
    for name in ("packets.parquet", "summary.json", "scenario.toml", "flows.parquet"):
        (tmp_path / name).write_bytes((slots / name).read_bytes())
    page = viewer(tmp_path)
    assert about(page)["missing"] == ["bursts", "cwnd", "ledger"]
    assert len(data(page, "losses")[1]["t_s"]) == 0
    monkeypatch.setattr("burstlab.page.slots.SLOTS", 100)
    said, found = data(viewer(tmp_path), "bursts", **{"from": 0, "to": 2})
    assert said["every"] > 1
    assert (found["burst"] % said["every"] == 0).all()
    (tmp_path / "packets.parquet").unlink()
    with pytest.raises(bl.InputError, match="the table packets was not recorded"):
        viewer(tmp_path)


# Studies.


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("page") / "study"
    plan = {
        "scenario": PATH,
        "grid": {"tcp.window": [8, 64]},
        "schemes": {"reno": {}, "sack": {"tcp.variant": "sack"}},
        "replications": 2,
    }
    bl.study(plan, out=where, report=False)
    return where


def test_a_run_of_a_study_is_made_again_and_shown(study):
    page, found = viewer(study, point=1, scheme="sack", replication=1), bl.read_study(study)
    shown = about(page)
    assert shown["study"]["chosen"] == {"point": 1, "scheme": "sack", "replication": 1}
    assert shown["study"]["points"][1] == {"point": 1, "told": "tcp.window = 64"}
    assert (shown["study"]["schemes"], shown["study"]["replications"]) == (["reno", "sack"], 2)
    for point, scheme, replication in ((1, "sack", 1), (0, "reno", 0)):
        query = {"point": str(point), "scheme": scheme, "replication": str(replication)}
        body = json.loads(page.data["data/about"](query).content)
        rows = found.runs.where(point=point, scheme=scheme, replication=replication)
        assert body["fingerprint"] == rows["fingerprint"][0]
        _, losses = data(page, "losses", **query)
        assert len(losses["t_s"]) == rows["counters.bursts_lost"][0]
        _, flow = data(page, "flow", flow=0, **query)
        assert len(flow["sent_s"]) == rows["flows.mean.packets_sent"][0]
    assert "--point 1 --scheme sack" in shown["record"]


def test_runs_that_are_no_longer_looked_at_are_made_again(study):
    page = viewer(study)
    before = about(page)
    for choice in ((0, "sack", 0), (0, "sack", 1), (1, "reno", 0), (1, "sack", 1)):
        names = ("point", "scheme", "replication")
        page.data["data/about"](dict(zip(names, map(str, choice), strict=True)))
    assert about(page) == before


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("point=2", "the study has 2"),
        ("point=-1", "use 0 to 1"),
        ("point=x", "are numbers"),
        ("scheme=tahoe", "unknown scheme"),
        ("replication=2", "use 0 to 1"),
    ],
)
def test_a_run_that_a_study_has_not_is_refused(study, query, shown):
    with serving(viewer(study)) as running:
        answer, body = ask(running, f"/{running.token}/data/about?{query}")
    assert answer.status == 400
    assert shown in body.decode()


def test_a_study_of_another_build_is_refused(study, tmp_path, burstlab):
    import pyarrow as pa
    import pyarrow.parquet as pq

    other = tmp_path / "other"
    other.mkdir()
    for file in study.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    table = pq.read_table(other / "runs.parquet")
    place = table.schema.get_field_index("fingerprint")
    prints = pa.array(["0" * 16] * table.num_rows)
    changed = table.set_column(place, "fingerprint", prints)
    pq.write_table(changed, other / "runs.parquet", compression="zstd")
    sums.note_sums(other, {"runs.parquet": sums.sum_of(other / "runs.parquet")})
    answer = burstlab("view", other, "--no-open")
    assert answer.status == 2
    assert "the repeated run is not the stored one" in answer.err
    answer = burstlab("view", study, "--point", 7, "--no-open")
    assert (answer.status, "use 0 to 1" in answer.err) == (2, True)
