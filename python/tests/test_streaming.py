"""Tables that are written while the run goes on: the same rows, the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import burstlab as bl
from burstlab.storage import parquet
from burstlab.tables import Table

TRACES = ("packets", "bursts", "cwnd", "ledger")
CHUNK = 1 << 18


@pytest.fixture
def long() -> dict[str, Any]:
    """A path with more rows of packets than a chunk has."""
    return {
        "access": {"rate": "20 Mb/s"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.002}},
        "tcp": {"window": 100},
        "run": {"duration": "500 s", "seed": 3},
    }


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
            }
        ],
        "run": {"duration": "3 s", "sample": "100 ms"},
    }


def files(directory: Path) -> dict[str, bytes]:
    """Everything but the time it took."""
    found = {path.name: path.read_bytes() for path in directory.iterdir()}
    document = json.loads(found["summary.json"])
    del document["wall_s"]
    return {**found, "summary.json": json.dumps(document).encode()}


def test_what_is_streamed_is_what_is_kept_in_memory(long, tmp_path):
    kept = bl.run(long, trace=TRACES)
    streamed = bl.run(long, trace=TRACES, out=tmp_path)
    assert len(kept.packets) > CHUNK
    assert pq.read_metadata(tmp_path / "packets.parquet").num_row_groups > 1
    assert streamed.recorded == kept.recorded
    for result in (streamed, bl.read(tmp_path)):
        assert result.fingerprint == kept.fingerprint
        for name in kept.recorded:
            ours, theirs = result.table(name), kept.table(name)
            assert ours.to_arrow().schema == theirs.to_arrow().schema
            assert ours.equals(theirs)


@pytest.mark.parametrize("scenario", ["long", "mesh"])
def test_the_files_are_those_of_write_for_any_number_of_workers(scenario, request, tmp_path):
    document = request.getfixturevalue(scenario)
    kept = bl.run(document, trace=TRACES, replications=3)
    kept.write(tmp_path / "write")
    for jobs in (1, 3):
        out = tmp_path / str(jobs)
        streamed = bl.run(document, trace=TRACES, replications=3, jobs=jobs, out=out)
        assert files(out).keys() == files(tmp_path / "write").keys()
        assert files(out) == files(tmp_path / f"{1}")
        for name in kept.recorded:
            assert streamed.table(name).equals(kept.table(name))
            for part, whole in zip(streamed.replications, kept.replications, strict=True):
                if name != "flows":
                    assert part.tables[name].equals(whole.tables[name])


def test_one_replication_is_written_with_the_same_bytes_at_once_and_meanwhile(mesh, tmp_path):
    bl.run(mesh, trace=TRACES).write(tmp_path / "at once")
    bl.run(mesh, trace=TRACES, out=tmp_path / "meanwhile")
    assert files(tmp_path / "at once") == files(tmp_path / "meanwhile")


def test_a_result_that_is_read_can_be_written_where_it_lies(mesh, tmp_path):
    bl.run(mesh, trace="packets", out=tmp_path, replications=2)
    before = files(tmp_path)
    bl.read(tmp_path).write(tmp_path)
    assert files(tmp_path).keys() == before.keys()
    kept = bl.run(mesh, trace="packets", replications=2).packets
    assert bl.read(tmp_path).packets.equals(kept)


def test_a_stored_table_reads_what_is_asked_for(mesh, tmp_path):
    kept = bl.run(mesh, trace="packets", replications=2).packets
    stored = bl.run(mesh, trace="packets", replications=2, out=tmp_path).packets
    assert (len(stored), stored.columns) == (len(kept), kept.columns)
    assert repr(stored) == repr(kept)
    assert stored.to_html(rows=3) == kept.to_html(rows=3)
    np.testing.assert_array_equal(stored["fate"], kept["fate"])
    np.testing.assert_array_equal(stored.seconds("acked_ps"), kept.seconds("acked_ps"))
    lost = stored.where(fate="lost", kind="data", replication=1)
    assert len(lost) > 0
    same = kept.where(fate="lost", kind="data", replication=1)
    assert lost.to_pylist() == same.to_pylist()
    assert pa.table(stored).num_rows == len(kept)


def test_a_flow_that_waits_for_its_timer_does_not_hold_up_the_table(monkeypatch, tmp_path, long):
    """Chunks are put aside meanwhile; that changes no row."""
    long["access"] = {"rate": "150 Mb/s"}
    long["tcp"]["window"] = 1500
    long["flows"] = [{"tcp": {"window": 1, "rto_min": "60 s"}}, {}]
    long["loss"] = {"data": {"process": "script", "packets": [[5, 1]]}}
    late, aside = parquet.Part.late, []

    def count(part: parquet.Part, name: str, places: Any, columns: Any) -> None:
        aside.append(len(places))
        late(part, name, places, columns)

    monkeypatch.setattr(parquet.Part, "late", count)
    long["run"]["duration"] = "80 s"
    kept = bl.run(long, trace="packets")
    streamed = bl.run(long, trace="packets", out=tmp_path / "meanwhile")
    assert len(aside) > 1
    assert 0 < sum(aside) < CHUNK // 8 * len(aside)
    assert streamed.packets.equals(kept.packets)
    kept.write(tmp_path / "at once")
    assert files(tmp_path / "at once") == files(tmp_path / "meanwhile")


def test_ctrl_c_leaves_whole_files(tmp_path, long):
    out = tmp_path / "out"
    long["run"]["duration"] = "2000000 s"
    code = (
        "import _thread, pathlib, threading, time\n"
        "import burstlab as bl\n"
        f"out = pathlib.Path({str(out)!r})\n"
        "def stop():\n"
        "    while sum(part.stat().st_size for part in out.glob('.packets-0*')) < 2_000_000:\n"
        "        time.sleep(0.01)\n"
        "    _thread.interrupt_main()\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        "try:\n"
        f"    bl.run({long!r}, trace='packets,bursts'.split(','), out={str(out)!r},\n"
        "           replications=3, jobs=2)\n"
        "except bl.Interrupted as stop:\n"
        "    print(len(stop.result.packets), stop.result.counters['packets_sent'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done
    result = bl.read(out)
    assert result.interrupted
    assert len(result.replications) == 2, "the third was not begun"
    counters = result.counters
    assert len(result.packets) == counters["packets_sent"] + counters["acks_sent"] > CHUNK
    assert done.stdout.split() == [str(len(result.packets)), str(counters["packets_sent"])]
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_full_disk_is_told_and_leaves_nothing_half_written(monkeypatch, tmp_path, long):
    write, calls = parquet.FileWriter.write, []

    def fail(writer: parquet.FileWriter, rows: Table) -> None:
        calls.append(len(rows))
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        write(writer, rows)

    monkeypatch.setattr(parquet.FileWriter, "write", fail)
    long["run"]["duration"] = "2000000 s"
    with pytest.raises(bl.InputError, match="No space left"):
        bl.run(long, trace="packets", out=tmp_path)
    assert calls == [CHUNK, CHUNK]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_table_is_found_at_once(mesh, tmp_path):
    bl.run(mesh, trace="bursts", out=tmp_path)
    (tmp_path / "bursts.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(bl.InputError, match=r"bursts\.parquet: damaged"):
        bl.read(tmp_path)
