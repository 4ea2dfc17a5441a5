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
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, round_trip_s, run_grid
from burstlab.statistics import Estimate, mean_ci95


def readings(context: Context) -> Findings:
    """Vary the window, the time-out, the map and the rules; each with the formula's own values."""
    plan, findings = context.plan, Findings()
    corners = run_grid(context, "grid", means)
    entries = {one["label"]: one for one in plan["grid"]["groups"]}
    measures = findings.measures
    gaps: list[Estimate] = []
    blind: list[Estimate] = []
    dots: dict[str, list[Dot]] = {"bare": [], RESENT: []}
    first = corners[0]
    for place, corner in enumerate(corners, 1):
        taken = {**plan["taken"], **entries[corner.group].get("formula", {})}
        for name in dots:
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
            dots[name].append(Dot(place, ratio.mean, ratio.ci95, ratio.n))
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
    names = ", ".join(f"{i}: {corner.group}" for i, corner in enumerate(corners, 1))
    findings.notes.append(f"Readings, by number: {names}.")
    curves = [
        Curve("bare, over (16)", theme.SERIES[0], dots["bare"]),
        Curve("sent again, over (27)", theme.SERIES[1], dots[RESENT]),
    ]
    axes = Axes(
        "number of the reading",
        "simulated over its formula",
        rule=1,
        ticks=list(range(1, len(corners) + 1)),
        columns=1,
        width=620,
    )
    findings.draw(context.target, [CurvePanel("", curves)], axes)
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
