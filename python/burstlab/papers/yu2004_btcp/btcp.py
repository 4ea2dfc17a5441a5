"""Measures and figures of section V: Burst TCP in Figures 5 to 7 and Tables III to V."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.analytic import yu2004
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.plot.traces import Panel, panel_rows, trace_chart
from burstlab.reproduce.claims import Measure
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95
from burstlab.summaries import Confusion

#: Which colour a sender has in every figure of section V.
COLOURS = {
    "Reno": theme.MUTED,
    "BLE": "#3b6fb6",
    "BACK": "#d1651b",
    "BNAK": "#2f8f6b",
}

_PRINTED_7 = "(8) over (7) as printed"

#: So many points that are not precise enough are named; more are counted.
_NAMED = 4


def packets_per_s(sample: Sample) -> float:
    """Return what the first flow delivered in order, in packets per second."""
    summary = sample.summary
    return float(summary["flows"][0]["segments_delivered"]) / float(summary["measured_s"])


def access_loss(sample: Sample) -> float:
    """Return the share of the packets offered to the access links that they dropped."""
    counters = sample.summary["counters"]
    return float(counters["access_lost"]) / float(counters["access_offered"])


def window_at_timeout(sample: Sample) -> float:
    """Return the mean window at which the retransmission timer fired."""
    table = sample.tables["ledger"]
    windows = table["cwnd"]
    kinds = table.column("kind").texts()
    return float(windows[kinds == "timeout"].mean())


def by_group(corners: Sequence[Corner]) -> dict[str, list[Corner]]:
    """Sort corners into their groups, in the order of the plan."""
    groups: dict[str, list[Corner]] = {}
    for corner in corners:
        groups.setdefault(corner.group, []).append(corner)
    return groups


def note_precision(corners: Sequence[Corner], findings: Findings) -> None:
    """Say where the wanted precision was not reached."""
    short = [" ".join((c.group, c.label)).strip() for c in corners if not c.reached]
    if short:
        where = (
            "; ".join(short) if len(short) <= _NAMED else f"{len(short)} of {len(corners)} points"
        )
        findings.notes.append(
            f"The wanted precision was not reached within the limit of replications at {where}."
        )


def dots(corners: Sequence[Corner], estimates: Sequence[Estimate]) -> list[Dot]:
    """Return what was measured at the places of the corners."""
    return [
        Dot(corner.x, one.mean, one.ci95, one.n)
        for corner, one in zip(corners, estimates, strict=True)
    ]


def _points(plan: Mapping[str, Any]) -> np.ndarray:
    curve = plan["curve"]
    first, last = curve["log10_p"]
    return np.logspace(first, last, curve["points"])


def _line(x: np.ndarray, y: np.ndarray) -> list[Dot]:
    return [Dot(float(a), float(b)) for a, b in zip(x, y, strict=True) if np.isfinite(b)]


def _increases(values: Sequence[float]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))


def fig5a(context: Context) -> Findings:
    """Draw (6) over (4) and the window ratio, and simulate both."""
    corners = run_grid(context, "grid", lambda c: [c.ratio("BLE", "Reno", packets_per_s)])
    groups = by_group(corners)
    findings = Findings()
    p = _points(context.plan)
    p = p[p <= 0.5]
    exact = yu2004.fig5a(p)
    btcp = yu2004.unlimited_packets_btcp(p)
    half = btcp / yu2004.unlimited_packets_tcp(p, slow_start="half")
    printed = btcp / yu2004.unlimited_packets_tcp(p, as_printed=True)
    throughput = [
        Curve("(6) over (4), E[W] from (5)", theme.INK, _line(p, exact.throughput_ratio), "line"),
        Curve("the same, slow start counted as in (5)", theme.TIMEOUT, _line(p, half), "dashed"),
        Curve("the same, E[W] = (1-p)/p as printed", theme.AGAIN, _line(p, printed), "dashed"),
    ]
    windows = [Curve(throughput[0].label, theme.INK, _line(p, exact.window_ratio), "line")]
    twos = np.full_like(p, 2.0)
    windows.append(Curve(throughput[2].label, theme.AGAIN, _line(p, twos), "dashed"))
    measures = findings.measures
    measures["least throughput ratio of the curve"] = float(np.nanmin(exact.throughput_ratio))
    measures["least window ratio of the curve"] = float(np.nanmin(exact.window_ratio))
    colours = {"even": COLOURS["BLE"], "random": COLOURS["BNAK"], "random, ns-2's rule": "#7a3e9d"}
    for group, row in groups.items():
        gains = [corner.ratio("BLE", "Reno", packets_per_s) for corner in row]
        larger = [corner.ratio("BLE", "Reno", window_at_timeout) for corner in row]
        label = f"simulated, {group} losses"
        throughput.append(Curve(label, colours[group], dots(row, gains)))
        windows.append(Curve(label, colours[group], dots(row, larger)))
        for corner, gain, window in zip(row, gains, larger, strict=True):
            name = f"p = {corner.label}, {group}"
            context.tell(findings, f"throughput ratio, {name}", gain)
            findings.rows.append(context.row(f"window ratio, {name}", window))
        measures[f"least throughput ratio, {group}"] = min(gains, key=lambda one: one.low)
        measures[f"least window ratio, {group}"] = min(larger, key=lambda one: one.low)
    _against_4_to_6(groups, context.plan["high_p"], measures)
    panels = [
        CurvePanel("Throughput of BTCP over TCP", throughput),
        CurvePanel("Mean window of BTCP over TCP", windows),
    ]
    findings.draw(context.target, panels, Axes("burst loss probability p", "ratio", True))
    note_precision(corners, findings)
    return findings


def _against_4_to_6(
    groups: Mapping[str, Sequence[Corner]], high_p: float, measures: dict[str, Measure]
) -> None:
    """Hold simulated gains against (6) over (4)."""
    for group, prefix in (("random", ""), ("random, ns-2's rule", "ns-2's rule: ")):
        ratios: list[Estimate] = []
        for corner in groups[group]:
            if (corner.p or 0.0) >= high_p:
                gain = corner.ratio("BLE", "Reno", packets_per_s)
                curve = float(yu2004.fig5a([corner.p or 0.0]).throughput_ratio[0])
                ratios.append(_over(gain, curve))
        name = f"{prefix}high loss, least simulated ratio over that of the curve"
        measures[name] = min(ratios, key=lambda one: one.low)
    gaps: dict[str, list[float]] = {"slow start as in (5)": [], "E[W] as printed": []}
    for corner in groups["even"]:
        if (corner.p or 1.0) <= high_p:
            gain = corner.ratio("BLE", "Reno", packets_per_s).mean
            btcp = yu2004.unlimited_packets_btcp(corner.p or 0.0)
            half = yu2004.unlimited_packets_tcp(corner.p or 0.0, slow_start="half")
            printed = yu2004.unlimited_packets_tcp(corner.p or 0.0, as_printed=True)
            gaps["slow start as in (5)"].append(abs(gain / float(btcp / half) - 1.0))
            gaps["E[W] as printed"].append(abs(gain / float(btcp / printed) - 1.0))
    for reading, found in gaps.items():
        name = f"even: largest gap of (6) over (4), {reading}, up to the high loss rate"
        measures[name] = max(found)


def _over(one: Estimate, value: float) -> Estimate:
    return Estimate(one.mean / value, None if one.ci95 is None else one.ci95 / value, one.n)


def fig5b(context: Context) -> Findings:
    """Draw (9) for several windows, and simulate its even losses."""
    corners = run_grid(context, "grid", lambda c: [c.ratio("BLE", "Reno", packets_per_s)])
    findings = Findings()
    p = _points(context.plan)
    windows: Sequence[int] = context.plan["curve"]["windows"]
    curves = yu2004.fig5b(p, windows).throughput_ratio
    panels: list[CurvePanel] = []
    measured: dict[int, list[float]] = {}
    for window, curve, row in zip(windows, curves, by_group(corners).values(), strict=True):
        btcp = yu2004.limited_packets_btcp(p, window)
        printed = btcp / yu2004.limited_packets_tcp(p, window, as_printed=True)
        half = yu2004.limited_gain(p, window, slow_start="half")
        holds = np.isfinite(curve)
        gains = [corner.ratio("BLE", "Reno", packets_per_s) for corner in row]
        measured[window] = [gain.mean for gain in gains]
        panels.append(
            CurvePanel(
                f"W_m = {window}",
                [
                    Curve("(9)", theme.INK, _line(p, curve), "line"),
                    Curve(
                        "(9), slow start counted as in (5)",
                        theme.TIMEOUT,
                        _line(p[holds], half[holds]),
                        "dashed",
                    ),
                    Curve(
                        "(8) over (7), first line as printed",
                        theme.AGAIN,
                        _line(p[holds], printed[holds]),
                        "dashed",
                    ),
                    Curve("simulated, even losses", COLOURS["BLE"], dots(row, gains)),
                ],
            )
        )
        for corner, gain in zip(row, gains, strict=True):
            label = f"W_m = {window}, log p = {corner.label}"
            findings.rows.append(context.row(label, gain))
    _trends_of_fig5b(curves, measured, corners, windows, findings)
    _against_7_to_9(
        by_group(corners), windows, context.plan["holds_where_p_times_w_at_most"], findings
    )
    axes = Axes(
        "burst loss probability p",
        "throughput ratio",
        True,
        columns=3,
        width=290,
        domain=(0.95, 2.05),
    )
    findings.draw(context.target, panels, axes)
    note_precision(corners, findings)
    return findings


def _trends_of_fig5b(
    curves: np.ndarray,
    measured: Mapping[int, Sequence[float]],
    corners: Sequence[Corner],
    windows: Sequence[int],
    findings: Findings,
) -> None:
    """Count where the gain does not increase with the window or the loss probability."""
    measures = findings.measures
    joint = np.all(np.isfinite(curves), axis=0)
    measures["points of the curves where a larger window gains less"] = int(
        np.sum(np.diff(curves[:, joint], axis=0) <= 0)
    )
    measures["points of the curves where more loss gains less"] = int(
        sum(np.sum(np.diff(curve[np.isfinite(curve)]) <= 0) for curve in curves)
    )
    by_p = list(zip(*measured.values(), strict=True))
    # Where the largest window is never reached, all of the larger ones do the same.
    reached = [
        i
        for i, corner in enumerate(next(iter(by_group(corners).values())))
        if (corner.p or 1.0) * max(windows) / 2 <= 1.0
    ]
    measures["simulated points where a larger window gains less"] = sum(
        not _increases(by_p[i]) for i in reached
    )
    measures["simulated windows for which more loss gains less"] = sum(
        not _increases(row) for row in measured.values()
    )


def _against_7_to_9(
    groups: Mapping[str, Sequence[Corner]],
    windows: Sequence[int],
    limit: float,
    findings: Findings,
) -> None:
    """Hold simulated gains against (9), where losses are rare enough for the window to be full."""
    gaps: dict[str, list[float]] = {"(9), slow start as in (5)": [], "(9)": [], _PRINTED_7: []}
    for window, row in zip(windows, groups.values(), strict=True):
        for corner in row:
            p = corner.p or 1.0
            if p * window > limit:
                continue
            gain = corner.ratio("BLE", "Reno", packets_per_s).mean
            btcp = yu2004.limited_packets_btcp(p, window)
            forms = {
                "(9), slow start as in (5)": yu2004.limited_gain(p, window, slow_start="half"),
                "(9)": yu2004.limited_gain(p, window),
                _PRINTED_7: btcp / yu2004.limited_packets_tcp(p, window, as_printed=True),
            }
            for name, value in forms.items():
                gaps[name].append(abs(gain / float(value) - 1.0))
    for name, found in gaps.items():
        findings.measures[f"largest gap of {name}, p·W_m within the limit"] = max(found)


def fig6(context: Context) -> Findings:
    """Trace Reno and BLE through one lost burst and through several back to back."""
    results = context.runs()
    findings = Findings()
    measures = findings.measures
    reno, ble, *_ = results.values()
    for label, result in results.items():
        ledger = result.ledger.where(kind="timeout")
        times = ledger.seconds("t_ps")
        measures[f"{label}: first time-out (s)"] = float(times[0])
        if len(times) > 1:
            measures[f"{label}: first time-out of the run (s)"] = float(times[1])
            measures[f"{label}: end of the run of time-outs (s)"] = float(times[-1])
            following = float(times[-1] + 2.0 * ledger.seconds("rto_ps")[-1])
            measures[f"{label}: the time-out after that would come at (s)"] = following
        measures[f"{label}: packets in order"] = int(result.flows["segments_delivered"][0])
    ledger = ble.ledger.where(kind="timeout")
    window = int(ble.scenario["tcp"]["window"])
    windows = np.minimum(ledger["cwnd"], window)
    taken_for_false = ledger["verdict"] == "false"
    measures["BLE: window at the first time-out"] = float(windows[0])
    measures["BLE: first time-out taken for false"] = int(taken_for_false[0])
    # The run is over with the first time-out that is taken for a true one.
    end = 2 + int(np.argmin(taken_for_false[1:]))
    run_windows, run_false = windows[1:end], taken_for_false[1:end]
    measures["BLE: false ones in the run of time-outs"] = int(run_false.sum())
    measures["BLE: steps of the run that do not halve the window"] = int(
        np.sum(run_windows[1:] != run_windows[:-1] / 2)
    )
    measures["BLE: window at the last time-out of the run"] = float(run_windows[-1])
    measures["BLE: last time-out of the run taken for false"] = int(run_false[-1])
    measures["BLE: smallest window of a time-out taken for false"] = float(
        windows[taken_for_false].min()
    )
    at = ", ".join(
        f"{w:g} ({'false' if verdict else 'true'})"
        for w, verdict in zip(windows, taken_for_false, strict=True)
    )
    findings.notes.append(f"Windows at BLE's time-outs, and what it took them for: {at}.")
    longest = float(np.max(reno.ledger.where(kind="timeout").seconds("rto_ps")))
    measures["Reno: longest time-out (s)"] = longest
    measures["BLE: longest time-out (s)"] = float(np.max(ledger.seconds("rto_ps")))
    findings.rows = [context.row(name, value) for name, value in measures.items()]
    panels = [
        Panel(
            entry["label"],
            results[entry["label"]],
            *entry["draw"],
            published=entry.get("published", ()),
        )
        for entry in context.plan["runs"]
        if "draw" in entry
    ]
    findings.charts[context.target] = trace_chart(
        panels, modulus=context.plan["modulus"], width=460
    )
    findings.data[context.target] = [row for panel in panels for row in panel_rows(panel)]
    return findings


def fig7(context: Context) -> Findings:
    """Compare throughputs over the assembly time."""
    plan = context.plan
    series: list[str] = [one["label"] for one in plan["grid"]["series"]]
    corners = run_grid(context, "grid", lambda c: [c.mean(name, packets_per_s) for name in series])
    groups = by_group(corners)
    main = groups[plan["window"]]
    findings = Findings()
    measures = findings.measures
    panels = [_panel_of_fig7(findings, groups[plan["window"]], series, "", context)]
    _order_of_fig7(main, series, measures, "")
    for variation in plan["variations"]:
        prefix = variation.partition(", ")[2] + ": "
        panels.append(_panel_of_fig7(findings, groups[variation], series, prefix, context))
        _order_of_fig7(groups[variation], series, measures, prefix)
    fast = [corner for corner in main if _is_fast(context, corner)]
    measures["replications of fast flows in which BLE and BACK differ"] = sum(
        a.summary["fingerprint"] != b.summary["fingerprint"]
        for corner in fast
        for a, b in zip(corner.samples["BLE"], corner.samples["BACK"], strict=True)
    )
    other = groups.get("W = 10")
    if other is not None and other is not main:
        for name in ("BLE", "BNAK"):
            measures[f"{name}: least gain at W = 20 less that at W = 10"] = min(
                (
                    _less(
                        a.ratio(name, "Reno", packets_per_s), b.ratio(name, "Reno", packets_per_s)
                    )
                    for a, b in zip(main, other, strict=True)
                    if a in fast
                ),
                key=lambda one: one.low,
            )
    findings.draw(
        context.target,
        panels,
        Axes(
            "assembly time T_b (s)",
            "throughput (packets/s)",
            ticks=[c.x for c in main],
            shared_y=True,
            columns=3,
            width=310,
        ),
    )
    note_precision(corners, findings)
    return findings


def _less(a: Estimate, b: Estimate) -> Estimate:
    """Return the difference of two independent estimates."""
    return Estimate(a.mean - b.mean, np.hypot(a.ci95 or 0.0, b.ci95 or 0.0), min(a.n, b.n))


def _panel_of_fig7(
    findings: Findings,
    row: Sequence[Corner],
    series: Sequence[str],
    prefix: str,
    context: Context,
) -> CurvePanel:
    """Put the throughputs of one group into the findings and into one panel."""
    for name in series:
        for corner in row:
            where = f"{prefix}{name}, T_b = {corner.label}"
            findings.measures[where] = corner.mean(name, packets_per_s)
            findings.rows.append(context.row(f"{where} (packets/s)", findings.measures[where]))
    curves = [
        Curve(
            name,
            COLOURS[name],
            dots(row, [corner.mean(name, packets_per_s) for corner in row]),
            # It hides BLE wherever both do the same.
            "measured-dashed" if name == "BACK" else "measured",
        )
        for name in series
    ]
    return CurvePanel(row[0].group, curves)


def _is_fast(context: Context, corner: Corner) -> bool:
    """Whether (3) holds: the packets of a window arrive within the assembly time."""
    window = context.plan["grid"]["groups"][0]["set"]["tcp.window"]
    return str(yu2004.flow_class(context.plan["rate_pps"], corner.x, window)) == "fast"


def _order_of_fig7(
    row: Sequence[Corner], series: Sequence[str], measures: dict[str, Measure], prefix: str
) -> None:
    """Add by how much the senders are apart, replication by replication."""

    def least(one: str, other: str, corners: Sequence[Corner]) -> Estimate:
        ratios = [corner.ratio(one, other, packets_per_s) for corner in corners]
        return min(ratios, key=lambda ratio: ratio.low)

    first = prefix + "T_b = 0.01: "
    measures[first + "share of what BLE takes for false that is true"] = _wrong(row[0], "BLE")
    measures[first + "BNAK over BLE"] = least("BNAK", "BLE", row[:1])
    measures[prefix + "least BNAK over BLE after the first T_b"] = least("BNAK", "BLE", row[1:])
    measures[prefix + "least BNAK over BACK"] = least("BNAK", "BACK", row)
    measures[prefix + "least BNAK over BLE"] = least("BNAK", "BLE", row)
    measures[prefix + "least BLE over Reno"] = least("BLE", "Reno", row)
    for name in series:
        falls = [
            mean_ci95(
                [
                    x - y
                    for x, y in zip(
                        a.values(name, packets_per_s), b.values(name, packets_per_s), strict=False
                    )
                ]
            )
            for a, b in itertools.pairwise(row)
        ]
        measures[f"{prefix}{name}: least fall of a step"] = min(falls, key=lambda one: one.low)
        after = min(falls[1:], key=lambda one: one.low)
        measures[f"{prefix}{name}: least fall of a step after the first"] = after
        measures[f"{prefix}{name}: rise from the first T_b to the second"] = Estimate(
            -falls[0].mean, falls[0].ci95, falls[0].n
        )


def confusion(sample: Sample) -> Confusion:
    """Return how the detector of flow 0 judged its time-outs."""
    found = sample.summary["flows"][0]["detector"]
    assert found is not None, "the plan gives each of these series a detector"
    return found


def _wrong(corner: Corner, name: str) -> float:
    """Return which share of the time-outs that a detector took for false were true."""
    counts = [confusion(sample) for sample in corner.samples[name]]
    true = sum(one["true_excused"] for one in counts)
    taken = true + sum(one["false_excused"] + one["spurious_excused"] for one in counts)
    return true / taken if taken else 0.0


TARGETS = {
    "fig5a": fig5a,
    "fig5b": fig5b,
    "fig6": fig6,
    "fig7a": fig7,
    "fig7b": fig7,
}
