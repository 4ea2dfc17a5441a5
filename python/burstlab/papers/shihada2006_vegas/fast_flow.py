"""Figures 5 and 6: one fast flow of Vegas compared with the formulas."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from burstlab.analytic import shihada
from burstlab.papers.shihada2006_vegas.measured import (
    at_loss_met,
    lost_share,
    means,
    note_precision,
    throughput,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, round_trip_s, run_grid
from burstlab.running.worker_pool import each
from burstlab.simulation import run_resolved
from burstlab.statistics import Estimate, mean_ci95

_X = "contention probability p_c"
_BARE, _RESENT, _PRINTED = theme.SERIES[0], theme.SERIES[1], theme.MUTED

#: The series that the formula of fig6 is about.
RESENT = "retransmission"

#: Number of the formula of a series, and the power of p_c with which it loses bursts.
_FORMULAS = {"Vegas": ("(16)", 1), RESENT: ("(27)", 2)}


def fig5(context: Context) -> Findings:
    """Measure the throughput where a burst that contends is lost."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", means)
    _round_trips(context, findings, corners[-1], "Vegas")

    def formula(pc: float, p: float | None = None) -> float:
        args = plan["window"], plan["rtt_s"], plan["rto_s"]
        return float(shihada.bare_throughput(pc if p is None else p, *args, goodput=True))

    formulas = [formula(corner.x) for corner in corners]
    _hold(context, findings, corners, "Vegas", formula)
    _against_rounds(context, findings, corners, "Vegas", "bare")
    findings.measures["(16): least of the figure over its most"] = min(formulas) / max(formulas)
    ideal = plan["window"] / plan["rtt_s"]
    last = corners[-1].mean("Vegas", throughput)
    findings.measures["W_max/R over the simulated at 1e-2, less 1"] = ideal / last.mean - 1.0
    curves = [
        Curve("equation (16)", _BARE, _line(corners, formulas), "dashed"),
        Curve("simulated", _BARE, _dots(corners, "Vegas")),
    ]
    curves += _whole_length(context, findings, formula, theme.SERIES[2])
    findings.draw(context.target, [CurvePanel("", curves)], _axes(corners))
    note_precision(corners, findings)
    return findings


