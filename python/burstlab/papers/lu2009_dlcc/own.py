"""Our own comparisons of the simulation: mechanisms, readings, the period of UDP, long runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from burstlab.papers.lu2009_dlcc.link import COLOURS
from burstlab.papers.lu2009_dlcc.slots import (
    buffered,
    carried,
    compare,
    corners,
    dot,
    lost,
    tell,
    timeouts,
)
from burstlab.plot import Axes, Curve, CurvePanel, Named, named_chart, named_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Metric, Sample
from burstlab.statistics import Estimate, mean_ci95, paired_ratio

_TAKEN = "as taken"


def ablation(context: Context) -> Findings:
    """Measure each mechanism by itself."""
    findings = Findings()
    (corner,) = corners(context)
    goodput, loss = carried(context), lost(context)
    for name in corner.samples:
        for what, metric in (("goodput (Mb/s)", goodput), ("loss rate (kb/s)", loss)):
            context.tell(findings, f"{name}: {what}", corner.mean(name, metric))
        for what, metric in (("time-outs", timeouts), ("copies sent", _copies)):
            findings.measures[f"{name}: {what}"] = corner.mean(name, metric)
        for over in ("smoothed", "neither", "rate cut alone"):
            ratio = corner.ratio(name, over, goodput)
            findings.measures[f"{name}: goodput over {over}"] = ratio
        ratio = corner.ratio(name, "smoothed", loss)
        findings.measures[f"{name}: loss rate over smoothed"] = ratio
    for name in ("DLCC", "OPS ACKs alone"):
        findings.measures[f"{name}: share of smoothing in the gain over neither"] = _share(
            corner, name, goodput
        )
    values = [(name, corner.mean(name, goodput)) for name in corner.samples]
    _named(findings, context.target, "goodput (Mb/s)", values)
    return findings


def readings(context: Context) -> Findings:
    """Measure what other readings of the parameters that are not stated would change."""
    findings = Findings()
    goodput, loss = carried(context), lost(context)
    of_dlcc, of_network = corners(context), corners(context, "network")
    of_dlcc = [*(c for c in of_network if c.label == _TAKEN), *of_dlcc]
    for found in (of_dlcc, [c for c in of_network if c.label != _TAKEN]):
        tell(context, findings, found, "goodput (Mb/s)", goodput)
        tell(context, findings, found, "loss rate (kb/s)", loss)
        tell(context, findings, found, "extra edge buffer (kbit)", buffered, ("DLCC",))
    compare(findings, of_network, "goodput", ("DLCC", "neither"), goodput)
    compare(findings, of_network, "goodput", ("DLCC", "smoothed"), goodput)
    gains: list[tuple[str, str, Estimate]] = []
    for corner in of_dlcc:
        taken = _at(of_network, corner.group, _TAKEN)
        place = f"{corner.group}, {corner.label}"
        for what, metric in (("goodput", goodput), ("loss rate", loss)):
            for over in ("neither", "smoothed"):
                ratio = _over(corner, taken, over, metric)
                findings.measures[f"{place}: {what} over {over}"] = ratio
        gains.append((corner.group, corner.label, _over(corner, taken, "neither", goodput)))
    for corner in of_network:
        gain = corner.ratio("DLCC", "neither", goodput)
        findings.measures[f"{corner.group}, {corner.label}: goodput over neither"] = gain
        if corner.label != _TAKEN:
            gains.append((corner.group, corner.label, gain))
    largest = max(gains, key=lambda one: one[2].mean)
    findings.measures["largest gain of all readings"] = largest[2]
    findings.notes.append(f"The largest gain over neither is at {largest[0]}, {largest[1]}.")
    _spreads(findings, of_dlcc, loss)
    for group in dict.fromkeys(one[0] for one in gains):
        shown = context.plan["shown"]
        values = [(shown.get(label, label), gain) for at, label, gain in gains if at == group]
        name = f"{context.target}-{group.replace(' ', '-')}"
        title = f"goodput of DLCC over the goodput without any control, 2T = {group}"
        _named(findings, name, title, values, rule=1.0)
    return findings


def _spreads(findings: Findings, found: Sequence[Corner], loss: Metric) -> None:
    """Note for each reading how the loss rate goes with the round trip."""
    for label in dict.fromkeys(corner.label for corner in found):
        values = [corner.values("DLCC", loss) for corner in found if corner.label == label]
        means = [mean_ci95(one).mean for one in values]
        most, least = values[means.index(max(means))], values[means.index(min(means))]
        findings.measures[f"{label}: largest loss rate over least"] = paired_ratio(most, least)
        findings.measures[f"{label}: last loss rate over first"] = paired_ratio(
            values[-1], values[0]
        )


def period(context: Context) -> Findings:
    """Measure the goodput at 500 ms against the period of UDP."""
    findings, found = Findings(), corners(context)
    goodput = carried(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    compare(findings, found, "goodput", ("DLCC", "neither"), goodput)
    compare(findings, found, "goodput", ("DLCC", "smoothed"), goodput)
    fixed, (varied,) = found[:-1], found[-1:]
    before, taken, after = (_at(fixed, "", label) for label in ("9.8 s", "10 s", "10.2 s"))
    for name in taken.samples:
        ratio = paired_ratio(taken.values(name, goodput), varied.values(name, goodput))
        findings.measures[f"{name}: 10 s over periods that vary"] = ratio
        pairs = list(zip(before.values(name, goodput), after.values(name, goodput), strict=True))
        between = [(one + other) / 2 for one, other in pairs]
        ratio = paired_ratio(taken.values(name, goodput), between)
        findings.measures[f"{name}: 10 s over 9.8 and 10.2 s"] = ratio
        ratio = paired_ratio([other for _, other in pairs], [one for one, _ in pairs])
        findings.measures[f"{name}: 10.2 s over 9.8 s"] = ratio
        means = [corner.mean(name, goodput).mean for corner in fixed]
        findings.measures[f"{name}: largest over least of the fixed periods"] = max(means) / min(
            means
        )
    curves = [
        Curve(name, COLOURS[i], [dot(c.x, c.mean(name, goodput)) for c in fixed], "measured")
        for i, name in enumerate(taken.samples)
    ]
    axes = Axes("period of UDP (s)", "goodput (Mb/s)")
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def length(context: Context) -> Findings:
    """Measure the gain in runs of the paper's length."""
    findings, found = Findings(), corners(context)
    goodput = carried(context)
    tell(context, findings, found, "goodput (Mb/s)", goodput)
    for pair in (("DLCC", "neither"), ("neither", "DLCC"), ("DLCC", "smoothed")):
        compare(findings, found, "goodput", pair, goodput)
    values = [(corner.label, corner.ratio("DLCC", "neither", goodput)) for corner in found]
    for label, ratio in values:
        findings.rows.append(context.row(f"{label}: goodput, DLCC over neither", ratio))
    title = "goodput of DLCC over the goodput without any control"
    _named(findings, context.target, title, values, rows="round trip 2T", rule=1.0)
    return findings


