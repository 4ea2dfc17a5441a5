"""Other readings of what the paper leaves open, and other senders."""

from __future__ import annotations

import itertools

from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    TICKS,
    Number,
    Placed,
    curve,
    dots,
    everything,
    gap,
    knee_of,
    largest,
    least,
    optical_loss,
    over_label,
    over_measured,
    precise,
    round_trip,
    share,
    throughput,
    wireless_loss,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, run_grid
from burstlab.statistics import Estimate

_MBPS, _MS = "throughput (Mb/s)", "mean round trip (ms)"
_TCP = "New-Reno"

#: Corners by reading and loss.
Rows = dict[str, dict[str, Corner]]


def readings(context: Context) -> Findings:
    """Measure throughput and round trips of each reading, over the losses of either network."""
    findings, plan = Findings(), context.plan
    rows = _by_group(run_grid(context, "cell", precise))
    for name, row in rows.items():
        _tell_cell(context, findings, name, row)
    for what, names in plan["far_from_a_half"].items():
        findings.measures[f"furthest from a half, {what}"] = largest(
            _from_a_half(rows[name]) for name in names
        )
    core = _by_group(run_grid(context, "core", precise))
    for name, row in core.items():
        placed = over_measured(list(row.values()), _TCP, optical_loss, plan["nothing"])
        context.tell(findings, f"{name}: knee", knee_of(placed, _TCP, plan["falls"], optical_loss))
        for p, corner in row.items():
            context.tell(findings, f"{name}, p = {p}: {_MBPS}", corner.mean(_TCP, throughput))
    _draw(context, findings, rows, core)
    return findings


def _draw(context: Context, findings: Findings, rows: Rows, core: Rows) -> None:
    """Draw each reading over that without loss, and what the paper prints of it."""
    names = list(dict.fromkeys([*rows, *core]))
    over_q = {
        n: over_label(list(r), list(r.values()), context.plan["nothing"]) for n, r in rows.items()
    }
    over_p = {n: _over_core(context, r) for n, r in core.items()}
    half = context.paper.published[("fig2", "q = 1e-2, p = 0: throughput over q = 0")]
    fall = context.paper.published[("fig3", "q = 0: loss in the optical network at the knee")]
    panels: list[CurvePanel] = []
    at_half = Curve("published", theme.INK, [Dot(0.01, half)], "published")
    left = 1.0 - context.plan["falls"]
    at_fall = Curve("published: the fall begins", theme.INK, [Dot(fall, left)], "placed-x")
    cell, core_loss = "loss in the cell, q (p = 0)", "loss in the core, p (q = 0)"
    for title, x, placed, number, printed in (
        ("Throughput over the loss in the cell", cell, over_q, throughput, [at_half]),
        ("Round trip over the loss in the cell", cell, over_q, round_trip, []),
        ("Throughput over the loss in the core", core_loss, over_p, throughput, [at_fall]),
    ):
        curves = [_relative(names, name, at, number) for name, at in placed.items()]
        panels.append(CurvePanel(title, [*curves, *printed], x=x))
    axes = Axes(
        "",
        "over the value without loss",
        log_x=True,
        ticks=TICKS,
        none=context.plan["nothing"],
        domain=(0.0, 2.6),
        width=400,
    )
    findings.draw(context.target, panels, axes)


def _relative(names: list[str], name: str, placed: list[Placed], number: Number) -> Curve:
    """Return a curve over its first value; colours come round again with dashes."""
    first = placed[0][1].mean(_TCP, number)
    ratios = [(x, share(corner.mean(_TCP, number), first)) for x, corner in placed]
    found = [Dot(placed[0][0], 1.0)] + [Dot(x, r.mean, r.ci95, r.n) for x, r in ratios[1:]]
    i = names.index(name)
    look = "measured" if i < len(COLOURS) else "measured-dashed"
    return Curve(name, COLOURS[i % len(COLOURS)], found, look)


def _tell_cell(context: Context, findings: Findings, name: str, row: dict[str, Corner]) -> None:
    """Put a reading over the losses of the cell into the findings."""
    for what, number in ((_MBPS, throughput), (_MS, round_trip)):
        for q, corner in row.items():
            context.tell(findings, f"{name}, q = {q}: {what}", corner.mean(_TCP, number))
    for q, corner in row.items():
        label = f"{name}, q = {q}: loss in the wireless network"
        findings.rows.append(context.row(label, corner.mean(_TCP, wireless_loss)))
    by = {q: corner.mean(_TCP, throughput) for q, corner in row.items()}
    for q in ("1e-3", "1e-2"):
        context.tell(findings, f"{name}: throughput at q = {q} over q = 0", share(by[q], by["0"]))
    trips = [corner.mean(_TCP, round_trip) for corner in row.values()]
    label = f"{name}: least rise of the round trip with a step of q (ms)"
    context.tell(findings, label, least(gap(b, a) for a, b in itertools.pairwise(trips)))


def _from_a_half(row: dict[str, Corner]) -> Estimate:
    """Return how far the throughput at a loss of 0.01 is from half of that without."""
    left = share(row["1e-2"].mean(_TCP, throughput), row["0"].mean(_TCP, throughput))
    return Estimate(abs(left.mean - 0.5), left.ci95, left.n, least=0.0)


def _over_core(context: Context, row: dict[str, Corner]) -> list[Placed]:
    return over_measured(list(row.values()), _TCP, optical_loss, context.plan["nothing"])


def _by_group(corners: list[Corner]) -> Rows:
    rows: Rows = {}
    for corner in corners:
        rows.setdefault(corner.group, {})[corner.label] = corner
    return rows


def variants(context: Context) -> Findings:
    """Compare the throughput of variants of TCP over a lossy link, with the same seeds."""
    findings, panels = Findings(), list[CurvePanel]()
    rows = _by_group(run_grid(context, "grid", everything))
    for reading, row in rows.items():
        for q, corner in row.items():
            for name in corner.samples:
                start = f"{reading}, q = {q}, {name}"
                context.tell(findings, f"{start}: {_MBPS}", corner.mean(name, throughput))
                label = f"{reading}, q = {q}: New-Reno over {name}"
                findings.measures[label] = corner.ratio(_TCP, name, throughput)
        placed = over_label(list(row), list(row.values()), context.plan["nothing"])
        curves = [
            curve(name, COLOURS[i], dots(placed, name, throughput))
            for i, name in enumerate(next(iter(row.values())).samples)
        ]
        panels.append(CurvePanel(reading, curves))
    without = [rows["lost without tries"][q] for q in ("1e-2", "3e-2")]
    for best, others in ((_TCP, ("Tahoe", "Reno")), ("Tahoe", (_TCP, "Reno"))):
        names = " and ".join(others)
        label = f"least of {best} over {names}, losses of 1e-2 and 3e-2 without tries"
        findings.measures[label] = least(
            corner.ratio(best, other, throughput) for corner in without for other in others
        )
    axes = Axes("loss in the wireless network", _MBPS, log_x=True, shared_y=True, width=380)
    findings.draw(context.target, panels, axes)
    return findings


TARGETS = {"readings": readings, "variants": variants}
