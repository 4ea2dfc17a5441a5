"""Closed forms where they hold: evenly spaced losses, of one packet or of a whole window."""

from __future__ import annotations

from collections.abc import Sequence

from burstlab.analytic import cubic, padhye, yu2004
from burstlab.papers.today2026_stacks.measures import goodput, goodputs
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, round_trip_s, run_grid
from burstlab.statistics import Estimate

#: Who is held against which formula where each packet is a burst.
_AIMD = ("Reno", "SACK", "Linux Reno, RACK")
_CUBIC = ("CUBIC, RACK",)


def forms(context: Context) -> Findings:
    """Hold goodputs and a gain against the formulas for losses that come evenly."""
    corners = run_grid(context, "grid", goodputs)
    findings, data_bits = Findings(), 8.0 * context.plan["data_bytes"]
    one = [corner for corner in corners if corner.group == "one packet"]
    whole = [corner for corner in corners if corner.group == "whole window"]
    curves: list[Curve] = []
    for series, colour in zip((*_AIMD, *_CUBIC), theme.SERIES, strict=False):
        dots = [_over_formula(corner, series, data_bits) for corner in one]
        _tell(context, findings, series, dots)
        curves.append(Curve(series, colour, dots))
    (rare,) = run_grid(context, "rare", goodputs)
    for series in ("SACK", *_CUBIC):
        dot = _over_formula(rare, series, data_bits)
        gap = Estimate(abs(dot.y - 1.0), dot.ci95, dot.n or 0)
        context.tell(findings, f"{series}: gap to the closed form, rare losses", gap)
    window = context.plan["window"]
    dots = [_over_gain(corner, window) for corner in whole]
    _tell(context, findings, "gain of BLE", dots)
    panels = [
        CurvePanel("each packet a burst: Mathis et al., RFC 9438", curves),
        CurvePanel(
            "a whole window a burst: Yu et al., equation (9)",
            [Curve("gain of BLE", theme.PENDING, dots)],
        ),
    ]
    axes = Axes(
        "burst loss probability p",
        "measured / closed form",
        log_x=True,
        ticks=[0.001, 0.003, 0.01],
        rule=1,
        shared_y=True,
        columns=2,
        width=360,
    )
    findings.draw(context.target, panels, axes)
    return findings


def _over_formula(corner: Corner, series: str, data_bits: float) -> Dot:
    """Return goodput over that of the window law, at the round trip that was measured."""
    p, rtt_s = corner.p or 0.0, corner.mean(series, round_trip_s).mean
    aimd = float(padhye.mathis(p, rtt_s))
    law = aimd if series in _AIMD else max(aimd, float(cubic.mean_rate(p, rtt_s)))
    found = corner.mean(series, goodput)
    scale = data_bits * law
    return Dot(
        corner.x, found.mean / scale, None if found.ci95 is None else found.ci95 / scale, found.n
    )


def _over_gain(corner: Corner, window: int) -> Dot:
    found = corner.ratio("Reno, BLE", "Reno", goodput)
    p = corner.p or 0.0
    law = float(yu2004.gain_ble(p, window, rounds="delivered", slow_start="half"))
    return Dot(
        corner.x, found.mean / law, None if found.ci95 is None else found.ci95 / law, found.n
    )


def _tell(context: Context, findings: Findings, series: str, dots: Sequence[Dot]) -> None:
    """Tell each ratio, and the largest gap."""
    for dot in dots:
        label = f"{series}, p = {dot.x:.3g}: measured over closed form"
        context.tell(findings, label, Estimate(dot.y, dot.ci95, dot.n or 0))
    worst = max(dots, key=lambda dot: abs(dot.y - 1.0))
    gap = Estimate(abs(worst.y - 1.0), worst.ci95, worst.n or 0)
    findings.measures[f"{series}: largest gap to the closed form"] = gap
