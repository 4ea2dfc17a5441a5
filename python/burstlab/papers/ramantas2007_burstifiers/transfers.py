"""Figures 3 and 4: the bursts that a connection needs and loses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import Corner, Flows, Seen, observe
from burstlab.papers.ramantas2007_burstifiers.shown import (
    COLOURS,
    GROUPS,
    Corners,
    cdf_curve,
    less,
    printed_share,
    titled,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import mean_ci95, paired_ratio

_OF_FLOWS = "80 % of the flows have at most so many"


def _counted(flows: Flows, lost: bool) -> np.ndarray:
    return flows.lost if lost else flows.bursts


def _quantile(values: np.ndarray, share: float) -> float:
    """Return the least number that a share does not exceed; not a number of nothing."""
    if not len(values):
        return float("nan")
    return float(np.quantile(values, share, method="inverted_cdf"))


def fig3(context: Context) -> Findings:
    """Count the bursts, or the lost bursts, that a connection needs."""
    lost = context.target == "fig3b"
    corners = observe(context)
    findings = Findings()
    what = "lost bursts" if lost else "bursts"
    panels: list[CurvePanel] = []
    for group, shown in GROUPS.items():
        curves = []
        for name, (corner,) in corners.items():
            _measure_flows(context, findings, (group, shown), name, corner)
            label = f"{shown}, {_OF_FLOWS} {what}: {name}"
            distinct, counts = np.unique(_counted(corner.flows(group), lost), return_counts=True)
            curves.append(cdf_curve(name, distinct, counts.astype(np.float64)))
            curves += printed_share(context, name, label, context.plan["share"])
        panels.append(CurvePanel(titled(shown), curves))
    one, ten = corners["1 ms"][0], corners["10 ms"][0]
    for name, of in (("lost bursts", True), ("bursts", False)):
        findings.measures[f"all pairs, mean {name}: 1 ms over 10 ms"] = one.over(
            ten, lambda seen, of=of: float(_counted(seen.flows["all"], of).mean())
        )
        findings.measures[f"all pairs, mean {name}: 1 ms less 10 ms"] = less(
            one, ten, lambda seen, of=of: float(_counted(seen.flows["all"], of).mean())
        )
    findings.measures["all pairs, mean bursts: 5 ms over 10 ms"] = corners["5 ms"][0].over(
        ten, lambda seen: float(seen.flows["all"].bursts.mean())
    )
    if lost:
        _pairs_by_loss(context, corners, findings)
    axes = Axes(f"{what} of a flow", "share of flows with at most so many", domain=(0.0, 1.0))
    if not lost:
        axes = Axes(axes.x, axes.y, log_x=True, domain=(0.0, 1.0))
    findings.draw(context.target, panels, axes)
    return findings


def _measure_flows(
    context: Context, findings: Findings, of: tuple[str, str], name: str, corner: Corner
) -> None:
    lost = context.target == "fig3b"
    group, shown = of
    share = context.plan["share"]
    what = "lost bursts" if lost else "bursts"
    label = f"{shown}, {_OF_FLOWS} {what}: {name}"
    context.tell(
        findings,
        label,
        corner.mean(lambda one: _quantile(_counted(one.flows[group], lost), share)),
    )
    measures = findings.measures
    measures[f"{shown}, mean {what} of a flow: {name}"] = corner.mean(
        lambda one: float(_counted(one.flows[group], lost).mean())
    )
    measures[f"{shown}, share of the flows' bursts lost: {name}"] = corner.mean(
        lambda one: float(one.flows[group].lost.sum() / one.flows[group].bursts.sum())
    )
    measures[f"{shown}, time-outs of a lost burst: {name}"] = corner.mean(
        lambda one: float(one.flows[group].timeouts.sum() / max(1.0, one.flows[group].lost.sum()))
    )
    measures[f"{shown}, time-outs of a flow: {name}"] = corner.mean(
        lambda one: float(one.flows[group].timeouts.mean())
    )
    printed = context.published(label)
    if printed is not None:
        measures[f"{shown}, share of flows within the printed number: {name}"] = corner.mean(
            lambda one: float(np.mean(_counted(one.flows[group], lost) <= printed))
        )


def _pairs_by_loss(context: Context, corners: Corners, findings: Findings) -> None:
    """Count the lost bursts of the flows of the pairs that lose most."""
    first, most = corners["1 ms"][0], context.plan["worst_pairs"]
    losses = [
        (float(np.mean([_lost_share(one, pair) for one in first.seen])), pair)
        for pair in first.seen[0].flows
        if pair not in GROUPS
    ]
    worst = [pair for _, pair in sorted(losses, reverse=True)[:most]]
    for name, (corner,) in corners.items():
        label = f"pairs that lose most, {_OF_FLOWS} lost bursts: {name}"
        context.tell(findings, label, corner.mean(lambda one: _worst(one, worst, context)))
        findings.measures[f"pairs that lose most, share of the flows' bursts lost: {name}"] = (
            corner.mean(lambda one: float(np.mean([_lost_share(one, pair) for pair in worst])))
        )


def _lost_share(one: Seen, pair: str) -> float:
    flows = one.flows.get(pair)
    if flows is None or not flows.bursts.sum():
        return 0.0
    return float(flows.lost.sum() / flows.bursts.sum())


def _worst(one: Seen, pairs: Sequence[str], context: Context) -> float:
    lost = [one.flows[pair].lost for pair in pairs if pair in one.flows]
    return _quantile(np.concatenate(lost), context.plan["share"])


def fig4(context: Context) -> Findings:
    """Count bursts, or lost bursts, of a connection against its size."""
    lost = context.target == "fig4b"
    corners = observe(context)
    findings = Findings()
    plan = context.plan
    edges = np.asarray(plan["bins_kb"], dtype=np.float64) * 1e3
    what = "lost bursts" if lost else "bursts"
    panels: list[CurvePanel] = []
    for group, shown in GROUPS.items():
        curves, fits = [], []
        for name, (corner,) in corners.items():
            flows = corner.flows(group)
            dots = _binned(flows.size, _counted(flows, lost), edges, plan["least"])
            curves.append(Curve(name, COLOURS[name], dots))
            fits.append(_linearity(dots))
            findings.measures[f"{shown}, r² of mean {what} and size: {name}"] = fits[-1]
            largest = _largest(context, flows)
            label = f"{shown}, {what} of a file of 2 MB: {name}"
            if len(largest):
                context.tell(findings, label, mean_ci95(_counted(largest, lost)))
        panels.append(CurvePanel(titled(shown), curves))
        findings.measures[f"{shown}, least r² of mean {what} and size"] = min(fits)
    _ratios_at_2mb(context, corners, findings)
    if not lost:
        last = panels.pop()
        marks = _printed_ratio(context, findings)
        panels.append(CurvePanel(last.title, [*last.curves, *marks]))
    axes = Axes("file size (MB)", f"{what} of a flow, mean", shared_y=True, legend="assembly time")
    findings.draw(context.target, panels, axes)
    return findings


def _largest(context: Context, flows: Flows) -> Flows:
    low, high = (1e3 * end for end in context.plan["largest_kb"])
    return flows.where((flows.size >= low) & (flows.size <= high))


def _ratios_at_2mb(context: Context, corners: Corners, findings: Findings) -> None:
    def of(lost: bool) -> Callable[[Seen], float]:
        def mean(one: Seen) -> float:
            flows = _largest(context, one.flows["all"])
            return float(_counted(flows, lost).mean()) if len(flows) else float("nan")

        return mean

    one, five, ten = (row[0] for row in corners.values())
    for counted, lost in (("bursts", False), ("lost bursts", True)):
        first, second, third = (corner.values(of(lost)) for corner in (one, five, ten))
        both = [(a + b) / 2 for a, b in zip(second, third, strict=True)]
        for other, below in (("5 ms", second), ("10 ms", third), ("the mean of both", both)):
            ratio = paired_ratio(first, below)
            label = f"2 MB, all pairs, {counted} with 1 ms over {other}"
            if lost or context.target == "fig4a":
                context.tell(findings, label, ratio)
            findings.measures[label] = ratio
        for name, x, y in (
            ("1 ms less those with 5 ms", first, second),
            ("5 ms less those with 10 ms", second, third),
        ):
            gaps = [a - b for a, b in zip(x, y, strict=True)]
            findings.measures[f"2 MB, all pairs, {counted} with {name}"] = mean_ci95(gaps)
    for name, other in (("5 ms", five), ("10 ms", ten)):
        found = [corner.flows("all") for corner in (one, other)]
        counts = [_largest(context, flows.where(flows.lost == 0)).bursts for flows in found]
        if all(len(count) for count in counts):
            ratio = float(counts[0].mean() / counts[1].mean())
            findings.measures[f"2 MB, nothing lost, bursts with 1 ms over {name}"] = ratio


def _printed_ratio(context: Context, findings: Findings) -> list[Curve]:
    """Return 3.5 times the measured bursts of 5 and 10 ms: Figure 4(a) prints the ratio alone."""
    labels = [f"all pairs, bursts of a file of 2 MB: {name}" for name in ("5 ms", "10 ms")]
    found = [row.measured for row in findings.rows if row.label in labels]
    printed = context.published("2 MB, all pairs, bursts with 1 ms over the mean of both")
    if printed is None or len(found) != 2:
        return []
    name = f"published: {printed:g} times the mean of 5 and 10 ms"
    return [Curve(name, theme.INK, [Dot(2.0, printed * sum(found) / 2)], "placed")]


def _binned(size: np.ndarray, count: np.ndarray, edges: np.ndarray, least: int) -> list[Dot]:
    dots: list[Dot] = []
    for low, high in itertools.pairwise(edges):
        inside = (size >= low) & (size < high)
        if inside.sum() >= least:
            mean = mean_ci95(count[inside])
            dots.append(Dot(float(size[inside].mean()) / 1e6, mean.mean, mean.ci95, mean.n))
    return dots


def _linearity(dots: Sequence[Dot]) -> float:
    x, y = np.asarray([dot.x for dot in dots]), np.asarray([dot.y for dot in dots])
    return float(np.corrcoef(x, y)[0, 1] ** 2) if len(dots) > 2 and y.any() else 0.0


TARGETS = {"fig3a": fig3, "fig3b": fig3, "fig4a": fig4, "fig4b": fig4}
