"""The outcome of an operation, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from burstlab.surgery.operations import named

_NOTHING = {
    "spare": "it is not lost, so that there is nothing to spare and nothing changes",
    "kill": "it is lost by itself, as it was",
    "delay": "it is lost, and lands neither earlier nor later",
    "convert": "it needs no other wavelength than it has",
}

#: The fix for an operation that changed nothing.
_FIX = {
    "spare": "name one whose fate in the table bursts is lost",
    "kill": "name one whose fate in the table bursts is delivered",
    "delay": "name one whose fate in the table bursts is delivered",
    "convert": "name one that was lost by contention, or leave it out",
}

_DONE = {
    "spare": "it would be lost",
    "kill": "it is lost",
    "delay": "it is late",
    "convert": "it takes a wavelength that it could not have had",
}

#: Causes that are no noun after "by".
_CAUSES = {
    "injected": "the loss process",
    "scripted": "the script of losses",
    "late-header": "a late header",
    "blocked": "refused reservations",
    "injected-contention": "contention that is injected",
    "no-converter": "the want of a converter",
    "operated": "another operation",
    "failure": "a fibre that is down",
    "outage": "an outage",
}


def warnings(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a warning for each operation that changed nothing in any run, with its fix.

    Parameters
    ----------
    entries
        Outcomes of operations, as in `sentence`, of one replication or of several.
    """
    idle: dict[str, str] = {}
    done: set[str] = set()
    for entry in entries:
        name, absent = named(entry), entry["effect"] == "absent"
        if entry["effect"] == "done":
            done.add(name)
            continue
        fix = "name one of the table bursts" if absent else _FIX[entry["operation"]]
        idle.setdefault(name, f"surgery changes nothing: {sentence(entry)}; fix: {fix}")
    return [line for name, line in idle.items() if name not in done]


def sentence(entry: Mapping[str, Any]) -> str:
    """Describe the outcome of an operation.

    Parameters
    ----------
    entry
        One of ``operations`` of a `WhatIf`, or of ``surgery`` of a summary.
    """
    name, operation = named(entry), entry["operation"]
    if entry["effect"] == "absent":
        return f"{name}: the run has no such burst"
    if entry["effect"] == "nothing":
        return f"{name}: {_NOTHING[operation]}"
    cause = entry.get("cause")
    why = f", by {_CAUSES.get(cause, cause)}" if cause else ""
    where = f" at node {entry['node']}" if entry.get("node") else ""
    aboard = len(entry["connections"])
    many = f"; {entry['bursts']:,} bursts in all" if entry["bursts"] > 1 else ""
    whose = "1 connection" if aboard == 1 else f"{aboard} connections"
    carried = f"; packets of {whose} are in it" if aboard else ""
    return f"{name}: {_DONE[operation]} at {entry['at_s']:.6f} s{where}{why}{carried}{many}"
