"""Packet traces: when each packet left the ingress, and the window that let it go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burstlab.plot import theme
from burstlab.results import Result

_KINDS = ("first transmission", "retransmission", "lost")
_COLOURS = (theme.FIRST, theme.AGAIN, theme.LOST)
_SHAPES = ("circle", "triangle-up", "cross")


@dataclass(frozen=True)
class Panel:
    """One run in a figure: it must have traced packets, bursts and cwnd.

    Attributes
    ----------
    label
        What distinguishes it, above the panel.
    result
        The run.
    """

    label: str
    result: Result


def panel_rows(panel: Panel, start_s: float, end_s: float) -> list[dict[str, Any]]:
    """Answer what a panel draws: one row per packet in a burst.

    The time is that of the burst's departure at the ingress.
    """
    table = panel.result.packets.where(kind="data")
    departed = table.seconds("departed_ps")
    seq, nth = table["seq"], table["transmission"]
    fates, bursts = table["fate"], table.to_arrow().column("burst").to_pylist()
    rows: list[dict[str, Any]] = []
    for i in np.argsort(departed, kind="stable"):
        if np.isnan(departed[i]) or not start_s <= departed[i] <= end_s:
            continue
        lost = fates[i] == "lost"
        kind = "lost" if lost else "retransmission" if nth[i] > 1 else "first transmission"
        rows.append(
            {
                "run": panel.label,
                "departed_s": round(float(departed[i]), 6),
                "packet": int(seq[i]),
                "transmission": int(nth[i]),
                "burst": bursts[i],
                "kind": kind,
            }
        )
    return rows


def window_rows(panel: Panel, start_s: float, end_s: float) -> list[dict[str, Any]]:
    """Answer the congestion window over time, one row per change or event."""
    table = panel.result.cwnd
    t, events, cwnd = table.seconds("t_ps"), table["event"], table["cwnd"]
    rows: list[dict[str, Any]] = []
    last = None
    for i in range(len(t)):
        marked = events[i] in ("timeout", "fast-retransmit")
        value = round(float(cwnd[i]), 4)
        if start_s <= t[i] <= end_s and (marked or value != last):
            rows.append(
                {
                    "run": panel.label,
                    "t_s": round(float(t[i]), 6),
                    "cwnd": value,
                    "event": str(events[i]) if marked else "",
                }
            )
        last = value
    return rows


def trace_chart(
    panels: Sequence[Panel],
    spans_s: Sequence[tuple[float, float]],
    *,
    modulus: int = 60,
    width: int = 310,
) -> Any:
    """Draw packet number (modulo) against departure time, the window beneath, runs side by side.

    Parameters
    ----------
    panels
        The runs.
    spans_s
        The part of time to draw of each: start and end.
    modulus
        Packet numbers are drawn modulo this.
    width
        Width of one panel.
    """
    import altair as alt

    columns = [
        _panel(panel, *span, modulus, width, first=index == 0)
        for index, (panel, span) in enumerate(zip(panels, spans_s, strict=True))
    ]
    return theme.configured(
        alt.hconcat(*columns, spacing=18).resolve_scale(color="shared", shape="shared")
    )


def _panel(
    panel: Panel, start_s: float, end_s: float, modulus: int, width: int, *, first: bool
) -> Any:
    import altair as alt

    packets = panel_rows(panel, start_s, end_s)
    for row in packets:
        row["y"] = row["packet"] % modulus
    windows = window_rows(panel, start_s, end_s)
    timeouts = [{"t_s": row["t_s"]} for row in windows if row["event"] == "timeout"]
    zoom = alt.selection_interval(bind="scales", encodings=["x"])

    def x(name: str, *, titled: bool) -> Any:
        title = "time (s)" if titled else None
        scale = alt.Scale(domain=[start_s, end_s], nice=False)
        return alt.X(f"{name}:Q", title=title, scale=scale)

    rule = alt.Chart(theme.inline(timeouts, ["t_s"])).mark_rule(
        color=theme.TIMEOUT, strokeDash=[4, 3], strokeWidth=1.2, clip=True
    )
    points = (
        alt.Chart(
            theme.inline(packets, ["departed_s", "y", "packet", "transmission", "burst", "kind"])
        )
        .mark_point(filled=True, opacity=0.9, strokeWidth=0.4, clip=True)
        .encode(
            x=x("departed_s", titled=False),
            y=alt.Y(
                "y:Q",
                title=f"packet number mod {modulus}" if first else None,
                scale=alt.Scale(domain=[0, modulus], nice=False),
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(_KINDS), range=list(_COLOURS)),
            ),
            shape=alt.Shape(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(_KINDS), range=list(_SHAPES)),
            ),
            size=alt.condition(alt.datum.kind == "first transmission", alt.value(9), alt.value(34)),
            tooltip=[
                alt.Tooltip("packet:Q"),
                alt.Tooltip("transmission:Q"),
                alt.Tooltip("burst:Q"),
                alt.Tooltip("departed_s:Q", title="departed (s)"),
                alt.Tooltip("kind:N"),
            ],
        )
        .add_params(zoom)
    )
    label = (
        alt.Chart(theme.inline(timeouts, ["t_s"]))
        .mark_text(
            text="time-out",
            color=theme.TIMEOUT,
            angle=270,
            align="right",
            dx=-3,
            dy=-6,
            fontSize=10,
            baseline="middle",
            clip=True,
        )
        .encode(x=x("t_s", titled=False), y=alt.value(0))
    )
    upper = alt.layer(rule.encode(x=x("t_s", titled=False)), points, label).properties(
        width=width, height=270, title=panel.label
    )
    return alt.vconcat(
        upper, _window_panel(windows, rule, x, width, first=first), spacing=6
    ).resolve_scale(x="shared")


def _window_panel(
    windows: list[dict[str, Any]], rule: Any, x: Any, width: int, *, first: bool
) -> Any:
    import altair as alt

    base = alt.Chart(theme.inline(windows, ["t_s", "cwnd", "event"]))
    y = alt.Y("cwnd:Q", title="cwnd (packets)" if first else None, scale=alt.Scale(zero=True))
    line = base.mark_line(
        interpolate="step-after", color=theme.INK, strokeWidth=1.2, clip=True
    ).encode(x=x("t_s", titled=True), y=y)
    cuts = (
        base.transform_filter(alt.datum.event == "fast-retransmit")
        .mark_point(filled=True, shape="triangle-down", size=46, color=theme.AGAIN, clip=True)
        .encode(
            x=x("t_s", titled=True),
            y=y,
            tooltip=[
                alt.Tooltip("event:N"),
                alt.Tooltip("t_s:Q", title="time (s)"),
                alt.Tooltip("cwnd:Q"),
            ],
        )
    )
    return alt.layer(rule.encode(x=x("t_s", titled=True)), line, cuts).properties(
        width=width, height=110
    )
