"""The slotted network."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import networkx
import numpy as np

from audit.checks import Audit
from audit.result import NONE, Run, rate_bps, size_bytes, span_ps


def check(run: Run, audit: Audit) -> None:
    """Compute again what packets and the ledger say of slots, and what is conserved."""
    if "ops" not in run.summary:
        return
    _written(run, audit)
    _conserved(run, audit)
    _carried(run, audit)
    _backlog(run, audit)


#: Counters of slots of a kind.
SHARES = ("sent", "delivered", "dropped_contention", "dropped_congestion", "killed", "in_flight")


def _payload(run: Run) -> int:
    ops = run.scenario["ops"]
    return size_bytes(ops["slot_size"]) - size_bytes(ops["slot_header"])


def _written(run: Run, audit: Audit) -> None:
    """ACKs that edge nodes wrote, dropped and sent in the name of hosts."""
    packets, ledger = run.table("packets"), run.table("ledger")
    # Behind the edge at once; packets from a host cross its access link first.
    sets = (packets["kind"] == "ack") & (packets["egress_ps"] == packets["sent_ps"])
    copies = (packets["kind"] == "data") & (packets["ingress_ps"] == packets["sent_ps"])
    audit.equal("ops.ack_sets", int(sets.sum()) / 4)
    audit.equal("ops.copies", int(copies.sum()))
    audit.equal("ops.acks_filtered", int((packets["cause"] == "filtered").sum()))
    audit.equal("ops.ack_retransmissions", int((ledger["kind"] == "edge-retransmit").sum()))
    rate = rate_bps(run.scenario["network"]["link_rate"])
    audit.equal("ops.slot_s", size_bytes(run.scenario["ops"]["slot_size"]) * 8 / rate)


def _conserved(run: Run, audit: Audit) -> None:
    ops = run.summary["ops"]
    dropped = [
        sum(port[f"dropped_{why}"] for port in ops["ports"]) for why in ("contention", "congestion")
    ]
    audit.equal("ops.slots_dropped_contention", dropped[0])
    audit.equal("ops.slots_dropped_congestion", dropped[1])
    audit.equal("ops.slots_sent", sum(edge["slots"] for edge in ops["edges"]))
    rest = ops["slots_sent"] - ops["slots_delivered"] - sum(dropped)
    audit.equal("ops.slots_killed", 0)
    audit.equal("ops.slots_in_flight", rest)
    _kinds(run, audit)
    for index, switch in enumerate(ops["switches"]):
        path, name = f"ops.switches[{index}]", switch["node"]
        ports = [port for port in ops["ports"] if port["from"] == name]
        audit.equal(f"{path}.arrived", sum(port["arrived"] for port in ports))
        audit.equal(f"{path}.left", sum(port["carried"] for port in ports))
        lost = sum(port["dropped_contention"] + port["dropped_congestion"] for port in ports)
        audit.equal(f"{path}.dropped", lost)
        audit.equal(f"{path}.waiting", switch["arrived"] - switch["left"] - switch["dropped"])
    audit.equal("ops.buffer_mean", max(switch["buffer_mean"] for switch in ops["switches"]))
    audit.equal("ops.buffer_max", max(switch["buffer_max"] for switch in ops["switches"]))
    _measured(run, audit)
    limit = run.scenario["ops"]["buffer"]
    audit.within("ops.buffer_max", 0, limit)
    shown = dropped[1] if run.scenario["ops"].get("dlcc") is not None else 0
    audit.equal("ops.notifications", shown)
    slots = run.measured / (ops["slot_s"] * 1e12)
    for index, port in enumerate(ops["ports"]):
        most = port["carried"] / max(slots - 1, 1)
        audit.within(f"ops.ports[{index}].utilisation", 0.0, min(1.0, most))


def _measured(run: Run, audit: Audit) -> None:
    """Slots after the warm-up are those of slots that set out then, and no more than all."""
    ops = run.summary["ops"]
    audit.equal("ops.measured.time_s", run.measured / 1e12)
    packets = run.table("packets")
    late = packets["departed_ps"] >= run.end - run.measured
    numbers = packets["burst"][(packets["departed_ps"] != NONE) & late]
    audit.within("ops.measured.sent", len(set(numbers.tolist())), ops["slots_sent"])
    audit.within("ops.measured.delivered", 0, ops["slots_delivered"])
    dropped = ops["slots_dropped_contention"] + ops["slots_dropped_congestion"]
    audit.within("ops.measured.dropped", 0, dropped)


def _kinds(run: Run, audit: Audit) -> None:
    """Slots with data and slots of ACKs alone are all slots."""
    ops = run.summary["ops"]
    for name in SHARES:
        acks = ops["acks"][f"slots_{name}"]
        audit.equal(f"ops.data.slots_{name}", ops[f"slots_{name}"] - acks)
    packets = run.table("packets")
    there = (packets["burst"] != NONE) & (packets["departed_ps"] != NONE)
    data = len(set(packets["burst"][there & (packets["kind"] != "ack")].tolist()))
    audit.within("ops.data.slots_sent", data, ops["slots_sent"])
    if run.scenario["ops"]["acks"] == "free":
        for name in SHARES:
            audit.equal(f"ops.acks.slots_{name}", 0)


def _carried(run: Run, audit: Audit) -> None:
    """Slots that each buffer sent, by the datagrams that left in them."""
    packets, payload = run.table("packets"), _payload(run)
    ops = run.summary["ops"]
    left = packets["departed_ps"] != NONE
    parts = -(-packets["size_bytes"] // payload)
    whole = int((left & (parts > 1)).sum()) == 0 and run.scenario["ops"]["packing"] == "one"
    slots, sizes = int(parts[left].sum()), int(packets["size_bytes"][left].sum())
    if whole:
        audit.equal("ops.slots_sent", slots)
        audit.equal("ops.padding_bytes", slots * payload - sizes)
    audit.within("ops.slots_sent", 0, slots)
    used = ops["slots_sent"] * payload - ops["padding_bytes"]
    audit.claim(used <= sizes, f"ops: slots carry {used} B of {sizes} B that left")
    numbers = packets["burst"][left]
    audit.claim(numbers.max(initial=0) <= ops["slots_sent"], "ops: a slot beyond the last one")
    units = run.end // span_ps(run.scenario["ops"]["smoothing"]["unit"])
    smoothing = run.scenario["ops"]["smoothing"]
    most = units // smoothing["units"] + 1 if smoothing["enabled"] else 0
    for index, edge in enumerate(ops["edges"]):
        asked = edge["requests"] + edge["frozen"]
        audit.claim(asked <= most, f"ops.edges[{index}]: {asked} negotiations")
        audit.claim(edge["cuts"] == 0 or ops["notifications"] > 0, f"ops.edges[{index}].cuts")


def _ends(run: Run) -> list[tuple[str, str]]:
    """Return of each packet the edge node whose buffer it enters, and the one it is for."""
    packets, scenario = run.table("packets"), run.scenario
    flows = [
        ends
        for one in scenario["flows"]
        for _ in range(one["count"])
        for ends in ((one["from"], one["to"]), (one["to"], one["from"]))
        if ends[0] == one["from"] or one.get("reverse") is not None
    ]
    others = [
        (one["from"], one["to"]) for one in scenario.get("traffic", []) for _ in range(one["count"])
    ]
    of_kind = {"data": flows, "ack": [(b, a) for a, b in flows], "udp": others}
    rows = zip(packets["kind"], packets["flow"].tolist(), strict=True)
    return [of_kind[kind][number] for kind, number in rows]


#: The ends of a buffer, and the number of its route, from 1.
Buffer = tuple[str, str, int]


class Detours:
    """The fibres that edge nodes avoid for UDP, by the notifications in the trace."""

    def __init__(self, run: Run, rules: dict[str, str]) -> None:
        network = run.scenario["network"]
        self._graph: Any = networkx.DiGraph()
        for link in network["link"]:
            delay = span_ps(link["delay"])
            self._graph.add_edge(link["from"], link["to"], delay=delay)
            self._graph.add_edge(link["to"], link["from"], delay=delay)
        self._ends = {node["name"] for node in network["node"] if node["role"] == "edge"}
        self._most = network["routes_per_pair"]
        self._known: dict[tuple[str, str], list[list[tuple[str, str]]]] = {}
        self._spans: dict[tuple[str, tuple[str, str]], list[list[int]]] = {}
        after, hold = span_ps(rules["after"]), span_ps(rules["hold"])
        rates, names = run.table("packets_rates"), [node["name"] for node in network["node"]]
        columns = [rates.get(name, ()) for name in ("t_ps", "event", "from", "node", "port")]
        for at, event, *nodes in zip(*columns, strict=True):
            if event != "notified":
                continue
            edge, node, port = (names[number - 1] for number in nodes)
            spans = self._spans.setdefault((edge, (node, port)), [])
            if spans and at < spans[-1][1]:
                spans[-1][1] = at + hold
            else:
                spans.append([at + after, at + hold])

    def _routes(self, ends: tuple[str, str]) -> list[list[tuple[str, str]]]:
        if ends not in self._known:
            through = [n for n in self._graph if n in ends or n not in self._ends]
            among = self._graph.subgraph(through)
            found = networkx.shortest_simple_paths(among, *ends, weight="delay")
            routes = [
                list(itertools.pairwise(path)) for path in itertools.islice(found, self._most)
            ]
            self._known[ends] = routes
        return self._known[ends]

    def takes(self, ends: tuple[str, str], at: int) -> int:
        """Return the number of the route of a packet that comes to its edge node at a time."""
        for place, route in enumerate(self._routes(ends)):
            spans = [span for link in route for span in self._spans.get((ends[0], link), ())]
            if not any(begin <= at < end for begin, end in spans):
                return place + 1
        return 1


def _buffers(run: Run, audit: Audit) -> list[Buffer]:
    """Return of each packet the buffer that it enters, or would."""
    packets, ends = run.table("packets"), _ends(run)
    rules = (run.scenario["ops"].get("dlcc") or {}).get("reroute")
    detours = Detours(run, rules) if rules is not None else None
    rows = zip(packets["kind"], packets["ingress_ps"].tolist(), ends, strict=True)
    found = [
        (*pair, detours.takes(pair, at) if detours and kind == "udp" and at != NONE else 1)
        for kind, at, pair in rows
    ]
    came = [one for one, at in zip(found, packets["ingress_ps"], strict=True) if at != NONE]
    audit.equal("ops.rerouted", sum(number > 1 for *_, number in came))
    used = set(came)
    for index, edge in enumerate(run.summary["ops"]["edges"]):
        there = (edge["from"], edge["to"], edge["route"]) in used
        audit.equal(f"ops.edges[{index}].route", edge["route"] if there else None)
    audit.claim(len(used) == len(run.summary["ops"]["edges"]), f"ops.edges: {used} were used")
    return found


def _outputs(run: Run, audit: Audit, ends: list[Buffer], whole: bool) -> None:
    """Slots that each buffer sent, and those of a node's only output that no slot passes."""
    packets, ops = run.table("packets"), run.summary["ops"]
    left = packets["departed_ps"] != NONE
    sent = Counter(pair for pair, gone in zip(ends, left, strict=True) if gone)
    late = run.since_start(packets["departed_ps"])
    early = Counter(pair[0] for pair, gone in zip(ends, late, strict=True) if gone)
    if not whole:
        return
    for index, edge in enumerate(ops["edges"]):
        audit.equal(f"ops.edges[{index}].slots", sent[edge["from"], edge["to"], edge["route"]])
    slots = run.measured / (ops["slot_s"] * 1e12)
    ports = Counter(port["from"] for port in ops["ports"])
    width = run.scenario["network"]["wavelengths"]
    for index, port in enumerate(ops["ports"]):
        if ports[port["from"]] == 1:
            # The first slot of the measured time, and the last, may be there in part.
            used = port["utilisation"] * width
            low, high = (early[port["from"]] + one for one in (-2, 2))
            holds = low / (slots + 1) <= used <= high / max(slots - 1, 1)
            audit.claim(holds, f"ops.ports[{index}].utilisation = {used}: {low} to {high} slots")


