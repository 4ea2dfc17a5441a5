"""The process that draws: its pictures are those of this one, and it is left at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from burstlab.errors import InputError
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
        with pytest.raises(InputError, match=r"has ended with status \d.*\n  fix: "):
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


def test_a_bound_of_the_address_space_is_named(tmp_path):
    """The drawing library reserves more than 12 GB, and dies if it may not."""
    draws = (
        "from burstlab.errors import InputError; from burstlab.plot.drawing import Drawer\n"
        f"try:\n    Drawer().draw({SPEC!r}, 'svg', {VERSION!r})\n"
        "except InputError as error:\n    print(error)\n"
    )
    shell = f'ulimit -v 12000000; exec "{sys.executable}" -c "$DRAWS"'
    done = subprocess.run(
        ["bash", "-c", shell], env={**os.environ, "DRAWS": draws}, capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    assert "ulimit -v bounds to 12.3 GB" in done.stdout, done
    assert "fix: lift that" in done.stdout and done.stderr == ""
