"""Packet traces: when each packet left the ingress, and the window that let it go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burstlab.documents.parameters import tcp_of
from burstlab.plot import theme
from burstlab.results import Result

#: Kinds of marks: name, colour and shape.
_MARKS = (
    ("first transmission", theme.FIRST, "circle"),
    ("retransmission", theme.AGAIN, "triangle-up"),
    ("lost", theme.LOST, "cross"),
    ("fast retransmit", theme.CUT, "triangle-down"),
    ("time-out", theme.TIMEOUT, "M-0.11,-1L0.11,-1L0.11,1L-0.11,1Z"),
)

_Marks = Sequence[tuple[str, str, str]]

#: Published values, and published windows at instants of ours; in the legend only if there are any.
_PUBLISHED = ("published", theme.INK, theme.PUBLISHED)
_PLACED = ("published, at our instant", theme.INK, theme.PLACED)

#: From this length on the marks are small, so that bursts stay apart.
_LONG_S = 20.0


@dataclass(frozen=True)
class Panel:
    """One run in a figure: it must have traced packets and cwnd.

    Attributes
    ----------
    label
        Its title, above the panel.
    result
        The run.
    start_s
        Begin of the part of time that is drawn.
    end_s
        Its end.
    published
        Published times and windows, in seconds and packets.
    placed
        Published windows at instants of the run, which the paper does not print.
    """

    label: str
    result: Result
    start_s: float
    end_s: float
    published: Sequence[Sequence[float]] = ()
    placed: Sequence[Sequence[float]] = ()

    @property
    def receiver_window(self) -> int:
        """The most packets that the receiver of the first flow allows."""
        scenario = self.result.scenario
        return int(tcp_of(scenario, scenario["flows"][0])["window"])

    def holds(self, t_s: float) -> bool:
        """Whether an instant is drawn.

        Parameters
        ----------
        t_s
            The instant, in seconds.

        Returns
        -------
        bool
            True from ``start_s`` to ``end_s``, both included.
        """
        return self.start_s <= t_s <= self.end_s


def panel_rows(panel: Panel) -> list[dict[str, Any]]:
    """Return one row per packet in a burst; its time is the burst's departure at the ingress.

    Parameters
    ----------
    panel
        A run.

    Returns
    -------
    list of dict
        One row per data packet, with ``t_s`` in seconds.
    """
    table = panel.result.packets.where(kind="data")
    departed = table.seconds("departed_ps")
    seq, nth, fates = table["seq"], table["transmission"], table["fate"]
    bursts = table.column("burst").to_pylist()
    rows: list[dict[str, Any]] = []
    for i in np.argsort(departed, kind="stable"):
        if np.isnan(departed[i]) or not panel.holds(float(departed[i])):
            continue
        again = "retransmission" if nth[i] > 1 else "first transmission"
        rows.append(
            {
                "run": panel.label,
                "departed_s": round(float(departed[i]), 6),
                "packet": int(seq[i]),
                "transmission": int(nth[i]),
                "burst": bursts[i],
                "kind": "lost" if fates[i] == "lost" else again,
            }
        )
    return rows


def window_rows(panel: Panel) -> list[dict[str, Any]]:
    """Return the window over time, one row per change or event.

    The window is the smaller of cwnd and what the receiver allows.
    """
    table = panel.result.cwnd
    t, events, cwnd = table.seconds("t_ps"), table["event"], table["cwnd"]
    names = {"timeout": "time-out", "fast-retransmit": "fast retransmit"}
    rows: list[dict[str, Any]] = []
    last = None
    for i in range(len(t)):
        kind = names.get(events[i], "")
        window = round(min(float(cwnd[i]), panel.receiver_window), 4)
        if panel.holds(float(t[i])) and (kind or window != last or not rows):
            rows.append({"t_s": round(float(t[i]), 6), "window": window, "kind": kind})
        last = window
    if rows:
        rows.append({"t_s": panel.end_s, "window": rows[-1]["window"], "kind": ""})
    return rows


def trace_chart(panels: Sequence[Panel], *, modulus: int = 60, width: int = 310) -> Any:
    """Draw packet numbers (modulo) against departure time, with the window below, for some runs.

    Parameters
    ----------
    panels
        The runs.
    modulus
        Packet numbers are drawn modulo this.
    width
        Width of one panel.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    marks: list[tuple[str, str, str]] = list(_MARKS)
    marks += [_PUBLISHED] if any(panel.published for panel in panels) else []
    marks += [_PLACED] if any(panel.placed for panel in panels) else []
    columns = [
        _column(panel, marks, modulus=modulus, width=width, number=index)
        for index, panel in enumerate(panels)
    ]
    return theme.configured(
        alt.hconcat(*columns, spacing=18).resolve_scale(color="shared", shape="shared")
    )


