"""Wireless cells: their packets. Numbers about frames are only bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audit.checks import Audit
from audit.result import NONE, Run


def seats(run: Run) -> list[tuple[set[int], set[int]]]:
    """Return of each cell which flows have their sender on the air, and which their receiver."""
    if not run.scenario.get("wlan"):
        return []
    first, last = _ends(run)
    flows = [
        (flow.get("from"), flow.get("to"))
        if direction == "forth"
        else (flow.get("to") or last, flow.get("from") or first)
        for flow in run.scenario.get("flows", [])
        for _ in range(flow["count"])
        for direction in (("forth", "back") if flow.get("reverse") is not None else ("forth",))
    ]
    flows = [(start or first, end or last) for start, end in flows]
    back = goes_back(run)
    found = []
    for cell in run.scenario["wlan"]:
        if run.scenario["network"]["topology"] == "path":
            side = cell.get("side") or "receiver"
            every = set(range(len(flows)))
            # The hosts of a reverse flow are those of the flow before it, exchanged.
            near, far = every - back, back
            found.append((near, far) if side == "sender" else (far, near))
            continue
        node = cell.get("node") or last
        senders = {number for number, (start, _) in enumerate(flows) if start == node}
        found.append((senders, {number for number, (_, end) in enumerate(flows) if end == node}))
    return found


def goes_back(run: Run) -> set[int]:
    """Return the flows that go back on a connection with data in both directions."""
    found: set[int] = set()
    number = 0
    for flow in run.scenario.get("flows", []):
        both = flow.get("reverse") is not None
        if both:
            found |= {number + 2 * copy + 1 for copy in range(flow["count"])}
        number += flow["count"] * (2 if both else 1)
    return found


def _ends(run: Run) -> tuple[str, str]:
    """Return the first and the last edge node."""
    network = run.scenario["network"]
    if network["topology"] == "path":
        return "", ""
    names = [node["name"] for node in run.summary["network"]["nodes"]]
    cores = {node["name"] for node in network.get("node", []) if node["role"] == "core"}
    edges = [name for name in names if name not in {*cores, "hub", "left", "right"}]
    return edges[0], edges[-1]


def check(run: Run, audit: Audit) -> None:
    """Compute again what packets say of each cell."""
    if "wlan" not in run.summary:
        return
    for index, (senders, receivers) in enumerate(seats(run)):
        path = f"wlan[{index}]"
        audit.equal(f"{path}.stations", len((senders | receivers) - goes_back(run)))
        packets = run.table("packets")
        sends, hears = (np.isin(packets["flow"], sorted(of)) for of in (senders, receivers))
        data, ack = packets["kind"] == "data", packets["kind"] == "ack"
        out = packets["egress_ps"] != NONE
        _up(run, audit, f"{path}.up", (data & sends) | (ack & hears), out)
        _down(run, audit, f"{path}.down", ((data & hears) | (ack & sends)) & out)
        for direction in ("up", "down"):
            _frames(run, audit, run.summary["wlan"][index][direction], f"{path}.{direction}")


def _lost(run: Run, rows: Any, cause: str) -> int:
    packets = run.table("packets")
    return int((rows & (packets["fate"] == "lost") & (packets["cause"] == cause)).sum())


def _up(run: Run, audit: Audit, path: str, mine: Any, out: Any) -> None:
    """Packets that stations sent: they count as offered when they are sent."""
    packets = run.table("packets")
    here = mine & ~out
    gone, full = _lost(run, here, "wireless"), _lost(run, here, "wireless-queue")
    audit.equal(f"{path}.offered", int(mine.sum()))
    # A packet that no trace has seen at the edge is on the air or on the access link.
    after = (packets["ingress_ps"] != NONE) | ((packets["fate"] == "lost") & mine)
    crossed = int((mine & after).sum()) - gone - full
    unseen = int((mine & ~after).sum())
    _ends_of(run, audit, path, (crossed, crossed + unseen), gone, full)


def _down(run: Run, audit: Audit, path: str, mine: Any) -> None:
    """Packets that the base station sent: they count as offered after the access link."""
    packets = run.table("packets")
    gone, full = _lost(run, mine, "wireless"), _lost(run, mine, "wireless-queue")
    crossed = int((mine & (packets["fate"] == "delivered")).sum())
    _ends_of(run, audit, path, (crossed, crossed), gone, full)
    unseen = int((mine & (packets["fate"] == "in-flight")).sum())
    settled = crossed + gone + full
    audit.within(f"{path}.offered", settled, settled + unseen)
    if unseen == 0:
        audit.equal(f"{path}.offered", settled)
        audit.equal(f"{path}.in_flight", 0)
    # All of that time is spent behind the egress.
    there = mine & (packets["fate"] == "delivered")
    if there.any():
        took = float((packets["delivered_ps"] - packets["egress_ps"])[there].mean()) * 1e-12
        direction = _way(run, path)
        audit.claim(
            direction["wait_s"] + direction["mac_delay_s"] <= took * (1 + 1e-9),
            f"{path}: waits {direction['wait_s']} and {direction['mac_delay_s']} of {took} s",
        )


def _ends_of(
    run: Run, audit: Audit, path: str, crossed: tuple[int, int], gone: int, full: int
) -> None:
    direction = _way(run, path)
    low, high = crossed
    if low == high:
        audit.equal(f"{path}.delivered", low)
    else:
        audit.within(f"{path}.delivered", low, high)
    audit.equal(f"{path}.queue_dropped", full)
    residual = run.scenario["wlan"][int(path[5 : path.index("]")])]["loss"] == "residual"
    if not residual:
        audit.equal(f"{path}.residual_lost", 0)
        audit.equal(f"{path}.retry_dropped", gone)
    both = direction["retry_dropped"] + direction["residual_lost"]
    audit.claim(both == gone, f"{path}: {both} lost, and the packets say {gone}")
    ratio = gone / max(direction["delivered"] + gone, 1)
    audit.equal(f"{path}.residual_loss_ratio", ratio)
    rest = direction["offered"] - direction["delivered"] - gone - full
    audit.equal(f"{path}.in_flight", rest)


def _way(run: Run, path: str) -> Mapping[str, Any]:
    return run.summary["wlan"][int(path[5 : path.index("]")])][path.rsplit(".", 1)[1]]


def _frames(run: Run, audit: Audit, direction: Mapping[str, Any], path: str) -> None:
    """Frames: each packet that crossed took one, and each failure is of a frame."""
    frames = direction["data_frames"] + direction["rts_frames"] + direction["answers"]
    tried = direction["delivered"] + direction["residual_lost"] + direction["duplicates"]
    holds = {
        "a packet that crossed took a frame": direction["data_frames"] >= tried,
        "a failure is of a frame": direction["collisions"] + direction["errors"] <= frames,
        "what was dropped was given up": direction["given_up"] >= direction["retry_dropped"],
        "what is known twice came twice": direction["duplicates"] <= direction["data_frames"],
    }
    for what, kept in holds.items():
        audit.claim(kept, f"{path}: {what} does not hold of {dict(direction)}")