def _backlog(run: Run, audit: Audit) -> None:
    """Packets that wait at the edges at the ends of units of smoothing, in all and by buffer.

    A datagram that leaves in several slots is there in part from the first to the last, so that the
    sum has bounds. Where all fit into a slot it is exact: a unit ends, as timers do, before what
    comes or leaves at that instant.
    """
    packets, payload = run.table("packets"), _payload(run)
    ends = _buffers(run, audit)
    left = packets["departed_ps"] != NONE
    split = -(-packets["size_bytes"] // payload) > 1
    whole = not (left & split).any() and run.scenario["ops"]["packing"] == "one"
    _outputs(run, audit, ends, whole)
    every = np.ones(len(ends), dtype=bool)
    _waits(run, audit, "ops", every)
    for index, edge in enumerate(run.summary["ops"]["edges"]):
        mine = [one == (edge["from"], edge["to"], edge["route"]) for one in ends]
        _waits(run, audit, f"ops.edges[{index}]", np.array(mine, dtype=bool))
    most, extra = run.summary["ops"]["backlog_max_bits"], run.summary["ops"]
    mean = extra["backlog_mean_bits"] * (1 + 1e-9)
    audit.within("ops.extra_buffer_mean_bits", 0.0, mean)
    audit.within("ops.extra_buffer_whole_bits", 0.0, most)
    audit.within("ops.extra_buffer_max_bits", 0.0, most)


def _waits(run: Run, audit: Audit, path: str, mine: Any) -> None:
    """The queue of some packets: its mean since the warm-up, and its maximum."""
    packets = run.table("packets")
    unit = span_ps(run.scenario["ops"]["smoothing"]["unit"])
    inside = mine & (packets["ingress_ps"] != NONE)
    begins, ends = packets["ingress_ps"][inside], packets["departed_ps"][inside].copy()
    sizes = packets["size_bytes"][inside].astype(float) * 8
    split = -(-packets["size_bytes"][inside] // _payload(run)) > 1
    # It left in part, and the run has ended before the rest.
    rest = split & (packets["fate"][inside] == "in-flight")
    ends[(ends == NONE) | rest] = run.end + 10 * unit
    low, high = [], []
    for at in range(unit, run.end + 1, unit):
        here = (begins < at) & (ends >= at)
        low.append(float(sizes[here & ~split].sum()))
        high.append(float(sizes[here].sum()))
    if not low:
        return
    first = run.start // unit if run.warm else 0
    count = max(len(low) - first, 1)
    means = [sum(of[first:]) / count for of in (low, high)]
    for name, (least, most) in (("mean", means), ("max", (max(low), max(high)))):
        place = f"{path}.backlog_{name}_bits"
        if least == most:
            audit.equal(place, least)
        else:
            audit.within(place, least * (1 - 1e-9), most * (1 + 1e-9))
