"""Sections V.E and V.F: whether flows are in step, by their number and the buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from burstlab.papers.lu2009_dlcc.link import COLOURS
from burstlab.papers.lu2009_dlcc.slots import dot
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Run, runs_of
from burstlab.simulation import run_resolved
from burstlab.statistics import Estimate, mean_ci95

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.results import Replication

#: Correlation of windows, variance of their sum over the sum of variances, share of the link used.
_Numbers = tuple[float, float, float]


def synchronised(context: Context) -> Findings:
    """Measure the correlation of windows against the number of flows."""
    findings, found = Findings(), {}
    for run in runs_of(context, "grid"):
        context.used_seed = context.used_seed or int(run.scenario["run"]["seed"])
        numbers = [_made(context, run, number) for number in range(run.replications)]
        found[run.group, run.x] = [mean_ci95(each) for each in zip(*numbers, strict=True)]
        names = (
            "correlation of windows",
            "variance of the sum over the sum of variances",
            "share of the link used",
        )
        for name, value in zip(names, found[run.group, run.x], strict=True):
            context.tell(findings, f"{run.group}, {run.point}: {name}", value)
    groups = list(dict.fromkeys(group for group, _ in found))
    for group in groups:
        for name, place in (("correlation of windows", 0), ("share of the link used", 2)):
            values = [value[place] for (where, _), value in found.items() if where == group]
            findings.measures[f"{group}: least {name}"] = min(values, key=_mean)
            findings.measures[f"{group}: largest {name}"] = max(values, key=_mean)
    most, least = (context.plan[name] for name in ("in_step", "out_of_step"))
    apart = [
        found[most, x][0].mean - found[least, x][0].mean for where, x in found if where == most
    ]
    findings.measures[f"least correlation with {most} less that with {least}"] = min(apart)
    panels = [
        CurvePanel(
            title,
            [
                Curve(
                    group,
                    COLOURS[i],
                    [dot(x, value[place]) for (where, x), value in found.items() if where == group],
                    "measured",
                )
                for i, group in enumerate(groups)
            ],
            y=title,
        )
        for title, place in (("correlation of windows", 0), ("share of the link used", 2))
    ]
    ticks = sorted({x for _, x in found})
    findings.draw(
        context.target, panels, Axes("TCP flows", "", log_x=True, ticks=ticks, floor=None)
    )
    return findings


def _mean(value: Estimate) -> float:
    return value.mean


def _made(context: Context, run: Run, number: int) -> _Numbers:
    """Make a replication; its trace is large, and there is only one at a time."""
    result = run_resolved(run.scenario, range(number, number + 1), trace=["cwnd"])
    context.fingerprints.append(result.fingerprint)
    sample = result.replications[0]
    measured = sample.ops["measured"]
    slots = measured["time_s"] / sample.ops["slot_s"]
    windows = _windows(sample, float(context.plan["step_s"]), measured["time_s"])
    spread, summed = windows.std(axis=1), float(windows.sum(axis=0).var())
    alone = float((spread**2).sum())
    together = (summed - alone) / (float(spread.sum()) ** 2 - alone)
    return together, summed / alone, measured["delivered"] / slots


def _windows(sample: Replication, step_s: float, measured_s: float) -> NDArray[np.float64]:
    """Return the window of each flow at each step of the measured time."""
    table = sample.tables["cwnd"]
    end_s = float(sample.summary["simulated_s"])
    steps = np.arange(end_s - measured_s, end_s, step_s)
    flow, at_s, cwnd = np.asarray(table["flow"]), table.seconds("t_ps"), np.asarray(table["cwnd"])
    order = np.argsort(flow, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(flow[order])) + 1)
    rows = [cwnd[mine][np.searchsorted(at_s[mine], steps, side="right") - 1] for mine in parts]
    return np.array(rows, dtype=np.float64)


TARGETS = {"synchronised": synchronised}
