"""Random meshes for the slow twin, and the features that it judges."""

from __future__ import annotations

from typing import Any

import numpy as np

Scenario = dict[str, Any]

SCHEDULERS = ("first-fit", "horizon", "lauc-vf", "ff-vf", "min-ev", "best-fit")


def merged(*tables: Scenario) -> Scenario:
    """Put tables of tables together, the later ones on top."""
    whole: Scenario = {}
    for table in tables:
        for name, fields in table.items():
            both = isinstance(fields, dict) and isinstance(whole.get(name), dict)
            whole[name] = merged(whole[name], fields) if both else fields
    return whole


def core(**fields: Any) -> Scenario:
    return {"core": fields}


def signalling(**fields: Any) -> Scenario:
    return {"signalling": fields}


FIFO = {"edge": {"port": "fifo"}}
LIMITED = core(conversion="limited", conversion_range=1)
NONE = core(conversion="none")
SWITCHING = signalling(switching="3 us", guard="10 us")
#: Headers that wait leave one behind the other; an odd time keeps them from meeting at an instant.
ONE_PROCESSOR = signalling(processors=1, guard="30 us", processing="9973 ns")
JIT = signalling(protocol="jit")
TWO_WAY = signalling(protocol="two-way", requests=3, retry="200 us")
LINES = core(contention=["delay-line"], delay_lines={"delays": ["100 us", "40 us", "100 us"]})
ROUND = core(delay_lines={"channels": 2, "passes": 3})
DEFLECTION = merged(core(contention=["deflection"]), signalling(guard="3 us"))
CUTS = core(contention=["segmentation"])
AGAIN = core(contention=["retransmission"], retransmission={"attempts": 2, "wait": "30 us"})
IN_TURN = {"network": {"routes_per_pair": 2, "route_choice": "round-robin"}}
#: UDP packets take the place of bursts without packets.
PACKETS = {"edge": {"assembly": "hybrid", "timer": "150 us", "size": "100 KB"}, "traffic": []}
EVERYTHING = ["conversion", "delay-line", "deflection", "segmentation", "retransmission"]

OF_NODE = core(converters={"number": 1})
OF_OUTPUT = core(converters={"number": 1, "shared": "output"})


def own(**fields: Any) -> Scenario:
    """Change the core of the first two nodes."""
    return {"nodes that differ": fields}


