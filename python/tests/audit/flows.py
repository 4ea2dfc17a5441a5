"""Flows, and what the senders and receivers of all flows together counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.checks import Audit
from audit.result import NONE, Run, size_bytes, span_ps

#: Bytes of a SYN and of the headers of a segment, which no scenario of the audit changes.
_HEADERS = 40


@dataclass
class Endpoint:
    """The facts of the scenario about one flow.

    Attributes
    ----------
    payload
        Application data of a full segment, in bytes.
    window
        The receiver's window, in segments.
    writes
        When the application writes and how much, in ps and bytes; None: without end.
    replies
        Of a flow back that begins when all of the other one is there: how long after, in ps.
    """

    label: str
    variant: str
    payload: int
    window: int
    detector: str
    start: int
    writes: list[tuple[int, int]] | None
    replies: int | None = None


def endpoints(scenario: Mapping[str, Any]) -> Iterator[Endpoint]:
    """Return the flows that a scenario lists, in the order of their numbers."""
    for flow in scenario.get("flows", []):
        tcp = {**scenario["tcp"], **{k: v for k, v in flow["tcp"].items() if v is not None}}
        for copy in range(flow["count"]):
            start = span_ps(flow["start"]) + copy * span_ps(flow["stagger"])
            one = Endpoint(
                label=flow.get("label") or tcp["variant"],
                variant=tcp["variant"],
                payload=size_bytes(tcp["segment_size"]) - _HEADERS,
                window=tcp["window"],
                detector=tcp.get("detector") or "none",
                start=start,
                writes=_writes(flow, start),
            )
            yield one
            if (back := flow.get("reverse")) is not None:
                begin = start + span_ps(back["start"])
                yield replace(
                    one,
                    label=back.get("label") or f"{one.label} (back)",
                    start=begin,
                    writes=_writes(back, begin),
                    replies=span_ps(back["start"]) if back["reply"] else None,
                )


def _writes(flow: Mapping[str, Any], start: int) -> list[tuple[int, int]] | None:
    if flow.get("script") is not None:
        return [(start + span_ps(one["at"]), size_bytes(one["bytes"])) for one in flow["script"]]
    if flow.get("bytes") is not None:
        return [(start, size_bytes(flow["bytes"]))]
    return None


def begun(run: Run, number: int, end: Endpoint, before: Endpoint) -> Endpoint:
    """Return what there is of a flow back that replies, from when the other one is there."""
    if end.replies is None:
        return end
    packets = run.table("packets")
    mine = (packets["flow"] == number - 1) & (packets["kind"] == "data")
    mine &= packets["fate"] == "delivered"
    order = np.argsort(packets["delivered_ps"][mine], kind="stable")
    times, seqs = (packets[name][mine][order] for name in ("delivered_ps", "seq"))
    useful = Useful.of(run, number - 1, None)
    found = _done(run, number - 1, before, useful, (times, seqs))["received_s"]
    if found is None:
        return replace(end, start=2**62, writes=[(2**62, size) for _, size in end.writes or []])
    start = round(found * 1e12) + end.replies
    return replace(end, start=start, writes=[(start, size) for _, size in end.writes or []])


class Received:
    """The state of a receiver after the segments that reached it."""

    def __init__(self, window: int) -> None:
        self.next = 0
        self.duplicates = 0
        self._beyond: set[int] = set()
        self._window = window

    def take(self, seq: int) -> None:
        """Segment `seq` is there."""
        if seq < self.next or seq in self._beyond:
            self.duplicates += 1
        elif seq < self.next + self._window:
            self._beyond.add(seq)
            while self.next in self._beyond:
                self._beyond.discard(self.next)
                self.next += 1

    def copy(self) -> Received:
        """Return another one in the same state."""
        other = Received(self._window)
        other.next, other.duplicates, other._beyond = self.next, self.duplicates, {*self._beyond}
        return other

    def held(self) -> set[int]:
        """Return the segments of data that it has, in order or not."""
        return {*range(1, self.next), *self._beyond} - {0}

    @property
    def delivered(self) -> int:
        """Segments in order, the SYN not counted."""
        return max(self.next - 1, 0)


@dataclass
class Useful:
    """How much application data is in segments: the bytes of their packets without headers.

    A sender may count the last segment of all as whole: no more is in it than was written.
    """

    lengths: Mapping[int, int]
    written: int | None

    @classmethod
    def of(cls, run: Run, number: int, written: int | None) -> Useful:
        """Read the segments of a flow in the order of their packets."""
        packets, sack = run.table("packets"), run.table("packets_sack")
        blocks: Counter[int] = Counter(sack["packet"].tolist() if sack else ())
        # Stored where any sender has such blocks, and of one size in the scenarios of the audit.
        tables = [run.scenario["tcp"], *(flow["tcp"] for flow in run.scenario["flows"])]
        sizes = [one["sack_block_size"] for one in tables if one.get("sack_block_size")]
        block = size_bytes(sizes[0]) if sizes else 0
        mine = np.flatnonzero((packets["flow"] == number) & (packets["kind"] == "data"))
        lengths: dict[int, int] = {}
        for row in mine.tolist():
            seq, size = int(packets["seq"][row]), int(packets["size_bytes"][row])
            lengths.setdefault(seq, size - _HEADERS - block * blocks[row] if seq else 0)
        return cls(lengths, written)

    def bytes(self, segments: set[int]) -> int:
        """Return the bytes in some segments, counted from 1."""
        before, found = 0, 0
        for seq in sorted(self.lengths):
            length = self.lengths[seq]
            if self.written is not None:
                length = min(length, self.written - before)
            before += length
            found += length if seq in segments else 0
        return found

    def last(self, total: int) -> int | None:
        """Return the segment in which so many bytes end; None: none has left that has it."""
        before = 0
        for seq in sorted(self.lengths):
            before += self.lengths[seq]
            if before >= total:
                return seq
        return None


def check(run: Run, audit: Audit) -> None:
    """Compute every number of the flows of a scenario again."""
    flows = run.summary["flows"]
    listed = list(endpoints(run.scenario))
    audit.claim(
        len(flows) == len(listed), f"{len(flows)} flows, and the scenario has {len(listed)}"
    )
    for number, (flow, listed_end) in enumerate(zip(flows, listed, strict=True)):
        end = begun(run, number, listed_end, listed[number - 1])
        audit.equal(f"flows[{number}].id", number)
        audit.claim(flow["label"] == end.label, f"flows[{number}].label = {flow['label']}")
        audit.claim(flow["variant"] == end.variant, f"flows[{number}].variant = {flow['variant']}")
        for name, value in of_flow(run, number, end).items():
            audit.equal(f"flows[{number}].{name}", value)
        if end.variant == "vegas":
            _vegas(run, audit, number)
        _detector(run, audit, number, end)
        _reductions(run, audit, number, end)
    _table(run, audit)


def of_flow(run: Run, number: int, end: Endpoint) -> dict[str, float | None]:
    """Return what a flow achieved, by its packets and the events at its sender."""
    packets = run.table("packets")
    mine = (packets["flow"] == number) & (packets["kind"] == "data")
    fate, arrived = packets["fate"][mine], packets["delivered_ps"][mine]
    sizes, seqs = packets["size_bytes"][mine], packets["seq"][mine]
    there = fate == "delivered"
    receiver, warm, late_end = Received(end.window), None, None
    order = np.argsort(arrived[there], kind="stable")
    for at, seq in zip(arrived[there][order].tolist(), seqs[there][order].tolist(), strict=True):
        if warm is None and at >= run.start:
            warm = receiver.copy()
        if late_end is None and at >= run.over:
            late_end = receiver.copy()
        receiver.take(seq)
    then = warm or receiver
    now = late_end or receiver
    written = None if end.writes is None else sum(b for at, b in end.writes if at < run.over)
    useful = Useful.of(run, number, written)
    measured = run.measured_s or float("inf")
    late = there & run.since_start(arrived)
    again = (packets["transmission"][mine] > 1) & ~of_edge(run)[mine]
    timer = _events(run, number)
    return {
        "goodput_bps": useful.bytes(set(range(1, now.next)) - then.held()) * 8 / measured,
        "throughput_bps": int(sizes[late].sum()) * 8 / measured,
        "bytes_delivered": useful.bytes(now.held() - then.held()),
        "bytes_in_order": useful.bytes(set(range(1, now.next)) - set(range(1, then.next))),
        "segments_delivered": now.delivered - then.delivered,
        "packets_sent": int(mine.sum()),
        "packets_delivered": int(there.sum()),
        "packets_lost": int((fate == "lost").sum()),
        "packets_not_ect": int((packets["cause"][mine] == "not-ect").sum()),
        "duplicates": receiver.duplicates,
        "retransmissions": int(again.sum()),
        **timer,
        **_bursts(run, mine),
        **_round_trips(run, number, end),
        **_done(run, number, end, useful, (arrived[there][order], seqs[there][order])),
    }


def of_edge(run: Run) -> Any:
    """Copies of edge nodes, which cross no access link; bursts have none."""
    packets = run.table("packets")
    return (packets["ingress_ps"] == packets["sent_ps"]) & ("ops" in run.summary)


def _events(run: Run, number: int) -> dict[str, float | None]:
    ledger, cwnd = run.table("ledger"), run.table("cwnd")
    mine = ledger["flow"] == number
    kinds, truths = ledger["kind"][mine], ledger["truth"][mine]
    timeouts = kinds == "timeout"
    events = cwnd["event"][cwnd["flow"] == number]
    return {
        "timeouts": int((events == "timeout").sum()),
        "false_timeouts": int((timeouts & (truths == "false")).sum()),
        "true_timeouts": int((timeouts & (truths == "true")).sum()),
        "spurious_timeouts": int((timeouts & (truths == "spurious")).sum()),
        "spurious_retransmissions": int((kinds == "spurious-retransmission").sum()),
        "early_repairs": int((kinds == "early-repair").sum()),
        "fast_retransmits": int((events == "fast-retransmit").sum()),
    }


def _bursts(run: Run, mine: Any) -> dict[str, float | None]:
    """Bursts that were closed with a segment, and those that were lost with one."""
    packets, bursts = run.table("packets"), run.table("bursts")
    if not bursts:
        return {"bursts": 0, "bursts_lost": 0}
    # On a path each direction counts its own, and a segment may be lost before its burst is closed.
    data = bursts["burst"][bursts["direction"] != "ack"]
    alone = (packets["fate"] == "lost") & (packets["cause"] == "scripted")
    mine = mine & ~alone
    closed = np.isin(packets["burst"], data) & mine & (packets["burst"] != NONE)
    with_it = closed & (packets["fate"] == "lost") & (packets["cause"] == "burst-lost")
    return {
        "bursts": len(np.unique(packets["burst"][closed])),
        "bursts_lost": len(np.unique(packets["burst"][with_it])),
    }


def _round_trips(run: Run, number: int, end: Endpoint) -> dict[str, float | None]:
    """The mean of what the timer measured; Vegas also gives up by a clock that no trace shows."""
    if end.variant == "vegas":
        return {}
    samples = _samples(run, number)
    return {
        "rtt_s": float(samples.mean()) * 1e-12 if len(samples) else None,
        "round_trips": len(samples),
    }


def _vegas(run: Run, audit: Audit, number: int) -> None:
    """The measurements of Vegas' timer lie between those of its ACKs."""
    cwnd, flow = run.table("cwnd"), run.summary["flows"][number]
    if flow["rtt_s"] is None:
        audit.claim(flow["round_trips"] == 0, f"flows[{number}].rtt_s is not there")
        return
    heard = (cwnd["flow"] == number) & (cwnd["event"] == "ack") & run.since_start(cwnd["t_ps"])
    audit.within(f"flows[{number}].round_trips", 1, int(heard.sum()))
    packets = run.table("packets")
    first = (packets["flow"] == number) & (packets["kind"] == "data")
    first &= (packets["transmission"] == 1) & run.since_start(packets["acked_ps"])
    took = (packets["acked_ps"] - packets["sent_ps"])[first] * 1e-12
    audit.within(f"flows[{number}].rtt_s", took.min() * (1 - 1e-9), took.max() * (1 + 1e-9))


