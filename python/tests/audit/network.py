"""The mesh: bursts by kind, nodes, fibres, and the histograms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from audit import causes, converters
from audit.checks import Audit
from audit.result import NONE, Run, rate_bps, size_bytes, span_ps

#: Kinds of bursts: their part of the summary, and what they are called in the tables.
KINDS = (("data", "data"), ("acks", "ack"), ("background", "background"))

#: Requests for a fibre, and their outcomes.
_PORT = ("contended", "carried", "lost", "deflected", "resent", "refused")

#: Actions of nodes, and their names in the steps.
_RESOLUTIONS = {
    "contentions": ("contended", "injected", "no-converter"),
    "injected": ("injected",),
    "no_converter": ("no-converter",),
    "converted": ("converted",),
    "delayed": ("delayed",),
    "deflected": ("deflected",),
    "segmented": ("segmented",),
    "resent": ("resent",),
    "no_copy": ("no-copy",),
    "refused": ("refused",),
}


class Bursts:
    """The bursts of a mesh, with what the steps say of each."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.table = run.table("bursts")
        self.steps = run.table("bursts_steps") or _no_steps()
        table = self.table
        self.kind = table["direction"]
        self.fate = table["fate"]
        self.lost = self.fate == "lost"
        ends = np.where(self.lost, table["lost_ps"], table["arrived_ps"])
        self.ended = (self.fate != "in-flight") & run.since_start(ends)
        self.closed = run.since_start(table["closed_ps"])
        self.place = {number: row for row, number in enumerate(table["burst"].tolist())}
        self.packets_cut, self.bytes_cut = self._cut()
        step_rows = [self.place[number] for number in self.steps["burst"].tolist()]
        self.step_kind = self.kind[step_rows] if step_rows else self.kind[:0]
        self.step_row = np.array(step_rows, dtype=int)
        self.step_now = run.since_start(self.steps["t_ps"])
        self._found: dict[tuple[str | None, ...], Any] = {}

    def _cut(self) -> tuple[Any, Any]:
        """The bytes cut off each burst; a background burst that is sent again is whole again."""
        packets = np.zeros(len(self.kind), dtype=np.int64)
        size = np.zeros(len(self.kind), dtype=np.int64)
        steps = self.steps
        rows = zip(steps["burst"], steps["event"], steps["packets"], steps["bytes"], strict=True)
        for number, event, count, length in rows:
            row = self.place[number]
            if event == "cut":
                packets[row] += count
                size[row] += length
            elif event == "resent" and self.table["packets"][row] == 0:
                size[row] = 0
        return packets, size

    def of(self, kind: str | None) -> Any:
        """Return which bursts are of a kind, or of any."""
        return np.ones(len(self.kind), dtype=bool) if kind is None else self.kind == kind

    def steps_of(self, kind: str | None, *events: str) -> Any:
        """Return which steps in the measured time are of a kind of burst and of some events."""
        found = self._found.get((kind, *events))
        if found is None:
            found = self.step_now & np.isin(self.steps["event"], events)
            if kind is not None:
                found &= self.step_kind == kind
            self._found[kind, *events] = found
        return found


def _no_steps() -> dict[str, Any]:
    """Return the steps of a run in which no burst was sent."""
    none = np.zeros(0, dtype=np.int64)
    names = ("t_ps", "burst", "from", "to", "wait_ps", "packets", "bytes")
    return {**dict.fromkeys(names, none), "event": np.zeros(0, dtype=object)}


def check(run: Run, audit: Audit) -> None:
    """Compute every number of a mesh again."""
    if "network" not in run.summary:
        return
    bursts = Bursts(run)
    for name, kind in (*KINDS, ("all", None)):
        _kind(run, audit, bursts, f"network.{name}", kind)
    causes.check(run, audit, bursts)
    _classes(run, audit, bursts)
    _assembled(run, audit, bursts)
    _nodes(run, audit, bursts)
    _links(run, audit, bursts)