#: The changes of each group of tests; every scheduler is tried with each.
FEATURES: dict[str, dict[str, Scenario]] = {
    "wavelengths": {
        "full": {},
        "limited": LIMITED,
        "none": NONE,
        "late": core(contention=["conversion"]),
        "late and limited": merged(LIMITED, core(contention=["conversion"])),
        "fifo": FIFO,
        "switching": SWITCHING,
        "fifo, switching": merged(FIFO, SWITCHING),
        "routes in turn": IN_TURN,
    },
    "converters": {
        "of a node": OF_NODE,
        "two of a node": core(converters={"number": 2}),
        "of an output": OF_OUTPUT,
        "none": core(converters={"number": 0}),
        "limited": merged(OF_NODE, LIMITED),
        "late": merged(OF_NODE, core(contention=["conversion"])),
        "fifo": merged(OF_OUTPUT, FIFO),
        "switching": merged(OF_NODE, SWITCHING),
        "jit": merged(OF_NODE, JIT),
        "two-way": merged(OF_NODE, TWO_WAY),
        "lines": merged(OF_NODE, LINES, ROUND),
        "deflection": merged(OF_OUTPUT, DEFLECTION),
        "cuts": merged(OF_NODE, CUTS),
        "cuts, packets": merged(OF_NODE, CUTS, PACKETS),
        "cuts, fifo, no trailers": merged(
            OF_OUTPUT, CUTS, FIFO, core(segmentation={"trailer": False})
        ),
        "copies": merged(OF_NODE, AGAIN),
        "all steps": merged(
            OF_NODE, LINES, AGAIN, DEFLECTION, LIMITED, core(contention=EVERYTHING)
        ),
    },
    "nodes that differ": {
        "conversion at two": merged(NONE, own(conversion="full")),
        "converters of one": own(converters={"number": 1, "shared": "output"}),
        "limited at two": own(conversion="limited", conversion_range=1),
        "none at two, fifo": merged(own(conversion="none"), FIFO),
        "scheduler": own(scheduler="first-fit"),
        "lines": own(contention=["delay-line"], delay_lines={"delays": ["100 us"]}),
        "other lines": merged(LINES, ROUND, own(delay_lines={"delays": ["60 us"], "channels": 2})),
        "no steps": merged(
            LINES,
            AGAIN,
            DEFLECTION,
            core(contention=EVERYTHING),
            own(contention=["retransmission"]),
        ),
        "cuts, late conversion": merged(CUTS, own(contention=["conversion"])),
        "groups": merged(
            NONE,
            core(
                group=[
                    {"nodes": ["n0", "n2"], "set": {"conversion": "full", "scheduler": "ff-vf"}},
                    {"nodes": ["n2"], "set": {"conversion": "limited", "conversion_range": 1}},
                ]
            ),
        ),
    },
    "protocols": {
        "jit": JIT,
        "jit, fifo": merged(JIT, FIFO),
        "jit, limited": merged(JIT, LIMITED),
        "two-way": TWO_WAY,
        "two-way, fifo": merged(TWO_WAY, FIFO),
        "two-way, none": merged(TWO_WAY, NONE),
        "two-way, one processor": merged(
            TWO_WAY, ONE_PROCESSOR, signalling(switching="45 us", guard="60 us")
        ),
        "two-way, routes in turn": merged(TWO_WAY, IN_TURN),
    },
    "headers": {
        "one processor": ONE_PROCESSOR,
        "one processor, fifo": merged(ONE_PROCESSOR, FIFO),
        "two processors, two channels": signalling(
            processors=2, guard="20 us", header_size="6250 B", channels=2
        ),
        "long headers": signalling(guard="45 us", header_size="12500 B"),
        "one offset": signalling(offset="70 us"),
    },
    "delay lines": {
        "once": LINES,
        "far": core(
            contention=["delay-line"],
            delay_lines={"delays": ["300 us", "700 us", "500 us"], "channels": 2},
        ),
        "round": merged(LINES, ROUND),
        "round, fifo, none": merged(LINES, ROUND, FIFO, NONE),
        "round, three on a path": merged(LINES, ROUND, core(delay_lines={"passes_on_path": 3})),
        "one on a path": merged(LINES, core(delay_lines={"passes_on_path": 1})),
        "copies, one on a path": merged(
            LINES,
            core(
                contention=["delay-line", "retransmission"],
                delay_lines={"passes_on_path": 1},
                retransmission={"attempts": 2},
            ),
        ),
        "before conversion": merged(LINES, core(contention=["delay-line", "conversion"])),
        "behind conversion": merged(LINES, LIMITED, core(contention=["conversion", "delay-line"])),
        "switching": merged(LINES, SWITCHING),
        "jit": merged(LINES, JIT),
        "two-way": merged(LINES, TWO_WAY),
    },
    "deflection": {
        "two fibres more": DEFLECTION,
        "fifo": merged(DEFLECTION, FIFO),
        "one fibre more, none": merged(DEFLECTION, NONE, core(deflection={"hop_limit": 1})),
        "by hops": merged(DEFLECTION, {"network": {"routing": "hops"}}),
        "one offset": merged(core(contention=["deflection"]), signalling(offset="75 us")),
        "switching": merged(DEFLECTION, SWITCHING),
    },
    "segmentation": {
        "trailers": CUTS,
        "no trailers": merged(CUTS, core(segmentation={"trailer": False})),
        "limited": merged(CUTS, LIMITED),
        "fifo": merged(CUTS, FIFO),
        "switching": merged(CUTS, SWITCHING),
        "jit": merged(CUTS, JIT),
        "one processor": merged(CUTS, ONE_PROCESSOR),
        "packets": merged(CUTS, PACKETS),
        "packets, switching": merged(CUTS, PACKETS, SWITCHING),
        "packets, fifo": merged(CUTS, PACKETS, FIFO),
    },
    "retransmission": {
        "copies": AGAIN,
        "little room": merged(AGAIN, core(retransmission={"buffer": "200 KB"})),
        "fifo": merged(AGAIN, FIFO),
        "one processor": merged(AGAIN, ONE_PROCESSOR),
        "routes in turn": merged(AGAIN, IN_TURN),
    },
    "together": {
        "all steps": merged(LINES, AGAIN, DEFLECTION, LIMITED, core(contention=EVERYTHING)),
        "all steps, packets": merged(
            LINES, AGAIN, DEFLECTION, LIMITED, PACKETS, core(contention=EVERYTHING)
        ),
        "deflection, copies": merged(
            DEFLECTION, AGAIN, core(contention=["deflection", "retransmission"])
        ),
        "lines, cuts": merged(LINES, core(contention=["delay-line", "segmentation"])),
        "cuts, copies": merged(AGAIN, core(contention=["segmentation", "retransmission"])),
        "deflection, lines": merged(
            DEFLECTION, LINES, core(contention=["deflection", "delay-line"])
        ),
    },
}