def _share(corner: Corner, name: str, goodput: Metric) -> Estimate:
    """Return which share of a gain over neither smoothing alone has, replication by replication."""
    every = [corner.values(one, goodput) for one in ("smoothed", "neither", name)]
    runs = list(zip(*every, strict=True))
    return paired_ratio(
        [smoothed - neither for smoothed, neither, _ in runs],
        [whole - neither for _, neither, whole in runs],
    )


def _copies(sample: Sample) -> float:
    return float(sample.ops["copies"])


def _at(found: Sequence[Corner], group: str, label: str) -> Corner:
    return next(corner for corner in found if (corner.group, corner.label) == (group, label))


def _over(corner: Corner, other: Corner, series: str, metric: Metric) -> Estimate:
    """Return DLCC at one corner over a series at another one, replication by replication."""
    return paired_ratio(corner.values("DLCC", metric), other.values(series, metric))


def _named(
    findings: Findings,
    name: str,
    title: str,
    values: Sequence[tuple[str, Estimate]],
    **more: Any,
) -> None:
    drawn = list(_all(values))
    findings.charts[name] = named_chart(drawn, title, **more)
    findings.data[name] = named_rows(drawn)


def _all(values: Sequence[tuple[str, Estimate]]) -> Iterator[Named]:
    for label, value in values:
        yield Named(label, value.mean, value.ci95, value.n)


TARGETS = {"ablation": ablation, "readings": readings, "period": period, "length": length}
