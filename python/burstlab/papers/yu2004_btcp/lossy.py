"""Table V: Burst TCP where the access networks lose packets and the core does not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burstlab.papers.yu2004_btcp.btcp import (
    access_loss,
    by_group,
    confusion,
    dots,
    note_precision,
    packets_per_s,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95, paired_ratio

_COLOURS = ("#3b6fb6", "#2f8f6b")


def others_packets(sample: Sample) -> float:
    """Return what the other TCP flows delivered in order, in packets."""
    return float(sum(flow["segments_delivered"] for flow in sample.summary["flows"][1:]))


#: Measures that are compared with and without BLE: name, title of the panel, and what they count.
_RATIOS: tuple[tuple[str, str, Metric], ...] = (
    ("R_t", "R_t: throughput over Reno's", packets_per_s),
    ("R_l", "R_l: loss rate of the access networks over Reno's", access_loss),
    ("others", "others: throughput of the other TCP flows", others_packets),
)


def lossy_access(context: Context) -> Findings:
    """Compare BLE with Reno where the access networks lose packets (Table V)."""
    plan = context.plan

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.ratio("BLE", "Reno", metric) for _, _, metric in _RATIOS]

    corners = run_grid(context, "grid", wanted)
    groups = by_group(corners)
    findings = Findings()
    findings.measures["Reno in its place"] = 1.0
    panels: list[CurvePanel] = []
    for name, title, metric in _RATIOS:
        curves: list[Curve] = []
        for (group, row), colour in zip(groups.items(), _COLOURS, strict=True):
            estimates = [corner.ratio("BLE", "Reno", metric) for corner in row]
            curves.append(Curve(f"measured, {group}", colour, dots(row, estimates)))
            _add_ratio(context, findings, (name, group, metric), row, estimates)
        printed = [
            Dot(corner.x, value)
            for corner in next(iter(groups.values()))
            if (value := context.published(f"{name}, {plan['x']} = {corner.label}")) is not None
        ]
        if printed:
            curves.insert(0, Curve("published", theme.INK, printed, "published"))
        panels.append(CurvePanel(title, curves))
    for group, row in groups.items():
        _add_excuses(findings, group, row)
    axes = Axes(
        plan["x_title"], "ratio", ticks=[c.x for c in corners[:6]], rule=1, columns=3, width=310
    )
    findings.draw(context.target, panels, axes)
    note_precision(corners, findings)
    return findings


def _add_ratio(
    context: Context,
    findings: Findings,
    what: tuple[str, str, Metric],
    row: Sequence[Corner],
    estimates: Sequence[Estimate],
) -> None:
    name, group, metric = what
    measures = findings.measures
    first = context.plan["grid"]["groups"][0]["label"]
    for corner, estimate in zip(row, estimates, strict=True):
        label = f"{name}, {context.plan['x']} = {corner.label}"
        label = label if group == first else f"{group}: {label}"
        context.tell(findings, label, estimate)
    prefix = f"{name}, {group}"
    measures[f"{prefix}: all columns together"] = paired_ratio(*_summed(row, metric))
    measures[f"{prefix}: columns above 1"] = sum(one.mean > 1.0 for one in estimates)
    # An interval that holds the limit decides nothing.
    measures[f"{prefix}: columns clearly below 1"] = sum(one.high < 1.0 for one in estimates)
    measures[f"{prefix}: columns clearly above 1.06"] = sum(one.low > 1.06 for one in estimates)
    half = len(row) // 2
    early, late = (_each(part, metric) for part in (row[:half], row[half:]))
    measures[f"{prefix}: longer half of T_b less the shorter"] = mean_ci95(
        [b - a for a, b in zip(early, late, strict=True)]
    )


def _summed(row: Sequence[Corner], metric: Metric) -> tuple[list[float], list[float]]:
    """Sum a number over columns, replication by replication, with BLE and with Reno.

    Six intervals of 95 % would miss the truth somewhere in one run of four; one does not.
    """
    one, other = (
        [math.fsum(values) for values in zip(*(c.values(s, metric) for c in row), strict=True)]
        for s in ("BLE", "Reno")
    )
    return one, other


def _each(row: Sequence[Corner], metric: Metric) -> list[float]:
    """Return the ratio over columns of every replication."""
    return [a / b for a, b in zip(*_summed(row, metric), strict=True)]


def _add_excuses(findings: Findings, group: str, row: Sequence[Corner]) -> None:
    """Count how often BLE took a true time-out for a false one."""
    excused = timeouts = 0
    for corner in row:
        for sample in corner.samples["BLE"]:
            flow = sample.summary["flows"][0]
            excused += confusion(sample)["true_excused"]
            timeouts += flow["true_timeouts"]
    measures = findings.measures
    measures[f"{group}: share of true time-outs that BLE takes for false"] = excused / timeouts
    measures[f"{group}: true time-outs with BLE"] = timeouts


TARGETS = {"table5": lossy_access}
