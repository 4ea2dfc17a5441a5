"""Statements of the text about its parts: the window, the assembly of bursts, the cell alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from burstlab import batches, hurst
from burstlab.analytic import wlan
from burstlab.papers.martinez2007_wlan.measured import (
    COLOURS,
    Placed,
    assembly_delay,
    away,
    curve,
    dots,
    everything,
    largest,
    optical_loss,
    over,
    round_trip,
    share,
    throughput,
)
from burstlab.plot import Axes, Curve, CurvePanel, Dot
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, mean_ci95

_TCP = "New-Reno"

#: Bits of a segment without headers.
_SEGMENT = 8 * 1460

#: Packets of a saturated station.
_PACKET = 8 * 1500


def window(context: Context) -> Findings:
    """Measure how the window grows with each ACK, and throughput over window and round trip."""
    findings = Findings()
    (rules,) = run_grid(context, "rules", everything)
    label = "slow start: growth with an ACK"
    context.tell(findings, label, rules.mean(_TCP, _slow_start))
    label = "congestion avoidance: growth with an ACK, times the window"
    context.tell(findings, label, rules.mean(_TCP, _avoidance))
    context.tell(findings, "round trips that exceed the RTO", rules.mean(_TCP, _beyond_rto))
    label = "round trips that exceed the smoothed one"
    context.tell(findings, label, rules.mean(_TCP, _beyond_mean))
    curves: list[Curve] = []
    for i, corner in enumerate(run_grid(context, "law", everything)):
        law = corner.mean(_TCP, _little)
        context.tell(findings, f"{corner.label}: throughput over window / round trip", law)
        context.tell(findings, f"{corner.label}: mean window", corner.mean(_TCP, _mean_window))
        late = corner.mean(_TCP, _shortest)
        name = f"{corner.label}: throughput over window / shortest round trip"
        context.tell(findings, name, late)
        at, brought = corner.mean(_TCP, _over_trip), corner.mean(_TCP, throughput)
        dot = Dot(at.mean, brought.mean, brought.ci95, brought.n)
        curves.append(curve(corner.label, COLOURS[1 + i], [dot]))
    most = max(found.dots[0].x for found in curves)
    equal = Curve("printed: equal", COLOURS[0], [Dot(0.0, 0.0), Dot(most, most)], "dashed")
    panels = [CurvePanel("throughput is window over round trip", [equal, *curves])]
    axes = Axes("window / round trip (Mb/s)", "throughput (Mb/s)", domain=(0.0, 1.05 * most))
    findings.draw(context.target, panels, axes)
    return findings


def _acks(sample: Sample) -> Mapping[str, np.ndarray]:
    """Return the columns of the trace of the window."""
    table = sample.tables["cwnd"]
    return {name: table[name] for name in ("cwnd", "in_flight", "t_ps")} | {
        name: np.asarray(table.column(name).to_pylist(), dtype=object)
        for name in ("state", "event", "sample_ps", "rto_ps", "srtt_ps")
    }


def _growth(sample: Sample, state: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the window before each ACK in a state, and by how much the ACK changed it."""
    acks = _acks(sample)
    inside = (acks["state"][1:] == state) & (acks["state"][:-1] == state)
    inside &= acks["event"][1:] == "ack"
    before = acks["cwnd"][:-1][inside]
    return before, acks["cwnd"][1:][inside] - before


def _slow_start(sample: Sample) -> float:
    return float(np.mean(_growth(sample, "slow-start")[1]))


def _avoidance(sample: Sample) -> float:
    before, grown = _growth(sample, "congestion-avoidance")
    return float(np.mean(before * grown))


def _beyond_rto(sample: Sample) -> float:
    """Return the share of round trips that exceed the time-out set before them."""
    return _beyond(sample, "rto_ps")


def _beyond(sample: Sample, column: str) -> float:
    acks = _acks(sample)
    pairs = [
        (trip, limit)
        for trip, limit in zip(acks["sample_ps"][1:], acks[column][:-1], strict=True)
        if trip and limit
    ]
    return float(np.mean([trip > limit for trip, limit in pairs]))


