"""The index of an oracle directory."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstlab.loading import read_text
from burstlab.oracle import several
from burstlab.oracle.cases import (
    Case,
    check_number,
    check_numbers,
    check_trace,
    kinds_of,
    wrong,
)
from burstlab.oracle.several import SeveralCase

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
    "jitter": list,
}


#: Those, and fields about how a case was drawn or recorded.
_KNOWN = frozenset(_NEEDED) | frozenset(_OPTIONAL) | several.BESIDES | {"delayed_ack"}


def read_json(path: Path) -> Any:
    """Read a file of JSON, or say where it is none."""
    text = read_text(path)
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} column {error.colno}: {error.msg}"
    except RecursionError:
        problem = "too deeply nested"
    except ValueError as error:
        # A number with more digits than Python reads, or none at all.
        problem = str(error)
    raise wrong(str(path), problem, "write valid JSON there")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def read_index(directory: Path) -> list[Case]:
    """Read ``index.json`` and check that every entry has the fields of a replay."""
    path = directory / "index.json"
    if not directory.is_dir():
        raise wrong(
            str(directory), "not a directory with an index.json", "give the one of the traces"
        )
    entries = read_json(path)
    if not isinstance(entries, list):
        raise wrong(str(path), "line 1: a list of cases is needed", "put [ ] around the cases")
    cases: list[Case] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: case {number}"
        if isinstance(entry, dict) and "flows" in entry:
            several.check_entry(where, entry)
        else:
            _check_entry(where, entry)
        if entry["case"] in seen:
            raise wrong(where, f"{entry['case']!r} is listed twice", "name each case once")
        seen.add(entry["case"])
        check_trace(where, entry["trace"])
        kind, known = (SeveralCase, several.KNOWN) if "flows" in entry else (Case, _KNOWN)
        unknown = [repr(name) for name in entry if name not in known]
        said = f"unknown field {', '.join(unknown)}" if unknown else ""
        cases.append(kind(entry, directory, said or several.unknown_of(entry)))
    return cases


def _check_entry(where: str, entry: object) -> None:
    if not isinstance(entry, dict):
        raise wrong(where, "a table of fields is needed", "write an object with the fields")
    for name in _NEEDED:
        if name not in entry:
            raise wrong(where, f"{name!r} is missing", "add this field")
    for name, kind in {**_NEEDED, **_OPTIONAL}.items():
        found = entry.get(name)
        if name in entry and (not isinstance(found, kind) or isinstance(found, bool)):
            raise wrong(where, f"{name} = {found!r} has a wrong type", f"write {kinds_of(kind)}")
        if isinstance(found, int | float):
            check_number(where, name, found)
    for name in ("tick", "t_rec", "access_bps", "core_bps"):
        if not entry[name] > 0:
            problem = f"{name} = {entry[name]!r} is not positive"
            raise wrong(where, problem, "write a number above 0")
    for pair in entry["drops"]:
        whole = isinstance(pair, list) and all(type(number) is int for number in pair)
        if not whole or len(pair) != 2:
            raise wrong(where, f"drops has {pair!r:.60}", "write pairs [seq, transmission]")
    for name in ("drop_bursts", "drop_acks"):
        check_numbers(where, name, entry.get(name, []))
    several.check_delays(where, entry["delays_ms"])
    if len(entry["delays_ms"]) < 4:
        raise wrong(where, "delays_ms needs at least four links", "add their delays")
