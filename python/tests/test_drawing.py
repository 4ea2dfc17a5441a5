"""The process that draws: its pictures are those of this one, and it is left at once."""

from __future__ import annotations

import json
import signal
import sys
import threading

import pytest

from burstlab.plot import drawing

SPEC = json.dumps(
    {
        "data": {"values": [{"x": 1, "y": 2}, {"x": 2, "y": 1}]},
        "mark": "line",
        "encoding": {"x": {"field": "x"}, "y": {"field": "y"}},
    }
)
VERSION = "6.1"


@pytest.fixture
def drawer():
    made = drawing.Drawer()
    yield made
    made.stop()


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_are_those_of_this_process(drawer, kind):
    first = drawer.draw(SPEC, kind, VERSION)
    assert first == drawer.draw(SPEC, kind, VERSION) == drawing.draw_here(SPEC, kind, VERSION)


def test_what_cannot_be_drawn_is_told_and_the_next_one_is_drawn(drawer):
    with pytest.raises(ValueError, match=r"."):
        drawer.draw('{"mark": {"type": 7}}', "svg", VERSION)
    assert drawer.draw(SPEC, "svg", VERSION).startswith(b"<svg")


def test_a_process_that_ends_is_told_of_and_replaced(drawer, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(drawing, "COMMAND", (sys.executable, "-c", "input()"))
        with pytest.raises(OSError, match="has ended"):
            drawer.draw(SPEC, "svg", VERSION)
    assert drawer.draw(SPEC, "svg", VERSION).startswith(b"<svg")


def test_an_interrupt_does_not_wait_for_a_drawing(drawer, monkeypatch):
    # It takes the request and never answers.
    endless = "import signal, time; signal.signal(2, 1); input(); time.sleep(3600)"
    monkeypatch.setattr(drawing, "COMMAND", (sys.executable, "-c", endless))
    main = threading.main_thread().ident
    threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        drawer.draw(SPEC, "svg", VERSION)
    assert drawer._process is None
