"""Moderate load between each pair of nodes: what contention, and what delay, it makes."""

from __future__ import annotations

from burstlab.papers.shihada2006_vegas.measured import by_group, throughput
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Sample, round_trip_s, run_grid


def load(context: Context) -> Findings:
    """Send the flow through a network full of background bursts."""
    plan, findings = context.plan, Findings()
    (name,) = [one["label"] for one in plan["grid"]["series"]]
    corners = run_grid(
        context, "grid", lambda corner: [corner.mean(name, round_trip_s), corner.mean(name, _met)]
    )
    curves: list[Curve] = []
    colours = (theme.SERIES[0], theme.SERIES[1])
    for (group, points), colour in zip(by_group(corners).items(), colours, strict=False):
        dots: list[Dot] = []
        for label, corner in points.items():
            start = f"{label}, {group}"
            trips = corner.mean(name, round_trip_s)
            found = {
                "average round-trip time (s)": trips,
                "attempts that met contention, per burst": corner.mean(name, _met),
                "throughput (segments/s)": corner.mean(name, throughput),
                "bursts of others lost": corner.mean(name, _others),
            }
            for what, estimate in found.items():
                context.tell(findings, f"{start}: {what}", estimate)
            scaled = None if trips.ci95 is None else 1e3 * trips.ci95
            dots.append(Dot(corner.x, 1e3 * trips.mean, scaled, trips.n))
        curves.append(Curve(f"{group}, simulated", colour, dots))
    places = sorted({corner.x for corner in corners})
    ends_y = [1e3 * value for value in plan["printed_s"].values()]
    # The paper prints a round trip without a load.
    levels = [Dot(x, y) for y in ends_y for x in places]
    name = f"published for no load: {ends_y[0]:g} bare, {ends_y[-1]:g} with retransmission"
    curves.append(Curve(name, theme.INK, levels, "placed"))
    axes = Axes(
        "load of each pair of nodes (Erlang)",
        "average round-trip time (ms)",
        domain=(min(ends_y) - 1.0, max(ends_y) + 1.0),
        width=620,
        columns=1,
    )
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _met(sample: Sample) -> float:
    data = sample.network["data"]
    met = data["resolutions"]["contentions"] + data["resolutions"]["injected"]
    return float(met) / float(data["bursts"])


def _others(sample: Sample) -> float:
    return float(sample.network["background"]["burst_loss_ratio"])


TARGETS = {"load": load}
