"""Unfinished runs: returned in order, cancelled together, and limited in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Future
from typing import Any

import pytest

import burstlab as bl
from burstlab import _core
from burstlab.running import worker_pool
from burstlab.running.engine import Bound
from burstlab.running.worker_pool import UnderWay, each, workers_asked

#: Ctrl-C comes two hundred times, wherever the main thread is in its wait.
_STRUCK = """
import os, random, signal, threading, time
from concurrent.futures import Future
from burstlab.running import worker_pool
from burstlab.running.worker_pool import UnderWay

worker_pool._POLL_S = 0.0
ready = threading.Semaphore(0)

def strike():
    for _ in range(200):
        ready.acquire()
        time.sleep(0.002 * random.random())
        os.kill(os.getpid(), signal.SIGINT)

made, tasks = [Future() for _ in range(500)], UnderWay()
for task in made:
    tasks.add(lambda: task, about=None)
threading.Thread(target=strike).start()
for _ in range(200):
    try:
        ready.release()
        while True:
            tasks.finished()
    except KeyboardInterrupt:
        pass

def look():  # as a worker does; the thread that holds such a lock may take it again
    free = [task._condition.acquire(blocking=False) for task in made]
    print(len(free) - sum(free), "locks are held")

threading.Thread(target=look).start()
"""


def _already(task: Future[Any]) -> Future[Any]:
    return task


def test_tasks_are_answered_in_the_order_in_which_they_were_made():
    tasks: UnderWay[str, int] = UnderWay(None)
    made = {name: Future[int]() for name in ("a", "b", "c")}
    for name, task in made.items():
        tasks.add(_already, task, about=name)
    made["c"].set_result(3)
    made["a"].set_exception(ValueError("a"))
    assert [name for name, _ in tasks.finished()] == ["a", "c"]
    assert len(tasks) == 1
    made["b"].set_result(2)
    ((name, task),) = tasks.finished()
    assert (name, task.result(), len(tasks)) == ("b", 2, 0)


def test_a_wait_ends_though_nothing_is_done(monkeypatch):
    monkeypatch.setattr(worker_pool, "_POLL_S", 0.001)
    tasks: UnderWay[None, int] = UnderWay(None)
    tasks.add(Future[int], about=None)
    assert tasks.finished() == []
    assert len(tasks) == 1


def test_what_is_stopped_is_cancelled(small):
    tasks: UnderWay[None, Any] = UnderWay(None)
    waiting, monitor = Future[Any](), _core.Monitor()
    tasks.add(_already, waiting, about=None, monitor=monitor)
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
    monkeypatch.setattr("burstlab.running.engine.memory_taken", lambda **_: 10**13)
    with pytest.raises(bl.MemoryExceeded, match=r"run\.max_memory = '?1 MB"):
        tasks.check()
    UnderWay(None).check()


def test_where_addresses_are_bounded_they_are_counted():
    """Reserved and not used: no memory, but there is none left of what `ulimit -v` allows."""
    code = """
import mmap, resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from burstlab.running.engine import Bound
free, given = Bound({}), Bound({"run": {"max_memory": "2 GB"}})
print(free.allowed == 2 << 30, free.exceeded() is None)
reserved = mmap.mmap(-1, 5 << 29)
print(free.exceeded() is None, given.exceeded() is None)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "True", "False", "True"], said.stderr


@pytest.mark.parametrize("jobs", [0, -1])
def test_at_least_one_worker_is_needed(jobs):
    with pytest.raises(bl.InputError, match=f"jobs = {jobs}: at least one worker"):
        workers_asked(jobs)
    assert workers_asked(3) == 3
    assert workers_asked(None) >= 1


def test_each_item_is_done_once_and_an_error_ends_all():
    assert sorted(each(lambda item: item * 2, range(50), 3)) == list(range(0, 100, 2))
    with pytest.raises(ZeroDivisionError):
        list(each(lambda item: 1 // item, [1, 1, 0, 1], 2))


def test_ctrl_c_leaves_no_lock_behind():
    """One that struck between a lock and the block that gives it back left all waiting for ever."""
    shown = subprocess.run(
        [sys.executable, "-c", _STRUCK], capture_output=True, text=True, timeout=240, check=False
    )
    assert (shown.stdout, shown.returncode) == ("0 locks are held\n", 0), shown.stderr[-2000:]
