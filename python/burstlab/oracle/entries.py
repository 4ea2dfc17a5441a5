"""The fields of an index of recorded connections, and those that the judges know.

A value of the wrong type is a fault of the index, which is refused. An unknown field or setting may
change the behaviour of the kernel: its case is not judged, with this reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from burstlab.oracle.cases import check_trace, wrong

#: Settings below net.ipv4 that a judge knows, and the values of each.
SETTINGS: Mapping[str, frozenset[str]] = {
    "tcp_sack": frozenset({"0", "1"}),
    "tcp_dsack": frozenset({"0", "1"}),
    "tcp_timestamps": frozenset({"0", "1", "2"}),
    "tcp_recovery": frozenset(map(str, range(8))),
    "tcp_early_retrans": frozenset({"0", "3", "4"}),
    "tcp_frto": frozenset({"0", "1", "2"}),
    "tcp_window_scaling": frozenset({"0", "1"}),
    "tcp_ecn": frozenset({"0", "1", "2"}),
    "tcp_slow_start_after_idle": frozenset({"0", "1"}),
}

#: The least and the largest bytes of a packet: headers, and what IPv4 can say.
MTU_LEAST, MTU_MOST = 89, 65_535

#: The longest span of each in milliseconds: a scenario allows no longer ones.
SPAN_MOST_MS = 1e8

Check = Callable[[Any], bool]


def _is_whole(least: int, most: int = 2**53) -> Check:
    return lambda value: type(value) is int and least <= value <= most


def _is_number(least: float, most: float, *, above: bool = False) -> Check:
    def check(value: Any) -> bool:
        if type(value) not in (int, float) or not math.isfinite(value):
            return False
        return least <= value <= most and (value > least or not above)

    return check


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(_is_whole(1)(number) for number in value)


def _is_listed(value: Any) -> bool:
    return _is_whole(1)(value) or (
        isinstance(value, str) and re.fullmatch(r"(\d{1,9}(,\d{1,9})*)?", value) is not None
    )


def _is_writes(value: Any) -> bool:
    one = r"\d{1,8}:\d{1,12}"
    if not isinstance(value, str) or not re.fullmatch(f"{one}(,{one})*", value):
        return False
    found = writes_of(value)
    times = [at for at, _ in found]
    return times == sorted(times) and all(count > 0 for _, count in found)


_RATE = (_is_number(1e3, 1e12), "a rate in b/s, from 1e3 to 1e12")
_SPAN = (_is_number(0, SPAN_MOST_MS), f"milliseconds from 0 to {SPAN_MOST_MS:.0f}")
_BYTES = (_is_whole(1), "bytes as a whole number above 0")
_TEXT = (_is_text, "text")
_LISTED = (_is_listed, "numbers from 1 with commas between them")
_NUMBERS = (_is_list, "a list of whole numbers from 1")

#: Fields that a judge reads, with their allowed values in code and in words.
FIELDS: Mapping[str, tuple[Check, str]] = {
    "case": _TEXT,
    "family": _TEXT,
    "cc": _TEXT,
    "ccs": _TEXT,
    "trace": _TEXT,
    "sysctl": _TEXT,
    "rate": _RATE,
    "tb_ms": _SPAN,
    "tb_ack_ms": _SPAN,
    "core_delay_ms": _SPAN,
    "bytes": _BYTES,
    "rbytes": _BYTES,
    "writes": (_is_writes, "ms:bytes,ms:bytes in the order of their times"),
    "twoway": (_is_whole(0, 1), "0 or 1"),
    "connection": (_is_whole(0, 4_095), "a whole number from 0"),
    "gso": (_is_whole(1, 65_535), "a whole number from 1 to 65535"),
    "mtu": (_is_whole(MTU_LEAST, MTU_MOST), f"bytes from {MTU_LEAST} to {MTU_MOST}"),
    "rmem": _BYTES,
    "clamp": _BYTES,
    "queue": _BYTES,
    "mark": _BYTES,
    "syn_after_tick_ns": (_is_whole(0, 999_999), "nanoseconds from 0 to 999999"),
    "lost_bursts": _NUMBERS,
    "lost_ack_bursts": _NUMBERS,
    "drop_bursts": _LISTED,
    "drop_ack_bursts": _LISTED,
    "drop_packets": _LISTED,
    "drop_acks": _LISTED,
}

NEEDED = ("case", "family", "cc", "trace")
#: Fields that a path needs too.
OF_A_PATH = ("rate", "tb_ms", "core_delay_ms")

#: Fields about how a case was drawn, or, in other indexes, about its outcome or its counts.
SAID_ELSEWHERE = frozenset(
    {
        "seconds",
        "p",
        "p_ack",
        "seed",
        "rows",
        "segments_sent",
        "retransmissions",
        "acked_bytes",
        "most_backoff",
    }
)


def check_entry(where: str, entry: object) -> None:
    """Refuse an entry that lacks a field or has a value that is none."""
    if not isinstance(entry, dict):
        raise wrong(where, "a table of fields is needed", "write an object with the fields")
    for name in NEEDED:
        if name not in entry:
            raise wrong(where, f"{name!r} is missing", "add this field")
    for name, (is_one, kind) in FIELDS.items():
        if name in entry and not is_one(entry[name]):
            problem = f"{name} = {_shown(entry[name])} has a wrong type or value"
            raise wrong(where, problem, f"write {kind}")
    check_trace(where, entry["trace"])


def _shown(value: Any) -> str:
    """Show a value, or as much of it as a line takes."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def unknown_of(entry: Mapping[str, Any]) -> str | None:
    """Name the fields and settings of an entry that no judge knows; None: it knows all."""
    fields = [name for name in entry if name not in FIELDS and name not in SAID_ELSEWHERE]
    if fields:
        return f"unknown field {', '.join(repr(name) for name in fields)}"
    unknown = [
        f"{name}={value}" if name in SETTINGS else name
        for name, value in settings_of(entry)
        if value not in SETTINGS.get(name, ())
    ]
    return f"unknown setting {', '.join(repr(name) for name in unknown)}" if unknown else None


def settings_of(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the settings below net.ipv4 of an entry, each with its value as text."""
    found = (one.partition("=") for one in entry.get("sysctl", "").split(";") if one.strip())
    return [(name.strip(), value.strip()) for name, _, value in found]


def writes_of(text: str) -> list[tuple[int, int]]:
    """Return the writes of an application: milliseconds after the SYN, and bytes."""
    pairs = (one.split(":") for one in text.split(","))
    return [(int(at), int(count)) for at, count in pairs]


def numbers_of(listed: Any) -> list[int]:
    """Return the numbers in one text."""
    return sorted({int(number) for number in str(listed).split(",") if number})


def laws_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the congestion controls of all connections of a case, in their order."""
    listed = re.findall(r"[A-Za-z0-9_-]+", entry.get("ccs", ""))
    return listed or [entry["cc"]]
