"""Figures 2 to 4: throughput and round trips over the losses of both networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from burstlab.analytic import wlan
from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    TICKS,
    Number,
    assembly_delay,
    away,
    curve,
    dots,
    everything,
    fall,
    gap,
    knee_of,
    largest,
    least,
    log_fall,
    optical_loss,
    over,
    over_label,
    over_measured,
    own_loss,
    precise,
    round_trip,
    share,
    throughput,
    total_loss,
    wireless_loss,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.plot.heat import HeatCell, HeatLine, heat_chart, heat_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate

_TCP = "New-Reno"
_OPTICAL, _WIRELESS = "loss in the optical network", "loss in the wireless network"
_CELL = "wireless loss q"
_MBPS, _MS = "throughput (Mb/s)", "mean round trip (ms)"
_HALF = "q = 1e-2, p = 0: throughput over q = 0"
_KNEE = f"q = 0: {_OPTICAL} at the knee"

#: Corners by nominal loss of the wireless network, then of the optical one.
Surface = Mapping[str, Mapping[str, Corner]]

#: Means by nominal losses of both networks.
Means = Mapping[tuple[str, str], Estimate]


def fig2(context: Context) -> Findings:
    """Measure the surface of throughput."""
    surface, findings = _surface(context), Findings()
    _tell_losses(context, surface, findings)
    means = _means(surface, throughput)
    for (q, p), mean in means.items():
        context.tell(findings, f"q = {q}, p = {p}: {_MBPS}", mean)
    half = share(means["1e-2", "0"], means["0", "0"])
    context.tell(findings, _HALF, half)
    measures, wireless, optical = findings.measures, list(surface), list(surface["0"])
    measures["p = 1e-2, q = 0: throughput over p = 0"] = share(means["0", "1e-2"], means["0", "0"])
    few_p = optical[: optical.index("1e-2") + 1]
    few_q = wireless[: wireless.index("1e-2") + 1]
    measures["least fall of throughput with a step of q, p up to 1e-2"] = least(
        fall(means[a, p], means[b, p]) for a, b in itertools.pairwise(wireless) for p in few_p
    )
    measures["least fall of throughput with a step of p, q up to 1e-2"] = least(
        fall(means[q, a], means[q, b]) for a, b in itertools.pairwise(few_p) for q in few_q
    )
    what = "fall of the logarithm at q = 1e-3 over a tenth of that at 1e-2"
    measures[what] = _as_exponential({q: means[q, "0"] for q in wireless})
    untried = run_grid(context, "untried", everything)
    bare = {corner.label: corner.mean(_TCP, throughput) for corner in untried}
    for q, mean in bare.items():
        context.tell(findings, f"without tries, q = {q}, p = 0: {_MBPS}", mean)
    measures[f"without tries: {what}"] = _as_exponential(bare)
    measures["largest fall over p from 0 to 1e-2, q from 1e-3 to 1e-2"] = largest(
        fall(means[q, "0"], means[q, "1e-2"]) for q in context.plan["minor"]
    )
    measures["least fall over q from 0 to 1e-2, p up to 1e-2"] = least(
        fall(means["0", p], means["1e-2", p]) for p in few_p
    )
    most, carried = largest(means.values()), wlan.tcp_goodput(access="rts", backoffs="shared")
    measures["largest mean over what the cell can carry"] = over(most, carried)
    _draw_surface(context, findings, means)
    return findings


def _as_exponential(over_q: Mapping[str, Estimate]) -> Estimate:
    """Return the fall of the logarithm at 1e-3 over a tenth of that at 1e-2."""
    early, late = (log_fall(over_q["0"], over_q[q]) for q in ("1e-3", "1e-2"))
    return over(share(early, late), 0.1)


def _draw_surface(context: Context, findings: Findings, means: Means) -> None:
    """Draw the measured surface, and next to it the half that is printed."""
    top = means["0", "0"].mean
    cells = [
        HeatCell("measured (Mb/s)", _CELL, p, q, mean.mean, mean.ci95, mean.n)
        for (q, p), mean in means.items()
    ]
    printed = context.published(_HALF)
    halves = {"0": top, "1e-2": None if printed is None else printed * top}
    cells += [
        HeatCell("published", _CELL, "0", q, halves.get(q))
        for q in dict.fromkeys(q for q, _ in means)
    ]
    lines = [HeatLine(_CELL, 0.0, max(mean.mean for mean in means.values()))]
    findings.charts[context.target] = heat_chart(cells, lines, x_title="optical loss p", size=48)
    findings.data[context.target] = heat_rows(cells)


def fig3(context: Context) -> Findings:
    """Measure the cuts of the surface."""
    surface, findings = _surface(context), Findings()
    _tell_losses(context, surface, findings)
    means, plan, measures = _means(surface, throughput), context.plan, findings.measures
    wireless = list(surface)
    for q, p in itertools.product(wireless[: wireless.index("1e-2") + 1], ("5e-3", "5e-2")):
        left = share(means[q, p], means[q, "0"])
        context.tell(findings, f"q = {q}: throughput at p = {p} over p = 0", left)
    measures["least throughput at p = 5e-3 over p = 0, q up to 1e-2"] = least(
        share(means[q, "5e-3"], means[q, "0"]) for q in wireless[: wireless.index("1e-2") + 1]
    )
    measures["q = 3e-3: throughput over q = 0, p = 0"] = share(means["3e-3", "0"], means["0", "0"])
    for q in plan["wireless"]:
        placed = over_measured(
            list(surface[q].values()), _TCP, optical_loss, plan["nothing"]["optical"]
        )
        label = f"q = {q}: {_OPTICAL} at the knee"
        context.tell(findings, label, knee_of(placed, _TCP, plan["knee"]["falls"], optical_loss))
    column = over_label(wireless, [row["0"] for row in surface.values()], 0.0)
    column[0] = plan["nothing"]["wireless"], column[0][1]
    label = f"p = 0: {_WIRELESS} at the knee"
    context.tell(findings, label, knee_of(column, _TCP, plan["knee"]["falls"]))
    _compare_losses(context, surface, findings, means)
    _cuts(context, surface, findings, throughput, _MBPS)
    return findings


def _compare_losses(context: Context, surface: Surface, findings: Findings, means: Means) -> None:
    """Measure what the same loss does in either network, and what losses in both do."""
    measures, plan = findings.measures, context.plan
    for x in plan["same"]:
        label = f"throughput at a loss of {x}: in the cell over in the core"
        context.tell(findings, label, share(means[x, "0"], means["0", x]))
    measures["throughput at the same loss of 1e-3 to 3e-2, cell over core, at most"] = largest(
        share(means[x, "0"], means["0", x]) for x in plan["same"]
    )
    corner = surface["1e-2"]["1e-2"]
    lost = [corner.mean(_TCP, one) for one in (total_loss, wireless_loss, own_loss)]
    added = gap(lost[1], Estimate(-lost[2].mean, lost[2].ci95, lost[2].n))
    context.tell(
        findings,
        "q = p = 1e-2: packets of the flow lost, over q + p",
        share(lost[0], added),
    )
    measures["q = p = 1e-2: the larger of q and p, over q + p"] = share(lost[1], added)
    both = [
        (q, p) for q in surface if q in plan["product"] for p in surface[q] if p in plan["product"]
    ]
    of_both = {
        "product": {
            (q, p): means[q, "0"].mean * means["0", p].mean / means["0", "0"].mean for q, p in both
        },
        "smaller": {(q, p): min(means[q, "0"].mean, means["0", p].mean) for q, p in both},
        "core alone": {(q, p): means["0", p].mean for q, p in both},
        "sum": {(q, p): _at(surface, means, float(q) + float(p)) for q, p in both},
    }
    for name, model in of_both.items():
        label = f"{name}: furthest from the model, losses of 1e-3 to 1e-2 in both"
        worst = largest(away(over(means[at], model[at])) for at in both)
        context.tell(findings, label, worst)
        low = away(over(means["1e-3", "1e-3"], model["1e-3", "1e-3"]))
        findings.measures[f"{name}: away from the model at losses of 1e-3 in both"] = low


def _at(surface: Surface, means: Means, loss: float) -> float:
    """Return throughput at a loss of the cell, p = 0, between those that were run."""
    known = [(float(q), means[q, "0"].mean) for q in surface if float(q) > 0.0]
    for (x, y), (further, below) in itertools.pairwise(known):
        if x <= loss <= further:
            part = math.log(loss / x) / math.log(further / x)
            return math.exp(math.log(y) + part * math.log(below / y))
    raise ValueError(f"no run is beyond a loss of {loss:g}")


def fig4(context: Context) -> Findings:
    """Measure the round trips of the same runs, and those without a queue."""
    surface, findings = _surface(context), Findings()
    means, measures = _means(surface, round_trip), findings.measures
    wireless, optical = list(surface), list(surface["0"])
    few = wireless[: wireless.index("1e-2") + 1]
    few_p = optical[: optical.index("3e-2") + 1]
    for q in few:
        context.tell(findings, f"q = {q}, p = 0: {_MS}", means[q, "0"])
    for p in few_p[1:]:
        context.tell(findings, f"q = 0, p = {p}: {_MS}", means["0", p])
    for p, corner in surface["0"].items():
        context.tell(findings, f"p = {p}: {_OPTICAL}", corner.mean(_TCP, optical_loss))
        context.tell(findings, f"p = {p}: bursts are open (ms)", corner.mean(_TCP, assembly_delay))
    for last in ("1e-3", "1e-2"):
        steps = list(itertools.pairwise(few[: few.index(last) + 1]))
        measures[f"least rise with a step of q up to {last}, p = 0 (ms)"] = least(
            gap(means[b, "0"], means[a, "0"]) for a, b in steps
        )
    measures["largest rise with a step of p up to 3e-2, q up to 1e-2 (ms)"] = largest(
        gap(means[q, b], means[q, a]) for a, b in itertools.pairwise(few_p) for q in few
    )
    ratio = share(means["0", "1e-2"], means["0", "0"])
    measures["p = 1e-2 over p = 0, q = 0: round trip"] = ratio
    measures["q = 1e-3 over q = 0, p = 0: round trip"] = share(means["1e-3", "0"], means["0", "0"])
    open_for = [surface["0"][p].mean(_TCP, assembly_delay) for p in ("1e-2", "0")]
    measures["p = 1e-2 over p = 0: bursts are open"] = share(*open_for)
    bare = {c.label: c.mean(_TCP, round_trip) for c in run_grid(context, "unqueued", everything)}
    for q, mean in bare.items():
        context.tell(findings, f"window of 4, q = {q}, p = 0: {_MS}", mean)
    measures["window of 4: least rise with a step of q up to 1e-2 (ms)"] = least(
        gap(bare[b], bare[a]) for a, b in itertools.pairwise(bare)
    )
    _cuts(context, surface, findings, round_trip, _MS)
    return findings


def _surface(context: Context) -> Surface:
    """Run the grid, once for all figures of it."""
    of = context.plan.get("surface", context.target)
    if "surface" not in context.kept:
        start = len(context.fingerprints)
        corners = run_grid(replace(context, target=of), "grid", precise)
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
    """Add the measured losses of each label."""
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
        over_p.append(
            curve(f"wireless loss q = {float(q):g}", COLOURS[i], dots(placed, _TCP, number))
        )
    over_q: list[Curve] = []
    for i, p in enumerate(plan["optical"], start=len(shown)):
        column = [row[p] for row in surface.values()]
        placed = over_label(list(surface), column, nothing["wireless"])
        over_q.append(
            curve(f"optical loss p = {float(p):g}", COLOURS[i], dots(placed, _TCP, number))
        )
    if number is throughput:
        top = surface["0"]["0"].mean(_TCP, throughput).mean
        half, at = context.paper.published.get(("fig2", _HALF)), context.published(_KNEE)
        if half is not None and at is not None:
            left = (1.0 - plan["knee"]["falls"]) * top
            over_p.append(
                Curve("published: the fall begins", theme.INK, [Dot(at, left)], "placed-x")
            )
            dots_of_half = [Dot(0.01, half * top)]
            over_q.append(Curve("published: half is left", theme.INK, dots_of_half, "published"))
    panels = [
        CurvePanel(f"Over the {_OPTICAL}", over_p, x=f"{_OPTICAL}, p"),
        CurvePanel(f"Over the {_WIRELESS}", over_q, x=f"{_WIRELESS}, q"),
    ]
    axes = Axes("", title, log_x=True, ticks=TICKS, none=nothing["optical"], shared_y=True)
    findings.draw(context.target, panels, axes)


TARGETS = {"fig2": fig2, "fig3": fig3, "fig4": fig4}
