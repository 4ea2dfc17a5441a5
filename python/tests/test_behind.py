"""Calls behind a bounded channel: in order, no more of them than there is room, and none lost."""

from __future__ import annotations

import threading
from functools import partial

import pytest

import burstlab as bl
from burstlab.storage.behind import Behind
from burstlab.storage.parquet import Part

PATH = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "run": {"duration": "20 s"},
}
LONG = {**PATH, "run": {"duration": "100000 s"}}


def test_calls_are_made_in_order_by_another_thread():
    behind, made = Behind(2), []
    for number in range(9):
        behind.do(lambda number=number: made.append((number, threading.get_ident())))
    behind.end()
    assert [number for number, _ in made] == list(range(9))
    assert threading.get_ident() not in {thread for _, thread in made}
    behind.end()


def test_a_caller_waits_where_there_is_no_room():
    behind, goes_on, given = Behind(2), threading.Event(), []
    behind.do(goes_on.wait)

    def give() -> None:
        for number in range(4):
            behind.do(lambda: None)
            given.append(number)

    giving = threading.Thread(target=give)
    giving.start()
    giving.join(0.2)
    assert giving.is_alive()
    assert len(given) <= 2
    goes_on.set()
    giving.join()
    behind.end()
    assert len(given) == 4


def test_the_first_call_that_fails_is_raised_and_none_is_made_after_it():
    behind, made = Behind(1), []

    def fail() -> None:
        raise OSError("no room")

    behind.do(fail)
    with pytest.raises(OSError, match="no room"):
        for _ in range(3):
            behind.do(lambda: made.append(1))
        behind.end()
    with pytest.raises(OSError, match="no room"):
        behind.end()
    assert made == []


def test_calls_that_wait_are_dropped():
    behind, goes_on, made = Behind(2), threading.Event(), []
    behind.do(goes_on.wait)
    behind.do(lambda: made.append(1))
    dropping = threading.Thread(target=behind.drop)
    dropping.start()
    dropping.join(0.2)
    goes_on.set()
    dropping.join()
    assert made == []


def test_no_call_is_made_once_calls_are_refused():
    behind, goes_on, made = Behind(2), threading.Event(), []
    behind.do(goes_on.wait)
    behind.do(lambda: made.append(1))
    behind.refuse()
    for number in (2, 3, 4):  # more than there is room for: nobody waits
        behind.do(partial(made.append, number))
    goes_on.set()
    behind.end()
    assert made == []


class Left(BaseException):
    """Raised where nobody waits for a run any more."""


def test_a_run_that_nobody_waits_for_writes_no_more_rows(tmp_path, monkeypatch):
    left, late = threading.Event(), []
    write = Part._write  # pyright: ignore[reportPrivateUsage]

    def written(part, name, rows):
        # The first rows are being written when the run is left: the rest comes after them.
        late.append(name)
        left.wait(60)
        write(part, name, rows)

    def leave(_share):
        if late:
            raise Left

    def stopped(part):
        refuse(part)
        left.set()

    refuse = Part.refuse
    monkeypatch.setattr(Part, "_write", written)
    monkeypatch.setattr(Part, "refuse", stopped)
    with pytest.raises(Left):
        bl.run(LONG, trace=["bursts"], out=tmp_path / "out", progress=leave)
    assert len(late) == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_rows_are_written_by_another_thread_than_the_one_of_the_engine(tmp_path, monkeypatch):
    took, wrote = set(), set()
    take, write = Part.rows, Part._write  # pyright: ignore[reportPrivateUsage]

    def taken(part, name, columns):
        took.add(threading.get_ident())
        take(part, name, columns)

    def written(part, name, rows):
        wrote.add(threading.get_ident())
        write(part, name, rows)

    monkeypatch.setattr(Part, "rows", taken)
    monkeypatch.setattr(Part, "_write", written)
    bl.run(PATH, trace=["packets", "bursts"], out=tmp_path / "out")
    assert took
    assert len(wrote) == 1
    assert took.isdisjoint(wrote)
    assert threading.get_ident() not in wrote
    assert len(bl.read(tmp_path / "out").packets) > 0
