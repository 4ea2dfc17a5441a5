"""The totals of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.air import seats
from audit.checks import Audit
from audit.result import NONE, Run

#: Of packets by kind: what the counters call them.
_PACKETS = (("data", "packets"), ("ack", "acks"), ("udp", "other"))
#: Of bursts by direction.
_BURSTS = (("data", "bursts"), ("ack", "ack_bursts"), ("background", "background_bursts"))


def check(run: Run, audit: Audit) -> None:
    """Compute every counter again that the traces tell."""
    packets, bursts = run.table("packets"), run.table("bursts")
    counters = run.summary["counters"]
    for kind, name in _PACKETS:
        fates = packets["fate"][packets["kind"] == kind]
        _fates(audit, f"counters.{name}", fates)
    for kind, name in _BURSTS:
        fates = bursts["fate"][bursts["direction"] == kind]
        _fates(audit, f"counters.{name}", fates)
    data = packets["kind"] == "data"
    out = data & (packets["egress_ps"] != NONE)
    audit.equal("counters.packets_crossed", int(out.sum()))
    audit.equal("counters.packets_not_ect", int((packets["cause"] == "not-ect").sum()))
    _access(run, audit, data, out)
    _batches(run, audit)
    delivered = max(counters["packets_delivered"], 1)
    audit.equal("events_per_packet", counters["events"] / delivered)
    audit.equal("speed.one_by_one", counters["packets_one_by_one"] / delivered)
    each = 0.0 if "ops" in run.summary else out.sum() / max(counters["bursts_delivered"], 1)
    audit.equal("packets_per_burst", float(each))


def _fates(audit: Audit, name: str, fates: Any) -> None:
    audit.equal(f"{name}_sent", len(fates))
    for what, fate in (("delivered", "delivered"), ("lost", "lost"), ("in_flight", "in-flight")):
        audit.equal(f"{name}_{what}", int((fates == fate).sum()))


def _access(run: Run, audit: Audit, data: Any, out: Any) -> None:
    """Access links: each packet that was put on one, in the direction of the data."""
    packets = run.table("packets")
    up = sorted(set().union(*(senders for senders, _ in seats(run))))
    full = (packets["fate"] == "lost") & (packets["cause"] == "access-overflow")
    # A station's packet is on the access link when its cell has delivered it. One that is in flight
    # at the end and was not seen at the edge may be on either of the two. A packet that a script
    # loses in a mesh has come to the edge, and is lost before it joins a burst.
    scripted = packets["cause"] == "scripted"
    link = packets["cause"] == "link-lost"
    on_air = data & np.isin(packets["flow"], up) & (packets["ingress_ps"] == NONE)
    on_air &= ~full & ~scripted & ~link & (packets["cause"] != "not-ect")
    unseen = int((on_air & (packets["fate"] == "in-flight")).sum())
    others = (packets["kind"] == "udp") & (run.scenario["network"]["topology"] == "path")
    offered = int((data & ~on_air).sum() + out.sum() + others.sum())
    if unseen == 0:
        audit.equal("counters.access_offered", offered)
    audit.within("counters.access_offered", offered, offered + unseen)
    audit.equal("counters.access_lost", int((full & (data | others)).sum()))
    audit.equal("counters.access_link_lost", int((link & (data | others)).sum()))


def _batches(run: Run, audit: Audit) -> None:
    """Packets of batches: bursts less packets of flows, ACKs and other traffic."""
    if not run.scenario.get("batches"):
        found = {k: v for k, v in run.summary["counters"].items() if k.startswith("batch")}
        audit.claim(not any(found.values()), f"counters: {found} without batches")
        return
    bursts, packets, steps = run.table("bursts"), run.table("packets"), run.table("bursts_steps")
    place = {number: row for row, number in enumerate(bursts["burst"].tolist())}
    count, load = bursts["packets"].copy(), np.where(bursts["packets"] > 0, bursts["load"], 0)
    cut = np.zeros((2, len(count)), dtype=np.int64)
    rows = zip(steps["burst"], steps["event"], steps["packets"], steps["bytes"], strict=True)
    for number, event, many, size in rows:
        if event == "cut" and count[place[number]]:
            cut[:, place[number]] += (many, size)
    for number, size, cause in zip(
        packets["burst"].tolist(), packets["size_bytes"].tolist(), packets["cause"], strict=True
    ):
        if number in place:
            row = place[number]
            count[row] -= 1
            load[row] -= size
            if cause == "cut":
                cut[:, row] -= (1, size)
    lost = bursts["fate"] == "lost"
    there = bursts["fate"] == "delivered"
    for name, what, gone in (("packets", count, cut[0]), ("bytes", load, cut[1])):
        audit.equal(f"counters.batch_{name}_delivered", int((what - gone)[there].sum()))
        audit.equal(f"counters.batch_{name}_lost", int(what[lost].sum() + gone[~lost].sum()))
