"""Recorded connections of a Linux kernel, run as scenarios: sender, receiver and path."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burstlab.errors import ScenarioError
from burstlab.loading import Document
from burstlab.oracle.cases import wrong
from burstlab.oracle.linux import (
    HEADERS,
    TIMESTAMP,
    WHEEL_PHASE,
    LinuxCase,
    LinuxOutcome,
    each,
    read_linux_index,
)
from burstlab.results import Result
from burstlab.simulation import run
from burstlab.sysctls import LAWS, SWITCHES

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

#: A queue that is never full, and a mark that is never made.
NEVER = "1000 MB"

#: A segment: when it was sent, in ps, its first byte and its length.
Segment = tuple[int, int, int]
#: A state: the window, the threshold and the stage.
State = tuple[int, int, int]


@dataclass
class Log:
    """What happened at a sender: segments, and how it stood after each ACK."""

    segments: list[Segment] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    heard: list[tuple[int, int]] = field(default_factory=list)

    @property
    def acked_bytes(self) -> int:
        """Bytes of data that were acknowledged."""
        return max((ack for _, ack in self.heard), default=1) - 1


def scenario_of(case: LinuxCase, until_ps: int) -> Document:
    """Write the scenario of a case, which ends at ``until_ps``."""
    entry = case.entry
    delay_us = round(1000 * float(entry["core_delay_ms"]))
    receiver: Document = {}
    access: Document = {"rate": f"{int(entry['rate'])} b/s", "delay": "1 ms"}
    if "queue" in entry:
        access["queue_bytes"] = f"{entry['queue']} B"
        receiver["queue_bytes"] = NEVER
    tcp = _tcp(case)
    if tcp["ecn"]:
        above = f"{entry['mark']} B" if "mark" in entry else NEVER
        access["marking"] = {"rule": "threshold", "above": above}
    if receiver:
        access["receiver"] = receiver
    flow: Document = {"start": "0 s"}
    if "bytes" in entry:
        flow["bytes"] = f"{entry['bytes']} B"
    first, last = delay_us // 2, delay_us - delay_us // 2
    return {
        "network": {
            "topology": "path",
            "core_nodes": 1,
            "link_rate": f"{int(case.core_bps)} b/s",
            "link_delays": [f"{first} us", f"{last} us"],
        },
        "access": access,
        "edge": _edge(entry),
        "tcp": tcp,
        "flows": [flow],
        "loss": _loss(entry),
        "run": {"duration": f"{until_ps + TOLERANCE_PS + 1} ps"},
    }


def _edge(entry: Any) -> Document:
    def way(timer_ms: float) -> Document:
        if timer_ms <= 0:
            return {"assembly": "none"}
        return {"assembly": "timer", "timer": f"{round(1000 * float(timer_ms))} us"}

    return {**way(entry["tb_ms"]), "ack": way(entry.get("tb_ack_ms", 0))}


def _loss(entry: Any) -> Document:
    def numbers(text: str) -> list[int]:
        return [int(number) for number in str(text).split(",") if number]

    loss: Document = {}
    for way, bursts, packets in (
        ("data", "lost_bursts", "drop_packets"),
        ("ack", "lost_ack_bursts", "drop_acks"),
    ):
        script: Document = {}
        if entry.get(bursts):
            script["bursts"] = list(entry[bursts])
        if entry.get(packets):
            script["departures"] = numbers(entry[packets])
        if script:
            # Lost at the edge, as it closes.
            loss[way] = {"process": "script", "node": 0, **script}
    return loss


def _tcp(case: LinuxCase) -> Document:
    entry = case.entry
    law = str(entry["cc"])
    tcp: Document = {
        "profile": "linux",
        "window_law": LAWS.get(law, law),
        "ecn": law == "dctcp",
        "window": 100_000,
        "segment_size": f"{case.mtu} B",
        "receive_buffer": "16777216 B",
        "receive_buffer_max": "134217728 B",
        "send_buffer": "4194304 B",
        "grouping": entry.get("gso") != 1,
        "rto_clock_phase": f"{case.clock_ns} ns",
        "wheel_phase": WHEEL_PHASE,
    }
    if case.send_overhead is not None:
        tcp["send_overhead"] = f"{case.send_overhead} B"
    for setting in filter(None, entry.get("sysctl", "").split(";")):
        name, _, value = setting.partition("=")
        if name == "tcp_ecn":
            tcp["ecn"] = tcp["ecn"] or value == "1"
        elif name in SWITCHES:
            tcp[SWITCHES[name]] = value != "0"
        else:
            raise wrong(case.name, f"the setting {name!r} has no counterpart", "leave it out")
    if "clamp" in entry:
        tcp["window_clamp"] = f"{entry['clamp']} B"
    return tcp


def payload_of(case: LinuxCase) -> int:
    """Bytes of data in a full segment of a case."""
    stamps = "tcp_timestamps=0" not in case.entry.get("sysctl", "")
    return case.mtu - HEADERS - (TIMESTAMP if stamps else 0)


def recorded(case: LinuxCase) -> tuple[Log, int]:
    """Read the log of a recording, and when its last row is, in ps."""
    path = case.directory / case.entry["trace"]
    log, last = Log(), 0
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            for line in file:
                cells = line.rstrip("\n").split(",")
                at = 1000 * int(cells[1])
                last = max(last, at)
                if cells[0] == "S" and (int(cells[3]) > 0 or int(cells[4]) & FIN):
                    log.segments.append((at, int(cells[2]), int(cells[3])))
                elif cells[0] == "A":
                    log.states.append((int(cells[7]), int(cells[8]), int(cells[9])))
                    log.heard.append((at, int(cells[2])))
    except (OSError, EOFError, UnicodeDecodeError, ValueError, IndexError) as error:
        raise wrong(str(path), str(error), "give a recording as the recorder packs it") from None
    return log, last


def ran(case: LinuxCase, result: Result, until_ps: int) -> Log:
    """Read the same log from a run that traced packets and cwnd."""
    headers = case.mtu - payload_of(case)
    log = Log()
    packets = result.packets
    names = ("kind", "seq", "size_bytes", "sent_ps")
    columns = (packets.column(name).to_pylist() for name in names)
    # Where each segment begins, and the one after the last; data begin at 1.
    begins = [0, 1]
    for kind, seq, size, sent in zip(*columns, strict=True):
        if kind == "data" and seq > 0:
            if seq + 1 == len(begins):
                begins.append(begins[seq] + size - headers)
            if sent <= until_ps + TOLERANCE_PS:
                log.segments.append((sent, begins[seq], size - headers))
    end = case.entry.get("bytes")
    cwnd = result.cwnd
    names = ("event", "t_ps", "ack", "cwnd", "ssthresh", "state")
    columns = (cwnd.column(name).to_pylist() for name in names)
    for event, at, ack, window, threshold, state in zip(*columns, strict=True):
        if event == "ack" and at <= until_ps + TOLERANCE_PS:
            log.states.append((int(window), int(threshold), STAGES[state]))
            byte = begins[ack + 1]
            log.heard.append((at, byte if end is None else min(byte, end + 1)))
    return log


def compare(case: LinuxCase, theirs: Log, ours: Log, until_ps: int) -> LinuxOutcome:
    """Judge a run by its recording.

    What we send just after the end of the recording, or just before and more of it, is not judged.
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
        Is told what share of the cases is done.
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
    theirs, until_ps = recorded(case)
    # The kernel drew the phase of BBR's gain cycle: whichever goes furthest; where segments part
    # before they tell two phases from each other, the one that delivers most nearly as much.
    phases = PHASES if case.entry["cc"] == "bbr" else 1
    outcomes: list[LinuxOutcome] = []
    for phase in range(phases):
        document = scenario_of(case, until_ps)
        document["tcp"]["bbr_phase"] = phase
        try:
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
