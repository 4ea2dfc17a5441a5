"""Totals of `what-if` and `blame`, counted again from the tables of whole runs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import pytest
from scipy import stats
from test_surgery import MESH, PATH, lost, named, operated

import burstlab as bl
from burstlab.surgery.blaming import _sum  # pyright: ignore[reportPrivateUsage]

#: Columns of a packet that are compared.
COMPARED = ("sent_ps", "kind", "seq", "transmission", "delivered_ps", "fate")

#: Bytes of headers of a segment; the SYN, which has no data, is segment 0.
HEADERS = 40


class Whole:
    """A whole run as its tables of packets, connections and windows have it."""

    def __init__(self, document: Any) -> None:
        run = bl.run(document, replications=1, trace=("packets", "bursts", "cwnd"))
        self.sent: dict[int, list[dict[str, Any]]] = {}
        for row in run.packets.to_pylist():
            if row["kind"] != "udp":
                self.sent.setdefault(row["flow"], []).append(row)
        ended = run.connections.to_pylist() if "connections" in run.recorded else []
        named = [row for row in run.flows.to_pylist() if row.get("bytes")]
        self.sizes = {row["id"]: row["bytes"] for row in (*named, *ended)}
        ends = [row["flow"] for row in run.cwnd.to_pylist() if row["event"] == "timeout"]
        self.timeouts = Counter(ends)
        fates = Counter((row["direction"], row["fate"]) for row in run.bursts.to_pylist())
        self.bursts_lost = fates["data", "lost"] + fates["ack", "lost"]

    def reached(self, number: int) -> tuple[int, int | None]:
        """Return the bytes in order at the end, and when a finite transfer was whole."""
        first: dict[int, tuple[int, int]] = {}
        for row in self.sent.get(number, []):
            if row["kind"] == "data" and row["delivered_ps"] is not None and row["seq"]:
                there = row["delivered_ps"], row["size_bytes"] - HEADERS
                first[row["seq"]] = min(first.get(row["seq"], there), there)
        order = list(itertools.takewhile(lambda seq: seq in first, itertools.count(1)))
        count = sum(first[seq][1] for seq in order)
        whole = count == self.sizes.get(number, -1)
        return count, max(first[seq][0] for seq in order) if whole else None


def packets(result: bl.Result) -> dict[int, list[tuple[Any, ...]]]:
    """Return what is compared of the packets of each connection, in the order of sending."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in result.packets.to_pylist():
        found.setdefault(row["flow"], []).append(tuple(row[name] for name in COMPARED))
    return found


def compare(document: Any, burst: str, seen: Counter[str]) -> None:
    """Hold the totals of one question against the two whole runs."""
    found = bl.what_if(document, spare=burst)
    first, other = Whole(document), Whole(operated(document, spare=burst))
    both = first.sent.keys() & other.sent.keys()
    ends = {number: (first.reached(number), other.reached(number)) for number in both}
    totals = found.divergence.totals
    assert totals["bytes_gained"] == sum(b[0] - a[0] for a, b in ends.values())
    saved = [a[1] - b[1] for a, b in ends.values() if a[1] is not None and b[1] is not None]
    assert totals["seconds_saved"] == pytest.approx(sum(saved) * 1e-12, abs=1e-11)
    gained = sum(other.timeouts[number] - first.timeouts[number] for number in both)
    assert totals["timeouts_gained"] == gained
    assert totals["bursts_lost_first"] == first.bursts_lost
    assert totals["bursts_lost_other"] == other.bursts_lost
    seen["saved"] += sum(saved) > 0
    seen["late"] += sum(saved) < 0
    seen["bytes"] += totals["bytes_gained"] != 0
    seen["timeouts"] += gained != 0
    assert totals["connections_different"] == len(found.connections)
    for result, run in ((found.first, first), (found.other, other)):
        for number, side in packets(result).items():
            whole = {tuple(packet[name] for name in COMPARED) for packet in run.sent[number]}
            assert whole.issuperset(side)


def check_first_difference(found: bl.WhatIf, seen: Counter[str]) -> None:
    """Hold the first packet that differs of each connection against the packets of both runs."""
    # Packets in flight where the two part have no row in either.
    traces = [packets(result) for result in (found.first, found.other)]
    for row in found.connections.to_pylist():
        sides = [trace.get(row["connection"], []) for trace in traces]
        pairs = itertools.zip_longest(*sides)
        pair = next((pair for pair in pairs if pair[0] != pair[1]), (None, None))
        there = [one for one in pair if one is not None]
        earliest = min(there, key=lambda one: one[0], default=(None, None, None))
        shown = row["different_ps"], row["different_kind"], row["different_seq"]
        assert shown == earliest[:3]
        if len(there) == 2:
            seen["the first's"] += there[0][0] < there[1][0]
            seen["the other's"] += there[0][0] > there[1][0]


