"""Recorded connections of a Linux kernel, made anew by live hosts over our path."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.live import live
from burstlab.live.inside import PHASE_NS
from burstlab.loading import Document
from burstlab.oracle import closings, entries
from burstlab.oracle.linux import LinuxCase, LinuxOutcome, each, read_linux_index
from burstlab.oracle.path import (
    FIN,
    TOLERANCE_PS,
    Log,
    compare,
    not_of_a_path,
    recorded,
    scenario_of,
    with_ties,
)
from burstlab.storage.parquet import read_table

SENDER, RECEIVER, PORT = "10.9.0.1", "10.9.0.2", 5001

#: Settings of all cases, as their recorder made them.
SETTINGS = (
    "net.ipv4.tcp_wmem=4096 4194304 8388608",
    "net.ipv4.tcp_no_metrics_save=1",
)

#: The most virtual time that a program may take, in ns, from its start to its SYN.
_TO_SYN_NS = 1_000_000_000

#: How long a connection lasts by which it is found how long a program takes to start.
_SHORT_PS = 1_000_000_000_000


def document_of(
    case: LinuxCase, until_ps: int, start_ns: int, sides: closings.Sides | None = None
) -> Document:
    """Write the scenario of a case with live hosts.

    Parameters
    ----------
    case
        The case.
    until_ps
        When its recording ends, after its SYN.
    start_ns
        When the program of the sender starts.
    sides
        On which side of the end of its burst each packet fell that came at that nanosecond.
    """
    entry = case.entry
    document = scenario_of(case, until_ps, sides)
    del document["tcp"], document["flows"]
    bulk = [sys.executable, "-m", "burstlab.live.bulk"]
    what, both_ways = _what_is_sent(entry)
    clamp = ["--clamp", str(entry["clamp"])] if "clamp" in entry else []
    settings = [f"{name}={value}" for name, value in entries.settings_of(entry)]
    both: Document = {
        "congestion_control": entry["cc"],
        "sysctls": [_rmem(entry), *SETTINGS, *(f"net.ipv4.{one}" for one in settings)],
        "grouping": entry.get("gso") != 1,
        "mtu": f"{case.mtu} B",
    }
    document["live"] = [
        {
            **both,
            "address": SENDER,
            "command": [*bulk, "send", RECEIVER, str(PORT), *what],
            "start": f"{start_ns} ns",
        },
        {
            **both,
            "address": RECEIVER,
            "command": [*bulk, "receive", str(PORT), *clamp, *both_ways],
        },
    ]
    duration_ps = 1000 * (start_ns + _TO_SYN_NS) + until_ps + TOLERANCE_PS + 1
    document["run"] = {"duration": f"{duration_ps} ps"}
    return document


def _rmem(entry: Mapping[str, Any]) -> str:
    return f"net.ipv4.tcp_rmem=4096 {entry.get('rmem', 16_777_216)} 134217728"


def _what_is_sent(entry: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the arguments of the programs about data: of the sender, and of the receiver."""
    if "writes" in entry:
        return ["--writes", entry["writes"]], []
    size = [str(entry["bytes"])] if "bytes" in entry else []
    if entry.get("twoway"):
        return [*size, "--both"], ["--back", str(entry.get("rbytes", 0))]
    return size, []


def live_linux(
    directory: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
    only: Callable[[LinuxCase], bool] | None = None,
    kernel: str | None = None,
) -> list[LinuxOutcome]:
    """Make the recorded connections of a directory anew in live hosts, and compare.

    Parameters
    ----------
    directory
        Holds ``index.json`` and the traces that it names.
    jobs
        Cases at a time (default: one per processor); it changes no answer.
    progress
        Called with the share of the cases that is done.
    only
        Takes a case, or leaves it out (default: takes all).
    kernel
        Name or path of the kernel; default: the newest.

    Raises
    ------
    InputError
        If the index or a trace cannot be read, or there is no kernel.
    """
    cases = [case for case in read_linux_index(Path(directory)) if only is None or only(case)]
    if not cases:
        return []
    taken = [case for case in cases if not_of_a_path(case, live=True) is None]
    start_ns = _start_ns(taken[0], kernel) if taken else 0

    def make(case: LinuxCase) -> LinuxOutcome:
        return _make(case, start_ns, kernel)

    return each(make, cases, jobs, progress)


def _start_ns(case: LinuxCase, kernel: str | None) -> int:
    """Return when a sender is to start for its SYN to leave in the phase of the recordings.

    A program reads the clock as it starts, and so takes some of virtual time: that is measured.
    """
    start_ns = PHASE_NS
    document = document_of(case, _SHORT_PS, start_ns)
    log, left_ns = _ran(document, kernel)
    if not log.heard:
        raise InputError("no connection was opened\n  fix: run a single case and read its output")
    return start_ns - (left_ns - case.phase_ns) % PHASE_NS


def _make(case: LinuxCase, start_ns: int, kernel: str | None) -> LinuxOutcome:
    reason = not_of_a_path(case, live=True)
    if reason is not None:
        return LinuxOutcome(case, "live", False, first_difference=reason, unjudged=reason)
    theirs, until_ps = recorded(case)

    def make(sides: closings.Sides | None) -> LinuxOutcome:
        document = document_of(case, until_ps, start_ns, sides)
        try:
            ours, _ = _ran(document, kernel, until_ps + TOLERANCE_PS, is_back=case.is_back)
        except InputError as error:
            return LinuxOutcome(case, "live", False, first_difference=str(error))
        return replace(compare(case, theirs, ours, until_ps), level="live")

    return with_ties(case, make)


def _ran(
    document: Document, kernel: str | None, until_ps: int = _SHORT_PS, *, is_back: bool = False
) -> tuple[Log, int]:
    """Run a scenario; return the log of a sender, and when the SYN left by the kernel's clock.

    Parameters
    ----------
    document
        The scenario.
    kernel
        Name or path of the kernel.
    until_ps
        After the SYN, up to when it is read.
    is_back
        Whether the sender is the host that is called.
    """
    with tempfile.TemporaryDirectory(prefix="burstlab-case-") as room:
        done = live(document, clock="virtual", kernel=kernel, out=room)
        path = Path(room) / "live" / "connections.parquet"
        table = read_table(path)
    first = table.where(host=SENDER).to_pylist()[:1]
    first_ns = int(first[0]["t_ns"]) if first else 0
    log = Log()
    for row in table.where(host=RECEIVER if is_back else SENDER).to_pylist():
        at = 1000 * (int(row["t_ns"]) - first_ns)
        if at > until_ps:
            break
        if row["event"] == "ack" and (row["cwnd"] is None or (is_back and not log.segments)):
            # The recorder knows the socket of the host that is called from its first data on.
            continue
        if row["event"] == "ack":
            log.states.append((row["cwnd"], row["ssthresh"], row["state"]))
            log.heard.append((at, row["seq"]))
        elif row["bytes"] > 0 or row["flags"] & FIN:
            log.segments.append((at, row["seq"], row["bytes"]))
    return log, int(done.outcome["begun_ns"]) + first_ns
