"""Scenario and run of the engine, as the slow twin takes them, and its verdict on the run."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import burstlab as bl
from slow_twin.burst import Burst
from slow_twin.network import Network
from slow_twin.rules import Rules, time
from slow_twin.simulator import Arrival, Twin

Row = dict[str, Any]


def network(scenario: dict[str, Any]) -> Network:
    """Read a custom network whose fibres have delays."""
    table = scenario["network"]
    place = {node["name"]: number for number, node in enumerate(table["node"], 1)}
    switches = {place[node["name"]]: node.get("role") != "edge" for node in table["node"]}
    fibres: dict[tuple[int, int], tuple[int, int]] = {}
    for link in table["link"]:
        start, end = place[link["from"]], place[link["to"]]
        fibre = time(link["delay"]), link.get("wavelengths", table.get("wavelengths", 1))
        fibres[start, end] = fibre
        if not link.get("one_way"):
            fibres[end, start] = fibre
    hosts = [place[node["name"]] for node in table["node"] if node.get("role") != "core"]
    seed = scenario["run"]["seed"]
    return Network(switches, fibres, table.get("routing") == "hops", hosts=hosts, seed=seed)


def arrivals(scenario: dict[str, Any], rows: list[Row]) -> list[Arrival]:
    """Return what the sources made; the class of a burst is that of its pair of nodes."""
    place = {node["name"]: number for number, node in enumerate(scenario["network"]["node"], 1)}
    sources = scenario.get("bursts", []) + scenario.get("traffic", [])
    group = {(place[one["from"]], place[one["to"]]): one.get("class", 0) for one in sources}
    assert len(group) == len(sources), "a pair has one source"
    return [
        Arrival(
            number=row["burst"],
            start=row["from"],
            egress=row["to"],
            group=group[row["from"], row["to"]],
            size=row["bytes"],
            packets=row["packets"],
            closed=row["closed_ps"],
        )
        for row in sorted(rows, key=lambda row: row["burst"])
    ]


def of_engine(row: Row) -> Row:
    names = {"departed": "departed_ps", "arrived": "arrived_ps", "lost": "lost_ps"}
    same = ("fate", "cause", "node", "attempts")
    return {name: row[name] for name in same} | {mine: row[its] for mine, its in names.items()}


def of_twin(burst: Burst) -> Row:
    names = ("fate", "cause", "node", "attempts", "departed", "arrived", "lost")
    return {name: getattr(burst, name) for name in names}


def fibres_of_engine(rows: list[Row]) -> dict[int, Counter[tuple[Any, ...]]]:
    """Return each fibre of each burst: place, ends, wavelength, beginning, first and last bit."""
    found: dict[int, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    names = ("hop", "from", "to", "wavelength", "reserved_ps", "departed_ps", "end_ps")
    for row in rows:
        found[row["burst"]][tuple(row[name] for name in names)] += 1
    return found


def fibres_of_twin(burst: Burst) -> Counter[tuple[Any, ...]]:
    return Counter(
        (
            place,
            *taken.fibre,
            taken.wavelength,
            taken.interval.start if taken.interval else None,
            taken.departs,
            taken.end,
        )
        for place, taken in burst.hops()
    )


def judge(scenario: dict[str, Any], **choices: Any) -> tuple[Counter[str], list[str]]:
    """Run a scenario; return what happened in it, and where the two disagree."""
    with_packets = bool(scenario.get("traffic"))
    tables = ["bursts", "packets"] if with_packets else ["bursts"]
    result = bl.run(scenario, trace=tables)
    rows = result.table("bursts").to_pylist()
    rules = replace(Rules.of(scenario), **choices)
    twin = Twin(network(scenario), rules, arrivals(scenario, rows))
    bursts = twin.run()
    found: list[str] = []
    end = time(scenario["run"]["duration"])
    hops = fibres_of_engine(result.table("bursts_hops").to_pylist())
    for row in sorted(rows, key=lambda row: row["burst"]):
        number = row["burst"]
        engine, own = of_engine(row), of_twin(bursts[number])
        if row["fate"] == "in-flight":
            # The run is over, and the twin went on.
            if (bursts[number].lost or bursts[number].arrived or end) < end:
                found.append(f"burst {number}: the engine has no end of it, the twin {own}")
            continue
        if engine != own:
            found.append(f"burst {number}: the engine has {engine}, the twin {own}")
        fibres = fibres_of_twin(bursts[number])
        if hops[number] != fibres:
            there, here = sorted(map(str, hops[number])), sorted(map(str, fibres))
            found.append(f"fibres of {number}: the engine has {there}, the twin {here}")
    if with_packets:
        packets = result.table("packets").to_pylist()
        got = Counter(row["burst"] for row in packets if row["fate"] == "delivered")
        ended = [row["burst"] for row in rows if row["fate"] != "in-flight"]
        for number, burst in ((number, bursts[number]) for number in ended):
            kept = twin.kept(burst, burst.left) if burst.fate == "delivered" else 0
            if got[number] != kept:
                found.append(f"packets of {number}: the engine delivers {got[number]} of {kept}")
    done = result.network[0]["all"]["resolutions"]
    seen = Counter({name: count for name, count in done.items() if count})
    seen.update(row["cause"] for row in rows if row["fate"] == "lost")
    seen["bursts"] = len(rows)
    if twin.ties and found:
        # The twin cannot order events of that instant: the mesh is not judged.
        seen["tied"] = 1
        return seen, []
    return seen, found
