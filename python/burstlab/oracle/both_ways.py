"""Which bursts of a recording with data both ways are lost, as its scenario counts them.

The recorder counts the bursts of each direction. A scenario counts the bursts with data of both
directions together, and apart from these the bursts of ACKs alone. So it takes a run to tell which
burst is which, and one more for each that is lost: a loss changes the bursts behind it.
"""

from __future__ import annotations

from collections import Counter

from burstlab.loading import Document
from burstlab.simulation import run


def count_losses(document: Document) -> None:
    """Give the bursts that a scenario loses the numbers that they have in it.

    Parameters
    ----------
    document
        The scenario, of a path with data both ways; changed in place. Its script of ``loss.data``
        has the numbers of the recording forth, that of ``loss.ack`` those back, from 1.
    """
    loss = document["loss"]
    wanted = {
        (kind == "ack", number) for kind, rule in loss.items() for number in rule.get("bursts", ())
    }
    plain = {
        kind: {name: value for name, value in rule.items() if name != "bursts"}
        for kind, rule in loss.items()
        if rule.keys() & {"departures"}
    }
    lost: dict[str, list[int]] = {"data": [], "ack": []}
    while True:
        document["loss"] = _with(plain, lost)
        there = _first(document, wanted) if wanted else None
        if there is None:
            return  # All are found, or the run ends before the others and is judged as it is.
        place, kind, number = there
        wanted.remove(place)
        lost[kind].append(number)


def _with(plain: Document, lost: dict[str, list[int]]) -> Document:
    bursts = {
        kind: {"process": "script", "node": 0, **plain.get(kind, {}), "bursts": sorted(numbers)}
        for kind, numbers in lost.items()
        if numbers
    }
    return {**plain, **bursts}


def _first(
    document: Document, wanted: set[tuple[bool, int]]
) -> tuple[tuple[bool, int], str, int] | None:
    """Return the first burst that is wanted: its place in the recording, its kind and number."""
    bursts = run(document, trace="bursts", jobs=1).bursts
    columns = (bursts.column(name).to_pylist() for name in ("burst", "direction", "from"))
    counted: Counter[bool] = Counter()
    kinds: Counter[str] = Counter()
    ingress: int | None = None
    for _, kind, node in sorted(zip(*columns, strict=True)):
        ingress = node if ingress is None else ingress
        goes_back = node != ingress
        counted[goes_back] += 1
        kinds[kind] += 1
        if (goes_back, counted[goes_back]) in wanted:
            return (goes_back, counted[goes_back]), kind, kinds[kind]
    return None
