"""Recorded connections of a Linux kernel, replayed to a sender.

A recording has what was sent, what was acknowledged and how the kernel stood after each ACK. The
ACKs go into a sender of ours at their times, and it has to send the same and stand the same.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab import _core, underway
from burstlab.loading import read_text
from burstlab.oracle.cases import kinds_of, wrong
from burstlab.sysctls import LAWS

#: Settings below net.ipv4 that take something away from a sender, and our name of it.
SWITCHES: Mapping[str, str] = {
    "tcp_sack": "sack",
    "tcp_timestamps": "timestamps",
    "tcp_recovery": "rack",
    "tcp_early_retrans": "tlp",
    "tcp_frto": "frto",
}

#: Settings that concern the receiver alone, or that the ACKs show already.
ELSEWHERE = frozenset({"tcp_dsack", "tcp_window_scaling"})

#: IPv4 and TCP headers in bytes, and what a time stamp adds.
HEADERS = 40
TIMESTAMP = 12

#: What a device takes as a group where nothing else is said: as many segments as the kernel likes.
ANY_GROUP = 65_535

#: The most that `tcp.send_overhead` may be, in bytes.
OVERHEAD_MAX = 64_000

#: The kernel's tick count at the SYN, as its timer wheel of 512 ticks sees it: it starts at
#: -300,000, and every case begins at a multiple of 32,768 ticks.
WHEEL_PHASE = -300_000 % 512

#: By how much the kernel hears what arrives later than its row says, in ns: the recorder is woken
#: at the time of the row, and each of some nine times that the clock is read until it hands the
#: packet over puts it on by 256 ns. In the 595 recordings all of 2,081 segments that were sent in
#: answer to an ACK at most so long before a tick have the time stamp of that tick, 97 of 13,023
#: that were sent 3 to 20 us before one.
HEARD_NS = 9 * 256

_NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "case": str,
    "family": str,
    "cc": str,
    "trace": str,
}

_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "bytes": int,
    "gso": int,
    "sysctl": str,
}


@dataclass(frozen=True)
class LinuxCase:
    """One recorded connection.

    Attributes
    ----------
    entry
        Its object in the index.
    directory
        Where the index is.
    mtu
        Bytes of a full segment with its headers.
    phase_ns
        How long after a tick of the kernel its SYN left.
    core_bps
        Rate of the core, in bit/s.
    send_overhead
        Bytes of the send buffer that a group takes besides its data, where the index says it.
    """

    entry: Mapping[str, Any]
    directory: Path
    mtu: int
    phase_ns: int
    core_bps: float = 1e10
    send_overhead: int | None = None

    @property
    def name(self) -> str:
        """Name of the case."""
        return self.entry["case"]

    @property
    def clock_ns(self) -> int:
        """By how much the kernel's clock is ahead of a tick as it hears what arrives at time 0."""
        return self.phase_ns + HEARD_NS

    @property
    def family(self) -> str:
        """The family of cases that it belongs to."""
        return self.entry["family"]

    def sender(self) -> dict[str, Any] | str:
        """Describe the sender that repeats the case, or say why there is none."""
        entry = self.entry
        if entry["cc"] not in LAWS:
            return f"the engine has no {entry['cc']}"
        options: dict[str, Any] = {"congestion": entry["cc"], "ecn": entry["cc"] == "dctcp"}
        for setting in filter(None, entry.get("sysctl", "").split(";")):
            name, _, value = setting.partition("=")
            if name == "tcp_ecn":
                options["ecn"] = options["ecn"] or value == "1"
            elif name in SWITCHES:
                options[SWITCHES[name]] = value != "0"
            elif name not in ELSEWHERE:
                return f"the setting {name!r} has no counterpart"
        stamps = options.get("timestamps", True)
        options["payload"] = self.mtu - HEADERS - (TIMESTAMP if stamps else 0)
        options["segment_size"] = self.mtu
        options["group_most"] = entry.get("gso", ANY_GROUP)
        options["clock_phase"] = f"{self.clock_ns} ns"
        options["wheel_phase"] = WHEEL_PHASE
        if self.send_overhead is not None:
            options["send_overhead"] = self.send_overhead
        return {"options": options, "bytes": entry.get("bytes")}


