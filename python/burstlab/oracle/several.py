"""Cases with several flows over one shared queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burstlab.loading import Document
from burstlab.oracle.cases import (
    MISSING_AGENTS,
    PROFILES,
    VARIANTS,
    Case,
    NotReplayable,
    as_milliseconds,
    as_rate,
    as_seconds,
    check_number,
    check_numbers,
    kinds_of,
    wrong,
)

#: Where the flows meet, and which rows are arrivals at the queues that they share, queue by queue.
ARRIVALS: Mapping[str, tuple[str, ...]] = {
    "assembly": ("B", "K"),
    "access": ("SC", "K"),
    "egress": ("Q", "K"),
}

_NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "case": str,
    "kind": str,
    "flows": list,
    "profile": str,
    "trace": str,
    "access_bps": (int, float),
    "receiver_bps": (int, float),
    "core_bps": (int, float),
    "delays_ms": list,
    "tick": (int, float),
    "t_rec": (int, float),
}

_NEEDED_OF_A_FLOW: Mapping[str, type | tuple[type, ...]] = {
    "tcp": str,
    "window": int,
    "t_start": (int, float),
    "boot_time": (int, float),
}

#: Optional fields of a case with several flows.
_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "assembly_tb": (int, float),
    "queue": int,
    "drop_bursts": list,
    "cbr": list,
}

_OPTIONAL_OF_A_FLOW: Mapping[str, type | tuple[type, ...]] = {
    "packet_bytes": int,
    "syn_bytes": int,
}

_NEEDED_OF_A_SOURCE: Mapping[str, type | tuple[type, ...]] = {
    "bps": (int, float),
    "bytes": int,
    "t_start": (int, float),
}

#: Fields about how a case was drawn or recorded.
BESIDES = frozenset(
    {
        "scenario",
        "note",
        "ns2_packetSize_",
        "rng_seed",
        "t_end",
        "tick_margin",
        "asm_margin",
        "first_tie",
    }
)

#: Fields that a replay of several flows knows.
KNOWN = frozenset(_NEEDED) | frozenset(_OPTIONAL) | BESIDES

_KNOWN_OF_A_FLOW = (
    frozenset(_NEEDED_OF_A_FLOW) | frozenset(_OPTIONAL_OF_A_FLOW) | {"delayed_ack", "delay_ms"}
)

#: The time before a burst that a header takes in a network without headers.
_GUARD_S = 1e-6


@dataclass(frozen=True)
class SeveralCase(Case):
    """One entry of the index that has ``flows``."""

    @property
    def variant(self) -> str:
        """Our names of the TCP variants, each once."""
        names = [VARIANTS.get(flow["tcp"], flow["tcp"]) for flow in self.entry["flows"]]
        return "+".join(dict.fromkeys(names))

    @property
    def kind(self) -> str:
        """Where the flows meet."""
        return self.entry["kind"]

    @property
    def flows(self) -> int:
        """How many flows of TCP there are; other sources have higher numbers."""
        return len(self.entry["flows"])

    def scenario(self) -> Document:
        """Build the scenario that repeats the case.

        Raises
        ------
        NotReplayable
            If the engine lacks a variant.
        InputError
            If the entry asks for something that has no counterpart.
        """
        entry = self.entry
        if self.unknown:
            raise NotReplayable(self.unknown)
        flows = [self._flow(flow) for flow in entry["flows"]]
        near, *_, far = entry["delays_ms"]
        receiver: Document = {"rate": as_rate(entry["receiver_bps"]), "delay": as_milliseconds(far)}
        access: Document = {
            "rate": as_rate(entry["access_bps"]),
            "delay": as_milliseconds(near),
            "receiver": receiver,
        }
        duration_s = self.until_s + float(entry.get("assembly_tb", 0)) + 0.001
        document: Document = {
            "access": access,
            "edge": {"assembly": "none"},
            "flows": flows,
            "run": {"duration": as_seconds(duration_s)},
        }
        if self.kind == "egress":
            self._meet_at_the_egress(document)
        else:
            self._share_a_path(document)
        return document

    def _share_a_path(self, document: Document) -> None:
        entry = self.entry
        delays = [as_milliseconds(delay) for delay in entry["delays_ms"][1:-1]]
        document["network"] = {
            "topology": "path",
            "core_nodes": len(delays) - 1,
            "link_rate": as_rate(entry["core_bps"]),
            "link_delays": delays,
        }
        document["core"] = {"forwarding": "store-and-forward"}
        if self.kind == "access":
            document["access"].update(shared=True, queue=entry["queue"])
            document["traffic"] = [
                {
                    "rate": as_rate(source["bps"]),
                    "packet_size": f"{source['bytes']} B",
                    "start": as_seconds(source["t_start"]),
                    # ns-2 sends the first packet as the source starts.
                    "phase": "0 s",
                }
                for source in entry.get("cbr", [])
            ]
            return
        timer = as_seconds(entry["assembly_tb"])
        document["edge"] = {"assembly": "timer", "timer": timer, "spacing": "1 ns"}
        if entry.get("drop_bursts"):
            bursts = list(entry["drop_bursts"])
            document["loss"] = {"data": {"process": "script", "node": 0, "bursts": bursts}}

    def _meet_at_the_egress(self, document: Document) -> None:
        entry = self.entry
        names = [f"s{number}" for number in range(self.flows)]
        document["network"] = {
            "topology": "custom",
            "link_rate": as_rate(entry["core_bps"]),
            "node": [
                *({"name": name, "role": "edge"} for name in names),
                {"name": "d", "role": "both"},
            ],
            "link": [
                {"from": name, "to": "d", "delay": as_milliseconds(flow["delay_ms"])}
                for name, flow in zip(names, entry["flows"], strict=True)
            ],
        }
        # Each fibre has one ingress per direction and is never full. A header takes next to no
        # time, and the guard is part of the delay of the recorded link.
        document["signalling"] = {
            "processing": "0 s",
            "guard": as_seconds(_GUARD_S),
            "header_size": "1 B",
        }
        document["access"]["shared"] = True
        document["access"]["receiver"]["queue"] = entry["queue"]
        for name, flow in zip(names, document["flows"], strict=True):
            flow.update({"from": name, "to": "d"})

    def _flow(self, flow: Mapping[str, Any]) -> Document:
        if flow["tcp"] in MISSING_AGENTS:
            raise NotReplayable(f"the engine has no {flow['tcp']}")
        if flow["tcp"] not in VARIANTS:
            fix = f"use {', '.join(VARIANTS)}"
            raise wrong(self.name, f"unknown tcp {flow['tcp']!r}", fix)
        if self.entry["profile"] not in PROFILES:
            problem = f"unknown profile {self.entry['profile']!r}"
            raise wrong(self.name, problem, f"use {', '.join(PROFILES)}")
        tcp: Document = {
            **PROFILES[self.entry["profile"]],
            "variant": VARIANTS[flow["tcp"]],
            "window": flow["window"],
            "initial_ssthresh": flow["window"],
            "rto_tick": as_seconds(self.tick_s),
            "rto_clock_phase": as_seconds(flow["boot_time"]),
            "delayed_ack": bool(flow.get("delayed_ack", False)),
        }
        for name, field in (("packet_bytes", "segment_size"), ("syn_bytes", "syn_size")):
            if name in flow:
                tcp[field] = f"{flow[name]} B"
        return {"start": as_seconds(flow["t_start"]), "tcp": tcp}


def check_entry(where: str, entry: Mapping[str, Any]) -> None:
    """Check that an entry with ``flows`` has the fields of a replay."""
    _check_fields(where, entry, _NEEDED, _OPTIONAL)
    check_delays(where, entry["delays_ms"])
    check_numbers(where, "drop_bursts", entry.get("drop_bursts", []))
    kind = entry["kind"]
    if kind not in ARRIVALS:
        known = ", ".join(ARRIVALS)
        raise wrong(where, f"kind = {kind!r} is none of {known}", "write one of them")
    links = 2 if kind == "egress" else 5
    if len(entry["delays_ms"]) != links:
        problem = f"delays_ms has the wrong length for {kind!r}"
        raise wrong(where, problem, f"write {links} numbers of ms")
    own = {"assembly": "assembly_tb", "access": "queue", "egress": "queue"}[kind]
    if not isinstance(entry.get(own), (int, float)) or not entry[own] > 0:
        raise wrong(where, f"{own!r} is missing or not positive", "write a number above 0")
    if not entry["flows"]:
        raise wrong(where, "flows is empty", "list at least one")
    for index, flow in enumerate(entry["flows"]):
        of_flow = f"{where}: flow {index}"
        if not isinstance(flow, dict):
            raise wrong(of_flow, "a table of fields is needed", "write an object with the fields")
        _check_fields(of_flow, flow, _NEEDED_OF_A_FLOW, _OPTIONAL_OF_A_FLOW)
        if kind == "egress":
            _check_fields(of_flow, flow, {"delay_ms": (int, float)})
    for index, source in enumerate(entry.get("cbr", [])):
        of_source = f"{where}: cbr {index}"
        if not isinstance(source, dict):
            raise wrong(of_source, "a table of fields is needed", "write an object with the fields")
        _check_fields(of_source, source, _NEEDED_OF_A_SOURCE)


def check_delays(where: str, delays: list[Any]) -> None:
    """Refuse delays that are no numbers of milliseconds."""
    if not all(type(delay) in (int, float) for delay in delays):
        raise wrong(where, "delays_ms contains a value that is no number", "write numbers of ms")
    for delay in delays:
        check_number(where, "delays_ms", delay)


def unknown_of(entry: Mapping[str, Any]) -> str:
    """Name the fields of flows and other sources that no replay knows; empty: it knows all."""
    listed = (
        ("flows", _KNOWN_OF_A_FLOW, entry.get("flows", [])),
        ("cbr", frozenset(_NEEDED_OF_A_SOURCE), entry.get("cbr", [])),
    )
    unknown = [
        repr(f"{table}[{number}].{name}")
        for table, known, rows in listed
        for number, row in enumerate(rows)
        for name in row
        if name not in known
    ]
    return f"unknown field {', '.join(unknown)}" if unknown else ""


def _check_fields(
    where: str,
    entry: Mapping[str, Any],
    needed: Mapping[str, type | tuple[type, ...]],
    optional: Mapping[str, type | tuple[type, ...]] | None = None,
) -> None:
    for name in needed:
        if name not in entry:
            raise wrong(where, f"{name!r} is missing", "add this field")
    for name, type_ in {**needed, **(optional or {})}.items():
        if name not in entry:
            continue
        value = entry[name]
        if not isinstance(value, type_) or isinstance(value, bool):
            problem = f"{name} = {value!r:.60} has a wrong type"
            raise wrong(where, problem, f"write {kinds_of(type_)}")
        if isinstance(value, int | float):
            check_number(where, name, value)
