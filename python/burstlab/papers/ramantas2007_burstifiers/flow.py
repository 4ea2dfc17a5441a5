"""Figure 6(a): the window of one flow that loses nothing."""

from __future__ import annotations

import math

import numpy as np

from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.results import Result


def start_s(result: Result) -> float:
    """Return when the first segment is sent; the handshake is over then."""
    data = result.packets.where(kind="data")
    return float(data.seconds("sent_ps")[data["seq"] > 0].min())


def windows(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Return the times, from the first segment on, and the windows of the sender."""
    acks = result.cwnd.where(event="ack")
    return acks.seconds("t_ps") - start_s(result), acks["cwnd"]


def _reached(result: Result, segments: int) -> float:
    """Return when the window reaches this many segments."""
    times, sizes = windows(result)
    return float(times[np.argmax(sizes >= segments)])


def fig6a(context: Context) -> Findings:
    """Follow the congestion window of a flow that loses nothing."""
    results = context.runs()
    plan = context.plan
    findings = Findings()
    measures = findings.measures
    timers = {one["label"]: one["timer_s"] for one in plan["runs"] if "timer_s" in one}
    curves = []
    for name, result in results.items():
        times, sizes = windows(result)
        segments = plan["segments"]
        reached = _reached(result, segments)
        measures[f"time to 500 segments (s): {name}"] = reached
        measures[f"time to 100 segments (s): {name}"] = _reached(result, plan["small"])
        average = _average(result, plan["mean_bytes"])
        measures[f"average throughput of a file of 700 KB (Mb/s): {name}"] = average
        if name in timers:
            rounds = math.log2(segments)
            counted = rounds * (plan["rtt0_s"] + 2 * timers[name])
            measures[f"time to 500 segments over that of doublings: {name}"] = reached / counted
            upto = sizes <= 2 * segments
            dots = [Dot(float(t), float(w)) for t, w in zip(times[upto], sizes[upto], strict=True)]
            colour = theme.SERIES[len(curves) // 2]
            curves.append(Curve(name, colour, dots, "line"))
            printed = context.published(f"time to 500 segments (s): {name}") or 0.0
            dot = Dot(printed, float(segments))
            curves.append(Curve(f"{name}, published", colour, [dot], "published"))
    findings.rows = [
        context.row(label, measure)
        for label, measure in measures.items()
        if label.startswith(("time to 500 segments (s)", "average"))
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
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _average(result: Result, size: float) -> float:
    """Return the throughput of the first bytes, from the start of the flow until all arrived."""
    data = result.packets.where(kind="data")
    headers = int(data["size_bytes"][data["seq"] == 0][0])
    segment = int(data["size_bytes"].max()) - headers
    first = (data["seq"] > 0) & (data["seq"] <= math.ceil(size / segment))
    return 8.0 * size / float(data.seconds("delivered_ps")[first].max()) / 1e6


TARGETS = {"fig6a": fig6a}
