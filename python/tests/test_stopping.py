"""Work that a stopped command does not wait for."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

import pytest

from burstlab.cli import app
from burstlab.running import interrupts, lazy_load


def _interrupt(*_: object) -> int:
    raise KeyboardInterrupt


def test_a_process_of_its_own_ends_at_once_and_a_call_leaves(monkeypatch, capsys):
    ended: list[int] = []

    def end(status: int) -> None:
        ended.append(status)
        raise SystemExit("the process has ended")

    monkeypatch.setattr(app, "_call", _interrupt)
    monkeypatch.setattr(sys, "argv", ["burstlab", "run", "any.toml"])
    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(SystemExit, match="has ended"):
        app.main()
    assert ended == [130]
    with pytest.raises(SystemExit) as left:
        app.main(["run", "any.toml"])
    assert (left.value.code, ended) == (130, [130])
    assert capsys.readouterr().err == "interrupted\ninterrupted\n"


@pytest.mark.parametrize("where", [contextlib.nullcontext, interrupts.deferred])
def test_a_command_that_takes_a_moment_to_end_says_that_it_was_heard(monkeypatch, capfd, where):
    monkeypatch.setattr(interrupts, "_SILENT_S", 0.0)
    before = signal.getsignal(signal.SIGINT)
    interrupts.listen()
    try:
        with pytest.raises(KeyboardInterrupt), where():
            signal.raise_signal(signal.SIGINT)
        said, rounds = "", 0
        while not said and rounds < 6000:
            time.sleep(0.01)
            said, rounds = capfd.readouterr().err, rounds + 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert said == "interrupted; storing what was done, which takes a moment\n"


def test_modules_are_loaded_once_and_not_where_ctrl_c_is_raised(monkeypatch, tmp_path):
    (tmp_path / "slow_to_load.py").write_text("import threading\nby = threading.current_thread()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(lazy_load, "_wanted", [])
    lazy_load.want("slow_to_load")
    lazy_load.load()
    lazy_load.load()
    for thread in threading.enumerate():
        if thread.name == "burstlab-lazy-load":
            thread.join(60)
    assert sys.modules.pop("slow_to_load").by is not threading.main_thread()
