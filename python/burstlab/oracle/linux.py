"""Recorded connections of a Linux kernel, replayed to a sender.

A recording has what was sent, what was acknowledged and how the kernel stood after each ACK. The
ACKs go into a sender of ours at their times, and it has to send the same and stand the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from burstlab import _core
from burstlab.documents.sysctls import LAWS
from burstlab.loading import read_text
from burstlab.oracle import entries
from burstlab.oracle.cases import wrong
from burstlab.oracle.index import read_json
from burstlab.oracle.traces import read_packed, refuse_rows
from burstlab.running import worker_pool

#: Settings below net.ipv4 that take something away from a sender, and our name of it.
SWITCHES: Mapping[str, str] = {
    "tcp_sack": "sack",
    "tcp_timestamps": "timestamps",
    "tcp_recovery": "rack",
    "tcp_early_retrans": "tlp",
    "tcp_frto": "frto",
    "tcp_slow_start_after_idle": "restart_after_idle",
}

#: Settings that concern the receiver alone, or that the ACKs show already.
ELSEWHERE = frozenset({"tcp_dsack", "tcp_window_scaling"})

#: IPv4 and TCP headers in bytes, and the extra bytes of a time stamp.
HEADERS = 40
TIMESTAMP = 12

#: The default group of a device: as many segments as the kernel likes.
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

#: The outcome of a case.
Verdict = Literal["match", "tie", "differs", "not judged"]

#: Fields of an index about all its cases, with their checks and meanings.
_OF_ALL: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "mtu": entries.FIELDS["mtu"],
    "syn_after_tick_ns": entries.FIELDS["syn_after_tick_ns"],
    "core_bps": entries.FIELDS["rate"],
    "access_delay_ms": (lambda value: value == 1, "1, which all recordings have"),
}
_BESIDES = frozenset({"cases", "kernel", "send_overhead"})


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
    aside
        Fields of the index about all cases that no judge knows.
    """

    entry: Mapping[str, Any]
    directory: Path
    mtu: int
    phase_ns: int
    core_bps: float = 1e10
    send_overhead: int | None = None
    aside: str | None = None

    @property
    def name(self) -> str:
        """Name of the case."""
        return self.entry["case"]

    @property
    def is_back(self) -> bool:
        """Whether it is the other direction of a connection, whose sender was called."""
        return bool(self.entry.get("twoway")) and self.name.endswith("-back")

    @property
    def bytes_sent(self) -> int | None:
        """Bytes that its application writes before it closes; None if without end, or by writes."""
        return self.entry.get("rbytes" if self.is_back else "bytes")

    @property
    def unknown(self) -> str | None:
        """Why no judge can take it; None if one can."""
        return self.aside or entries.unknown_of(self.entry) or self._unlike_its_laws()

    def _unlike_its_laws(self) -> str | None:
        laws, number = entries.laws_of(self.entry), self.entry.get("connection", 0)
        if not number < len(laws) or laws[number] != self.entry["cc"]:
            return f"connection {number} of {laws} is not one of {self.entry['cc']}"
        lacking = [law for law in laws if law not in LAWS]
        return f"the engine has no {lacking[0]}" if lacking else None

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
        if self.unknown is not None:
            return self.unknown
        entry = self.entry
        options: dict[str, Any] = {"congestion": entry["cc"], "ecn": entry["cc"] == "dctcp"}
        for name, value in entries.settings_of(entry):
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
        made: dict[str, Any] = {"options": options, "bytes": self.bytes_sent}
        if "writes" in entry and not self.is_back:
            made["writes"] = entries.writes_of(entry["writes"])
        return made


