"""Comparing results: which parameters and metrics differ, against tests done by hand."""

from __future__ import annotations

import cProfile
import json
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from scipy import stats

import burstlab as bl
from burstlab.documents.paths import without_none
from burstlab.documents.stored_fields import Fields, leaves
from burstlab.measures.comparing import compare, find
from burstlab.statistics import holm, paired_difference, welch_difference
from burstlab.storage.columnar import database

# Student's data on the sleep of ten patients (Biometrika 6, 1908), the usual example of both tests.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_tests_give_the_values_of_the_literature():
    paired = paired_difference(FIRST, SECOND)
    assert paired.paired
    assert paired.difference.mean == pytest.approx(-1.58)
    assert paired.p == pytest.approx(0.002833, abs=1e-6)
    assert (paired.difference.low, paired.difference.high) == pytest.approx(
        (-2.4599, -0.7001), abs=1e-4
    )
    welch = welch_difference(FIRST, SECOND)
    assert not welch.paired
    assert welch.p == pytest.approx(0.07939, abs=1e-5)
    assert (welch.difference.low, welch.difference.high) == pytest.approx(
        (-3.3655, 0.2055), abs=1e-4
    )
    assert welch.p == pytest.approx(stats.ttest_ind(FIRST, SECOND, equal_var=False)[1])


def test_what_never_varies_is_equal_or_different():
    assert paired_difference([1, 1], [1, 1]).p == 1.0
    assert paired_difference([2, 2], [1, 1]).p == 0.0
    assert welch_difference([2, 2], [1, 1, 1]).p == 0.0
    assert paired_difference([2], [1]).p is None
    assert welch_difference([2], [1, 2]).p is None


def test_holm_multiplies_by_the_number_of_tests_that_are_left():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