def _column(panel: Panel, marks: _Marks, *, modulus: int, width: int, number: int) -> Any:
    import altair as alt

    windows = window_rows(panel)
    timeouts = [row for row in windows if row["kind"] == "time-out"]
    rule = (
        alt.Chart(theme.inline(timeouts, ["t_s", "kind"]))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.2, clip=True)
        .encode(color=_colour(marks), tooltip=[alt.Tooltip("t_s:Q", title="time (s)")])
    )
    above = rule.encode(x=_time(panel, "t_s"))
    below = rule.encode(x=_time(panel, "t_s", title="time (s)"))
    upper = alt.layer(above, _packets(panel, marks, modulus, number)).properties(
        width=width, height=270, title=panel.label
    )
    lower = alt.layer(below, *_window(panel, marks, windows, number)).properties(
        width=width, height=110
    )
    return alt.vconcat(upper, lower, spacing=6).resolve_scale(x="shared")


def _packets(panel: Panel, marks: _Marks, modulus: int, number: int) -> Any:
    import altair as alt

    rows = panel_rows(panel)
    for row in rows:
        row["y"] = row["packet"] % modulus
    small, large = (4, 20) if panel.end_s - panel.start_s > _LONG_S else (9, 34)
    zoom = alt.selection_interval(name=f"zoom_{number}", bind="scales", encodings=["x"])
    columns = ["departed_s", "y", "packet", "transmission", "burst", "kind"]
    return (
        alt.Chart(theme.inline(rows, columns))
        .mark_point(filled=True, opacity=0.9, strokeWidth=0.4, clip=True)
        .encode(
            x=_time(panel, "departed_s"),
            y=alt.Y(
                "y:Q",
                title=f"packet number mod {modulus}" if number == 0 else None,
                scale=alt.Scale(domain=[0, modulus], nice=False),
            ),
            color=_colour(marks),
            shape=alt.Shape("kind:N", title=None, scale=_scale(marks, 2)),
            size=alt.condition(
                alt.datum.kind == "first transmission", alt.value(small), alt.value(large)
            ),
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


def _window(panel: Panel, marks: _Marks, rows: list[dict[str, Any]], number: int) -> list[Any]:
    import altair as alt

    base = alt.Chart(theme.inline(rows, ["t_s", "window", "kind"]))
    y = alt.Y(
        "window:Q",
        title="window (packets)" if number == 0 else None,
        scale=alt.Scale(domain=[0, 1.1 * max(row["window"] for row in rows)], nice=True),
    )
    x = _time(panel, "t_s", title="time (s)")
    line = base.mark_line(
        interpolate="step-after", color=theme.MUTED, strokeWidth=1.4, clip=True
    ).encode(x=x, y=y)
    cuts = (
        base.transform_filter(alt.datum.kind == "fast retransmit")
        .mark_point(filled=True, size=46, opacity=1, clip=True)
        .encode(
            x=x,
            y=y,
            color=_colour(marks),
            shape=alt.Shape("kind:N", title=None, scale=_scale(marks, 2)),
            tooltip=[alt.Tooltip("kind:N"), alt.Tooltip("t_s:Q", title="time (s)"), "window:Q"],
        )
    )
    printed = [
        {"t_s": t, "window": w, "kind": kind[0]}
        for kind, found in ((_PUBLISHED, panel.published), (_PLACED, panel.placed))
        for t, w in found
    ]
    places = (
        alt.Chart(theme.inline(printed, ["t_s", "window", "kind"]))
        .mark_point(filled=True, size=220, opacity=1, strokeWidth=0)
        .encode(
            x=x,
            y=y,
            color=_colour(marks),
            shape=alt.Shape("kind:N", title=None, scale=_scale(marks, 2)),
            tooltip=[alt.Tooltip("kind:N"), alt.Tooltip("t_s:Q", title="time (s)"), "window:Q"],
        )
    )
    return [line, cuts, *([places] if printed else [])]


def _time(panel: Panel, name: str, title: str | None = None) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[panel.start_s, panel.end_s], nice=False)
    return alt.X(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(labelFlush=False))


def _colour(marks: _Marks) -> Any:
    import altair as alt

    return alt.Color("kind:N", title=None, scale=_scale(marks, 1))


def _scale(marks: _Marks, place: int) -> Any:
    import altair as alt

    return alt.Scale(domain=[mark[0] for mark in marks], range=[mark[place] for mark in marks])
