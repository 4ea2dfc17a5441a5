"""Figure 2: segments and flows of a burst, and how many bursts a queue sends."""

from __future__ import annotations

from burstlab.analytic import ramantas as law
from burstlab.papers.ramantas2007_burstifiers.observe import Corner, Seen, observe
from burstlab.papers.ramantas2007_burstifiers.shown import (
    Corners,
    cdf_curve,
    extreme,
    printed_share,
)
from burstlab.plot import Axes, CurvePanel
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate

_PART = "segments-per-flow-and-burst"


def fig2a(context: Context) -> Findings:
    """Find how many segments of one flow a burst carries."""
    corners = observe(context)
    findings = Findings()
    measures = findings.measures
    rare = context.plan["rare"]
    parts, bursts, gaps, shares = [], [], [], []
    for one in context.plan["series"]:
        name = one["label"]
        (corner,) = corners[name]
        cap = corner.mean(lambda seen: seen.quantile(_PART, 1.0 - rare))
        context.tell(findings, f"most segments of a flow in a burst: {name}", cap)
        formula = float(law.segments_cap(one["timer_ms"] / 1e3))
        gaps.append(abs(cap.mean - formula))
        measures[f"cap of the closed form: {name}"] = formula
        low = round(formula) - 1
        share = corner.mean(lambda seen, low=low: _between(seen, low, low + 1))
        shares.append(share)
        context.tell(findings, f"share at the cap or one below: {name}", share)
        parts.append(cdf_curve(name, *corner.histogram(_PART)))
        parts += printed_share(context, name, f"most segments of a flow in a burst: {name}", 1.0)
        bursts.append(cdf_curve(name, *corner.histogram("segments-per-burst")))
    measures["largest gap of a cap from the closed form"] = max(gaps)
    measures["least share at the cap or one below"] = extreme(shares, largest=False)
    _few_segments(context, corners, findings)
    panels = [
        CurvePanel("Segments of one flow in a burst", parts),
        CurvePanel("Segments in a burst, of all flows", bursts),
    ]
    axes = Axes("segments", "share of what has at most so many", log_x=True, domain=(0.0, 1.02))
    findings.draw(context.target, panels, axes)
    return findings


def _between(one: Seen, low: int, high: int, of: str = _PART) -> float:
    values, counts = one.histograms[of]
    return float(counts[(values >= low) & (values <= high)].sum() / counts.sum())


def _few_segments(context: Context, corners: Corners, findings: Findings) -> None:
    """Measure the shares of which the text says that they are 80 % with 1 ms."""
    (corner,) = corners["1 ms"]
    most = int(law.segments_cap(0.001))
    for what, of, last in (
        ("bursts with fewer than 13 segments", "segments-per-burst", most - 1),
        ("parts of bursts with fewer than 13 segments of a flow", _PART, most - 1),
        ("parts of bursts with at most 13 segments of a flow", _PART, most),
    ):
        share = corner.mean(lambda one, of=of, last=last: _between(one, 0, last, of))
        context.tell(findings, f"1 ms, share of {what}", share)


def fig2b(context: Context) -> Findings:
    """Count the flows in a burst."""
    corners = observe(context)
    findings = Findings()
    share, of = context.plan["share"], "flows-per-burst"
    curves = []
    for name, (corner,) in corners.items():
        label = f"80 % of the bursts carry at most so many flows: {name}"
        context.tell(findings, label, corner.mean(lambda one: one.quantile(of, share)))
        context.tell(findings, f"flows in a burst, mean: {name}", corner.mean(_flows_per_burst))
        values, counts = corner.histogram(of)
        curves += [cdf_curve(name, values, counts), *printed_share(context, name, label, share)]
        printed = int(context.published(label) or 0)
        findings.measures[f"share of bursts within the printed number: {name}"] = corner.mean(
            lambda one, printed=printed: _between(one, 0, printed, of)
        )
    _rate_of_bursts(context, corners, findings)
    axes = Axes("flows in a burst", "share of bursts with at most so many", domain=(0.0, 1.0))
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _flows_per_burst(one: Seen) -> float:
    return float(one.network["flows_per_burst"])


def _rate_of_bursts(context: Context, corners: Corners, findings: Findings) -> None:
    """Measure how many bursts a queue sends in an assembly time: one, says the introduction."""
    for one in context.plan["series"]:
        name, timer_s = one["label"], one["timer_ms"] / 1e3
        (corner,) = corners[name]
        label = f"bursts of a queue in an assembly time: {name}"
        context.tell(findings, label, _per_timer(corner, timer_s))


def _per_timer(corner: Corner, timer_s: float) -> Estimate:
    def of(one: Seen) -> float:
        routes = one.network["all"]["routes"]
        bursts = sum(route["bursts"] for route in routes)
        return bursts / len(routes) / one.measured_s * timer_s

    return corner.mean(of)


TARGETS = {"fig2a": fig2a, "fig2b": fig2b}
