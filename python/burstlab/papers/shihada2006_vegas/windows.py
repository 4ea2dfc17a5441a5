"""Figures 1 to 3: the window round by round, and how often it is where, from traces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burstlab.analytic import shihada
from burstlab.papers.shihada2006_vegas.rounds import Rounds, one_by_one, rounds
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate, mean_ci95

_MEASURED, _FORMULA, _PRINTED = theme.SERIES[0], theme.SERIES[1], theme.MUTED
#: The phases of Figure 1, from point to point.
_PHASES = {
    "A to B, slow start": theme.SERIES[1],
    "B to C, congestion avoidance": theme.SERIES[2],
    "C to D, at the top": theme.SERIES[3],
}

_OTHERS = (theme.SERIES[0], theme.SERIES[2], theme.SERIES[3])


def fig1(context: Context) -> Findings:
    """Read the phases of (8) to (13) off one cycle from time-out to time-out."""
    plan, findings = context.plan, Findings()
    (result,) = context.runs().values()
    seen = rounds(result.cwnd, plan["gap_s"])
    first, last = _cycle(seen)
    sizes = seen.segments[first + 1 : last]
    window = plan["window"]
    b, c = (int(np.argmax(sizes >= size)) for size in (window // 2, window))
    p = 1.0 / (len(sizes) + 1)
    stable = float(shihada.stable_rounds(p, window))
    slow, printed = (
        float(shihada.slow_start_segments(window, as_printed=one)) for one in (False, True)
    )
    phases = {
        "A to B, (9): rounds": (b, float(shihada.slow_start_rounds(window))),
        "A to B, (8): segments": (sizes[:b].sum(), slow),
        "B to C, (11): rounds": (c - b, float(shihada.avoidance_rounds(window))),
        "B to C, (10): segments": (sizes[b:c].sum(), float(shihada.avoidance_segments(window))),
        "C to D, (12): rounds": (len(sizes) - c, stable),
        "C to D, (13): segments": (sizes[c:].sum(), window * stable),
    }
    measures = findings.measures
    for label, (trace, formula) in phases.items():
        findings.rows += [
            context.row(f"{label}, trace", float(trace)),
            context.row(f"{label}, formula", formula),
        ]
        measures[f"{label}, trace less formula"] = float(trace) - formula
    measures["A to B, (8): segments, trace less printed sum"] = float(sizes[:b].sum()) - printed
    measures["segments of the first round after a time-out"] = int(sizes[0])
    measures["rounds in which the window is doubled, of those of slow start"] = float(
        np.mean(np.diff(np.append(sizes[:b], sizes[b])) > 0)
    )
    measures["idle before the time-out (s)"] = float(seen.start_s[first] - seen.start_s[first - 1])
    length = float(seen.start_s[last] - seen.start_s[first])
    args = p, window, plan["rtt_s"], plan["rto_s"]
    ratio = sizes.sum() / length / float(shihada.bare_throughput(*args, goodput=True))
    measures["segments of the cycle over its length, over (16)"] = float(ratio)
    findings.rows.append(context.row("throughput of the cycle over (16)", float(ratio)))
    a, d = first + 1, last - 1
    phases = ((a, a + b), (a + b, a + c), (a + c, d))
    drawn = first - plan["rounds_before"], last + 1
    _draw_line(context, findings, seen, drawn, phases=phases)
    return findings


def _cycle(seen: Rounds) -> tuple[int, int]:
    """Return where the last whole cycle begins and ends: two time-outs."""
    first, last = np.flatnonzero(seen.lost)[-2:]
    return int(first), int(last)


def _draw_line(
    context: Context,
    findings: Findings,
    seen: Rounds,
    between: tuple[int, int],
    *,
    phases: Sequence[tuple[int, int]] = (),
    trips: bool = False,
) -> None:
    """Draw the windows of some rounds, nothing sent at a time-out, and where wanted the trips.

    Phases have colours of their own, from their first round to their last one.
    """
    first, last = between
    begin = seen.start_s[first]
    sizes = np.where(seen.lost, 0, seen.segments)

    def dots(values: np.ndarray, rows: list[int]) -> list[Dot]:
        return [Dot(float(seen.start_s[i] - begin), float(values[i])) for i in rows]

    shown = list(range(first, last))
    window = context.plan["window"]
    ends = shown[:: len(shown) - 1]
    curves = [Curve("W_max", theme.MUTED, dots(np.full_like(sizes, window), ends), "dashed")]
    name = "segments of a round, 0 at a time-out"
    curves.append(Curve(name, _MEASURED, dots(sizes, shown), "line"))
    for (phase, colour), (begins, stops) in zip(_PHASES.items(), phases, strict=False):
        inside = list(range(begins, stops + 1))
        curves.append(Curve(phase, colour, dots(sizes, inside), "line"))
    panels = [CurvePanel("", curves, y="segments of a round")]
    if trips:
        measured = [i for i in shown if not seen.lost[i] and seen.sample_s[i] > 0]
        late = Curve("round trip", theme.SERIES[1], dots(1e3 * seen.sample_s, measured), "line")
        panels.append(CurvePanel("", [late], y="round trip (ms)"))
    height = 200 if trips else 280
    axes = Axes("time (s)", "", columns=1, width=720, height=height)
    findings.draw(context.target, panels, axes)


def fig2(context: Context) -> Findings:
    """Follow the window where bursts are sent again."""
    plan, findings = context.plan, Findings()
    results = context.runs()
    window, measures = plan["window"], findings.measures
    for label, result in results.items():
        seen = rounds(result.cwnd, plan["gap_s"])
        since = seen.since_top(window)
        stay = since >= 0
        steps = np.diff(seen.segments)[stay[1:] & stay[:-1]]
        delayed = seen.sample_s > 1.01 * plan["rtt_s"]
        lowest = int(seen.segments[stay].min())
        measures[f"{label}: lowest window after C"] = lowest
        measures[f"{label}: largest step of the window after C"] = int(np.abs(steps).max())
        measures[f"{label}: share of rounds after C that were late"] = float(delayed[stay].mean())
        measures[f"{label}: share of rounds after C at W_0"] = float(
            (seen.segments[stay] == window).mean()
        )
        mean = float(seen.segments[stay].mean())
        measures[f"{label}: mean window after C"] = mean
        findings.rows.append(context.row(f"{label}: mean window after C (segments)", mean))
        findings.rows.append(context.row(f"{label}: lowest window after C", lowest))
    shown = rounds(results[plan["shown"]].cwnd, plan["gap_s"])
    length = context.plan["rounds_shown"]
    starts = np.flatnonzero(shown.lost)
    first = int(starts[np.argmax(np.diff(starts) > length)])
    _draw_line(context, findings, shown, (first, first + length), trips=True)
    return findings


def fig3(context: Context) -> Findings:
    """Count how often the window is i below its top, and hold it against the chain."""
    plan, findings = context.plan, Findings()
    window, pc, measures = plan["window"], plan["pc"], findings.measures
    below = plan["window"] - plan["lowest_drawn"] + 1
    effort = plan[context.effort]
    curves: list[Curve] = []
    for entry, colour in zip(plan["readings"], _OTHERS, strict=True):
        settings = {**entry["set"], "run.duration": effort["duration"]}
        shares, lowest = _shares(context, settings, effort["most"], below)
        label = entry["label"]
        estimates = [mean_ci95(one) for one in shares.T]
        measures[f"{label}: lowest window"] = lowest
        for i, estimate in enumerate(estimates):
            context.tell(findings, f"{label}: pi_{i}", estimate)
        curves.append(Curve(label, colour, _shares_drawn(estimates)))
    args = plan["rtt_r_s"], plan["rtt_s"], plan["beta"]
    floor, ceiling = (int(shihada.lowest_window(*args, as_printed=one)) for one in (False, True))
    measures["W_0' of (21), floor"], measures["W_0' of (21), printed"] = floor, ceiling
    right = shihada.window_shares(pc, window - floor)
    ratio = float(shihada.contended_share(pc)) / float(shihada.uncontended_share(pc))
    steps = np.arange(window - ceiling + 1)
    wrong = float(shihada.top_share(pc, int(steps[-1]), as_printed=True)) * ratio**steps
    for name, chain in (("corrected", right), ("as printed", wrong)):
        for i, share in enumerate(chain):
            context.tell(findings, f"(22), {name}: pi_{i}", float(share))
        colour = _FORMULA if name == "corrected" else _PRINTED
        dots = [Dot(i, float(share)) for i, share in enumerate(chain)]
        curves.append(Curve(f"(22), {name}", colour, dots, "dashed"))
    held = plan["readings"][0]["label"]
    gaps = [_gap(measures[f"{held}: pi_{i}"], share) for i, share in enumerate(right)]
    measures["largest gap of pi_i from the chain, the rules of the model"] = max(
        gaps, key=lambda gap: gap.mean
    )
    measures["lowest window less the floor of (21)"] = (
        int(measures[f"{held}: lowest window"]) - floor  # type: ignore[arg-type]
    )
    axes = Axes(
        "i, segments below W_0",
        "share of rounds π_i",
        log_y=True,
        ticks=list(range(below)),
        domain=(1e-5, 2.0),
        columns=1,
        width=620,
    )
    findings.draw(context.target, [CurvePanel("", curves)], axes)
    return findings


def _gap(measured: object, share: float) -> Estimate:
    assert isinstance(measured, Estimate)
    return Estimate(abs(measured.mean - float(share)), measured.ci95, measured.n)


def _shares(
    context: Context, settings: dict[str, object], replications: int, below: int
) -> tuple[np.ndarray, int]:
    """Return the shares of rounds at each window, one row a replication, and the lowest window."""
    plan, lowest = context.plan, context.plan["window"]
    found: list[list[float]] = []
    for i, result in enumerate(one_by_one(context, settings, replications)):
        context.progress(i / replications, f"{context.target}: {i + 1} of {replications}")
        seen = rounds(result.cwnd, plan["gap_s"])
        # The first rounds after C begin at W_0: the chain is at rest some rounds later.
        sizes = seen.segments[seen.since_top(plan["window"]) >= plan["settling_rounds"]]
        lowest = min(lowest, int(sizes.min(initial=lowest)))
        count = max(1, len(sizes))
        found.append([float((sizes == plan["window"] - k).sum()) / count for k in range(below)])
    return np.asarray(found), lowest


def _shares_drawn(estimates: list[Estimate]) -> list[Dot]:
    """Leave out what never happened: a logarithmic axis has no place for it."""
    return [Dot(i, one.mean, one.ci95, one.n) for i, one in enumerate(estimates) if one.mean > 0]


TARGETS = {"fig1": fig1, "fig2": fig2, "fig3": fig3}
