"""The outcome of a run at which the engine fails, or that takes too much memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab import _core
from burstlab.errors import EngineError, MemoryExceeded
from burstlab.running import engine
from burstlab.simulation import announcements

REAL = _core.Monitor

SCENARIO: dict[str, Any] = {
    "access": {"rate": "100 Mb/s"},
    "edge": {"assembly": "timer", "timer": "1 ms"},
    "flows": [{"count": 4}],
    "run": {"duration": "600 s", "seed": 3},
}


def failing(max_memory: int | None = None) -> _core.Monitor:
    """Return a monitor at whose third look the engine fails."""
    return REAL(max_memory, 3)


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine fail in every run."""
    monkeypatch.setattr("burstlab._core.Monitor", failing)


@pytest.mark.usefixtures("fails")
def test_a_fault_is_one_line_and_exit_status_70(tmp_path: Path, burstlab) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text('[access]\nrate = "100 Mb/s"\n[run]\nduration = "2000 s"\n')
    answer = burstlab("run", file, "--out", tmp_path / "out", "--trace", "packets")
    assert answer.status == 70
    said = [line for line in answer.err.splitlines() if line.startswith("error:")]
    assert len(said) == 1
    for part in ("a fault was asked for", "run.rs:", "scenario ", "seed 1", "CONTRIBUTING.md"):
        assert part in said[0], said
    assert "Traceback" not in answer.err and "panicked" not in answer.err
    # The tables until then are kept, and the summary says that it was stopped.
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["interrupted"] and 0.0 < summary["simulated_s"] < 2000.0
    result = bl.read(tmp_path / "out")
    assert len(result.packets) > 1000


@pytest.mark.usefixtures("fails")
def test_a_fault_holds_the_scenario_and_what_was_done() -> None:
    with pytest.raises(EngineError) as caught:
        bl.run(SCENARIO, jobs=1, replications=2)
    error = caught.value
    assert error.result is not None and error.result.interrupted
    assert error.which == "seed 3, replication 0"
    resolved = bl.resolve(SCENARIO)
    resolved["run"]["replications"] = 2
    assert error.fingerprint == engine.fingerprint_of(resolved)
    assert not isinstance(error, ValueError), "it is no mistake of the user"


def test_a_study_goes_on_without_the_points_that_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _core.simulate_several

    def one_fails(text: str, *rest: Any) -> list[str]:
        if json.loads(text)["tcp"]["window"] == 8:
            raise _core.EngineFault("index out of bounds", "crates/sim/src/x.rs:1")
        return work(text, *rest)

    monkeypatch.setattr("burstlab._core.simulate_several", one_fails)
    plan = {
        "scenario": {**SCENARIO, "run": {"duration": "1 s"}},
        "grid": {"tcp.window": [4, 8, 16]},
        "replications": 2,
    }
    with pytest.raises(EngineError) as caught:
        bl.study(plan, out=tmp_path / "study", jobs=1)
    assert caught.value.study is not None and caught.value.study.done == 2
    shown = json.loads((tmp_path / "study" / "failed.json").read_text())
    assert [one["point"] for one in shown] == [1]
    assert "index out of bounds" in shown[0]["reason"]
    monkeypatch.undo()
    assert bl.study(plan, out=tmp_path / "study", resume=True, jobs=1).done == 3
    assert not (tmp_path / "study" / "failed.json").exists()


def test_what_needs_more_memory_than_it_may_is_refused() -> None:
    many = {**SCENARIO, "flows": [{"count": 1_000_000}]}
    many["run"] = {"duration": "1 s", "max_memory": "1 GB"}
    with pytest.raises(bl.ScenarioError) as caught:
        bl.run(many)
    assert caught.value.path == "flows[0].count"
    assert "1 GB" in str(caught.value) and caught.value.fix


def test_a_run_that_takes_more_memory_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0, *range(0, 10**12, 10**9)])
    monkeypatch.setattr("burstlab.running.engine.memory_taken", lambda **_: next(taken))
    long = {**SCENARIO, "run": {"duration": "100000 s", "max_memory": "2 GB"}}
    with pytest.raises(MemoryExceeded) as caught:
        bl.run(long, announce=print)
    result = caught.value.result
    assert result is not None and result.interrupted
    assert result.summary["simulated_s"] > 0.0
    assert caught.value.path == "run.max_memory" and caught.value.fix


def test_the_bound_changes_no_number() -> None:
    bounded = {**SCENARIO, "run": {"duration": "1 s", "max_memory": "3 GB"}}
    free = {**SCENARIO, "run": {"duration": "1 s"}}
    assert bl.run(bounded).fingerprint == bl.run(free).fingerprint


def test_a_long_run_is_announced() -> None:
    others = {"pattern": "cbr", "rate": "1 Tb/s"}
    long = {
        **SCENARIO,
        "access": {"shared": True, "queue": 10},
        "traffic": [others],
        "run": {"duration": "1000 s"},
    }
    said = announcements(bl.resolve(long))
    assert len(said) == 1 and "traffic[0].rate = 1 Tb/s" in said[0], said
    assert not announcements(bl.resolve(SCENARIO))
