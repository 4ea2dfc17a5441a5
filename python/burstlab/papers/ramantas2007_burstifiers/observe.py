"""Runs of the network, reduced to what the figures and tables are made of.

A plan has ``series`` (``label``, ``set``), optionally ``points`` (``label``, ``x``, ``set``), and
for each effort ``warmup``, ``duration`` and ``replications``, which a series may change for itself.
Every series is run at every point with the same random numbers. Targets that need the same run
share it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.loading import Document
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.making import Monitor, make_all, replication
from burstlab.results import Replication, together
from burstlab.statistics import Estimate, ask_until, mean_ci95, paired_ratio
from burstlab.studies.running import PointRun
from burstlab.studies.work import Order

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PS = 1e-12
_MEGA = 1e6
_ALONE: Document = {"label": "", "x": 0.0}

#: A pair of edge nodes, by name.
Pair = tuple[str, str]


@dataclass(frozen=True)
class Flows:
    """Connections that were done in the measured time.

    Attributes
    ----------
    size
        File size, bytes.
    seconds
        From the start until all of the file had arrived.
    acknowledged
        From the start to the last ACK, with which the source is done.
    bursts, lost
        Bursts with a segment of the connection, retransmissions included; those of them that were
        lost.
    timeouts
        Time-outs of the connection.
    """

    size: NDArray[np.float64]
    seconds: NDArray[np.float64]
    acknowledged: NDArray[np.float64]
    bursts: NDArray[np.float64]
    lost: NDArray[np.float64]
    timeouts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.size)

    @property
    def throughput(self) -> NDArray[np.float64]:
        """File size over the time until all of it had arrived, Mb/s."""
        return self.size * 8.0 / self.seconds / _MEGA

    @property
    def acknowledged_throughput(self) -> NDArray[np.float64]:
        """File size over the time until the last ACK, Mb/s."""
        return self.size * 8.0 / self.acknowledged / _MEGA

    def where(self, keep: NDArray[np.bool_]) -> Flows:
        """Return those that are marked."""
        return Flows(
            self.size[keep],
            self.seconds[keep],
            self.acknowledged[keep],
            self.bursts[keep],
            self.lost[keep],
            self.timeouts[keep],
        )


@dataclass(frozen=True)
class Seen:
    """The measurements of one replication in its measured time.

    Attributes
    ----------
    network, demand
        The parts of the summary.
    flows
        Connections that were done: ``"all"``, ``"pair"``, those of the pair of the plan, and those
        of each pair, by the name that `pair_name` gives.
    histograms
        Values that occurred, and how often, by name.
    active
        Unfinished connections per edge node, one number per sample of the measured time.
    rise
        The same in all edge nodes, from the start of the run on, one number per sample.
    aged_s
        How much the ages of all unfinished connections together grew from the start of the measured
        time to its end.
    begun
        File sizes of the connections that began in the measured time, bytes.
    measured_s
        The measured time.
    """

    network: Mapping[str, Any]
    demand: Mapping[str, Any]
    flows: Mapping[str, Flows]
    histograms: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    active: NDArray[np.float64]
    rise: NDArray[np.float64]
    aged_s: float
    begun: NDArray[np.float64]
    measured_s: float

    def quantile(self, of: str, share: float) -> float:
        """Return the least value of a histogram that this share does not exceed."""
        values, counts = self.histograms[of]
        below = np.cumsum(counts) / np.sum(counts)
        return float(values[np.searchsorted(below, share - 1e-12)])

    def drift(self) -> float:
        """Return the second half's mean of active sources over the first half's.

        Not a number where there are fewer than two samples.
        """
        half = len(self.active) // 2
        if half == 0:
            return float("nan")
        return float(self.active[half:].mean() / self.active[:half].mean())


@dataclass(frozen=True)
class Corner:
    """One series at one point."""

    series: str
    point: str
    x: float
    seen: Sequence[Seen]

    def values(self, of: Callable[[Seen], float]) -> list[float]:
        """Return a number of each replication."""
        return [of(one) for one in self.seen]

    def mean(self, of: Callable[[Seen], float]) -> Estimate:
        """Return the mean of a number over the replications."""
        return mean_ci95(self.values(of))

    def over(self, other: Corner, of: Callable[[Seen], float]) -> Estimate:
        """Return the ratio to another corner, replication by replication."""
        return paired_ratio(self.values(of), other.values(of))

    def flows(self, of: str) -> Flows:
        """Return the connections of all replications together."""
        parts = [one.flows[of] for one in self.seen]
        return Flows(
            np.concatenate([part.size for part in parts]),
            np.concatenate([part.seconds for part in parts]),
            np.concatenate([part.acknowledged for part in parts]),
            np.concatenate([part.bursts for part in parts]),
            np.concatenate([part.lost for part in parts]),
            np.concatenate([part.timeouts for part in parts]),
        )

    def histogram(self, of: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a histogram over all replications."""
        values = np.concatenate([one.histograms[of][0] for one in self.seen])
        counts = np.concatenate([one.histograms[of][1] for one in self.seen])
        distinct, place = np.unique(values, return_inverse=True)
        return distinct, np.bincount(place, weights=counts).astype(np.float64)


def observe(context: Context) -> dict[str, list[Corner]]:
    """Run what the plan lists; return the corners of each series, in the order of the points."""
    plan = context.plan
    cells = [(one, point) for one in plan["series"] for point in plan.get("points", [_ALONE])]
    wanted = [_wanted(context, one, point) for one, point in cells]
    _make(context, [one for one in wanted if one.key not in context.kept])
    corners: dict[str, list[Corner]] = {}
    for (one, point), run in zip(cells, wanted, strict=True):
        fingerprint, seen = context.kept[run.key]
        context.fingerprints.append(fingerprint)
        corner = Corner(one["label"], point["label"], float(point["x"]), seen)
        corners.setdefault(one["label"], []).append(corner)
    return corners


