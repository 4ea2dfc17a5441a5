"""Measures and figures of Tables III to V, and the closed forms held against simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from burstlab.analytic import yu2004
from burstlab.papers.yu2004_btcp.btcp import (
    access_loss,
    by_group,
    dots,
    draw,
    note_precision,
    packets_per_s,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.claims import Measure
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate, paired_ratio

_MEASURED, _VARIED, _PRINTED = "#3b6fb6", "#2f8f6b", theme.AGAIN


def gains(context: Context) -> Findings:
    """Measure the gains of BTCP over Reno (Tables III and IV)."""
    plan = context.plan
    over: str = plan["over"]

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.ratio(name, over, packets_per_s) for name in corner.samples if name != over]

    corners = run_grid(context, "grid", wanted)
    groups = by_group(corners)
    findings = Findings()
    measures = findings.measures
    panels: list[CurvePanel] = []
    for row in plan["rows"]:
        panels.append(_gain_panel(context, row, groups, findings))
        means = [
            measures[f"{row['label']}, {plan['x']} = {corner.label}"]
            for corner in groups[row["group"]]
        ]
        values = [one.mean for one in means if isinstance(one, Estimate)]
        measures[f"{row['label']}: steps that lower the gain"] = sum(
            b < a for a, b in itertools.pairwise(values)
        )
        measures[f"{row['label']}: steps that raise the gain"] = sum(
            b > a for a, b in itertools.pairwise(values)
        )
        measures[f"{row['label']}: largest less least gain"] = max(values) - min(values)
    measures.update(_against_formula(plan, groups["random"]))
    measures["least gain of all cells"] = min(
        row.measured for row in findings.rows if row.published is not None
    )
    _add_orders(plan, groups, findings)
    for group in ("random", "random, progress"):
        for corner in groups[group]:
            for name in corner.samples:
                label = f"{name}, {plan['x']} = {corner.label}, {group} (packets/s)"
                measures[label] = corner.mean(name, packets_per_s)
    _contradictions(context, findings)
    axes = Axes(
        plan["x_title"],
        "throughput over Reno's",
        ticks=[c.x for c in corners[:6]],
        rule=1,
        shared_y=True,
    )
    draw(context, findings, panels, axes)
    findings.notes.append(
        "Even losses and batches have no randomness: their interval is zero, whatever the number "
        "of replications."
    )
    note_precision(corners, findings)
    return findings


def _against_formula(plan: Mapping[str, float], row: Sequence[Corner]) -> dict[str, Measure]:
    """Hold BNAK's measured gains against the corrected (10)."""
    found: dict[str, Measure] = {}
    for corner in row:
        rtt = plan["rtt0_s"] + (corner.x if plan["x"] == "T_b" else plan["assembly_s"])
        formula = yu2004.gain_bnak(
            corner.p or 0.0,
            plan["window"],
            rtt,
            plan["rto_s"],
            rounds="delivered",
            slow_start="half",
        )
        gain = corner.ratio("BNAK", "Reno", packets_per_s)
        name = f"{plan['x']} = {corner.label}"
        found[f"corrected (10), {name}"] = float(formula)
        found[f"BNAK-r over corrected (10), {name}"] = gain.mean / float(formula)
    return found


def _add_orders(
    plan: Mapping[str, str], groups: Mapping[str, Sequence[Corner]], findings: Findings
) -> None:
    """Count the columns in which the paper's orders do not hold."""
    over = plan["over"]

    def columns(group: str, name: str) -> list[float]:
        return [corner.ratio(name, over, packets_per_s).mean for corner in groups[group]]

    random, even, batch = (columns(group, "BLE") for group in ("random", "even", "batch"))
    bnak = columns("random", "BNAK")
    measures = findings.measures
    measures["columns in which BNAK gains no more than BLE"] = sum(
        a <= b for a, b in zip(bnak, random, strict=True)
    )
    measures["columns in which batches gain no more than random losses"] = sum(
        a <= b for a, b in zip(batch, random, strict=True)
    )
    measures["columns in which random losses are not between even ones and batches"] = sum(
        not a <= b <= c for a, b, c in zip(even, random, batch, strict=True)
    )


