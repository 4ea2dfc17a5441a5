"""The causal ledger: what each event at a sender followed from, by the packets."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from audit.checks import Audit
from audit.result import NONE, Columns, Run

#: Causes that are no single burst, or that are congestion.
_ALONE = ("congestion",)
#: Of packets, what the ledger calls the loss of a burst.
_IN_BURST = ("burst-lost", "slot-dropped", "cut")


def check(run: Run, audit: Audit) -> None:
    """Compare the events of the ledger with the losses that the packets tell of."""
    ledger, losses = run.table("ledger"), run.table("ledger_losses")
    behind = defaultdict(list)
    for row, event in enumerate(losses["event"].tolist()):
        behind[event].append(row)
    for row, event in enumerate(ledger["event"].tolist()):
        _event(run, audit, row, behind[event])
    _windows(run, audit)
    story = Story(run)
    for flow in sorted(set(ledger["flow"].tolist())):
        if story.is_known(flow):
            _missing(run, audit, story, flow, behind)


def _event(run: Run, audit: Audit, row: int, rows: list[int]) -> None:
    """One event agrees with the list of its losses."""
    ledger, losses = run.table("ledger"), run.table("ledger_losses")
    here = f"ledger[{row}]"
    bursts = [int(losses["burst"][loss]) for loss in rows]
    numbers = {burst for burst in bursts if burst != NONE}
    expected = {"lost_packets": len(rows), "lost_bursts": len(numbers)}
    first = rows[0] if rows else None
    for name, empty in (("burst", NONE), ("node", 0), ("port", 0), ("lost_ps", NONE)):
        expected[name] = empty if first is None else int(losses[name][first])
    for name, value in expected.items():
        audit.claim(ledger[name][row] == value, f"{here}.{name} = {ledger[name][row]}, not {value}")
    cause = "none" if first is None else losses["cause"][first]
    audit.claim(ledger["cause"][row] == cause, f"{here}.cause = {ledger['cause'][row]}")
    times = [int(losses["lost_ps"][loss]) for loss in rows]
    # Packets that leave a slot are processed as the slot begins, with the time of its end.
    slot = round(run.summary["ops"]["slot_s"] * 1e12) if "ops" in run.summary else 0
    late = (
        run.scenario["network"]["topology"] != "path"
        and max(times, default=0) > ledger["t_ps"][row] + slot
    )
    audit.claim(not late, f"{here}: a loss that is still to come")
    if ledger["kind"][row] != "timeout":
        audit.claim(ledger["truth"][row] == "none", f"{here}.truth = {ledger['truth'][row]}")
        return
    alone = bool(rows) and NONE not in bursts and losses["cause"][rows[0]] not in _ALONE
    truth = "spurious" if not rows else "false" if alone and len(numbers) == 1 else "true"
    audit.claim(
        ledger["truth"][row] == truth, f"{here}.truth = {ledger['truth'][row]}, not {truth}"
    )


def _windows(run: Run, audit: Audit) -> None:
    """The ledger and the table of windows tell of the same time-outs and fast retransmissions."""
    ledger, cwnd = run.table("ledger"), run.table("cwnd")
    pairs = (("timeout", ("timeout",)), ("fast-retransmit", ("fast-retransmit", "edge-retransmit")))
    for event, kinds in pairs:
        there = cwnd["event"] == event
        seen = set(zip(cwnd["t_ps"][there].tolist(), cwnd["flow"][there].tolist(), strict=True))
        mine = np.isin(ledger["kind"], kinds)
        shown = set(zip(ledger["t_ps"][mine].tolist(), ledger["flow"][mine].tolist(), strict=True))
        audit.claim(seen == shown, f"cwnd and ledger: {event} at {sorted(seen ^ shown)[:3]}")


def _at_link(packets: Columns, row: int) -> bool:
    """Whether the queue of a link dropped a packet in place of a mark.

    No packet's row says when the network dropped it.
    """
    between = packets["ingress_ps"][row] != NONE and packets["egress_ps"][row] == NONE
    return packets["cause"][row] == "not-ect" and not between


class Story:
    """The fate of each segment of each flow, in order of time."""

    def __init__(self, run: Run) -> None:
        packets, bursts = run.table("packets"), run.table("bursts")
        path = run.scenario["network"]["topology"] == "path"
        lost_at = {
            number: at
            for number, direction, at in zip(
                bursts["burst"].tolist(),
                bursts["direction"],
                bursts["lost_ps"].tolist(),
                strict=True,
            )
            if not (path and direction == "ack")
        }
        self._sent: dict[int, dict[int, list[tuple[int, int, int | None]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._unknown: set[int] = set()
        self._back: dict[int, list[int]] = defaultdict(list)
        ledger = run.table("ledger")
        for at, number, kind in zip(ledger["t_ps"], ledger["flow"], ledger["kind"], strict=True):
            if kind in ("timeout", "early-repair"):
                self._back[int(number)].append(int(at))
        data = np.flatnonzero(packets["kind"] == "data").tolist()
        for row in data:
            flow, cause = int(packets["flow"][row]), packets["cause"][row]
            lost: int | None = None
            if packets["fate"][row] == "lost":
                if cause == "burst-lost":
                    lost = lost_at.get(int(packets["burst"][row]))
                elif cause in ("access-overflow", "link-lost") or _at_link(packets, row):
                    out = int(packets["egress_ps"][row])
                    if out != NONE and "ops" in run.summary:
                        out -= round(run.summary["ops"]["slot_s"] * 1e12)
                    # From a cell a packet comes to the link after its time on the air.
                    before = None if run.scenario.get("wlan") else int(packets["sent_ps"][row])
                    lost = before if out == NONE else out
                elif cause == "scripted" and packets["ingress_ps"][row] != NONE:
                    lost = int(packets["ingress_ps"][row])
                if lost is None:
                    self._unknown.add(flow)
            there = int(packets["delivered_ps"][row])
            known = self._sent[flow][int(packets["seq"][row])]
            known.append((int(packets["sent_ps"][row]), there, lost))

    def is_known(self, flow: int) -> bool:
        """Whether it is known when each of its packets was lost."""
        return flow not in self._unknown

    def missing(self, flow: int, seq: int, at: int) -> bool:
        """Whether the last transmission before `at` is lost, and the segment is not there."""
        return self._is_missing([one for one in self._sent[flow][seq] if one[0] < at], at)

    @staticmethod
    def _is_missing(before: list[tuple[int, int, int | None]], at: int) -> bool:
        if not before or any(there != NONE and there <= at for _, there, _ in before):
            return False
        lost = before[-1][2]
        return lost is not None and lost <= at

    def waits_until(self, flow: int, at: int) -> int:
        """Return one past the last segment that the sender waits for.

        All that it sent, or since it went back to the first that is missing: at a time-out or an
        early repair all others are to go out again, and it waits for those that have.
        """
        back = max((then for then in self._back[flow] if then < at), default=0)
        known = self._sent[flow].items()
        return 1 + max(
            (seq for seq, sent in known if any(back <= one[0] < at for one in sent)), default=-1
        )

    def all_missing(self, flow: int, at: int) -> set[int]:
        """Return all segments that are missing at an instant."""
        return {seq for seq in self._sent[flow] if self.missing(flow, seq, at)}

    def repeated(self, flow: int) -> set[tuple[int, int]]:
        """Return when which segments went out again though they were not missing."""
        return {
            (sent, seq)
            for seq, known in self._sent[flow].items()
            for nth, (sent, _, _) in enumerate(known)
            if nth > 0 and not self._is_missing(known[:nth], sent)
        }


def _missing(run: Run, audit: Audit, story: Story, flow: int, behind: dict[int, list[int]]) -> None:
    """The losses behind each event of a flow are those of its segments that are missing then."""
    ledger, losses = run.table("ledger"), run.table("ledger_losses")
    rows = np.flatnonzero(ledger["flow"] == flow).tolist()
    shown = set()
    for row in rows:
        at = int(ledger["t_ps"][row])
        if ledger["kind"][row] == "spurious-retransmission":
            shown.add((at, int(ledger["seq"][row])))
            continue
        listed = {int(losses["seq"][loss]) for loss in behind[int(ledger["event"][row])]}
        missing = {seq for seq in story.all_missing(flow, at) if seq < story.waits_until(flow, at)}
        audit.claim(
            listed == missing,
            f"ledger[{row}], {ledger['kind'][row]}: {sorted(listed)}, missing {sorted(missing)}",
        )
    wrong = shown ^ story.repeated(flow)
    audit.claim(not wrong, f"ledger: spurious retransmissions of flow {flow}, {sorted(wrong)[:3]}")
