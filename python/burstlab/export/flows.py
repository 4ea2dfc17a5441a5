"""The facts about a flow that an export needs: its segments, its window, its ends."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from burstlab.documents.kind import kind
from burstlab.documents.parameters import tcp_of
from burstlab.documents.quantities import whole
from burstlab.errors import InputError
from burstlab.export.capture import DATA, sights
from burstlab.printable import shown
from burstlab.tables import NULL

if TYPE_CHECKING:
    from burstlab.export.capture import Sight
    from burstlab.results import Result

#: The stack of a flow between live hosts.
LIVE = "live"

#: Stacks of QUIC.
QUIC = ("quinn", "noq", "quiche")

#: Bytes of headers where the size of a SYN does not say (ns-2's Vegas sends it in full).
_HEADERS = 40

#: Binary digits by which a window is scaled at most (RFC 7323 section 2.3).
_SCALE_MOST = 14

#: Bytes of the first SACK block of Linux besides itself.
_SACK_OPTION = 4


@dataclass(frozen=True)
class FlowFacts:
    """A flow, or one connection of a demand.

    Attributes
    ----------
    label
        Its variant, or the label it was given.
    payload, headers
        Bytes of data in a full segment, and of headers in any.
    window
        The receiver's window in segments.
    sack
        Whether its ACKs carry SACK blocks.
    block, blocks
        Bytes of a SACK block on a segment of data, and what the first one needs besides.
    total
        Bytes of data in all, where that is known and they are offered at once; else 0.
    groups
        Whether any segment may be short, not the last alone: with groups, and where the sender of
        Linux sent what was written to its byte.
    short
        Then all short segments that were sent, rising, each with what it and those before it lack
        together, in bytes.
    scale
        Binary digits by which the receiver scales its window, where it decides on one, as that of
        Linux does (RFC 7323 section 2); else none.
    first_window
        Bytes of the window that such a receiver advertises first.
    ingress, egress
        Names of its edge nodes.
    stack
        Whether its hosts are third-party.
    live
        Whether they are live: a kernel of Linux, and programs.
    quic
        Whether they say QUIC, over UDP.
    two_way
        Whether its connection has data in both directions.
    """

    label: str
    payload: int
    headers: int
    window: int
    sack: bool
    ingress: str
    egress: str
    stack: bool = False
    live: bool = False
    quic: bool = False
    two_way: bool = False
    block: int = 0
    blocks: int = 0
    total: int = 0
    groups: bool = False
    scale: int | None = None
    first_window: int = 0
    short: Sequence[tuple[int, int]] = ()

    @property
    def window_bytes(self) -> int:
        """The receiver's window in bytes of data; where it decides on it, the first one.

        0 of third-party hosts, whose packets alone have it.
        """
        return self.window * self.payload if self.scale is None else self.first_window

    def window_after(self, sight: Sight, before: int) -> int:
        """Return the window in bytes that holds once an ACK is heard; `before` is that until then.

        The table of packets has it where the receiver decides on one.
        """
        return before if sight.window == NULL else sight.window

    def block_bytes(self, count: int) -> int:
        """Bytes by which so many SACK blocks make a segment of data longer."""
        return self.blocks + self.block * count if count else 0

    def data_in(self, sight: Sight) -> int:
        """Bytes of data in a data packet of the flow, without SACK blocks that go with them."""
        if sight.seq == 0:
            return 0
        blocks = self.block_bytes(len(sight.sack)) if sight.carries != NULL else 0
        return max(sight.size - self.headers - blocks, 0)

    @property
    def last(self) -> tuple[int, int]:
        """The last segment if it is known to be short, and by how many bytes; else -1 and 0."""
        rest = 0 if self.groups else self.total % self.payload
        return (-(-self.total // self.payload), self.payload - rest) if rest else (-1, 0)

    def bytes_before(self, segment: int) -> int:
        """Bytes of data before a segment; the first segment of data is 1."""
        count = bisect_left(self.short, (segment,))
        lacking = self.short[count - 1][1] if count else 0
        return max(segment - 1, 0) * self.payload - lacking


class Flows:
    """The flows of one replication of a result, by number.

    Parameters
    ----------
    result, replication
        Where they were.
    """

    def __init__(self, result: Result, replication: int) -> None:
        self._scenario = result.scenario
        self._result = result
        self._replication = replication
        #: The highest segment that each flow sent, in the rows that were read.
        self._highest: Counter[int] = Counter()
        self.is_mesh = kind(result.scenario) != "path"
        self._static: list[FlowFacts] = []
        for flow in result.scenario.get("flows", []):
            ends = self._ends_of(flow)
            tcp, stack = tcp_of(result.scenario, flow), flow.get("stack")
            label = flow.get("label") or stack
            # The headers of a stack are its own, and so is its window.
            known = _facts(_OF_A_STACK if stack is not None else tcp, ends, label)
            known = replace(known, live=stack == LIVE, quic=stack in QUIC)
            connection = [known]
            if (reverse := flow.get("reverse")) is not None:
                name = reverse.get("label") or f"{known.label} (back)"
                back = _facts(_OF_A_STACK if known.stack else tcp, (ends[1], ends[0]), name)
                back = replace(back, quic=known.quic)
                both = ((known, flow), (back, reverse))
                if known.stack:
                    connection = [replace(facts, two_way=True) for facts, _ in both]
                else:
                    connection = [_of_duplex(facts, tcp, entry) for facts, entry in both]
            self._static += connection * int(flow["count"])
        access = result.scenario["access"]
        far = access.get("receiver") or {}
        self.sender_bps = whole(access["rate"])
        self.receiver_bps = whole(far.get("rate") or access["rate"])
        self.link_bps = whole(result.scenario["network"]["link_rate"])

    @property
    def count(self) -> int:
        """How many there are, connections of demands included."""
        return len(self._static) + len(self._connections)

    def numbers(self) -> list[int]:
        """Return the numbers of all."""
        return [*range(len(self._static)), *sorted(self._connections)]

    def third_party(self) -> set[int]:
        """Return the flows whose hosts are third-party."""
        return {number for number, one in enumerate(self._static) if one.stack}

    def live(self) -> list[int]:
        """Return the flows between live hosts."""
        return [number for number, one in enumerate(self._static) if one.live]

    def pairs(self) -> set[int]:
        """Return the flows that open connections with data in both directions.

        The flow back of each comes next.
        """
        both = [number for number, one in enumerate(self._static) if one.two_way]
        return set(both[::2])

    def connection(self, number: int) -> tuple[int, ...]:
        """Return the flows of the connection that a flow is of, the one that opens it first."""
        pairs = self.pairs()
        if number in pairs:
            return number, number + 1
        return (number - 1, number) if number - 1 in pairs else (number,)

    def others(self, number: int) -> list[int]:
        """Return the flow of the other direction of a connection; none where it has one alone."""
        return [one for one in self.connection(number) if one != number]

    def __getitem__(self, number: int) -> FlowFacts:
        known = self._before_the_run(number)
        # A result of an earlier version has no windows, and is refused where they are needed.
        has_windows = known.groups or "window_bytes" in self._result.packets.columns
        looked_at = has_windows and (known.groups or known.scale is not None)
        short = self._short.get(number, ()) if looked_at else ()
        if known.groups or len(short) > 1 or (short and short[0][0] < self._highest[number]):
            return replace(known, groups=True, short=short)
        return known

    def check_windows(self, numbers: Iterable[int]) -> None:
        """Refuse a result that does not tell the windows that receivers of flows decided on."""
        if "window_bytes" in self._result.packets.columns:
            return
        for number in numbers:
            if self._before_the_run(number).scale is not None:
                raise InputError(
                    f"the table packets lacks the advertised windows that flow {number} "
                    "got: an older version of burstlab wrote it\n  fix: run it again"
                )

    @cached_property
    def _short(self) -> dict[int, list[tuple[int, int]]]:
        """Segments that are short, of all flows that may have some besides the last."""
        found: dict[int, list[tuple[int, int]]] = {}
        every = {number: self._before_the_run(number) for number in self.numbers()}
        groups = [n for n, one in every.items() if one.groups or one.scale is not None]
        # All packets of both directions pass the sender of each flow.
        for sight in sights(self._result, "sender", flow=groups, replication=self._replication):
            if sight.kind != DATA or sight.seq == 0 or sight.transmission > 1:
                continue
            self._highest[sight.flow] = max(self._highest[sight.flow], sight.seq)
            facts = self._before_the_run(sight.flow)
            if (lacks := facts.payload - facts.data_in(sight)) > 0:
                short = found.setdefault(sight.flow, [])
                short.append((sight.seq, lacks + (short[-1][1] if short else 0)))
        return found

    def _before_the_run(self, number: int) -> FlowFacts:
        """Return the facts about a flow in the scenario."""
        if 0 <= number < len(self._static):
            return self._static[number]
        found = self._connections.get(number)
        if found is None:
            known = f"0 to {self.count - 1}" if self.count else "there is none"
            raise InputError(f"--flow {number}: there is no such flow\n  fix: {known}")
        demand, ingress, egress = found
        tcp = tcp_of(self._scenario, self._scenario["demand"][demand])
        return _facts(tcp, (f"edge-{ingress}", f"edge-{egress}"), None)

    @cached_property
    def _connections(self) -> dict[int, tuple[int, str, str]]:
        if not self._scenario.get("demand"):
            return {}
        table = self._result.connections.where(replication=self._replication)
        columns = (table.column(name).to_pylist() for name in ("id", "demand", "from", "to"))
        return {number: tuple(others) for number, *others in zip(*columns, strict=True)}

    def _ends_of(self, flow: Mapping[str, Any]) -> tuple[str, str]:
        if not self.is_mesh:
            return "ingress", "egress"
        return f"edge-{flow.get('from', 'first')}", f"edge-{flow.get('to', 'last')}"


#: Of packets of a stack nothing is known but how large one may be.
_OF_A_STACK: Mapping[str, Any] = {
    "segment_size": "1500 B",
    "syn_size": "1500 B",
    "variant": "stack",
    "window": 0,
}


def _of_duplex(facts: FlowFacts, tcp: Mapping[str, Any], reverse: Mapping[str, Any]) -> FlowFacts:
    """Return the further facts about a direction of a connection with data in both."""
    total = whole(reverse["bytes"]) if reverse.get("bytes") else 0
    block, linux = whole(tcp["sack_block_size"]), tcp["variant"] == "linux"
    extra = _SACK_OPTION if linux else 0
    return replace(facts, two_way=True, block=block, blocks=extra, total=total)


def _facts(tcp: Mapping[str, Any], ends: tuple[str, str], label: str | None) -> FlowFacts:
    segment, syn = whole(tcp["segment_size"]), whole(tcp["syn_size"])
    headers = syn if syn != segment else _HEADERS
    sack = tcp["variant"] == "sack" or tcp.get("sack") is True
    # It becomes a name in files of lines, and a title in figures.
    name = shown(label or str(tcp["variant"]))
    window = int(tcp["window"])
    scale, first = _of_linux(tcp, segment - headers) if tcp["variant"] == "linux" else (None, 0)
    return FlowFacts(
        name,
        segment - headers,
        headers,
        window,
        sack,
        *ends,
        stack=tcp is _OF_A_STACK,
        groups=bool(tcp.get("grouping")),
        scale=scale,
        first_window=first,
    )


def _of_linux(tcp: Mapping[str, Any], payload: int) -> tuple[int, int]:
    """Return the scale of a receiver of Linux, and its first window (`tcp_select_initial_window`).

    Of what the buffer may become, or the application lets it, 65,535 bytes need no scale. Half of
    the buffer is offered at first, in whole segments.
    """
    buffer, most = (whole(tcp[name]) for name in ("receive_buffer", "receive_buffer_max"))
    widest = max(buffer, most)
    bounds = [buffer // 2, int(tcp["window"]) * payload]
    if tcp.get("window_clamp"):
        clamp = whole(tcp["window_clamp"])
        widest = min(widest, clamp)
        bounds.append(clamp)
    scale = 0
    while tcp.get("window_scaling", True) and scale < _SCALE_MOST and widest > 0xFFFF << scale:
        scale += 1
    first = min(bounds)
    return scale, first - first % payload if first > payload else first
