"""The index of an oracle directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from burstlab.loading import read_text
from burstlab.oracle import several
from burstlab.oracle.cases import Case, kinds_of, wrong
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
        raise wrong(
            str(directory), "not a directory with an index.json", "give the one of the traces"
        )
    text = read_text(path)
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} column {error.colno}: {error.msg}"
        raise wrong(str(path), problem, "write valid JSON there") from None
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
        cases.append((SeveralCase if "flows" in entry else Case)(entry, directory))
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
    for name in ("tick", "t_rec", "access_bps", "core_bps"):
        if not entry[name] > 0:
            problem = f"{name} = {entry[name]!r} is not positive"
            raise wrong(where, problem, "write a number above 0")
    for pair in entry["drops"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(where, f"drops has {pair!r}", "write pairs [seq, transmission]")
    if not all(isinstance(delay, (int, float)) for delay in entry["delays_ms"]):
        raise wrong(where, "delays_ms has something that is no number", "write numbers of ms")
    if len(entry["delays_ms"]) < 4:
        raise wrong(where, "delays_ms needs at least four links", "add their delays")
