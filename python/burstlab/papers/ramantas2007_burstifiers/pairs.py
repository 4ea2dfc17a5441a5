"""Table 1 pair by pair: what the scheme gains where more or fewer bursts are lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from burstlab.papers.ramantas2007_burstifiers.observe import Corner, Seen, observe, pair_name
from burstlab.papers.ramantas2007_burstifiers.shown import Corners, throughput
from burstlab.plot import Axes, Curve, CurvePanel, Dot, on_one_scale, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate, mean_ci95, paired_ratio

_BEST = "B = 32, C = 100"
_TIMERS = ("1 ms", "5 ms", "10 ms")
_FIRST, _SINGLE = f"{_BEST} over 1 ms", f"{_BEST} over the best single timer"


@dataclass(frozen=True)
class _Pair:
    """A pair of edge nodes: its burst loss with 1 ms, and the gains of the scheme there."""

    name: str
    loss: float
    over_first: Estimate
    over_best: Estimate


def pairs(context: Context) -> Findings:
    """Compare the best scheme of the paper with single timers, pair by pair."""
    corners = observe(context)
    findings = Findings()
    found = _pairs(corners)
    bins = _binned(context, found)
    for label, inside in bins.items():
        names = [one.name for one in inside]
        for row, (corner,) in corners.items():
            context.tell(findings, f"average (Mb/s), {label}: {row}", corner.mean(_average(names)))
        for what, over in ((_FIRST, "1 ms"), (_SINGLE, _best(corners, names))):
            ratio = corners[_BEST][0].over(corners[over][0], _average(names))
            context.tell(findings, f"{label}: {what}", ratio)
        context.tell(findings, f"{label}: pairs", len(names))
        findings.measures[f"{label}: 5 ms over 1 ms"] = corners["5 ms"][0].over(
            corners["1 ms"][0], _average(names)
        )
    findings.measures["all pairs: 5 ms over 1 ms"] = corners["5 ms"][0].over(
        corners["1 ms"][0], throughput("all", np.mean)
    )
    _distribution(context, findings, found)
    _near_print(context, findings, corners, found)
    _draw(context, findings, found)
    return findings


def _pairs(corners: Corners) -> list[_Pair]:
    """Return the pairs, from the least loss on."""
    first = corners["1 ms"][0]
    losses: dict[str, list[float]] = {}
    for seen in first.seen:
        for route in seen.network["all"]["routes"]:
            name = pair_name(route["from"], route["to"])
            losses.setdefault(name, []).append(float(route["loss_ratio"]))
    found: list[_Pair] = []
    for name, values in losses.items():
        of = _average([name])
        mine = corners[_BEST][0].values(of)
        if not np.isfinite([*mine, *first.values(of)]).all():
            continue
        best = corners[_best(corners, [name])][0].values(of)
        gains = paired_ratio(mine, first.values(of)), paired_ratio(mine, best)
        found.append(_Pair(name, float(np.mean(values)), *gains))
    return sorted(found, key=lambda one: one.loss)


def _average(names: Sequence[str]) -> Callable[[Seen], float]:
    """Return what measures the mean, over pairs, of the average throughput of their flows."""

    def of(one: Seen) -> float:
        found = [one.flows[name] for name in names if name in one.flows]
        averages = [flows.throughput.mean() for flows in found if len(flows)]
        return float(np.mean(averages)) if averages else float("nan")

    return of


def _best(corners: Corners, names: Sequence[str]) -> str:
    """Return the single timer with the largest average throughput on these pairs."""
    return max(_TIMERS, key=lambda timer: corners[timer][0].mean(_average(names)).mean)


def _binned(context: Context, found: Sequence[_Pair]) -> dict[str, list[_Pair]]:
    bins: dict[str, list[_Pair]] = {}
    for low, high in context.plan["bins_percent"]:
        inside = [one for one in found if low <= 100 * one.loss < high]
        if inside:
            bins[f"{low} to {high} % lost"] = inside
    return bins


def _distribution(context: Context, findings: Findings, found: Sequence[_Pair]) -> None:
    """Count pairs by what the scheme gains over their best single timer."""
    gains = [one.over_best for one in found]
    printed = context.plan["printed_gain"]
    measures = findings.measures
    for share, name in ((0.0, "least"), (0.5, "median"), (1.0, "largest")):
        value = float(np.quantile([gain.mean for gain in gains], share))
        context.tell(findings, f"{name} of all pairs, {_SINGLE}", value)
    measures["pairs whose gain over the best single timer is 24 % or more"] = sum(
        gain.mean - (gain.ci95 or 0.0) >= printed for gain in gains
    )
    measures["pairs with a gain over the best single timer"] = sum(gain.mean > 1 for gain in gains)
    measures["pairs with a gain over 1 ms"] = sum(one.over_first.mean > 1 for one in found)
    measures["pairs"] = len(found)
    low = [one for one in found if one.loss < 0.01]
    middle = [one for one in found if 0.02 <= one.loss < 0.03]
    for name, group in (("below 1 % lost", low), ("2 to 3 % lost", middle)):
        if group:
            measures[f"pairs, {name}: {_FIRST}, mean of the pairs"] = mean_ci95(
                [one.over_first.mean for one in group]
            )


def _near_print(
    context: Context, findings: Findings, corners: Corners, found: Sequence[_Pair]
) -> None:
    """Count, on each pair, the averages of Table 1 that are within 10 % of the print."""
    printed = {row: context.plan["printed"][row] for row in corners}

    def near(corner: Corner, row: str, name: str) -> bool:
        return abs(corner.mean(_average([name])).mean / printed[row] - 1.0) <= 0.1

    counts = [sum(near(corners[row][0], row, one.name) for row in corners) for one in found]
    findings.measures["most averages of Table 1 within 10 % on one pair"] = max(counts)
    findings.notes.append(
        "Averages of Table 1 within 10 % of the print, pair by pair, from the least loss on: "
        + ", ".join(f"{one.name}: {count}" for one, count in zip(found, counts, strict=True))
        + "."
    )


def _draw(context: Context, findings: Findings, found: Sequence[_Pair]) -> None:
    axes = Axes("bursts of the pair lost with 1 ms (%)", "", rule=1.0)
    findings.draw(context.target, on_one_scale(_panels(context, found), axes), axes)


def _panels(context: Context, found: Sequence[_Pair]) -> list[CurvePanel]:
    """Return the gains over 1 ms, and over the best single timer, with the printed ones."""
    printed = context.plan["printed"]
    best = max(printed[timer] for timer in _TIMERS)
    panels: list[CurvePanel] = []
    for title, below, gains, per in (
        ("Over 1 ms", "1 ms", [one.over_first for one in found], printed["1 ms"]),
        (
            "Over the best single timer of the pair",
            "best timer",
            [one.over_best for one in found],
            best,
        ),
    ):
        dots = [
            Dot(100 * one.loss, gain.mean, gain.ci95, gain.n)
            for one, gain in zip(found, gains, strict=True)
        ]
        mark = Dot(context.plan["printed_loss_percent"], printed[_BEST] / per)
        panels.append(
            CurvePanel(
                title,
                [
                    Curve("a pair", theme.FIRST, dots, "points"),
                    Curve("published, pair and loss unknown", theme.INK, [mark], "placed"),
                ],
                y=f"throughput, {_BEST} over {below}",
            )
        )
    return panels


TARGETS = {"pairs": pairs}
