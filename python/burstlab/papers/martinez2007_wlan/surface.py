"""Figures 2 to 4: throughput and round trips over the losses of both networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    Number,
    curve,
    dots,
    draw,
    everything,
    knee,
    optical_loss,
    over_label,
    over_measured,
    rise,
    round_trip,
    throughput,
    wireless_loss,
)
from burstlab.plot import Axes, Curve, CurvePanel
from burstlab.plot.heat import HeatCell, HeatLine, heat_chart, heat_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate

_TCP = "New-Reno"
_OPTICAL, _WIRELESS = "loss in the optical network", "loss in the wireless network"
_MBPS = "throughput (Mb/s)"

#: Corners by nominal loss of the wireless network, then of the optical one.
Surface = Mapping[str, Mapping[str, Corner]]


def fig2(context: Context) -> Findings:
    """Measure the surface of throughput."""
    surface, findings = _surface(context), Findings()
    _tell_losses(context, surface, findings)
    measures, means = findings.measures, _means(surface, throughput)
    for (q, p), mean in means.items():
        label = f"q = {q}, p = {p}: {_MBPS}"
        measures[label] = mean
        findings.rows.append(context.row(label, mean))
    wireless, optical = list(surface), list(surface["0"])
    measures["largest rise with q, less its interval (Mb/s)"] = max(
        rise(means[a, p], means[b, p]) for a, b in itertools.pairwise(wireless) for p in optical
    )
    half = surface["1e-2"]["0"], surface["0"]["0"]
    halves = [corner.mean(_TCP, throughput) for corner in half]
    measures["q = 1e-2 over q = 0, p -> 0"] = halves[0].mean / halves[1].mean
    little = optical[: optical.index("1e-2") + 1]
    falls_p = [1 - means[q, "1e-2"].mean / means[q, "0"].mean for q in wireless[3:]]
    falls_q = [1 - means["1e-2", p].mean / means["0", p].mean for p in little]
    measures["largest fall over p from 0 to 1e-2, q from 1e-3 on"] = max(falls_p)
    measures["least fall over q from 0 to 1e-2, p up to 1e-2"] = min(falls_q)
    measures["largest mean (Mb/s)"] = max(mean.mean for mean in means.values())
    measures["q = 3e-4, p = 0 over q = 0: throughput"] = means["3e-4", "0"].mean / halves[1].mean
    cells = [
        HeatCell(_MBPS, "q", p, q, mean.mean, mean.ci95, mean.n) for (q, p), mean in means.items()
    ]
    lines = [HeatLine("q", 0.0, max(mean.mean for mean in means.values()))]
    findings.charts[context.target] = heat_chart(cells, lines, x_title="p", size=52)
    findings.data[context.target] = heat_rows(cells)
    return findings


def fig3(context: Context) -> Findings:
    """Measure the cuts of the surface."""
    surface, findings = _surface(context), Findings()
    _tell_losses(context, surface, findings)
    _cuts(context, surface, findings, throughput, _MBPS)
    plan, measures = context.plan["knee"], findings.measures
    for q in context.plan["wireless"]:
        row = surface[q]
        for p in ("5e-3", "5e-2"):
            ratio = row[p].mean(_TCP, throughput).mean / row["0"].mean(_TCP, throughput).mean
            measures[f"q = {q}: throughput at p = {p} over p -> 0"] = ratio
        points = [
            (c.mean(_TCP, optical_loss).mean, c.mean(_TCP, throughput).mean) for c in row.values()
        ]
        label = f"q = {q}: {_OPTICAL} at the knee"
        measures[label] = knee(points, plan["falls"])
        findings.rows.append(context.row(label, measures[label]))
    return findings


def fig4(context: Context) -> Findings:
    """Measure the round trips of the same runs."""
    surface, findings = _surface(context), Findings()
    _cuts(context, surface, findings, round_trip, "mean round trip (ms)")
    measures, means = findings.measures, _means(surface, round_trip)
    wireless, optical = list(surface), list(surface["0"])
    for q, p in (("0", "0"), ("1e-4", "0"), ("1e-3", "0"), ("1e-2", "0"), ("0", "1e-2")):
        label = f"q = {q}, p = {p}: mean round trip (ms)"
        measures[label] = means[q, p]
        findings.rows.append(context.row(label, means[q, p]))
    few = wireless[: wireless.index("1e-2") + 1]
    measures["least rise with q up to 1e-2, p = 0 (ms)"] = min(
        means[b, "0"].mean - means[a, "0"].mean for a, b in itertools.pairwise(few)
    )
    measures["largest rise with p, less its interval (ms)"] = max(
        rise(means[q, a], means[q, b])
        for a, b in itertools.pairwise(optical[: optical.index("3e-2") + 1])
        for q in few
    )
    return findings


def _surface(context: Context) -> Surface:
    """Run the grid, once for all figures of it."""
    of = context.plan.get("surface", context.target)
    if "surface" not in context.kept:
        start = len(context.fingerprints)
        corners = run_grid(replace(context, target=of), "grid", everything)
        context.kept["surface"] = corners, context.fingerprints[start:]
    else:
        context.fingerprints.extend(context.kept["surface"][1])
    surface: dict[str, dict[str, Corner]] = {}
    for corner in context.kept["surface"][0]:
        surface.setdefault(corner.group, {})[corner.label] = corner
    return surface


def _means(surface: Surface, number: Number) -> dict[tuple[str, str], Estimate]:
    return {
        (q, p): corner.mean(_TCP, number) for q, row in surface.items() for p, corner in row.items()
    }


def _tell_losses(context: Context, surface: Surface, findings: Findings) -> None:
    """Say what the losses were, beside the labels."""
    for q, row in surface.items():
        label = f"q = {q}, p = 0: {_WIRELESS}"
        findings.rows.append(context.row(label, row["0"].mean(_TCP, wireless_loss)))
    for p, corner in surface["0"].items():
        label = f"q = 0, p = {p}: {_OPTICAL}"
        findings.rows.append(context.row(label, corner.mean(_TCP, optical_loss)))


def _cuts(
    context: Context, surface: Surface, findings: Findings, number: Number, title: str
) -> None:
    """Draw a number over each loss, for some of the other."""
    plan, nothing = context.plan, context.plan["nothing"]
    shown: Sequence[str] = plan["wireless"]
    over_p: list[Curve] = []
    for i, q in enumerate(shown):
        placed = over_measured(list(surface[q].values()), _TCP, optical_loss, nothing["optical"])
        over_p.append(curve(f"q = {q}", COLOURS[i], dots(placed, _TCP, number)))
    over_q: list[Curve] = []
    for i, p in enumerate(plan["optical"], start=len(shown)):
        column = [row[p] for row in surface.values()]
        placed = over_label(list(surface), column, nothing["wireless"])
        over_q.append(curve(f"p = {p}", COLOURS[i], dots(placed, _TCP, number)))
    panels = [
        CurvePanel(f"over the {_OPTICAL}", over_p),
        CurvePanel(f"over the {_WIRELESS}", over_q),
    ]
    axes = Axes("loss (left end: none)", title, log_x=True, shared_y=True, width=380)
    draw(context, findings, panels, axes)


TARGETS = {"fig2": fig2, "fig3": fig3, "fig4": fig4}
