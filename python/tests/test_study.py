"""Studies: the same bytes whatever interrupts them, and numbers that can be checked by hand."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import burstlab as bl
from burstlab.running.progress import Progress
from burstlab.statistics import mean_ci95, paired_ratio
from burstlab.storage.parquet import write_table
from burstlab.storage.sums import sealed
from burstlab.studies import point_runs, store, workers
from burstlab.studies.warmup import mser5
from burstlab.studies.work import work

PLAN = """
seed = 3
replications = 3
[scenario.edge]
assembly = "timer"
[scenario.loss.data]
process = "bernoulli"
probability = 0.02
[scenario.run]
duration = "20 s"
[grid]
tcp.window = [10, 20, 40, 80]
edge.timer = ["1 ms", "2 ms", "5 ms"]
[schemes]
reno.tcp.variant = "reno"
sack.tcp.variant = "sack"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return file


def content(directory: Path) -> dict[str, bytes]:
    """Everything that a study leaves, but how long it took."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in files
        if path.name != "timing.json"
    }


def command(plan: Path, out: Path, *more: object) -> list[str]:
    words = ["study", plan, "--out", out, *more]
    return [sys.executable, "-m", "burstlab", *map(str, words)]


def test_the_bytes_do_not_depend_on_who_runs_it(plan, tmp_path):
    found = bl.study(plan, out=tmp_path / "one", jobs=1)
    assert sorted(content(tmp_path / "one")) == [
        "differences.parquet", "estimates.parquet", "plan.toml", "report.html", "runs.parquet",
        "study.json", "sums.json",
    ]  # fmt: skip
    assert found.done == 12
    assert len(found.runs) == 12 * 2 * 3
    bl.study(plan, out=tmp_path / "two", jobs=2)
    assert content(tmp_path / "two") == content(tmp_path / "one")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        bl.study(plan, out=tmp_path / "pool", client=pool)
    assert content(tmp_path / "pool") == content(tmp_path / "one")
    assert bl.study(plan).runs.to_arrow() == found.runs.to_arrow()
    session = json.loads((tmp_path / "one/timing.json").read_text())["sessions"]
    assert [(one["done"], one["runs"]) for one in session] == [(12, 72)]


def test_a_point_is_what_run_gives(plan):
    found = bl.study(plan)
    (point,) = [
        row["point"]
        for row in found.points.to_pylist()
        if row["tcp.window"] == 40 and row["edge.timer_s"] == 2e-3
    ]
    scenario = json.loads(found.plan.scenario(point, "sack"))
    alone = bl.run(scenario, replications=3)
    rows = found.runs.where(point=point, scheme="sack").to_pylist()
    assert [row["fingerprint"] for row in rows] == [
        one.summary["fingerprint"] for one in alone.replications
    ]
    goodputs = [one.summary["flows"][0]["goodput_bps"] for one in alone.replications]
    assert [row["flows.mean.goodput_bps"] for row in rows] == goodputs
    estimate = mean_ci95(goodputs)
    (row,) = found.estimates.where(
        point=point, scheme="sack", metric="flows.mean.goodput_bps"
    ).to_pylist()
    assert (row["mean"], row["ci95"], row["n"]) == (estimate.mean, estimate.ci95, 3)


def test_schemes_are_compared_run_by_run(plan):
    found = bl.study(plan)
    metric = "flows.mean.goodput_bps"
    for row in found.differences.where(metric=metric).to_pylist():
        values = {
            scheme: found.runs.where(point=row["point"], scheme=scheme)[metric]
            for scheme in ("reno", "sack")
        }
        assert (row["scheme"], row["over"]) == ("sack", "reno")
        gap = mean_ci95(values["sack"] - values["reno"])
        ratio = paired_ratio(values["sack"], values["reno"])
        assert (row["difference"], row["difference_ci95"]) == (gap.mean, gap.ci95)
        assert (row["ratio"], row["ratio_ci95"], row["n"]) == (ratio.mean, ratio.ci95, 3)


def test_common_random_numbers_and_numbers_of_its_own():
    scenario = {"loss": {"data": {"process": "bernoulli", "probability": 0.05}}}
    # Two names for the same runs: with common numbers their fingerprints are equal.
    grid = {"loss.data.probability": [0.05, 0.050000001]}
    plan: dict[str, Any] = {"scenario": scenario, "grid": grid, "replications": 2}
    common = bl.study(plan).runs
    assert (
        common["flows.mean.packets_lost"].tolist()[:2]
        == (common["flows.mean.packets_lost"].tolist()[2:])
    )
    own = bl.study({**plan, "seeds": "independent"}).runs
    assert len(set(own["seed"])) == 2
    assert own["flows.mean.goodput_bps"].tolist()[:2] != own["flows.mean.goodput_bps"].tolist()[2:]
    schemes = {"schemes": {"a": {}, "b": {}}, "seeds": "independent"}
    paired = bl.study({**plan, **schemes})
    assert not np.any(paired.differences["difference"])


def kill_and_resume(plan: Path, out: Path, files: int, after_s: float) -> None:
    """Kill a study so long after so many files of points were stored, and let it go on."""
    process = subprocess.Popen(command(plan, out), stdout=-3, stderr=-3)
    while len(list((out / "points").glob("[0-9]*.parquet"))) < files and process.poll() is None:
        time.sleep(0.005)
    time.sleep(after_s)
    process.kill()
    process.wait()
    subprocess.run(command(plan, out, "--resume"), check=True, capture_output=True)


@pytest.mark.slow
def test_a_study_that_was_killed_ends_with_the_same_bytes(plan, tmp_path):
    """Four kills with some points stored; ``benches/study.py --kill`` has fifty."""
    plan.write_text(PLAN.replace('"20 s"', '"400 s"'))
    subprocess.run(command(plan, tmp_path / "whole"), check=True, capture_output=True)
    moments = np.random.default_rng(1)
    for number in range(4):
        out = tmp_path / f"killed-{number}"
        kill_and_resume(plan, out, number, moments.uniform(0.0, 0.2))
        assert content(out) == content(tmp_path / "whole"), number


class Stop(Exception):
    """Ends a study from within."""


def stop_after(points: int, error: type[BaseException]):
    def watch(progress: Progress) -> None:
        if progress.done >= points:
            raise error

    return watch


def test_resume_runs_no_finished_point_again(plan, tmp_path, monkeypatch):
    bl.study(plan, out=tmp_path / "whole", jobs=1)
    out = tmp_path / "out"
    monkeypatch.setattr(workers, "_HERE_S", 1e-6)
    with pytest.raises(Stop):
        bl.study(plan, out=out, jobs=1, progress=stop_after(4, Stop))
    partial = bl.read_study(out)
    assert 4 <= partial.done < 12
    assert partial.interrupted
    assert len(partial.runs) == partial.done * 6
    assert sorted(path.name for path in out.iterdir()) == [
        "plan.toml", "points", "study.json",
    ]  # fmt: skip
    asked: list[int] = []
    point_run = point_runs.point_run

    def noted(plan: Any, metrics: Any, point: int) -> Any:
        asked.append(point)
        return point_run(plan, metrics, point)

    monkeypatch.setattr(point_runs, "point_run", noted)
    bl.study(plan, out=out, resume=True)
    assert len(asked) == 12 - partial.done
    assert content(out) == content(tmp_path / "whole")
    asked.clear()
    again = bl.study(plan, out=out, resume=True)
    assert asked == []
    assert content(out) == content(tmp_path / "whole")
    assert again.done == 12


def test_many_files_of_points_become_one(plan, tmp_path, monkeypatch):
    bl.study(plan, out=tmp_path / "whole")
    monkeypatch.setattr(workers, "_HERE_S", 1e-6)
    monkeypatch.setattr(store, "_EVERY_S", 0.0)
    monkeypatch.setattr(store, "_FILES_MAX", 3)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        bl.study(plan, out=out, jobs=1, progress=stop_after(9, Stop))
    assert 1 <= len(list((out / "points").iterdir())) <= 4
    # A merge that was cut short leaves rows twice.
    first, *_ = sorted((out / "points").iterdir())
    (out / "points/999990.parquet").write_bytes(first.read_bytes())
    (out / "points/.999991.parquet").write_bytes(b"half")
    assert bl.read_study(out).done >= 9
    bl.study(plan, out=out, resume=True)
    assert content(out) == content(tmp_path / "whole")


def test_ctrl_c_keeps_what_is_done(plan, tmp_path, burstlab):
    with pytest.raises(bl.StudyInterrupted) as stopped:
        bl.study(plan, out=tmp_path / "out", progress=stop_after(1, KeyboardInterrupt))
    assert stopped.value.study.done >= 1
    assert bl.read_study(tmp_path / "out").done == stopped.value.study.done
    with pytest.raises(bl.StudyInterrupted) as stopped:
        bl.study(plan, progress=stop_after(1, KeyboardInterrupt))
    assert len(stopped.value.study.runs) == stopped.value.study.done * 6


@pytest.mark.slow
def test_ctrl_c_on_the_command_line_leaves_with_130(plan, tmp_path):
    plan.write_text(PLAN.replace('"20 s"', '"20000 s"'))
    out = tmp_path / "out"
    process = subprocess.Popen(command(plan, out, "--json"), stdout=-1, stderr=-1, text=True)
    while not any((out / "points").glob("[0-9]*.parquet")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate()
    assert process.returncode == 130, said
    document = json.loads(printed)
    assert document["interrupted"]
    assert 0 < document["done"] < 12
    assert "--resume goes on" in said
    assert "Traceback" not in said
    assert bl.read_study(out).done == document["done"]


def test_a_changed_plan_or_version_is_noticed(plan, tmp_path, burstlab):
    out = tmp_path / "out"
    assert burstlab("study", plan, "--out", out).status == 0
    again = burstlab("study", plan, "--out", out)
    assert (again.status, "--resume" in again.err) == (2, True)
    before = content(out)
    for old, new, shown in [
        ("[10, 20, 40, 80]", "[10, 20, 40, 81]", "grid.tcp.window was [10, 20, 40, 80], is [10,"),
        ("seed = 3", "seed = 4", "seed was 3, is 4"),
        ("replications = 3", "replications = 4", "replications was 3, is 4"),
        ('"20 s"', '"21 s"', 'scenario.run.duration was "20 s", is "21 s"'),
        ('sack.tcp.variant = "sack"\n', "", "schemes.sack.tcp.variant was"),
    ]:
        assert old in PLAN
        plan.write_text(PLAN.replace(old, new))
        answer = burstlab("study", plan, "--out", out, "--resume")
        assert answer.status == 2
        assert shown in answer.err, answer.err
    plan.write_text(PLAN)
    head = json.loads((out / "study.json").read_text())
    (out / "study.json").write_text(json.dumps(sealed({**head, "burstlab": "0.0.9"})))
    answer = burstlab("study", plan, "--out", out, "--resume")
    assert (answer.status, "begun with burstlab 0.0.9" in answer.err) == (2, True)
    (out / "study.json").write_text(json.dumps(sealed({**head, "digest": "0"})))
    answer = burstlab("study", plan, "--out", out, "--resume")
    assert (answer.status, "what its points come to" in answer.err) == (2, True)
    (out / "study.json").write_bytes(before["study.json"])
    assert content(out) == before


def test_only_one_study_runs_in_a_directory(plan, tmp_path):
    out = tmp_path / "out"
    said: list[str] = []

    def another(progress: Progress) -> None:
        if not said:
            command_ = command(plan, out, "--resume")
            answer = subprocess.run(command_, capture_output=True, text=True)
            said.extend([str(answer.returncode), answer.stderr])

    bl.study(plan, out=out, progress=another)
    assert said[0] == "2"
    assert "another study is being run there" in said[1]
    assert not (out / ".lock").exists()


def test_a_full_disk_loses_nothing_that_was_stored(plan, tmp_path, monkeypatch):
    bl.study(plan, out=tmp_path / "whole")
    out = tmp_path / "out"
    monkeypatch.setattr(workers, "_HERE_S", 1e-6)
    monkeypatch.setattr(store, "_EVERY_S", 0.0)
    written: list[str] = []

    def full(directory: Path, name: str, parts: Any, marks: Any) -> None:
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        written.append(name)
        write_table(directory, name, parts, marks)

    monkeypatch.setattr(f"{store.__name__}.write_table", full)
    with pytest.raises(bl.InputError, match=r"No space left on device(.|\n)*make room, and resume"):
        bl.study(plan, out=out, jobs=1)
    assert bl.read_study(out).done >= 3
    monkeypatch.setattr(f"{store.__name__}.write_table", write_table)
    bl.study(plan, out=out, resume=True)
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.slow
def test_a_disk_that_is_really_full_ends_with_status_2(plan, tmp_path):
    def tiny() -> None:
        # The largest size of a file, here less than the tables of the whole take.
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    out = tmp_path / "out"
    answer = subprocess.run(command(plan, out), preexec_fn=tiny, capture_output=True, text=True)
    assert answer.returncode == 2, answer.stderr
    assert "cannot be written (" in answer.stderr
    assert "Traceback" not in answer.stderr
    subprocess.run(command(plan, out, "--resume"), check=True, capture_output=True)
    bl.study(plan, out=tmp_path / "whole")
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("study.json", "{", "not a study of burstlab"),
        ("study.json", "[]", "not a study of burstlab"),
        ("plan.toml", "sheme = 1", "not a study of this version"),
        ("plan.toml", "=", "not valid TOML"),
        ("runs.parquet", "PAR1", "damaged"),
    ],
)
def test_a_damaged_directory_is_refused(plan, tmp_path, burstlab, name, text, shown):
    out = tmp_path / "out"
    bl.study(plan, out=out)
    (out / name).write_text(text)
    for words in (["results", out], ["study", plan, "--out", out, "--resume"]):
        answer = burstlab(*words)
        assert answer.status == 2
        assert shown in answer.err or words[0] == "study"
        assert "Traceback" not in answer.err
    with pytest.raises(bl.InputError):
        bl.read_study(out)


def test_a_place_that_cannot_be_used_is_refused(plan, tmp_path, burstlab):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in burstlab("study", plan, "--out", tmp_path / "file").err
    bl.run({"run": {"duration": "1 s"}}, out=tmp_path / "run")
    answer = burstlab("study", plan, "--out", tmp_path / "run")
    assert (answer.status, "holds the result of a run" in answer.err) == (2, True)
    assert burstlab("study", tmp_path / "none.toml").status == 2
    assert burstlab("study", plan, "--jobs", 0, "--out", tmp_path / "o").status == 2
    gone = burstlab("study", plan, "--out", tmp_path / "p", "--scheduler", "nowhere")
    assert (gone.status, "no scheduler answers" in gone.err) == (2, True)
    with pytest.raises(bl.InputError, match="nothing to resume"):
        bl.study(plan, resume=True)
    with pytest.raises(TypeError, match="client"):
        bl.study(plan, client=object())


def test_the_command_prints_tables_or_json_alone(plan, tmp_path, burstlab, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = burstlab("study", plan, "--json")
    document = answer.json()
    assert answer.err == ""
    assert (document["points"], document["done"], document["interrupted"]) == (12, 12, False)
    assert document["results"][0]["parameters"] == {"tcp.window": 10, "edge.timer": "1 ms"}
    assert {one["over"] for one in document["results"][0]["differences"]} == {"reno"}
    assert (tmp_path / "out/plan/runs.parquet").exists()
    again = burstlab("study", plan, "--resume")
    assert "12 of 12 points" in again.out
    assert "sack / reno" in again.out


def test_the_stored_plan_runs_again(plan, tmp_path):
    bl.study(plan, out=tmp_path / "out")
    bl.study(tmp_path / "out/plan.toml", out=tmp_path / "again")
    assert content(tmp_path / "again") == content(tmp_path / "out")


def test_replications_stop_at_the_first_batch_that_is_precise():
    precision = {
        "relative": 0.1, "metrics": ["goodput"], "minimum": 4, "batch": 3, "maximum": 40,
    }  # fmt: skip
    found = bl.study(
        {
            "scenario": {
                "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
                "run": {"duration": "20 s"},
            },
            "grid": {"tcp.window": [4, 64]},
            "metrics": {"goodput": "flows.mean.goodput_bps"},
            "precision": precision,
        }
    )
    counts: list[int] = []
    for point in (0, 1):
        values = found.runs.where(point=point)["goodput"]
        relative = [mean_ci95(values[:n]).relative() for n in range(4, len(values) + 1, 3)]
        assert all(share > 0.1 for share in relative[:-1])
        assert relative[-1] <= 0.1
        counts.append(len(values))
    assert counts[0] == 4 < counts[1] < 40
    assert found.estimates["reached"].all()
    assert found.warnings == []


def test_replications_end_at_the_maximum_with_a_warning():
    plan = {
        "scenario": {"loss": {"data": {"process": "bernoulli", "probability": 0.05}}},
        "schemes": {"a": {}, "b": {"tcp.variant": "tahoe"}},
        "metrics": ["flows.mean.goodput_bps"],
        "precision": {
            "relative": 1e-6, "metrics": ["flows.mean.goodput_bps"], "of": "ratios",
            "minimum": 2, "batch": 2, "maximum": 5,
        },
    }  # fmt: skip
    found = bl.study(plan)
    assert len(found.runs) == 2 * 5
    assert found.differences["reached"].tolist() == [False]
    assert "less precise than asked after 5 replications" in found.warnings[0]


def test_mser5_cuts_what_decays_and_keeps_what_is_steady():
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 1.0, 1000)
    decay = 30.0 * np.exp(-np.arange(1000) / 40.0)
    cut = mser5(noise + decay)
    # After three to six time constants the decay is below the noise of what is left.
    assert cut.found
    assert 100 <= cut.kept_from <= 300
    assert mser5(noise).kept_from < 200
    assert not mser5(np.linspace(0.0, 1.0, 1000)).found
    # By hand: batches 9, 1, 1, ... leave no square but for the first.
    assert mser5([9.0] * 5 + [1.0] * 95).kept_from == 5
    with pytest.raises(bl.InputError, match="at least 50"):
        mser5([1.0] * 49)


def test_the_warm_up_is_found_and_left_out():
    scenario = {
        "access": {"rate": "20 Mb/s"},
        "network": {"link_delay": "50 ms"},
        "tcp": {"window": 500, "initial_ssthresh": 2},
        "run": {"duration": "60 s"},
    }
    plan = {
        "scenario": scenario,
        "warmup": {"series": "delivered", "interval": "500 ms", "pilots": 1},
        "schemes": {"slow": {}, "fast": {"tcp.initial_ssthresh": 500}},
        "replications": 1,
        "metrics": ["flows.mean.throughput_bps"],
    }
    found = bl.study(plan)
    (warmup,) = set(found.runs["warmup_s"])
    # A window that grows by one a round of 0.12 s: it is full after some twenty seconds.
    assert 5.0 < warmup <= 30.0
    by_hand = {**scenario, "run": {"duration": "60 s", "warmup": f"{warmup * 1e3:.0f} ms"}}
    flow = bl.run(by_hand, seed=found.plan.seed).replications[0].summary["flows"][0]
    assert found.runs.where(scheme="slow")["flows.mean.throughput_bps"] == [flow["throughput_bps"]]


def test_the_warm_up_of_a_mesh_is_that_of_connections_under_way():
    scenario = {
        "network": {"topology": "ring", "nodes": 4, "link_rate": "1 Gb/s"},
        "access": {"rate": "20 Mb/s"},
        "edge": {"assembly": "timer", "timer": "3 ms"},
        "signalling": {"guard": "100 us"},
        "demand": [{"flows_per_second": 50, "size": {"mean": "20 KB"}}],
        "run": {"duration": "4 s", "sample": "20 ms"},
    }
    plan = {"scenario": scenario, "warmup": {"series": "active", "pilots": 2}, "replications": 2}
    found = bl.study(plan)
    assert 0.0 <= found.runs["warmup_s"][0] <= 2.0
    assert "network.data.burst_loss_ratio" in found.metrics


def test_xarray_has_a_dimension_a_parameter(plan):
    found = bl.study(plan)
    data = found.to_xarray()
    assert dict(data.sizes) == {"tcp.window": 4, "edge.timer_s": 3, "scheme": 2}
    cell = data["flows.mean.goodput_bps"].sel({"tcp.window": 40, "edge.timer_s": 2e-3})
    rows = found.query(
        'select avg("flows.mean.goodput_bps") as mean from runs '
        'where "tcp.window" = 40 and "edge.timer_s" = 0.002 and scheme = \'sack\''
    )
    assert float(cell.sel(scheme="sack")) == pytest.approx(rows["mean"][0], rel=1e-12)
    listed = bl.study({"scenario": {}, "list": [{"tcp.window": 4}, {"tcp.window": 9}]}).to_xarray()
    assert dict(listed.sizes) == {"point": 2}
    assert listed.coords["tcp.window"].values.tolist() == [4, 9]


def test_frames_and_html(plan):
    found = bl.study(plan)
    assert len(found.runs.to_pandas()) == len(found.runs.to_polars()) == 72
    assert "<table>" in found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert repr(found) == "<Study: 12 of 12 points, 2 schemes>"


def test_a_bad_query_says_what_there_is(plan):
    with pytest.raises(bl.InputError, match="runs, estimates, differences, points"):
        bl.study(plan).query("select * from nothing")


class Reluctant:
    """An executor that does one task at a time, the newest first, in a thread of its own."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, call: Any, *arguments: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()

        def do() -> None:
            try:
                future.set_result(call(*arguments))
            except BaseException as error:
                future.set_exception(error)

        threading.Timer(0.001 * (self.tasks % 3), do).start()
        return future


def test_any_executor_will_do(plan, tmp_path):
    client = Reluctant()
    bl.study(plan, out=tmp_path / "out", client=client, jobs=3)
    bl.study(plan, out=tmp_path / "here")
    assert client.tasks > 1
    assert content(tmp_path / "out") == content(tmp_path / "here")


def test_a_worker_of_another_version_is_refused(plan, monkeypatch):
    other = "burstlab.studies.conducting.work"
    monkeypatch.setattr(other, lambda version, *rest: work("0.0.9", *rest))
    with pytest.raises(bl.InputError, match=r"a worker has burstlab .*, and the study 0.0.9"):
        bl.study(plan)


def test_stored_tables_are_plain_parquet(plan, tmp_path):
    bl.study(plan, out=tmp_path / "out")
    table = pq.read_table(tmp_path / "out/runs.parquet")
    assert table.column_names[:6] == [
        "point", "tcp.window", "edge.timer_s", "scheme", "replication", "seed",
    ]  # fmt: skip
    estimates = pq.read_table(tmp_path / "out/estimates.parquet").to_pandas()
    assert (estimates["n"] == 3).all()
