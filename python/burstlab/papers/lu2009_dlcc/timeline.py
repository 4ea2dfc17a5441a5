"""Figure 1: the time line of one congestion loss, from a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burstlab.papers.lu2009_dlcc.link import COLOURS
from burstlab.plot import DotAxes, NamedPoint, dot_chart, dot_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.results import Result

_PS = 1e-12

#: Events 1 to 5 of the paper's time line, each counted from the first, by T_0 to T_3.
_EVENTS: tuple[tuple[str, tuple[int, int, int, int]], ...] = (
    ("1, the core drops a slot", (0, 0, 0, 0)),
    ("2, the edge hears of it", (0, 1, 0, 0)),
    ("3, the sender halves its window", (1, 1, 0, 0)),
    ("4, the receiver repeats its ACK", (0, 0, 1, 1)),
    ("5, the edge has dropped three and lets one pass", (0, 1, 2, 2)),
)

_BY_DELAYS = "by the delays T_0 to T_3 of Figure 1"


def fig1(context: Context) -> Findings:
    """Follow the first slot that is lost by congestion through Figure 1."""
    findings, results = Findings(), context.runs()
    context.used_seed = context.used_seed or 1
    delays = [float(delay) for delay in context.plan["delays_s"]]
    times = _times(results["DLCC"])
    findings.measures["ACKs that the edge dropped"] = int(
        results["DLCC"].replications[0].ops["acks_filtered"]
    )
    points: list[NamedPoint] = []
    panel = "time since the loss (ms)"
    late: list[float] = []
    for (event, parts), at in zip(_EVENTS, times, strict=True):
        light = sum(part * delay for part, delay in zip(parts, delays, strict=True))
        label = f"event {event} (ms)"
        context.tell(findings, label, 1e3 * (at - times[0]))
        late.append(1e3 * (at - times[0] - light))
        findings.measures[f"event {event[0]}: later than light (ms)"] = late[-1]
        points.append(NamedPoint(panel, event, "simulated", 1e3 * (at - times[0])))
        points.append(NamedPoint(panel, event, _BY_DELAYS, 1e3 * light))
    findings.measures["largest delay behind light (ms)"] = max(late)
    findings.measures["least delay behind light (ms)"] = min(late)
    _halvings(findings, results)
    # The simulated event comes last and is drawn on top.
    points.sort(key=lambda one: one.series, reverse=False)
    axes = DotAxes({_BY_DELAYS: COLOURS[1], "simulated": COLOURS[0]}, width=420)
    findings.charts[context.target] = dot_chart(points, axes)
    findings.data[context.target] = dot_rows(points)
    return findings


def _halvings(findings: Findings, results: Mapping[str, Result]) -> None:
    """Note when the sender halves its window, with OPS ACKs and without."""
    halved: dict[str, float] = {}
    for name, result in results.items():
        row = _first(result, "ledger")
        halved[name] = 1e3 * _PS * (row["t_ps"] - row["lost_ps"])
        findings.measures[f"{name}: window halved after (ms)"] = halved[name]
    findings.measures["halved without DLCC over with it"] = halved["without"] / halved["DLCC"]


def _first(result: Result, table: str) -> dict[str, Any]:
    return result.replications[0].tables[table].head(1).to_pylist()[0]


def _times(result: Result) -> list[float]:
    """Return when the five events were, in s."""
    halved = _first(result, "ledger")
    if halved["kind"] != "edge-retransmit":
        raise ValueError(f"the first recovery began by {halved['kind']}, not by ACKs of the edge")
    dropped, asked = halved["lost_ps"], halved["seq"] - 1
    packets = result.replications[0].tables["packets"]
    names = ("kind", "seq", "sent_ps", "egress_ps", "cause")
    columns = [packets.column(name).to_pylist() for name in names]
    # ACKs that ask for the segment: the edge's own, which are at it as they are sent, and behind
    # them the receiver's, of which it drops some.
    acks = [
        (sent, there, cause == "filtered")
        for kind, number, sent, there, cause in zip(*columns, strict=True)
        if kind == "ack" and number == asked and sent > dropped
    ]
    edge = min(sent for sent, there, _ in acks if sent == there)
    repeated = min(sent for sent, _, filtered in acks if filtered)
    passes = min(there for sent, there, filtered in acks if sent > repeated and not filtered)
    return [_PS * time for time in (dropped, edge, halved["t_ps"], repeated, passes)]


TARGETS = {"fig1": fig1}