def _samples(run: Run, number: int) -> Any:
    """Round trips that the retransmission timer takes: one segment at a time, by Karn's rule.

    The timer takes the first transmission after it has taken none, measures with the ACK that
    covers it, and gives up what it has at a time-out, a fast retransmission or an early repair.
    """
    packets, cwnd = run.table("packets"), run.table("cwnd")
    mine = packets["flow"] == number
    sent = mine & (packets["kind"] == "data")
    heard = mine & (packets["kind"] == "ack") & (packets["fate"] == "delivered")
    again = (cwnd["flow"] == number) & (cwnd["event"] != "ack")
    expired = again & (cwnd["event"] == "timeout")
    # At one instant a timer fires before an ACK is heard, and that before what it releases is sent.
    events = [(at, 0, seq) for at, seq in _pairs(packets, "delivered_ps", heard)]
    events += [(at, 0, seq) for at, seq in carried(run, number)]
    events += [(at, -1, 0) for at in cwnd["t_ps"][expired].tolist()]
    events += [(at, 1, 0) for at in cwnd["t_ps"][again & ~expired].tolist()]
    ledger = run.table("ledger")
    repairs = (ledger["flow"] == number) & (ledger["kind"] == "early-repair")
    events += [(at, 1, 0) for at in ledger["t_ps"][repairs].tolist()]
    first = sent & (packets["transmission"] == 1)
    events += [(at, 2, seq) for at, seq in _pairs(packets, "sent_ps", first)]
    timed: tuple[int, int] | None = None
    highest, samples = -1, []
    for at, kind, seq in sorted(events):
        if kind == 0 and seq > highest:
            highest = seq
            if timed is not None and seq >= timed[0]:
                if run.start <= at < run.over:
                    samples.append(at - timed[1])
                timed = None
        elif abs(kind) == 1:
            timed = None
        elif kind == 2 and timed is None:
            timed = (seq, at)
    return np.array(samples)


