"""The engine reads and resolves a scenario once, and runs it as its stored form."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

import burstlab as bl
from burstlab import _core

PATH: dict[str, Any] = {
    "flows": [{"bytes": "50 KB"}, {"start": "1 ms"}],
    "run": {"duration": "1 s"},
}
MESH: dict[str, Any] = {
    "network": {"topology": "nsfnet", "wavelengths": 4},
    "demand": [
        {
            "pattern": "trace",
            "trace": [["0 s", "1", "14", "30 KB"], ["1 ms", "2", "3", "20 KB"]],
            "tcp": {"profile": "linux"},
        }
    ],
    "run": {"duration": "100 ms"},
}
#: The stored form lacks a parameter without effect, and the warning about it.
IDLE: dict[str, Any] = {"tcp": {"rack": True}, "run": {"duration": "1 s"}}


@pytest.mark.parametrize("written", [PATH, MESH, IDLE], ids=["path", "mesh", "idle"])
def test_a_run_equals_one_of_the_stored_form(written):
    with pytest.warns() if written is IDLE else nullcontext():
        found = bl.run(written, seed=3).replications[0].summary
    stored = bl.resolve({**written, "run": {**written["run"], "seed": 3}})
    text = _core.simulate(json.dumps(stored), 3, 0, [], _core.Monitor()).summary
    assert json.dumps(found) == json.dumps(json.loads(text))


def test_the_engine_reads_a_scenario_once(monkeypatch, tmp_path):
    read = []
    real = _core.Scenario

    def counted(text: str, monitor: _core.Monitor | None = None) -> _core.Scenario:
        read.append(text)
        return real(text, monitor)

    monkeypatch.setattr(_core, "Scenario", counted)
    monkeypatch.delattr(_core, "resolve")
    bl.run(PATH, replications=3, jobs=2, checkpoint=tmp_path)
    assert len(read) == 1


def test_a_scenario_that_is_held_serves_all_calls():
    monitor = _core.Monitor()
    held = _core.Scenario(json.dumps(PATH), monitor)
    text = held.document()
    assert json.loads(text) == bl.resolve(PATH)
    for scenario in (held, text):
        assert _core.needs(scenario, monitor) == _core.needs(text, monitor)
        assert _core.warnings(scenario) == []
        assert _core.shape(scenario) == _core.shape(text)
    two = [_core.simulate_several(one, 1, 0, 1, _core.Monitor()) for one in (held, text)]
    assert two[0] == two[1]
    # A run that is cancelled cancels no other.
    monitor.cancel()
    with pytest.raises(_core.Cancelled):
        _core.simulate_several(held, 1, 0, 1, monitor)
    assert _core.simulate_several(held, 1, 0, 1, _core.Monitor()) == two[0]
