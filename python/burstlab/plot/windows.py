"""The windows of a sender over time, and its round trips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from burstlab.errors import InputError
from burstlab.export.flows import Flows
from burstlab.plot import theme
from burstlab.plot.sequence import (
    MOST_MARKS,
    Span,
    time_axis,
    timeout_layers,
    timeout_rows,
    timeout_signs,
)

if TYPE_CHECKING:
    from burstlab.results import Result

_WINDOWS = (
    theme.Sign("in flight", theme.PENDING, theme.SOLID),
    theme.Sign("ssthresh", theme.AGAIN, theme.DASHED),
    theme.Sign("cwnd", theme.FIRST, theme.SOLID),
)
_CUT = theme.Sign("fast retransmit", theme.CUT, "triangle-down")
_TIMES = (
    theme.Sign("measured", theme.MUTED, "circle"),
    theme.Sign("shortest", theme.CUT, theme.DASHED),
    theme.Sign("smoothed", theme.FIRST, theme.SOLID),
)


def window_rows(
    result: Result, flow: int = 0, span: Span | None = None, *, replication: int = 0
) -> list[dict[str, Any]]:
    """Return the state of a sender after each event.

    Parameters
    ----------
    result
        A run that traced ``cwnd``.
    flow, replication
        Which sender.
    span
        The part of time; by default all of it.

    Returns
    -------
    list of dict
        ``t_s`` in seconds, ``event``, windows in segments, and round trips in ms; None if unknown.
    """
    span = span or Span()
    _ = Flows(result, replication)[flow]
    table = result.cwnd.where(replication=replication, flow=flow)
    rows: list[dict[str, Any]] = []
    for row in table.to_pylist():
        t_s = row["t_ps"] * 1e-12
        if not span.holds(t_s):
            continue
        rows.append(
            {
                "t_s": round(t_s, 9),
                "event": row["event"],
                "cwnd": row["cwnd"],
                "ssthresh": row["ssthresh"],
                "in flight": row["in_flight"],
                "measured": _ms(row["sample_ps"]),
                "smoothed": _ms(row["srtt_ps"]),
                "shortest": _ms(row["base_rtt_ps"]),
            }
        )
    if not rows:
        raise InputError(
            f"nothing happens to flow {flow} in this time\n  fix: give another --start and --end"
        )
    if len(rows) > MOST_MARKS:
        raise InputError(
            f"{len(rows):,} events are more than a figure can show\n"
            "  fix: choose a shorter time with --start and --end"
        )
    return rows


def window_chart(
    result: Result,
    flow: int = 0,
    *,
    start_s: float = 0.0,
    end_s: float | None = None,
    replication: int = 0,
    width: int = 680,
    height: int = 230,
) -> Any:
    """Draw cwnd, ssthresh and the segments in flight, with the round-trip times below.

    Parameters
    ----------
    result
        A run that traced ``cwnd``; with ``ledger`` time-outs are drawn by their truth.
    flow, replication
        Which sender.
    start_s, end_s
        The part of time.
    width, height
        Of the upper panel, in points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    span = Span(start_s, end_s)
    rows = window_rows(result, flow, span, replication=replication)
    timeouts = timeout_rows(result, flow, span, replication=replication)
    title = f"flow {flow} ({Flows(result, replication)[flow].label})"
    upper = alt.layer(*_windows(rows, timeouts, span))
    lower = alt.layer(*_round_trips(rows, span))
    panels = [
        upper.properties(width=width, height=height, title=title),
        lower.properties(width=width, height=height // 2),
    ]
    chart = alt.vconcat(*panels, spacing=10)
    return theme.configured(chart.resolve_scale(color="independent", shape="independent"))


def _windows(rows: list[dict[str, Any]], timeouts: list[dict[str, Any]], span: Span) -> list[Any]:
    import altair as alt

    cuts = [row for row in rows if row["event"] == "fast-retransmit"]
    # A third-party host may keep its window to itself.
    present = [sign for sign in _WINDOWS if any(_is_known(row[sign.name]) for row in rows)]
    cuts = [row for row in cuts if _is_known(row["cwnd"])]
    legend = theme.Legend([*present, *([_CUT] if cuts else []), *timeout_signs(timeouts)])
    x = time_axis("t_s", rows, span, title=False)
    scale = alt.Scale(zero=True, nice=True)
    layers = timeout_layers(timeouts, legend, x)
    for sign in present:
        y = alt.Y(f"{sign.name}:Q", title="segments", scale=scale)
        kept = [row for row in rows if _is_known(row[sign.name])]
        layers.append(legend.lines(kept, ["t_s", sign.name], sign.name).encode(x=x, y=y))
    marks = (
        alt.Chart(theme.inline(cuts, ["t_s", "cwnd"]))
        .transform_calculate(sign=f"'{_CUT.name}'")
        .mark_point(filled=True, size=60, opacity=1, strokeWidth=0, clip=True)
        .encode(x=x, y="cwnd:Q", color=legend.colour(), shape=legend.shape())
    )
    return [*layers, legend.layer(), *([marks] if cuts else [])]


def _round_trips(rows: list[dict[str, Any]], span: Span) -> list[Any]:
    import altair as alt

    present = [sign for sign in _TIMES if any(row[sign.name] for row in rows)]
    legend = theme.Legend(present)
    x = time_axis("t_s", rows, span)
    scale = alt.Scale(zero=False, nice=True)
    layers: list[Any] = [legend.layer()]
    for sign in present:
        kept = [row for row in rows if row[sign.name]]
        y = alt.Y(f"{sign.name}:Q", title="round trip (ms)", scale=scale)
        if sign.shape in theme.LINES:
            layer = legend.lines(kept, ["t_s", sign.name], sign.name)
        else:
            layer = (
                alt.Chart(theme.inline(kept, ["t_s", sign.name]))
                .transform_calculate(sign=f"'{sign.name}'")
                .mark_point(filled=True, size=10, opacity=0.8, strokeWidth=0, clip=True)
                .encode(color=legend.colour(), shape=legend.shape())
            )
        layers.append(layer.encode(x=x, y=y))
    return layers


def _ms(ps: int | None) -> float | None:
    """Return a time in milliseconds; none is not drawn."""
    return round(ps * 1e-9, 6) if ps else None


def _is_known(value: float | None) -> bool:
    """Whether a sender has reported a value; NaN and None are not drawn."""
    return value is not None and math.isfinite(value)
