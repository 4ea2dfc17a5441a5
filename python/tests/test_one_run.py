"""A result directory holds one run: its files come and go together, and each says whose it is."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import burstlab as bl
from burstlab.running.checkpoints import Keeper
from burstlab.storage import directories
from burstlab.storage.files import LOCK, Lock
from burstlab.storage.sums import sealed

TRACES = ("packets", "bursts", "cwnd", "ledger")

SHORT: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
    "run": {"duration": "3 s"},
}


def content(directory: Path) -> dict[str, bytes]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    import tomli_w

    path = tmp_path / "scenario.toml"
    path.write_text(tomli_w.dumps(SHORT))
    return path


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A traced result."""
    bl.run(SHORT, trace=TRACES, out=tmp_path / "out")
    return tmp_path / "out"


def test_a_result_is_refused_and_nothing_of_it_changes(older, scenario, burstlab):
    before = content(older)
    fingerprint = bl.read(older).fingerprint
    answer = burstlab("run", scenario, "--seed", 2, "--out", older)
    assert (answer.status, answer.out) == (2, "")
    assert f"{older} holds the result of a run (seed 1, fingerprint {fingerprint}" in answer.err
    assert answer.err.count("\n  fix: ") == 1 and "--force" in answer.err
    for again in (
        lambda: bl.run(SHORT, seed=2, out=older),
        lambda: bl.run(SHORT, seed=2).write(older),
    ):
        with pytest.raises(bl.InputError, match="holds the result of a run"):
            again()
    assert content(older) == before


def test_force_replaces_it_as_a_whole(older, scenario, burstlab, tmp_path):
    (older / "notes.txt").write_text("mine")
    (older / "mine.parquet").write_bytes(b"mine")
    assert burstlab("run", scenario, "--seed", 2, "--out", older, "--force").status == 0
    # No table of the run before is left, and nothing that was not of it is gone.
    assert names(older) == {
        "scenario.toml", "summary.json", "flows.parquet", "notes.txt", "mine.parquet",
    }  # fmt: skip
    new = bl.read(older)
    assert (new.seed, new.recorded) == (2, ["flows"])
    with pytest.raises(bl.InputError, match="was not recorded"):
        _ = new.packets
    bl.run(SHORT, seed=3, trace="cwnd", out=older, force=True)
    bl.run(SHORT, seed=4).write(older, force=True)
    assert bl.read(older).seed == 4
    assert "cwnd.parquet" not in names(older)
    bl.run(SHORT, seed=4, out=tmp_path / "alone")
    assert (older / "flows.parquet").read_bytes() == (
        tmp_path / "alone" / "flows.parquet"
    ).read_bytes()


def test_what_was_made_of_a_result_goes_with_it(older, scenario, burstlab):
    for words in (
        ("export", older),
        ("export", older, "--format", "csv"),
        ("plot", older, "window"),
    ):
        assert burstlab(*words).status == 0
    (older / "csv/notes.txt").write_text("mine")
    (older / "sequence.svg").write_text("mine")
    assert {"sender.pcapng", "csv", "window.svg"} <= names(older)
    assert burstlab("run", scenario, "--seed", 2, "--out", older, "--force").status == 0
    assert not {"sender.pcapng", "window.svg", "made.json"} & names(older)
    assert names(older / "csv") == {"notes.txt"}
    assert (older / "sequence.svg").read_text() == "mine"


def test_a_list_of_what_was_made_reaches_nothing_else(older, tmp_path):
    (tmp_path / "precious").write_text("mine")
    listed = {"made": ["../precious", str(tmp_path / "precious"), 3, "a/b/c"]}
    (older / "made.json").write_text(json.dumps(listed))
    bl.run(SHORT, seed=2, out=older, force=True)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("name", ["scenario.toml", "summary.json", "packets.parquet"])
@pytest.mark.parametrize("force", [False, True])
def test_what_is_of_no_result_is_never_overwritten(tmp_path, name, force):
    (tmp_path / name).write_text("[run]\n")
    with pytest.raises(bl.InputError, match=f"{name}: is of no result") as refused:
        bl.run(SHORT, out=tmp_path, force=force)
    assert "\n  fix: " in str(refused.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "[run]\n"}


