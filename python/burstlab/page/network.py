"""The network as it is drawn: where nodes stand, which fibres there are, how long each is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlab import _core
from burstlab.documents.kind import kind
from burstlab.errors import InputError
from burstlab.measures.causes import TAKES
from burstlab.results import Result

#: NSFNET as papers draw it: node, how far east and how far south, in hundredths.
_NSFNET = {
    "1": (6, 30),
    "2": (10, 68),
    "3": (20, 88),
    "4": (26, 46),
    "5": (39, 52),
    "6": (49, 84),
    "7": (50, 50),
    "8": (60, 33),
    "9": (71, 49),
    "10": (70, 82),
    "11": (77, 14),
    "12": (85, 58),
    "13": (91, 74),
    "14": (93, 36),
}


@dataclass(frozen=True)
class Fibre:
    """A fibre, in one direction.

    Attributes
    ----------
    ends
        Its nodes, counted from 0.
    wavelengths
        Number of its data wavelengths.
    used
        Share of the time that they were reserved; none on a path.
    classes
        For each class of bursts, if there are several: its number, how many came to the fibre, and
        how many were lost there.
    """

    ends: tuple[int, int]
    wavelengths: int
    used: float | None
    classes: Sequence[tuple[int, int, int]] = ()


@dataclass(frozen=True)
class Network:
    """Nodes by number, with what is known of them without a trace.

    Attributes
    ----------
    nodes
        Their names.
    fibres
        Each in one direction.
    places
        Position of each node to the east and south, 0 to 1.
    delays_s
        Propagation delay of each fibre, if the scenario gives it; else NaN.
    path
        Whether it is a chain between two edge nodes.
    slot_s
        Length of a slot, if packets travel in slots; else 0.
    pairs
        With slots, first and last node of each flow.
    """

    nodes: Sequence[str]
    fibres: Sequence[Fibre]
    places: Sequence[tuple[float, float]]
    delays_s: Sequence[float]
    path: bool
    slot_s: float = 0.0
    pairs: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def classes(self) -> bool:
        """Whether bursts can have several classes."""
        return any(fibre.classes for fibre in self.fibres)

    @property
    def slots(self) -> bool:
        """Whether packets travel in slots."""
        return self.slot_s > 0.0

    @property
    def needs(self) -> tuple[str, ...]:
        """Tables without which there is nothing to draw."""
        if self.slots:
            return ("packets",)
        return ("bursts",) if self.path else ("bursts", "bursts_hops")

    def to_json(self, delays_s: Sequence[float]) -> dict[str, Any]:
        """Return what the page draws, with the delays that were measured.

        Parameters
        ----------
        delays_s
            Of each fibre.
        """
        return {
            "path": self.path,
            "slots": self.slots,
            "takes": TAKES,
            "nodes": [
                {"name": name, "x": round(x, 4), "y": round(y, 4)}
                for name, (x, y) in zip(self.nodes, self.places, strict=True)
            ],
            "fibres": [
                {
                    "from": fibre.ends[0],
                    "to": fibre.ends[1],
                    "delay_s": delay_s,
                    "wavelengths": fibre.wavelengths,
                    "used": fibre.used,
                    "classes": fibre.classes,
                }
                for fibre, delay_s in zip(self.fibres, delays_s, strict=True)
            ],
        }


def network(result: Result, replication: int, places: Mapping[str, tuple[float, float]]) -> Network:
    """Find out what to draw.

    Parameters
    ----------
    result
        A run.
    replication
        Which repetition of it, counted from 0.
    places
        Latitude and longitude of nodes by name; used if it has them all.
    """
    summary = result.replications[replication].summary.get("network")
    section = result.scenario["network"]
    if kind(result.scenario) == "path":
        return _path(section)
    if not summary:
        return _slotted(result, replication, places)
    names = [node["name"] for node in summary["nodes"]]
    number = {name: index for index, name in enumerate(names)}
    fibres = [
        Fibre(
            (number[link["from"]], number[link["to"]]),
            len(link["wavelengths"]),
            float(link["utilisation"]),
            [
                (one["class"], one["bursts"]["offered"], one["bursts"]["lost"])
                for one in link.get("classes", ())
            ],
        )
        for link in summary["links"]
    ]
    found = _places(str(section["topology"]), names, fibres, places)
    return Network(names, fibres, _fit(found), [math.nan] * len(fibres), False)


def _slotted(
    result: Result, replication: int, places: Mapping[str, tuple[float, float]]
) -> Network:
    """Return switches and their outputs; the delays of fibres as far as they are written down."""
    summary = result.replications[replication].summary
    if "ops" not in summary:
        raise InputError(
            "the result has no bursts or slots to draw\n  fix: give a result of a path or a mesh"
        )
    names = [switch["node"] for switch in summary["ops"]["switches"]]
    number = {name: index for index, name in enumerate(names)}
    fibres = [
        Fibre((number[port["from"]], number[port["to"]]), 1, float(port["utilisation"]))
        for port in summary["ops"]["ports"]
    ]
    section = result.scenario["network"]
    known = {
        frozenset((number[link["from"]], number[link["to"]])): _core.seconds(link["delay"])
        for link in section.get("link") or ()
        if "delay" in link and link["from"] in number and link["to"] in number
    }
    delays_s = [known.get(frozenset(fibre.ends), math.nan) for fibre in fibres]
    found = _places(str(section["topology"]), names, fibres, places)
    slot_s = float(summary["ops"]["slot_s"])
    pairs: dict[int, tuple[int, int]] = {}
    for flow in result.scenario.get("flows") or ():
        for _ in range(int(flow.get("count", 1))):
            ends = (flow.get("from"), flow.get("to"))
            if all(end in number for end in ends):
                pairs[len(pairs)] = (number[ends[0]], number[ends[1]])
    return Network(names, fibres, _fit(found), delays_s, False, slot_s, pairs)


def _path(section: Mapping[str, Any]) -> Network:
    cores = int(section["core_nodes"])
    delays = section.get("link_delays") or [section["link_delay"]] * (cores + 1)
    nodes = ["ingress", *(f"core {n}" for n in range(1, cores + 1)), "egress"]
    forth = [Fibre((n, n + 1), 1, None) for n in range(cores + 1)]
    back = [Fibre((n + 1, n), 1, None) for n in reversed(range(cores + 1))]
    seconds = [_core.seconds(delay) for delay in delays]
    step = 1 / (cores + 1)
    places = [(n * step, 0.5) for n in range(cores + 2)]
    return Network(nodes, [*forth, *back], places, [*seconds, *reversed(seconds)], True)


def _places(
    topology: str,
    names: Sequence[str],
    fibres: Sequence[Fibre],
    given: Mapping[str, tuple[float, float]],
) -> list[tuple[float, float]]:
    if all(name in given for name in names):
        # A degree of longitude is shorter the farther from the equator.
        middle = sum(given[name][0] for name in names) / len(names)
        narrow = math.cos(math.radians(middle))
        return [(given[name][1] * narrow, -given[name][0]) for name in names]
    if topology.startswith("nsfnet"):
        return [_NSFNET[name] for name in names]
    count = len(names)
    if topology == "ring":
        angles = [2 * math.pi * n / count - math.pi / 2 for n in range(count)]
        return [(math.cos(angle) * 1.4, math.sin(angle)) for angle in angles]
    if topology == "line":
        return [(float(n), 0.0) for n in range(count)]
    return _laid_out(count, fibres)


def _laid_out(count: int, fibres: Sequence[Fibre]) -> list[tuple[float, float]]:
    """Lay out a graph by its distances, which tangles small ones least.

    Stress majorisation (Gansner, Koren and North, Graph Drawing 2004) with weights of the distance
    to the power of -2, from a circle.
    """
    import networkx
    import numpy as np

    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(fibre.ends for fibre in fibres)
    far = np.full((count, count), float(count))
    for node, reached in networkx.all_pairs_shortest_path_length(graph):
        far[node, list(reached)] = list(reached.values())
    np.fill_diagonal(far, 1.0)
    weights = far**-2.0
    np.fill_diagonal(weights, 0.0)
    angles = 2.0 * np.pi * np.arange(count) / count
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1) * count / 4.0
    for _ in range(300):
        gaps = places[:, None] - places[None]
        lengths = np.maximum(np.sqrt((gaps**2).sum(axis=2)), 1e-9)
        pulled = (weights * far / lengths)[:, :, None] * gaps
        wanted = (weights[:, :, None] * places[None] + pulled).sum(axis=1)
        places = wanted / weights.sum(axis=1)[:, None]
    return [(float(x) * 1.4, float(y)) for x, y in places]


def _fit(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Move and scale to 0 to 1 in the wider direction, and about the middle in the other."""
    west, east = min(x for x, _ in points), max(x for x, _ in points)
    north, south = min(y for _, y in points), max(y for _, y in points)
    scale = max(east - west, south - north) or 1.0
    middle = (south + north) / 2
    return [((x - west) / scale, 0.5 + (y - middle) / scale) for x, y in points]
