"""The two figures of a target: goodput of senders, and what a perfect detector gains each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burstlab.papers.today2026_stacks.measures import gain, megabits
from burstlab.plot import Axes, Curve, CurvePanel, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner

#: The senders that are drawn.
COLOURS = dict(
    zip(("Reno", "Linux Reno, RACK", "CUBIC, RACK", "BBR, RACK"), theme.SERIES, strict=False)
)

AXES = Axes(
    "burst loss probability p",
    "goodput (Mb/s)",
    log_x=True,
    log_y=True,
    ticks=[1e-4, 1e-3, 1e-2, 1e-1],
    domain=(0.1, 130.0),
    columns=3,
    width=290,
)
GAIN_AXES = replace(
    AXES, y="goodput with a perfect detector / without", domain=(0.2, 300.0), rule=1
)


def draw(
    context: Context,
    findings: Findings,
    corners: Sequence[Corner],
    groups: Sequence[str],
    *,
    gains: str = "gains",
) -> None:
    """Add both figures, with a panel for each group.

    Parameters
    ----------
    context
        The target, whose name the first figure has.
    findings
        Where the figures go.
    corners
        The results, of these groups and others.
    groups
        The groups that are drawn.
    gains
        Name of the second figure.
    """
    rows = {group: [corner for corner in corners if corner.group == group] for group in groups}
    findings.draw(
        context.target, [CurvePanel(group, _goodputs(row)) for group, row in rows.items()], AXES
    )
    findings.draw(gains, [CurvePanel(group, _gains(row)) for group, row in rows.items()], GAIN_AXES)


def _goodputs(row: Sequence[Corner]) -> list[Curve]:
    curves = [
        Curve(series, colour, [megabits(corner, series) for corner in row])
        for series, colour in COLOURS.items()
    ]
    reno = [megabits(corner, "Reno, oracle") for corner in row]
    return [*curves, Curve("Reno, oracle", COLOURS["Reno"], reno, "measured-dashed")]


def _gains(row: Sequence[Corner]) -> list[Curve]:
    return [
        Curve(series, colour, [gain(corner, f"{series}, oracle", series) for corner in row])
        for series, colour in COLOURS.items()
    ]
