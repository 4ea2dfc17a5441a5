"""Logs of a sender in qlog 0.3 (JSON text sequences), as qvis reads them.

TCP numbers bytes, QUIC packets. Here every transmission has a packet number of its own, as qvis
does with TCP captures: an ACK acknowledges the last transmission of each segment that it newly
covers. A transmission is marked as lost when its segment is retransmitted, because TCP reports a
loss only then. The simulation's own facts are under ``burstlab``: the burst and its fate.

Third-party hosts number their packets themselves, and only they know the content. Their events have
sizes and times, the simulation's numbers under ``burstlab``, and windows in packets there.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.export.capture import DATA, Sight
from burstlab.export.flows import FlowFacts, Flows
from burstlab.export.heard import heard
from burstlab.tables import NULL

if TYPE_CHECKING:
    from burstlab.results import Result

_SEPARATOR = "\x1e"

_Event = tuple[int, int, str, dict[str, Any]]


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write the log of the sender of a flow."""
    number = flow or 0
    flows = Flows(result, replication)
    facts = flows[number]
    flows.check_windows((number,))
    head = {
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": f"burstlab {result.version}, seed {result.seed}, flow {number} ({facts.label})",
        "trace": {
            "vantage_point": {"name": f"sender of flow {number}", "type": "client"},
            "common_fields": {
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": ["UNKNOWN" if facts.stack else "TCP"],
                "group_id": str(number),
            },
        },
    }
    timeouts = _timeouts(result, number, replication)
    packets = _Sender(facts, timeouts).events(heard(result, number, replication))
    metrics = _metrics(result, facts, number, replication)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{_SEPARATOR}{json.dumps(head)}\n")
        for time_ps, _, name, data in heapq.merge(packets, metrics, key=lambda one: one[:2]):
            event = {"time": time_ps // 1000 / 1e6, "name": name, "data": data}
            file.write(f"{_SEPARATOR}{json.dumps(event)}\n")
    return [path]


class _Sender:
    """The packets that a sender sends, receives and takes for lost."""

    def __init__(self, facts: FlowFacts, timeouts: set[int]) -> None:
        self._facts = facts
        self._timeouts = timeouts
        self._window = facts.window_bytes
        self._sent = 0
        #: Bytes that were sent, but for those that were sent again.
        self._end = 0
        self._heard = 0
        #: Packet numbers of the segments that no ACK covers, by segment.
        self._open: dict[int, int] = {}
        self._low = 0

    def events(self, seen: Iterator[Sight]) -> Iterator[_Event]:
        """Return the events of the log, in order."""
        for sight in seen:
            if self._facts.stack:
                yield self._foreign(sight)
            elif sight.kind == DATA:
                yield from self._transmission(sight)
            else:
                yield self._ack(sight)

    def _transmission(self, sight: Sight) -> Iterator[_Event]:
        before = self._open.get(sight.seq)
        if before is not None and sight.transmission > 1:
            expired = sight.time_ps in self._timeouts
            data = {
                "header": {"packet_type": "1RTT", "packet_number": before},
                "trigger": "pto_expired" if expired else "reordering_threshold",
            }
            yield (sight.time_ps, 1, "recovery:packet_lost", data)
        self._open[sight.seq] = self._sent
        payload = self._facts.data_in(sight)
        offset = self._facts.bytes_before(sight.seq)
        self._end = max(self._end, offset + payload)
        frame = {"frame_type": "stream", "stream_id": 0, "offset": offset, "length": payload}
        data = {
            "header": {"packet_type": "1RTT", "packet_number": self._sent},
            "raw": {"length": sight.size, "payload_length": payload},
            "frames": [frame],
            "burstlab": {
                "segment": sight.seq,
                "transmission": sight.transmission,
                "burst": None if sight.burst == NULL else sight.burst,
                "fate": sight.fate,
                "cause": sight.cause,
            },
        }
        self._sent += 1
        yield (sight.time_ps, 2, "transport:packet_sent", data)

    @staticmethod
    def _foreign(sight: Sight) -> _Event:
        """Return that a third-party host sends or hears a packet."""
        sent = sight.kind == DATA
        acked = None if sight.seq < 0 else sight.seq
        about = {
            "burst": None if sight.burst == NULL else sight.burst,
            "fate": sight.fate,
            "cause": sight.cause,
        }
        data: dict[str, Any] = {
            "header": {"packet_type": "unknown"},
            "raw": {"length": sight.size},
            "burstlab": {"packet": sight.seq, **about} if sent else {"acknowledged": acked},
        }
        name = "transport:packet_sent" if sent else "transport:packet_received"
        return (sight.time_ps, 2 if sent else 0, name, data)

    def _ack(self, sight: Sight) -> _Event:
        covered = list(range(self._low, sight.seq + 1))
        self._low = max(self._low, sight.seq + 1)
        for left, right in sight.sack:
            covered += range(max(left, self._low), right)
        found = (self._open.pop(segment, None) for segment in covered)
        numbers = sorted(number for number in found if number is not None)
        self._window = self._facts.window_after(sight, self._window)
        # The last segment may be short.
        room = min(self._facts.bytes_before(sight.seq + 1), self._end) + self._window
        frames: list[dict[str, Any]] = [{"frame_type": "max_data", "maximum": room}]
        if numbers:
            frames.insert(0, {"frame_type": "ack", "acked_ranges": _ranges(numbers)})
        data = {
            "header": {"packet_type": "1RTT", "packet_number": self._heard},
            "raw": {"length": sight.size},
            "frames": frames,
            "burstlab": {"segment": sight.seq, "sack": [list(block) for block in sight.sack]},
        }
        self._heard += 1
        return (sight.time_ps, 0, "transport:packet_received", data)


def _ranges(numbers: list[int]) -> list[list[int]]:
    """Return first and last of each run of rising numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def _timeouts(result: Result, flow: int, replication: int) -> set[int]:
    if "ledger" not in result.recorded:
        return set()
    rows = result.ledger.where(replication=replication, flow=flow, kind="timeout")
    return set(rows["t_ps"].tolist())


def _metrics(result: Result, facts: FlowFacts, flow: int, replication: int) -> Iterator[_Event]:
    """Return the state of the sender after each event, and its time-outs."""
    if "cwnd" not in result.recorded:
        return
    names = ("t_ps", "event", "cwnd", "ssthresh", "in_flight", "rtt_ps", "srtt_ps", "rttvar_ps")
    columns = ["replication", "flow", *names, "backoff", "base_rtt_ps"]
    for batch in result.cwnd.batches(columns):
        for row in batch.to_pylist():
            if (row["replication"], row["flow"]) != (replication, flow):
                continue
            if row["event"] == "timeout":
                data: dict[str, Any] = {"event_type": "expired", "timer_type": "pto"}
                yield (row["t_ps"], 0, "recovery:loss_timer_updated", data)
            yield (row["t_ps"], 3, "recovery:metrics_updated", _state(row, facts))


def _state(row: dict[str, Any], facts: FlowFacts) -> dict[str, Any]:
    """Return the known part of a sender's state; the rest is left out."""
    state: dict[str, Any] = {}
    windows = {name: row[name] for name in ("cwnd", "ssthresh") if _is_known(row[name])}
    if facts.stack:
        # How many bytes of data its packets have is its own affair.
        state["burstlab"] = windows
    else:
        names = {"cwnd": "congestion_window", "ssthresh": "ssthresh"}
        state |= {names[name]: round(value * facts.payload) for name, value in windows.items()}
        state["bytes_in_flight"] = row["in_flight"] * facts.payload
    state["packets_in_flight"] = row["in_flight"]
    if row["backoff"] is not None:
        state["pto_count"] = max(row["backoff"] - 1, 0).bit_length()
    times = (
        ("latest_rtt", "rtt_ps"),
        ("smoothed_rtt", "srtt_ps"),
        ("rtt_variance", "rttvar_ps"),
        ("min_rtt", "base_rtt_ps"),
    )
    for name, column in times:
        # No round trip was measured before the first one.
        if row[column]:
            state[name] = row[column] // 1000 / 1e6
    return state


def _is_known(value: float | None) -> bool:
    """Whether a window was reported; a missing one is NaN."""
    return value is not None and math.isfinite(value)
