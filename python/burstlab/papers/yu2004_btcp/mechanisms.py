"""Statements of the text about mechanisms, each in an experiment of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from burstlab.analytic import yu2004
from burstlab.papers.yu2004_btcp.btcp import (
    COLOURS,
    by_group,
    dots,
    note_precision,
    packets_per_s,
)
from burstlab.papers.yu2004_btcp.detectors import Pooled, verdicts
from burstlab.plot import (
    Axes,
    Curve,
    CurvePanel,
    Dot,
    DotAxes,
    NamedPoint,
    dot_chart,
    dot_rows,
    point,
    theme,
)
from burstlab.reproduce.claims import Measure
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, round_trip_s, run_grid
from burstlab.statistics import Estimate, paired_ratio

_PALETTE = ("#3b6fb6", "#d1651b", "#2f8f6b", "#7a3e9d", "#c8102e")


def waited_s(sample: Sample) -> float:
    """Return how long the sender waited for its timer, in seconds, over the whole run."""
    ledger = sample.tables["ledger"]
    waits = ledger["rto_ps"].astype(float) / 1e12
    kinds = ledger.column("kind").texts()
    return float(waits[kinds == "timeout"].sum())


def equation_11(context: Context) -> Findings:
    """Hold (11), with what it needs measured at one T_b, against the gain at the others."""
    plan = context.plan
    corners = run_grid(context, "grid", lambda c: [c.ratio("BLE", "Reno", packets_per_s)])
    findings = Findings()
    measures = findings.measures
    panels: list[CurvePanel] = []
    for group, row in by_group(corners).items():
        gains = [corner.ratio("BLE", "Reno", packets_per_s) for corner in row]
        at = next(corner for corner in row if corner.label == plan["constants_at"])
        alphas = {name: _alpha(plan, at, name) for name in ("BLE", "Reno")}
        rtts = np.array([plan["rtt0_s"] + corner.x for corner in row])
        gain = at.ratio("BLE", "Reno", packets_per_s).mean
        forms = {
            "(11)": _by_11(plan, alphas, rtts, (gain, at), as_printed=False),
            "(11), second line as printed": _by_11(plan, alphas, rtts, (gain, at), as_printed=True),
            "(11), a round more": _by_11(
                {**plan, "period": plan["period"] + 1}, alphas, rtts, (gain, at), as_printed=False
            ),
        }
        for name, alpha in alphas.items():
            measures[f"{group}: α of {name}"] = round(alpha, 6)
            findings.rows.append(context.row(f"{group}: α of {name}", alpha))
        for corner, value in zip(row, gains, strict=True):
            label = f"{group}: gain, T_b = {corner.label}"
            context.tell(findings, label, value)
        means = np.array([value.mean for value in gains])
        for name, values in forms.items():
            gaps = np.abs(values / means - 1.0)
            measures[f"{group}: largest gap of {name}"] = float(gaps.max())
        measures[f"{group}: largest gap of a constant"] = float(np.abs(gain / means - 1.0).max())
        panels.append(
            CurvePanel(
                f"batches of four, {group}",
                [
                    Curve("simulated", COLOURS["BLE"], dots(row, gains)),
                    Curve("(11)", theme.INK, _along(row, forms["(11)"]), "line"),
                    Curve(
                        "(11), second line as printed",
                        theme.AGAIN,
                        _along(row, forms["(11), second line as printed"]),
                        "dashed",
                    ),
                ],
            )
        )
    ticks = [point["x"] for point in plan["grid"]["points"]]
    axes = Axes("assembly time T_b (s)", "throughput over Reno's", ticks=ticks)
    findings.draw(context.target, panels, axes)
    return findings


def _alpha(plan: Mapping[str, float], corner: Corner, name: str) -> float:
    """Return the time that a sender waits for its timer in a period, in time-outs."""
    sample = corner.samples[name][0]
    periods = float(sample.summary["counters"]["bursts_lost"]) / plan["batch"]
    return waited_s(sample) / periods / plan["rto_s"]


def _by_11(
    plan: Mapping[str, float],
    alphas: Mapping[str, float],
    rtts: np.ndarray,
    at: tuple[float, Corner],
    *,
    as_printed: bool,
) -> np.ndarray:
    """Evaluate (11), W_b/W_t chosen so that its first line is right where the constants are."""
    gain, corner = at
    rounds = plan["period"] - plan["batch"]
    first = (alphas["BLE"], alphas["Reno"], plan["rto_s"])
    there = yu2004.gain_batch(1.0, *first, plan["rtt0_s"] + corner.x, rounds)
    return np.asarray(
        yu2004.gain_batch(gain / float(there), *first, rtts, rounds, as_printed=as_printed)
    )


def _along(row: Sequence[Corner], values: np.ndarray) -> list[Dot]:
    return [Dot(corner.x, float(value)) for corner, value in zip(row, values, strict=True)]


def rto_against_holes(context: Context) -> Findings:
    """Compare New-Reno with Reno where the time-out is longer and shorter than BL times RTT."""
    corners = run_grid(context, "grid", lambda c: [c.ratio("New-Reno", "Reno", packets_per_s)])
    findings = Findings()
    curves: list[Curve] = []
    longer: list[tuple[float, Estimate]] = []
    shorter: list[tuple[float, Estimate]] = []
    for (group, row), colour in zip(by_group(corners).items(), _PALETTE, strict=True):
        length = context.plan["lengths"][group]
        gains = [corner.ratio("New-Reno", "Reno", packets_per_s) for corner in row]
        places: list[Dot] = []
        for corner, gain in zip(row, gains, strict=True):
            rtt = float(np.mean(corner.values("Reno", round_trip_s)))
            x = corner.x / (length * rtt)
            places.append(Dot(x, gain.mean, gain.ci95, gain.n))
            label = f"{group}, RTO = {corner.label}"
            findings.measures[f"New-Reno/Reno, {label}"] = gain
            findings.measures[f"RTO over BL x RTT, {label}"] = x
            findings.rows.append(context.row(f"New-Reno/Reno, {label}", gain))
            (longer if x >= 1.0 else shorter).append((x, gain))
        curves.append(Curve(group, colour, places))
    first, last = next(iter(by_group(corners))), list(by_group(corners))[-1]
    measures = findings.measures
    far = [gain for x, gain in shorter if x <= context.plan["far_shorter"]]
    measures["level"] = 1.0
    measures["RTO longer than BL x RTT: least New-Reno/Reno"] = min(
        (gain for _, gain in longer), key=lambda one: one.low
    )
    measures["RTO shorter than BL x RTT: largest New-Reno/Reno"] = max(
        (gain for _, gain in shorter), key=lambda one: one.high
    )
    measures["RTO a tenth of BL x RTT: largest New-Reno/Reno"] = max(far, key=lambda one: one.high)
    label = context.plan["shortest"]
    for name, group in (("shortest bursts", first), ("longest bursts", last)):
        measures[f"{name}, RTO = {label}: New-Reno/Reno"] = measures[
            f"New-Reno/Reno, {group}, RTO = {label}"
        ]
    axes = Axes("RTO / (BL · RTT)", "throughput of New-Reno over Reno's", True, rule=1, width=560)
    findings.draw(context.target, [CurvePanel("bursts lost with p = 0.003, W = 40", curves)], axes)
    note_precision(corners, findings)
    return findings


def ble_order(context: Context) -> Findings:
    """Compare the two orders in which BLE may estimate and decide."""
    names = [one["label"] for one in context.plan["grid"]["series"] if one["label"] != "Reno"]
    corners = run_grid(
        context, "grid", lambda c: [c.ratio(name, "Reno", packets_per_s) for name in names]
    )
    findings = Findings()
    measures = findings.measures
    panels: list[CurvePanel] = []
    colours = dict(zip(names, _PALETTE, strict=False))
    for group, row in by_group(corners).items():
        curves: list[Curve] = []
        for name in names:
            gains = [corner.ratio(name, "Reno", packets_per_s) for corner in row]
            curves.append(Curve(name, colours[name], dots(row, gains)))
            for corner, gain in zip(row, gains, strict=True):
                label = f"{name} over Reno, {group}, p = {corner.label}"
                context.tell(findings, label, gain)
            pooled = Pooled([verdicts(one) for corner in row for one in corner.samples[name]])
            _add_shares(context, findings, f"{name}, {group}", pooled)
        both = [[c.values(name, packets_per_s) for c in row] for name in names]
        sums = [[sum(one) for one in zip(*each, strict=False)] for each in both]
        # Points may have different numbers of replications: the pairs that all have.
        measures[f"{names[0]} over {names[1]}, {group}"] = paired_ratio(*sums)
        panels.append(CurvePanel(group, curves))
    axes = Axes("burst loss probability p", "throughput over Reno's", True, rule=1)
    findings.draw(context.target, panels, axes)
    note_precision(corners, findings)
    return findings


def _add_shares(context: Context, findings: Findings, label: str, pooled: Pooled) -> None:
    for what, estimate in (("precision", pooled.precision()), ("recall", pooled.recall())):
        if estimate is not None:
            context.tell(findings, f"{what}, {label}", estimate)


def lost_notices(context: Context) -> Findings:
    """Lose burst ACKs and burst NAKs among the ACKs of a full access link."""
    names = [one["label"] for one in context.plan["grid"]["series"]]
    corners = run_grid(context, "grid", lambda c: [c.mean(n, packets_per_s) for n in names])
    findings = Findings()
    measures: dict[str, Measure] = findings.measures
    points: list[NamedPoint] = []
    colours: dict[str, str] = {}
    for (group, row), colour in zip(by_group(corners).items(), _PALETTE, strict=False):
        colours[group] = colour
        for name in names:
            samples = [one for corner in row for one in corner.samples[name]]
            pooled = Pooled([verdicts(one) for one in samples])
            _add_shares(context, findings, f"{name}, {group}", pooled)
            for what, estimate in (("precision", pooled.precision()), ("recall", pooled.recall())):
                if estimate is not None:
                    points.append(point(what, name, group, estimate))
            counts = [one.summary["counters"] for one in samples]
            lost, sent = (
                sum(one[key] for one in counts) for key in ("notices_lost", "notices_sent")
            )
            measures[f"notices lost, {name}, {group}"] = lost
            measures[f"notices sent, {name}, {group}"] = sent
            findings.rows.append(
                context.row(f"share of notices lost, {name}, {group}", lost / sent)
            )
            measures[f"wrong verdicts, {name}, {group}"] = pooled.total("wrong")
    # Panel by panel: precision, then recall.
    points.sort(key=lambda one: one.panel)
    findings.charts[context.target] = dot_chart(points, DotAxes(colours, width=300))
    findings.data[context.target] = dot_rows(points)
    return findings


def flow_classes(context: Context) -> Findings:
    """Count the packets of the largest burst of each flow, and take the least round trip."""
    findings = Findings()
    points: list[NamedPoint] = []
    for label, result in context.runs().items():
        largest = int(result.bursts["packets"].max())
        findings.measures[f"{label}: packets of the largest burst"] = largest
        findings.measures[f"{label}: round trip (s)"] = float(result.flows["rtt_s"][0])
        findings.rows.append(context.row(f"{label}: packets of the largest burst", largest))
        points.append(NamedPoint("packets of the largest burst", label, "measured", largest))
    axes = DotAxes({"measured": COLOURS["BLE"]}, width=420, log=True)
    findings.charts[context.target] = dot_chart(points, axes)
    findings.data[context.target] = dot_rows(points)
    return findings


TARGETS = {
    "flow-classes": flow_classes,
    "equation-11": equation_11,
    "rto-against-holes": rto_against_holes,
    "ble-order": ble_order,
    "lost-notices": lost_notices,
}
