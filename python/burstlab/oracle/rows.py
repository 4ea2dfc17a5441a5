"""Rows of an event log: those of a trace file, and ours rebuilt from the recorded tables.

A row is ``(event, time in s, fields)``. Events: S a packet is sent, A an ACK has been processed,
R the round-trip estimator changed, T a time-out, F a fast retransmit, B a packet joins a burst,
D a packet is discarded, d an ACK is discarded. Where several flows share a queue: Q a packet
reaches it. Three events reveal ties and are not compared: C a source that is not TCP sends, K an
ACK reaches the queue of the reverse direction, L a packet leaves.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from burstlab.errors import InputError
from burstlab.results import Result

#: Order of the events of one instant.
ORDER = {event: index for index, event in enumerate("ARdTFSBQDCKL")}

#: Number of fields of each event.
WIDTH = {
    "S": 4,
    "A": 3,
    "R": 4,
    "T": 0,
    "F": 0,
    "B": 3,
    "D": 2,
    "d": 2,
    "Q": 2,
    "C": 1,
    "K": 1,
    "L": 1,
}

#: Fields that carry a congestion window: six significant digits, not an integer.
WINDOW_FIELDS = {"S": 2, "A": 1}

#: Rows that are not compared.
OF_TIES = frozenset("CKL")

_HEADER = ["ev", "t", "a", "b", "c", "d"]
_HEADER_OF_SEVERAL = ["ev", "t", "f", "a", "b", "c", "d"]


@dataclass(frozen=True, slots=True)
class Row:
    """One event of a log."""

    event: str
    t: float
    fields: tuple[float, ...]
    flow: int = 0

    def __str__(self) -> str:
        shown = ",".join(f"{value:.6g}" if value % 1 else f"{value:.0f}" for value in self.fields)
        flow = f" of flow {self.flow}" if self.flow else ""
        return f"{self.event},{self.t:.9f}" + (f",{shown}" if shown else "") + flow


def read_trace(path: Path, *, several: bool = False) -> list[Row]:
    """Read a gzip-compressed CSV trace; of `several` flows it has a column for the flow."""
    header = _HEADER_OF_SEVERAL if several else _HEADER
    rows: list[Row] = []
    line = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            for line, cells in enumerate(reader, start=1):
                if line == 1:
                    if cells != header:
                        raise InputError(
                            f"{path}: line 1: the header is {','.join(cells)[:60]!r}, "
                            f"not {','.join(header)!r}\n  fix: write these columns"
                        )
                elif cells:
                    rows.append(_parse_of_several(cells) if several else _parse(cells))
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file\n  fix: put the trace there, or leave its case out of index.json"
        ) from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path}: after line {line}: cannot be read ({error})\n"
            "  fix: give a gzip-compressed CSV file in UTF-8"
        ) from None
    except _BadRow as error:
        raise InputError(f"{path}: line {line}: {error}\n  fix: correct this line") from None
    if line == 0:
        raise InputError(f"{path}: line 1: the file is empty\n  fix: record the trace again")
    return rows


class _BadRow(Exception):
    pass


def _parse(cells: list[str]) -> Row:
    event = cells[0]
    if event not in WIDTH:
        raise _BadRow(f"unknown event {event!r}")
    wanted = 2 + WIDTH[event]
    values = cells[1:wanted]
    if len(values) != wanted - 1 or any(cells[wanted:]):
        raise _BadRow(f"an {event} row has {WIDTH[event]} fields after the time")
    try:
        numbers = [float(value) for value in values]
    except ValueError as error:
        raise _BadRow(str(error)) from None
    return Row(event, numbers[0], tuple(numbers[1:]))


def _parse_of_several(cells: list[str]) -> Row:
    if len(cells) < 3 or not cells[2].isdigit():
        raise _BadRow("the third column is not the number of a flow")
    row = _parse([*cells[:2], *cells[3:]])
    return Row(row.event, row.t, row.fields, int(cells[2]))


def rebuild(result: Result, tick_s: float, until_s: float, *, assembled: bool) -> list[Row]:
    """Rebuild the rows of a run that traced packets and cwnd.

    Parameters
    ----------
    result
        The run.
    tick_s
        Granularity of the sender's clock: the estimator is logged in ticks.
    until_s
        Rows up to this time are kept.
    assembled
        Whether data packets were assembled into bursts.
    """
    rows = _packet_rows(result, assembled) + _sender_rows(result, tick_s)
    return [row for row in rows if row.t <= until_s + 1e-12]


def _packet_rows(result: Result, assembled: bool) -> list[Row]:
    packets = result.packets
    kinds = packets.column("kind").to_pylist()
    names = ("seq", "transmission", "cwnd", "ssthresh", "burst", "fate")
    seq, nth, cwnd, ssthresh, burst, fate = (packets.column(name).to_pylist() for name in names)
    sent, ingress = (
        result.packets.seconds("sent_ps"),
        result.packets.seconds("ingress_ps"),
    )
    rows: list[Row] = []
    for i, kind in enumerate(kinds):
        if kind != "data":
            continue
        rows.append(Row("S", sent[i], (seq[i], nth[i], cwnd[i], ssthresh[i])))
        if np.isnan(ingress[i]):
            continue
        if assembled:
            rows.append(Row("B", ingress[i], (seq[i], nth[i], burst[i])))
        if fate[i] == "lost":
            rows.append(Row("D", ingress[i], (seq[i], nth[i])))
    acks = [i for i, kind in enumerate(kinds) if kind == "ack" and not np.isnan(ingress[i])]
    acks.sort(key=lambda i: ingress[i])
    for ordinal, i in enumerate(acks, start=1):
        if fate[i] == "lost":
            rows.append(Row("d", ingress[i], (seq[i], ordinal)))
    return rows


def rebuild_several(result: Result, tick_s: float, until_s: float, kind: str) -> list[Row]:
    """Rebuild the rows of a run with several flows that meet at a queue of this kind."""
    packets = result.packets
    names = ("flow", "kind", "seq", "transmission", "cwnd", "ssthresh", "burst", "fate")
    columns = zip(*(packets.column(name).to_pylist() for name in names), strict=True)
    times = {name: result.packets.seconds(f"{name}_ps") for name in ("sent", "ingress", "egress")}
    at_queue = {"assembly": "ingress", "access": "sent", "egress": "egress"}[kind]
    rows: list[Row] = []
    for i, (flow, what, seq, nth, cwnd, ssthresh, burst, fate) in enumerate(columns):
        there = times[at_queue][i]
        if what != "data":
            back = there if kind == "assembly" else times["sent"][i]
            if not np.isnan(back):
                rows.append(Row("K", back, (seq,), flow))
            continue
        rows.append(Row("S", times["sent"][i], (seq, nth, cwnd, ssthresh), flow))
        if np.isnan(there):
            continue
        if kind == "assembly":
            rows.append(Row("B", there, (seq, nth, burst), flow))
        elif kind == "egress":
            rows.append(Row("Q", there, (seq, nth), flow))
        if fate == "lost":
            rows.append(Row("D", there, (seq, nth), flow))
    rows += _sender_rows(result, tick_s)
    return [row for row in rows if row.t <= until_s + 1e-12]


def _sender_rows(result: Result, tick_s: float) -> list[Row]:
    table = result.cwnd
    t = table.seconds("t_ps")
    events, acks, flows = table["event"], table["ack"], table["flow"]
    cwnd, ssthresh = table["cwnd"], table["ssthresh"]
    tick_ps = tick_s * 1e12
    estimator = np.column_stack(
        [
            _ticks(table, "rtt_ps", tick_ps),
            _ticks(table, "srtt_ps", tick_ps / 8),
            _ticks(table, "rttvar_ps", tick_ps / 4),
            np.asarray(table["backoff"], dtype=float),
        ]
    )
    rows: list[Row] = []
    last: dict[int, Any] = {}
    for i, event in enumerate(events):
        flow = int(flows[i])
        if event == "timeout":
            rows.append(Row("T", t[i], (), flow))
        elif event == "fast-retransmit":
            rows.append(Row("F", t[i], (), flow))
        elif event == "ack":
            fields = (float(acks[i]), float(cwnd[i]), float(ssthresh[i]))
            rows.append(Row("A", t[i], fields, flow))
            state = tuple(float(value) for value in estimator[i])
            if state != last.get(flow):
                rows.append(Row("R", t[i], state, flow))
                last[flow] = state
    return rows


def _ticks(table: Any, name: str, unit_ps: float) -> np.ndarray:
    values = np.nan_to_num(table.seconds(name)) * 1e12
    return np.round(values / unit_ps, 6)
