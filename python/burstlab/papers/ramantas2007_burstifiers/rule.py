"""The assembly times of the equation, segment by segment, and the closed forms of a lone flow."""

from __future__ import annotations

import numpy as np

from burstlab.analytic import ramantas as law
from burstlab.loading import Document
from burstlab.plot import DotAxes, NamedPoint, dot_chart, dot_rows, theme
from burstlab.plot.dots import PUBLISHED
from burstlab.reproduce.context import Context, Findings
from burstlab.results import Result

_MS = 1e-9


def assembly(context: Context) -> Findings:
    """Hold the assembly of a lone flow against the equation of T_BAT and the closed forms."""
    results = context.runs()
    findings = Findings()
    measures = findings.measures
    wrong, late, gaps = 0, 0.0, []
    for one in context.plan["runs"]:
        result = results[one["label"]]
        if "thresholds" in one:
            wrong += _by_class(context, findings, one["label"], result, one["thresholds"])
        else:
            gaps.append(_by_timer(context, findings, one, result))
        late = max(late, _latest(result))
    measures["segments in a burst of another assembly time than T_BAT"] = wrong
    measures["longest wait beyond T_MAX (ms)"] = late
    measures["largest relative gap of bursts of a lossless file from the closed form"] = max(gaps)
    _draw(context, findings)
    return findings


def _of_segments(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return windows, waits and assembly times, ms, of the segments of the flow."""
    data = result.packets.where(kind="data")
    bursts = result.bursts
    place = {int(number): i for i, number in enumerate(bursts["burst"])}
    index = np.asarray([place[int(number)] for number in data["burst"]])
    closed = bursts["closed_ps"].astype(np.float64)[index]
    timer = closed - bursts["opened_ps"].astype(np.float64)[index]
    wait = closed - data["ingress_ps"].astype(np.float64)
    kept = data["seq"] > 0
    return data["cwnd"][kept], wait[kept] * _MS, timer[kept] * _MS


def _by_class(
    context: Context, findings: Findings, label: str, result: Result, thresholds: list[int]
) -> int:
    """Measure the assembly time of each class of windows; count segments of the wrong one."""
    windows, _, timers = _of_segments(result)
    medium, fast = thresholds[0], thresholds[-1]
    wanted = 1e3 * np.asarray(law.assembly_time(np.floor(windows), medium, fast))
    for low, high, name in (
        (1, medium, f"windows below {medium}"),
        (medium, fast, f"windows from {medium} to {fast - 1}"),
        (fast, np.inf, f"windows from {fast} on"),
    ):
        inside = (windows >= low) & (windows < high)
        if inside.any():
            add = f"{label}, {name}: assembly time (ms)"
            context.tell(findings, add, float(timers[inside].mean()))
    return int(np.count_nonzero(np.abs(timers - wanted) > 1e-6))


def _by_timer(context: Context, findings: Findings, one: Document, result: Result) -> float:
    """Measure bursts of the file, and of the queue while the access link never idles."""
    name, timer_s = one["label"], float(one["timer_s"])
    data = result.packets.where(kind="data")
    numbers = np.unique(data["burst"][data["seq"] > 0])
    segments = int(np.count_nonzero(np.unique(data["seq"]) > 0))
    formula = law.bursts_of_flow(segments, int(law.segments_cap(timer_s)))
    bursts = result.bursts
    kept = np.isin(bursts["burst"], numbers)
    opened = np.sort(bursts["opened_ps"][kept].astype(np.float64)) * 1e-12
    rate = (len(opened) - 1) / (opened[-1] - opened[0]) * timer_s
    # The last full stretch: the largest windows are sent without a gap.
    busy = np.diff(opened)[-context.plan["busy_bursts"] - 1 : -1]
    for label, value in (
        (f"bursts of a file of 2 MB: {name}", len(numbers)),
        (f"bursts of a file of 2 MB, closed form: {name}", formula),
        (f"bursts in an assembly time: {name}", rate),
        (f"bursts in an assembly time, queue never empty: {name}", timer_s / float(busy.mean())),
    ):
        context.tell(findings, label, value)
    return abs(len(numbers) / formula - 1.0)


def _latest(result: Result) -> float:
    """Return by how much a segment waits longer than its burst's timer, ms."""
    _, waits, timers = _of_segments(result)
    return float(max(0.0, (waits - timers).max()))


def _draw(context: Context, findings: Findings) -> None:
    points: list[NamedPoint] = []
    for row in findings.rows:
        panel, found, name = row.label.partition(": ")
        if found and panel.startswith("bursts of a file"):
            series = "closed form" if "closed" in panel else "measured"
            points.append(NamedPoint("bursts of a file of 2 MB", name, series, row.measured))
        elif row.label.endswith("assembly time (ms)"):
            what = row.label.removesuffix(": assembly time (ms)")
            points.append(NamedPoint("assembly time (ms)", what, "measured", row.measured))
            if row.published is not None:
                points.append(NamedPoint("assembly time (ms)", what, PUBLISHED, row.published))
    colours = {
        PUBLISHED: theme.INK,
        "measured": theme.FIRST,
        "closed form": theme.SERIES[1],
    }
    findings.charts[context.target] = dot_chart(points, DotAxes(colours))
    findings.data[context.target] = dot_rows(points)


TARGETS = {"assembly": assembly}
