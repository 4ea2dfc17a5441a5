"""A disk that is full: each command says which file and what to do, and keeps what was done.

A limit on the size of files stands for the disk: the system refuses the write in the same place,
with another number (EFBIG for ENOSPC). Standard output goes to ``/dev/full``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.checkpoints import Keeper
from burstlab.files import put, whole
from burstlab.parquet import FileWriter, writing

resource = pytest.importorskip("resource", reason="no limits on files here")

RUN = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "run": {"duration": "20 s"},
}


def limited(most: int, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command whose files may have so many bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    command = [sys.executable, "-m", "burstlab", *map(str, words)]
    return subprocess.run(command, preexec_fn=limit, cwd=cwd, capture_output=True, text=True)


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    import tomli_w

    path = tmp_path / "scenario.toml"
    path.write_text(tomli_w.dumps(RUN))
    return path


def told(answer: subprocess.CompletedProcess[str], file: str, fix: str) -> bool:
    assert answer.returncode == 2, answer.stderr
    assert "Traceback" not in answer.stderr
    return f"error: {file}: cannot be written (File too large)\n  fix: {fix}" in answer.stderr


def test_a_traced_run(scenario, tmp_path):
    words = ("run", scenario, "--trace", "packets", "--out", "out")
    answer = limited(4096, *words, cwd=tmp_path)
    assert told(answer, "out/packets.parquet", "make room; or give another --out")
    assert files(tmp_path / "out") == []
    bl.run(RUN, trace="packets", out=tmp_path / "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in files(tmp_path / "out")}
    assert limited(4096, *words, cwd=tmp_path).returncode == 2
    # The result that was there is there.
    assert {name: (tmp_path / "out" / name).read_bytes() for name in before} == before
    assert files(tmp_path / "out") == sorted(before)


PLAN = {
    "scenario": RUN,
    "replications": 3,
    "metrics": ["flows.mean.goodput_bps", "flows.mean.timeouts"],
    "grid": {"tcp.window": [10, 20, 40]},
}


def test_a_study_goes_on_once_there_is_room(tmp_path):
    import tomli_w

    plan = tmp_path / "plan.toml"
    plan.write_text(tomli_w.dumps(PLAN))
    bl.study(plan, out=tmp_path / "whole")
    words = ("study", plan, "--out", "out")
    # The points are too large first, and then the report.
    answer = limited(1000, *words, cwd=tmp_path)
    assert told(answer, "out", "make room, and resume (--resume): points that were done are kept")
    assert not [name for name in files(tmp_path / "out") if Path(name).name.startswith(".")]
    answer = limited(100_000, *words, "--resume", cwd=tmp_path)
    assert told(answer, "out/report.html", "make room, and resume (--resume): all points are kept")
    assert bl.read_study(tmp_path / "out").done == 3
    done = bl.study(plan, out=tmp_path / "out", resume=True)
    assert not done.interrupted
    for name in files(tmp_path / "whole"):
        if name != "timing.json":
            assert (tmp_path / "out" / name).read_bytes() == (
                tmp_path / "whole" / name
            ).read_bytes(), name


def test_exports_and_figures_leave_nothing_half_written(scenario, tmp_path):
    trace = ("packets", "bursts", "cwnd", "ledger")
    bl.run(scenario, trace=trace, out=tmp_path / "r")
    code = (
        "import sys, resource\n"
        "from burstlab.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "for line in sys.argv[1:]:\n"
        "    try:\n"
        "        main(line.split())\n"
        "    except SystemExit as left:\n"
        "        print(left.code)\n"
    )
    lines = [f"export r --format {kind} --out x.{kind}" for kind in ("pcapng", "perfetto", "qlog")]
    lines += ["export r --format xplot --out x.xplot", "export r --format csv --out csv"]
    lines += ["plot r window --out x.svg"]
    command = [sys.executable, "-c", code, *lines]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert answer.stdout.split() == ["2"] * len(lines), answer.stderr
    for name in ("x.pcapng", "x.perfetto", "x.qlog", "x.xplot", "csv/packets.csv", "x.svg"):
        assert f"error: {name}: cannot be written (File too large)" in answer.stderr
    assert answer.stderr.count("fix: make room; or give another --out") == len(lines)
    assert files(tmp_path / "csv") == ["flows.csv"]
    assert [name for name in files(tmp_path) if "x." in name] == []


def test_a_reproduction_keeps_the_targets_that_were_done(tmp_path, burstlab, monkeypatch):
    from burstlab.plot import saving

    def full(path: Path, data: bytes) -> None:
        if path.name == "fig1.svg":
            raise OSError(28, "No space left on device", str(path))
        put(path, data)

    monkeypatch.setattr(saving, "put", full)
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
    for words in (("run", scenario, "--out", "out"), ("check", scenario)):
        command = [sys.executable, "-m", "burstlab", *map(str, words)]
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
        (OSError("Detail: [errno 28] No space"), "No space left on device)\n  fix: make room; or"),
        (OSError(13, "Permission denied"), "Permission denied)\n  fix: give another --out"),
        (ValueError("embedded null byte"), "embedded null byte)\n  fix: give another --out"),
    ],
)
def test_the_fix_is_that_of_the_failure(error, said, tmp_path):
    with pytest.raises(bl.InputError) as refused, writing(tmp_path):
        raise error
    assert said in str(refused.value)


def test_arrow_tells_the_number_as_the_system_does(tmp_path):
    import pyarrow as pa

    rows: Any = pa.table({"a": [1]})
    writer = FileWriter(tmp_path / "no" / "a.parquet")
    with pytest.raises(bl.InputError, match="No such file or directory"), writing(tmp_path):
        writer.write(rows)