def _kind(run: Run, audit: Audit, bursts: Bursts, path: str, kind: str | None) -> None:
    table, mine = bursts.table, bursts.of(kind)
    ended, lost = bursts.ended & mine, bursts.ended & mine & bursts.lost
    expected = _freight(bursts, ended)
    expected["contention_at_ingress"] = int((lost & _at_ingress(bursts)).sum())
    closed = bursts.closed & mine
    assembled = closed & (table["packets"] > 0)
    took = (table["closed_ps"] - table["opened_ps"]) // 1000
    expected |= {
        "packets_per_burst": mean(table["packets"][assembled]),
        "bytes_per_burst": mean(table["bytes"][closed]),
        "assembly_delay_s": mean(took[assembled]) * 1e-9,
    }
    waits = bursts.steps["wait_ps"]
    port = waits[bursts.steps_of(kind, "port")]
    expected["port_wait_s"] = mean(port // 1000) * 1e-9
    processor = waits[bursts.steps_of(kind, "header")]
    control = waits[bursts.steps_of(kind, "carried")]
    expected |= {
        "headers": len(processor),
        "processor_wait_s": mean(processor) * 1e-12,
        "longest_processor_wait_s": longest(processor),
        "control_wait_s": mean(control) * 1e-12,
        "longest_control_wait_s": longest(control),
    }
    expected |= _whole_run(bursts, mine)
    for name, value in expected.items():
        audit.equal(f"{path}.{name}", value)
    _resolutions(audit, bursts, f"{path}.resolutions", kind)
    _groups(run, audit, bursts, path, ended)


def _freight(bursts: Bursts, ended: Any) -> dict[str, float]:
    """Return what was in bursts that ended, and what of it was lost."""
    table, lost = bursts.table, ended & bursts.lost
    load = table["load"]
    packets, size = int(table["packets"][ended].sum()), int(load[ended].sum())
    cut, bytes_cut = bursts.packets_cut, bursts.bytes_cut
    packets_lost = int(np.where(bursts.lost, table["packets"], cut)[ended].sum())
    bytes_lost = int(np.where(bursts.lost, load, bytes_cut)[ended].sum())
    return {
        "bursts": int(ended.sum()),
        "bursts_lost": int(lost.sum()),
        "burst_loss_ratio": share(lost.sum(), ended.sum()),
        "packets": packets,
        "packets_lost": packets_lost,
        "packets_cut": int(cut[ended].sum()),
        "packet_loss_ratio": share(packets_lost, packets),
        "bytes": size,
        "bytes_lost": bytes_lost,
        "bytes_cut": int(bytes_cut[ended].sum()),
        "byte_loss_ratio": share(bytes_lost, size),
    }


def _at_ingress(bursts: Bursts) -> Any:
    """Which bursts were lost to contention where they set out."""
    table = bursts.table
    return (table["cause"] == "contention") & (table["node"] == table["from"])


def _whole_run(bursts: Bursts, mine: Any) -> dict[str, float]:
    load = bursts.table["load"]
    there = mine & (bursts.fate == "delivered")
    gone = int(load[mine & bursts.lost].sum() + bursts.bytes_cut[there].sum())
    return {
        "run.bytes_sent": int(load[mine].sum()),
        "run.bytes_delivered": int((load - bursts.bytes_cut)[there].sum()),
        "run.bytes_lost": gone,
        "run.bytes_in_flight": int(load[mine & (bursts.fate == "in-flight")].sum()),
    }


def _resolutions(audit: Audit, bursts: Bursts, path: str, kind: str | None) -> None:
    for name, events in _RESOLUTIONS.items():
        audit.equal(f"{path}.{name}", int(bursts.steps_of(kind, *events).sum()))
    cut = bursts.steps_of(kind, "cut")
    audit.equal(f"{path}.packets_cut", int(bursts.steps["packets"][cut].sum()))
    audit.equal(f"{path}.bytes_cut", int(bursts.steps["bytes"][cut].sum()))


def _groups(run: Run, audit: Audit, bursts: Bursts, path: str, ended: Any) -> None:
    """Causes, routes, hops, sizes."""
    table, part = bursts.table, run.summary["network"][path.split(".")[1]]
    _losses_and_routes(run, audit, bursts, (path, part), ended)
    hops = [(hops,) for hops in table["hops"].tolist()]
    _by(audit, bursts, f"{path}.hops", part["hops"], ended, hops, ("hops",))
    sizes = [(1 << int(size).bit_length(),) for size in table["bytes"].tolist()]
    _by(audit, bursts, f"{path}.sizes", part["sizes"], ended, sizes, ("below_bytes",))


def _losses_and_routes(
    run: Run, audit: Audit, bursts: Bursts, of: tuple[str, dict[str, Any]], ended: Any
) -> None:
    """Lost bursts by cause, and all by the nodes where they begin and end."""
    table, (path, part) = bursts.table, of
    causes = Counter(table["cause"][ended & bursts.lost].tolist())
    listed = {one["cause"]: one["bursts"] for one in part["causes"]}
    audit.claim(set(causes) <= set(listed), f"{path}.causes: {listed}, and not {causes}")
    for index, one in enumerate(part["causes"]):
        audit.equal(f"{path}.causes[{index}].bursts", causes[one["cause"]])
    names = [node["name"] for node in run.summary["network"]["nodes"]]
    ends = [
        (names[a - 1], names[b - 1])
        for a, b in zip(table["from"].tolist(), table["to"].tolist(), strict=True)
    ]
    took = table["arrived_ps"] - table["closed_ps"]
    routes = _by(audit, bursts, f"{path}.routes", part["routes"], ended, ends, ("from", "to"))
    for index, rows in enumerate(routes):
        landed = [took[row] for row in rows if not bursts.lost[row]]
        delay_s = mean(np.array(landed)) * 1e-12 if landed else None
        audit.equal(f"{path}.routes[{index}].mean_delay_s", delay_s)


def classes_of(run: Run) -> list[int]:
    """Return the classes that bursts of a scenario can have, as the scenario says it."""
    edge = run.scenario["edge"]
    sent = [
        one.get("class", 0)
        for part in ("flows", "demand", "traffic", "batches")
        for one in run.scenario.get(part) or []
    ]
    if edge.get("assembly") == "cwnd-classes":
        found = set(range(len(edge["cwnd_thresholds"]) + 1))
    elif edge.get("queues") == "class":
        found = set(sent)
    else:
        found = {0} if sent else set[int]()
    return sorted(found | {one.get("class", 0) for one in run.scenario.get("bursts") or []})


def _classes(run: Run, audit: Audit, bursts: Bursts) -> None:
    """Bursts by class, of each kind and at each fibre."""
    table, network = bursts.table, run.summary["network"]
    classes = classes_of(run)
    seen = set(table["class"].tolist())
    audit.claim(seen <= set(classes), f"bursts.class: {seen}, and not {classes}")
    if len(classes) < 2:
        found = [part for part in network.values() if isinstance(part, dict)] + network["links"]
        audit.claim(all("classes" not in part for part in found), "one class has no list")
        return
    for name, kind in (*KINDS, ("all", None)):
        for index, one in enumerate(classes):
            path, part = f"network.{name}.classes[{index}]", network[name]["classes"][index]
            ended = bursts.ended & bursts.of(kind) & (table["class"] == one)
            freight = _freight(bursts, ended)
            audit.equal(f"{path}.class", one)
            for number in freight:
                if not number.endswith("_cut"):
                    audit.equal(f"{path}.{number}", freight[number])
            _losses_and_routes(run, audit, bursts, (path, part), ended)
        audit.claim(len(network[name]["classes"]) == len(classes), f"network.{name}.classes")
    of_step = table["class"][bursts.step_row]
    numbers = {node["name"]: index + 1 for index, node in enumerate(network["nodes"])}
    for place, link in enumerate(network["links"]):
        here = bursts.steps["from"] == numbers[link["from"]]
        here &= bursts.steps["to"] == numbers[link["to"]]
        for index, one in enumerate(classes):
            path = f"network.links[{place}].classes[{index}]"
            audit.equal(f"{path}.class", one)
            _port(audit, bursts, f"{path}.bursts", None, here & (of_step == one))


def _port(audit: Audit, bursts: Bursts, path: str, kind: str | None, here: Any) -> None:
    """Requests for a fibre, and their outcomes; `here` are the steps at it."""
    counts = {what: int((bursts.steps_of(kind, what) & here).sum()) for what in _PORT}
    others = bursts.steps_of(kind, "injected", "no-converter")
    counts["contended"] += int((others & here).sum())
    for what, count in counts.items():
        audit.equal(f"{path}.{what}", count)
    audit.equal(f"{path}.offered", sum(counts.values()) - counts["contended"])


def _by(
    audit: Audit,
    bursts: Bursts,
    path: str,
    found: list[dict[str, Any]],
    ended: Any,
    keys: list[tuple[Any, ...]],
    names: tuple[str, ...],
) -> list[list[int]]:
    """Compare a list of groups of bursts; return the rows of each."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in np.flatnonzero(ended).tolist():
        groups.setdefault(keys[row], []).append(row)
    seen = [tuple(one[name] for name in names) for one in found]
    audit.claim(sorted(map(str, seen)) == sorted(map(str, groups)), f"{path}: {seen}")
    rows = [groups.get(key, []) for key in seen]
    for index, (one, of_it) in enumerate(zip(found, rows, strict=True)):
        lost = int(bursts.lost[of_it].sum())
        audit.equal(f"{path}[{index}].bursts", len(of_it))
        audit.equal(f"{path}[{index}].lost", lost)
        audit.equal(f"{path}[{index}].loss_ratio", share(lost, len(of_it)))
        for name, value in zip(names, seen[index], strict=True):
            if not isinstance(value, str):
                audit.equal(f"{path}[{index}].{name}", one[name])
    return rows


def _assembled(run: Run, audit: Audit, bursts: Bursts) -> None:
    """Bytes of flows in each burst."""
    packets, table = run.table("packets"), bursts.table
    data = packets["kind"] == "data"
    each = Counter(
        (burst, flow)
        for burst, flow in zip(
            packets["burst"][data].tolist(), packets["flow"][data].tolist(), strict=True
        )
        if burst in bursts.place and bursts.closed[bursts.place[burst]]
    )
    segments: Counter[int] = Counter()
    flows: Counter[int] = Counter()
    for (burst, _), count in each.items():
        segments[burst] += count
        flows[burst] += 1
    audit.equal("network.segments_per_burst", mean(np.array(list(segments.values()))))
    audit.equal("network.flows_per_burst", mean(np.array(list(flows.values()))))
    expected: dict[tuple[str, str], list[int]] = {
        ("segments-per-burst", "data"): list(segments.values()),
        ("flows-per-burst", "data"): list(flows.values()),
        ("segments-per-flow-and-burst", "data"): list(each.values()),
    }
    took = (table["closed_ps"] - table["opened_ps"]) // 1000
    waits = bursts.steps["wait_ps"] // 1000
    for _, kind in KINDS:
        closed = bursts.closed & bursts.of(kind)
        assembled = closed & (table["packets"] > 0)
        expected |= {
            ("packets-per-burst", kind): table["packets"][assembled].tolist(),
            ("bytes-per-burst", kind): table["bytes"][closed].tolist(),
            ("assembly-ns", kind): took[assembled].tolist(),
            ("port-wait-ns", kind): waits[bursts.steps_of(kind, "port")].tolist(),
            ("processor-wait-ns", kind): waits[bursts.steps_of(kind, "header")].tolist(),
            ("control-wait-ns", kind): waits[bursts.steps_of(kind, "carried")].tolist(),
        }
    connections = run.table("connections")
    if not connections or not connections["id"].size:
        expected |= {("bursts-per-flow", "data"): [], ("lost-bursts-per-flow", "data"): []}
    _histograms(run, audit, expected)


def least_of_class(value: int) -> int:
    """Return the least value of a class: exact below 4096, then 64 classes an octave."""
    if value < 4096:
        return value
    shift = value.bit_length() - 7
    return value >> shift << shift


def _histograms(run: Run, audit: Audit, expected: dict[tuple[str, str], list[int]]) -> None:
    table = run.table("histograms")
    found: dict[tuple[str, str], dict[int, int]] = {}
    rows = zip(
        table["of"], table["kind"], table["value"].tolist(), table["count"].tolist(), strict=True
    )
    for of, kind, value, count in rows:
        found.setdefault((of, kind), {})[value] = count
    for key, values in expected.items():
        counts = dict(Counter(least_of_class(value) for value in values))
        audit.claim(found.pop(key, {}) == counts, f"histograms: {key}")
    extra = set(found) - {("bursts-per-flow", "data"), ("lost-bursts-per-flow", "data")}
    audit.claim(not extra, f"histograms: {extra}")


def _nodes(run: Run, audit: Audit, bursts: Bursts) -> None:
    table, waits = bursts.table, bursts.steps["wait_ps"]
    headers = bursts.steps_of(None, "header")
    for index in range(len(run.summary["network"]["nodes"])):
        path = f"network.nodes[{index}]"
        here = waits[headers & (bursts.steps["from"] == index + 1)]
        audit.equal(f"{path}.headers", len(here))
        audit.equal(f"{path}.processor_wait_s", mean(here) * 1e-12)
        audit.equal(f"{path}.longest_processor_wait_s", longest(here))
        lost = bursts.ended & bursts.lost & (table["node"] == index + 1)
        for name, kind in (*KINDS, ("all", None)):
            mine = lost & bursts.of(kind)
            causes = table["cause"][mine]
            audit.equal(f"{path}.{name}.bursts_lost", int(mine.sum()))
            audit.equal(f"{path}.{name}.contention", int((causes == "contention").sum()))
            audit.equal(f"{path}.{name}.late_headers", int((causes == "late-header").sum()))
            audit.equal(f"{path}.{name}.no_converter", int((causes == "no-converter").sum()))
    converters.check(run, audit)


def _links(run: Run, audit: Audit, bursts: Bursts) -> None:
    steps, network = bursts.steps, run.summary["network"]
    numbers = {node["name"]: index + 1 for index, node in enumerate(network["nodes"])}
    signalling = run.scenario["signalling"]
    rate = rate_bps(signalling.get("rate") or run.scenario["network"]["link_rate"])
    signal_s = size_bytes(signalling["header_size"]) * 8 / rate / signalling["channels"]
    for index, link in enumerate(network["links"]):
        path = f"network.links[{index}]"
        ends = numbers[link["from"]], numbers[link["to"]]
        here = (steps["from"] == ends[0]) & (steps["to"] == ends[1])
        for name, kind in (*KINDS, ("all", None)):
            _port(audit, bursts, f"{path}.{name}", kind, here)
        waits = steps["wait_ps"][bursts.steps_of(None, "carried") & here]
        signals = len(waits) + int((bursts.steps_of(None, "trailer") & here).sum())
        load = signals * signal_s / run.measured_s if run.measured else 0.0
        audit.equal(f"{path}.control_load", load, relative=1e-6)
        audit.equal(f"{path}.control_wait_s", mean(waits) * 1e-12)
        audit.equal(f"{path}.longest_control_wait_s", longest(waits))
        _used(run, audit, path, link, ends)
        audit.equal(f"{path}.up", 1.0 - _down(run, link["from"], link["to"]), relative=1e-9)


def _down(run: Run, a: str, b: str) -> float:
    """Share of the measured time that failures hold a fibre down, as the scenario lists them."""
    edges: list[tuple[int, int]] = []
    for failure in run.scenario.get("failures", []):
        pair = failure.get("link")
        mine = pair == [a, b] or (pair == [b, a] and not failure.get("one_way"))
        if mine or failure.get("node") in (a, b):
            up = failure.get("up")
            spell = (span_ps(failure["down"]), run.close if up is None else span_ps(up))
            first, last = (min(max(t, run.start), run.close) for t in spell)
            edges += [(first, 1), (max(first, last), -1)]
    down, depth, since = 0, 0, 0
    for t_ps, step in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
        if depth > 0:
            down += t_ps - since
        depth, since = depth + step, t_ps
    return down / run.measured if run.measured else 0.0


def _used(run: Run, audit: Audit, path: str, link: dict[str, Any], ends: tuple[int, int]) -> None:
    """How long each wavelength of a fibre was reserved."""
    hops = run.table("bursts_hops")
    used = np.zeros(len(link["wavelengths"]))
    # A reservation of a burst that is cut off or refused later has no row, or a shorter one.
    cuts = converters.tries(run, "segmentation")
    cuts = cuts or run.scenario["signalling"]["protocol"] == "two-way"
    if hops:
        mine = (hops["from"] == ends[0]) & (hops["to"] == ends[1]) & (hops["wavelength"] != NONE)
        begins = np.clip(hops["reserved_ps"][mine], run.start, run.close)
        finish = np.clip(hops["end_ps"][mine], run.start, run.close)
        np.add.at(used, hops["wavelength"][mine], finish - begins)
    shares = used / run.measured if run.measured else used
    for wavelength, value in enumerate(shares.tolist()):
        place = f"{path}.wavelengths[{wavelength}]"
        if cuts:
            audit.within(place, 0.0, 1.0)
        else:
            audit.equal(place, value, relative=1e-7)
    audit.equal(f"{path}.utilisation", float(np.mean(link["wavelengths"])))
    if not cuts:
        audit.equal(f"{path}.utilisation", float(shares.mean()), relative=1e-7)


def share(few: Any, many: Any) -> float:
    """Return a part of a whole, of nothing 0."""
    return float(few) / float(many) if many else 0.0


def mean(values: Any) -> float:
    """Return the mean of whole numbers, of none 0."""
    return float(sum(values.tolist()) / len(values)) if len(values) else 0.0


def longest(values: Any) -> float:
    """Return the largest of some times in ps, in s."""
    return float(values.max()) * 1e-12 if len(values) else 0.0
