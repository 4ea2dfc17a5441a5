"""Figures 8 to 12: forty flows over slots, simulated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from burstlab.papers.lu2009_dlcc.link import COLOURS, RTT
from burstlab.plot import Axes, Curve, CurvePanel, Dot
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95, paired_ratio

SHARE = "share of the link that UDP takes, R"

#: The paper's "without DLCC": a network without any control.
BASE = "neither"


def fig8(context: Context) -> Findings:
    """Measure the goodput against the round-trip time."""
    return _goodput(context, RTT)


def fig9(context: Context) -> Findings:
    """Measure the loss rate against the round-trip time."""
    findings, found = Findings(), corners(context)
    loss = lost(context)
    tell(context, findings, found, "loss rate (kb/s)", loss)
    for name in found[0].samples:
        findings.measures[f"{name}: largest loss rate over least"] = spread(found, name, loss)
        shares = [corner.mean(name, _loss_ratio).mean for corner in found]
        findings.measures[f"{name}: largest share of slots lost"] = max(shares)
    for other in (BASE, "smoothed"):
        compare(findings, found, "loss rate", ("DLCC", other), loss)
    axes = replace(_axes(context, RTT, "loss rate (kb/s)"), log_y=True)
    findings.draw(context.target, [CurvePanel("", _curves(found, loss))], axes)
    return findings


def fig10(context: Context) -> Findings:
    """Measure the extra edge buffer against the round-trip time."""
    return _extra(context, RTT)


def fig11(context: Context) -> Findings:
    """Measure the goodput against the share of UDP."""
    return _goodput(context, SHARE)


def fig12(context: Context) -> Findings:
    """Measure the extra edge buffer against the share of UDP."""
    return _extra(context, SHARE)


def corners(context: Context, table: str = "grid") -> list[Corner]:
    """Run a grid of the plan, or of the target with the same runs, unless it has been run."""
    whose: str = context.plan.get("runs_of", context.target)
    key = f"{whose} {table} {context.effort} {context.seed}"
    if key not in context.kept:
        other = replace(context, target=whose)
        done = run_grid(other, table, lambda _: [])
        context.kept[key] = done, other.used_seed, list(other.fingerprints)
    done, context.used_seed, fingerprints = context.kept[key]
    context.fingerprints[:] = fingerprints
    return done


def carried(context: Context) -> Metric:
    """Megabits carried through the network less those dropped, a second, after the warm-up."""
    bits = 1e-6 * float(context.plan["slot_bits"])

    def goodput(sample: Sample) -> float:
        measured = sample.ops["measured"]
        return bits * measured["delivered"] / float(measured["time_s"])

    return goodput


def lost(context: Context) -> Metric:
    """Kilobits dropped a second, after the warm-up."""
    bits = 1e-3 * float(context.plan["slot_bits"])

    def loss(sample: Sample) -> float:
        measured = sample.ops["measured"]
        return bits * measured["dropped"] / float(measured["time_s"])

    return loss


def buffered(sample: Sample) -> float:
    """Kilobits that wait at the edge above those at the first notification, on average."""
    return 1e-3 * float(sample.ops["extra_buffer_mean_bits"])


def timeouts(sample: Sample) -> float:
    """Time-outs of all flows."""
    return float(sum(flow["timeouts"] for flow in sample.summary["flows"]))


def _carried_whole(context: Context) -> Metric:
    """As `carried`, of the whole run."""
    bits = 1e-6 * float(context.plan["slot_bits"])
    return lambda one: bits * one.ops["slots_delivered"] / one.summary["simulated_s"]


def _loss_ratio(sample: Sample) -> float:
    measured = sample.ops["measured"]
    return float(measured["dropped"]) / float(measured["sent"])


def _buffered_whole(sample: Sample) -> float:
    return 1e-3 * float(sample.ops["extra_buffer_whole_bits"])


def _frozen(sample: Sample) -> float:
    edges = sample.ops["edges"]
    frozen = sum(edge["frozen"] for edge in edges)
    return frozen / max(frozen + sum(edge["requests"] for edge in edges), 1)


def _goodput(context: Context, x: str) -> Findings:
    findings, found = Findings(), corners(context)
    goodput = carried(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    tell(context, findings, found, "goodput, start included (Mb/s)", _carried_whole(context))
    for pair in (
        ("DLCC", BASE),
        (BASE, "DLCC"),
        ("DLCC", "smoothed"),
        ("smoothed", "DLCC"),
        ("DLCC", "no OPS ACKs"),
    ):
        compare(findings, found, "goodput", pair, goodput)
    for name in found[0].samples:
        findings.measures[f"{name}: last goodput over first"] = _ends(found, name, goodput)
        means = [corner.mean(name, goodput).mean for corner in found]
        findings.measures[f"{name}: rises from one point to the next"] = _rises(means)
        findings.measures[f"{name}: time-outs at the last point"] = found[-1].mean(name, timeouts)
    rate = max(corner.mean(BASE, goodput).mean for corner in found)
    findings.measures["link over goodput of neither, where that is most"] = 55.0 / rate
    axes = _axes(context, x, "goodput (Mb/s)")
    gains = [dot(corner.x, corner.ratio("DLCC", BASE, goodput)) for corner in found]
    gain = Curve(f"DLCC over {BASE}", COLOURS[-1], gains)
    low, high = context.plan.get("printed_gain", (0.0, 0.0))
    shaded = f", shaded: {low:g} to {high:g} times, published" if high else ""
    title = f"Gain of DLCC{shaded}"
    band = (low, high) if high else None
    panels = [
        CurvePanel("Goodput", _curves(found, goodput)),
        CurvePanel(title, [gain], y=f"goodput over {BASE}", band=band),
    ]
    findings.draw(context.target, panels, axes)
    return findings


def _extra(context: Context, x: str) -> Findings:
    findings, found = Findings(), corners(context)
    measures = findings.measures
    curves: list[Curve] = []
    frozen: list[float] = []
    for name in ("DLCC", "no OPS ACKs"):
        label = "extra edge buffer (kbit)"
        tell(context, findings, found, label, buffered, (name,))
        tell(context, findings, found, f"{label}, start included", _buffered_whole, (name,))
        spans = zip(_decades(found[-1], name), _decades(found[0], name), strict=True)
        span = mean_ci95([last - first for last, first in spans])
        measures[f"{name}: decades from the first point to the last"] = span
        typical = [mean_ci95(_decades(corner, name)).mean for corner in found]
        measures[f"{name}: falls from one point to the next"] = _rises(typical[::-1])
        for corner, value in zip(found, typical, strict=True):
            label = f"{name}, {corner.label}: extra edge buffer, geometric mean of runs (kbit)"
            context.tell(findings, label, 10.0**value)
            frozen.append(max(corner.values(name, _frozen)))
        colour = COLOURS[list(found[0].samples).index(name)]
        look = "runs-open" if curves else "runs"
        curves.append(Curve(f"{name}, a run", colour, _runs(found, name, len(curves)), look))
    measures["largest share of time frozen"] = max(frozen)
    added = [
        [a - b for a, b in zip(_decades(c, "DLCC"), _decades(c, "no OPS ACKs"), strict=True)]
        for c in found
    ]
    each = [sum(values) / len(values) for values in zip(*added, strict=True)]
    measures["decades that OPS ACKs add, mean of all points"] = mean_ci95(each)
    axes = replace(_axes(context, x, "extra edge buffer of a run (kbit)"), log_y=True)
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _decades(corner: Corner, name: str) -> list[float]:
    """Return the logarithm of the extra buffer of each run: one long freeze outweighs a mean."""
    return [math.log10(max(value, 1e-3)) for value in corner.values(name, buffered)]


def _ends(found: Sequence[Corner], name: str, metric: Metric) -> Estimate:
    """Return the last point over the first, replication by replication."""
    return paired_ratio(found[-1].values(name, metric), found[0].values(name, metric))


def spread(found: Sequence[Corner], name: str, metric: Metric) -> Estimate:
    """Return the point with the largest mean over that with the least."""
    means = [corner.mean(name, metric).mean for corner in found]
    most, least = found[means.index(max(means))], found[means.index(min(means))]
    return paired_ratio(most.values(name, metric), least.values(name, metric))


def _rises(values: Sequence[float]) -> int:
    return sum(b > a for a, b in itertools.pairwise(values))


def tell(
    context: Context,
    findings: Findings,
    found: Sequence[Corner],
    what: str,
    metric: Metric,
    names: Sequence[str] | None = None,
) -> None:
    """Note a number of every series at every point."""
    for corner in found:
        place = ", ".join(part for part in (corner.group, corner.label) if part)
        for name in names or corner.samples:
            value = corner.mean(name, metric)
            label = f"{name}, {place}: {what}"
            context.tell(findings, label, value)


def compare(
    findings: Findings,
    found: Sequence[Corner],
    what: str,
    pair: tuple[str, str],
    metric: Metric,
) -> None:
    """Note the ratio of two series, seed by seed, and where it is least and largest."""
    series, over = pair
    ratios: list[Estimate] = []
    for corner in found:
        place = ", ".join(part for part in (corner.group, corner.label) if part)
        ratios.append(corner.ratio(series, over, metric))
        findings.measures[f"{place}: {what}, {series} over {over}"] = ratios[-1]
    key = [ratio.mean if math.isfinite(ratio.mean) else math.inf for ratio in ratios]
    findings.measures[f"least {what}, {series} over {over}"] = ratios[key.index(min(key))]
    findings.measures[f"largest {what}, {series} over {over}"] = ratios[key.index(max(key))]


def _curves(found: Sequence[Corner], metric: Metric) -> list[Curve]:
    """Return the series, with their intervals."""
    return [
        Curve(name, COLOURS[i], [dot(c.x, c.mean(name, metric)) for c in found], "measured")
        for i, name in enumerate(found[0].samples)
    ]


def _axes(context: Context, x: str, y: str) -> Axes:
    """Return axes with a tick at each point of the grid, those that an effort leaves out too."""
    whose: str = context.plan.get("runs_of", context.target)
    points = context.paper.plans[whose]["grid"]["points"]
    return Axes(x, y, ticks=[float(one["x"]) for one in points])


def _runs(found: Sequence[Corner], name: str, place: int) -> list[Dot]:
    """Return a point for each run, the second series to the right of the first.

    The runs of a corner stand side by side, in their order, so that none hides another.
    """
    width = (found[-1].x - found[0].x) / 40.0
    dots: list[Dot] = []
    for corner in found:
        values = corner.values(name, buffered)
        for number, value in enumerate(values):
            aside = place - 1.0 + (number + 0.5) / len(values)
            dots.append(Dot(corner.x + aside * width, max(value, 1e-3)))
    return dots


def dot(x: float, value: Estimate) -> Dot:
    """Return a measured point."""
    return Dot(float(x), value.mean, value.ci95, value.n)


TARGETS = {"fig8": fig8, "fig9": fig9, "fig10": fig10, "fig11": fig11, "fig12": fig12}
