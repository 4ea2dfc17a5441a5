"""Checkpoints: a run that was killed goes on, and gives what one that was not does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab._core import Monitor
from burstlab.running.checkpoints import Checkpoints, Keeper

#: Events between two looks at the monitor.
SLICE = 1 << 14


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of some seconds."""
    file = tmp_path / "path.toml"
    file.write_text("""
[access]
rate = "20 Mb/s"
[edge]
assembly = "timer"
timer = "2 ms"
[edge.ack]
assembly = "timer"
timer = "3 ms"
[loss.data]
process = "bernoulli"
probability = 0.01
[[flows]]
count = 3
[run]
duration = "20000 s"
""")
    return file


@pytest.fixture
def mesh() -> dict[str, Any]:
    return {
        "network": {"topology": "ring", "nodes": 4, "wavelengths": 1, "link_rate": "50 Mb/s"},
        "edge": {"assembly": "timer", "timer": "3 ms"},
        "access": {"rate": "20 Mb/s"},
        "signalling": {"guard": "100 us"},
        "demand": [
            {
                "flows_per_second": 20,
                "per": "node",
                "size": {"distribution": "exponential", "mean": "20 KB"},
            },
            {
                "load": 0.05,
                "size": {
                    "distribution": "mixture",
                    "parts": [
                        {"weight": 9, "mean": "2 KB"},
                        {"weight": 1, "distribution": "pareto", "min": "20 KB", "shape": 2},
                    ],
                },
            },
        ],
        "run": {"duration": "3 s", "sample": "100 ms", "replications": 2},
    }


def command(scenario: Path, kept: Path, *more: str) -> list[str]:
    flags = ["--json", "--checkpoint", str(kept), "--checkpoint-every", "0.2 s", *more]
    return [sys.executable, "-m", "burstlab", "run", str(scenario), *flags]


def start(scenario: Path, kept: Path, *more: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command(scenario, kept, *more), stdout=pipe, stderr=pipe)


def wait_for_change(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a checkpoint is there that was not when this was called."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    while not file.exists() or file.stat().st_mtime_ns == before:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def fnv_1a(data: bytes) -> int:
    """The sum of a checkpoint: the steps of FNV-1a over words of eight bytes, then over bytes."""
    value, whole = 0xCBF29CE484222325, len(data) // 8 * 8
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)]
    for word in [*words, *data[whole:]]:
        value = (value ^ word) * 0x100000001B3 % 2**64
    return value


def numbers(document: dict[str, Any]) -> dict[str, Any]:
    """Everything but the time it took."""
    return {name: value for name, value in document.items() if name != "wall_s"}


