"""Time-sequence diagrams: the packets that a sender sends and receives, and its time-outs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstlab.errors import InputError
from burstlab.export.capture import DATA
from burstlab.export.flows import Flows
from burstlab.export.heard import heard
from burstlab.plot import theme

if TYPE_CHECKING:
    from burstlab.results import Result

#: Most marks of a figure; more would hide each other, and take Vega long.
MOST_MARKS = 30_000

_SEGMENTS = (
    theme.Sign("first transmission", theme.FIRST, "square"),
    theme.Sign("retransmission", theme.AGAIN, "triangle-up"),
    theme.Sign("lost", theme.LOST, "cross"),
)
_ACKED = theme.Sign("acknowledged", theme.CUT, theme.SOLID)

#: The truth of a time-out: it follows the loss of one burst, of several, or of none.
_TIMEOUTS = {
    "false": theme.Sign("false time-out", theme.FALSE, theme.DASHED),
    "true": theme.Sign("true time-out", theme.TIMEOUT, theme.SOLID),
    "spurious": theme.Sign("spurious time-out", theme.MUTED, theme.DOTTED),
}


@dataclass(frozen=True)
class Span:
    """A part of time, in seconds; without an end all of the run."""

    start_s: float = 0.0
    end_s: float | None = None

    def holds(self, t_s: float) -> bool:
        """Whether an instant lies in it.

        Parameters
        ----------
        t_s
            The instant, in seconds.

        Returns
        -------
        bool
            True from ``start_s`` to ``end_s``, both included.
        """
        return self.start_s <= t_s and (self.end_s is None or t_s <= self.end_s)


def sequence_rows(
    result: Result, flow: int = 0, span: Span | None = None, *, replication: int = 0
) -> list[dict[str, Any]]:
    """Return the segments that a sender sends and the ACKs that it receives.

    Parameters
    ----------
    result
        A run that traced ``packets``.
    flow, replication
        Which sender.
    span
        The part of time; by default all of it.

    Returns
    -------
    list of dict
        ``t_s`` in seconds, ``segment``, ``kind``, and ``again``: how a lost segment was sent, else
        empty.
    """
    span = span or Span()
    _ = Flows(result, replication)[flow]
    rows: list[dict[str, Any]] = []
    acked = 0
    for sight in heard(result, flow, replication):
        t_s = sight.time_ps * 1e-12
        if span.end_s is not None and t_s > span.end_s:
            break
        if sight.kind != DATA:
            acked = max(acked, sight.seq + 1)
            if span.holds(t_s):
                rows.append({"t_s": round(t_s, 9), "segment": acked, "kind": "ACK", "again": ""})
        elif span.holds(t_s):
            again = sight.transmission > 1
            kind = "retransmission" if again else "first transmission"
            lost = sight.fate == "lost"
            shown = {"kind": "lost" if lost else kind, "again": kind if lost else ""}
            rows.append({"t_s": round(t_s, 9), "segment": sight.seq, **shown})
    if len(rows) > MOST_MARKS:
        raise InputError(
            f"{len(rows):,} packets are more than a figure can show\n"
            "  fix: choose a shorter time with --start and --end"
        )
    if not rows:
        raise InputError(
            f"flow {flow} sends nothing in this time\n  fix: give another --start and --end"
        )
    return rows


def timeout_rows(
    result: Result, flow: int, span: Span, *, replication: int = 0
) -> list[dict[str, Any]]:
    """Return the time-outs of a flow with their truth; empty if the ledger was not recorded.

    Parameters
    ----------
    result
        A run.
    flow, replication
        Which sender.
    span
        The part of time.

    Returns
    -------
    list of dict
        ``t_s`` in seconds, ``truth``, and ``lost``: the number of missing segments.
    """
    if "ledger" not in result.recorded:
        return []
    table = result.ledger.where(replication=replication, flow=flow, kind="timeout")
    found = zip(table.seconds("t_ps"), table["truth"], table["lost_packets"], strict=True)
    return [
        {"t_s": round(float(t), 9), "truth": truth, "lost": int(lost)}
        for t, truth, lost in found
        if span.holds(float(t))
    ]


def sequence_chart(
    result: Result,
    flow: int = 0,
    *,
    start_s: float = 0.0,
    end_s: float | None = None,
    replication: int = 0,
    width: int = 680,
    height: int = 380,
) -> Any:
    """Draw segment numbers over time, with ACKs, losses, retransmissions and time-outs.

    Parameters
    ----------
    result
        A run that traced ``packets``; with ``ledger`` time-outs are drawn by their truth.
    flow, replication
        Which sender.
    start_s, end_s
        The part of time.
    width, height
        In points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    span = Span(start_s, end_s)
    rows = sequence_rows(result, flow, span, replication=replication)
    timeouts = timeout_rows(result, flow, span, replication=replication)
    facts = Flows(result, replication)[flow]
    sent = [row for row in rows if row["kind"] != "ACK"]
    kinds = {row["kind"] for row in sent}
    legend = theme.Legend(
        [*(sign for sign in _SEGMENTS if sign.name in kinds), _ACKED, *timeout_signs(timeouts)]
    )
    x = time_axis("t_s", rows, span)
    y = alt.Y("segment:Q", title="segment", scale=alt.Scale(zero=False, nice=False, padding=8))
    acks = [row for row in rows if row["kind"] == "ACK"]
    line = legend.lines(acks, ["t_s", "segment"], _ACKED.name).encode(x=x, y=y)
    few = len(sent) < 1500
    marks = (
        alt.Chart(theme.inline(sent, ["t_s", "segment", "kind", "again"]))
        .transform_calculate(sign="datum.kind")
        .mark_point(filled=True, opacity=1, strokeWidth=0, clip=True)
        .encode(
            x=x,
            y=y,
            color=legend.colour(),
            shape=legend.shape(),
            size=alt.condition(
                alt.datum.kind == "first transmission",
                alt.value(11 if few else 5),
                alt.value(42 if few else 26),
            ),
            tooltip=["segment:Q", "kind:N", "again:N", alt.Tooltip("t_s:Q", title="time (s)")],
        )
    )
    rules = timeout_layers(timeouts, legend, x)
    title = f"flow {flow} ({facts.label})"
    chart = alt.layer(*rules, line, marks)
    return theme.configured(chart.properties(width=width, height=height, title=title))