def fig6(context: Context) -> Findings:
    """Measure the throughput where the ingress sends a burst that contends once more."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", lambda corner: [corner.mean(RESENT, throughput)])
    (half,) = run_grid(context, "half", means)
    (often,) = run_grid(context, "often", means)
    _round_trips(context, findings, corners[-1], RESENT)
    trips = mean_ci95(often.values(RESENT, round_trip_s))
    findings.measures["average round-trip time where a third of attempts contend (s)"] = trips

    def formula(pc: float, p: float | None = None, *, as_printed: bool = False) -> float:
        args = plan["window"], plan["rtt_s"], plan["rtt_r_s"], plan["rto_s"]
        return float(
            shihada.retransmission_throughput(pc, *args, p, goodput=True, as_printed=as_printed)
        )

    formulas = [formula(corner.x) for corner in corners]
    printed = [formula(corner.x, as_printed=True) for corner in corners]
    _hold(context, findings, corners, RESENT, formula)
    _against_rounds(context, findings, corners, RESENT, "retransmission")
    measures = findings.measures
    measures["(27) as printed over the simulated at 1e-2"] = mean_ci95(
        [printed[-1] / value for value in corners[-1].values(RESENT, throughput)]
    )
    measures["(27), corrected, over the simulated at 1e-2"] = mean_ci95(
        [formulas[-1] / value for value in corners[-1].values(RESENT, throughput)]
    )
    _gains(context, findings, corners)
    _half(context, findings, half, formula)
    args = plan["window"], plan["rtt_s"], plan["rto_s"]
    bare = [float(shihada.bare_throughput(c.x, *args, goodput=True)) for c in corners]
    curves = [
        Curve("bare, equation (16)", _BARE, _line(corners, bare), "dashed"),
        Curve("bare, simulated", _BARE, _dots(corners, "bare")),
        Curve("sent again, equation (27)", _RESENT, _line(corners, formulas), "dashed"),
        Curve("sent again, simulated", _RESENT, _dots(corners, RESENT)),
        Curve("sent again, (27) as printed", _PRINTED, _line(corners, printed), "dashed"),
    ]
    curves += _whole_length(context, findings, formula, theme.SERIES[3])
    panels = [
        CurvePanel("Both networks", curves),
        CurvePanel("With retransmission, enlarged", curves[2:]),
    ]
    findings.draw(context.target, panels, replace(_axes(corners), width=400))
    note_precision([*corners, half], findings)
    return findings


def _gains(context: Context, findings: Findings, corners: Sequence[Corner]) -> None:
    """Take the ratios over bare OBS, replication by replication."""
    for corner in corners:
        ratio = corner.ratio(RESENT, "bare", throughput)
        context.tell(findings, f"p_c = {corner.label}: over bare", ratio)
        findings.measures[f"p_c = {corner.label}: bare over it"] = corner.ratio(
            "bare", RESENT, throughput
        )


def _half(
    context: Context, findings: Findings, corner: Corner, formula: Callable[..., float]
) -> None:
    """Where half of the contention costs the burst the print of (25) shows."""
    measures, rows = findings.measures, findings.rows
    (name,) = corner.samples
    values = corner.values(name, throughput)
    label = f"{corner.label}: throughput (segments/s)"
    measures[label] = mean_ci95(values)
    rows.append(context.row(label, mean_ci95(values)))
    met = corner.values(name, lost_share)
    for what, printed in (
        ("corrected", False),
        ("(25) as printed", ["(25)"]),
        ("all as printed", True),
    ):
        at = partial(formula, corner.x, as_printed=printed)
        nominal = corner.p or 0.0
        rows.append(context.row(f"{corner.label}: (27), {what} (segments/s)", at(nominal)))
        measures[f"{corner.label}: simulated over (27), {what}"] = mean_ci95(
            [value / at_loss_met(at, nominal, p) for value, p in zip(values, met, strict=True)]
        )
    measures[f"{corner.label}: share of bursts lost"] = mean_ci95(met)


def _hold(
    context: Context,
    findings: Findings,
    corners: Sequence[Corner],
    series: str,
    formula: Callable[..., float],
) -> None:
    """Hold a series against its formula, at the loss that each replication met."""
    measures, gaps = findings.measures, []
    number, power = _FORMULAS[series]
    for corner in corners:
        values = corner.values(series, throughput)
        label = f"p_c = {corner.label}: throughput (segments/s)"
        context.tell(findings, label, mean_ci95(values))
        at, met = partial(formula, corner.x), corner.values(series, lost_share)
        ratio = mean_ci95(
            [v / at_loss_met(at, corner.x**power, p) for v, p in zip(values, met, strict=True)]
        )
        label = f"p_c = {corner.label}: simulated over {number}"
        context.tell(findings, label, ratio)
        gaps.append(Estimate(abs(ratio.mean - 1.0), ratio.ci95, ratio.n))
    measures[f"largest gap from {number}"] = max(gaps, key=lambda gap: gap.mean)


def _whole_length(
    context: Context, findings: Findings, formula: Callable[..., float], colour: str
) -> list[Curve]:
    """Run each point once for as long as the paper did, with `--full` alone."""
    effort = context.plan[context.effort]
    if "whole" not in effort:
        return []
    points = [
        one for one in context.plan["grid"]["points"] if one["label"] in effort["whole_points"]
    ]
    series = context.plan["grid"]["series"][-1]
    scenarios = [
        context.scenario({**one["set"], **series.get("set", {}), "run.duration": effort["whole"]})
        for one in points
    ]
    number, power = _FORMULAS[series["label"]]
    workers = min(len(scenarios), context.jobs or os.cpu_count() or 1)
    numbered = enumerate(scenarios)
    done = dict(
        each(lambda one: (one[0], run_resolved(one[1], range(1), jobs=1)), numbered, workers)
    )
    results = [done[place] for place in range(len(scenarios))]
    dots = []
    for point, result in zip(points, results, strict=True):
        context.fingerprints.append(result.fingerprint)
        sample = Sample(result.replications[0].summary, {})
        value, pc = throughput(sample), point["x"]
        at_met = at_loss_met(partial(formula, pc), pc**power, lost_share(sample))
        start = f"p_c = {point['label']}, one run of {effort['whole']}"
        findings.rows += [
            context.row(f"{start}: throughput (segments/s)", value),
            context.row(f"{start}: over {number}", value / at_met),
        ]
        dots.append(Dot(point["x"], value))
    return [Curve(f"one run of {effort['whole']}", colour, dots, "runs")]


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
            duration_s=plan[context.effort].get("round_level_s", plan["round_level_s"]),
        )
        value, half = rounds.throughput(goodput=True)
        label = f"p_c = {corner.label}: round by round (segments/s)"
        estimate = Estimate(value, half, len(rounds.segments))
        findings.rows.append(context.row(label, estimate))
        seen = corner.mean(series, throughput)
        wide = math.hypot(seen.ci95 or 0.0, half) / value
        gaps.append(Estimate(abs(seen.mean / value - 1.0), wide, seen.n))
    findings.measures["largest gap from rounds"] = max(gaps, key=lambda gap: gap.mean)


def _round_trips(context: Context, findings: Findings, corner: Corner, series: str) -> None:
    """Take the means of the round trips that the sender measured."""
    label = "average round-trip time (s)"
    mean = mean_ci95(corner.values(series, round_trip_s))
    context.tell(findings, label, mean)
    (result,) = context.runs().values()
    samples = result.cwnd.seconds("sample_ps")
    samples = samples[~np.isnan(samples)]
    longer = samples > 1.01 * samples.min()
    if longer.any():
        findings.measures["round trips of bursts that came later (s)"] = float(
            samples[longer].mean()
        )
        findings.measures["share of round trips that were longer"] = float(longer.mean())


def _axes(corners: Sequence[Corner]) -> Axes:
    ticks = [corner.x for corner in corners]
    return Axes(_X, "throughput (segments/s)", log_x=True, ticks=ticks, width=560)


def _dots(corners: Sequence[Corner], series: str) -> list[Dot]:
    found = [(corner.x, corner.mean(series, throughput)) for corner in corners]
    return [Dot(x, mean.mean, mean.ci95, mean.n) for x, mean in found]


def _line(corners: Sequence[Corner], values: Sequence[float]) -> list[Dot]:
    return [Dot(corner.x, value) for corner, value in zip(corners, values, strict=True)]


TARGETS = {"fig5": fig5, "fig6": fig6}
