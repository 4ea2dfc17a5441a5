"""The index of an oracle directory, and the scenario that repeats a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.loading import Document, read_text

#: Our name of a profile, and what else it sets.
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "ns235": {"profile": "ns2"},
    "era226": {"profile": "ns2-2003"},
    "nolt": {"profile": "ns2", "limited_transmit": False},
}

#: Our name of an ns-2 agent.
VARIANTS: Mapping[str, str] = {
    "Tahoe": "tahoe",
    "Reno": "reno",
    "Newreno": "new-reno",
    "Sack1": "sack",
    "Vegas": "vegas",
}

#: Agents of ns-2 that the engine does not have.
MISSING_AGENTS = frozenset({"Asym", "Fack", "Linux", "RFC793edu", "RBP", "VegasRBP"})

_NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "case": str,
    "tcp": str,
    "profile": str,
    "trace": str,
    "window": int,
    "access_bps": (int, float),
    "core_bps": (int, float),
    "delays_ms": list,
    "tick": (int, float),
    "boot_time": (int, float),
    "t_start": (int, float),
    "t_rec": (int, float),
    "drops": list,
}

_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "opts": str,
    "overrides": dict,
    "ssthresh_init": int,
    "packet_bytes": int,
    "syn_bytes": int,
    "assembly_tb": (int, float),
    "drop_bursts": list,
    "drop_acks": list,
}


class NotReplayable(Exception):
    """The engine lacks what a case needs; the message says what."""


@dataclass(frozen=True)
class Case:
    """One entry of the index."""

    entry: Mapping[str, Any]
    directory: Path

    @property
    def name(self) -> str:
        """Name of the case."""
        return self.entry["case"]

    @property
    def variant(self) -> str:
        """Our name of its TCP variant."""
        return VARIANTS.get(self.entry["tcp"], self.entry["tcp"])

    @property
    def trace(self) -> Path:
        """The file of its rows."""
        return self.directory / self.entry["trace"]

    @property
    def tick_s(self) -> float:
        """Granularity of the sender's clock."""
        return float(self.entry["tick"])

    @property
    def until_s(self) -> float:
        """Rows are recorded up to this time."""
        return float(self.entry["t_rec"])

    @property
    def assembled(self) -> bool:
        """Whether packets are assembled into bursts."""
        return float(self.entry.get("assembly_tb") or 0.0) > 0.0

    def scenario(self) -> Document:
        """Build the scenario that repeats the case.

        Raises
        ------
        NotReplayable
            If the engine lacks the variant.
        InputError
            If the entry asks for something that has no counterpart.
        """
        entry = self.entry
        if entry["tcp"] in MISSING_AGENTS:
            raise NotReplayable(f"the engine has no {entry['tcp']}")
        if self.variant not in VARIANTS.values():
            raise _wrong(self.name, f"unknown tcp {entry['tcp']!r}", f"use {', '.join(VARIANTS)}")
        if entry["profile"] not in PROFILES:
            problem = f"unknown profile {entry['profile']!r}"
            raise _wrong(self.name, problem, f"use {', '.join(PROFILES)}")
        delays = [_milliseconds(delay) for delay in entry["delays_ms"]]
        assembly_s = float(entry.get("assembly_tb") or 0.0)
        document: Document = {
            "network": {
                "topology": "path",
                "core_nodes": len(delays) - 3,
                "link_rate": _rate(entry["core_bps"]),
                "link_delays": delays[1:-1],
            },
            "access": self._access(delays),
            "edge": self._edge(),
            "core": {"forwarding": "store-and-forward"},
            "tcp": self._tcp(),
            "flows": [{"start": _seconds(entry["t_start"])}],
            "loss": self._loss(),
            # A burst that is open when the log ends is closed and its fate known soon after.
            "run": {"duration": _seconds(self.until_s + assembly_s + 0.001)},
        }
        return document

    def _access(self, delays: list[str]) -> Document:
        access: Document = {"rate": _rate(self.entry["access_bps"]), "delay": delays[0]}
        if delays[-1] != delays[0]:
            access["receiver"] = {"delay": delays[-1]}
        return access

    def _edge(self) -> Document:
        if not self.assembled:
            return {"assembly": "none"}
        timer = _seconds(self.entry["assembly_tb"])
        # The recorder hands the packets of a burst to the line one by one, 1 ns apart.
        return {"assembly": "timer", "timer": timer, "spacing": "1 ns"}

    def _tcp(self) -> Document:
        entry = self.entry
        tcp: Document = {
            **PROFILES[entry["profile"]],
            "variant": self.variant,
            "window": entry["window"],
            "initial_ssthresh": entry.get("ssthresh_init", entry["window"]),
            "rto_tick": _seconds(entry["tick"]),
            "rto_clock_phase": _seconds(entry["boot_time"]),
            "delayed_ack": bool(entry.get("delayed_ack", False)),
        }
        for name, field in (("packet_bytes", "segment_size"), ("syn_bytes", "syn_size")):
            if name in entry:
                tcp[field] = f"{entry[name]} B"
        tcp.update(_options(self.name, entry.get("opts") or ""))
        tcp.update(entry.get("overrides") or {})
        return tcp

    def _loss(self) -> Document:
        entry = self.entry
        script: Document = {}
        if entry.get("drops"):
            script["packets"] = [list(pair) for pair in entry["drops"]]
        if entry.get("drop_bursts"):
            script["bursts"] = list(entry["drop_bursts"])
        loss: Document = {}
        if script:
            # Lost at the head of the first fibre, before it is sent.
            loss["data"] = {"process": "script", "node": 0, **script}
        if entry.get("drop_acks"):
            loss["ack"] = {"process": "script", "node": 0, "bursts": list(entry["drop_acks"])}
        return loss


