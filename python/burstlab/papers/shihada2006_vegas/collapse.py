"""Our own: the shortest round trip that ns-2's Vegas believes in, over time."""

from __future__ import annotations

import numpy as np

from burstlab.papers.shihada2006_vegas.rounds import one_by_one
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import mean_ci95, paired_ratio

_COLOURS = {"ns2": theme.SERIES[0], "paper": theme.SERIES[1]}


def collapse(context: Context) -> Findings:
    """Trace the base of the medium flow, replication by replication, under both sets of rules."""
    plan, findings = context.plan, Findings()
    effort, measures = plan[context.effort], findings.measures
    panels: list[CurvePanel] = []
    rates: dict[str, list[float]] = {}
    for group in plan["groups"]:
        curves: list[Curve] = []
        for rules, label in plan["rules"].items():
            settings = {
                **group.get("set", {}),
                "tcp.vegas_rules": rules,
                "run.duration": effort["duration"],
            }
            ends: list[float] = []
            carried: list[float] = []
            lines: list[Dot] = []
            for i, result in enumerate(one_by_one(context, settings, effort["most"])):
                context.progress(i / effort["most"], f"collapse: {group['label']}, {label}")
                times, bases = result.cwnd.seconds("t_ps"), result.cwnd.seconds("base_rtt_ps")
                ends.append(1e3 * float(np.nanmin(bases)))
                flow = result.replications[0].summary
                carried.append(flow["flows"][0]["segments_delivered"] / flow["measured_s"])
                if not i:
                    lines = _line(times, bases, plan["drawn"])
            start = f"{group['label']}, {label}"
            low = sum(end < plan["collapsed_ms"] for end in ends) / len(ends)
            measures[f"{start}: share of runs whose base collapsed"] = low
            measures[f"{start}: largest of the shortest round trips (ms)"] = max(ends)
            measures[f"{start}: least of the shortest round trips (ms)"] = min(ends)
            measures[f"{start}: throughput (segments/s)"] = mean_ci95(carried)
            spread = float(np.std(carried, ddof=1) / np.mean(carried))
            measures[f"{start}: spread of throughput over its mean"] = spread
            rates[start] = carried
            curves.append(Curve(label, _COLOURS[rules], lines, "line"))
        panels.append(CurvePanel(group["label"], curves))
    for label in plan["rules"].values():
        first, second = (f"{group['label']}, {label}" for group in plan["groups"][:2])
        measures[f"{label}: {plan['groups'][1]['label']} over {plan['groups'][0]['label']}"] = (
            paired_ratio(rates[second], rates[first])
        )
    for label, measure in measures.items():
        findings.rows.append(context.row(label, measure))
    axes = Axes("time (s)", "shortest round trip, one run (ms)", log_y=True, shared_y=True)
    findings.draw(context.target, panels, axes)
    return findings


def _line(times: np.ndarray, bases: np.ndarray, count: int) -> list[Dot]:
    """Draw some points evenly in time, and both sides of each change."""
    known = ~np.isnan(bases)
    times, bases = times[known], bases[known]
    changes = np.flatnonzero(np.diff(bases))
    even = np.searchsorted(times, np.linspace(times[0], times[-1], count)).clip(0, len(times) - 1)
    at = np.unique(np.concatenate([even, changes, changes + 1]))
    return [Dot(float(times[i]), 1e3 * float(bases[i])) for i in at]


TARGETS = {"collapse": collapse}
