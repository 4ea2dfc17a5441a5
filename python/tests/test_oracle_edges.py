"""Recorded connections of Linux with pauses, small buffers and packets of other sizes.

Tests that need a kernel are skipped where none was built: `burstlab kernel build` makes one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_live import HOME, needs_kernel

from burstlab.live import kernels
from burstlab.oracle.linux import LinuxOutcome, read_linux_index, replay_linux
from burstlab.oracle.live import document_of, live_linux
from burstlab.oracle.path import not_of_a_path, path_linux, scenario_of

EDGES = Path(__file__).parent / "data" / "linux-edges"

#: The most that the traces may take, in bytes.
SIZE_MOST = 300_000


def differing(outcomes: list[LinuxOutcome]) -> dict[str, str]:
    return {one.case.name: one.reason for one in outcomes if one.outcome != "match"}


def test_the_sender_repeats_each_recording():
    outcomes = replay_linux(EDGES, jobs=1)
    assert differing(outcomes) == {}
    assert len(outcomes) == 30
    assert sum(one.rows_equal for one in outcomes) > 3_000


def test_each_recording_is_repeated_as_a_scenario():
    outcomes = path_linux(EDGES, jobs=1)
    assert differing(outcomes) == {}
    assert len(outcomes) == 30
    for one in outcomes:
        assert one.acked_bytes is not None
        assert one.acked_bytes[1] == pytest.approx(one.acked_bytes[0], rel=0.03)


def test_the_recordings_reach_the_edges_and_are_small():
    cases = read_linux_index(EDGES)
    windows: set[int] = set()
    for case in cases:
        assert case.unknown is None
        assert not_of_a_path(case, live=True) is None
        windows |= {case.entry["rmem"]} if "rmem" in case.entry else set()
    assert min(windows) == 4_096
    assert {case.mtu for case in cases} == {576, 1_500, 9_000}
    assert {case.entry["cc"] for case in cases} == {"reno", "cubic", "bbr", "vegas", "dctcp"}
    assert sum(file.stat().st_size for file in (EDGES / "traces").iterdir()) < SIZE_MOST


def test_an_application_that_writes_by_script_does_not_close():
    (case, *_) = (one for one in read_linux_index(EDGES) if "writes" in one.entry)
    (flow,) = scenario_of(case, 10**12)["flows"]
    assert flow["closes"] is False
    sender, _ = document_of(case, 10**12, 0)["live"]
    assert sender["command"][-2:] == ["--writes", case.entry["writes"]]


@needs_kernel
def test_live_hosts_pause_and_have_small_buffers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(kernels.VARIABLE, str(HOME))
    chosen = ("pause-01", "pause-loss-02", "think-01", "small-buffer-02", "mtu9000-01")
    outcomes = live_linux(EDGES, only=lambda case: case.name in chosen)
    assert differing(outcomes) == {}
    assert len(outcomes) == len(chosen)