def carried(run: Run, number: int) -> list[tuple[int, int]]:
    """Return when ACKs for a flow came with data of the other direction, and of which segment."""
    packets, acks = run.table("packets"), run.table("packets_acks")
    if not acks:
        return []
    mine = acks["flow"] == number
    rows, seqs = acks["packet"][mine], acks["seq"][mine]
    there = packets["fate"][rows] == "delivered"
    times = packets["delivered_ps"][rows]
    return list(zip(times[there].tolist(), seqs[there].tolist(), strict=True))


def _pairs(packets: Mapping[str, Any], time: str, rows: Any) -> list[tuple[int, int]]:
    return list(zip(packets[time][rows].tolist(), packets["seq"][rows].tolist(), strict=True))


def _done(
    run: Run, number: int, end: Endpoint, useful: Useful, arrivals: tuple[Any, Any]
) -> dict[str, float | None]:
    """When all that the application writes was at the receiver, and acknowledged at the sender."""
    if end.writes is None:
        names = ("bytes", "received_after_s", "acknowledged_after_s", "received_s", "completed_s")
        return dict.fromkeys(names)
    total = sum(size for _, size in end.writes)
    last = useful.last(total)
    receiver, received = Received(end.window), None
    times, seqs = arrivals
    for at, seq in zip(times.tolist(), seqs.tolist(), strict=True):
        receiver.take(seq)
        if last is not None and receiver.next > last:
            received = at * 1e-12
            break
    heard = None if last is None else acknowledged(run, number, last)
    # An ACK before all of it is written is not yet the end.
    if heard is not None:
        heard = max(heard, end.writes[-1][0] * 1e-12)
    begin = end.start * 1e-12
    return {
        "bytes": total,
        "received_after_s": None if received is None else received - begin,
        "acknowledged_after_s": None if heard is None else heard - begin,
        "received_s": received,
        "completed_s": heard,
    }


