"""Connections that come and go: their table, their demands, the samples."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from audit.checks import Audit
from audit.flows import Received, of_edge
from audit.result import NONE, Run, rate_bps, size_bytes, span_ps

#: Percentiles of the summary, in thousandths.
_QUANTILES = {"p50": 500, "p90": 900, "p99": 990, "p999": 999}


def check(run: Run, audit: Audit) -> None:
    """Compute the numbers of demands again from their connections, and these from the packets."""
    if "demand" not in run.summary:
        return
    table = run.table("connections")
    names = [node["name"] for node in run.summary["network"]["nodes"]]
    _connections(run, audit, table)
    _samples(run, audit, table, names)
    for index in range(len(run.summary["demand"])):
        _demand(run, audit, table, index)
    _per_flow(run, audit, table)


def _demand(run: Run, audit: Audit, table: Any, index: int) -> None:
    path = f"demand[{index}]"
    mine = table["demand"] == index
    started, done = table["started_ps"][mine], table["completed_ps"][mine]
    received, sizes = table["received_ps"][mine], table["bytes"][mine]
    audit.equal(f"{path}.started", len(started))
    audit.equal(f"{path}.completed", int((done != NONE).sum()))
    until = np.where(done == NONE, run.end, done)
    inside = np.clip(until, run.start, run.close) - np.clip(started, run.start, run.close)
    audit.equal(f"{path}.active", int(inside.sum()) / max(run.measured, 1))
    cohort = run.began(started)
    audit.equal(f"{path}.cohort", int(cohort.sum()))
    for name, ends, missing in (
        ("received", received, "censored"),
        ("acknowledged", done, "unacknowledged"),
    ):
        took = [
            (end - begin if end != NONE else None, run.end - begin)
            for begin, end in zip(started[cohort].tolist(), ends[cohort].tolist(), strict=True)
        ]
        audit.equal(f"{path}.{missing}", sum(one is None for one, _ in took))
        for what, value in _spread(took).items():
            audit.equal(f"{path}.{name}_{what}_s", value)
    _offered(run, audit, path, run.scenario["demand"][index])
    _slowdowns(run, audit, path, table, mine, cohort)
    _departed(run, audit, f"{path}.departed", started, done, sizes)


def _offered(run: Run, audit: Audit, path: str, demand: Mapping[str, Any]) -> None:
    """Compute the load that the scenario says: each edge node sends, and gets, as much as another.

    Only how busy the busiest fibre is depends on routes.
    """
    transit = re.compile(r"hub|left|right|agg.*|core.*|spine.*")
    names = [node["name"] for node in run.summary["network"]["nodes"]]
    nodes = sum(not transit.fullmatch(name) for name in names)
    access, network = run.scenario["access"], run.scenario["network"]
    near = rate_bps(access["rate"])
    far = rate_bps(access.get("receiver", {}).get("rate", access["rate"]))
    bits = 8.0 * _mean(demand["size"])
    links = network.get("link") or [{}]
    wavelengths = [one.get("wavelengths", network["wavelengths"]) for one in links]
    fibre = rate_bps(network["link_rate"]) * min(wavelengths)
    share, of = demand.get("load"), demand.get("load_of")
    if demand["pattern"] != "poisson":
        starts = demand["senders"] if demand["pattern"] == "incast" else nodes
        flows = starts / (span_ps(demand["every"]) * 1e-12)
    elif share is None:
        assert demand["per"] == "network"
        flows = demand["flows_per_second"]
    elif of == "fibre":
        # The summary repeats the load of the scenario.
        found = run.summary["demand"][int(path[7:-1])]
        flows = found["offered_flows_per_second"]
        assert found["offered_load_fibre"] == pytest.approx(share)
    else:
        flows = share * nodes * (far if of == "receiver" else near) / bits
    audit.equal(f"{path}.offered_flows_per_second", flows)
    audit.equal(f"{path}.offered_bps", flows * bits)
    audit.equal(f"{path}.offered_load_access", flows * bits / nodes / near)
    audit.equal(f"{path}.offered_load_receiver", flows * bits / nodes / far)
    audit.within(f"{path}.offered_load_fibre", 0.0, flows * bits / fibre)


def _mean(size: Mapping[str, Any]) -> float:
    """Return the mean of a distribution of sizes in bytes."""
    if size["distribution"] == "mixture":
        weight = sum(part["weight"] for part in size["parts"])
        return sum(part["weight"] * _mean(part) for part in size["parts"]) / weight
    if size["distribution"] == "pareto":
        return size_bytes(size["min"]) * size["shape"] / (size["shape"] - 1.0)
    return size_bytes(size["mean"])


def _spread(took: Sequence[tuple[int | None, int]]) -> dict[str, float | None]:
    """Return mean and percentiles in s; none of these where one that is censored changes it."""
    if not took:
        return dict.fromkeys(("mean", "mean_bound", *_QUANTILES))
    whole = [one for one, _ in took if one is not None]
    bound = [age if one is None else one for one, age in took]
    found: dict[str, float | None] = {
        "mean": sum(whole) / len(whole) * 1e-12 if len(whole) == len(took) else None,
        "mean_bound": sum(bound) / len(bound) * 1e-12,
    }
    for name, thousandths in _QUANTILES.items():
        value = quantile(took, thousandths)
        found[name] = None if value is None else value * 1e-12
    return found


def quantile(took: Sequence[tuple[float | None, float]], thousandths: int) -> float | None:
    """Return the least value that so much of all do not exceed.

    None where it depends on one that is censored: those are known to be above their ages only.
    """
    rank = math.ceil(len(took) * thousandths / 1000)
    low = sorted(age if one is None else one for one, age in took)[rank - 1]
    high = sorted(math.inf if one is None else one for one, _ in took)[rank - 1]
    return low if low == high else None


def _slowdowns(run: Run, audit: Audit, path: str, table: Any, mine: Any, cohort: Any) -> None:
    rows = np.flatnonzero(mine)[cohort]
    classes: dict[int, list[tuple[float | None, float]]] = {}
    for row in rows.tolist():
        size = int(table["bytes"][row])
        least = 10 ** (len(str(size)) - 1) if size >= 10 else 0
        ideal, began = int(table["ideal_ps"][row]), int(table["started_ps"][row])
        end = int(table["received_ps"][row])
        slow = None if end == NONE else (end - began) / ideal
        classes.setdefault(least, []).append((slow, (run.end - began) / ideal))
    every = [one for took in classes.values() for one in took]
    audit.equal(f"{path}.slowdown_mean", average(every))
    audit.equal(f"{path}.slowdown_p50", quantile(every, 500) if every else None)
    audit.equal(f"{path}.slowdown_p99", quantile(every, 990) if every else None)
    found = run.summary["demand"][int(path[7:-1])]["slowdown"]
    audit.claim(
        [one["from_bytes"] for one in found] == sorted(classes), f"{path}.slowdown: classes"
    )
    for place, (least, took) in enumerate(sorted(classes.items())):
        here = f"{path}.slowdown[{place}]"
        censored = sum(one is None for one, _ in took)
        audit.equal(f"{here}.from_bytes", least)
        audit.equal(f"{here}.below_bytes", 10 * max(least, 1))
        audit.equal(f"{here}.connections", len(took))
        audit.equal(f"{here}.censored", censored)
        whole = [one for one, _ in took if one is not None]
        audit.equal(f"{here}.mean", average(took))
        audit.equal(f"{here}.p50", quantile(took, 500))
        audit.equal(f"{here}.p99", quantile(took, 990))
        audit.claim(all(one >= 1 - 1e-9 for one in whole), f"{here}: faster than ideal, {whole}")


def average(took: Sequence[tuple[float | None, float]]) -> float | None:
    """Return the mean, none of nothing or where one is censored."""
    whole = [one for one, _ in took if one is not None]
    return sum(whole) / len(whole) if whole and len(whole) == len(took) else None


def _departed(run: Run, audit: Audit, path: str, started: Any, done: Any, sizes: Any) -> None:
    gone = run.since_start(done) & run.warm_at(done)
    took = (done - started)[gone].tolist()
    rates = [
        size * 8 / (time * 1e-12) for size, time in zip(sizes[gone].tolist(), took, strict=True)
    ]
    count = max(len(took), 1)
    average = sum(rates) / count
    audit.equal(f"{path}.connections", len(took))
    audit.equal(f"{path}.completion_time_s", sum(took) / count * 1e-12)
    audit.equal(f"{path}.throughput_bps", average)
    spread = sum((rate - average) ** 2 for rate in rates) / count
    audit.equal(f"{path}.throughput_variance", spread, relative=1e-6, absolute=1e-9 * average**2)
    audit.equal(f"{path}.throughput_range_bps[0]", min(rates, default=0.0))
    audit.equal(f"{path}.throughput_range_bps[1]", max(rates, default=0.0))
    audit.equal(f"{path}.size_bytes", sum(sizes[gone].tolist()) / count)


def _connections(run: Run, audit: Audit, table: Any) -> None:
    """The rows of connections, by packets and by what happened at their senders."""
    packets, ledger, bursts = run.table("packets"), run.table("ledger"), run.table("bursts")
    audit.claim(len(set(table["id"].tolist())) == len(table["id"]), "connections: an id twice")
    lost_bursts = set(bursts["burst"][bursts["fate"] == "lost"].tolist())
    closed = set(bursts["burst"].tolist())
    data, acks = packets["kind"] == "data", packets["kind"] == "ack"
    for row, number in enumerate(table["id"].tolist()):
        demand = run.scenario["demand"][table["demand"][row]]
        tcp = {**run.scenario["tcp"], **{k: v for k, v in demand["tcp"].items() if v is not None}}
        payload = size_bytes(tcp["segment_size"]) - 40
        mine = data & (packets["flow"] == number)
        seqs, fates = packets["seq"][mine], packets["fate"][mine]
        last = -(-int(table["bytes"][row]) // payload)
        audit.claim(seqs.max(initial=0) <= last, f"connections[{row}]: more segments than bytes")
        lost = fates == "lost"
        kinds = ledger["kind"][ledger["flow"] == number]
        truths = ledger["truth"][ledger["flow"] == number]
        carried = set(packets["burst"][mine].tolist()) & closed
        whole = mine & (packets["fate"] == "lost") & (packets["cause"] == "burst-lost")
        gone = set(packets["burst"][whole].tolist()) & lost_bursts
        heard = acks & (packets["flow"] == number) & (packets["seq"] >= last)
        times = packets["delivered_ps"][heard & (packets["fate"] == "delivered")]
        expected = {
            "started_ps": packets["sent_ps"][mine].min(initial=run.end),
            "received_ps": _received(run, mine, last, tcp["window"]),
            "completed_ps": times.min() if len(times) else NONE,
            "packets_sent": mine.sum(),
            "packets_lost": lost.sum(),
            "retransmissions": ((packets["transmission"] > 1) & mine & ~of_edge(run)).sum(),
            "timeouts": (kinds == "timeout").sum(),
            "false_timeouts": ((kinds == "timeout") & (truths == "false")).sum(),
            "fast_retransmits": np.isin(kinds, ("fast-retransmit", "edge-retransmit")).sum(),
            "bursts": len(carried),
            "bursts_lost": len(gone),
            "class": demand["class"] if demand.get("class") is not None else 0,
        }
        for name, value in expected.items():
            found = int(table[name][row])
            audit.claim(found == value, f"connections.{name}[{row}] = {found}, not {value}")


def _received(run: Run, mine: Any, last: int, window: int) -> int:
    packets = run.table("packets")
    there = mine & (packets["fate"] == "delivered")
    times, seqs = packets["delivered_ps"][there], packets["seq"][there]
    order = np.argsort(times, kind="stable")
    receiver = Received(window)
    for time, seq in zip(times[order].tolist(), seqs[order].tolist(), strict=True):
        receiver.take(seq)
        if receiver.next > last:
            return time
    return NONE


def _samples(run: Run, audit: Audit, table: Any, names: list[str]) -> None:
    """The number of active connections, counted again from when each began and ended."""
    samples = run.table("samples")
    if not samples:
        return
    begun: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    for node, start, end in zip(
        table["from"], table["started_ps"], table["completed_ps"], strict=True
    ):
        begun.setdefault(node, []).append(int(start))
        if end != NONE:
            ended.setdefault(node, []).append(int(end))
    wrong = 0
    for at, node, active in zip(samples["t_ps"], samples["node"], samples["active"], strict=True):
        before = [sum(time < at for time in of.get(node, [])) for of in (begun, ended)]
        wrong += before[0] - before[1] != active
    audit.claim(wrong == 0, f"samples: {wrong} rows are not what the connections say")
    audit.claim(set(samples["node"]) <= set(names), "samples: a node that there is not")


def _per_flow(run: Run, audit: Audit, table: Any) -> None:
    """The histograms of bursts by connection: those that were done in the measured time."""
    found: dict[str, Counter[int]] = {
        "bursts-per-flow": Counter(),
        "lost-bursts-per-flow": Counter(),
    }
    rows = run.table("histograms")
    for of, value, count in zip(
        rows["of"], rows["value"].tolist(), rows["count"].tolist(), strict=True
    ):
        if of in found:
            found[of][value] += count
    done = table["completed_ps"] != NONE
    for of, column in (("bursts-per-flow", "bursts"), ("lost-bursts-per-flow", "bursts_lost")):
        most = Counter(table[column][done].tolist())
        # A connection counts once none of its packets is in flight, which may be after the end.
        extra = found[of] - most
        audit.claim(not extra, f"histograms: {of}, {extra} more than the connections say")
