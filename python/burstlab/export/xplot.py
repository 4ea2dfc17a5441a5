"""Time-sequence diagrams for xplot, in the colours of tcptrace.

Segments are white with an arrow at each end; one that was sent again has a red R, one that was lost
a red cross with its cause. ACKs are the green line, with a tick for a duplicate, the receiver's
window the yellow one, SACK blocks are purple. Packets of third-party hosts are numbered as they are
sent, since the bytes in them are theirs alone; a window is in them too, and none is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from burstlab.export.capture import DATA
from burstlab.export.flows import FlowFacts, Flows
from burstlab.export.heard import heard

if TYPE_CHECKING:
    from burstlab.results import Result


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write the diagram of a flow at its sender; the number of a byte is that of a capture."""
    number = flow or 0
    flows = Flows(result, replication)
    facts = flows[number]
    flows.check_windows((number,))
    with path.open("w", encoding="utf-8") as file:
        file.write("timeval double\ntitle\n")
        file.write(f"flow {number} ({facts.label}), seed {result.seed}\n")
        unit = "packet" if facts.stack else "sequence number (bytes)"
        file.write(f"xlabel\ntime (s)\nylabel\n{unit}\n")
        _draw(file, facts, result, number, replication)
        file.write("go\n")
    return [path]


def _draw(file: TextIO, facts: FlowFacts, result: Result, flow: int, replication: int) -> None:
    acked: tuple[str, int] | None = None
    window = facts.window_bytes
    shown = ("green",) if facts.stack else ("green", "yellow")
    time, end = "0", 1
    for sight in heard(result, flow, replication):
        time = seconds_text(sight.time_ps)
        if sight.kind == DATA:
            start, length = sight.seq, 1
            if not facts.stack:
                start = facts.bytes_before(sight.seq) + (sight.seq > 0)
                length = facts.data_in(sight)
            end = max(end, start + length)
            file.writelines(_segment(time, start, start + length))
            if sight.transmission > 1:
                file.write(f"red\natext {time} {start}\nR\n")
            if sight.fate == "lost":
                file.write(f"red\nx {time} {start}\nbtext {time} {start}\n{sight.cause}\n")
            continue
        # The last segment may be short.
        next_one = sight.seq + 1 if facts.stack else facts.bytes_before(sight.seq + 1) + 1
        now = min(next_one, end)
        wide = facts.window_after(sight, window)
        if acked is not None:
            before, last = acked
            was, levels = (last, last + window), (now, now + wide)
            for colour, level in zip(shown, was, strict=False):
                file.write(f"{colour}\nline {before} {level} {time} {level}\n")
            if now == last:
                file.write(f"green\ndtick {time} {now}\n")
            for colour, old, new in zip(shown, was, levels, strict=False):
                file.write(f"{colour}\nline {time} {old} {time} {new}\n")
        window = wide
        for left, right in sight.sack:
            ends = [facts.bytes_before(edge) + 1 for edge in (left, right)]
            file.write(f"purple\nline {time} {ends[0]} {time} {ends[1]}\n")
        acked = (time, now)


def _segment(time: str, start: int, end: int) -> Iterator[str]:
    yield f"white\nuarrow {time} {start}\n"
    yield f"darrow {time} {end}\nline {time} {start} {time} {end}\n"


def seconds_text(time_ps: int) -> str:
    """Write a time in seconds, to the nanosecond."""
    ns = time_ps // 1000
    return f"{ns // 10**9}.{ns % 10**9:09d}"
