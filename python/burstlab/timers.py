"""Where rates and timers of a scenario make packets reach an assembler as its timer ends.

A packet that comes at the instant at which a timer closes the burst is a tie. In Burstlab the
timer is first (`edge.timer`); another simulator, or a real clock, may have the packet first. Where
packets of one size follow one another on a busy link, and the timer is a whole number of them, each
burst that opens there ends in a tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from burstlab import _core
from burstlab.documents.quantities import whole

_PS = 10**12


@dataclass(frozen=True)
class TimerTie:
    """A timer that is a whole number of packets.

    Attributes
    ----------
    field
        The timer, by its place in the scenario.
    timer
        Its value.
    packets
        How many packets it is.
    size_bytes
        Their size.
    rate_bps
        The rate at which they come.
    source
        Where that rate is: ``access.rate``, ``access.receiver.rate`` or the one of a source.
    """

    field: str
    timer: str
    packets: int
    size_bytes: int
    rate_bps: int
    source: str

    def __str__(self) -> str:
        kind = "segments" if self.field.startswith("edge.ack") else "packets"
        return (
            f"{self.field} = {self.timer} is {self.packets} {kind} of {self.size_bytes} B at "
            f"{self.source} = {self.rate_bps:,} b/s"
        )

    def document(self) -> dict[str, Any]:
        """Return the timer for JSON."""
        return asdict(self)


def timer_ties(resolved: Mapping[str, Any]) -> list[TimerTie]:
    """Find the timers of assemblers that are whole numbers of packets.

    Parameters
    ----------
    resolved
        A scenario as `resolve` returns it.

    Returns
    -------
    list of TimerTie
        One for each timer, size of packets and rate; empty if no timer closes bursts.
    """
    edge, access = resolved.get("edge") or {}, resolved.get("access") or {}
    if "rate" not in access:
        return []
    segments = _segments(resolved)
    rate = whole(access["rate"])
    own = (access.get("receiver") or {}).get("rate")
    back = whole(own) if own is not None else rate
    sources = [("access.rate", rate, size) for size in segments]
    for number, source in enumerate(resolved.get("traffic") or ()):
        if source.get("pattern") == "cbr":
            name = f"traffic[{number}].rate"
            sources.append((name, whole(source["rate"]), whole(source["packet_size"])))
    name = "access.receiver.rate" if own is not None else "access.rate"
    # An ACK leaves as a segment has come, each or every second time.
    answers = [(name, back, size) for size in segments]
    found = [
        TimerTie(field, timer, packets, size, bps, source)
        for timers, arrivals in (
            (_timers("edge", edge), sources),
            (_timers("edge.ack", edge.get("ack") or {}), answers),
        )
        for field, timer in timers
        for source, bps, size in arrivals
        if (packets := _count(timer, bps, size))
    ]
    return list(dict.fromkeys(found))


def _segments(resolved: Mapping[str, Any]) -> list[int]:
    """Return the sizes of the full segments of all flows, each once."""
    shared = (resolved.get("tcp") or {}).get("segment_size")
    flows = [*(resolved.get("flows") or ()), *(resolved.get("demand") or ())]
    texts = [(flow.get("tcp") or {}).get("segment_size") or shared for flow in flows]
    return sorted({whole(text) for text in texts if text is not None})


def _timers(table: str, edge: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Go through the timers of a table, each with its place."""
    if edge.get("assembly") in ("timer", "hybrid"):
        yield f"{table}.timer", edge["timer"]
    elif edge.get("assembly") == "cwnd-classes":
        for number, timer in enumerate(edge["class_timers"]):
            yield f"{table}.class_timers[{number}]", timer


def _count(timer: str, bps: int, size: int) -> int:
    """How many packets a timer is; 0: no whole number of them."""
    if bps <= 0 or size <= 0:
        return 0
    packets, rest = divmod(round(_core.seconds(timer) * _PS) * bps, 8 * size * _PS)
    return packets if not rest else 0