@dataclass(frozen=True)
class LinuxOutcome:
    """What became of one case.

    Attributes
    ----------
    match
        Whether every segment has the recorded order, number, length and, to 1 ms (as a scenario:
        2 ms), time, and at least 99 % of the states are equal.
    rows, rows_equal
        Segments that were recorded, and those before the first that differs.
    state_rows, state_equal
        ACKs, and those after which window, threshold and stage are equal.
    first_difference
        Where the two part, with the state of both; why the case could not be run.
    acked_bytes
        Of a run as a scenario: bytes that were acknowledged to Linux, and to us.
    """

    case: LinuxCase
    level: str
    match: bool
    rows: int = 0
    rows_equal: int = 0
    state_rows: int = 0
    state_equal: int = 0
    first_difference: str | None = None
    acked_bytes: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the case as ``burstlab oracle --json`` prints it."""
        document: dict[str, Any] = {
            "case": self.case.name,
            "family": self.case.family,
            "level": self.level,
            "match": self.match,
            "rows": self.rows,
            "rows_equal": self.rows_equal,
            "state_rows": self.state_rows,
            "state_equal": self.state_equal,
            "first_difference": self.first_difference,
        }
        if self.acked_bytes is not None:
            document["acked_bytes"] = self.acked_bytes[1]
            document["acked_bytes_recorded"] = self.acked_bytes[0]
        return document


def is_linux(directory: Path) -> bool:
    """Whether the index of a directory is one of recorded connections of Linux."""
    path = directory / "index.json"
    return path.is_file() and read_text(path).lstrip().startswith("{")


def read_linux_index(directory: Path) -> list[LinuxCase]:
    """Read ``index.json`` and check that every entry has what a replay needs."""
    path = directory / "index.json"
    try:
        index = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} column {error.colno}: {error.msg}"
        raise wrong(str(path), problem, "write valid JSON there") from None
    for name, kind in {"cases": list, "mtu": int, "syn_after_tick_ns": int}.items():
        found = index.get(name)
        if not isinstance(found, kind) or isinstance(found, bool):
            raise wrong(str(path), f"{name} = {found!r}", f"write {kinds_of(kind)}")
    overhead = index.get("send_overhead")
    if overhead is not None and not (type(overhead) is int and 0 <= overhead <= OVERHEAD_MAX):
        fix = f"write bytes as a whole number from 0 to {OVERHEAD_MAX}"
        raise wrong(str(path), f"send_overhead = {overhead!r}", fix)
    cases: list[LinuxCase] = []
    for number, entry in enumerate(index["cases"], start=1):
        _check_entry(f"{path}: case {number}", entry)
        cases.append(
            LinuxCase(
                entry,
                directory,
                index["mtu"],
                index["syn_after_tick_ns"],
                float(index.get("core_bps", 1e10)),
                overhead,
            )
        )
    return cases


def _check_entry(where: str, entry: object) -> None:
    if not isinstance(entry, dict):
        raise wrong(where, "a table of fields is needed", "write an object with the fields")
    for name, kind in {**_NEEDED, **_OPTIONAL}.items():
        found = entry.get(name)
        if name not in entry and name in _NEEDED:
            raise wrong(where, f"{name!r} is missing", "add this field")
        if name in entry and (not isinstance(found, kind) or isinstance(found, bool)):
            raise wrong(where, f"{name} = {found!r} has a wrong type", f"write {kinds_of(kind)}")


def replay_linux(
    directory: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[LinuxOutcome]:
    """Replay the recorded connections of a directory.

    Parameters
    ----------
    directory
        Holds ``index.json`` and the traces that it names.
    jobs
        Cases at a time (default: one per processor); it changes no answer.
    progress
        Is told what share of the cases is done.

    Raises
    ------
    InputError
        If the index or a trace cannot be read; the error names file and place.
    """
    return each(_replay_one, read_linux_index(Path(directory)), jobs, progress)


def each(
    make: Callable[[LinuxCase], LinuxOutcome],
    cases: Sequence[LinuxCase],
    jobs: int | None,
    progress: Callable[[float], None] | None,
) -> list[LinuxOutcome]:
    """Do the same with each case, several at a time; return what came of them, in their order.

    Parameters
    ----------
    make
        What is done with a case.
    cases
        The cases; their names differ.
    jobs
        Cases at a time; ``None``: one per processor.
    progress
        Is told what share of the cases is done.
    """
    done: dict[str, LinuxOutcome] = {}
    for outcome in underway.each(make, cases, jobs):
        done[outcome.case.name] = outcome
        if progress is not None:
            progress(len(done) / len(cases))
    return [done[case.name] for case in cases]


def _replay_one(case: LinuxCase) -> LinuxOutcome:
    sender = case.sender()
    if isinstance(sender, str):
        return LinuxOutcome(case, "replay", False, first_difference=sender)
    path = case.directory / case.entry["trace"]
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            text = file.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise wrong(str(path), str(error), "give a recording as the recorder packs it") from None
    try:
        answer = json.loads(_core.replay(json.dumps(sender), text))
    except ValueError as error:
        raise wrong(str(path), str(error), "give a recording as the recorder packs it") from None
    return LinuxOutcome(case, "replay", **answer)