def read_index(directory: Path) -> list[Case]:
    """Read ``index.json`` and check that every entry has what a replay needs."""
    path = directory / "index.json"
    if not directory.is_dir():
        raise _wrong(
            str(directory), "not a directory with an index.json", "give the one of the traces"
        )
    text = read_text(path)
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} column {error.colno}: {error.msg}"
        raise _wrong(str(path), problem, "write valid JSON there") from None
    if not isinstance(entries, list):
        raise _wrong(str(path), "line 1: a list of cases is needed", "put [ ] around the cases")
    cases: list[Case] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: case {number}"
        _check_entry(where, entry)
        if entry["case"] in seen:
            raise _wrong(where, f"{entry['case']!r} is listed twice", "name each case once")
        seen.add(entry["case"])
        cases.append(Case(entry, directory))
    return cases


def _wrong(where: str, problem: str, fix: str) -> InputError:
    return InputError(f"{where}: {problem}\n  fix: {fix}")


def _kinds(kind: type | tuple[type, ...]) -> str:
    words = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
    return words[kind] if isinstance(kind, type) else "a number"


def _check_entry(where: str, entry: object) -> None:
    if not isinstance(entry, dict):
        raise _wrong(where, "a table of fields is needed", "write an object with the fields")
    for name in _NEEDED:
        if name not in entry:
            raise _wrong(where, f"{name!r} is missing", "add this field")
    for name, kind in {**_NEEDED, **_OPTIONAL}.items():
        found = entry.get(name)
        if name in entry and (not isinstance(found, kind) or isinstance(found, bool)):
            raise _wrong(where, f"{name} = {found!r} has a wrong type", f"write {_kinds(kind)}")
    for name in ("tick", "t_rec", "access_bps", "core_bps"):
        if not entry[name] > 0:
            problem = f"{name} = {entry[name]!r} is not positive"
            raise _wrong(where, problem, "write a number above 0")
    for pair in entry["drops"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise _wrong(where, f"drops has {pair!r}", "write pairs [seq, transmission]")
    if not all(isinstance(delay, (int, float)) for delay in entry["delays_ms"]):
        raise _wrong(where, "delays_ms has something that is no number", "write numbers of ms")
    if len(entry["delays_ms"]) < 4:
        raise _wrong(where, "delays_ms needs at least four links", "add their delays")


def _options(case: str, options: str) -> Document:
    words = options.split()
    if len(words) % 3:
        problem = f"opts {options!r} are not triples"
        raise _wrong(case, problem, "write class, variable and value, again and again")
    fields: Document = {}
    for variable, value in zip(words[1::3], words[2::3], strict=True):
        if variable not in OPTIONS:
            problem = f"the ns-2 variable {variable!r} has no counterpart here"
            raise _wrong(case, problem, f"use {', '.join(OPTIONS)}")
        name, convert = OPTIONS[variable]
        try:
            fields[name] = convert(value)
        except (ValueError, ArithmeticError):
            problem = f"{variable} = {value!r} is not a value"
            raise _wrong(case, problem, "write a number, or for a flag true or false") from None
    return fields


def _flag(text: str) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    return words[text.lower()] if text.lower() in words else bool(int(text))


def _seconds(value: float | str) -> str:
    """Write seconds without an exponent and with picoseconds at most."""
    return f"{_decimal(value)} s"


def _milliseconds(value: float) -> str:
    return f"{_decimal(value)} ms"


def _rate(value: float) -> str:
    return f"{_decimal(value)} b/s"


def _decimal(value: float | str) -> str:
    number = Decimal(str(value)).quantize(Decimal("1e-12"))
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


#: ns-2 variables and our fields.
OPTIONS: Mapping[str, tuple[str, Any]] = {
    "window_": ("window", int),
    "windowInit_": ("initial_window", int),
    "numdupacks_": ("dupack_threshold", int),
    "singledup_": ("limited_transmit", _flag),
    "minrto_": ("rto_min", _seconds),
    "maxrto_": ("rto_max", _seconds),
    "rtxcur_init_": ("rto_initial", _seconds),
    "tcpTick_": ("rto_tick", _seconds),
    "maxburst_": ("max_burst", int),
    "maxSackBlocks_": ("sack_blocks", int),
    "precisionReduce_": (
        "window_halving",
        lambda text: "real" if _flag(text) else "integer",
    ),
    "bugfix_ss_": ("first_window_fast_retransmit", _flag),
    "exitFastRetrans_": ("inflate_always", lambda text: not _flag(text)),
    "newreno_changes1_": (
        "new_reno_timer",
        lambda text: "impatient" if _flag(text) else "slow-but-steady",
    ),
    "partial_window_deflation_": ("new_reno_deflation", _flag),
    "v_alpha_": ("vegas_alpha", int),
    "v_beta_": ("vegas_beta", int),
    "v_gamma_": ("vegas_gamma", int),
}
