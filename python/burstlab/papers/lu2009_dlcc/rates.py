"""Equation (1), and the rate of an edge after notifications, without any traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from burstlab.analytic import lu_hunter
from burstlab.papers.lu2009_dlcc.link import COLOURS, Grid, dots
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings


def rates(context: Context) -> Findings:
    """Follow a step of arrivals by (1), and what is too much by the laws of section III.C."""
    findings, plan = Findings(), context.plan
    _step(context, findings)
    notified = [float(loss) for loss in plan["notified"]]
    printed, mean = lu_hunter.cut(notified, "literal"), lu_hunter.cut(notified)
    findings.measures["printed law: what the last notification changes"] = float(
        printed[-1] - printed[-2]
    )
    findings.measures["mean of all: what the last notification changes"] = float(
        mean[-1] - mean[-2]
    )
    excess, count = float(plan["excess"]), int(plan["count"])
    courses = {
        "mean of all heard": _settles(plan, "mean"),
        "the largest heard": _settles(plan, "largest"),
    }
    for name, left in courses.items():
        findings.measures[f"{name}: what stays of the excess"] = float(left[-1]) / excess
        findings.rows.append(context.row(f"{name}: what stays of the excess", left[-1] / excess))
    findings.measures["settled excess over half, by the formula"] = (
        float(lu_hunter.settled_excess(excess)) / excess
    )
    axis = np.arange(1, count + 1, dtype=np.float64)
    curves = [
        Curve(name, COLOURS[i], dots(axis[::20], left[::20] / excess), "line")
        for i, (name, left) in enumerate(courses.items())
    ]
    axes = Axes("slots since the first loss", "what is still too much, of what was", log_x=True)
    findings.draw(
        context.target,
        [CurvePanel("", curves)],
        axes,
    )
    return findings


def _step(context: Context, findings: Findings) -> None:
    """Serve a buffer whose arrivals step up, interval by interval, as (1) asks."""
    plan = context.plan
    units, unit, weight = int(plan["units"]), float(plan["unit_s"]), float(plan["weight"])
    low, high = (float(rate) for rate in plan["arrivals_bps"])
    tau = units * unit
    rate, served, backlog, total = low, low, 0.0, 0.0
    misses, wrong = 0.0, 0.0
    for done, worked in enumerate(plan["worked_bps"], start=1):
        total = 0.0
        for _ in range(units):
            backlog = max(backlog + (high - served) * unit, 0.0)
            rate = float(lu_hunter.smoothed_rate(rate, high, backlog, tau, weight))
            total += rate
        served = total / units
        label = f"interval {done}: rate served (bit/s)"
        context.tell(findings, label, served)
        misses = max(misses, abs(served - float(worked)))
        wrong = max(wrong, abs(high - float(worked)))
    findings.measures["largest distance from the worked steps (bit/s)"] = misses
    findings.measures["the same of a rate that is that of arrivals (bit/s)"] = wrong
    findings.measures["backlog after the last interval (bits)"] = backlog


def _settles(plan: Mapping[str, Any], law: str) -> Grid:
    """Return what is too much in each slot, where it is notified after a delay, loss by loss.

    A notification carries the losses of a window; the first ones carry less, as it fills.
    """
    excess, count = float(plan["excess"]), int(plan["count"])
    window, delay = int(plan["window_slots"]), int(plan["delay_slots"])
    left, cuts = np.empty(count), np.zeros(count)
    lately = heard = weights = most = 0.0
    for slot in range(count):
        left[slot] = max(excess - (cuts[slot - delay] if slot >= delay else 0.0), 0.0)
        lately += left[slot] - (left[slot - window] if slot >= window else 0.0)
        carried = lately / window
        if left[slot] > 0.0:
            heard, weights = heard + carried * left[slot], weights + left[slot]
            most = max(most, carried)
        cuts[slot] = heard / weights if law == "mean" else most
    return left


TARGETS = {"rates": rates}
