"""Measures and figures of Yu, Qiao, Liu 2004. Every parameter is in the plans of this folder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from burstlab.papers.yu2004_btcp import (
    btcp,
    closed_form,
    correlation,
    detectors,
    gains,
    lossy,
    mechanisms,
    single,
)
from burstlab.plot import Panel, RatioPoint, panel_rows, ratio_chart, trace_chart
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.results import Result
from burstlab.statistics import Estimate


def _flow(result: Result, field: str) -> int:
    return int(result.flows[field][0])


def _goodput(sample: Sample) -> float:
    return float(sample.summary["flows"][0]["goodput_bps"])


def _first_loss_s(result: Result, packet: int = 0) -> float:
    """Find when the first burst with a packet from this number on left the ingress to be lost."""
    packets = result.packets.where(kind="data", fate="lost")
    departed = packets.seconds("departed_ps")[packets["seq"] >= packet]
    return float(np.nanmin(departed))


def _event_times(result: Result, event: str) -> np.ndarray:
    return result.cwnd.where(event=event).seconds("t_ps")


def _acknowledged_until(result: Result, t_s: float) -> int:
    acks = result.cwnd.where(event="ack")
    seen = acks["ack"][acks.seconds("t_ps") <= t_s]
    return int(seen.max()) if len(seen) else 0


def _progress(result: Result, start_s: float, span_s: float) -> int:
    """Count packets acknowledged in order from one instant to another."""
    return _acknowledged_until(result, start_s + span_s) - _acknowledged_until(result, start_s)


def _draw(context: Context, results: Mapping[str, Result], findings: Findings) -> None:
    """Put the packet traces of the runs that the plan wants drawn into the findings."""
    panels = [
        Panel(
            entry["label"],
            results[entry["label"]],
            *entry["draw"],
            published=entry.get("published", ()),
            placed=_placed(entry, results[entry["label"]]),
        )
        for entry in context.plan["runs"]
        if "draw" in entry
    ]
    width = 460 if len(panels) < 3 else 310
    findings.charts[context.target] = trace_chart(
        panels, modulus=context.plan["modulus"], width=width
    )
    findings.data[context.target] = [row for panel in panels for row in panel_rows(panel)]


def _placed(entry: Mapping[str, Any], result: Result) -> list[tuple[float, float]]:
    """Return windows that the paper prints at an event, at the first such event of the run."""
    return [(_instant(result, event), w) for event, w in entry.get("printed", {}).items()]


def _instant(result: Result, event: str) -> float:
    """Find the first loss, time-out, or end of a recovery."""
    if event == "loss":
        return _first_loss_s(result)
    if event == "timeout":
        return float(_event_times(result, "timeout")[0])
    # Recovery ends with an ACK of all that was sent before it began.
    cut = float(_event_times(result, "fast-retransmit")[0])
    packets = result.packets.where(kind="data")
    highest = int(packets["seq"][packets.seconds("sent_ps") <= cut].max())
    acks = result.cwnd.where(event="ack")
    return float(acks.seconds("t_ps")[acks["ack"] >= highest][0])


def fig1(context: Context) -> Findings:
    """Compare Reno at W = 20 and at W = 200, and count which losses W = 200 survives."""
    results = context.runs()
    findings = Findings()
    measures = findings.measures
    for label, result in results.items():
        measures[f"{label}: time-outs"] = _flow(result, "timeouts")
        measures[f"{label}: fast retransmits"] = _flow(result, "fast_retransmits")
        timeouts, cuts = (_event_times(result, event) for event in ("timeout", "fast-retransmit"))
        before = cuts[cuts < timeouts[0]] if len(timeouts) else cuts
        measures[f"{label}: fast retransmits before the time-out"] = len(before)
        if len(timeouts) and len(before):
            gap = float(timeouts[0] - before[-1])
            measures[f"{label}: last fast retransmit to time-out (s)"] = gap
    if "progress_s" in context.plan:
        _compare_with_new_reno(results, context.plan["progress_s"], findings)
    findings.rows = [
        context.row(name, measures[name])
        for name in measures
        if context.published(name) is not None or name.endswith("time-outs")
    ]
    _draw(context, results, findings)
    return findings


def _compare_with_new_reno(
    results: Mapping[str, Result], span_s: float, findings: Findings
) -> None:
    """Compare how far the senders come after the loss at W = 200."""
    done = {
        label: _progress(results[label], _first_loss_s(results[label]), span_s)
        for label in ("W = 200", "W = 200, each hole", "W = 200, New-Reno")
    }
    for label in ("W = 200", "W = 200, each hole"):
        gain = done[label] / done["W = 200, New-Reno"]
        findings.measures[f"{label}: packets after the loss over New-Reno's"] = gain


def one_loss(context: Context) -> Findings:
    """Compare the three variants after one lost burst (Figures 2 and 3)."""
    results = context.runs()
    span_s = context.plan["progress_s"]
    findings = Findings()
    measures = findings.measures
    for label, result in results.items():
        measures[f"{label}: progress"] = _progress(result, _first_loss_s(result), span_s)
        measures[f"{label}: time-outs"] = _flow(result, "timeouts")
        measures[f"{label}: fast retransmits"] = _flow(result, "fast_retransmits")
        findings.rows.append(
            context.row(
                f"{label}: packets acknowledged in the {span_s:g} s after the loss",
                measures[f"{label}: progress"],
            )
        )
        findings.rows.append(context.row(f"{label}: time-outs", measures[f"{label}: time-outs"]))
        measures.update({f"{label}: {name}": value for name, value in _repair(result).items()})
    first, *others = results.values()
    measures["packets in which the three traces differ"] = sum(
        _different_rows(first, other) for other in others
    )
    measures["time-outs, all three"] = sum(_flow(r, "timeouts") for r in results.values())
    _draw(context, results, findings)
    return findings


def _repair(result: Result) -> dict[str, float]:
    """Return what happens from the first fast retransmission to the time-out, or to full repair."""
    cuts, timeouts = (_event_times(result, name) for name in ("fast-retransmit", "timeout"))
    if not len(cuts):
        return {}
    end = float(timeouts[0]) if len(timeouts) else _instant(result, "recovered")
    packets = result.packets.where(kind="data")
    sent = packets.seconds("sent_ps")[packets["transmission"] == 1]
    found = {
        "new packets sent during repair": float(np.sum((sent > cuts[0]) & (sent < end))),
        "repair (s)": end - float(cuts[0]),
    }
    if len(timeouts):
        rows = result.cwnd
        last = int(np.flatnonzero(rows.seconds("t_ps") < end)[-1])
        ratio = rows.seconds("rto_ps")[last] / (15.0 * rows.seconds("srtt_ps")[last])
        found["time-out over 15 round trips"] = float(ratio)
    return found


def _different_rows(a: Result, b: Result) -> int:
    """Count transmissions of data packets that differ in number, time or fate."""
    rows = []
    for result in (a, b):
        packets = result.packets.where(kind="data")
        rows.append(
            set(
                zip(
                    packets["seq"].tolist(),
                    packets["transmission"].tolist(),
                    packets["sent_ps"].tolist(),
                    packets["fate"].tolist(),
                    strict=True,
                )
            )
        )
    return len(rows[0] ^ rows[1])


def fig4a(context: Context) -> Findings:
    """Compare scattered losses with losses back to back."""
    results = context.runs()
    span_s, packet = context.plan["progress_s"], context.plan["back_to_back"]
    findings = Findings()
    measures = findings.measures
    progress: list[int] = []
    timeouts: list[int] = []
    for label, result in results.items():
        at = _first_loss_s(result, packet)
        name = f"{label}: back-to-back losses at (s)"
        context.tell(findings, name, at)
        times = _event_times(result, "timeout")
        timeouts.append(int(np.sum((times > at) & (times <= at + span_s))))
        progress.append(_progress(result, at, span_s))
        findings.rows.append(
            context.row(
                f"{label}: packets acknowledged in the {span_s:g} s after them",
                progress[-1],
            )
        )
    measures["fewest time-outs after the back-to-back losses"] = min(timeouts)
    measures["most over fewest packets after the back-to-back losses"] = (
        max(progress) / min(progress) if min(progress) else math.inf
    )
    _draw(context, results, findings)
    return findings


def fig4b(context: Context) -> Findings:
    """Draw one trace each under random losses, and take the ratios over many runs."""
    results = context.runs()
    findings = Findings()
    _draw(context, results, findings)
    _add_ratios(context, _run(context), findings)
    return findings


def _run(context: Context) -> list[_Cell]:
    """Run the grid; return its corners, each with the ratios over the series of reference."""
    over: str = context.plan["grid"]["over"]

    def ratios(corner: Corner) -> dict[str, Estimate]:
        others = [name for name in corner.samples if name != over]
        return {name: corner.ratio(name, over, _goodput) for name in others}

    corners = run_grid(context, "grid", lambda corner: list(ratios(corner).values()))
    return [(corner, ratios(corner)) for corner in corners]


def table(context: Context) -> Findings:
    """Measure throughput ratios over Reno (Tables I and II)."""
    cells, findings = _run(context), Findings()
    _add_ratios(context, cells, findings)
    _add_shape(cells, findings)
    single.add_gaps(context, findings)
    points = [
        RatioPoint(
            f"{name} / {context.plan['grid']['over']}",
            corner.x,
            estimate.mean,
            estimate.low,
            estimate.high,
            context.published(_label(context, name, corner)),
            estimate.n,
        )
        for name in cells[0][1]
        for corner, ratios in cells
        for estimate in [ratios[name]]
    ]
    findings.charts[context.target] = ratio_chart(
        points,
        x_title="log₁₀ of the burst loss probability",
        y_title="throughput ratio",
    )
    findings.data[context.target] = [
        {
            "series": p.series,
            "log10_p": p.x,
            "published": p.published,
            "measured": p.measured,
            "ci95": p.high - p.measured,
            "n": p.n,
        }
        for p in points
    ]
    short = [corner.label for corner, _ in cells if not corner.reached]
    if short:
        findings.notes.append(
            "The wanted precision was not reached within the limit of replications at log p = "
            + ", ".join(short)
            + "."
        )
    return findings


def _label(context: Context, name: str, corner: Corner) -> str:
    return f"{name}/{context.plan['grid']['over']}, log p = {corner.label}"


#: A corner with its ratios, by series.
_Cell: TypeAlias = tuple[Corner, Mapping[str, Estimate]]


def _add_ratios(context: Context, cells: Sequence[_Cell], findings: Findings) -> None:
    for name in cells[0][1]:
        for corner, ratios in cells:
            label = _label(context, name, corner)
            context.tell(findings, label, ratios[name])
    for corner, _ in cells:
        ratio = corner.ratio("SACK", "New-Reno", _goodput)
        findings.measures[f"SACK/New-Reno, log p = {corner.label}"] = ratio


#: The loss rates that section III-B calls medium: log10 p, from and to.
_MEDIUM = (-2.5, -1.5)


def _add_shape(cells: Sequence[_Cell], findings: Findings) -> None:
    """Add the measures on the shape of the curves."""
    measures = findings.measures
    for corner, ratios in cells:
        far = max(ratios.values(), key=lambda one: abs(one.mean - 1.0))
        gap = Estimate(abs(far.mean - 1.0), far.ci95, far.n)
        measures[f"largest gap from 1 at log p = {corner.label}"] = gap
    medium = [cell for cell in cells if _MEDIUM[0] <= cell[0].x <= _MEDIUM[1]]
    sack = [corner.ratio("SACK", "New-Reno", _goodput) for corner, _ in medium]
    measures["least SACK/New-Reno at medium loss"] = min(sack, key=lambda one: one.low)
    for name in cells[0][1]:
        best, of_best = max(cells, key=lambda cell: cell[1][name].mean)
        measures[f"{name}: log p of the largest ratio"] = best.x
        measures[f"{name}: largest ratio"] = of_best[name]
        of_medium = [ratios[name] for _, ratios in medium]
        measures[f"least {name}/Reno at medium loss"] = min(of_medium, key=lambda one: one.low)
        measures[f"largest {name}/Reno at medium loss"] = max(of_medium, key=lambda one: one.high)


TARGETS = {
    "fig1": fig1,
    "fig2a": one_loss,
    "fig2b": one_loss,
    "fig3": one_loss,
    "fig4a": fig4a,
    "fig4b": fig4b,
    "table1": table,
    "table2": table,
    **btcp.TARGETS,
    **gains.TARGETS,
    **lossy.TARGETS,
    **closed_form.TARGETS,
    **mechanisms.TARGETS,
    "each-hole": fig1,
    **detectors.TARGETS,
    **single.TARGETS,
    **correlation.TARGETS,
}