def _gain_panel(
    context: Context,
    row: Mapping[str, str],
    groups: Mapping[str, Sequence[Corner]],
    findings: Findings,
) -> CurvePanel:
    plan = context.plan
    over = plan["over"]
    curves: list[Curve] = []
    main: list[float] = []
    for look, group in (("measured", row["group"]), ("variation", row["variation"])):
        corners = groups[group]
        estimates = [corner.ratio(row["of"], over, packets_per_s) for corner in corners]
        for corner, estimate in zip(corners, estimates, strict=True):
            label = f"{row['label']}, {plan['x']} = {corner.label}"
            if look == "variation":
                findings.measures[f"{label}, {group}"] = estimate
                continue
            findings.measures[label] = estimate
            findings.rows.append(context.row(label, estimate))
        label = "measured" if look == "measured" else "variation (in the title)"
        curves.append(
            Curve(label, _MEASURED if look == "measured" else _VARIED, dots(corners, estimates))
        )
        if look == "measured":
            main = [estimate.mean for estimate in estimates]
        gaps = {
            corner.label: abs(estimate.mean - printed)
            for corner, estimate in zip(corners, estimates, strict=True)
            if (printed := _printed(context, row["label"], corner)) is not None
        }
        for label, gap in gaps.items():
            findings.measures[f"{row['label']}: gap at {label}, {group}"] = gap
        findings.measures[f"{row['label']}: largest gap but for the last column, {group}"] = max(
            list(gaps.values())[:-1]
        )
        findings.measures[f"{row['label']}: largest gap, {group}"] = max(gaps.values())
    corners = groups[row["group"]]
    printed = [
        Dot(corner.x, value)
        for corner in corners
        if (value := _printed(context, row["label"], corner)) is not None
    ]
    assert len(main) == len(corners)
    curves.insert(0, Curve("published", _PRINTED, printed, "published"))
    return CurvePanel(f"{row['label']}  (variation: {row['variation']})", curves)


def _printed(context: Context, row: str, corner: Corner) -> float | None:
    return context.published(f"{row}, {context.plan['x']} = {corner.label}")


def _contradictions(context: Context, findings: Findings) -> None:
    """Hold the column that Tables III and IV share against itself."""
    published = context.paper.published
    gaps: dict[str, float] = {}
    for row in context.plan["rows"]:
        name = row["label"]
        third = published[("table3", f"{name}, log p = -1")]
        fourth = published[("table4", f"{name}, T_b = 0.04")]
        gaps[f"{name} {third:g} and {fourth:g}"] = abs(third - fourth)
    findings.measures["largest printed difference of cells that should agree"] = max(gaps.values())
    apart = [name for name, gap in gaps.items() if gap > 0]
    if apart:
        findings.notes.append(
            "Tables III and IV have a column in common (p = 0.1, T_b = 0.04 s), where they print "
            + ", ".join(apart)
            + ". No claim on the size of a gain uses these cells."
        )


def lossy_access(context: Context) -> Findings:
    """Compare BLE with Reno where the access networks lose packets (Table V)."""
    plan = context.plan

    def wanted(corner: Corner) -> list[Estimate]:
        return [corner.ratio("BLE", "Reno", metric) for metric in (packets_per_s, access_loss)]

    corners = run_grid(context, "grid", wanted)
    groups = by_group(corners)
    findings = Findings()
    panels: list[CurvePanel] = []
    for name, title, metric in (
        ("R_t", "R_t: throughput over Reno's", packets_per_s),
        ("R_l", "R_l: loss rate of the access networks over Reno's", access_loss),
    ):
        curves: list[Curve] = []
        for (group, row), colour in zip(groups.items(), (_MEASURED, _VARIED), strict=True):
            estimates = [corner.ratio("BLE", "Reno", metric) for corner in row]
            curves.append(Curve(f"measured, {group}", colour, dots(row, estimates)))
            _add_lossy(context, findings, name, group, row, estimates)
        main = next(iter(groups.values()))
        printed = [
            Dot(corner.x, value)
            for corner in main
            if (value := _printed(context, name, corner)) is not None
        ]
        curves.insert(0, Curve("published", _PRINTED, printed, "published"))
        panels.append(CurvePanel(title, curves))
    for group, row in groups.items():
        _add_excuses(findings, group, row)
    axes = Axes(plan["x_title"], "ratio", ticks=[c.x for c in corners[:6]], rule=1, shared_y=True)
    draw(context, findings, panels, axes)
    note_precision(corners, findings)
    return findings


