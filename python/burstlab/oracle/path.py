"""Recorded connections of a Linux kernel, run as scenarios: sender, receiver and path."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burstlab.documents.sysctls import LAWS, fields_of
from burstlab.errors import ScenarioError
from burstlab.loading import Document
from burstlab.oracle import both_ways, closings, entries
from burstlab.oracle.linux import (
    HEADERS,
    TIMESTAMP,
    WHEEL_PHASE,
    LinuxCase,
    LinuxOutcome,
    each,
    read_linux_index,
)
from burstlab.oracle.traces import read_packed, refuse_rows
from burstlab.results import Result
from burstlab.simulation import run

#: Bytes that SACK blocks take of a segment: kind, length and padding once, and each block
#: (RFC 2018).
BLOCKS, BLOCK = 4, 8

#: By how much a time may differ, in ps.
TOLERANCE_PS = 2_000_000_000

#: TCP's flag of a segment that ends the data: where it carries none it is a packet of its own.
FIN = 1

#: The share of states that must be equal.
STATES_LEAST = 0.99

#: Stages of the kernel by the states of ours.
STAGES = {
    "slow-start": 0,
    "congestion-avoidance": 0,
    "disorder": 1,
    "cwr": 2,
    "recovery": 3,
    "loss": 4,
}

#: Phases in which BBR's gain cycle may begin.
PHASES = 7

#: By how much the timer of a burst is longer, or shorter, for a packet that comes as it ends to
#: fall into the burst, or behind it. Recorded times are cut to nanoseconds, packet by packet.
MARGIN_NS = 500

#: A sequence number of a recording, which counts from the SYN, is below this.
NUMBERS = 1 << 48

#: No recording lasts longer, in ps: the longest time of a scenario.
LATEST_PS = 10**17

#: Whole numbers behind the time in the rows of a recording but those of segments and of ACKs heard.
_WHOLE_CELLS = {"B": 4, "b": 4, "D": 2, "d": 2, "Q": 2, "q": 2, "C": 1, "R": 2, "a": 2}

#: A queue that is never full, and a mark that is never made.
NEVER = "1000 MB"

#: A segment: when it was sent, in ps, its first byte and its length.
Segment = tuple[int, int, int]
#: A state: the window, the threshold and the stage.
State = tuple[int, int, int]


@dataclass
class Log:
    """The log of a sender: segments, and its state after each ACK."""

    segments: list[Segment] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    heard: list[tuple[int, int]] = field(default_factory=list)

    @property
    def acked_bytes(self) -> int:
        """Bytes of data that were acknowledged."""
        return max((ack for _, ack in self.heard), default=1) - 1


def not_of_a_path(case: LinuxCase, *, live: bool = False) -> str | None:
    """Say why a case cannot be run over its path; None: it can."""
    entry = case.entry
    if case.unknown is not None:
        return case.unknown
    lacking = [name for name in entries.OF_A_PATH if name not in entry]
    for drawn, came in (("p", "lost_bursts"), ("p_ack", "lost_ack_bursts")):
        if entry.get(drawn) and came not in entry:
            lacking.append(came)
    if lacking:
        return f"without {', '.join(repr(name) for name in lacking)}"
    if entry.get("gso", 1) != 1:
        return f"gso = {entry['gso']}: groups of at most so many segments"
    several = len(entries.laws_of(entry)) > 1
    named = [name for name in ("drop_packets", "drop_acks") if entry.get(name)]
    if several and named:
        return f"{named[0]} counts the packets of several connections"
    if several and case.entry.get("twoway"):
        return "several connections with data both ways"
    if live and several:
        return "'ccs': a live host has one congestion control"
    return None


def scenario_of(case: LinuxCase, until_ps: int, sides: closings.Sides | None = None) -> Document:
    """Write the scenario of a case, which ends at ``until_ps``.

    Parameters
    ----------
    case
        The case.
    until_ps
        When its recording ends, after its SYN.
    sides
        On which side of the end of its burst each packet fell that came at that nanosecond.
    """
    entry = case.entry
    delay_us = round(1000 * float(entry["core_delay_ms"]))
    laws = entries.laws_of(entry)
    receiver: Document = {}
    access: Document = {"rate": f"{int(entry['rate'])} b/s", "delay": "1 ms"}
    if "queue" in entry:
        access["queue_bytes"] = f"{entry['queue']} B"
        receiver["queue_bytes"] = NEVER
    tcp = _tcp(case)
    if tcp["ecn"] or "dctcp" in laws:
        above = f"{entry['mark']} B" if "mark" in entry else NEVER
        access["marking"] = {"rule": "threshold", "above": above}
    if receiver:
        access["receiver"] = receiver
    if len(laws) > 1:
        access["shared"] = True
    first, last = delay_us // 2, delay_us - delay_us // 2
    return {
        "network": {
            "topology": "path",
            "core_nodes": 1,
            "link_rate": f"{int(case.core_bps)} b/s",
            "link_delays": [f"{first} us", f"{last} us"],
        },
        "access": access,
        "edge": _edge(entry, sides),
        "tcp": tcp,
        "flows": [_flow(case, law if len(laws) > 1 else None) for law in laws],
        "loss": _loss(entry),
        "run": {"duration": f"{until_ps + TOLERANCE_PS + 1} ps"},
    }


def _flow(case: LinuxCase, law: str | None) -> Document:
    """Write a connection; with a `law` where there are several."""
    entry = case.entry
    flow: Document = {"start": "0 s"}
    if "writes" in entry:
        writes = entries.writes_of(entry["writes"])
        flow["script"] = [{"at": f"{at} ms", "bytes": f"{count} B"} for at, count in writes]
        # As in replays: the application goes on to have the connection open.
        flow["closes"] = False
    elif "bytes" in entry:
        flow["bytes"] = f"{entry['bytes']} B"
    if entry.get("twoway"):
        flow["reverse"] = {"bytes": f"{entry['rbytes']} B"} if "rbytes" in entry else {}
    if law is not None:
        flow["tcp"] = {"window_law": LAWS[law], "ecn": _ecn(entry, law)}
    return flow


def _ecn(entry: Any, law: str) -> bool:
    return law == "dctcp" or ("tcp_ecn", "1") in entries.settings_of(entry)


def _edge(entry: Any, sides: closings.Sides | None) -> Document:
    def of_direction(timer_ms: float, sides: closings.OfDirection) -> Document:
        if timer_ms <= 0:
            return {"assembly": "none"}
        timer_us = round(1000 * float(timer_ms))
        made: Document = {"assembly": "timer", "timer": f"{timer_us} us"}
        if sides:
            timer_ns = 1000 * timer_us
            made["burst_timers"] = [
                [burst, f"{timer_ns + (MARGIN_NS if inside else -MARGIN_NS)} ns"]
                for burst, inside in sides
            ]
        return made

    data, acks = sides if sides is not None else ((), ())
    return {
        **of_direction(entry["tb_ms"], data),
        "ack": of_direction(entry.get("tb_ack_ms", 0), acks),
    }


def _loss(entry: Any) -> Document:
    loss: Document = {}
    for direction, bursts, drawn, packets in (
        ("data", "lost_bursts", "drop_bursts", "drop_packets"),
        ("ack", "lost_ack_bursts", "drop_ack_bursts", "drop_acks"),
    ):
        script: Document = {}
        lost = entry[bursts] if bursts in entry else entries.numbers_of(entry.get(drawn, ""))
        if lost:
            script["bursts"] = list(lost)
        if entry.get(packets):
            script["departures"] = entries.numbers_of(entry[packets])
        if script:
            # Lost at the edge, as it closes.
            loss[direction] = {"process": "script", "node": 0, **script}
    return loss


def _tcp(case: LinuxCase) -> Document:
    entry = case.entry
    law = str(entry["cc"])
    tcp: Document = {
        "profile": "linux",
        "window_law": LAWS.get(law, law),
        "ecn": _ecn(entry, law),
        "window": 100_000,
        "segment_size": f"{case.mtu} B",
        "receive_buffer": f"{entry.get('rmem', 16_777_216)} B",
        "receive_buffer_max": "134217728 B",
        "send_buffer": "4194304 B",
        "grouping": entry.get("gso") != 1,
        "rto_clock_phase": f"{case.clock_ns} ns",
        "wheel_phase": WHEEL_PHASE,
    }
    if case.send_overhead is not None:
        tcp["send_overhead"] = f"{case.send_overhead} B"
    for name, value in entries.settings_of(entry):
        if name != "tcp_ecn":
            tcp.update(fields_of(name, value) or {})
    if "clamp" in entry:
        tcp["window_clamp"] = f"{entry['clamp']} B"
    return tcp


def payload_of(case: LinuxCase) -> int:
    """Bytes of data in a full segment of a case."""
    stamps = ("tcp_timestamps", "0") not in entries.settings_of(case.entry)
    return case.mtu - HEADERS - (TIMESTAMP if stamps else 0)


def recorded(case: LinuxCase) -> tuple[Log, int]:
    """Read the log of a recording, and when its last row is, in ps.

    Raises
    ------
    InputError
        If the trace cannot be read, or has a row that is none.
    """
    path = case.directory / case.entry["trace"]
    log, last = Log(), 0
    for number, cells in rows_of(path):
        try:
            at = 1000 * int(cells[1])
            if not 0 <= at <= LATEST_PS:
                raise ValueError(f"{cells[1]} ns is no time of a recording")
            last = max(last, at)
            if cells[0] == "S":
                seq, length, flags = (_number(cell) for cell in cells[2:5])
                if length > 0 or flags & FIN:
                    log.segments.append((at, seq, length))
            elif cells[0] == "A":
                log.states.append((int(cells[7]), int(cells[8]), int(cells[9])))
                log.heard.append((at, _number(cells[2])))
            else:
                _check_row(cells)
        except (ValueError, IndexError):
            line = ",".join(cells)
            raise refuse_rows(path, f"line {number}: {line!r:.80} is no row") from None
    return log, last


def _number(cell: str) -> int:
    """Read a number of bytes, or flags."""
    number = int(cell)
    if not 0 <= number < NUMBERS:
        raise ValueError(f"{number} is no number of bytes")
    return number


def _check_row(cells: list[str]) -> None:
    """Read a row about the fate of packets."""
    wanted = _WHOLE_CELLS.get(cells[0])
    if wanted is None:
        raise ValueError(f"{cells[0]!r} is no event")
    if len([int(cell) for cell in cells[2 : 2 + wanted]]) < wanted:
        raise ValueError("a cell is missing")
    if cells[0] == "a":
        cells[4]


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a trace, each with the number of its line."""
    for number, line in enumerate(read_packed(path).splitlines(), start=1):
        yield number, line.split(",")