def _beyond_mean(sample: Sample) -> float:
    """Return the share of round trips that exceed the smoothed one before them."""
    return _beyond(sample, "srtt_ps")


def _mean_window(sample: Sample) -> float:
    """Return the segments in flight, averaged over time from the end of the warm-up on."""
    acks = _acks(sample)
    from_ps = 1e12 * (float(sample.summary["simulated_s"]) - float(sample.summary["measured_s"]))
    later = acks["t_ps"] >= from_ps
    times, flight = acks["t_ps"][later].astype(float), acks["in_flight"][later].astype(float)
    return float(np.sum(flight[:-1] * np.diff(times)) / (times[-1] - times[0]))


def _over_trip(sample: Sample) -> float:
    """Return the mean window over the mean round trip, in Mb/s of data."""
    return _mean_window(sample) * _SEGMENT / 1e3 / round_trip(sample)


def _little(sample: Sample) -> float:
    return throughput(sample) / _over_trip(sample)


def _shortest(sample: Sample) -> float:
    trips = [trip for trip in _acks(sample)["sample_ps"] if trip]
    return throughput(sample) / (_mean_window(sample) * _SEGMENT / 1e3 / (min(trips) / 1e9))


def assembly(context: Context) -> Findings:
    """Measure what closes bursts, what loses them, and what the background is."""
    findings = Findings()
    measures, panels = findings.measures, list[CurvePanel]()
    closing = run_grid(context, "closing", everything)
    for corner in closing:
        start = f"{corner.group}, {corner.label}"
        for what, number in (
            ("bursts are open (ms)", assembly_delay),
            ("bytes of a burst", _burst_bytes),
            ("mean round trip (ms)", round_trip),
        ):
            context.tell(findings, f"{start}: {what}", corner.mean(_TCP, number))
    for group in ("idle", "heavy"):
        for changed in ("5 ms, 70 kB", "10 ms, 35 kB"):
            names = [f"{group}, {at}: bursts are open (ms)" for at in (changed, "10 ms, 70 kB")]
            first, second = (_estimate(measures[name]) for name in names)
            measures[f"{group}, {changed}: bursts are open, over 10 ms, 70 kB"] = share(
                first, second
            )
    losing = run_grid(context, "losing", everything)
    stated = losing[0].mean(_TCP, optical_loss)
    for corner in losing:
        loss = corner.mean(_TCP, optical_loss)
        context.tell(findings, f"{corner.label}: packets in lost bursts", loss)
        measures[f"{corner.label}: loss over that as stated"] = share(loss, stated)
    slow = [
        corner.mean(_TCP, optical_loss)
        for count in ("one channel", "two channels")
        for corner in losing
        if corner.label == f"slow headers, {count}"
    ]
    measures["slow headers: loss with one channel over that with two"] = share(*slow)
    _tell_stated(context, findings, closing)
    for panel in context.plan["panels"]:
        curves = [
            curve(
                group, COLOURS[i], dots(_placed(closing, group, panel["at"]), _TCP, assembly_delay)
            )
            for i, group in enumerate(("idle", "heavy"))
        ]
        panels.append(CurvePanel(panel["title"], curves))
    axes = Axes(
        "timer (ms) or size (kB)", "bursts are open (ms)", log_x=True, log_y=True, width=380
    )
    findings.draw(context.target, panels, axes)
    return findings


def _placed(closing: list[Corner], group: str, at: Mapping[str, float]) -> list[Placed]:
    """Place the corners of a load where a panel has them."""
    of_group = {corner.label: corner for corner in closing if corner.group == group}
    return [(float(x), of_group[label]) for label, x in at.items()]