def test_every_reader_refuses_a_table_of_another_run(older, tmp_path, burstlab):
    bl.run(SHORT, seed=2, trace=TRACES, out=tmp_path / "other")
    shutil.copy(tmp_path / "other/bursts.parquet", older)
    print_of = {name: bl.read(tmp_path / "other").fingerprint for name in ("other",)}
    for words in (
        ("export", older),
        ("plot", older, "window"),
        ("view", older, "--no-open"),
        ("results", older),
        ("results", older, "--sql", "select count(*) from bursts"),
    ):
        answer = burstlab(*words)
        assert (answer.status, answer.out) == (2, ""), words
        assert f"{older / 'bursts.parquet'}: is not of the run of summary.json" in answer.err
        assert "seed 2, and not 1" in answer.err and print_of["other"] in answer.err
        assert "\n  fix: remove this file" in answer.err
    with pytest.raises(bl.InputError, match="is not of the run"):
        bl.read(older)


@pytest.mark.parametrize("own", [True, False])
def test_a_table_that_the_summary_does_not_list_is_not_picked_up(tmp_path, own):
    bl.run(SHORT, trace=TRACES, seed=1 if own else 2, out=tmp_path / "other")
    bl.run(SHORT, out=tmp_path / "out")
    shutil.copy(tmp_path / "other/packets.parquet", tmp_path / "out")
    with pytest.raises(bl.InputError, match=r"packets\.parquet: .*\n  fix: remove this file"):
        bl.read(tmp_path / "out")


def test_a_table_under_the_name_of_another_is_refused(older):
    shutil.copy(older / "ledger_losses.parquet", older / "ledger.parquet")
    with pytest.raises(bl.InputError, match="table ledger_losses, and not ledger"):
        bl.read(older)


def test_a_scenario_of_another_run_is_refused(older):
    text = (older / "scenario.toml").read_text().replace('timer = "5 ms"', 'timer = "6 ms"')
    (older / "scenario.toml").write_text(text)
    with pytest.raises(bl.InputError, match=r"scenario\.toml: is not the scenario of the run"):
        bl.read(older)


def test_a_result_of_an_earlier_version_is_told(older, burstlab):
    summary = json.loads((older / "summary.json").read_text())
    del summary["tables"], summary["scenario_sha256"]
    (older / "summary.json").write_text(json.dumps(summary))
    answer = burstlab("results", older)
    assert answer.status == 2
    assert f"an earlier burstlab ({bl.__version__}) wrote this result" in answer.err
    assert f"fix: make it again (burstlab run {older}/scenario.toml --out" in answer.err
    bl.run(SHORT, out=older, force=True)
    assert bl.read(older).recorded == ["flows"]


def test_a_table_without_marks_is_refused(older):
    file = older / "cwnd.parquet"
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)
    with pytest.raises(bl.InputError, match=r"cwnd\.parquet: does not name its run"):
        bl.read(older)


def test_a_result_in_hand_does_not_read_tables_of_the_next(older):
    before = bl.read(older)
    assert len(before.packets) > 0
    table = before.cwnd
    bl.run(SHORT, seed=2, trace=TRACES, out=older, force=True)
    for read in (lambda: before.packets.to_arrow(), lambda: table["cwnd"], lambda: len(table)):
        with pytest.raises(bl.InputError, match="after the result was read"):
            read()