def ran(case: LinuxCase, result: Result, until_ps: int) -> Log:
    """Read the same log from a run that traced packets and cwnd."""
    headers = case.mtu - payload_of(case)
    log = Log()
    # The direction back is the flow behind the one that opens the connection.
    flow = 1 if case.is_back else case.entry.get("connection", 0)
    names = ("flow", "kind", "seq", "size_bytes", "sent_ps")
    columns = (result.packets.column(name).to_pylist() for name in names)
    blocks = _block_bytes(result)
    # Where each segment begins, and the one after the last; data begin at 1.
    begins = [0, 1]
    for row, (of, kind, seq, size, sent) in enumerate(zip(*columns, strict=True)):
        if of == flow and kind == "data" and seq > 0:
            length = size - headers - blocks[row]
            if seq + 1 == len(begins):
                begins.append(begins[seq] + length)
            if sent <= until_ps + TOLERANCE_PS:
                log.segments.append((sent, begins[seq], length))
    end = case.bytes_sent
    cwnd = result.cwnd.where(flow=flow)
    names = ("event", "t_ps", "ack", "cwnd", "ssthresh", "state")
    columns = (cwnd.column(name).to_pylist() for name in names)
    # The recorder knows the socket of the host that is called once the handshake is over.
    first = log.segments[0][0] if case.is_back and log.segments else -1
    for event, at, ack, window, threshold, state in zip(*columns, strict=True):
        if event == "ack" and first < at <= until_ps + TOLERANCE_PS:
            log.states.append((int(window), int(threshold), STAGES[state]))
            byte = begins[ack + 1]
            log.heard.append((at, byte if end is None else min(byte, end + 1)))
    return log


