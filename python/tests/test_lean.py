"""Tables of a run: words to the left, numbers to the right, and nothing that steers a terminal."""

from __future__ import annotations

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
