"""Fields whose value moves no number: each is set to other legal values, and the run is repeated.

`test_toggles.py` holds what is found against its reasons. It tries
some fields, and this program all:

    python python/tests/toggles.py [BASE ...]
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from fuzz_scenarios import SCHEMA, followed, words_of

import burstlab as bl
from burstlab.errors import MemoryExceeded
from burstlab.simulation import doubts
from burstlab.tables import RECORDED

Document = dict[str, Any]
Place = tuple[str | int, ...]

_RUN = {"duration": "400 ms", "max_memory": "300 MB"}
_LOSS = {"data": {"process": "bernoulli", "probability": 0.05}}
_ACCESS = {"rate": "20 Mb/s", "delay": "1 ms", "queue": 20}
_TIMER = {"assembly": "timer", "timer": "1 ms"}
_STEPS = ["delay-line", "deflection", "segmentation", "retransmission"]


def _path(**tables: Any) -> Document:
    return {
        "access": dict(_ACCESS),
        "edge": dict(_TIMER),
        "loss": _LOSS,
        "run": dict(_RUN),
    } | tables


def _mesh(**tables: Any) -> Document:
    """A ring whose fibres are short and slow, so that bursts contend."""
    return {
        "network": {"topology": "ring", "nodes": 5, "wavelengths": 2, "link_rate": "100 Mb/s",
                    "link_delay": "1 ms"},
        "access": dict(_ACCESS), "edge": dict(_TIMER), "run": dict(_RUN),
        "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "3"}],
    } | tables  # fmt: skip


def _bursts(steps: list[str]) -> Document:
    background = [{"erlangs": 1.5, "length": {"mean": "20 KB"}}]
    core: Document = {"contention": steps}
    if "delay-line" in steps:
        core["delay_lines"] = {"delays": ["500 us"]}
    return _mesh(core=core, bursts=background, edge=_TIMER | {"port": "shared"})


def _alone(base: Document, *without: str) -> Document:
    """Leave hosts out, and the tables that nothing else comes to."""
    return {name: table for name, table in base.items() if name not in without} | {"flows": []}


def _slots(**tables: Any) -> Document:
    return {
        "network": {"topology": "line", "nodes": 3, "link_rate": "100 Mb/s"},
        "access": dict(_ACCESS), "run": dict(_RUN),
        "flows": [{"from": "1", "to": "3"}, {"from": "2", "to": "3"}],
        "ops": {},
    } | tables  # fmt: skip


_SIZE = {"distribution": "exponential", "mean": "20 KB"}
_MIXED = {
    "distribution": "mixture",
    "parts": [{"weight": 9, "mean": "5 KB"}, _SIZE | {"weight": 1}],
}
_LINUX = {"variant": "linux", "ecn": True}

#: Scenarios of each kind. Together they have all tables.
BASES: dict[str, Document] = {
    "path": _path(),
    "path, idle": {"run": {"duration": "200 ms"}},
    "path, detectors": _path(tcp={"detector": "back"}, edge=_TIMER | {"notices": "in-band"}),
    "path, Linux": _path(tcp=_LINUX, access=_ACCESS | {"marking": {"above": "5 KB"}}),
    "path, two directions": _path(flows=[{"reverse": {}, "bytes": "200 KB"}, {"start": "5 ms"}]),
    "path, stored and forwarded": _path(core={"forwarding": "store-and-forward"}),
    "path, a cell": _path(wlan=[{}], flows=[{}, {}]),
    "path, a cell in the shadow": _path(wlan=[{"loss": "shadowing", "distance_m": 200.0}],
                                        flows=[{}, {}]),
    "path, traffic": _path(access=_ACCESS | {"shared": True},
                           traffic=[{"pattern": "pareto", "rate": "10 Mb/s", "count": 2}],
                           flows=[{}]),
    "path, traffic alone": _alone(
        _path(access=_ACCESS | {"shared": True}, traffic=[{"rate": "1 Mb/s"}]), "edge", "loss"
    ),
    "mesh": _mesh(),
    "mesh, demand": _mesh(demand=[{"size": _SIZE, "flows_per_second": 100.0}], flows=[]),
    "mesh, load": _mesh(demand=[{"size": _MIXED, "load": 0.3}], flows=[]),
    "mesh, incast": _mesh(demand=[{"pattern": "incast", "senders": 3, "size": _SIZE}], flows=[]),
    "mesh, bursts": _bursts([]),
    "mesh, bursts alone": _alone(_bursts([]), "access", "edge"),
    "mesh, every step": _bursts(_STEPS),
    **{f"mesh, {step}": _bursts([step]) for step in _STEPS},
    "mesh, two-way": _mesh(signalling={"protocol": "two-way"}),
    "mesh, batches alone": _alone(_mesh(batches=[{"size": _SIZE}]), "access"),
    "mesh, traffic alone": _alone(
        _mesh(traffic=[{"rate": "10 Mb/s", "count": 3, "from": "1", "to": "3"}]), "access"
    ),
    "mesh, failures": _mesh(failures=[{"link": ["2", "3"], "down": "50 ms", "up": "200 ms"}]),
    "mesh, a cell": _mesh(wlan=[{"node": "3"}]),
    "slots": _slots(),
    "slots, DLCC": _slots(ops={"dlcc": {}}),
    "slots, unsmoothed": _slots(ops={"smoothing": {"enabled": False}}),
    "slots, traffic alone": _alone(
        _slots(traffic=[{"rate": "10 Mb/s", "count": 3}]), "access"
    ),
}  # fmt: skip

_TEXTS = {
    "time": ["0 s", "100 us", "1 ms", "7 ms", "50 ms", "300 ms", "3 s"],
    "size": ["100 B", "600 B", "1 KB", "1500 B", "15 KB", "64 KB", "700 KB", "100 MB"],
    "rate": ["100 Kb/s", "2 Mb/s", "11 Mb/s", "50 Mb/s", "1 Gb/s"],
}
_NUMBERS = [0.0, 0.001, 0.02, 0.3, 0.7, 1.0, 1.3, 1.9, 3.0, 20.0, 100.0]
_WHOLE = [0, 1, 2, 3, 4, 7, 10, 31, 100, 1000]
_NAMES = ["1", "2", "3", "a"]


def _legal(schema: Document) -> list[Any]:
    """Values that a field may have; the engine refuses those that it must not."""
    schema = followed(schema)
    options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if options:
        return _legal(options[0])
    if "oneOf" in schema or "enum" in schema:
        return schema.get("enum") or [word for one in schema["oneOf"] for word in words_of(one)]
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else next(one for one in kinds if one != "null")
    if kind == "array":
        if (parts := schema.get("prefixItems")) is not None:
            columns = [_legal(one) for one in parts]
            return [list(row) for row in zip(*columns, strict=False)][:4]
        inner = _legal(schema.get("items", {}))
        return [] if "properties" in followed(schema.get("items", {})) else [
            *([one] for one in inner), inner[1:2] * 2, inner[1:2] * 3, []
        ]  # fmt: skip
    if kind == "boolean":
        return [True, False]
    if kind == "integer":
        return _WHOLE
    if kind == "number":
        return _NUMBERS
    return _TEXTS.get(schema.get("title", ""), _NAMES) if kind == "string" else []


def fields(base: Document) -> Iterator[tuple[Place, list[Any]]]:
    """Return the fields that a scenario has or might have, with values for each."""
    yield from _inside((), SCHEMA, base, 0)


def _inside(
    at: Place, schema: Mapping[str, Any], given: Any, depth: int
) -> Iterator[tuple[Place, list[Any]]]:
    for name, one in schema["properties"].items():
        place = (*at, name)
        here = given.get(name) if isinstance(given, dict) else None
        inner = _table(one)
        if inner is not None and depth < 4:
            yield from _inside(place, inner, here, depth + 1)
            continue
        entries = followed(one).get("items")
        rows = _table(entries) if isinstance(entries, dict) else None
        if rows is not None:
            if isinstance(here, list) and here:
                yield from _inside((*place, 0), rows, here[0], depth + 1)
            continue
        yield place, _legal(one)


def _table(schema: Document) -> Document | None:
    schema = followed(schema)
    options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if options:
        return _table(options[0])
    return schema if "properties" in schema else None


def with_field(base: Document, place: Place, value: Any) -> Document:
    """Return a scenario with one field set; tables that are not there are made."""
    document = copy.deepcopy(base)
    here: Any = document
    for step, following in pairwise(place):
        if isinstance(step, str) and here.get(step) is None:
            here[step] = [] if isinstance(following, int) else {}
        here = here[step]
    here[place[-1]] = value
    return document


def path_of(place: Place) -> str:
    """Return a place as errors write it."""
    text = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place)
    return text.removeprefix(".")


def resolved(document: Document) -> tuple[Document, list[str]] | None:
    """Return a scenario as it is resolved, and the doubts; nothing where it is refused."""
    try:
        return bl.resolve(document), doubts(document)
    except bl.InputError:
        return None


def _same(first: Document, found: Document, place: Place, value: Any) -> bool:
    """Whether a field had the value already; one that is not stored has its default."""
    if at(first, place) is None and at(found, place) is None:
        schema: Any = SCHEMA
        for step in place:
            schema = followed(_table(schema) or schema)
            schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
        return value in (schema.get("default"), [])
    return first == found


def at(document: Any, place: Place) -> Any:
    for step in place:
        if document is None:
            return None
        document = document[step] if isinstance(step, int) else document.get(step)
    return document


def _named(place: Place, doubts: list[str]) -> bool:
    """Whether a doubt names a field, or the table that it stands in."""
    names = [path_of(place), path_of(place[:-1])] if len(place) > 2 else [path_of(place)]
    return any(line.startswith(name) for line in doubts for name in names)


def outcome(document: Document) -> str:
    """Return all numbers of a run and all rows of its traces, as one sum."""
    traces = ("packets", "bursts", "cwnd", "ledger")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = bl.run(document, trace=traces)
    texts = []
    for one in result.replications:
        summary = {name: value for name, value in one.summary.items() if name != "warnings"}
        texts.append(json.dumps(summary, sort_keys=True, default=str))
    for name in RECORDED:
        try:
            texts.append(f"{name}: {result.table(name).to_pylist()}")
        except bl.InputError:
            continue
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def idle(base: Document, place: Place, values: list[Any], plain: str) -> list[Any] | None:
    """Return the values of a field that are accepted without a word, if none of them moves a thing.

    Nothing is returned where one moves something, is refused or doubted by the field's name, or
    where no value is another than that which holds.
    """
    first = resolved(base)
    assert first is not None
    accepted = []
    for value in values:
        document = with_field(base, place, value)
        found = resolved(document)
        if found is None or _same(first[0], found[0], place, value):
            continue
        if _named(place, [line for line in found[1] if line not in first[1]]):
            continue
        if outcome(document) != plain:
            return None
        accepted.append(value)
    return accepted or None


def main() -> None:
    """List all fields that move nothing, of the kinds of scenarios whose names begin so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bases", nargs="*", default=[""])
    given = tuple(parser.parse_args().bases)
    for name in filter(lambda name: name.startswith(given), BASES):
        plain = outcome(BASES[name])
        for place, values in fields(BASES[name]):
            try:
                found = idle(BASES[name], place, values, plain)
            except MemoryExceeded:
                continue
            if found:
                print(f"{name}: {path_of(place)}: {found}", flush=True)


if __name__ == "__main__":
    main()