def _block_bytes(result: Result) -> Counter[int]:
    """Return the bytes that SACK blocks take of data packets, by their row."""
    if "packets_sack" not in result.recorded:
        return Counter()
    counts = Counter(result.table("packets_sack").column("packet").to_pylist())
    return Counter({row: BLOCKS + BLOCK * count for row, count in counts.items()})


def compare(case: LinuxCase, theirs: Log, ours: Log, until_ps: int) -> LinuxOutcome:
    """Judge a run by its recording.

    Segments just after the end of the recording, or further ones just before it, are not judged.
    """
    rows = len(theirs.segments)
    segments = list(ours.segments)
    while len(segments) > rows and segments[-1][0] > until_ps - TOLERANCE_PS:
        segments.pop()
    equal = 0
    for their, our in zip(theirs.segments, segments, strict=False):
        if their[1:] != our[1:] or abs(their[0] - our[0]) > TOLERANCE_PS:
            break
        equal += 1
    whole = equal == rows == len(segments)
    pairs = zip(theirs.states, ours.states, strict=False)
    same = [their == our for their, our in pairs]
    state_rows, state_equal = len(theirs.states), sum(same)
    match = whole and state_equal >= STATES_LEAST * state_rows
    difference = None if whole and all(same) else _difference(theirs, ours, equal, whole, same)
    return LinuxOutcome(
        case,
        "path",
        match,
        rows,
        equal,
        state_rows,
        state_equal,
        difference,
        acked_bytes=(theirs.acked_bytes, ours.acked_bytes),
    )


