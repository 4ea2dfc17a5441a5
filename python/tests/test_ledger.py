"""The causal ledger, recomputed from the traces of packets, bursts and windows by the definition.

Nothing here is shared with the engine: what a segment's last transmission came to, what the
receiver had by then and how far the sender had gone follow from `packets` and `bursts`, its state
from `cwnd`. What happens at the very picosecond of an event may have been before or after it: such
events are left out, and are few.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import burstlab as bl

#: Stands for "no such time" in a column of times.
NEVER = 2**64 - 1
RETRANSMISSIONS = ("timeout", "early-repair")
VARIANTS = ("tahoe", "reno", "new-reno", "sack", "vegas", "fast")
DETECTORS = ("none", "ble", "back", "bnak", "oracle")


def scenario(number: int, mesh: bool) -> dict[str, Any]:
    """Draw a scenario in which bursts, and packets at the access, are lost."""
    random = np.random.default_rng([number, mesh])

    def one_of(*choices: Any) -> Any:
        return choices[random.integers(len(choices))]

    variant = VARIANTS[number % len(VARIANTS)]
    detector = "none" if variant == "tahoe" else DETECTORS[number // 6 % len(DETECTORS)]
    tcp: dict[str, Any] = {
        "variant": "sack" if variant == "fast" else variant,
        "window": one_of(8, 20, 40),
        "profile": one_of("rfc", "ns2"),
        "delayed_ack": one_of(True, False),
    }
    if variant == "fast":
        tcp["window_law"] = "fast"
    if detector != "none":
        tcp["detector"] = detector
    if detector == "back":
        tcp["back_mode"] = one_of("ingress", "egress", "both")
    if detector == "bnak" and one_of(True, False):
        tcp["bnak_partial"] = "recheck"
    made: dict[str, Any] = {
        "access": {
            "rate": one_of("1 Mb/s", "8 Mb/s"),
            "delay": "3 ms",
            "shared": one_of(True, False),
            "queue": one_of(6, 15, 100),
        },
        "edge": {"assembly": "timer", "timer": f"{one_of(5, 20, 40)} ms"},
        "tcp": tcp,
        "loss": {
            "data": {"process": "bernoulli", "probability": one_of(0.02, 0.06, 0.15)},
            "ack": {"process": "bernoulli", "probability": one_of(0, 0.05)},
        },
        "run": {"duration": "20 s"},
    }
    if mesh:
        made["network"] = {"topology": "ring", "wavelengths": 1, "link_rate": "20 Mb/s"}
        made["signalling"] = {"guard": "1 ms"}
        made["core"] = {"contention": one_of([], ["deflection"], ["retransmission"])}
        made["flows"] = [{"from": "1", "to": "3", "count": 2}]
        made["bursts"] = [{"erlangs": 0.2, "per": "node", "length": {"mean": "10 KB"}}]
        made["run"]["duration"] = "12 s"
    else:
        made["network"] = {"core_nodes": 2, "link_delay": "4 ms"}
        made["flows"] = [{"count": 2, "stagger": "300 ms"}]
    return made


def rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table; a time that never came is the largest."""
    found = table.to_pylist()
    return [{name: NEVER if x is None else x for name, x in row.items()} for row in found]


class Segments:
    """The fate of each transmission of the segments of one flow."""

    def __init__(self, packets: list[dict[str, Any]], bursts: dict[int, dict[str, Any]]):
        self.sent: dict[int, list[dict[str, Any]]] = {}
        self.order = packets
        self.bursts = bursts
        for packet in packets:
            self.sent.setdefault(packet["seq"], []).append(packet)

    def lost_at(self, packet: dict[str, Any]) -> int:
        """Return when it was certain that a transmission is lost."""
        if packet["cause"] == "burst-lost":
            return self.bursts[packet["burst"]]["lost_ps"]
        if packet["cause"] == "access-overflow":
            at = packet["egress_ps"]
            return packet["sent_ps"] if at == NEVER else at
        raise AssertionError(packet)

    def missing(self, until: int, now: int, notified: bool = False) -> dict[int, int | None] | None:
        """Return the segments below `until` that are lost, each with its burst if it had one.

        `None`: something happened at this very instant; but a sender that was `notified` of a loss
        acts after it.
        """
        found: dict[int, int | None] = {}
        for seq, transmissions in self.sent.items():
            before = [packet for packet in transmissions if packet["sent_ps"] < now]
            if seq >= until or not before:
                continue
            if any(packet["delivered_ps"] == now for packet in before):
                return None
            if any(packet["delivered_ps"] < now for packet in before):
                continue
            last = before[-1]
            if last["fate"] != "lost" or (at := self.lost_at(last)) > now:
                continue
            if at == now and not notified:
                return None
            found[seq] = last["burst"] if last["cause"] == "burst-lost" else None
        return found

    def reached(self, since: int, now: int) -> int:
        """Return the first segment that was not sent from `since` on and before `now`."""
        sent = (packet["seq"] for packet in self.order if since <= packet["sent_ps"] < now)
        return max(sent, default=-1) + 1


