"""Counts and delays of flows as ns-3's flow monitor writes them, for the scripts that read these.

As there, each direction is a flow of its own, delays are from host to host, and times are in
nanoseconds. Histograms, probes and forwarding are left out: core nodes switch bursts and forward no
packet (``timesForwarded`` is 0). A flow between live hosts carries all their traffic, with any
protocols and ports. It has no element of the classifier, and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from burstlab.errors import InputError
from burstlab.export.datagrams import PORTS as DATAGRAM_PORTS
from burstlab.export.flows import Flows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.results import Result

_COLUMNS = ("replication", "flow", "kind", "size_bytes", "sent_ps", "delivered_ps", "fate", "cause")

#: Reasons of Ipv4L3Protocol and Ipv4FlowProbe: a queue was full, and any other.
_QUEUE, _OTHER = 3, 8

#: Protocols of IP.
_TCP, _UDP = "6", "17"

#: Addresses and ports as captures have them.
_SENDERS, _RECEIVERS, _PORTS = (10, 0), (10, 128), (40000, 61000)


@dataclass
class _Flow:
    """One direction of a flow."""

    first_tx: int = -1
    last_tx: int = -1
    first_rx: int = -1
    last_rx: int = -1
    delay_ps: int = 0
    jitter_ps: int = 0
    last_delay_ps: int = 0
    tx: list[int] = field(default_factory=lambda: [0, 0])
    rx: list[int] = field(default_factory=lambda: [0, 0])
    lost: dict[str, list[int]] = field(default_factory=dict)
    #: Instants of sending and of arrival, and sizes, of those that arrived, part by part.
    arrivals: list[NDArray[np.int64]] = field(default_factory=list)

    def attributes(self) -> dict[str, str]:
        """Return the content of the element ``Flow``."""
        return {
            "timeFirstTxPacket": _ns(self.first_tx),
            "timeFirstRxPacket": _ns(self.first_rx),
            "timeLastTxPacket": _ns(self.last_tx),
            "timeLastRxPacket": _ns(self.last_rx),
            "delaySum": _ns(self.delay_ps),
            "jitterSum": _ns(self.jitter_ps),
            "lastDelay": _ns(self.last_delay_ps),
            "txBytes": str(self.tx[1]),
            "rxBytes": str(self.rx[1]),
            "txPackets": str(self.tx[0]),
            "rxPackets": str(self.rx[0]),
            "lostPackets": str(sum(packets for packets, _ in self.lost.values())),
            "timesForwarded": "0",
        }


def write(
    result: Result, path: Path, at: str | None, flow: int | None, replication: int
) -> list[Path]:
    """Write the file.

    Parameters
    ----------
    result
        A run that traced ``packets``.
    path
        The file.
    at
        Must be None: a monitor covers all places.
    flow
        The only flow; by default all.
    replication
        Its number.
    """
    assert at is None, "only captures have a place"
    flows = Flows(result, replication)
    if flow is not None:
        _ = flows[flow]
    refused = [number for number in flows.live() if flow in (None, number)]
    if refused:
        raise InputError(
            f"flow {refused[0]} has all traffic between two live hosts, of several protocols "
            "and ports, but a flow monitor has one of each\n"
            "  fix: name another flow (--flow), or export pcapng or csv"
        )
    # smoltcp says TCP; the other stacks are QUIC.
    datagrams = {one for one in flows.third_party() if flows[one].quic}
    found: dict[tuple[int, bool], _Flow] = {}
    for number, back, rows in _parts(result, replication):
        if flow is None or number == flow:
            _add(found.setdefault((number, back), _Flow()), rows)
    for one in found.values():
        _received(one)
    if not found:
        raise InputError("no packet was recorded\n  fix: run it longer, or name another flow")
    path.write_bytes(_document(result, found, datagrams))
    return [path]


def _parts(result: Result, replication: int) -> Any:
    """Return packets flow by flow, in the order of sending, part by part of the table."""
    import numpy as np

    for batch in result.packets.batches(_COLUMNS):
        part = batch.where(replication=replication)
        kinds = part.column("kind").texts()
        numbers = part["flow"]
        for back, kind in ((False, "data"), (True, "ack")):
            for number in np.unique(numbers[kinds == kind]).tolist():
                yield number, back, part.take(np.flatnonzero((kinds == kind) & (numbers == number)))


def _add(flow: _Flow, rows: Any) -> None:
    import numpy as np

    size = rows["size_bytes"].astype(np.int64)
    sent = rows["sent_ps"].astype(np.int64)
    there = rows.column("delivered_ps").is_valid()
    arrived = rows.column("delivered_ps").filled(0).astype(np.int64)
    flow.tx = [flow.tx[0] + len(size), flow.tx[1] + int(size.sum())]
    flow.first_tx = flow.first_tx if flow.first_tx >= 0 else int(sent[0])
    flow.last_tx = int(sent[-1])
    for cause, bytes_ in zip(
        rows.column("cause").to_pylist(), np.where(_lost(rows), size, -1).tolist(), strict=True
    ):
        if bytes_ >= 0:
            packets, before = flow.lost.get(cause, [0, 0])
            flow.lost[cause] = [packets + 1, before + bytes_]
    if there.any():
        flow.arrivals.append(np.stack([sent, arrived, size])[:, there])


def _lost(rows: Any) -> NDArray[np.bool_]:

    return rows.column("fate").is_equal("lost")


def _received(flow: _Flow) -> None:
    """Take all packets that arrived: their delays are compared in the order of arrival."""
    import numpy as np

    if not flow.arrivals:
        return
    sent, arrived, size = np.concatenate(flow.arrivals, axis=1)
    order = np.argsort(arrived, kind="stable")
    delays = (arrived - sent)[order]
    flow.first_rx, flow.last_rx = int(arrived[order[0]]), int(arrived[order[-1]])
    flow.delay_ps, flow.last_delay_ps = int(delays.sum()), int(delays[-1])
    flow.jitter_ps = int(np.abs(np.diff(delays)).sum())
    flow.rx = [len(delays), int(size.sum())]


def _document(result: Result, found: dict[tuple[int, bool], _Flow], datagrams: set[int]) -> bytes:
    root = Xml.Element("FlowMonitor")
    about = f" burstlab {result.version}, seed {result.seed}, fingerprint {result.fingerprint} "
    root.append(Xml.Comment(about))
    stats = Xml.SubElement(root, "FlowStats")
    classifier = Xml.SubElement(root, "Ipv4FlowClassifier")
    Xml.SubElement(root, "FlowProbes")
    for index, ((number, back), flow) in enumerate(sorted(found.items()), start=1):
        one = Xml.SubElement(stats, "Flow", {"flowId": str(index), **flow.attributes()})
        reasons: dict[int, list[int]] = {}
        for cause, (packets, bytes_) in sorted(flow.lost.items()):
            reason = _QUEUE if cause.endswith("overflow") else _OTHER
            before = reasons.get(reason, [0, 0])
            reasons[reason] = [before[0] + packets, before[1] + bytes_]
        for reason, (packets, bytes_) in sorted(reasons.items()):
            code = {"reasonCode": str(reason)}
            Xml.SubElement(one, "packetsDropped", code | {"number": str(packets)})
            Xml.SubElement(one, "bytesDropped", code | {"bytes": str(bytes_)})
        ends = [_address(_SENDERS, number), _address(_RECEIVERS, number)]
        ports = list(DATAGRAM_PORTS if number in datagrams else _PORTS)
        if back:
            ends.reverse()
            ports.reverse()
        Xml.SubElement(
            classifier,
            "Flow",
            {
                "flowId": str(index),
                "sourceAddress": ends[0],
                "destinationAddress": ends[1],
                "protocol": _UDP if number in datagrams else _TCP,
                "sourcePort": str(ports[0]),
                "destinationPort": str(ports[1]),
            },
        )
    Xml.indent(root)
    return Xml.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _address(net: tuple[int, int], number: int) -> str:
    a, b = net
    return f"{a}.{b + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def _ns(time_ps: int) -> str:
    """Write a time as ns-3 does: with a sign and a unit; 0 where nothing happened."""
    whole, rest = divmod(max(time_ps, 0), 1000)
    return f"+{whole}.{rest:03}".rstrip("0").rstrip(".") + (".0ns" if not rest else "ns")