def _difference(theirs: Log, ours: Log, equal: int, whole: bool, same: list[bool]) -> str:
    """Say where two logs part first, with the state of both."""
    parts: list[str] = []

    def segment(log: Log) -> str:
        if equal >= len(log.segments):
            return "nothing"
        at, seq, length = log.segments[equal]
        return f"{seq}+{length} at {at / 1e9:.6f} ms"

    def state(log: Log, at: int) -> str:
        if at >= len(log.states):
            return "no ACK"
        (cwnd, ssthresh, stage), (t, ack) = log.states[at], log.heard[at]
        return f"ACK {ack} at {t / 1e9:.6f} ms, cwnd {cwnd}, ssthresh {ssthresh}, stage {stage}"

    if not whole:
        parts.append(f"segment {equal + 1}: Linux sent {segment(theirs)}, we {segment(ours)}")
    first = next((i for i, one in enumerate(same) if not one), len(same))
    if first < len(theirs.states):
        parts.append(f"ACK {first + 1}: Linux {state(theirs, first)}; we {state(ours, first)}")
    return "; ".join(parts)


def path_linux(
    directory: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
    only: Callable[[LinuxCase], bool] | None = None,
) -> list[LinuxOutcome]:
    """Run the recorded connections of a directory as scenarios and compare.

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

    Raises
    ------
    InputError
        If the index or a trace cannot be read; the error names file and place.
    """
    cases = [case for case in read_linux_index(Path(directory)) if only is None or only(case)]
    return each(_run_one, cases, jobs, progress)


def _run_one(case: LinuxCase) -> LinuxOutcome:
    reason = not_of_a_path(case)
    if reason is not None:
        return LinuxOutcome(case, "path", False, first_difference=reason, unjudged=reason)
    theirs, until_ps = recorded(case)
    return with_ties(case, lambda sides: _run_phases(case, theirs, until_ps, sides))


def with_ties(
    case: LinuxCase, make: Callable[[closings.Sides | None], LinuxOutcome]
) -> LinuxOutcome:
    """Run a case and, where it differs though it may by ties alone, again as they fell.

    Parameters
    ----------
    case
        The case.
    make
        Runs it, with packets that come as a burst ends on the side that they fell on in the
        recording where sides are given.
    """
    plain = make(None)
    if plain.match:
        return plain
    path = case.directory / case.entry["trace"]
    ties = closings.ties_of(case, [cells for _, cells in rows_of(path)])
    if not ties.count:
        return plain
    found = make(ties.sides)
    if found.match:
        return replace(found, match=False, ties=ties.count, tie_s=ties.first_ns / 1e9)
    return max(plain, found, key=_nearness)


def _run_phases(
    case: LinuxCase, theirs: Log, until_ps: int, sides: closings.Sides | None
) -> LinuxOutcome:
    # The kernel drew the phase of BBR's gain cycle: whichever goes furthest; where segments part
    # before they tell two phases from each other, the one that delivers most nearly as much.
    phases = PHASES if case.entry["cc"] == "bbr" else 1
    outcomes: list[LinuxOutcome] = []
    for phase in range(phases):
        document = scenario_of(case, until_ps, sides)
        document["tcp"]["bbr_phase"] = phase
        try:
            if case.entry.get("twoway"):
                both_ways.count_losses(document)
            result = run(document, trace=("packets", "cwnd"), jobs=1)
        except ScenarioError as error:
            return LinuxOutcome(case, "path", False, first_difference=str(error))
        ours = ran(case, result, until_ps)
        outcomes.append(compare(case, theirs, ours, until_ps))
        if outcomes[-1].match:
            break
    return max(outcomes, key=_nearness)


def _nearness(one: LinuxOutcome) -> tuple[bool, int, int, int]:
    theirs, ours = one.acked_bytes or (0, 0)
    return one.match, one.rows_equal, -abs(theirs - ours), one.state_equal