def timeout_signs(timeouts: list[dict[str, Any]]) -> list[theme.Sign]:
    """Return how the time-outs that there are look."""
    found = {row["truth"] for row in timeouts}
    return [sign for truth, sign in _TIMEOUTS.items() if truth in found]


def timeout_layers(timeouts: list[dict[str, Any]], legend: theme.Legend, x: Any) -> list[Any]:
    """Draw time-outs as lines from top to bottom, by their truth."""
    import altair as alt

    layers: list[Any] = []
    for truth, sign in _TIMEOUTS.items():
        rows = [row for row in timeouts if row["truth"] == truth]
        if rows:
            tips = [alt.Tooltip("t_s:Q", title="time (s)"), alt.Tooltip("lost:Q", title="lost")]
            layer = legend.rules(rows, ["t_s", "truth", "lost"], sign.name)
            layers.append(layer.encode(x=x, tooltip=[alt.Tooltip("sign:N", title=" "), *tips]))
    return layers


def time_axis(name: str, rows: list[dict[str, Any]], span: Span, *, title: bool = True) -> Any:
    """Return the axis of time, over the part that was asked for."""
    import altair as alt

    end = span.end_s if span.end_s is not None else max(row[name] for row in rows)
    scale = alt.Scale(domain=[span.start_s, end], nice=False)
    axis = alt.Axis(labelFlush=False, tickCount=8)
    return alt.X(f"{name}:Q", title="time (s)" if title else None, scale=scale, axis=axis)