def test_a_table_that_was_removed_is_missing_and_nothing_else(older):
    (older / "packets.parquet").unlink()
    found = bl.read(older)
    assert "packets" not in found.recorded
    assert len(found.cwnd) > 0


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("after", range(9))
def test_a_kill_while_it_is_put_in_place_leaves_one_of_the_two(older, tmp_path, after):
    """Whatever is left, the next to read finishes it, or finds the older result."""
    wanted = bl.run(SHORT, seed=2, trace="cwnd", out=tmp_path / "wanted")
    first = bl.read(older).fingerprint
    done = []

    def killed(step: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            if len(done) == after:
                os._exit(9)
            done.append(step)
            return step(*args, **more)

        return call

    def child() -> None:
        Path.replace = killed(Path.replace)
        Path.unlink = killed(Path.unlink)
        bl.run(SHORT, seed=2, trace="cwnd", out=older, force=True)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 9
    found = bl.read(older)
    assert found.fingerprint in (first, wanted.fingerprint)
    if found.fingerprint == first:
        assert len(found.packets) > 0
        assert found.recorded == ["flows", *TRACES, "packets_sack", "ledger_losses"]
    else:
        assert found.recorded == ["flows", "cwnd"]
        assert found.cwnd.to_arrow() == wanted.cwnd.to_arrow()
    bl.run(SHORT, seed=3, out=older, force=True)
    assert names(older) == {"scenario.toml", "summary.json", "flows.parquet"}


def test_a_kill_before_anything_is_done_leaves_no_result(tmp_path, burstlab, scenario):
    out = tmp_path / "out"
    out.mkdir()
    for name in (".packets-0.parquet", ".flows.parquet", LOCK):
        (out / name).write_bytes(b"PAR1")
    assert burstlab("results", out).status == 2
    assert burstlab("run", scenario, "--out", out).status == 0
    assert names(out) == {"scenario.toml", "summary.json", "flows.parquet"}


def test_two_runs_do_not_write_to_one_directory_at_a_time(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with Lock(out, "x"), pytest.raises(bl.InputError, match="another process is writing there"):
        bl.run(SHORT, out=out)
    bl.run(SHORT, out=out)
    assert LOCK not in names(out)


def interrupting(share: float) -> None:
    if share > 0.0:
        raise KeyboardInterrupt


LONG = {**SHORT, "run": {"duration": "200000 s"}}


def test_what_is_done_of_a_run_that_was_stopped_does_not_replace_a_whole_one(older):
    before = content(older)
    for ending in ("", "-2"):
        with pytest.raises(bl.Interrupted) as stop:
            bl.run(LONG, trace="cwnd", out=older, force=True, progress=interrupting)
        result = stop.value.result
        place = older.with_name(f"out-interrupted{ending}")
        assert result.directory == place
        found = bl.read(place)
        assert found.interrupted and found.fingerprint == result.fingerprint
        assert len(found.cwnd) == len(result.cwnd) > 0
        assert content(older) == before
    # A stopped run itself is replaced.
    with pytest.raises(bl.Interrupted) as stop:
        bl.run(LONG, seed=2, out=place, force=True, progress=interrupting)
    assert stop.value.result.directory == place
    assert bl.read(place).seed == 2


def test_a_run_that_goes_on_replaces_its_own_beginning(tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "out"
    some = {**SHORT, "run": {"duration": "20000 s"}}
    with pytest.raises(bl.Interrupted):
        bl.run(some, checkpoint=kept, out=out, progress=interrupting)
    assert bl.read(out).interrupted
    with pytest.raises(bl.InputError, match=r"holds the result of a run .*interrupted"):
        bl.run({**some, "tcp": {"window": 5}}, out=out)
    other = {**some, "tcp": {"window": 5}}
    with pytest.raises(bl.InputError, match="holds the result of a run"):
        bl.run(other, checkpoint=kept, resume=True, out=out)
    bl.run(some, checkpoint=kept, resume=True, out=out)
    assert not bl.read(out).interrupted
    more = bl.run(some, replications=2, checkpoint=kept, resume=True, out=out)
    assert bl.read(out).fingerprint == more.fingerprint
    assert Keeper(kept / "replication-1.ckpt").kept() is not None


def test_exports_are_refused_and_replaced(older, burstlab, tmp_path):
    for words in (
        ("export", older),
        ("export", older, "--format", "csv"),
        ("export", older, "--format", "qlog", "--out", tmp_path / "x.qlog"),
    ):
        assert burstlab(*words).status == 0
        answer = burstlab(*words)
        assert (answer.status, answer.out) == (2, "")
        assert "exists already\n  fix: give another --out, or replace it (--force" in answer.err
        assert burstlab(*words, "--force").status == 0
    with pytest.raises(bl.InputError, match="exists already"):
        bl.read(older).export("qlog", tmp_path / "x.qlog")


def test_tables_as_csv_are_those_of_one_run(older, tmp_path, burstlab):
    burstlab("export", older, "--format", "csv", "--out", tmp_path / "csv")
    bl.run(SHORT, seed=2, trace="cwnd", out=tmp_path / "other")
    (tmp_path / "csv/mine.csv").write_text("mine")
    words = ("export", tmp_path / "other", "--format", "csv", "--out", tmp_path / "csv", "--force")
    assert burstlab(*words).status == 0
    assert names(tmp_path / "csv") == {"flows.csv", "cwnd.csv", "mine.csv"}


def test_a_figure_is_drawn_anew(older, burstlab):
    for _ in range(2):
        assert burstlab("plot", older, "window").status == 0


def test_a_run_does_not_go_into_a_study(tmp_path, burstlab, scenario):
    bl.study({"scenario": SHORT}, out=tmp_path / "study", report=False)
    for flags in ((), ("--force",)):
        answer = burstlab("run", scenario, "--out", tmp_path / "study", *flags)
        assert (answer.status, "holds a study" in answer.err) == (2, True)
    answer = burstlab("reproduce", "yu2004/fig2a", "--out", tmp_path / "study")
    assert (answer.status, "holds a study" in answer.err) == (2, True)


def test_a_study_overwrites_nothing_that_is_of_none(tmp_path, burstlab):
    plan = tmp_path / "plan.toml"
    plan.write_text('[scenario.run]\nduration = "1 s"\n')
    answer = burstlab("study", plan, "--out", tmp_path)
    assert (answer.status, f"{plan}: is not part of a study" in answer.err) == (2, True)
    assert plan.read_text() == '[scenario.run]\nduration = "1 s"\n'
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("mine")
    answer = burstlab("study", plan, "--out", out)
    assert (answer.status, "report.html: is not part of a study" in answer.err) == (2, True)


def test_a_study_reads_no_runs_of_another(tmp_path, burstlab):
    plans = {name: {"scenario": SHORT, "grid": {"tcp.window": [4, size]}}
             for name, size in (("a", 8), ("b", 16))}  # fmt: skip
    for name, plan in plans.items():
        bl.study(plan, out=tmp_path / name)
    shutil.copy(tmp_path / "a/runs.parquet", tmp_path / "b")
    answer = burstlab("results", tmp_path / "b")
    assert answer.status == 2
    assert "runs.parquet: is not of the study of study.json" in answer.err
    with pytest.raises(bl.InputError, match="is not of the study"):
        bl.study(plans["b"], out=tmp_path / "b", resume=True)
    bl.study(plans["b"], out=tmp_path / "c", report=False)
    shutil.copy(tmp_path / "a/plan.toml", tmp_path / "c")
    with pytest.raises(bl.InputError, match=r"plan\.toml: is not the plan of the study"):
        bl.read_study(tmp_path / "c")


def test_what_is_settled_is_settled_once(older):
    before = content(older)
    directories.settle(older)
    assert content(older) == before


def reproduced(out: Path) -> dict[str, Any]:
    document = json.loads((out / "reproduce.json").read_text())
    return {one["target"]: one for one in document["targets"]}


def test_a_reproduction_keeps_what_earlier_calls_wrote(tmp_path, burstlab):
    out = tmp_path / "out"
    assert burstlab("reproduce", "yu2004/fig2a", "--out", out, "--json").status == 0
    before = {name: data for name, data in content(out / "yu2004").items() if "fig2a" in name}
    second = burstlab("reproduce", "yu2004/fig1", "--seed", 7, "--out", out, "--json").json()
    assert [one["target"] for one in second["targets"]] == ["yu2004/fig1"]
    found = reproduced(out)
    assert list(found) == ["yu2004/fig2a", "yu2004/fig1"]
    assert [one["seed"] for one in found.values()] == [1, 7]
    assert all(one["burstlab"] == bl.__version__ for one in found.values())
    assert {one["effort"] for one in found.values()} == {"quick"}
    after = content(out / "yu2004")
    assert {name: after[name] for name in before} == before
    page = (out / "report.html").read_text(encoding="utf-8")
    for text in ('id="yu2004-fig2a"', 'id="yu2004-fig1"', "chart-yu2004-fig1", "chart-yu2004-fig2a",
                 "<pre>burstlab reproduce yu2004/fig2a --quick</pre>",
                 "<pre>burstlab reproduce yu2004/fig1 --quick --seed 7</pre>"):  # fmt: skip
        assert text in page
    # Files of the older run that the new one does not write go with it; others stay.
    (out / "yu2004/notes.txt").write_text("mine")
    stored = json.loads((out / "yu2004/fig2a.json").read_text())
    (out / "yu2004/fig2a-more.csv").write_text("older")
    stored["files"].append("yu2004/fig2a-more.csv")
    (out / "yu2004/fig2a.json").write_text(json.dumps(sealed(stored)))
    assert burstlab("reproduce", "yu2004/fig2a", "--seed", 9, "--out", out).status == 0
    found = reproduced(out)
    assert [(name, one["seed"]) for name, one in found.items()] == [
        ("yu2004/fig2a", 9), ("yu2004/fig1", 7),
    ]  # fmt: skip
    assert {"notes.txt", "fig1.svg"} <= names(out / "yu2004")
    assert "fig2a-more.csv" not in names(out / "yu2004")
    assert names(out) == {"report.html", "reproduce.json", "yu2004"}
    (out / "yu2004/fig1.json").unlink()
    answer = burstlab("reproduce", "yu2004/fig2a", "--out", out)
    assert answer.status == 2
    assert f"{out}/yu2004/fig1.json: is not there" in answer.err
    assert "fix: give another --out, or remove reproduce.json and report.html" in answer.err


def test_a_reproduction_overwrites_no_report_of_something_else(tmp_path, burstlab):
    (tmp_path / "report.html").write_text("mine")
    answer = burstlab("reproduce", "yu2004/fig2a", "--out", tmp_path)
    assert (answer.status, "report.html: does not belong to a reproduction" in answer.err) == (
        2,
        True,
    )
    assert (tmp_path / "report.html").read_text() == "mine"
