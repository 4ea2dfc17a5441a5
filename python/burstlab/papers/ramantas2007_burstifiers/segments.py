"""Figure 6(b): the segments of one flow that loses nothing, and its rate over short times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.analytic import ramantas as law
from burstlab.papers.ramantas2007_burstifiers.flow import start_s, windows
from burstlab.plot import Curve, CurvePanel, Dot, curve_rows, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.results import Result

#: Rates that the text prints without a time.
_LEVEL = "published, at no time"


def _sent(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when each segment has left the access link, its number, and the bits of its data."""
    data = result.packets.where(kind="data")
    numbers, sizes = data["seq"], data["size_bytes"].astype(np.float64)
    segments, headers = numbers > 0, sizes[numbers == 0][0]
    times = data.seconds("ingress_ps")[segments] - start_s(result)
    return times, numbers[segments], 8.0 * (sizes[segments] - headers)


def fig6b(context: Context) -> Findings:
    """Draw the segments that a flow sends, and measure its rate over short windows."""
    results = context.runs()
    plan = context.plan
    findings = Findings()
    measures = findings.measures
    panels: list[CurvePanel] = []
    rates: list[Curve] = []
    for one in plan["runs"]:
        name = one["label"]
        times, numbers, bits = _sent(results[name])
        if one.get("far"):
            measures[f"far, rounds begun in 0.15 s: {name}"] = _rounds(times, plan)
            continue
        _measure(context, findings, one, results[name])
        ends, rate = _rates(times, bits, plan["window_s"])
        shown, kept = times <= plan["draw_s"], ends <= plan["draw_s"]
        panels.append(
            CurvePanel(name, [_curve(name, times[shown], numbers[shown] % plan["modulus"])])
        )
        rates.append(_curve(name, ends[kept], rate[kept]))
    findings.rows = [context.row(label, measure) for label, measure in measures.items()]

    def most(what: str, choose: Callable[[list[float]], float] = max) -> float:
        return choose([row.measured for row in findings.rows if row.label.startswith(what)])

    measures["least of the largest rates (Mb/s)"] = most("largest rate of 10 ms (Mb/s)", min)
    measures["largest of the largest rates (Mb/s)"] = most("largest rate of 10 ms (Mb/s)")
    measures["least window at the first full 10 ms"] = most("window at the first full 10 ms", min)
    measures["largest window at the first full 10 ms"] = most("window at the first full 10 ms")
    measures["most rounds until full for good"] = most("rounds from the first full")
    measures["largest gap of rounds begun from the closed form"] = most("gap of rounds begun")
    findings.charts[context.target] = _chart(context, panels, rates)
    findings.data[context.target] = curve_rows([*panels, CurvePanel("rate of 10 ms", rates)])
    return findings