@dataclass(frozen=True)
class _Wanted:
    """A scenario with its number of runs; a pair of nodes in it is counted separately."""

    label: str
    scenario: Document
    count: int
    pair: Pair

    @property
    def key(self) -> str:
        """The name under which the run is kept, for later targets."""
        return json.dumps([self.scenario, self.count, self.pair], sort_keys=True)


def _wanted(context: Context, one: Document, point: Document) -> _Wanted:
    plan = context.plan
    effort: Document = {**plan[context.effort], **one.get(context.effort, {})}
    settings = {
        **plan.get("set", {}),
        **point.get("set", {}),
        **one.get("set", {}),
        "run.warmup": effort["warmup"],
        "run.duration": effort["duration"],
    }
    label = " ".join(part for part in (one["label"], point["label"]) if part)
    pair: Pair = (plan["pair"][0], plan["pair"][1])
    return _Wanted(label, context.scenario(settings), int(effort["replications"]), pair)


def _make(context: Context, wanted: Sequence[_Wanted]) -> None:
    """Run what is wanted, all at a time, and keep what it showed."""
    distinct = list({one.key: one for one in wanted}.values())
    point_runs: list[tuple[str, PointRun[tuple[str, Seen]]]] = []
    reduce: dict[str, Callable[[Replication], Seen]] = {}
    for place, one in enumerate(distinct):
        text = json.dumps(one.scenario)
        times = (_seconds(one.scenario, "warmup"), _seconds(one.scenario, "duration"))
        reduce[text] = partial(_reduced, pair=one.pair, times=times)
        asking = ask_until(lambda _: True, first=one.count, batch=1, most=one.count)
        point_runs.append(
            (one.label, PointRun(place, int(one.scenario["run"]["seed"]), {"": text}, asking))
        )

    def make(order: Order, number: int, monitor: Monitor) -> tuple[str, Seen]:
        found = replication(order, number, monitor)
        return str(found.summary["fingerprint"]), reduce[order.scenario](found)

    done = make_all(context, point_runs, [one.scenario for one in distinct], make)
    for one, samples in zip(distinct, (each.samples[""] for each in done), strict=True):
        prints = together([fingerprint for fingerprint, _ in samples])
        context.kept[one.key] = prints, [seen for _, seen in samples]


def _seconds(scenario: Document, name: str) -> float:
    """Return a time of a resolved scenario, which reads like ``"20 s"``."""
    value, unit = str(scenario["run"][name]).split()
    return float(value) * {"s": 1.0, "ms": 1e-3}[unit]


def pair_name(start: str, end: str) -> str:
    """Return the key of a pair's connections."""
    return f"{start} to {end}"


def _reduced(one: Replication, pair: Pair, times: tuple[float, float]) -> Seen:
    warmup_s, duration_s = times
    table = one.tables["connections"]
    columns = {name: table.column(name) for name in table.columns}

    def number(name: str) -> NDArray[np.float64]:
        return np.asarray(columns[name].to_numpy(), dtype=np.float64)

    started, completed = number("started_ps") * _PS, number("completed_ps") * _PS
    done = completed >= warmup_s
    flows = Flows(
        number("bytes"),
        number("received_ps") * _PS - started,
        completed - started,
        number("bursts"),
        number("bursts_lost"),
        number("timeouts"),
    )
    ends = [np.asarray(columns[name].to_pylist()) for name in ("from", "to")]
    names = np.char.add(np.char.add(ends[0].astype(str), " to "), ends[1].astype(str))
    grouped = {str(name): flows.where(done & (names == name)) for name in np.unique(names)}
    instants, active = _active(one)
    measured = instants > warmup_s
    sites = len(np.unique(ends[0]))
    none = flows.where(np.zeros(len(flows), dtype=np.bool_))
    return Seen(
        one.network,
        one.demand[0],
        {"all": flows.where(done), "pair": grouped.get(pair_name(*pair), none), **grouped},
        _histograms(one),
        active[measured] / sites,
        active,
        _ages(started, completed, duration_s) - _ages(started, completed, warmup_s),
        flows.size[started >= warmup_s],
        duration_s - warmup_s,
    )


def _active(one: Replication) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the instants of the samples, and the unfinished connections at each."""
    samples = one.tables["samples"]
    at = samples["t_ps"] * _PS
    instants, place = np.unique(at, return_inverse=True)
    counts = samples["active"].astype(np.float64)
    return instants, np.bincount(place, weights=counts).astype(np.float64)


def _ages(started: NDArray[np.float64], completed: NDArray[np.float64], at: float) -> float:
    """Return the total age of the connections that are unfinished at an instant."""
    under_way = (started < at) & ~(completed <= at)
    return float((at - started[under_way]).sum())


def _histograms(
    one: Replication,
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    table = one.tables["histograms"]
    names = np.asarray(table.column("of").to_pylist())
    values = table["value"].astype(np.float64)
    counts = table["count"].astype(np.float64)
    found = {str(name): names == name for name in np.unique(names)}
    return {name: (values[keep], counts[keep]) for name, keep in found.items()}


def note_steadiness(corners: Mapping[str, Sequence[Corner]], findings: Findings) -> None:
    """Describe how much the number of active sources changes during the measurement."""
    drifts = [
        f"{' '.join(part for part in (series, corner.point) if part)}: "
        f"{corner.mean(Seen.drift).mean:.2f}"
        for series, row in corners.items()
        for corner in row
    ]
    findings.notes.append(
        "Active sources in the second half of the measured time over those in the first: "
        + ", ".join(drifts)
        + "."
    )