def test_totals_are_those_of_two_whole_runs():
    seen: Counter[str] = Counter()
    finite = {**PATH, "flows": [{"bytes": "400 KB", "count": 3}], "run": {"duration": "30 s"}}
    mesh = {**MESH, "run": {"duration": "1 s"}}
    for document in (mesh, finite):
        losses = [one for one in lost(document) if not one["acks"]]
        for one in losses[:: max(1, len(losses) // 6)][:6]:
            compare(document, named(one), seen)
    # All that may go wrong was there to go wrong.
    assert all(seen[what] for what in ("saved", "late", "bytes", "timeouts")), seen


def test_the_first_packet_that_differs_is_the_earlier_of_both_runs():
    seen: Counter[str] = Counter()
    document = {**MESH, "run": {"duration": "3 s"}}
    spared = [int(named(one)) for one in lost(document) if not one["acks"]][:15:3]
    bursts = bl.run(document, trace="bursts").bursts.where(fate="delivered", direction="data")
    killed = bursts["burst"].tolist()[20:145:25]
    for burst in spared:
        check_first_difference(bl.what_if(document, spare=burst), seen)
    for burst in killed:
        check_first_difference(bl.what_if(document, kill=burst), seen)
    assert seen["the other's"] and seen["the first's"], seen


def test_the_first_difference_is_the_earlier_of_the_two_rows():
    """Rows of either run alone, or of both at other times, in a run that was made for it."""
    from burstlab.surgery.divergence import (
        _first_different,  # pyright: ignore[reportPrivateUsage]
    )
    from burstlab.tables import Table, from_rows

    def result(rows: list[tuple[int, int, int]]) -> Any:
        table = from_rows([dict(zip(("flow", "t", "x"), row, strict=True)) for row in rows])

        class One:
            recorded = ("cwnd",)

            def table(self, name: str) -> Table:
                return table

        return One()

    one = result([(0, 1, 5), (0, 9, 6), (1, 1, 1), (1, 3, 1), (2, 4, 4), (3, 1, 1)])
    two = result([(0, 1, 5), (0, 7, 7), (1, 1, 1), (1, 5, 2), (2, 4, 4), (2, 8, 8), (3, 1, 1)])
    found = _first_different(one, two, "cwnd", ("t", "x"), "t")
    times = {flow: (row["t"], row["x"]) for flow, row in found.items()}
    assert times == {0: (7, 7), 1: (3, 1), 2: (8, 8)}
    back = _first_different(two, one, "cwnd", ("t", "x"), "t")
    assert {flow: (row["t"], row["x"]) for flow, row in back.items()} == times


POPULATION = [0.0, 0.0, 1.0, 2.5, 2.5, 4.0, -3.0, 11.0, 0.5]


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_the_interval_of_a_sample_is_as_wide_as_all_samples_scatter(count):
    """Over all samples of a population the variance that intervals go by is that of the sums.

    Cochran 1977, theorems 2.2 and 2.4: both are exact without replacement, and the factor for the
    finite population is in both.
    """
    total = sum(POPULATION)
    estimates = [
        _sum(list(drawn), len(POPULATION)) for drawn in itertools.combinations(POPULATION, count)
    ]
    assert all(one.n == count for one in estimates)
    assert math.fsum(one.mean for one in estimates) / len(estimates) == pytest.approx(total)
    scatter = math.fsum((one.mean - total) ** 2 for one in estimates) / len(estimates)
    quantile = stats.t.ppf(0.975, count - 1)
    widths = [one.ci95 for one in estimates]
    assert None not in widths
    shown = math.fsum((width / quantile) ** 2 for width in widths if width is not None)
    assert shown / len(estimates) == pytest.approx(scatter)


def test_intervals_of_samples_cover_the_sum_of_all_prices():
    """Nineteen of twenty, of a population that is well behaved; of all samples of half of it."""
    population = [float(value) for value in range(12)]
    hits = misses = 0
    for drawn in itertools.combinations(population, 6):
        one = _sum(list(drawn), 12)
        assert one.ci95 is not None
        covers = abs(one.mean - sum(population)) <= one.ci95
        hits, misses = hits + covers, misses + (not covers)
    # Without the factor they are wider by 1.4 and cover 99 %.
    assert 0.92 < hits / (hits + misses) < 0.975


def test_the_sum_of_a_sample_is_that_of_its_rows():
    sample = bl.blame(MESH, sample=8)
    for name in ("bytes", "bytes_indirect", "seconds", "seconds_indirect"):
        values = [float(row[name]) for row in sample.prices.to_pylist()]
        mean = math.fsum(values) / 8
        spread = math.fsum((value - mean) ** 2 for value in values) / 7
        finite = 1 - 8 / sample.lost
        half = sample.lost * stats.t.ppf(0.975, 7) * math.sqrt(spread / 8 * finite)
        shown = sample.sums[name]
        assert shown.mean == pytest.approx(sample.lost * mean)
        assert shown.ci95 == pytest.approx(half)
        assert sample.summary["sums"][name] == {"mean": shown.mean, "ci95": shown.ci95, "n": 8}
    every = bl.blame(MESH)
    assert {one.ci95 for one in every.sums.values()} == {0.0}