def _tell_stated(context: Context, findings: Findings, closing: list[Corner]) -> None:
    """Measure in the runs what section 5.1 states of bursts and of the background."""
    scenario = context.scenario({})
    drawn = batches.draw(scenario, context.plan["draw"], between=("E1", "E2"))
    heavy = [c for c in closing if (c.group, c.label) == ("heavy", "10 ms, 70 kB")]
    rate = heavy[0].mean(_TCP, _batches_a_second)
    context.tell(findings, "batches a second between two edge nodes", rate)
    context.tell(findings, "Hurst exponent of arrivals", _exponent(drawn.gaps_s))
    context.tell(findings, "Hurst exponent of sizes", _exponent(drawn.sizes))
    idle = [c for c in closing if (c.group, c.label) == ("idle", "10 ms, 70 kB")]
    label = "idle: seconds until the timer closes a burst"
    context.tell(findings, label, idle[0].mean(_TCP, lambda one: assembly_delay(one) / 1e3))
    label = "heavy: bytes at which a burst is closed"
    context.tell(findings, label, heavy[0].mean(_TCP, _burst_bytes))


def _exponent(drawn: ArrayLike) -> Estimate:
    """Return the Hurst exponent by the local Whittle estimator."""
    found = hurst.local_whittle(drawn)
    low, high = found.interval or (found.h, found.h)
    return Estimate(found.h, (high - low) / 2.0, 1)


def _burst_bytes(sample: Sample) -> float:
    return float(sample.network["all"]["bytes_per_burst"])


def _batches_a_second(sample: Sample) -> float:
    pairs = len(sample.network["all"]["routes"])
    return float(sample.summary["counters"]["batches_sent"]) / pairs / sample.summary["simulated_s"]


def _estimate(measure: object) -> Estimate:
    assert isinstance(measure, Estimate)
    return measure


#: The closed form, and wrong ones.
_LAWS: Mapping[str, Callable[[int, str], wlan.Saturation]] = {
    "Bianchi": lambda n, access: wlan.saturation(n, access=access, tries=7),
    "Bianchi with DIFS after a collision": lambda n, access: wlan.saturation(
        n, access=access, tries=7, after_collision="difs"
    ),
    "one window for all tries": lambda n, access: wlan.saturation(
        n, access=access, tries=7, stages=0
    ),
    "no collisions": lambda n, access: wlan.saturation(1, access=access),
}


def bianchi(context: Context) -> Findings:
    """Hold a saturated cell against the closed forms."""
    findings, panels = Findings(), list[CurvePanel]()
    off: dict[str, list[Estimate]] = {}
    corners = run_grid(context, "grid", everything)
    for access in dict.fromkeys(corner.group for corner in corners):
        row = [corner for corner in corners if corner.group == access]
        curves: dict[str, list[Dot]] = {name: [] for name in _LAWS}
        measured: list[Dot] = []
        for corner in row:
            carried = mean_ci95([_carried(context, s) for s in corner.samples["saturated"]])
            stations = int(corner.label)
            start = f"{access}, {stations} stations"
            context.tell(findings, f"{start}: throughput (Mb/s)", carried)
            measured.append(Dot(stations, carried.mean, carried.ci95, carried.n))
            for name, law in _LAWS.items():
                model = law(stations, access).throughput_mbps
                curves[name].append(Dot(stations, model))
                ratio = over(carried, model)
                off.setdefault(name, []).append(away(ratio))
                if name == "Bianchi":
                    context.tell(findings, f"{start}: measured over the model", ratio)
        drawn = [
            Curve(name, COLOURS[1 + i], found, "dashed" if i else "line")
            for i, (name, found) in enumerate(curves.items())
        ]
        panels.append(CurvePanel(access, [*drawn, curve("measured", COLOURS[0], measured)]))
    for name, every in off.items():
        findings.measures[f"furthest from {name}"] = largest(every)
    axes = Axes("stations", "saturation throughput (Mb/s)", width=380)
    findings.draw(context.target, panels, axes)
    return findings


def _carried(context: Context, sample: Sample) -> float:
    """Return the saturation throughput in Mb/s, packets of 1500 B with their headers."""
    delivered = float(sample.wlan[0]["up"]["delivered"])
    saturated_s = float(sample.summary["simulated_s"]) - context.plan["begins_s"]
    return delivered * _PACKET / saturated_s / 1e6


TARGETS = {"window": window, "assembly": assembly, "bianchi": bianchi}