def _add_lossy(
    context: Context,
    findings: Findings,
    name: str,
    group: str,
    row: Sequence[Corner],
    estimates: Sequence[Estimate],
) -> None:
    measures = findings.measures
    first = next(iter(context.plan["grid"]["groups"]))["label"]
    for corner, estimate in zip(row, estimates, strict=True):
        label = f"{name}, {context.plan['x']} = {corner.label}"
        label = label if group == first else f"{label}, {group}"
        measures[label] = estimate
        findings.rows.append(context.row(label, estimate))
    measures[f"{name}, {group}: least"] = min(one.mean for one in estimates)
    measures[f"{name}, {group}: largest"] = max(one.mean for one in estimates)
    measures[f"{name}, {group}: mean of the columns"] = sum(e.mean for e in estimates) / len(row)
    measures[f"{name}, {group}: columns above 1"] = sum(one.mean > 1.0 for one in estimates)
    together = _together(row, name)
    measures[f"{name}, {group}: all columns together"] = together
    measures[f"{name}, {group}: all columns together, lower end"] = together.low
    measures[f"{name}, {group}: all columns together, upper end"] = together.high


def _together(row: Sequence[Corner], name: str) -> Estimate:
    """Answer the ratio of the means over all columns, replication by replication.

    Six intervals of 95 % would miss the truth somewhere in one run of four; one does not.
    """
    metric = packets_per_s if name == "R_t" else access_loss
    sums = {
        series: [
            sum(values) for values in zip(*(c.values(series, metric) for c in row), strict=True)
        ]
        for series in ("BLE", "Reno")
    }
    return paired_ratio(sums["BLE"], sums["Reno"])


def _add_excuses(findings: Findings, group: str, row: Sequence[Corner]) -> None:
    """Count how often BLE took a true time-out for a false one."""
    excused = timeouts = 0
    for corner in row:
        for sample in corner.samples["BLE"]:
            flow = sample.summary["flows"][0]
            excused += flow["detector"]["true_excused"]
            timeouts += flow["true_timeouts"]
    measures: dict[str, Measure] = findings.measures
    measures[f"{group}: share of true time-outs that BLE takes for false"] = excused / timeouts
    measures[f"{group}: true time-outs with BLE"] = timeouts


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
        ("progress", "random losses, variation"),
    ):
        for series, equation in (("BLE", "(9)"), ("BNAK", "(10)")):
            curves: list[Curve] = []
            for name, window in plan["windows"].items():
                row = groups[_group(kind, name)]
                gaps = [_gap(plan, corner, series, window) for corner in row]
                curves.append(Curve(name, colours[name], _over_pw(row, gaps, window)))
                _add_gaps(findings, (kind, series, window, limit), row, gaps)
            panels.append(CurvePanel(f"{series} against {equation}, {title}", curves))
    findings.notes.append(
        "Variation: the back-off of the time-out ends with progress. Closed forms: (9), (10) and, "
        "where the window is not reached, (4) to (6), with slow start counted as in (5)."
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
    draw(context, findings, panels, axes)
    note_precision(corners, findings)
    return findings


def _group(kind: str, name: str) -> str:
    if kind == "progress":
        return f"random, {name}, back-off ends with progress"
    return f"{kind}, {name}"


def _gap(plan: Mapping[str, float], corner: Corner, series: str, window: int) -> Estimate:
    """Answer the measured gain over that of the corrected formulas, slow start as in (5)."""
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
        worst = findings.measures.get(name, 0.0)
        assert isinstance(worst, float)
        findings.measures[name] = max(worst, abs(gap.mean - 1.0))


TARGETS = {
    "closed-form": closed_form,
    "table3": gains,
    "table4": gains,
    "table5": lossy_access,
}
