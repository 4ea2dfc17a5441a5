"""Bottlenecks that prevent a goal: wavelengths, the header channel, or the ingress port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Pressure:
    """The effect of one part of a network on bursts.

    Attributes
    ----------
    part
        ``wavelengths``, ``converters``, ``header channel``, ``header processor``, ``ingress
        port`` or ``failures``.
    lost
        Share of all lost bursts that were lost to it, 0 to 1.
    load
        Its utilisation where it is largest. Of wavelengths: the share of time that they are
        reserved. Of converters: the share of time that the converters of the node are taken. Of a
        header channel: headers that come over those that it can send. Of the ingress port: the
        waiting time of a burst there, over its time from closing to landing. 0 elsewhere.
    where
        The place: a fibre, a node; empty where it has none.
    """

    part: str
    lost: float
    load: float
    where: str

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a dictionary for JSON."""
        return asdict(self)


def pressures(runs: Sequence[Mapping[str, Any]]) -> list[Pressure]:
    """Rank the parts of a network by their effect on bursts; the first is the bottleneck.

    Parameters
    ----------
    runs
        Summaries of replications of one scenario.

    Returns
    -------
    list
        By the share of lost bursts, where any are lost, else by load. A burst that finds no
        wavelength free where it sets out is lost to its ingress port, at any other node to the
        wavelengths; a late header is the header channel's or the processor's, whichever headers
        have waited for longer. Empty of a network without headers.
    """
    networks = [run["network"] for run in runs if run.get("network")]
    if not networks:
        return []
    alls = [network["all"] for network in networks]

    def causes(*names: str) -> int:
        return sum(
            cause["bursts"] for one in alls for cause in one["causes"] if cause["cause"] in names
        )

    lost = max(1, sum(one["bursts_lost"] for one in alls))
    contention = causes("contention", "cut", "blocked")
    ingress = sum(one["contention_at_ingress"] for one in alls)
    late = causes("late-header") / lost
    waits = {name: max(one[f"{name}_wait_s"] for one in alls) for name in ("control", "processor")}
    by_processor = waits["processor"] > waits["control"]
    delay = _delay([route for one in alls for route in one["routes"]])
    wait = max(one["port_wait_s"] for one in alls)
    links = [link for network in networks for link in network["links"]]
    # A fibre is named by where most bursts are lost, else by where it is fullest.
    worst = max(links, key=lambda link: (link["all"]["lost"], link["utilisation"]))
    fullest = max(links, key=lambda link: link["control_load"])
    nodes = [node for network in networks for node in network["nodes"]]
    busy = max(nodes, key=lambda node: node["processor_wait_s"])
    found = [
        Pressure(
            "wavelengths",
            (contention - ingress) / lost,
            max(link["utilisation"] for link in links),
            _fibre(worst),
        ),
        Pressure("ingress port", ingress / lost, wait / delay if delay > 0 else 0.0, ""),
        Pressure(
            "header channel",
            0.0 if by_processor else late,
            fullest["control_load"],
            _fibre(fullest),
        ),
        Pressure("header processor", late if by_processor else 0.0, 0.0, str(busy["name"])),
        Pressure("failures", causes("failure") / lost, 0.0, ""),
    ]
    if limited := [node for node in nodes if "converters" in node]:
        lacking = max(limited, key=lambda node: (node["all"]["no_converter"], _used(node)))
        share = causes("no-converter") / lost
        found.append(Pressure("converters", share, _used(lacking), str(lacking["name"])))
    return sorted(found, key=lambda one: (-one.lost, -one.load))


def _delay(routes: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean time of bursts that landed, from their closing on, in s."""
    landed = [route["bursts"] - route["lost"] for route in routes]
    times = (route["mean_delay_s"] * n for route, n in zip(routes, landed, strict=True) if n)
    return sum(times) / max(1, sum(landed))


def _used(node: Mapping[str, Any]) -> float:
    """Return the share of time that the converters of a node are taken."""
    return node["converters"]["utilisation"]


def _fibre(link: Mapping[str, Any]) -> str:
    return f"{link['from']} to {link['to']}"
