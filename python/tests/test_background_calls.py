"""Calls in a background thread: in order, each awaited, and their exceptions are raised."""

from __future__ import annotations

import threading

import pytest

from burstlab.cli.background_calls import background_calls
from burstlab.running.worker_pool import UnderWay


def test_a_call_goes_on_while_the_main_thread_does_something_else():
    begun, may_end, done = threading.Event(), threading.Event(), []

    def write(what: str) -> None:
        begun.set()
        assert may_end.wait(10)
        done.append(what)

    with background_calls() as aside:
        aside.do(write, "one")
        assert begun.wait(10)
        assert done == []
        may_end.set()
        aside.do(write, "two")
        # The second is begun behind the first.
        assert done[0] == "one"
    assert done == ["one", "two"]


def test_what_a_call_raises_is_raised_by_the_next_one_or_at_the_end():
    done: list[str] = []
    with pytest.raises(OSError, match="full"), background_calls() as aside:
        aside.do(_fail)
        aside.do(done.append, "never")
    assert done == []
    with pytest.raises(OSError, match="full"), background_calls() as aside:
        aside.do(_fail)


def test_another_error_waits_for_the_call_and_stays_the_one_that_is_reported():
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), background_calls() as aside:
        aside.do(done.append, "kept")
        aside.do(_fail)
        raise KeyboardInterrupt
    assert done == ["kept"]


def _fail() -> None:
    raise OSError("full")


def test_whoever_is_interrupted_while_it_waits_leaves(monkeypatch):
    may_end = threading.Event()
    with pytest.raises(KeyboardInterrupt), background_calls() as aside:
        aside.do(may_end.wait, 60)
        assert aside.goes_on()
        monkeypatch.setattr(UnderWay, "finished", _interrupted)
    may_end.set()


def _interrupted(_: UnderWay[None, object]) -> None:
    raise KeyboardInterrupt