def truth_of(missing: dict[int, int | None]) -> str:
    if not missing:
        return "spurious"
    bursts = set(missing.values())
    return "false" if len(bursts) == 1 and None not in bursts else "true"


def check_flow(result: Any, flow: int, seen: Counter[str]) -> None:
    of_flow = {name: rows(result.table(name).where(flow=flow)) for name in ("ledger", "cwnd")}
    packets = rows(result.packets.where(flow=flow, kind="data"))
    bursts = {row["burst"]: row for row in rows(result.bursts.where(direction="data"))}
    losses: dict[int, dict[int, dict[str, Any]]] = {}
    for loss in rows(result.ledger_losses.where(flow=flow)):
        losses.setdefault(loss["event"], {})[loss["seq"]] = loss
    segments = Segments(packets, bursts)
    since, truths = 0, Counter[str]()
    repairs = [row["t_ps"] for row in of_flow["ledger"] if row["kind"] == "early-repair"]
    for event in of_flow["ledger"]:
        now, kind = event["t_ps"], event["kind"]
        check_state(event, of_flow["cwnd"], repairs, seen)
        if kind == "spurious-retransmission":
            check_spurious(event, segments, seen)
            continue
        missing = segments.missing(segments.reached(since, now), now, kind == "early-repair")
        if kind in RETRANSMISSIONS:
            since = now
        truths[event["truth"]] += kind == "timeout"
        if missing is None:
            seen["at one instant"] += 1
            continue
        seen[kind] += 1
        seen[f"{kind} of several"] += len(missing) > 1
        assert event["lost_packets"] == len(missing), event
        assert event["lost_bursts"] == len(set(missing.values()) - {None}), event
        named = losses.get(event["event"], {})
        assert named.keys() == missing.keys(), event
        for seq, burst in missing.items():
            assert named[seq]["burst"] == (NEVER if burst is None else burst), event
            if burst is not None:
                assert named[seq]["lost_ps"] == bursts[burst]["lost_ps"], event
        if kind == "timeout":
            assert event["truth"] == truth_of(missing), event
            seen[event["truth"]] += 1
    summary = rows(result.flows)[flow]
    for truth in ("false", "true", "spurious"):
        assert summary[f"{truth}_timeouts"] == truths[truth]


def check_state(
    event: dict[str, Any], cwnd: list[dict[str, Any]], repairs: list[int], seen: Counter[str]
) -> None:
    """Check that the sender is as the last event before this one left it."""
    before = [row for row in cwnd if row["t_ps"] < event["t_ps"]]
    now = [
        row for row in cwnd if row["t_ps"] == event["t_ps"] and row["event"] != "fast-retransmit"
    ]
    # An early repair has no row of its own.
    if (
        not before
        or len(now) > 1
        or any(before[-1]["t_ps"] <= at < event["t_ps"] for at in repairs)
    ):
        return
    seen["state"] += 1
    for column in ("cwnd", "ssthresh", "in_flight", "rto_ps"):
        assert event[column] == before[-1][column], (column, event, before[-1])


def check_spurious(event: dict[str, Any], segments: Segments, seen: Counter[str]) -> None:
    sent = [packet["sent_ps"] for packet in segments.sent[event["seq"]]]
    if sent.count(event["t_ps"]) > 1:
        # The second of two at once: the first of them is not lost yet.
        return
    missing = segments.missing(event["seq"] + 1, event["t_ps"])
    if missing is not None:
        seen["spurious-retransmission"] += 1
        assert event["seq"] not in missing, event


