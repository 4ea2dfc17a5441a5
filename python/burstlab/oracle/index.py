"""The index of an oracle directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from burstlab.errors import InputError
from burstlab.loading import read_text
from burstlab.oracle import several
from burstlab.oracle.cases import Case
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


def read_index(directory: Path) -> list[Case]:
    """Read ``index.json`` and check that every entry has what a replay needs."""
    path = directory / "index.json"
    if not directory.is_dir():
        raise InputError(f"{directory}: not a directory with an index.json")
    text = read_text(path)
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno} column {error.colno}: {error.msg}") from None
    if not isinstance(entries, list):
        raise InputError(f"{path}: line 1: a list of cases is needed")
    cases: list[Case] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, dict) and "flows" in entry:
            several.check_entry(path, number, entry)
        else:
            _check_entry(path, number, entry)
        if entry["case"] in seen:
            raise InputError(f"{path}: case {number}: {entry['case']!r} is listed twice")
        seen.add(entry["case"])
        cases.append((SeveralCase if "flows" in entry else Case)(entry, directory))
    return cases


def _check_entry(path: Path, number: int, entry: object) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"{path}: case {number}: a table of fields is needed")
    for name in _NEEDED:
        if name not in entry:
            raise InputError(f"{path}: case {number}: {name!r} is missing")
    for name, kind in {**_NEEDED, **_OPTIONAL}.items():
        found = entry.get(name)
        if name in entry and (not isinstance(found, kind) or isinstance(found, bool)):
            raise InputError(f"{path}: case {number}: {name} = {found!r} has a wrong type")
    for name in ("tick", "t_rec", "access_bps", "core_bps"):
        if not entry[name] > 0:
            raise InputError(f"{path}: case {number}: {name} = {entry[name]!r} is not positive")
    for pair in entry["drops"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"{path}: case {number}: drops has {pair!r}, not [seq, transmission]")
    if not all(isinstance(delay, (int, float)) for delay in entry["delays_ms"]):
        raise InputError(f"{path}: case {number}: delays_ms has something that is no number")
    if len(entry["delays_ms"]) < 4:
        raise InputError(f"{path}: case {number}: delays_ms needs at least four links")