def test_a_run_that_is_killed_again_and_again_is_the_run_in_one_piece(
    path: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    more: list[str] = []
    for _ in range(2):
        process = start(path, kept, *more)
        wait_for_change(kept / "replication-0.ckpt", process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        more = ["--resume"]
    resumed = start(path, kept, *more)
    out, err = resumed.communicate()
    assert resumed.returncode == 0, err
    whole = bl.run(path)
    printed = json.loads(out)
    (alone,) = printed.pop("replications")
    expected = numbers(json.loads(json.dumps(whole.summary)))
    assert alone["fingerprint"] == expected["fingerprint"]
    assert {name: printed.get(name) for name in expected} == expected
    # It is at its end: it is not run again.
    before = (kept / "replication-0.ckpt").read_bytes()
    again = bl.run(path, checkpoint=kept, resume=True)
    assert numbers(again.summary) == numbers(whole.summary)
    assert (kept / "replication-0.ckpt").read_bytes() == before


def test_ctrl_c_leaves_a_checkpoint(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    process = start(path, kept)
    wait_for_change(kept / "replication-0.ckpt", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130 and b"--resume" in err
    part = json.loads(out)
    resumed = bl.run(path, checkpoint=kept, resume=True)
    assert part["interrupted"] and not resumed.summary["interrupted"]
    assert resumed.fingerprint == bl.run(path).fingerprint


#: A disk that takes ten minutes for every checkpoint but the first.
_SLOW_DISK = """
import sys, time
from burstlab.running import checkpoints
from burstlab.storage import files
from burstlab.cli import main

def put(path, data):
    if path.exists():
        print("writing", file=sys.stderr, flush=True)
        time.sleep(600.0)
    files.put(path, data)

checkpoints.put = put
sys.argv = ["burstlab", *sys.argv[1:]]
main()
"""


def test_a_second_ctrl_c_leaves_the_checkpoint_before(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    arguments = ["run", str(path), "--checkpoint", str(kept), "--checkpoint-every", "1 ms"]
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW_DISK, *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while "writing" not in process.stderr.readline():
        assert process.poll() is None
    before = (kept / "replication-0.ckpt").read_bytes()
    process.send_signal(signal.SIGINT)
    while "Ctrl-C again" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert (kept / "replication-0.ckpt").read_bytes() == before
    assert bl.run(path, checkpoint=kept, resume=True).fingerprint == bl.run(path).fingerprint


def test_a_mesh_with_its_tables_goes_on(
    mesh: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh["run"]["duration"] = "20 s"
    whole = bl.run(mesh, out=tmp_path / "whole")
    assert min(one.summary["counters"]["events"] for one in whole.replications) > 4 * SLICE

    class Full(Exception):
        """The run is ended by what its keeper does."""

    def end(keeper: Keeper, data: bytes) -> None:
        keep(keeper, data)
        raise Full

    keep = Keeper.keep
    monkeypatch.setattr(Keeper, "keep", end)
    monkeypatch.setattr("burstlab._core.Monitor", asked)
    with pytest.raises(Full):
        bl.run(mesh, jobs=1, checkpoint=tmp_path / "kept")
    monkeypatch.undo()
    assert (tmp_path / "kept" / "replication-0.ckpt").exists()
    resumed = bl.run(mesh, checkpoint=tmp_path / "kept", resume=True, out=tmp_path / "resumed")
    assert numbers(resumed.summary) == numbers(whole.summary)
    for name in ("connections", "samples", "histograms"):
        files = [tmp_path / run / f"{name}.parquet" for run in ("whole", "resumed")]
        assert files[0].read_bytes() == files[1].read_bytes(), name


def asked(max_memory: int | None = None) -> Monitor:
    """Return a monitor that was asked for a checkpoint already."""
    monitor = Monitor(max_memory)
    monitor.keep()
    return monitor


def test_more_replications_are_added_to_those_that_are_there(
    mesh: dict[str, Any], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    bl.run(mesh, checkpoint=kept)
    more = bl.run(mesh, replications=3, checkpoint=kept, resume=True)
    assert numbers(more.summary) == numbers(bl.run(mesh, replications=3).summary)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError, bl.InputError, None])
def test_a_run_lets_go_of_its_checkpoints_however_it_ends(
    raised: type[BaseException] | None, tmp_path: Path
) -> None:
    def ends(_: float) -> None:
        if raised is not None:
            raise raised

    kept, trace = tmp_path / "kept", ("cwnd",) if raised is bl.InputError else ()
    lasts = {"run": {"duration": "1 s" if raised is None else "20000 s"}}
    with pytest.raises(raised) if raised else nullcontext():
        bl.run(lasts, checkpoint=kept, trace=trace, progress=ends)
    # Refused while anyone holds the directory.
    Checkpoints(kept, resume=True).close()
    assert not list(kept.glob(".*"))


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--set", "edge.timer=50 ms"], 'edge.timer is "40 ms" there, and "50 ms" in this one'),
        (["--seed", "9"], "seed"),
    ],
)
def test_another_run_is_refused(
    burstlab: Any, small: dict[str, Any], tmp_path: Path, flags: list[str], says: str
) -> None:
    (tmp_path / "small.json").write_text(json.dumps(small))
    kept, scenario = tmp_path / "kept", tmp_path / "small.toml"
    bl.run(small, checkpoint=kept)
    bl.run(small, out=tmp_path / "out")
    scenario.write_bytes((tmp_path / "out" / "scenario.toml").read_bytes())
    answer = burstlab("run", scenario, "--checkpoint", kept, "--resume", *flags)
    assert answer.status == 2
    assert says in answer.err and "replication-0.ckpt" in answer.err and "fix:" in answer.err


def test_other_versions_and_harmed_files_are_refused(small: dict[str, Any], tmp_path: Path) -> None:
    bl.run(small, checkpoint=tmp_path)
    file = tmp_path / "replication-0.ckpt"
    good = file.read_bytes()
    # A head begins with the version, behind its length.
    payload = bytes([5]) + b"9.9.9" + good[38:]
    other = good[:24] + fnv_1a(payload).to_bytes(8, "little") + payload
    for bad, says in (
        (other, "version 9.9.9"),
        (good[:-1], "cut"),
        (good[:3], "cut"),
        (b"x" * 99, "no checkpoint"),
        (good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "damaged"),
        (good[:8] + b"\xff" + good[9:], "format"),
    ):
        file.write_bytes(bad)
        with pytest.raises(bl.InputError, match=rf"replication-0.ckpt: .*{says}.*\n  fix: "):
            bl.run(small, checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--checkpoint", "kept", "--trace", "cwnd"], "traced"),
        (["--resume"], "--checkpoint DIR"),
        (["--checkpoint-every", "1 s"], "--checkpoint DIR"),
        (["--checkpoint", "kept", "--checkpoint-every", "1"], "no unit"),
        (["--checkpoint", "kept", "--checkpoint-every", "0 s"], "is 0"),
        (["--checkpoint", "file"], "--checkpoint"),
    ],
)
def test_flags_that_make_no_sense_are_refused(
    burstlab: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text('[run]\nduration = "1 s"\n')
    Path("file").touch()
    answer = burstlab("run", "a.toml", *flags)
    assert answer.status == 2
    assert says in answer.err and "fix:" in answer.err


def test_checkpoints_of_another_run_are_not_overwritten(
    burstlab: Any, small: dict[str, Any], tmp_path: Path
) -> None:
    bl.run(small, checkpoint=tmp_path)
    with pytest.raises(bl.InputError, match="resume"):
        bl.run(small, checkpoint=tmp_path)
