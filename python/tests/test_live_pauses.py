"""Our senders compared with the kernel's: short transfers with losses, and pauses.

All of it is skipped where no kernel was built: `burstlab kernel build` makes one.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
from test_live import BULK, HOME, needs_kernel

from burstlab import run
from burstlab.live import kernels, live
from burstlab.live.shared_kernel import compare_senders, sender_of
from burstlab.storage.parquet import read_table

pytestmark = [needs_kernel, pytest.mark.slow]

#: Seeds of short transfers, and the quantile of Student's t of 19 degrees for 95 %.
SEEDS, T_19 = range(1, 21), 2.093

#: The application writes 3 MB, is silent for 15 s from then on, and writes as much again.
WRITES = [(0, 3_000_000), (15_000, 3_000_000)]


@pytest.fixture(autouse=True)
def _kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.VARIABLE, str(HOME))


def path(**changes: Any) -> dict[str, Any]:
    return {
        "network": {"topology": "path", "link_rate": "10 Gb/s"},
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        **changes,
    }


def test_a_short_transfer_takes_our_sender_as_long_as_the_kernel():
    document = path(
        edge={"assembly": "timer", "timer": "2 ms"},
        loss={"data": {"process": "bernoulli", "probability": 0.2}},
        live=[
            {"address": "10.9.0.1", "command": [*BULK, "send", "10.9.0.2", "5001", "14480"]},
            {"address": "10.9.0.2", "command": [*BULK, "receive", "5001"]},
        ],
        run={"duration": "60 s"},
    )
    found = compare_senders(document, seeds=list(SEEDS))
    theirs, ours = found.kernel["completed_s"], found.ours["completed_s"]
    assert len(theirs) == len(ours) == len(SEEDS)
    assert min(theirs) < 0.2, "in some seeds nothing is lost"
    assert max(theirs) > 1, "in some the handshake or the tail is"
    half = T_19 * statistics.stdev(theirs) / len(theirs) ** 0.5
    assert abs(statistics.mean(ours) - statistics.mean(theirs)) < half
    near = sum(
        our == pytest.approx(their, rel=0.03) for our, their in zip(ours, theirs, strict=True)
    )
    assert near >= 18


@pytest.mark.parametrize("law", ["reno", "cubic", "bbr"])
def test_the_window_after_a_pause_is_that_of_the_kernel(law: str, tmp_path: Path):
    given = path(access={"rate": "20 Mb/s", "delay": "1 ms", "queue": 200})
    given |= {"edge": {"assembly": "timer", "timer": "5 ms"}, "run": {"duration": "19 s"}}
    writes = ",".join(f"{at}:{count}" for at, count in WRITES)
    command = [*BULK, "send", "10.9.0.2", "5001", "--writes", writes]
    sender = {"address": "10.9.0.1", "command": command, "congestion_control": law, "start": "1 s"}
    receiver = {"address": "10.9.0.2", "command": [*BULK, "receive", "5001"]}
    done = live({**given, "live": [sender, receiver]}, out=tmp_path / "out")
    table = read_table(tmp_path / "out" / "live" / "connections.parquet")
    rows = table.where(host="10.9.0.1").to_pylist()
    begun_ns = rows[0]["t_ns"]
    theirs = [
        (1e-9 * (row["t_ns"] - begun_ns), row["cwnd"], row["ssthresh"])
        for row in rows
        if row["event"] == "ack" and row["cwnd"] is not None
    ]
    flow = {
        "start": f"{begun_ns} ns",
        "closes": False,
        "script": [{"at": f"{at} ms", "bytes": f"{count} B"} for at, count in WRITES],
        "tcp": sender_of(done.result.scenario["live"][0], "live[0]"),
    }
    ran = run({**given, "flows": [flow]}, trace=("cwnd",), jobs=1).cwnd.to_pylist()
    ours = [
        (1e-12 * row["t_ps"] - 1e-9 * begun_ns, row["cwnd"], row["ssthresh"])
        for row in ran
        if row["event"] == "ack"
    ]
    for at_s in (14.9, 15.08, 15.5, 16.0, 17.0):
        # The last state by then.
        their, our = ([one for one in side if one[0] < at_s][-1] for side in (theirs, ours))
        assert our[0] == pytest.approx(their[0], abs=2e-3), at_s
        assert our[1:] == pytest.approx(their[1:], rel=0.03, abs=2), at_s
    after = [window for at_s, window, _ in ours if at_s > 15]
    assert min(after) > (200 if law == "bbr" else 10)