def links(draw: np.random.Generator, names: list[str]) -> list[Scenario]:
    """Return a tree with three fibres more, their delays and wavelengths at random."""
    nodes = len(names)
    pairs = {(int(draw.integers(0, node)), node) for node in range(1, nodes)}
    while len(pairs) < min(nodes + 2, nodes * (nodes - 1) // 2):
        one, other = sorted(int(node) for node in draw.choice(nodes, 2, replace=False))
        pairs.add((one, other))
    return [
        {"from": names[one], "to": names[other], "delay": f"{draw.integers(20_000, 300_000)} ns"}
        for one, other in sorted(pairs)
    ]


def mesh(seed: int, change: Scenario, scheduler: str, bursts: int = 200) -> Scenario:
    """Draw a network of four to six nodes and eight sources, each of a class of its own.

    Their offsets differ by parts of a burst and by several, so that there are voids of all kinds.
    """
    draw = np.random.default_rng(seed)
    names = [f"n{number}" for number in range(int(draw.integers(4, 7)))]
    # Where each fibre has one wavelength, nothing is converted.
    tables = change.get("core", {}), change.get("nodes that differ", {})
    least = 2 if any("converters" in table for table in tables) else 1
    wavelengths = int(draw.integers(least, 5))
    ends = [(one, other) for one in names for other in names if one != other]
    sources = [ends[place] for place in draw.choice(len(ends), 8, replace=False)]
    erlangs = float(draw.uniform(0.25, 0.6)) * wavelengths
    offsets = [f"{draw.integers(0, 500_000)} ns" for _ in sources]
    holds = bursts / len(sources) / erlangs
    scenario = merged(
        {
            "network": {
                "topology": "custom",
                "wavelengths": wavelengths,
                "node": [{"name": name} for name in names],
                "link": links(draw, names),
            },
            "edge": {"port": "shared", "class_offsets": offsets},
            "core": {"scheduler": scheduler},
            "run": {"duration": "1 s", "seed": seed},
        },
        {name: table for name, table in change.items() if name != "nodes that differ"},
    )
    if fields := change.get("nodes that differ"):
        for node in scenario["network"]["node"][:2]:
            node["core"] = fields
    common = [
        {"from": start, "to": end, "class": place} for place, (start, end) in enumerate(sources)
    ]
    if "traffic" in change:
        # A burst of 100 KB takes 80 us at 10 Gb/s.
        rate = f"{erlangs * 10_000:.0f} Mb/s"
        packets = {"pattern": "poisson", "packet_size": "12500 B", "rate": rate}
        scenario["traffic"] = [{**packets, **one, "class": 0} for one in common]
        scenario["run"]["duration"] = f"{int(80 * holds)} us"
    else:
        length = {"distribution": "exponential", "mean": "125 KB"}
        stop = f"{int(100 * holds)} us"
        scenario["bursts"] = [
            {**one, "erlangs": erlangs, "length": length, "stop": stop} for one in common
        ]
    return scenario
