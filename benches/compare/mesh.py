"""The flows of the comparison over NSFNET, for every program alike.

Each flow goes from one node to another, both drawn with equal chances, and never ends. The flows
start one after the other within the first half second. In ns-2 packets take the shortest way by
delay, as bursts do in Burstlab; in ns-3 the way with the fewest fibres.
"""

import heapq
import random  # noqa: TID251 - a list that is the same for both programs, no draw of a run
from pathlib import Path

# The fibres of `nsfnet`: nodes and length in km, 5 us each.
FIBRES = (
    (1, 2, 1100), (1, 3, 1600), (1, 8, 2800), (2, 3, 600), (2, 4, 1000), (3, 6, 2000), (4, 5, 600),
    (4, 11, 2400), (5, 6, 1100), (5, 7, 800), (6, 10, 1200), (6, 13, 2000), (7, 8, 700),
    (8, 9, 700), (9, 10, 900), (9, 12, 500), (9, 14, 500), (11, 12, 800), (11, 14, 800),
    (12, 13, 300), (13, 14, 300),
)  # fmt: skip
NODES = range(1, 15)
STARTS_WITHIN_US = 500_000


def flows(count: int) -> list[tuple[int, int, int]]:
    """Node of the sender, node of the receiver and start in us of each flow."""
    draw = random.Random(14)
    pairs = [draw.sample(NODES, 2) for _ in range(count)]
    starts = (index * STARTS_WITHIN_US // count for index in range(count))
    return [(a, b, start) for (a, b), start in zip(pairs, starts, strict=True)]


def burstlab(count: int, base: Path, to: Path) -> None:
    """Write the scenario `base` with `count` flows."""
    table = '[[flows]]\nfrom = "{}"\nto = "{}"\nstart = "{} us"\n'
    to.write_text(base.read_text() + "\n" + "\n".join(table.format(*flow) for flow in flows(count)))


def ns2(count: int, to: Path) -> None:
    """Write what `mesh.tcl` reads."""
    fibres = (f"{{{a} {b} {km * 5}us}}" for a, b, km in FIBRES)
    listed = (f"{{{a} {b} {start / 1e6:.6f}}}" for a, b, start in flows(count))
    ways = (
        f"set ways({a},{b}) {{{' '.join(map(str, way))}}}"
        for a in NODES
        for b, way in shortest(a).items()
    )
    lines = [f"set fibres {{{' '.join(fibres)}}}", f"set flows {{{' '.join(listed)}}}", *ways]
    to.write_text("\n".join(lines) + "\n")


def ns3(count: int, to: Path) -> None:
    """Write what `ns3.cc` reads."""
    lines = [f"fibre {a} {b} {km * 5}" for a, b, km in FIBRES]
    lines += [f"flow {a} {b} {start / 1e6:.6f}" for a, b, start in flows(count)]
    to.write_text("\n".join(lines) + "\n")


def fibres(count: int) -> list[int]:
    """How many fibres each flow crosses."""
    ways = {node: shortest(node) for node in NODES}
    return [len(ways[a][b]) - 1 for a, b, _ in flows(count)]


def shortest(start: int) -> dict[int, list[int]]:
    """The shortest way from `start` to each node, both ends included."""
    ways: dict[int, list[int]] = {}
    heap = [(0, [start])]
    while heap:
        length, way = heapq.heappop(heap)
        if way[-1] in ways:
            continue
        ways[way[-1]] = way
        for a, b, km in FIBRES:
            for here, there in ((a, b), (b, a)):
                if here == way[-1] and there not in ways:
                    heapq.heappush(heap, (length + km, [*way, there]))
    return ways
