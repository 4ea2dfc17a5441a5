"""A case with one flow, and the scenario that repeats it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

from burstlab.errors import InputError
from burstlab.loading import Document

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


class NotReplayable(Exception):
    """The engine lacks a feature that a case needs; the message names it."""


@dataclass(frozen=True)
class Case:
    """One entry of the index.

    Attributes
    ----------
    entry
        Its object in the index.
    directory
        Where the index is.
    unknown
        The fields of it that no replay knows; empty: it knows all.
    """

    entry: Mapping[str, Any]
    directory: Path
    unknown: str = ""

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
        if self.unknown:
            raise NotReplayable(self.unknown)
        if entry["tcp"] in MISSING_AGENTS:
            raise NotReplayable(f"the engine has no {entry['tcp']}")
        if entry.get("jitter"):
            raise NotReplayable("ns-2 drew the delays of send_jitter")
        if self.variant not in VARIANTS.values():
            raise wrong(self.name, f"unknown tcp {entry['tcp']!r}", f"use {', '.join(VARIANTS)}")
        if entry["profile"] not in PROFILES:
            problem = f"unknown profile {entry['profile']!r}"
            raise wrong(self.name, problem, f"use {', '.join(PROFILES)}")
        delays = [as_milliseconds(delay) for delay in entry["delays_ms"]]
        assembly_s = float(entry.get("assembly_tb") or 0.0)
        document: Document = {
            "network": {
                "topology": "path",
                "core_nodes": len(delays) - 3,
                "link_rate": as_rate(entry["core_bps"]),
                "link_delays": delays[1:-1],
            },
            "access": self._access(delays),
            "edge": self._edge(),
            "core": {"forwarding": "store-and-forward"},
            "tcp": self._tcp(),
            "flows": [{"start": as_seconds(entry["t_start"])}],
            "loss": self._loss(),
            # A burst that is open when the log ends is closed and its fate known soon after.
            "run": {"duration": as_seconds(self.until_s + assembly_s + 0.001)},
        }
        return document

    def _access(self, delays: list[str]) -> Document:
        access: Document = {"rate": as_rate(self.entry["access_bps"]), "delay": delays[0]}
        if delays[-1] != delays[0]:
            access["receiver"] = {"delay": delays[-1]}
        return access

    def _edge(self) -> Document:
        if not self.assembled:
            return {"assembly": "none"}
        timer = as_seconds(self.entry["assembly_tb"])
        # The recorder hands the packets of a burst to the line one by one, 1 ns apart.
        return {"assembly": "timer", "timer": timer, "spacing": "1 ns"}

    def _tcp(self) -> Document:
        entry = self.entry
        tcp: Document = {
            **PROFILES[entry["profile"]],
            "variant": self.variant,
            "window": entry["window"],
            "initial_ssthresh": entry.get("ssthresh_init", entry["window"]),
            "rto_tick": as_seconds(entry["tick"]),
            "rto_clock_phase": as_seconds(entry["boot_time"]),
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


def wrong(where: str, problem: str, fix: str) -> InputError:
    """Return the error, with its place and its fix."""
    return InputError(f"{where}: {problem}\n  fix: {fix}")


#: No number of an index is larger, be it a rate in b/s, bytes or a time.
LARGEST = 1e15


def check_number(where: str, name: str, value: float) -> None:
    """Refuse a number that no path has."""
    if not 0 <= value <= LARGEST:
        problem = f"{name} = {value!r:.60} is out of range"
        raise wrong(where, problem, f"write a number from 0 to {LARGEST:.0e}")


def check_numbers(where: str, name: str, values: Sequence[Any]) -> None:
    """Refuse a list that has something besides whole numbers from 1."""
    if not all(type(value) is int and 1 <= value <= LARGEST for value in values):
        problem = f"{name} = {values!r:.60} has something that is no whole number from 1"
        raise wrong(where, problem, "list whole numbers")


def check_trace(where: str, trace: str) -> None:
    """Refuse the name of a trace that is not below the index."""
    inside = PurePosixPath(trace)
    if inside.is_absolute() or ".." in inside.parts or "\0" in trace or not trace:
        problem = f"trace = {trace!r:.60} is not below the index"
        raise wrong(where, problem, "put the trace into the directory of the index")


def kinds_of(kind: type | tuple[type, ...]) -> str:
    """Name the allowed values of a field."""
    words = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
    return words[kind] if isinstance(kind, type) else "a number"


def _options(case: str, options: str) -> Document:
    words = options.split()
    if len(words) % 3:
        problem = f"opts {options!r} are not triples"
        raise wrong(case, problem, "write class, variable and value, again and again")
    fields: Document = {}
    for variable, value in zip(words[1::3], words[2::3], strict=True):
        if variable not in OPTIONS:
            problem = f"the ns-2 variable {variable!r} has no counterpart here"
            raise wrong(case, problem, f"use {', '.join(OPTIONS)}")
        name, convert = OPTIONS[variable]
        try:
            fields[name] = convert(value)
        except (ValueError, ArithmeticError):
            problem = f"{variable} = {value!r} is not a value"
            raise wrong(case, problem, "write a number, or for a flag true or false") from None
    return fields


def _flag(text: str) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    return words[text.lower()] if text.lower() in words else bool(int(text))


def as_seconds(value: float | str) -> str:
    """Write seconds without an exponent and with picoseconds at most."""
    return f"{_decimal(value)} s"


def as_milliseconds(value: float) -> str:
    """Write milliseconds likewise."""
    return f"{_decimal(value)} ms"


def as_rate(value: float) -> str:
    """Write bits per second likewise."""
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
    "minrto_": ("rto_min", as_seconds),
    "maxrto_": ("rto_max", as_seconds),
    "rtxcur_init_": ("rto_initial", as_seconds),
    "tcpTick_": ("rto_tick", as_seconds),
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
