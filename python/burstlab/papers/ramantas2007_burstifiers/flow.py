"""Figure 6: one flow that loses nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burstlab.plot import Axes, Curve, CurvePanel, Dot, curve_chart, curve_rows, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.results import Result


def _start_s(result: Result) -> float:
    """Answer when the first segment is sent; the handshake is over then."""
    data = result.packets.where(kind="data")
    return float(data.seconds("sent_ps")[data["seq"] > 0].min())


def _windows(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Answer the times, from the first segment on, and the windows of the sender."""
    acks = result.cwnd.where(event="ack")
    return acks.seconds("t_ps") - _start_s(result), acks["cwnd"]


def _reached(result: Result, segments: int) -> float:
    """Answer when the window reaches this many segments."""
    times, windows = _windows(result)
    return float(times[np.argmax(windows >= segments)])


def _sent(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answer when each segment has left the access link, its number, and the bits of its data."""
    data = result.packets.where(kind="data")
    numbers, sizes = data["seq"], data["size_bytes"].astype(np.float64)
    segments, headers = numbers > 0, sizes[numbers == 0][0]
    times = data.seconds("ingress_ps")[segments] - _start_s(result)
    return times, numbers[segments], 8.0 * (sizes[segments] - headers)


def fig6a(context: Context) -> Findings:
    """Follow the congestion window of a flow that loses nothing."""
    results = context.runs()
    plan = context.plan
    findings = Findings()
    measures = findings.measures
    timers = {one["label"]: one["timer_s"] for one in plan["runs"] if "timer_s" in one}
    curves = []
    for name, result in results.items():
        times, windows = _windows(result)
        segments = plan["segments"]
        reached = _reached(result, segments)
        measures[f"{name}: time to 500 segments (s)"] = reached
        measures[f"{name}: time to 100 segments (s)"] = _reached(result, plan["small"])
        average = _average(result, plan["mean_bytes"])
        measures[f"{name}: average throughput of a file of 700 KB (Mb/s)"] = average
        if name in timers:
            rounds = math.log2(segments)
            counted = rounds * (plan["rtt0_s"] + 2 * timers[name])
            measures[f"{name}: time to 500 segments over that of doublings"] = reached / counted
            upto = windows <= 2 * segments
            dots = [
                Dot(float(t), float(w)) for t, w in zip(times[upto], windows[upto], strict=True)
            ]
            colour = theme.SERIES[len(curves) // 2]
            curves.append(Curve(name, colour, dots, "line"))
            printed = context.published(f"{name}: time to 500 segments (s)") or 0.0
            dot = Dot(printed, float(segments))
            curves.append(Curve(f"{name}, published", colour, [dot], "published"))
    findings.rows = [
        context.row(label, measure)
        for label, measure in measures.items()
        if "time to 500 segments (s)" in label or "average" in label
    ]
    measures["packets lost"] = sum(
        int(result.flows["packets_lost"][0]) for result in results.values()
    )
    for what in ("time to 500", "average"):
        gaps = [
            abs(row.measured / row.published - 1.0)
            for row in findings.rows
            if row.published and what in row.label
        ]
        measures[f"largest relative gap from the print: {what}"] = max(gaps)
    first, *_, last = (results[name] for name in timers)
    saved = [_reached(last, n) - _reached(first, n) for n in (plan["small"], plan["segments"])]
    measures["share of the time saved up to 100 segments"] = saved[0] / saved[1]
    axes = Axes("time since the first segment (s)", "congestion window (segments)", width=640)
    panels = [CurvePanel("", curves)]
    findings.charts[context.target] = curve_chart(panels, axes)
    findings.data[context.target] = curve_rows(panels)
    return findings


def _average(result: Result, size: float) -> float:
    """Answer the throughput, from the start of the flow, of its first bytes."""
    acks = result.cwnd.where(event="ack")
    data = result.packets.where(kind="data")
    headers = int(data["size_bytes"][data["seq"] == 0][0])
    segment = int(data["size_bytes"].max()) - headers
    done = acks.seconds("t_ps")[acks["ack"] * segment >= size]
    return 8.0 * size / float(done[0]) / 1e6


def fig6b(context: Context) -> Findings:
    """Draw the segments that a flow sends, and measure its rate over short windows."""
    results = context.runs()
    plan = context.plan
    findings = Findings()
    measures = findings.measures
    window, top = plan["window_s"], plan["top_mbps"]
    timers = {one["label"]: one["timer_s"] for one in plan["runs"]}
    panels: list[CurvePanel] = []
    rates: list[Curve] = []
    for i, (name, result) in enumerate(results.items()):
        times, numbers, bits = _sent(result)
        ends, rate = _rates(times, bits, window)
        measures[f"{name}: largest rate of 10 ms (Mb/s)"] = float(rate.max())
        full = ends[rate >= top]
        measures[f"{name}: first full 10 ms end at (s)"] = float(full[0])
        at, cwnd = _windows(result)
        measures[f"{name}: window at the first full 10 ms"] = float(cwnd[at <= full[0]][-1])
        after = rate[(ends >= full[0]) & (ends <= times[-1] - window)]
        measures[f"{name}: smallest rate after the first full 10 ms (Mb/s)"] = float(after.min())
        still = _busy_from(times, bits, window, top)
        measures[f"{name}: full for good from (s)"] = still
        rounds = (still - full[0]) / (plan["rtt0_s"] + 2 * timers[name])
        measures[f"{name}: rounds from the first full 10 ms until all are"] = rounds
        measures[f"{name}: rounds begun in 0.15 s"] = _rounds(times, plan)
        shown = times <= plan["draw_s"]
        dots = [
            Dot(float(t), float(n % plan["modulus"]))
            for t, n in zip(times[shown], numbers[shown], strict=True)
        ]
        panels.append(CurvePanel(name, [Curve("segments", theme.SERIES[i], dots, "line")]))
        kept = ends <= plan["draw_s"]
        rates.append(
            Curve(
                name,
                theme.SERIES[i],
                [Dot(float(t), float(r)) for t, r in zip(ends[kept], rate[kept], strict=True)],
                "line",
            )
        )
    findings.rows = [context.row(label, measure) for label, measure in measures.items()]

    def most(what: str, choose: Callable[[list[float]], float] = max) -> float:
        return choose([row.measured for row in findings.rows if row.label.endswith(what)])

    measures["least of the largest rates (Mb/s)"] = most("largest rate of 10 ms (Mb/s)", min)
    measures["largest of the largest rates (Mb/s)"] = most("largest rate of 10 ms (Mb/s)")
    measures["least window at the first full 10 ms"] = most("window at the first full 10 ms", min)
    measures["largest window at the first full 10 ms"] = most("window at the first full 10 ms")
    measures["most rounds until full for good"] = most("until all are")
    findings.charts[context.target] = _chart(panels, rates, plan)
    findings.data[context.target] = curve_rows([*panels, CurvePanel("rate of 10 ms", rates)])
    return findings


def _rates(times: np.ndarray, bits: np.ndarray, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Answer what was sent in the window that ends with each segment, in Mb/s."""
    total = np.concatenate([[0.0], np.cumsum(bits)])
    first = np.searchsorted(times, times - window, side="right")
    rate = (total[1:] - total[first]) / window / 1e6
    whole = times >= window
    return times[whole], rate[whole]


def _busy_from(times: np.ndarray, bits: np.ndarray, window: float, top: float) -> float:
    """Answer from when on every window, until the flow ends, is full."""
    ends, rate = _rates(times, bits, window)
    short = ends[(rate < top) & (ends <= times[-1] - window)]
    return float(short[-1]) if len(short) else float(ends[0])


def _rounds(times: np.ndarray, plan: Mapping[str, Any]) -> int:
    """Count the trains of segments, each behind a silence, that begin within a time."""
    begins = np.concatenate([[True], np.diff(times) > plan["silence_s"]])
    return int(np.sum(times[begins] <= plan["rounds_s"]))


def _chart(panels: list[CurvePanel], rates: list[Curve], plan: Mapping[str, Any]) -> Any:
    import altair as alt

    rows = [
        {"timer": panel.title, "x": dot.x, "y": dot.y}
        for panel in panels
        for dot in panel.curves[0].dots
    ]
    names = [panel.title for panel in panels]
    colour = alt.Color(
        "timer:N", title=None, scale=alt.Scale(domain=names, range=list(theme.SERIES[: len(names)]))
    )
    x_scale = alt.Scale(domain=[0.0, plan["draw_s"]], nice=False)
    x_axis = alt.Axis(tickCount=4, format="~r")
    drawn = [
        alt.Chart(theme.inline([row for row in rows if row["timer"] == name], ["timer", "x", "y"]))
        .mark_point(size=5, filled=True, opacity=0.8)
        .encode(
            x=alt.X("x:Q", title="time since the first segment (s)", scale=x_scale, axis=x_axis),
            y=alt.Y("y:Q", title=f"segment mod {plan['modulus']}" if name == names[0] else None),
            color=colour,
        )
        .properties(width=300, height=210, title=name)
        for name in names
    ]
    rate_rows = [
        {"timer": curve.label, "x": dot.x, "y": dot.y} for curve in rates for dot in curve.dots
    ]
    below = [
        alt.Chart(
            theme.inline([row for row in rate_rows if row["timer"] == name], ["timer", "x", "y"])
        )
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("x:Q", title="time since the first segment (s)", scale=x_scale, axis=x_axis),
            y=alt.Y("y:Q", title="rate of 10 ms (Mb/s)" if name == names[0] else None),
            color=colour,
        )
        .properties(width=300, height=150)
        for name in names
    ]
    return theme.configured(
        alt.vconcat(alt.hconcat(*drawn, spacing=18), alt.hconcat(*below, spacing=18), spacing=14)
    )


TARGETS = {"fig6a": fig6a, "fig6b": fig6b}