def acknowledged(run: Run, number: int, last: int) -> float | None:
    """Return when segment `last` and all before were acknowledged, in s."""
    packets = run.table("packets")
    heard = (packets["flow"] == number) & (packets["kind"] == "ack") & (packets["seq"] >= last)
    times = packets["delivered_ps"][heard & (packets["fate"] == "delivered")].tolist()
    times += [at for at, seq in carried(run, number) if seq >= last]
    return min(times) * 1e-12 if times else None


#: Losses that tell of a full queue.
_FULL = ("sender-access", "receiver-access", "wireless-queue", "congestion", "not-ect")
_CLASSES = ("one-burst", "several-bursts", "congestion", "reordering", "outside")
#: Events at a sender that reduce its window.
_REDUCE = ("timeout", "fast-retransmit", "early-repair", "edge-retransmit")


def _reductions(run: Run, audit: Audit, number: int, end: Endpoint) -> None:
    """The causes of window reductions, from the losses behind each event, and their cost."""
    ledger, losses = run.table("ledger"), run.table("ledger_losses")
    count, cost = dict.fromkeys(_CLASSES, 0), dict.fromkeys(_CLASSES, 0.0)
    for row in np.flatnonzero(ledger["flow"] == number).tolist():
        found, here = str(ledger["reduction"][row]), f"ledger[{row}]"
        if ledger["kind"][row] not in _REDUCE:
            audit.claim(found == "none", f"{here}.reduction = {found}")
            continue
        behind = losses["event"] == ledger["event"][row]
        bursts = losses["burst"][behind]
        if np.isin(losses["cause"][behind], _FULL).any():
            expected = "congestion"
        elif not behind.any():
            expected = "reordering"
        elif (bursts == NONE).any():
            expected = "outside"
        else:
            expected = "one-burst" if len(np.unique(bursts)) == 1 else "several-bursts"
        audit.claim(found == expected, f"{here}.reduction = {found}, not {expected}")
        count[expected] += 1
        cost[expected] += float(ledger["cost"][row])
    _costs(run, audit, number)
    for name in _CLASSES:
        path = f"flows[{number}].reductions.{name.replace('-', '_')}"
        audit.equal(path, count[name])
        audit.equal(f"{path}_segments", cost[name])
    mine = ledger["flow"] == number
    excused = (ledger["verdict"][mine] == "false").sum() + (
        ledger["kind"][mine] == "early-repair"
    ).sum()
    audit.equal(f"flows[{number}].reductions.excused", int(excused))
    undone = (ledger["kind"][mine] == "undone-reduction").sum()
    audit.equal(f"flows[{number}].reductions.undone", int(undone))


