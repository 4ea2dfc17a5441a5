"""Runs under way: answered in their order, cancelled together, and held to their memory."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

import pytest

import burstlab as bl
from burstlab import _core, underway
from burstlab.engine import Bound
from burstlab.underway import UnderWay, workers_asked


def test_tasks_are_answered_in_the_order_in_which_they_were_made():
    tasks: UnderWay[str, int] = UnderWay(None)
    made = {name: Future[int]() for name in ("a", "b", "c")}
    for name, task in made.items():
        tasks.add(task, name, None)
    made["c"].set_result(3)
    made["a"].set_exception(ValueError("a"))
    assert [name for name, _ in tasks.finished()] == ["a", "c"]
    assert len(tasks) == 1
    made["b"].set_result(2)
    ((name, task),) = tasks.finished()
    assert (name, task.result(), len(tasks)) == ("b", 2, 0)


def test_a_wait_ends_though_nothing_is_done(monkeypatch):
    monkeypatch.setattr(underway, "_POLL_S", 0.001)
    tasks: UnderWay[None, int] = UnderWay(None)
    tasks.add(Future[int](), None, None)
    assert tasks.finished() == []
    assert len(tasks) == 1


def test_what_is_stopped_is_cancelled(small):
    tasks: UnderWay[None, Any] = UnderWay(None)
    waiting, monitor = Future[Any](), _core.Monitor()
    tasks.add(waiting, None, monitor)
    assert tasks.progress() == 0.0
    tasks.stop()
    assert waiting.cancelled()
    text = json.dumps(bl.resolve(small))
    with pytest.raises(_core.Cancelled):
        _core.simulate_several(text, 1, 0, 2, monitor)


def test_memory_that_is_exceeded_ends_all(monkeypatch):
    bound = Bound({"run": {"max_memory": "1 MB"}})
    tasks: UnderWay[None, int] = UnderWay(bound)
    tasks.check()
    monkeypatch.setattr("burstlab.engine.memory_taken", lambda: 10**13)
    with pytest.raises(bl.MemoryExceeded, match=r"run\.max_memory = '?1 MB"):
        tasks.check()
    UnderWay(None).check()


@pytest.mark.parametrize("jobs", [0, -1])
def test_at_least_one_worker_is_needed(jobs):
    with pytest.raises(bl.InputError, match=f"jobs = {jobs}: at least one worker"):
        workers_asked(jobs)
    assert workers_asked(3) == 3
    assert workers_asked(None) >= 1