def _curve(name: str, x: np.ndarray, y: np.ndarray) -> Curve:
    dots = [Dot(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    return Curve(name, theme.FIRST, dots, "line")


def _measure(context: Context, findings: Findings, one: Mapping[str, Any], result: Result) -> None:
    """Measure rates and rounds of a flow."""
    plan, measures = context.plan, findings.measures
    name, timer_s = one["label"], float(one["timer_s"])
    window, top = plan["window_s"], plan["top_mbps"]
    round_s = float(law.round_time(timer_s, plan["rtt0_s"]))
    times, _, bits = _sent(result)
    ends, rate = _rates(times, bits, window)
    last = times[-1] - window
    measures[f"largest rate of 10 ms (Mb/s): {name}"] = float(rate.max())
    full = ends[rate >= top]
    measures[f"first full 10 ms end at (s): {name}"] = float(full[0])
    at, cwnd = windows(result)
    measures[f"window at the first full 10 ms: {name}"] = float(cwnd[at <= full[0]][-1])
    after = rate[(ends >= full[0]) & (ends <= last)]
    measures[f"smallest rate after the first full 10 ms (Mb/s): {name}"] = float(after.min())
    still = _busy_from(times, bits, window, top)
    measures[f"full for good from (s): {name}"] = still
    measures[f"rounds from the first full 10 ms until all are: {name}"] = (
        still - full[0]
    ) / round_s
    filled = float(at[np.argmax(cwnd >= law.full_window(timer_s, plan["rtt0_s"]))]) + round_s
    measures[f"smallest rate a round after a full window (Mb/s): {name}"] = float(
        rate[(ends >= filled) & (ends <= last)].min()
    )
    long_ends, long_rate = _rates(times, bits, round_s)
    measures[f"smallest rate of a round after the first full 10 ms (Mb/s): {name}"] = float(
        long_rate[(long_ends >= full[0]) & (long_ends <= last)].min()
    )
    rounds = _rounds(times, plan)
    measures[f"rounds begun in 0.15 s: {name}"] = rounds
    formula = float(law.rounds_within(plan["rounds_s"], timer_s, plan["rtt0_s"]))
    measures[f"gap of rounds begun from the closed form: {name}"] = abs(rounds - formula)


def _rates(times: np.ndarray, bits: np.ndarray, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what was sent in the window that ends with each segment, in Mb/s."""
    total = np.concatenate([[0.0], np.cumsum(bits)])
    first = np.searchsorted(times, times - window, side="right")
    rate = (total[1:] - total[first]) / window / 1e6
    whole = times >= window
    return times[whole], rate[whole]


def _busy_from(times: np.ndarray, bits: np.ndarray, window: float, top: float) -> float:
    """Return from when on every window, until the flow ends, is full."""
    ends, rate = _rates(times, bits, window)
    short = ends[(rate < top) & (ends <= times[-1] - window)]
    return float(short[-1]) if len(short) else float(ends[0])


def _rounds(times: np.ndarray, plan: Mapping[str, Any]) -> int:
    """Count the trains of segments, each behind a silence, that begin within a time."""
    begins = np.concatenate([[True], np.diff(times) > plan["silence_s"]])
    return int(np.sum(times[begins] <= plan["rounds_s"]))


def _marks(context: Context, name: str, last: float) -> list[dict[str, Any]]:
    """Return the largest rate that the text prints, and the smallest after it, at times of ours."""
    largest = context.published(f"largest rate of 10 ms (Mb/s): {name}")
    smallest = context.published(f"smallest rate after the first full 10 ms (Mb/s): {name}")
    return [
        {"x": last * share, "y": value, "sign": _LEVEL}
        for share, value in ((0.85, largest), (0.95, smallest))
        if value is not None
    ]


def _chart(context: Context, panels: Sequence[CurvePanel], rates: Sequence[Curve]) -> Any:
    import altair as alt

    legend = theme.Legend(
        [
            theme.Sign("measured", theme.FIRST, "circle"),
            theme.Sign(_LEVEL, theme.INK, theme.PLACED),
        ]
    )
    scale = alt.Scale(domain=[0.0, context.plan["draw_s"]], nice=False)
    axis = alt.Axis(tickCount=4, format=theme.NUMBER)
    x = alt.X("x:Q", title="time since the first segment (s)", scale=scale, axis=axis)
    columns = ["x", "y", "sign"]

    def panel(curve: Curve, marks: list[dict[str, Any]], title: str, size: int) -> Any:
        y = alt.Y("y:Q", title=title if curve.label == panels[0].title else None)
        rows = [{"x": dot.x, "y": dot.y, "sign": "measured"} for dot in curve.dots]
        layers = [
            alt.Chart(theme.inline(given, columns))
            .mark_point(size=area, filled=True, opacity=1, strokeWidth=0)
            .encode(x=x, y=y, color=legend.colour(), shape=legend.shape())
            for given, area in ((rows, size), (marks, 200))
            if given
        ]
        return alt.layer(*layers, legend.layer())

    modulus = f"segment mod {context.plan['modulus']}"
    above = [
        panel(one.curves[0], [], modulus, 5).properties(width=300, height=210, title=one.title)
        for one in panels
    ]
    below = [
        panel(
            curve, _marks(context, curve.label, curve.dots[-1].x), "rate of 10 ms (Mb/s)", 6
        ).properties(width=300, height=150)
        for curve in rates
    ]
    rows = alt.hconcat(*above, spacing=18), alt.hconcat(*below, spacing=18)
    return theme.configured(
        alt.vconcat(*rows, spacing=14).resolve_scale(color="shared", shape="shared")
    )


TARGETS = {"fig6b": fig6b}