def check(made: dict[str, Any], seed: int, seen: Counter[str]) -> None:
    result = bl.run(made, seed=seed, trace=("packets", "bursts", "cwnd", "ledger"))
    for flow in range(2):
        check_flow(result, flow, seen)


@pytest.mark.parametrize("mesh", [False, True], ids=["path", "mesh"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_ledger_is_what_the_traces_say(variant, mesh):
    seen: Counter[str] = Counter()
    first = VARIANTS.index(variant)
    for number in range(first, 5 * len(VARIANTS), len(VARIANTS)):
        check(scenario(number, mesh), number, seen)
    # There was something to get wrong, and hardly anything was left out.
    assert seen["at one instant"] < 0.1 * sum(seen[kind] for kind in ("timeout", "fast-retransmit"))
    least = {"timeout": 30, "fast-retransmit": 10, "timeout of several": 10, "state": 80}
    assert all(seen[what] >= count for what, count in least.items()), seen


def linux(number: int) -> dict[str, Any]:
    """Draw a path on which bursts of Linux senders are lost."""
    made = scenario(number, mesh=False)
    law = ("aimd", "cubic", "vegas")[number % 3]
    made["tcp"] = {"profile": "linux", "window_law": law, "tail_loss_probe": number % 2 == 0}
    made["loss"]["data"]["node"] = 1 + number % 2
    made["loss"]["data"]["probability"] = 0.15
    if number % 4 > 1:
        made["core"] = {"forwarding": "store-and-forward"}
    return made


@pytest.mark.parametrize("law", range(3))
def test_a_sender_of_linux_waits_for_all_that_is_not_acknowledged(law):
    """No time-out begins anew, and a burst counts as lost when it comes to the node it dies at."""
    seen: Counter[str] = Counter()
    for number in range(law, 24, 3):
        result = bl.run(linux(number), seed=number, trace=("packets", "bursts", "cwnd", "ledger"))
        for flow in range(2):
            check_linux(result, flow, seen)
    assert seen["at one instant"] < 0.1 * seen["events"]
    least = {"timeout": 20, "fast-retransmit": 20, "before a time-out": 10, "under way": 1}
    assert all(seen[what] >= count for what, count in least.items()), seen


def check_linux(result: Any, flow: int, seen: Counter[str]) -> None:
    packets = rows(result.packets.where(flow=flow, kind="data"))
    bursts = {row["burst"]: row for row in rows(result.bursts.where(direction="data"))}
    losses: dict[int, set[int]] = {}
    for loss in rows(result.ledger_losses.where(flow=flow)):
        losses.setdefault(loss["event"], set()).add(loss["seq"])
    segments = Segments(packets, bursts)
    last_timeout = 0
    for event in rows(result.ledger.where(flow=flow)):
        now, kind = event["t_ps"], event["kind"]
        if kind == "spurious-retransmission":
            check_spurious(event, segments, seen)
            continue
        seen["events"] += 1
        # Everything that was ever sent: what is acknowledged is not missing.
        missing = segments.missing(segments.reached(0, now), now)
        again = last_timeout
        last_timeout = now if kind == "timeout" else last_timeout
        if missing is None:
            seen["at one instant"] += 1
            continue
        assert losses.get(event["event"], set()) == missing.keys(), event
        assert event["lost_packets"] == len(missing), event
        seen[kind] += 1
        # The page's numbers of other senders, or of the end of assembly, would be less, or more.
        since = segments.reached(again, now) if again else 10**9
        seen["before a time-out"] += any(seq >= since for seq in missing)
        closed = closed_and_lost_later(segments, now)
        seen["under way"] += bool(closed)
        assert not closed & missing.keys(), event


def closed_and_lost_later(segments: Segments, now: int) -> set[int]:
    """Return the segments in bursts that are closed by now and die later."""
    found = set()
    for packet in segments.order:
        if packet["cause"] == "burst-lost":
            burst = segments.bursts[packet["burst"]]
            if burst["closed_ps"] < now < burst["lost_ps"]:
                found.add(packet["seq"])
    return found
