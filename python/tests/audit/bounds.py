"""Values that no run may report, whatever it simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from audit.checks import Audit, numbers
from audit.result import NONE, Run, rate_bps

#: Endings of names that are shares of a whole.
_SHARES = ("_ratio", "utilisation")

#: Sent, and what became of it, of the counters.
_KEPT = ("packets", "acks", "bursts", "ack_bursts", "background_bursts", "other", "batches",
         "batch_packets", "batch_bytes")  # fmt: skip

#: More than, and less than, of what every entry has that has both.
_ORDERED = (
    ("offered", "contended"),
    ("bursts", "bursts_lost"),
    ("bursts", "lost"),
    ("packets", "packets_lost"),
    ("packets_sent", "packets_delivered"),
    ("packets_sent", "packets_lost"),
    ("packets_sent", "packets_marked"),
    ("packets_sent", "retransmissions"),
    ("packets_delivered", "duplicates"),
    ("retransmissions", "spurious_retransmissions"),
    ("bursts_lost", "contention"),
    ("bursts_lost", "late_headers"),
    ("bursts_lost", "no_converter"),
    ("contentions", "no_converter"),
    ("contentions", "injected"),
    ("started", "completed"),
    ("completed", "measured"),
    ("longest_header_wait_s", "header_wait_s"),
    ("slots_sent", "slots_delivered"),
    ("requests", "refused"),
    ("arrived", "dropped"),
    ("arrived", "carried"),
    ("buffer_max", "buffer_mean"),
    ("backlog_max_bits", "backlog_mean_bits"),
    ("access_offered", "access_lost"),
    ("access_offered", "access_link_lost"),
    ("notices_sent", "notices_lost"),
    ("packets_crossed", "packets_delivered"),
    ("events", "core_events"),
    ("packets_delivered", "packets_one_by_one"),
    ("simulated_s", "measured_s"),
)


def check(run: Run, audit: Audit) -> None:
    """Look for impossible values in a summary and its tables."""
    for path, value in numbers(run.summary):
        audit.claim(math.isfinite(value), f"{path} = {value}")
        audit.claim(value >= 0 or path.endswith("ack"), f"{path} = {value} is negative")
        if path.endswith(_SHARES):
            audit.claim(value <= 1 + 1e-12, f"{path} = {value} is no share")
    _within(run.summary, "", audit)
    counters = run.summary["counters"]
    for name in _KEPT:
        sent, *parts = (
            counters[f"{name}_{what}"] for what in ("sent", "delivered", "lost", "in_flight")
        )
        audit.claim(sent == sum(parts), f"counters.{name}_*: {sent} sent, and {parts} of them")
    _tables(run, audit)
    _rates(run, audit)
    _spreads(run, audit)


def _within(part: Any, path: str, audit: Audit) -> None:
    if isinstance(part, list):
        for index, one in enumerate(part):
            _within(one, f"{path}[{index}]", audit)
    if not isinstance(part, Mapping):
        return
    for more, less in _ORDERED:
        if isinstance(part.get(more), (int, float)) and isinstance(part.get(less), (int, float)):
            audit.claim(
                part[less] <= part[more] * (1 + 1e-9),
                f"{path}: {less} = {part[less]} is more than {more} = {part[more]}",
            )
    for name, value in part.items():
        _within(value, f"{path}.{name}" if path else name, audit)


def _tables(run: Run, audit: Audit) -> None:
    packets = run.table("packets")
    stages = ("sent_ps", "ingress_ps", "departed_ps", "egress_ps", "delivered_ps")
    _rising(audit, "packets", packets, stages)
    _rising(
        audit,
        "bursts",
        run.table("bursts"),
        ("opened_ps", "closed_ps", "departed_ps", "arrived_ps"),
    )
    _rising(audit, "bursts", run.table("bursts"), ("closed_ps", "lost_ps"))
    _rising(
        audit, "bursts_hops", run.table("bursts_hops"), ("reserved_ps", "departed_ps", "end_ps")
    )
    _rising(audit, "connections", run.table("connections"), ("started_ps", "completed_ps"))
    # Packets in a slot count as the slot ends in which its first bit arrives.
    slot = round(run.summary["ops"]["slot_s"] * 1e12) if "ops" in run.summary else 0
    seen = (
        ("packets", "sent_ps"),
        ("packets", "delivered_ps"),
        ("cwnd", "t_ps"),
        ("ledger", "t_ps"),
    )
    for name, column in seen:
        late = int((run.table(name)[column] > run.end + slot).sum())
        audit.claim(late == 0, f"{name}.{column}: {late} rows after the end")


def _rates(run: Run, audit: Audit) -> None:
    """No flow gets more than its links carry, nor more use of them than they carried."""
    access = run.scenario["access"]
    receiver = (access.get("receiver") or {}).get("rate") or access["rate"]
    least = min(rate_bps(access["rate"]), rate_bps(receiver))
    largest = max(run.table("packets")["size_bytes"], default=0) * 8
    measured = run.measured_s or float("inf")
    for number, flow in enumerate(run.summary["flows"]):
        path = f"flows[{number}]"
        # A packet that was on the link as measuring began arrives in the measured time.
        most = rate_bps(receiver) + largest / measured
        audit.within(f"{path}.throughput_bps", 0, most)
        audit.within(f"{path}.goodput_bps", 0, flow["throughput_bps"] + 1e-6)
        audit.claim(
            flow["bytes_delivered"] * 8 <= least * (run.end * 1e-12) + largest,
            f"{path}: {flow['bytes_delivered']} B over links of {least} bit/s",
        )
        audit.claim(
            flow["bytes_delivered"] * 8 >= flow["goodput_bps"] * run.measured_s - 1e-3,
            f"{path}: goodput of more than was delivered",
        )


def _spreads(run: Run, audit: Audit) -> None:
    """Percentiles rise, and means lie between the least and the most."""
    for number, demand in enumerate(run.summary.get("demand", [])):
        for what in ("received", "acknowledged"):
            names = [f"{what}_{one}_s" for one in ("p50", "p90", "p99", "p999")]
            found = [demand[name] for name in names if demand[name] is not None]
            audit.claim(found == sorted(found), f"demand[{number}]: {what} percentiles {found}")
        early, late = (demand[f"{what}_mean_bound_s"] for what in ("received", "acknowledged"))
        audit.claim(early is None or early <= late, f"demand[{number}]: {early} after {late} s")
        gone = demand["departed"]
        low, high = gone["throughput_range_bps"]
        audit.claim(
            low * (1 - 1e-9) <= gone["throughput_bps"] <= high * (1 + 1e-9),
            f"demand[{number}]: a mean of {gone['throughput_bps']} from {low} to {high}",
        )
        for one in (demand, *demand["slowdown"]):
            halves = [one.get(name) for name in ("p50", "p99", "slowdown_p50", "slowdown_p99")]
            found = [value for value in halves if value is not None]
            audit.claim(found == sorted(found), f"demand[{number}]: slow-downs {found}")
            audit.claim(all(value >= 1 - 1e-9 for value in found), f"demand[{number}]: {found}")
    for number, link in enumerate(run.summary.get("network", {}).get("links", [])):
        waves = link["wavelengths"]
        inside = min(waves) - 1e-12 <= link["utilisation"] <= max(waves) + 1e-12
        audit.claim(inside and max(waves) <= 1 + 1e-12, f"network.links[{number}]: {waves}")


def _rising(audit: Audit, name: str, table: Mapping[str, Any], columns: tuple[str, ...]) -> None:
    if not table:
        return
    for place, earlier in enumerate(columns):
        for later in columns[place + 1 :]:
            both = (table[earlier] != NONE) & (table[later] != NONE)
            wrong = (table[earlier][both] > table[later][both]).sum()
            audit.claim(wrong == 0, f"{name}: {earlier} after {later} in {wrong} rows")