SCENARIO: dict[str, Any] = {
    "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
    "run": {"duration": "20 s"},
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, variant, seed in (("reno", "reno", 1), ("sack", "sack", 1), ("other", "reno", 2)):
        scenario = {**SCENARIO, "tcp": {"variant": variant}}
        bl.run(scenario, seed=seed, replications=6, out=tmp_path / name)
    return tmp_path


def metric(found: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = [row for row in found["differences"] if row["metric"] == name]
    return row


def test_runs_with_the_same_seed_are_compared_in_pairs(runs, burstlab):
    answer = burstlab("results", runs / "reno", runs / "sack", "--json")
    found = answer.json()
    assert (answer.status, answer.err) == (0, "")
    assert [one["kind"] for one in found["results"]] == ["run", "run"]
    assert found["parameters"]["tcp.variant"] == ["reno", "sack"]
    assert "run.seed" not in found["parameters"]
    row = metric(found, "flows.mean.goodput_bps")
    goodputs = {
        name: [one.summary["flows"][0]["goodput_bps"] for one in bl.read(runs / name).replications]
        for name in ("sack", "reno")
    }
    expected = stats.ttest_rel(goodputs["sack"], goodputs["reno"])
    assert row["test"] == "paired"
    assert row["p"] == pytest.approx(expected[1])
    tested = [one["p"] for one in found["differences"] if one["p_holm"] is not None]
    assert found["tests"] == len(tested) > 5
    assert row["p_holm"] == pytest.approx(holm(tested)[tested.index(row["p"])])
    # A metric that is equal in every run is no test.
    assert metric(found, "counters.other_sent")["p_holm"] is None


def test_runs_with_other_seeds_are_compared_by_welch(runs, burstlab):
    found = burstlab("results", runs / "reno", runs / "other", "--json").json()
    assert found["parameters"]["run.seed"] == [1, 2]
    row = metric(found, "flows.mean.goodput_bps")
    assert row["test"] == "welch"
    # The same scenario: no difference is there to be found.
    assert not any(one["significant"] for one in found["differences"])


def test_a_directory_of_results_is_listed(runs, burstlab):
    answer = burstlab("results", runs)
    assert answer.status == 0
    assert "tcp.variant" in answer.out
    assert "paired by replication" in answer.out
    assert "Holm" in answer.out


def test_studies_are_compared_point_by_point(tmp_path, burstlab):
    plan: dict[str, Any] = {
        "scenario": SCENARIO,
        "grid": {"tcp.window": [4, 40]},
        "schemes": {"reno": {"tcp.variant": "reno"}, "sack": {"tcp.variant": "sack"}},
        "replications": 4,
        "metrics": ["flows.mean.goodput_bps"],
    }
    bl.study(plan, out=tmp_path / "a")
    slower = {**SCENARIO, "access": {"delay": "30 ms"}}
    bl.study({**plan, "scenario": slower}, out=tmp_path / "b")
    found = burstlab("results", tmp_path / "a", tmp_path / "b", "--json").json()
    assert found["parameters"] == {"scenario.access.delay": [None, "30 ms"]}
    assert [(row["point"], row["scheme"]) for row in found["differences"]] == [
        ({"tcp.window": window}, scheme) for window in (4, 40) for scheme in ("reno", "sack")
    ]
    assert all(row["test"] == "paired" for row in found["differences"])
    assert found["differences"][0]["significant"]
    alone = burstlab("results", tmp_path / "a", "--json").json()
    assert [(row["result"], row["over"]) for row in alone["differences"]] == [("sack", "reno")] * 2
    assert "sack / reno" in burstlab("results", tmp_path / "a").out
    half = burstlab("results", tmp_path / "a", tmp_path / "b")
    assert "scenario.access.delay" in half.out


def test_a_query_goes_over_all_directories(runs, tmp_path, burstlab):
    plan = {"scenario": SCENARIO, "grid": {"tcp.window": [4, 40]}, "replications": 2}
    bl.study(plan, out=tmp_path / "study")
    sql = 'select "tcp.window" as w, count(*) as n from runs group by 1 order by 1'
    answer = burstlab("results", tmp_path / "study", "--sql", sql, "--json")
    assert answer.json() == [{"w": 4, "n": 2}, {"w": 40, "n": 2}]
    sql = "select result, count(*) as n from flows group by 1 order by 1"
    found = burstlab("results", runs / "reno", runs / "sack", "--sql", sql, "--json").json()
    assert [row["n"] for row in found] == [6, 6]
    assert Path(found[0]["result"]) == runs / "reno"
    assert "6" in burstlab("results", runs / "reno", "--sql", sql).out
    bad = burstlab("results", runs / "reno", "--sql", "select * from nothing")
    assert (bad.status, "the tables are flows" in bad.err) == (2, True)


def test_a_query_is_json_whatever_its_values_are(burstlab, runs):
    sql = (
        "select 'nan'::double as x, ['inf'::double, 2] as y, date '2026-11-26' as day, "
        "map{1: 'nan'::double} as m, true as b, null as n from flows limit 1"
    )
    answer = burstlab("results", runs / "reno", "--sql", sql, "--json")
    assert answer.status == 0
    assert "NaN" not in answer.out
    assert answer.json() == [
        {"x": None, "y": [None, 2.0], "day": "2026-11-26", "m": {"1": None}, "b": True, "n": None}
    ]


def test_a_run_without_flows_can_be_queried(burstlab, tmp_path):
    scenario = tmp_path / "quiet.toml"
    scenario.write_text(
        '[network]\ntopology = "line"\n'
        "[[batches]]\nbatches_per_second = 100\n"
        'size = { distribution = "fixed", mean = "1000 B" }\n'
        '[run]\nduration = "0.2 s"\n'
    )
    burstlab("run", scenario, "--out", tmp_path / "quiet")
    sql = "select count(*) as n from flows"
    assert burstlab("results", tmp_path / "quiet", "--sql", sql, "--json").json() == [{"n": 0}]


def test_a_study_under_way_is_listed_and_compared(tmp_path):
    plan = {"scenario": SCENARIO, "grid": {"tcp.window": [4, 40]}, "replications": 2}
    bl.study(plan, out=tmp_path / "study")
    (tmp_path / "study/points").mkdir()
    (tmp_path / "study/runs.parquet").replace(tmp_path / "study/points/000000.parquet")
    (entry,) = find([tmp_path / "study"])
    assert entry.runs == 4
    (tmp_path / "study/points/000000.parquet").unlink()
    (entry,) = find([tmp_path / "study"])
    assert (entry.runs, entry.interrupted) == (0, True)
    assert list(compare([entry]).differences) == []


@pytest.mark.parametrize("name", ["none", "empty", "file"])
def test_what_is_no_result_is_refused(tmp_path, burstlab, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    answer = burstlab("results", tmp_path / name)
    assert answer.status == 2
    assert "--out of run or study" in answer.err
    assert burstlab("results").status == 2


def test_a_damaged_run_is_refused(tmp_path, burstlab):
    bl.run({"run": {"duration": "1 s"}}, out=tmp_path / "run")
    (tmp_path / "run/summary.json").write_text(json.dumps({"seed": 1}))
    answer = burstlab("results", tmp_path / "run")
    assert (answer.status, "not a result of burstlab" in answer.err) == (2, True)


def test_a_query_keeps_numbers_on_one_line(small, burstlab, tmp_path):
    bl.run(small, out=tmp_path / "run")
    answer = burstlab("results", tmp_path / "run", "--sql", "select * from flows")
    assert answer.status == 0
    (row,) = bl.read(tmp_path / "run").flows.to_pylist()
    shown = next(line for line in answer.out.splitlines() if "sack" in line).split()
    assert str(row["bytes_delivered"]) in shown and f"{row['goodput_bps']:.6g}" in shown
    assert "goodput_bps" in answer.out.split() and "bytes_delivered" in answer.out.split()
    empty = burstlab("results", tmp_path / "run", "--sql", "select id from flows where id > 5")
    assert empty.status == 0 and "id" in empty.out


def test_a_table_is_asked_for_its_columns_once(small, tmp_path, monkeypatch):
    """A query for each name of each read made a page that reads three tables a flow slow."""
    bl.run(small, trace=["packets"], out=tmp_path / "run")
    result, asked = bl.read(tmp_path / "run"), []
    plain = database.cursor
    monkeypatch.setattr(database, "cursor", lambda: asked.append(1) or plain())
    counts = []
    for _ in range(3):
        assert len(result.packets.read(["sent_ps", "seq"], [("flow", "==", 0)])["seq"]) > 0
        counts.append(len(asked))
    assert counts == [counts[0], counts[0] + 1, counts[0] + 2]


def test_tables_are_printed_without_the_mean_of_each_number_of_each_flow(monkeypatch, capsys):
    """Of 65,000 flows these are a million; a document has them, worked out once."""
    from burstlab.cli.run import print_tables

    result = bl.run({"flows": [{"count": 3}], "run": {"duration": "1 s", "replications": 2}})
    calls: list[int] = []
    real = bl.Result.estimates
    monkeypatch.setattr(bl.Result, "estimates", lambda self: calls.append(1) or real(self))
    print_tables(result)
    assert "2 replications" in capsys.readouterr().out and calls == []
    assert len(result.document()["summary"]) > 30 and calls == [1]


def test_thousands_of_results_are_read_in_a_moment_each(burstlab, tmp_path):
    """Each in some 0.3 ms of work and 5 kB, of which the calls of functions say how it grows."""
    origin = tmp_path / "origin"
    bl.run({"run": {"duration": "1 s"}}, out=origin)
    texts = {one.name: one.read_bytes() for one in origin.iterdir() if one.is_file()}
    count = 400
    for number in range(count):
        copy = tmp_path / "many" / f"{number:04d}"
        copy.mkdir(parents=True)
        for name, text in texts.items():
            (copy / name).write_bytes(text)
    find([tmp_path / "many" / "0000"])
    started_s = time.process_time()
    entries = find([tmp_path / "many"])
    compared = compare(entries)
    took_s = time.process_time() - started_s
    assert took_s < count * 0.001, took_s
    with cProfile.Profile() as calls:
        compare(find([tmp_path / "many"]))
    assert sum(one.callcount for one in calls.getstats()) < count * 750
    assert len(compared.entries) == count and compared.parameters == {}
    assert compared.differences.equal == len(compared.differences) > 50 * (count - 1)
    answer = burstlab("results", tmp_path / "many")
    assert f"... and {count - 50} more results; --json has all" in answer.out
    assert len(burstlab("results", tmp_path / "many", "--json").json()["results"]) == count


def test_the_fields_of_a_stored_scenario_are_those_of_its_file(tmp_path):
    root = Path(__file__).parents[2] / "examples"
    known = Fields()
    for name in ("one_burst", "nsfnet", "wlan", "ops", "background", "cwnd_classes", "two_way"):
        resolved = bl.resolve(root / f"{name}.toml")
        for seed in (1, 2):
            resolved["run"]["seed"] = seed
            text = tomli_w.dumps(without_none(resolved))
            assert known.of(text) == dict(leaves(tomllib.loads(text)))


def test_a_result_of_many_windows_names_some_values(burstlab, tmp_path):
    for window in range(10, 24):
        scenario = {"run": {"duration": "1 s"}, "tcp": {"window": window}}
        bl.run(scenario, out=tmp_path / "many" / str(window))
    answer = burstlab("results", tmp_path / "many")
    row = next(line for line in answer.out.splitlines() if line.strip().startswith("tcp.window"))
    assert row.split() == ["tcp.window", "14", "10,", "11,", "12,", "13,", "..."]
