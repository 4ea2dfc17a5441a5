"""Section II: bursts of a flow against single packets, with the same loss rate and delay."""

from __future__ import annotations

from burstlab.papers.yu2004_btcp.btcp import by_group, packets_per_s
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate, paired_ratio


def correlation(context: Context) -> Findings:
    """Measure what bursts gain over packets of the same loss rate, and what their delay costs."""
    findings, groups = Findings(), by_group(run_grid(context, "grid", lambda _: []))
    measures = findings.measures
    bursts, packets, prompt = (groups[name] for name in ("bursts", "packets", "no delay"))
    gains = [_ratios(over, under) for over, under in zip(bursts, packets, strict=True)]
    kept = [_ratios(over, under) for over, under in zip(packets, prompt, strict=True)]
    curves: list[Curve] = []
    for name, colour in zip(bursts[0].samples, theme.SERIES, strict=False):
        dots: list[Dot] = []
        for corner, gain, rest in zip(bursts, gains, kept, strict=True):
            value = _mean(gain[name])
            context.tell(findings, f"{name}, {corner.label}: bursts over packets", value)
            label = f"{name}, {corner.label}: packets, with the delay over without"
            context.tell(findings, label, _mean(rest[name]))
            dots.append(Dot(corner.x, value.mean, value.ci95, value.n))
        curves.append(Curve(name, colour, dots, "measured"))
    slow, short, long = gains
    far = max((_mean(one) for one in slow.values()), key=lambda gain: abs(gain.mean - 1.0))
    gap = Estimate(abs(far.mean - 1.0), far.ci95, far.n)
    measures["slow: largest gap of bursts from packets"] = gap
    for corner, gain, rest in zip(bursts, gains, kept, strict=True):
        least = min((_mean(one) for one in gain.values()), key=lambda one: one.mean)
        measures[f"{corner.label}: least gain of bursts over packets"] = least
        measures[f"{corner.label}: largest over least gain of the variants"] = _spread(gain)
        measures[f"{corner.label}: largest over least cost of the delay"] = _spread(rest)
    steps = [paired_ratio(long[name], short[name]) for name in long]
    measures["least gain at T_b = 0.2 s over that at 0.04 s"] = min(steps, key=lambda s: s.mean)
    axes = Axes(
        "packets of a full burst", "throughput over that in packets", log_x=True,
        ticks=[corner.x for corner in bursts], rule=1.0,
    )  # fmt: skip
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _ratios(over: Corner, under: Corner) -> dict[str, list[float]]:
    """Return one corner over another one, for each variant and replication."""
    return {
        name: [
            one / other
            for one, other in zip(
                over.values(name, packets_per_s), under.values(name, packets_per_s), strict=True
            )
        ]
        for name in over.samples
    }


def _mean(ratios: list[float]) -> Estimate:
    return paired_ratio(ratios, [1.0] * len(ratios))


def _spread(ratios: dict[str, list[float]]) -> Estimate:
    every = sorted(ratios.values(), key=sum)
    return paired_ratio(every[-1], every[0])


TARGETS = {"correlation": correlation}
