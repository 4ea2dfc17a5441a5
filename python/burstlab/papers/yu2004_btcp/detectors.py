"""Every detector against the ledger's truth, and against one that knows everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from burstlab.papers.yu2004_btcp.btcp import note_precision, packets_per_s
from burstlab.plot.heat import HeatCell, HeatLine, heat_chart, heat_rows
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, paired_ratio

_PRECISION, _RECALL, _GOODPUT = "precision", "recall", "throughput over oracle's"

_LEGEND = (
    "Precision: of the time-outs that a detector takes for false (or repairs before they come), "
    "the share that is no congestion. Recall: of the false time-outs, the share that it finds; "
    "below a window of 3 all but the oracle find none, by the guard. Within a panel the columns "
    "are T_b and the loss probability of a burst. A dash: there was nothing to judge. More "
    "throughput than the oracle's, over lossy access, comes from ignoring true time-outs."
)


@dataclass
class Verdicts:
    """The verdict of the ledger of one replication on a detector.

    Attributes
    ----------
    right, wrong
        Taken for false, or repaired early: right without congestion, wrong with it.
    missed
        False time-outs that were taken for true.
    several
        Early repairs although the losses were in several bursts.
    apart
        Time-outs that the ledger calls false without exactly one lost burst, or the reverse.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0
    several: int = 0
    apart: int = 0


@dataclass
class Pooled:
    """Verdicts of several replications, kept apart for the intervals."""

    ones: list[Verdicts] = field(default_factory=list)

    def total(self, name: str) -> int:
        """Return a count over all replications."""
        return sum(getattr(one, name) for one in self.ones)

    def precision(self) -> Estimate | None:
        """Return the share of verdicts "false" that are right; None if there is none."""
        return self._share([one.right for one in self.ones], "wrong")

    def recall(self) -> Estimate | None:
        """Return the share of false time-outs that are found; None if there is none."""
        return self._share([one.right for one in self.ones], "missed")

    def _share(self, right: Sequence[int], other: str) -> Estimate | None:
        every = [r + getattr(one, other) for r, one in zip(right, self.ones, strict=True)]
        return paired_ratio(right, every) if sum(every) else None


def verdicts(sample: Sample) -> Verdicts:
    """Read the ledger of a replication."""
    ledger = sample.tables["ledger"]
    kinds, truths, taken = (ledger.column(name).texts() for name in ("kind", "truth", "verdict"))
    one_burst = _one_burst(sample)
    timeout, early = kinds == "timeout", kinds == "early-repair"
    missed = timeout & (truths == "false") & (taken != "false")
    excused = timeout & (taken == "false")
    return Verdicts(
        right=int(np.sum(excused & (truths != "true")) + np.sum(early & one_burst)),
        wrong=int(np.sum(excused & (truths == "true")) + np.sum(early & ~one_burst)),
        missed=int(np.sum(missed)),
        several=int(np.sum(early & ~one_burst)),
        apart=int(np.sum(timeout & ((truths == "false") != one_burst))),
    )


def _one_burst(sample: Sample) -> np.ndarray:
    """Whether the losses behind each event were all in one burst."""
    losses = sample.tables["ledger_losses"]
    count = len(sample.tables["ledger"])
    events = losses["event"].astype(np.int64)
    # A packet that was in no burst counts as one of burst 0.
    bursts = losses["burst"]
    bursts = np.nan_to_num(np.asarray(bursts, dtype=float), nan=0.0)
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, events, bursts)
    np.maximum.at(most, events, bursts)
    return (least == most) & (least > 0)


def detectors(context: Context) -> Findings:
    """Measure precision, recall and throughput of every detector at every corner."""
    plan = context.plan
    bound = plan["bound"]

    def wanted(corner: Corner) -> list[Estimate]:
        return [
            corner.ratio(name, bound, packets_per_s) for name in corner.samples if name != bound
        ]

    corners = run_grid(context, "grid", wanted)
    findings = Findings()
    cells: list[HeatCell] = []
    pooled: dict[tuple[str, str], Pooled] = {}
    for corner in corners:
        column, _, timer = corner.group.rpartition(", ")
        at = f"{timer.removeprefix('T_b = ')}, {corner.label}"
        for name, samples in corner.samples.items():
            seen = Pooled([verdicts(one) for one in samples])
            pooled.setdefault((column, name), Pooled()).ones.extend(seen.ones)
            goodput = corner.ratio(name, bound, packets_per_s)
            if name != "none":
                cells.append(_cell(_PRECISION, column, at, name, seen.precision()))
                cells.append(_cell(_RECALL, column, at, name, seen.recall()))
            if name != bound:
                cells.append(_cell(_GOODPUT, column, at, name, goodput))
    _add_measures(context, corners, pooled, findings)
    lines = [
        HeatLine(_PRECISION, 0.0, 1.0),
        HeatLine(_RECALL, 0.0, 1.0),
        HeatLine(_GOODPUT, 0.4, 1.0),
    ]
    findings.charts[context.target] = heat_chart(
        cells, lines, x_title="T_b, burst loss probability"
    )
    findings.data[context.target] = heat_rows(cells)
    findings.notes.append(_LEGEND)
    note_precision(corners, findings)
    return findings


def _cell(line: str, column: str, at: str, name: str, estimate: Estimate | None) -> HeatCell:
    if estimate is None:
        return HeatCell(column, line, at, name, None)
    return HeatCell(column, line, at, name, estimate.mean, estimate.ci95, estimate.n)


def _add_measures(
    context: Context,
    corners: Sequence[Corner],
    pooled: dict[tuple[str, str], Pooled],
    findings: Findings,
) -> None:
    measures = findings.measures
    for (column, name), seen in pooled.items():
        if name == "none":
            continue
        for what, estimate in (("precision", seen.precision()), ("recall", seen.recall())):
            if estimate is not None:
                label = f"{what}, {name}, {column}"
                context.tell(findings, label, estimate)
    bound = context.plan["bound"]
    everything = {
        name: Pooled([one for (_, n), seen in pooled.items() if n == name for one in seen.ones])
        for name in corners[0].samples
    }
    measures["oracle: false time-outs that cost a slow start"] = everything[bound].total("missed")
    measures["oracle: wrong verdicts"] = everything[bound].total("wrong")
    measures["none: false time-outs that did not lose exactly one burst, and others that did"] = (
        everything["none"].total("apart")
    )
    measures["BNAK: repairs before the time-out of more than one burst"] = everything["BNAK"].total(
        "several"
    )
    measures["replications with fast flow and lossless access in which BLE and BACK differ"] = sum(
        _differ(corner, "BLE", other)
        for corner in corners
        if corner.group.startswith("fast flow, lossless access")
        for other in ("BACK, ingress", "BACK, both")
    )
    counters = [
        sample.summary["counters"]
        for corner in corners
        if "lossy access" in corner.group
        for samples in corner.samples.values()
        for sample in samples
    ]
    measures["burst ACKs and burst NAKs lost on a lossy access link"] = sum(
        one["notices_lost"] for one in counters
    )
    best = max(
        (corner.ratio(name, bound, packets_per_s).low, name)
        for corner in corners
        for name in corner.samples
        if name != bound and corner.group.startswith("fast flow, lossless access")
    )
    measures["fast flow, lossless access: most throughput over the oracle's"] = best[0]


def _differ(corner: Corner, one: str, other: str) -> int:
    return sum(
        a.summary["fingerprint"] != b.summary["fingerprint"]
        for a, b in zip(corner.samples[one], corner.samples[other], strict=True)
    )


TARGETS = {"detectors": detectors}
