"""The input of the slow twin: the fields of a scenario, times in ps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

PER_UNIT = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
PER_RATE = {"Gb/s": 10**9, "Mb/s": 10**6}
PER_SIZE = {"B": 1, "KB": 1000, "MB": 10**6}


def number(text: str, units: dict[str, int]) -> int:
    value, unit = text.split()
    return int(value) * units[unit]


def time(text: str) -> int:
    return number(text, PER_UNIT)


def of_core(core: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `core` that it sets, under the names of `Rules`."""
    lines, pool = core.get("delay_lines"), core.get("converters")
    found = {
        name: core[name]
        for name in ("scheduler", "conversion", "conversion_range", "contention")
        if name in core
    }
    if pool is not None:
        found["converters"] = pool["number"]
        found["converters_shared"] = pool.get("shared", "node")
    if lines is not None:
        found["lines"] = sorted(time(delay) for delay in lines.get("delays", []))
        found["line_channels"] = lines.get("channels", 1)
        found["passes"] = lines.get("passes", 1)
    return found


def differing(scenario: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return what differs at nodes: groups of named nodes in order, then the nodes themselves."""
    nodes = scenario["network"]["node"]
    place = {node["name"]: number for number, node in enumerate(nodes, 1)}
    found: dict[int, dict[str, Any]] = {}
    for group in scenario.get("core", {}).get("group", []):
        for name in group["nodes"]:
            found.setdefault(place[name], {}).update(of_core(group["set"]))
    for node in nodes:
        if "core" in node:
            found.setdefault(place[node["name"]], {}).update(of_core(node["core"]))
    return found


@dataclass
class Rules:
    """Fields of `network`, `signalling`, `core` and `edge` under their own names."""

    rate: int
    protocol: str
    processing: int
    processors: int | None
    guard: int
    offset: int | None
    switching: int
    header: int
    channels: int
    requests: int
    retry: int
    scheduler: str
    conversion: str
    conversion_range: int
    #: Converters of a pool; None: there is always one.
    converters: int | None
    converters_shared: str
    contention: list[str]
    lines: list[int]
    line_channels: int
    passes: int
    passes_on_path: int
    #: The time before a burst for which it has the entry of a line.
    switching_of_lines: int
    hop_limit: int
    trailer: bool
    attempts: int
    wait: int
    buffer: int | None
    port: str
    class_offsets: list[int]
    routes: int
    route_choice: str
    #: Fields of `core` that differ, by node from 1.
    nodes: dict[int, dict[str, Any]]
    #: Whether a burst is dropped where the least cut would leave it no packet.
    gives_up: bool = False

    @staticmethod
    def of(scenario: dict[str, Any]) -> Rules:
        """Read a scenario; missing fields have the default of the reference."""
        signalling, core = scenario.get("signalling", {}), scenario.get("core", {})
        edge, lines = scenario.get("edge", {}), core.get("delay_lines", {})
        rate = number(scenario["network"].get("link_rate", "10 Gb/s"), PER_RATE)
        header = number(signalling.get("header_size", "64 B"), PER_SIZE)
        again = core.get("retransmission", {})
        return Rules(
            rate=rate,
            protocol=signalling.get("protocol", "jet"),
            processing=time(signalling.get("processing", "10 us")),
            processors=signalling.get("processors"),
            guard=time(signalling.get("guard", "1 us")),
            offset=time(signalling["offset"]) if "offset" in signalling else None,
            switching=time(signalling.get("switching", "0 s")),
            header=header * 8 * 10**12 // rate,
            channels=signalling.get("channels", 1),
            requests=signalling.get("requests", 8),
            retry=time(signalling.get("retry", "1 ms")),
            scheduler=core["scheduler"],
            conversion=core.get("conversion", "full"),
            conversion_range=core.get("conversion_range", 0),
            converters=core.get("converters", {}).get("number"),
            converters_shared=core.get("converters", {}).get("shared", "node"),
            contention=core.get("contention", []),
            lines=sorted(time(delay) for delay in lines.get("delays", [])),
            line_channels=lines.get("channels", 1),
            passes=lines.get("passes", 1),
            passes_on_path=lines.get("passes_on_path", 10**9),
            switching_of_lines=time(signalling.get("switching", "0 s")),
            hop_limit=core.get("deflection", {}).get("hop_limit", 2),
            trailer=core.get("segmentation", {}).get("trailer", True),
            attempts=again.get("attempts", 1),
            wait=time(again.get("wait", "0 s")),
            buffer=number(again["buffer"], PER_SIZE) if "buffer" in again else None,
            port=edge.get("port", "fifo"),
            class_offsets=[time(one) for one in edge.get("class_offsets", [])],
            routes=scenario["network"].get("routes_per_pair", 1),
            route_choice=scenario["network"].get("route_choice", "first"),
            nodes=differing(scenario),
        )

    def at(self, node: int) -> Rules:
        """Return the rules of a node."""
        return replace(self, **self.nodes[node]) if node in self.nodes else self

    def hold(self, size: int) -> int:
        """Return how long a burst of so many bytes takes."""
        bits = size * 8 * 10**12
        assert bits % self.rate == 0, "rates of the twin's scenarios divide a byte evenly"
        return bits // self.rate

    def bytes_in(self, span: int) -> int:
        """Return the whole bytes that pass in a time."""
        return span * self.rate // (8 * 10**12)