def _costs(run: Run, audit: Audit, number: int) -> None:
    """A reduction costs what the window was before less what it is after."""
    ledger, cwnd = run.table("ledger"), run.table("cwnd")
    after: dict[tuple[int, str], float] = {}
    for row in np.flatnonzero(cwnd["flow"] == number).tolist():
        after[int(cwnd["t_ps"][row]), str(cwnd["event"][row])] = float(cwnd["cwnd"][row])
    events = {"timeout": "timeout", "fast-retransmit": "fast-retransmit"}
    events["edge-retransmit"] = "fast-retransmit"
    for row in np.flatnonzero(ledger["flow"] == number).tolist():
        kind, at = str(ledger["kind"][row]), int(ledger["t_ps"][row])
        if kind in events and (at, events[kind]) in after:
            fell = max(0.0, float(ledger["cwnd"][row]) - after[at, events[kind]])
            shown = float(ledger["cost"][row])
            audit.claim(abs(fell - shown) < 1e-9, f"ledger[{row}].cost = {shown}, not {fell}")


def _detector(run: Run, audit: Audit, number: int, end: Endpoint) -> None:
    found = run.summary["flows"][number]["detector"]
    if end.detector == "none":
        audit.claim(found is None, f"flows[{number}].detector without a detector")
        return
    ledger = run.table("ledger")
    mine = (ledger["flow"] == number) & (ledger["kind"] == "timeout")
    truths, verdicts = ledger["truth"][mine], ledger["verdict"][mine]
    for truth, taken in (("false", "missed"), ("true", "kept"), ("spurious", "kept")):
        for name, verdict in ((f"{truth}_{taken}", "true"), (f"{truth}_excused", "false")):
            count = int(((truths == truth) & (verdicts == verdict)).sum())
            audit.equal(f"flows[{number}].detector.{name}", count)


def _table(run: Run, audit: Audit) -> None:
    """The table of flows says what the summary says."""
    table = run.table("flows")
    for number, flow in enumerate(run.summary["flows"]):
        flat = {k: v for k, v in flow.items() if not isinstance(v, dict)}
        flat |= {f"detector_{k}": v for k, v in (flow["detector"] or {}).items()}
        flat |= {f"reductions_{k}": v for k, v in flow["reductions"].items()}
        for name, value in flat.items():
            if value is None or isinstance(value, str) or name not in table:
                continue
            audit.claim(table[name][number] == value, f"table flows, {name}[{number}] != {value}")
