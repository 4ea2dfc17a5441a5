"""A disk that is full: each command says which file and what to do, and keeps what was done.

A limit on the size of files stands for the disk: the system refuses the write in the same place,
with another number (EFBIG for ENOSPC). Standard output goes to ``/dev/full``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.running.checkpoints import Keeper
from burstlab.storage.files import put, whole
from burstlab.storage.parquet import FileWriter, writing
from burstlab.tables import from_rows

resource = pytest.importorskip("resource", reason="no limits on files here")

RUN = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "run": {"duration": "20 s"},
}


@contextmanager
def room(most: int) -> Iterator[None]:
    """Let files have so many bytes meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    import tomli_w

    path = tmp_path / "scenario.toml"
    path.write_text(tomli_w.dumps(RUN))
    return path


def shown(answer: Any, file: str, fix: str) -> bool:
    assert answer.status == 2, answer.err
    return f"error: {file}: cannot be written (File too large)\n  fix: {fix}" in answer.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_traced_run(scenario, here, burstlab):
    words = ("run", scenario, "--trace", "packets", "--out", "out")
    with room(4096):
        answer = burstlab(*words)
    assert shown(answer, "out/packets.parquet", "make room; or give another --out")
    assert files(here / "out") == []
    bl.run(RUN, trace="packets", out=here / "out")
    before = {name: (here / "out" / name).read_bytes() for name in files(here / "out")}
    with room(4096):
        assert burstlab(*words).status == 2
    # The result that was there is there.
    assert {name: (here / "out" / name).read_bytes() for name in before} == before
    assert files(here / "out") == sorted(before)


PLAN = {
    "scenario": RUN,
    "replications": 3,
    "metrics": ["flows.mean.goodput_bps", "flows.mean.timeouts"],
    "grid": {"tcp.window": [10, 20, 40]},
}


def test_a_study_goes_on_once_there_is_room(here, burstlab):
    import tomli_w

    plan = here / "plan.toml"
    plan.write_text(tomli_w.dumps(PLAN))
    bl.study(plan, out=here / "whole")
    words = ("study", plan, "--out", "out")
    # The points are too large first, and then the report.
    with room(1000):
        answer = burstlab(*words)
    assert shown(answer, "out", "make room, and resume (--resume): points that were done are kept")
    assert not [name for name in files(here / "out") if Path(name).name.startswith(".")]
    with room(100_000):
        answer = burstlab(*words, "--resume")
    assert shown(answer, "out/report.html", "make room, and resume (--resume): all points are kept")
    assert bl.read_study(here / "out").done == 3
    done = bl.study(plan, out=here / "out", resume=True)
    assert not done.interrupted
    for name in files(here / "whole"):
        if name != "timing.json":
            there = (here / "whole" / name).read_bytes()
            assert (here / "out" / name).read_bytes() == there, name


EXPORTS = {
    "x.pcapng": "export r --format pcapng --out x.pcapng",
    "x.perfetto": "export r --format perfetto --out x.perfetto",
    "x.qlog": "export r --format qlog --out x.qlog",
    "x.xplot": "export r --format xplot --out x.xplot",
    "csv/packets.csv": "export r --format csv --out csv",
    "x.svg": "plot r window --out x.svg",
}


def test_exports_and_figures_leave_nothing_half_written(scenario, here, burstlab):
    bl.run(scenario, trace=("packets", "bursts", "cwnd", "ledger"), out=here / "r")
    for name, line in EXPORTS.items():
        with room(3000):
            answer = burstlab(*line.split())
        assert shown(answer, name, "make room; or give another --out"), answer.err
    assert files(here / "csv") == []
    assert [name for name in files(here) if "x." in name] == []


def test_a_reproduction_keeps_the_targets_that_were_done(tmp_path, burstlab, monkeypatch):
    from burstlab.plot import saving

    def full(path: Path, data: bytes) -> None:
        if path.name == "fig1.svg":
            raise OSError(28, "No space left on device", str(path))
        put(path, data)

    monkeypatch.setattr(saving, "put", full)
    monkeypatch.setattr("vl_convert.svg_to_png", lambda *_, **__: b"a picture")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: "a drawing")
    out = tmp_path / "out"
    answer = burstlab("reproduce", "yu2004/fig2a", "yu2004/fig1", "--out", out)
    assert answer.status == 2
    assert "fig1.svg: cannot be written (No space left on device)\n  fix: make room" in answer.err
    document = json.loads((out / "reproduce.json").read_text())
    assert [target["target"] for target in document["targets"]] == ["yu2004/fig2a"]
    assert document["interrupted"]
    assert (out / "yu2004/fig2a.svg").exists()
    assert not (out / "yu2004/fig1.svg").exists()


def test_a_checkpoint_before_is_kept(tmp_path, monkeypatch):
    whole_run = bl.run(RUN)
    keeper = Keeper(tmp_path / "replication-0.ckpt")
    keeper.keep(b"one")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(bl.InputError) as refused:
            keeper.keep(b"two")
    assert "replication-0.ckpt: cannot be written (No space left on device)" in str(refused.value)
    assert "make room, and resume (--resume): the checkpoint before is kept" in str(refused.value)
    assert keeper.kept() == b"one"
    assert files(tmp_path) == ["replication-0.ckpt"]
    (tmp_path / "replication-0.ckpt").unlink()
    kept: list[bytes] = []
    keep = Keeper.keep

    def once(self: Keeper, data: bytes) -> None:
        if kept:
            monkeypatch.setattr(os, "fsync", full)
        kept.append(data)
        keep(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "keep", once)
        patch.setattr(os, "fsync", os.fsync)
        long = {**RUN, "run": {"duration": "20000 s"}}
        with pytest.raises(bl.InputError, match="No space left on device"):
            bl.run(long, checkpoint=tmp_path, checkpoint_every="10 ms")
    monkeypatch.undo()
    again = bl.run(long, checkpoint=tmp_path, resume=True)
    assert again.fingerprint == bl.run(long).fingerprint != whole_run.fingerprint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_standard_output(scenario, tmp_path):
    command = [sys.executable, "-m", "burstlab", "run", str(scenario), "--out", "out"]
    with Path("/dev/full").open("w") as sink:
        answer = subprocess.run(
            command, cwd=tmp_path, stdout=sink, stderr=subprocess.PIPE, text=True
        )
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: standard output: cannot be written (No space left")
    assert answer.stderr.count("\n") == 2
    assert bl.read(tmp_path / "out").fingerprint == bl.run(RUN).fingerprint


def test_a_file_is_whole_or_not_there(tmp_path):
    with pytest.raises(ZeroDivisionError), whole(tmp_path / "a") as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert files(tmp_path) == []
    (tmp_path / "a").write_text("before")
    with whole(tmp_path / "a") as part:
        part.write_text("after")
        assert (tmp_path / "a").read_text() == "before"
    assert (tmp_path / "a").read_text() == "after"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device)\n  fix: make room; or"),
        (OSError(13, "Permission denied"), "Permission denied)\n  fix: give another --out"),
        (ValueError("embedded null byte"), "embedded null byte)\n  fix: give another --out"),
    ],
)
def test_the_fix_is_that_of_the_failure(error, said, tmp_path):
    with pytest.raises(bl.InputError) as refused, writing(tmp_path):
        raise error
    assert said in str(refused.value)


def test_a_table_where_there_is_no_directory(tmp_path):
    rows = from_rows([{"a": 1}])
    writer = FileWriter(tmp_path / "no" / "a.parquet")
    with pytest.raises(bl.InputError, match="No such file or directory"), writing(tmp_path):
        writer.write(rows)
