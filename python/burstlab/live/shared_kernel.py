"""The kernel compared with the model: connections of a live run, and our senders in their place."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab.documents.sysctls import LAWS, fields_of
from burstlab.errors import ScenarioError
from burstlab.live.running import live
from burstlab.live.times import FOLDER
from burstlab.loading import Document
from burstlab.simulation import resolve
from burstlab.simulation import run as simulate
from burstlab.storage.parquet import read_table

#: The congestion control that a kernel uses by default.
USUAL = "cubic"


@dataclass(frozen=True)
class Transfer:
    """A connection of a live run that carried data from the first host of a pair to the second.

    Attributes
    ----------
    near, far
        Addresses of the two.
    start_s
        When its SYN left.
    sent_bytes, acked_bytes
        Data that were sent, each byte once, and acknowledged.
    ended_s
        When the last ACK of data came.
    retransmissions
        Segments sent again, as the kernel counts.
    timeouts
        Retransmission time-outs.
    """

    near: str
    far: str
    start_s: float
    sent_bytes: int
    acked_bytes: int
    ended_s: float
    retransmissions: int
    timeouts: int


def transfers(directory: Path, resolved: Mapping[str, Any]) -> list[Transfer]:
    """Read the connections of the result of a live run, in the order of their start.

    Parameters
    ----------
    directory
        Of the result.
    resolved
        Its scenario, with every default.
    """
    pairs = {tuple(str(flow["label"]).split(" - ")) for flow in resolved["flows"]}
    frame: Any = read_table(directory / FOLDER / "connections.parquet").to_pandas()
    found: list[Transfer] = []
    for key, rows in frame.groupby(["host", "port", "other", "other_port"], sort=False):
        near, far = (str(key[0]), str(key[2])) if isinstance(key, tuple) else ("", "")
        sent, acks = rows[rows["event"] == "sent"], rows[rows["event"] == "ack"]
        if (near, far) not in pairs or not (sent["bytes"] > 0).any() or acks.empty:
            continue
        most = int((sent["seq"] + sent["bytes"]).max()) - 1
        acked = min(int(acks["seq"].max()) - 1, most)
        last = acks[acks["seq"] - 1 >= acked]["t_ns"].min()
        rises = sent["timeouts"].diff().fillna(sent["timeouts"]) > 0
        found.append(
            Transfer(
                near,
                far,
                float(rows["t_ns"].min()) / 1e9,
                most,
                acked,
                float(last) / 1e9,
                int(rows["total_retransmissions"].max()),
                int(rises.sum()),
            )
        )
    return sorted(found, key=lambda one: one.start_s)


def counterpart(document: Document, carried: Sequence[Transfer]) -> Document:
    """Write the scenario in which our sender of the same name carries what live hosts carried.

    Parameters
    ----------
    document
        The scenario of the live hosts.
    carried
        Its connections. One that was not all acknowledged goes on to the end of the run.

    Raises
    ------
    ScenarioError
        If a host has a congestion control or a setting that we have not.
    """
    resolved = resolve(document)
    hosts = {host["address"]: number for number, host in enumerate(resolved["live"])}
    places = {str(flow.get("label")): flow for flow in resolved["flows"]}
    others = [flow for flow in document.get("flows", ()) if flow.get("stack") != "live"]
    flows: list[Document] = []
    for one in carried:
        place = places[f"{one.near} - {one.far}"]
        number = hosts[one.near]
        flow: Document = {
            "label": f"{one.near} - {one.far}",
            "start": f"{round(one.start_s * 1e12)} ps",
            "tcp": sender_of(resolved["live"][number], f"live[{number}]"),
        }
        flow |= {name: place[name] for name in ("from", "to") if place.get(name) is not None}
        if one.acked_bytes == one.sent_bytes:
            flow["bytes"] = f"{one.sent_bytes} B"
        flows.append(flow)
    rest = {name: value for name, value in document.items() if name not in ("live", "flows")}
    return {**rest, "flows": [*others, *flows]}


def sender_of(host: Mapping[str, Any], at: str) -> Document:
    """Write the fields of ``[tcp]`` of a live host."""
    name = host.get("congestion_control") or USUAL
    if name not in LAWS:
        fix = f"write one of {', '.join(LAWS)}"
        raise ScenarioError(f"{at}.congestion_control", name, "we have no such sender", fix)
    tcp: Document = {
        "profile": "linux",
        "window_law": LAWS[name],
        "ecn": name == "dctcp",
        "window": 100_000,
        "segment_size": host["mtu"],
        "grouping": bool(host.get("grouping", True)),
    }
    for setting in host.get("sysctls", ()):
        field, _, value = str(setting).removeprefix("net.ipv4.").partition("=")
        sizes = value.split()
        fields = fields_of(field, value)
        if fields is not None:
            tcp.update(fields)
        elif field == "tcp_ecn":
            tcp["ecn"] = tcp["ecn"] or value.strip() == "1"
        elif field == "tcp_rmem" and len(sizes) == 3:
            tcp["receive_buffer"], tcp["receive_buffer_max"] = (f"{n} B" for n in sizes[1:])
        elif field == "tcp_wmem" and len(sizes) == 3:
            tcp["send_buffer"] = f"{sizes[1]} B"
        elif field != "tcp_no_metrics_save":
            fix = "leave it out"
            raise ScenarioError(f"{at}.sysctls", setting, "our sender has no such setting", fix)
    return tcp


#: Reasons for reductions of a window, as in `flows[].reductions` of a summary.
CAUSES = ("one_burst", "several_bursts", "congestion", "reordering", "outside")

#: The measures that are compared.
MEASURES = (
    "completed_s",
    "goodput_bps",
    "retransmissions",
    "timeouts",
    *(f"reductions_{cause}" for cause in CAUSES),
)


@dataclass(frozen=True)
class KernelComparison:
    """Connections of the kernel compared with our senders, over seeds.

    Attributes
    ----------
    seeds
        Of the network.
    kernel, ours
        By measure, one value per seed, over all connections. ``completed_s`` is the time from the
        first SYN to the last ACK of data, and ``goodput_bps`` the data acknowledged by that time.
        ``retransmissions`` and ``timeouts`` are counts. So are the reductions of the window by
        cause: ``reductions_one_burst``, ``reductions_several_bursts``, ``reductions_congestion``,
        ``reductions_reordering`` and ``reductions_outside``, as in ``flows[].reductions``.
    """

    seeds: tuple[int, ...]
    kernel: Mapping[str, list[float]]
    ours: Mapping[str, list[float]]


def compare_senders(
    document: Document,
    *,
    seeds: Sequence[int],
    progress: Callable[[float], None] | None = None,
    **how: Any,
) -> KernelComparison:
    """Run live hosts, and our senders in their place, under each of some seeds.

    Parameters
    ----------
    document
        The scenario.
    seeds
        Of the network; the same for both.
    progress
        Called with the share done.
    how
        As `burstlab.live.live` takes it: ``clock``, ``kernel``, ``allow_code``, ``patience_s``.
    """
    kernel: list[dict[str, float]] = []
    ours: list[dict[str, float]] = []
    for number, seed in enumerate(seeds):

        def share(done: float, number: int = number) -> None:
            if progress is not None:
                progress((number + done) / len(seeds))

        with tempfile.TemporaryDirectory(prefix="burstlab-live-") as room:
            done = live(document, seed=seed, out=room, force=True, progress=share, **how)
            resolved = done.result.scenario
            carried = transfers(Path(room), resolved)
        if not carried:
            problem = "no data went from the first host of a pair to the second"
            raise ScenarioError("live", "", problem, "let hosts at the ingress send")
        pairs = {f"{one.near} - {one.far}" for one in carried}
        live_flows = done.result.replications[0].summary["flows"]
        kernel.append(_of_kernel(carried) | _reductions(live_flows, pairs))
        result = simulate(counterpart(document, carried), seed=seed, jobs=1)
        flows = result.replications[0].summary["flows"][-len(carried) :]
        seconds = float(result.summary["simulated_s"])
        ours.append(_of_ours(flows, carried, seconds) | _reductions(flows, pairs))
    return KernelComparison(
        tuple(seeds),
        {name: [one[name] for one in kernel] for name in MEASURES},
        {name: [one[name] for one in ours] for name in MEASURES},
    )


def _reductions(flows: Sequence[Mapping[str, Any]], pairs: set[str]) -> dict[str, float]:
    """Sum the reductions of the windows of flows with these labels."""
    counted = [flow["reductions"] for flow in flows if flow["label"] in pairs]
    return {f"reductions_{cause}": sum(one[cause] for one in counted) for cause in CAUSES}


def _of_kernel(carried: Sequence[Transfer]) -> dict[str, float]:
    first = min(one.start_s for one in carried)
    seconds = max(one.ended_s for one in carried) - first
    return {
        "completed_s": seconds,
        "goodput_bps": 8 * sum(one.acked_bytes for one in carried) / seconds,
        "retransmissions": sum(one.retransmissions for one in carried),
        "timeouts": sum(one.timeouts for one in carried),
    }


def _of_ours(
    flows: Sequence[Mapping[str, Any]], carried: Sequence[Transfer], simulated_s: float
) -> dict[str, float]:
    first = min(one.start_s for one in carried)
    ends = [
        one.start_s + flow["acknowledged_after_s"]
        if flow["acknowledged_after_s"] is not None
        else simulated_s
        for flow, one in zip(flows, carried, strict=True)
    ]
    seconds = max(ends) - first
    return {
        "completed_s": seconds,
        "goodput_bps": 8 * sum(flow["bytes_in_order"] for flow in flows) / seconds,
        "retransmissions": sum(flow["retransmissions"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
    }
