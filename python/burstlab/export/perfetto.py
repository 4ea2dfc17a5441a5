"""Traces for ui.perfetto.dev and chrome://tracing, in the JSON of the latter.

A fibre is a process and a wavelength a thread of it, with a slice for each burst; that a burst was
refused is an instant of the fibre. An edge node is a process whose tracks are its assembly queues;
a sender one with counters and with its time-outs as instants.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from burstlab.export.flows import Flows

if TYPE_CHECKING:
    from burstlab.results import Result
    from burstlab.tables import Table

_Row = dict[str, Any]


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write the trace; with `flow` its sender alone, besides the bursts."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit":"ns","otherData":')
        about = {"burstlab": result.version, "seed": result.seed, "replication": replication}
        file.write(json.dumps(about) + ',"traceEvents":[')
        _Trace(file, result, flow, replication).write()
        file.write("\n]}\n")
    return [path]


class _Trace:
    """The events of a trace, as they are written."""

    def __init__(self, file: TextIO, result: Result, flow: int | None, replication: int) -> None:
        self._file = file
        self._result = result
        self._only = flow
        self._replication = replication
        self._flows = Flows(result, replication)
        self._processes: dict[str, int] = {}
        self._first = True

    def write(self) -> None:
        """Write whatever the result holds."""
        _ = self._result.bursts  # says how to record them if there are none
        bursts = self._bursts()
        if self._flows.is_mesh and "bursts_hops" in self._result.recorded:
            self._hops(bursts)
        if "cwnd" in self._result.recorded:
            self._windows()
        if "ledger" in self._result.recorded:
            self._timeouts()

    def _rows(self, table: Table) -> Iterator[_Row]:
        for batch in table.batches():
            for row in batch.to_pylist():
                if row["replication"] == self._replication:
                    yield row

    def _bursts(self) -> dict[int, str]:
        """Write assembly, and the crossing of a path; return the arguments of a mesh's bursts."""
        arguments: dict[int, str] = {}
        for row in self._rows(self._result.bursts):
            args = _about(row)
            if self._flows.is_mesh:
                arguments[row["burst"]] = json.dumps(args)
            kind, number = row["direction"], row["burst"]
            if kind != "background":
                at = "edge" if not self._flows.is_mesh else f"edge {row['from']}"
                queue = f"{kind} to {row['to']}" if self._flows.is_mesh else kind
                self._async(f"assembly at {at}", queue, kind, row, args)
            if not self._flows.is_mesh:
                self._crossing(row, args)
            if row["fate"] == "lost":
                where = f"fibre of {kind}" if not self._flows.is_mesh else f"node {row['node']}"
                args = {**args, "burst": number}
                self._instant(where, f"lost: {row['cause']}", row["lost_ps"], args)
        return arguments

    def _crossing(self, row: _Row, args: _Row) -> None:
        """Write that a burst of a path leaves, for as long as its bits take."""
        if row["departed_ps"] is None:
            return
        length_ps = row["bytes"] * 8 * 10**12 // self._flows.link_bps
        pid = self._process(f"fibre of {row['direction']}")
        self._slice(pid, 1, row["burst"], row["departed_ps"], length_ps, json.dumps(args))

    def _hops(self, arguments: dict[int, str]) -> None:
        for row in self._rows(self._result.table("bursts_hops")):
            pid = self._process(f"fibre {row['from']} to {row['to']}")
            args = arguments.get(row["burst"], "{}")
            if row["wavelength"] is None:
                name = f"burst {row['burst']} refused"
                self._instant_of(pid, name, row["departed_ps"], args)
                continue
            length_ps = row["end_ps"] - row["departed_ps"]
            thread = row["wavelength"] + 1
            self._slice(pid, thread, row["burst"], row["departed_ps"], length_ps, args)

    def _windows(self) -> None:
        for row in self._rows(self._result.cwnd):
            if self._only is not None and row["flow"] != self._only:
                continue
            self._counter(row, "window", {name: row[name] for name in ("cwnd", "ssthresh")})
            self._counter(row, "in flight", {"segments": row["in_flight"]})
            if row["srtt_ps"]:
                times = {"srtt_ms": row["srtt_ps"], "rto_ms": row["rto_ps"]}
                known = {name: ps / 1e9 for name, ps in times.items() if ps is not None}
                self._counter(row, "time", known)

    def _counter(self, row: _Row, name: str, values: dict[str, float | None]) -> None:
        """Write the known values of a sender; nothing if there are none."""
        known = {
            key: value
            for key, value in values.items()
            if value is not None and math.isfinite(value)
        }
        if known:
            pid, ts = self._sender(row["flow"]), _microseconds(row["t_ps"])
            args = ",".join(f'"{key}":{value:.6g}' for key, value in known.items())
            self._raw(f'{{"ph":"C","pid":{pid},"ts":{ts},"name":"{name}","args":{{{args}}}}}')

    def _timeouts(self) -> None:
        names: dict[str, Callable[[_Row], str]] = {
            "timeout": lambda row: f"time-out ({row['truth']})",
            "fast-retransmit": lambda row: "fast retransmit",
            "early-repair": lambda row: "early repair",
        }
        for row in self._rows(self._result.ledger):
            if row["kind"] not in names or self._only not in (None, row["flow"]):
                continue
            args = {
                name: row[name]
                for name in ("truth", "verdict", "lost_packets", "lost_bursts", "burst", "cause")
            }
            pid = self._sender(row["flow"])
            self._instant_of(pid, names[row["kind"]](row), row["t_ps"], json.dumps(args))

    def _sender(self, flow: int) -> int:
        return self._process(f"sender {flow}")

    def _process(self, name: str) -> int:
        if name not in self._processes:
            self._processes[name] = len(self._processes) + 1
            pid, args = self._processes[name], json.dumps({"name": name})
            self._raw(f'{{"ph":"M","pid":{pid},"name":"process_name","args":{args}}}')
            if name.startswith("fibre"):
                self._threads(pid)
        return self._processes[name]

    def _threads(self, pid: int) -> None:
        count = self._result.scenario["network"].get("wavelengths") or 1
        for wavelength in range(int(count) if self._flows.is_mesh else 1):
            args = json.dumps({"name": f"wavelength {wavelength}"})
            thread = f'"pid":{pid},"tid":{wavelength + 1}'
            self._raw(f'{{"ph":"M",{thread},"name":"thread_name","args":{args}}}')

    def _slice(
        self, pid: int, thread: int, burst: int, from_ps: int, length_ps: int, args: str
    ) -> None:
        when = f'"ts":{_microseconds(from_ps)},"dur":{_microseconds(length_ps)}'
        where = f'"pid":{pid},"tid":{thread}'
        self._raw(f'{{"ph":"X",{where},{when},"name":"burst {burst}","args":{args}}}')

    def _async(self, process: str, queue: str, kind: str, row: _Row, args: _Row) -> None:
        pid, name = self._process(process), json.dumps(queue)
        same = f'"pid":{pid},"cat":"assembly","id":"{kind}{row["burst"]}","name":{name}'
        begins, ends = _microseconds(row["opened_ps"]), _microseconds(row["closed_ps"])
        args_text = json.dumps({**args, "burst": row["burst"]})
        self._raw(f'{{"ph":"b",{same},"ts":{begins},"args":{args_text}}}')
        self._raw(f'{{"ph":"e",{same},"ts":{ends}}}')

    def _instant(self, process: str, name: str, at_ps: int, args: _Row) -> None:
        self._instant_of(self._process(process), name, at_ps, json.dumps(args))

    def _instant_of(self, pid: int, name: str, at_ps: int, args: str) -> None:
        what = f'"name":{json.dumps(name)},"args":{args}'
        self._raw(f'{{"ph":"i","s":"p","pid":{pid},"tid":0,"ts":{_microseconds(at_ps)},{what}}}')

    def _raw(self, event: str) -> None:
        self._file.write("\n" if self._first else ",\n")
        self._first = False
        self._file.write(event)


def _about(row: _Row) -> _Row:
    about = {"kind": row["direction"], "packets": row["packets"], "bytes": row["bytes"]}
    if row["fate"] != "lost":
        return {**about, "fate": row["fate"]}
    lost = {"fate": "lost", "cause": row["cause"], "node": row["node"]}
    rival = {} if row["rival"] is None else {"rival": row["rival"]}
    return {**about, **lost, **rival}


def _microseconds(time_ps: int) -> str:
    """Write a time in microseconds, to the picosecond."""
    return f"{time_ps // 10**6}.{time_ps % 10**6:06d}"