@dataclass(frozen=True)
class LinuxOutcome:
    """The outcome of one case.

    Attributes
    ----------
    ties
        Packets that reached the assembler of the recording in the nanosecond in which its timer
        closed the burst, where that alone is why it does not match: with each on the side on which
        it fell in the recording, the run matches.
    tie_s
        When the first of them was there.
    unjudged
        Why the case was not judged: a field, a setting or a law that the judge does not know.
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
    ties: int = 0
    tie_s: float | None = None
    unjudged: str | None = None

    @property
    def outcome(self) -> Verdict:
        """Its outcome; only a match and a tie count for us, and only a difference against."""
        if self.unjudged is not None:
            return "not judged"
        if self.ties:
            return "tie"
        return "match" if self.match else "differs"

    @property
    def reason(self) -> str:
        """Where it differs, where it ties, or why it was not judged."""
        if self.unjudged is not None:
            return f"not judged: {self.unjudged}"
        if self.ties:
            return (
                f"tie at t = {self.tie_s:.9f} s, the first of {self.ties}; with packets on the "
                "side of the recording it matches"
            )
        return self.first_difference or ""

    def to_json(self) -> dict[str, Any]:
        """Return the case as ``burstlab oracle --json`` prints it."""
        document: dict[str, Any] = {
            "case": self.case.name,
            "family": self.case.family,
            "level": self.level,
            "match": self.match,
            "outcome": self.outcome,
            "ties": self.ties,
            "tie_s": self.tie_s,
            "unjudged": self.unjudged,
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
    """Read ``index.json`` and check that every entry has what a replay needs.

    Raises
    ------
    InputError
        If it is none, or an entry lacks a field or has a value that is none.
    """
    path = directory / "index.json"
    index = read_json(path)
    if not isinstance(index, dict):
        raise wrong(str(path), "an object with cases is needed", "write { } around them")
    if not isinstance(index.get("cases"), list):
        raise wrong(str(path), f"cases = {index.get('cases')!r:.60}", "write a list")
    for name, (is_one, kind) in _OF_ALL.items():
        needed = name in ("mtu", "syn_after_tick_ns")
        if (needed or name in index) and not is_one(index.get(name)):
            raise wrong(str(path), f"{name} = {index.get(name)!r:.60}", f"write {kind}")
    overhead = index.get("send_overhead")
    if overhead is not None and not (type(overhead) is int and 0 <= overhead <= OVERHEAD_MAX):
        fix = f"write bytes as a whole number from 0 to {OVERHEAD_MAX}"
        raise wrong(str(path), f"send_overhead = {overhead!r:.60}", fix)
    unknown = [repr(name) for name in index if name not in _OF_ALL and name not in _BESIDES]
    aside = f"unknown field {', '.join(unknown)} of the index" if unknown else None
    cases: dict[str, LinuxCase] = {}
    for number, entry in enumerate(index["cases"], start=1):
        where = f"{path}: case {number}"
        entries.check_entry(where, entry)
        if entry["case"] in cases:
            raise wrong(where, f"{entry['case']!r} is listed twice", "name each case once")
        cases[entry["case"]] = LinuxCase(
            entry,
            directory,
            entry.get("mtu", index["mtu"]),
            entry.get("syn_after_tick_ns", index["syn_after_tick_ns"]),
            float(index.get("core_bps", 1e10)),
            overhead,
            aside,
        )
    return list(cases.values())


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
        Called with the share of the cases that is done.

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
    """Do the same with each case, several at a time; return the results in order.

    Parameters
    ----------
    make
        Called with each case.
    cases
        The cases; their names differ.
    jobs
        Cases at a time; ``None``: one per processor.
    progress
        Called with the share of the cases that is done.
    """
    done: dict[str, LinuxOutcome] = {}
    for outcome in worker_pool.each(make, cases, jobs):
        done[outcome.case.name] = outcome
        if progress is not None:
            progress(len(done) / len(cases))
    return [done[case.name] for case in cases]


def _replay_one(case: LinuxCase) -> LinuxOutcome:
    sender = case.sender()
    if isinstance(sender, str):
        return LinuxOutcome(case, "replay", False, first_difference=sender, unjudged=sender)
    path = case.directory / case.entry["trace"]
    text = read_packed(path)
    try:
        answer = json.loads(_core.replay(json.dumps(sender), text))
    except ValueError as error:
        raise refuse_rows(path, str(error)) from None
    return LinuxOutcome(case, "replay", **answer)
