"""Figures 5 and 6: one fast flow of Vegas beside the formulas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burstlab.analytic import shihada
from burstlab.papers.shihada2006_vegas.measured import draw, means, note_precision, throughput
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate, mean_ci95

_X = "contention probability p_c"
_BARE, _RESENT, _PRINTED = theme.SERIES[0], theme.SERIES[1], theme.MUTED

#: The series that the formula of fig6 is about.
RESENT = "retransmission"


def fig5(context: Context) -> Findings:
    """Measure the throughput where a burst that contends is lost."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", means)
    _round_trips(context, findings)

    def formula(pc: float) -> float:
        args = plan["window"], plan["rtt_s"], plan["rto_s"]
        return float(shihada.bare_throughput(pc, *args, goodput=True))

    formulas = [formula(corner.x) for corner in corners]
    _hold(findings, corners, "Vegas", "(16)", formulas, context)
    _against_rounds(context, findings, corners, "Vegas", "bare")
    curves = [
        Curve("equation (16)", _BARE, _line(corners, formulas), "dashed"),
        Curve("simulated", _BARE, _dots(corners, "Vegas")),
    ]
    draw(context, findings, [CurvePanel("", curves)], _axes(corners))
    note_precision(corners, findings)
    return findings


def fig6(context: Context) -> Findings:
    """Measure the throughput where the ingress sends a burst that contends once more."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", lambda corner: [corner.mean(RESENT, throughput)])
    (half,) = run_grid(context, "half", means)
    _round_trips(context, findings)

    def formula(pc: float, p: float | None = None, *, as_printed: bool = False) -> float:
        args = plan["window"], plan["rtt_s"], plan["rtt_r_s"], plan["rto_s"]
        return float(
            shihada.retransmission_throughput(pc, *args, p, goodput=True, as_printed=as_printed)
        )

    formulas = [formula(corner.x) for corner in corners]
    printed = [formula(corner.x, as_printed=True) for corner in corners]
    _hold(findings, corners, RESENT, "(27)", formulas, context)
    _against_rounds(context, findings, corners, RESENT, "retransmission")
    measures = findings.measures
    gaps = [one / other - 1.0 for one, other in zip(printed, formulas, strict=True)]
    measures["printed (25): its largest gap from the corrected on the figure"] = min(gaps)
    for corner in corners:
        ratio = corner.ratio(RESENT, "bare", throughput)
        measures[f"p_c = {corner.label}: over bare"] = ratio
        findings.rows.append(context.row(f"p_c = {corner.label}: over bare", ratio))
    above = [corner for corner in corners if corner.x >= plan["above_from"]]
    measures["least ratio over bare from 1e-3 on, less its interval"] = min(
        ratio.mean - (ratio.ci95 or 0.0)
        for ratio in (corner.ratio(RESENT, "bare", throughput) for corner in above)
    )
    _half(
        context, findings, half, formula(half.x, half.p), formula(half.x, half.p, as_printed=True)
    )
    args = plan["window"], plan["rtt_s"], plan["rto_s"]
    bare = [float(shihada.bare_throughput(c.x, *args, goodput=True)) for c in corners]
    curves = [
        Curve("bare, equation (16)", _BARE, _line(corners, bare), "dashed"),
        Curve("bare, simulated", _BARE, _dots(corners, "bare")),
        Curve("sent again, equation (27)", _RESENT, _line(corners, formulas), "dashed"),
        Curve("sent again, simulated", _RESENT, _dots(corners, RESENT)),
        Curve("sent again, (27) as printed", _PRINTED, _line(corners, printed), "dashed"),
    ]
    draw(context, findings, [CurvePanel("", curves)], _axes(corners))
    note_precision([*corners, half], findings)
    return findings


def _half(
    context: Context, findings: Findings, corner: Corner, corrected: float, printed: float
) -> None:
    """Where half of the contention costs the burst the print of (25) shows."""
    measures = findings.measures
    (name,) = corner.samples
    values = corner.values(name, throughput)
    label = f"{corner.label}: throughput (segments/s)"
    measures[label] = mean_ci95(values)
    findings.rows.append(context.row(label, mean_ci95(values)))
    for what, formula in (("corrected", corrected), ("printed", printed)):
        findings.rows.append(context.row(f"{corner.label}: (27), {what} (segments/s)", formula))
        measures[f"{corner.label}: simulated over (27), {what}"] = mean_ci95(
            [value / formula for value in values]
        )
    measures[f"{corner.label}: (27) as printed over corrected, less 1"] = printed / corrected - 1.0
    counted = corner.samples[name][0].summary["counters"]
    measures[f"{corner.label}: share of bursts lost"] = (
        counted["bursts_lost"] / counted["bursts_sent"]
    )


def _hold(
    findings: Findings,
    corners: Sequence[Corner],
    series: str,
    number: str,
    formulas: Sequence[float],
    context: Context,
) -> None:
    """Hold a series against its formula."""
    measures, ratios = findings.measures, []
    for corner, formula in zip(corners, formulas, strict=True):
        values = corner.values(series, throughput)
        label = f"p_c = {corner.label}: throughput (segments/s)"
        measures[label] = mean_ci95(values)
        findings.rows.append(context.row(label, mean_ci95(values)))
        label = f"p_c = {corner.label}: {number} (segments/s)"
        findings.rows.append(context.row(label, formula))
        ratio = mean_ci95([value / formula for value in values])
        measures[f"p_c = {corner.label}: simulated over {number}"] = ratio
        ratios.append(ratio.mean)
    measures[f"largest gap from {number}"] = max(abs(ratio - 1.0) for ratio in ratios)


def _against_rounds(
    context: Context, findings: Findings, corners: Sequence[Corner], series: str, form: str
) -> None:
    """Hold packets against the same flow simulated by rounds, which no formula bounds."""
    plan, gaps = context.plan, []
    for corner in corners:
        rounds = shihada.round_level(
            corner.x,
            seed=context.used_seed or 0,
            form=form,
            window=plan["window"],
            rtt_s=plan["rtt_s"],
            rtt_r_s=plan.get("rtt_r_s", plan["rtt_s"]),
            rto_s=plan["rto_s"],
            duration_s=plan["round_level_s"],
        )
        value, half = rounds.throughput(goodput=True)
        label = f"p_c = {corner.label}: round by round (segments/s)"
        estimate = Estimate(value, half, len(rounds.segments))
        findings.rows.append(context.row(label, estimate))
        gaps.append(abs(corner.mean(series, throughput).mean / value - 1.0))
    findings.measures["largest gap from rounds"] = max(gaps)


def _round_trips(context: Context, findings: Findings) -> None:
    """Take the mean of the round trips that the sender measured."""
    (result,) = context.runs().values()
    samples = result.cwnd.seconds("sample_ps")
    samples = samples[~np.isnan(samples)]
    label = "average round-trip time (s)"
    findings.measures[label] = float(samples.mean())
    findings.rows.append(context.row(label, float(samples.mean())))
    longer = samples > 1.01 * samples.min()
    if longer.any():
        findings.measures["round trips of bursts that were sent again (s)"] = float(
            samples[longer].mean()
        )


def _axes(corners: Sequence[Corner]) -> Axes:
    ticks = [corner.x for corner in corners]
    return Axes(_X, "throughput (segments/s)", log_x=True, ticks=ticks, width=560)


def _dots(corners: Sequence[Corner], series: str) -> list[Dot]:
    found = [(corner.x, corner.mean(series, throughput)) for corner in corners]
    return [Dot(x, mean.mean, mean.ci95, mean.n) for x, mean in found]


def _line(corners: Sequence[Corner], values: Sequence[float]) -> list[Dot]:
    return [Dot(corner.x, value) for corner, value in zip(corners, values, strict=True)]


TARGETS = {"fig5": fig5, "fig6": fig6}
