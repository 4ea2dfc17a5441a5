"""Damaged files are noticed: no bit of a table is read as another value."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.cli import main
from burstlab.storage import sums

RUN = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.03}},
    "run": {"duration": "1 s", "seed": 3},
}
PLAN = {"scenario": RUN, "grid": {"tcp.window": [4, 8]}, "schemes": {"a": {}, "b": {}}}


def flip(path: Path, draw: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    data[draw.integers(len(data))] ^= 1 << int(draw.integers(8))
    path.write_bytes(data)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("sums") / "run"
    bl.run(RUN, out=out, trace=("packets", "bursts", "cwnd", "ledger"))
    return out


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("sums") / "study"
    bl.study(PLAN, out=out, jobs=1)
    return out


def test_the_sums_are_those_of_the_files(result, study):
    shown = json.loads((result / "summary.json").read_text())["sha256"]
    assert set(shown) == {path.name for path in result.glob("*.parquet")}
    shown |= {f"../study/{name}": one for name, one in
             json.loads((study / "sums.json").read_text())["sha256"].items()}  # fmt: skip
    assert len([name for name in shown if "study" in name]) == 4
    for name, one in shown.items():
        where = study / Path(name).name if "study" in name else result / name
        assert hashlib.sha256(where.read_bytes()).hexdigest() == one


WAYS = {
    "whole": lambda table: table.read(),
    "one column": lambda table: table["flow"],
    "some rows": lambda table: table.where(flow=0).read(),
    "its head": lambda table: table.head(1).read(),
    "in parts": lambda table: [part.read() for part in table.batches()],
    "its length": len,
}


@pytest.mark.parametrize("method", WAYS)
def test_no_flipped_bit_is_read(result, tmp_path, method):
    for seed in range(12):
        directory = tmp_path / str(seed)
        shutil.copytree(result, directory)
        flip(directory / "packets.parquet", np.random.default_rng(seed))
        with pytest.raises(bl.InputError) as refused:
            WAYS[method](bl.read(directory).packets)
        assert "packets.parquet: " in str(refused.value) and "\n  fix: " in str(refused.value)


def test_a_file_that_is_not_looked_at_is_not_compared(result, tmp_path):
    directory = tmp_path / "run"
    shutil.copytree(result, directory)
    data = bytearray((directory / "packets.parquet").read_bytes())
    data[len(data) // 3] ^= 1
    (directory / "packets.parquet").write_bytes(data)
    found = bl.read(directory)
    assert len(found.bursts) and found.fingerprint == bl.read(result).fingerprint


def test_a_query_reads_no_damaged_table(result, tmp_path, burstlab):
    directory = tmp_path / "run"
    shutil.copytree(result, directory)
    data = bytearray((directory / "packets.parquet").read_bytes())
    data[len(data) // 3] ^= 1
    (directory / "packets.parquet").write_bytes(data)
    answer = burstlab("results", directory, "--sql", "select count(*) from bursts")
    assert answer.status == 0
    answer = burstlab("results", directory, "--sql", "select sum(sent_ps) from packets")
    assert answer.status == 2 and "packets.parquet: damaged (its SHA-256 is " in answer.err


def test_a_study_reads_no_damaged_runs(study, tmp_path):
    for seed in range(12):
        directory = tmp_path / str(seed)
        shutil.copytree(study, directory)
        flip(directory / "runs.parquet", np.random.default_rng(seed))
        with pytest.raises(bl.InputError, match=r"runs\.parquet: "):
            bl.read_study(directory)


def test_a_study_goes_on_from_no_damaged_point(tmp_path):
    whole = bl.study(PLAN, out=tmp_path / "whole", jobs=1)
    out = tmp_path / "out"

    def stop(progress: Any) -> None:
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(bl.StudyInterrupted):
        bl.study(PLAN, out=out, jobs=1, progress=stop)
    files = sorted((out / "points").glob("*.parquet"))
    assert files and set(json.loads((out / "points/sums.json").read_text())["sha256"]) == {
        file.name for file in files
    }
    kept = files[0].read_bytes()
    for seed in range(6):
        flip(files[0], np.random.default_rng(seed))
        with pytest.raises(bl.InputError, match=r"fix: remove this file"):
            bl.study(PLAN, out=out, jobs=1, resume=True)
        files[0].write_bytes(kept)
    found = bl.study(PLAN, out=out, jobs=1, resume=True)
    for name in ("runs.parquet", "estimates.parquet", "differences.parquet", "sums.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert found.runs.to_pylist() == whole.runs.to_pylist()


@pytest.fixture(scope="module")
def everything(result, study, tmp_path_factory):
    """Have a directory with one of each kind."""
    where = tmp_path_factory.mktemp("sums") / "all"
    shutil.copytree(result, where / "run")
    shutil.copytree(study, where / "study")
    burst = bl.read(result).bursts.where(fate="lost").to_pylist()[0]["burst"]
    bl.what_if(result, spare=burst).write(where / "what-if")
    bl.blame(result, sample=2, out=where / "prices")
    return where


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    """Have what a reproduction wrote."""
    where = tmp_path_factory.mktemp("sums") / "reproduction"
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "yu2004/fig1", "--out", str(where)])
    assert not left.value.code
    return where


def test_every_file_of_a_reproduction_has_a_sum(reproduction, tmp_path, burstlab):
    answer = burstlab("results", reproduction, "--verify", "--json")
    states = {Path(one["file"]): one["state"] for one in answer.json()["files"]}
    assert set(states.values()) == {"whole"}
    assert set(states) == {path for path in reproduction.rglob("*") if path.is_file()}
    draw = np.random.default_rng(1)
    for file in states:
        name, directory = file.relative_to(reproduction), tmp_path / "all"
        shutil.copytree(reproduction, directory)
        flip(directory / name, draw)
        answer = burstlab("results", directory, "--verify")
        assert answer.status == 1 and f"{directory / name}: damaged" in answer.out
        shutil.rmtree(directory)


def test_a_page_of_a_reproduction_that_is_gone_or_new_is_named(reproduction, tmp_path, burstlab):
    directory = tmp_path / "all"
    shutil.copytree(reproduction, directory)
    (directory / "report.html").unlink()
    answer = burstlab("results", directory, "--verify")
    assert answer.status == 1 and f"{directory / 'report.html'}: missing" in answer.out
    # The next target that is added writes it anew, with its sum.
    assert burstlab("reproduce", "yu2004/fig1", "--out", directory).status == 0
    assert burstlab("results", directory, "--verify").status == 0


def test_all_is_verified_and_each_damaged_file_is_named(everything, tmp_path, burstlab):
    answer = burstlab("results", everything, "--verify")
    assert answer.status == 0, answer.out
    answer = burstlab("results", everything, "--verify", "--json")
    shown = answer.json()
    assert shown["whole"] and {one["state"] for one in shown["files"]} == {"whole"}
    names = {Path(one["file"]).relative_to(everything) for one in shown["files"]}
    tables = {path.relative_to(everything) for path in everything.rglob("*.parquet")}
    assert tables <= names
    assert {Path("run/scenario.toml"), Path("study/plan.toml")} <= names
    draw = np.random.default_rng(1)
    heads = {"summary.json", "what-if.json", "blame.json", "study.json"}
    assert {Path("study/report.html"), Path("study/timing.json")} <= names
    for name in sorted(names):
        if name.name in heads:
            continue
        directory = tmp_path / "all"
        shutil.copytree(everything, directory)
        flip(directory / name, draw)
        answer = burstlab("results", directory, "--verify")
        assert answer.status == 1 and f"{directory / name}: damaged" in answer.out
        (directory / name).unlink()
        answer = burstlab("results", directory, "--verify", "--json")
        assert answer.status == 1
        bad = [one for one in answer.json()["files"] if one["state"] != "whole"]
        assert bad == [{"file": str(directory / name), "state": "missing"}]
        shutil.rmtree(directory)


def test_a_number_of_a_summary_is_no_other(everything, tmp_path, burstlab):
    for name in ("run/summary.json", "what-if/first/summary.json", "what-if/what-if.json",
                 "prices/blame.json"):  # fmt: skip
        directory = tmp_path / "all"
        shutil.copytree(everything, directory)
        text = (directory / name).read_text()
        place = re.search(r'(?<="simulated_s": )\d|(?<="parted_s": )\d|(?<="lost": )\d', text)
        assert place is not None
        digit = str((int(place[0]) + 1) % 10)
        (directory / name).write_text(text[: place.start()] + digit + text[place.end() :])
        assert json.loads((directory / name).read_text()) != json.loads(text)
        answer = burstlab("results", directory, "--verify")
        assert answer.status == 1 and f"{directory / name}: damaged" in answer.out
        if name.endswith("summary.json"):
            with pytest.raises(bl.InputError, match=r"summary\.json: damaged, or was changed"):
                bl.read((directory / name).parent)
        # How it is laid out says nothing.
        (directory / name).write_text(json.dumps(json.loads(text)))
        assert burstlab("results", directory, "--verify").status == 0
        shutil.rmtree(directory)


def test_a_head_without_its_seal_is_damaged(everything, tmp_path, burstlab):
    for name in ("run/summary.json", "study/study.json", "what-if/what-if.json",
                 "prices/blame.json"):  # fmt: skip
        directory = tmp_path / "all"
        shutil.copytree(everything, directory)
        document = json.loads((directory / name).read_text())
        del document["seal"]
        (directory / name).write_text(json.dumps(document))
        answer = burstlab("results", directory, "--verify")
        assert answer.status == 1 and f"{directory / name}: damaged" in answer.out
        shutil.rmtree(directory)


def test_a_head_that_is_no_document_is_damaged(everything, tmp_path, burstlab):
    for name in ("run/summary.json", "study/study.json", "what-if/what-if.json",
                 "prices/blame.json", "study/sums.json"):  # fmt: skip
        directory = tmp_path / "all"
        shutil.copytree(everything, directory)
        (directory / name).write_text("{")
        answer = burstlab("results", directory, "--verify")
        assert answer.status == 1 and f"{directory / name}: damaged" in answer.out
        shutil.rmtree(directory)


def test_results_of_earlier_versions_have_no_sums_and_are_read(
    result, tmp_path, burstlab, monkeypatch
):
    directory = tmp_path / "run"
    shutil.copytree(result, directory)
    summary = json.loads((directory / "summary.json").read_text())
    del summary["sha256"], summary["seal"]
    monkeypatch.setattr(sums, "_seals", lambda version: False)
    (directory / "summary.json").write_text(json.dumps(summary))
    assert len(bl.read(directory).packets.read()["flow"])
    answer = burstlab("results", directory, "--verify")
    assert answer.status == 0
    assert f"{directory / 'packets.parquet'}: no sum was noted of it" in answer.out


def test_a_study_of_an_earlier_version_is_read(study, tmp_path, burstlab):
    directory = tmp_path / "study"
    shutil.copytree(study, directory)
    (directory / "sums.json").unlink()
    assert len(bl.read_study(directory).runs) == len(bl.read_study(study).runs)
    answer = burstlab("results", directory, "--verify")
    assert answer.status == 0 and "runs.parquet: no sum was noted of it" in answer.out


def test_what_cannot_be_verified_is_refused(result, tmp_path, burstlab):
    for flags in ((tmp_path / "none",), (tmp_path,), (result, "--sql", "select 1")):
        answer = burstlab("results", *flags, "--verify")
        assert answer.status == 2 and "\n  fix: " in answer.err


def test_a_reproduction_has_sums(tmp_path, burstlab, monkeypatch):
    monkeypatch.setattr("vl_convert.svg_to_png", lambda *_, **__: b"a picture")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: "a drawing")
    assert burstlab("reproduce", "yu2004/fig2a", "--out", tmp_path / "out").status == 0
    assert burstlab("results", tmp_path / "out", "--verify").status == 0
    with (tmp_path / "out/yu2004/fig2a.csv").open("a") as file:
        file.write("1,2\n")
    answer = burstlab("results", tmp_path / "out", "--verify")
    assert answer.status == 1 and "fig2a.csv: damaged" in answer.out
