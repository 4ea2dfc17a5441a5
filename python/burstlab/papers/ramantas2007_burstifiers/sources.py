"""Figure 1, active sources and burst loss, and what the text states of the scenario."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import (
    Corner,
    Seen,
    note_steadiness,
    observe,
)
from burstlab.papers.ramantas2007_burstifiers.shown import (
    COLOURS,
    Corners,
    active,
    at_point,
    dots,
    extreme,
    gap_share,
    less,
    loss,
    published_curve,
    sites,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate

_NODE, _ALL = "active sources of an edge node", "active sources of all edge nodes"


def setup(context: Context) -> Findings:
    """Compare the settings of the scenario with the statements of the text."""
    (corner,) = observe(context)["1 ms"]
    findings = Findings()
    scenario = context.scenario({})
    nodes = {node["name"] for node in corner.seen[0].network["nodes"]}
    edges = {route["from"] for route in corner.seen[0].network["all"]["routes"]}
    context.tell(findings, "edge nodes", len(edges))
    context.tell(findings, "core nodes", len(nodes - edges))
    context.tell(findings, "wavelengths of a link", int(scenario["network"]["wavelengths"]))
    context.tell(findings, "rate of a link (Gb/s)", _number(scenario["network"]["link_rate"]))
    context.tell(findings, "rate of an access link (Mb/s)", _number(scenario["access"]["rate"]))
    rate = corner.mean(lambda one: len(one.begun) / sites(one) / one.measured_s)
    context.tell(findings, "flows that begin at an edge node in a second", rate)
    least = min(float(one.begun.min()) for one in corner.seen)
    context.tell(findings, "smallest file (KB)", least / 1e3)
    context.tell(findings, "mean file (KB)", corner.mean(lambda one: float(one.begun.mean() / 1e3)))
    edge, mean = np.linspace(40, 10_000, 200), corner.seen
    sizes = np.concatenate([one.begun for one in mean]) / 1e3
    shares = [Dot(float(at), float(np.mean(sizes <= at))) for at in edge]
    panels = [CurvePanel("", [Curve("files", COLOURS["1 ms"], shares, "line")])]
    axes = Axes("file size (KB)", "share of files of at most so much", log_x=True)
    findings.draw(context.target, panels, axes)
    return findings


def _number(text: Any) -> float:
    """Return the number of a value with its unit."""
    return float(str(text).split()[0])


def fig1a(context: Context) -> Findings:
    """Count active sources over the mean file size."""
    corners = observe(context)
    findings = Findings()
    for name, row in corners.items():
        for corner in row:
            context.tell(findings, f"{_NODE}: {name}, {corner.point}", corner.mean(active))
        main = at_point(row, context.plan["main"])
        context.tell(findings, f"{_ALL}: {name}, {main.point}", main.mean(_everywhere))
    _compare_timers(context, corners, findings)
    _little(context, corners, findings)
    _steady(context, corners, findings)
    findings.measures["least growth of active sources from one size to the next"] = growth(
        corners, active
    )
    panels = [
        _panel(context, corners, title, of)
        for title, of in (("An edge node", active), ("All edge nodes", _everywhere))
    ]
    ticks = [corner.x for corner in next(iter(corners.values()))]
    axes = Axes("mean file size (MB)", "active sources", log_y=True, ticks=ticks)
    findings.draw(context.target, panels, axes)
    note_steadiness(corners, findings)
    return findings


def _everywhere(one: Seen) -> float:
    return float(one.demand["active"])


def _panel(
    context: Context, corners: Corners, title: str, of: Callable[[Seen], float]
) -> CurvePanel:
    what = _NODE if of is active else _ALL
    curves: list[Curve] = []
    for name, row in corners.items():
        curves.append(Curve(name, COLOURS[name], dots(row, of)))
        main = at_point(row, context.plan["main"])
        printed = context.published(f"{what}: {name}, {main.point}")
        marks = [] if printed is None else [Dot(main.x, printed)]
        curves += published_curve(name, COLOURS[name], marks)
    return CurvePanel(title, curves)


def growth(corners: Mapping[str, Sequence[Corner]], of: Callable[[Seen], float]) -> Estimate:
    """Return the least ratio of a number to that at the size before."""
    ratios = [
        after.over(before, of)
        for row in corners.values()
        for before, after in itertools.pairwise(row)
    ]
    return extreme(ratios, largest=False)


def _compare_timers(context: Context, corners: Corners, findings: Findings) -> None:
    measures = findings.measures
    one, five, ten = corners.values()
    above = [i for i, corner in enumerate(one) if corner.x > context.plan["above"]]
    gaps = [gap_share(a.over(b, active)) for a, b in zip(five, ten, strict=True)]
    measures["largest gap of 5 ms from 10 ms"] = extreme(gaps)
    measures["above 600 KB: largest gap of 5 ms from 10 ms"] = extreme([gaps[i] for i in above])
    small = [gaps[i] for i in range(len(one)) if i not in above]
    measures["up to 600 KB: largest gap of 5 ms from 10 ms"] = extreme(small)
    excess = [less(one[i], other[i], active) for i in above for other in (five, ten)]
    everywhere = [less(one[i], other[i], _everywhere) for i in above for other in (five, ten)]
    measures["above 600 KB: least excess of 1 ms, an edge node"] = extreme(excess, largest=False)
    measures["above 600 KB: least excess of 1 ms, all edge nodes"] = extreme(
        everywhere, largest=False
    )
    main = [at_point(row, context.plan["main"]) for row in corners.values()]
    for name, corner in zip(corners, main, strict=True):
        time = corner.mean(lambda one: float(one.flows["all"].seconds.mean()))
        measures[f"completion time (s): {name}, 700 KB"] = time
        per_node = corner.mean(active)
        label = f"{_NODE} over 50/s times the printed time: {name}"
        printed = context.plan["times_s"].get(name)
        if printed:
            law = context.plan["flows_per_s"] * printed
            measures[label] = Estimate(per_node.mean / law, (per_node.ci95 or 0) / law, per_node.n)


def _law(one: Seen) -> float:
    """Return active sources over arrival rate times time in the network (Little's law)."""
    return float(one.demand["active"]) * one.measured_s / float(one.flows["all"].acknowledged.sum())


def _law_with_ages(one: Seen) -> float:
    """Return the same, with the time that unfinished connections had aged at both ends."""
    seconds = float(one.flows["all"].acknowledged.sum()) + one.aged_s
    return float(one.demand["active"]) * one.measured_s / seconds


def _little(context: Context, corners: Corners, findings: Findings) -> None:
    main = [at_point(row, context.plan["main"]) for row in corners.values()]
    for name, corner in zip(corners, main, strict=True):
        findings.measures[f"active sources over λT: {name}, 700 KB"] = corner.mean(_law)
    for label, law in (
        ("700 KB: largest gap of active sources from λT", _law),
        ("700 KB: largest gap from λT, ages at both ends counted", _law_with_ages),
    ):
        findings.measures[label] = extreme([gap_share(corner.mean(law)) for corner in main])


def _steady(context: Context, corners: Corners, findings: Findings) -> None:
    """Find when the number of active sources first comes to its level."""
    main = {name: at_point(row, context.plan["main"]) for name, row in corners.items()}
    for name, corner in main.items():
        label = f"active sources are steady from (s): {name}, 700 KB"
        context.tell(findings, label, corner.mean(_from))
    for other in ("5 ms", "10 ms"):
        findings.measures[f"700 KB: 1 ms is steady later than {other} by (s)"] = less(
            main["1 ms"], main[other], _from
        )


def _from(one: Seen) -> float:
    """Return when five samples in a row first have 95 % of the mean of the measured time."""
    level = 0.95 * float(one.active.mean()) * sites(one)
    running = np.convolve(one.rise, np.ones(5) / 5, mode="valid")
    return float(np.argmax(running >= level)) + 5.0


def fig1b(context: Context) -> Findings:
    """Measure the burst loss ratio over the mean file size."""
    corners = observe(context)
    findings = Findings()
    curves: list[Curve] = []
    for name, row in corners.items():
        for corner in row:
            context.tell(findings, f"burst loss ratio: {name}, {corner.point}", corner.mean(loss))
        curves.append(Curve(name, COLOURS[name], dots(row, loss)))
        main = at_point(row, context.plan["main"])
        printed = context.published(f"burst loss ratio: {name}, {main.point}")
        marks = [] if printed is None else [Dot(main.x, printed)]
        curves += published_curve(name, COLOURS[name], marks)
    label = "least growth of the burst loss ratio from one size to the next"
    findings.measures[label] = growth(corners, loss)
    ticks = [corner.x for corner in next(iter(corners.values()))]
    axes = Axes("mean file size (MB)", "burst loss ratio", ticks=ticks)
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    note_steadiness(corners, findings)
    return findings


TARGETS = {"setup": setup, "fig1a": fig1a, "fig1b": fig1b}
