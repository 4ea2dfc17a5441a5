"""Tables of a run: words to the left, numbers to the right, and nothing that steers a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from burstlab.cli import lean
from burstlab.cli.lean import Lean


def test_columns_stand_below_each_other():
    made = Lean(["flow"], ["sent", "lost"], ["why"])
    made.add_row("reno", "1,000", "3", "scripted")
    made.add_row("sack with a longer name", "12", "0", "")
    assert str(made).split("\n") == [
        "",
        " flow                       sent   lost   why",
        " " + "─" * 49,
        " reno                      1,000      3   scripted",
        " sack with a longer name      12      0",
        "",
    ]


def test_what_would_steer_a_terminal_is_shown_and_what_is_long_is_cut():
    made = Lean(["label"], ["n"])
    made.add_row("\x1b[31mred", "1")
    made.add_row("x" * 60, "2")
    made.add_row("界界", "3")
    lines = str(made).splitlines()
    assert "\\x1b[31mred" in lines[3] and "\x1b" not in str(made)
    assert "x" * 39 + "…" in lines[4] and "x" * 40 not in lines[4]
    # A wide character takes two places.
    assert lines[5].index("3") == lines[3].rindex("1") - 2


#: As `burstlab run` has them.
FLOW = (
    ["flow", "variant"],
    ["goodput", "sent", "retransmitted", "time-outs", "false time-outs", "fast retransmits"],
)


def drawn(monkeypatch, width: int | None, *more: str) -> list[str]:
    monkeypatch.setattr(lean, "terminal_width", lambda: width)
    made = Lean(FLOW[0], [*FLOW[1], *more])
    made.add_row(
        "reno", "reno", "1.189 Mb/s", "1,569", "20", "1", "1", "0", *("1.2 s" for _ in more)
    )
    return str(made).splitlines()


def test_a_table_that_fits_is_drawn_as_in_a_pipe(monkeypatch):
    wide = drawn(monkeypatch, None)
    assert drawn(monkeypatch, 120) == wide
    assert len(wide) == 4 and max(map(len, wide)) > 90


@pytest.mark.parametrize(
    ("width", "more"), [(90, ()), (84, ()), (80, ()), (80, ("complete after",))]
)
def test_a_narrow_terminal_gets_titles_of_more_lines(monkeypatch, width, more):
    wide, narrow = drawn(monkeypatch, None, *more), drawn(monkeypatch, width, *more)
    assert max(map(len, narrow)) <= width
    rule = next(n for n, line in enumerate(narrow) if "─" in line)
    assert rule >= 3, "titles are broken"
    # Nothing is left out: the same words above the rule, the same cells below it.
    titles = " ".join(narrow[1:rule]).replace("- ", "-").split()
    assert sorted("".join(titles).replace("-", "")) == sorted(
        wide[1].replace(" ", "").replace("-", "")
    )
    assert narrow[rule + 1].split() == wide[3].split()


def test_no_terminal_makes_a_table_fail(monkeypatch):
    assert max(map(len, drawn(monkeypatch, 20))) < max(map(len, drawn(monkeypatch, None)))


@pytest.mark.parametrize("options", [[], ["--replications", "2"]])
def test_the_table_of_a_run_fits_a_terminal_of_80_columns(small_file, options):
    """Through a terminal of its own, as a user sees it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "burstlab", "run", str(small_file), *options]
    environment = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    with subprocess.Popen(
        command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    ) as running:
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 4096):
                printed += part
        except OSError:
            pass
        assert running.wait(60) == 0
    os.close(ours)
    lines = printed.decode().replace("\r", "").splitlines()
    rule = next(n for n, line in enumerate(lines) if "─" in line)
    table = [line for line in lines[: rule + 2] if line]
    assert max(map(len, table)) <= 80, table
    assert "variant" in lines[rule - 1]
