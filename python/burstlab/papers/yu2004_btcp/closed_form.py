"""The closed forms (9) and (10) held against simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from burstlab.analytic import yu2004
from burstlab.papers.yu2004_btcp.btcp import by_group, note_precision, packets_per_s
from burstlab.plot import Axes, Curve, CurvePanel, Dot
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate


def closed_form(context: Context) -> Findings:
    """Hold the corrected (9) and (10) against simulation, over p and W_m."""
    plan = context.plan

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.ratio(name, "Reno", packets_per_s) for name in ("BLE", "BNAK")]

    corners = run_grid(context, "grid", wanted)
    groups = by_group(corners)
    findings = Findings()
    limit = plan["holds_where_p_times_w_at_most"]
    panels: list[CurvePanel] = []
    colours = dict(zip(plan["windows"], ("#3b6fb6", "#d1651b", "#2f8f6b"), strict=True))
    for kind, title in (
        ("even", "even losses"),
        ("random", "random losses"),
        ("ns-2", "random losses, ns-2's rule"),
    ):
        if _group(kind, next(iter(plan["windows"]))) not in groups:
            continue
        for series, equation in (("BLE", "(9)"), ("BNAK", "(10)")):
            curves: list[Curve] = []
            for name, window in plan["windows"].items():
                row = groups[_group(kind, name)]
                gaps = [_gap(plan, corner, series, window) for corner in row]
                curves.append(Curve(name, colours[name], _over_pw(row, gaps, window)))
                _add_gaps(findings, (kind, series, window, limit), row, gaps)
            panels.append(CurvePanel(f"{series} against {equation}, {title}", curves))
    findings.notes.append(
        "Closed forms: (9), (10) and, where the window is not reached, (4) to (6), with slow start "
        "counted as in (5). ns-2's rule, of full runs alone: the back-off ends with a measured "
        "round trip."
    )
    for name, worst in findings.measures.items():
        if "largest gap" in name:
            findings.rows.append(context.row(name, worst))
    axes = Axes(
        "p · W_m",
        "measured / closed form",
        log_x=True,
        rule=1,
        ticks=[0.01, 0.03, 0.1, 0.3, 1, 3],
        shared_y=True,
        height=200,
    )
    findings.draw(context.target, panels, axes)
    note_precision(corners, findings)
    return findings


def _group(kind: str, name: str) -> str:
    if kind == "ns-2":
        return f"random, {name}, ns-2's rule"
    return f"{kind}, {name}"


def _gap(plan: Mapping[str, float], corner: Corner, series: str, window: int) -> Estimate:
    """Return the measured gain over that of the corrected formulas, slow start as in (5)."""
    gain = corner.ratio(series, "Reno", packets_per_s)
    rtt = plan["rtt0_s"] + plan["assembly_s"]
    if series == "BLE":
        value = float(
            yu2004.gain_ble(corner.p or 0.0, window, rounds="delivered", slow_start="half")
        )
    else:
        value = float(
            yu2004.gain_bnak(
                corner.p or 0.0, window, rtt, plan["rto_s"], rounds="delivered", slow_start="half"
            )
        )
    return Estimate(gain.mean / value, None if gain.ci95 is None else gain.ci95 / value, gain.n)


def _over_pw(row: Sequence[Corner], gaps: Sequence[Estimate], window: int) -> list[Dot]:
    return [
        Dot((corner.p or 0.0) * window, gap.mean, gap.ci95, gap.n)
        for corner, gap in zip(row, gaps, strict=True)
        if math.isfinite(gap.mean)
    ]


def _add_gaps(
    findings: Findings,
    where: tuple[str, str, int, float],
    row: Sequence[Corner],
    gaps: Sequence[Estimate],
) -> None:
    """Add the gaps, and the largest one on each side of the limit on p·W_m."""
    kind, series, window, limit = where
    for corner, gap in zip(row, gaps, strict=True):
        if not math.isfinite(gap.mean):
            continue
        label = (
            f"{series}, {kind}, W_m = {window}, log p = {corner.label}: measured over closed form"
        )
        findings.measures[label] = gap
        inside = (corner.p or 1.0) * window <= limit
        name = f"{series}, {kind}: largest gap, p·W_m {'within' if inside else 'beyond'} the limit"
        off = Estimate(abs(gap.mean - 1.0), gap.ci95, gap.n)
        worst = findings.measures.get(name)
        if not isinstance(worst, Estimate) or off.high > worst.high:
            findings.measures[name] = off


TARGETS = {"closed-form": closed_form}
