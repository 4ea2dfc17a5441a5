"""ACKs that edge nodes hold back before they go on the senders' links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from audit.checks import Audit
from audit.result import NONE, Run, span_ps


def check(run: Run, audit: Audit) -> None:
    """Compute the times of departure again from the times at which ACKs leave the network."""
    pacing = run.scenario["access"].get("ack_pacing")
    audit.claim(("ack_pacing" in run.summary) == (pacing is not None), "ack_pacing: there, or not")
    if pacing is None or pacing.get("utilization") is not None:
        return
    packets = run.table("packets")
    # ACKs that edge nodes write are not held back.
    own = (packets["egress_ps"] != NONE) & (packets["egress_ps"] != packets["sent_ps"])
    acks = np.flatnonzero((packets["kind"] == "ack") & own)
    flows: defaultdict[int, list[int]] = defaultdict(list)
    for row in acks[np.argsort(packets["egress_ps"][acks], kind="stable")].tolist():
        flows[int(packets["flow"][row])].append(row)
    waits: list[int] = []
    for flow, rows in flows.items():
        come = packets["egress_ps"][rows].tolist()
        for row, at, leaves in zip(rows, come, departures(come, pacing), strict=True):
            waits.append(leaves - at)
            there = int(packets["delivered_ps"][row])
            audit.claim(there == NONE or there >= leaves, f"an ACK of flow {flow} is there early")
    held = [wait for wait in waits if wait > 0]
    audit.equal("ack_pacing.acks_delayed", len(held))
    audit.equal("ack_pacing.delay_mean_s", sum(held) / max(len(held), 1) * 1e-12)
    audit.equal("ack_pacing.delay_max_s", max(held, default=0) * 1e-12)


def departures(come: list[int], pacing: Mapping[str, Any]) -> Iterator[int]:
    """Return when ACKs leave that come at some times, in ps."""
    bound = span_ps(pacing["delay_max"])
    distances = _fixed(pacing) if pacing["rule"] == "fixed" else _measured(come, pacing)
    last = None
    for at in come:
        apart = next(distances)
        last = at if last is None else max(last, at, min(last + apart, at + bound))
        yield last


def _fixed(pacing: Mapping[str, Any]) -> Iterator[int]:
    while True:
        yield span_ps(pacing["interval"])


def _measured(come: list[int], pacing: Mapping[str, Any]) -> Iterator[int]:
    """Return the distances by the rate in the window before, 0 where it is not known."""
    window, gain = span_ps(pacing["window"]), round(pacing["gain"] * 1e6)
    begin, distance = 0, 0
    for number, at in enumerate(come):
        lasted = at - come[begin]
        if lasted >= window and number > begin:
            mean = lasted // (number - begin)
            distance = 0 if lasted // 2 >= window else mean * 1_000_000 // gain
            begin = number
        yield distance
