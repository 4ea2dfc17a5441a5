"""Details that the paper leaves open: one reading after the other, against the formulas."""

from __future__ import annotations

from burstlab.analytic import shihada
from burstlab.papers.shihada2006_vegas.fast_flow import RESENT
from burstlab.papers.shihada2006_vegas.measured import (
    at_loss_met,
    lost_share,
    means,
    note_precision,
    throughput,
)
from burstlab.plot import DotAxes, NamedPoint, dot_chart, dot_rows, point, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, round_trip_s, run_grid
from burstlab.statistics import Estimate, mean_ci95

#: The axis and the series of the figure.
_PANEL = "throughput, simulated over its formula"
_SERIES = {"bare": "bare, over (16)", RESENT: "sent again, over (27)"}


def readings(context: Context) -> Findings:
    """Vary the window, the time-out, the map and the rules; each with the formula's own values."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", means)
    entries = {one["label"]: one for one in plan["grid"]["groups"]}
    measures = findings.measures
    gaps: list[Estimate] = []
    blind: list[Estimate] = []
    colours = dict(zip(_SERIES.values(), theme.SERIES[:2], strict=True))
    points: list[NamedPoint] = []
    first = corners[0]
    for corner in corners:
        taken = {**plan["taken"], **entries[corner.group].get("formula", {})}
        for name, shown in _SERIES.items():
            ratio = _over_formula(corner, name, taken)
            mean = corner.mean(name, throughput)
            trips = mean_ci95([round_trip_s(one) for one in corner.samples[name]])
            for what, estimate in (
                ("throughput (segments/s)", mean),
                ("over its formula", ratio),
                ("average round-trip time (s)", trips),
            ):
                label = f"{corner.group}, {name}: {what}"
                context.tell(findings, label, estimate)
            points.append(point(_PANEL, corner.group, shown, ratio))
            if not entries[corner.group].get("beyond", False):
                gaps.append(_gap(ratio))
                blind.append(_gap(_over_formula(corner, name, plan["taken"])))
        gain = corner.ratio(RESENT, "bare", throughput)
        context.tell(findings, f"{corner.group}: over bare", gain)
    measures["largest gap from the formulas, over readings"] = max(gaps, key=lambda g: g.mean)
    measures["the same, the formula of one reading for all"] = max(blind, key=lambda g: g.mean)
    measures["least gain of retransmission, over readings"] = min(
        (corner.ratio(RESENT, "bare", throughput) for corner in corners), key=lambda g: g.mean
    )
    measures["the same, bare over retransmission"] = first.ratio("bare", RESENT, throughput)
    findings.charts[context.target] = dot_chart(points, DotAxes(colours, width=420, rule=1))
    findings.data[context.target] = dot_rows(points)
    note_precision(corners, findings)
    return findings


def _over_formula(corner: Corner, name: str, taken: dict[str, float]) -> Estimate:
    window, rtt, rto, pc = (taken[one] for one in ("window", "rtt_s", "rto_s", "pc"))

    def formula(p: float) -> float:
        if name == "bare":
            return float(shihada.bare_throughput(p, window, rtt, rto, goodput=True))
        late = rtt + taken["later_s"]
        args = pc, window, rtt, late, rto, p
        return float(shihada.retransmission_throughput(*args, goodput=True))

    lost = pc if name == "bare" else pc**2
    return mean_ci95(
        [
            throughput(sample) / at_loss_met(formula, lost, lost_share(sample))
            for sample in corner.samples[name]
        ]
    )


def _gap(ratio: Estimate) -> Estimate:
    return Estimate(abs(ratio.mean - 1.0), ratio.ci95, ratio.n)


TARGETS = {"readings": readings}
