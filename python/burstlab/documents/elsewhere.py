"""Values that belong to another field, and names that belong to another table.

The engine says what a field may be. Where what was written is right for another field, that one is
named here: a window law that was given as the variant, a size in a field that counts packets. What
fields there are comes from the schema of scenarios alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from burstlab import _core
from burstlab.documents.parameters import LAWS_OF_LINUX
from burstlab.documents.schema import scenario_schema

#: Names of fields in other programs, by the field here.
_ALSO: Mapping[str, tuple[str, ...]] = {
    "mss": ("tcp.segment_size",),
    "rwnd": ("tcp.window",),
    "congestion_control": ("tcp.window_law",),
    "cc": ("tcp.window_law",),
    "bandwidth": ("access.rate", "network.link_rate"),
    "capacity": ("access.rate", "network.link_rate"),
    "latency": ("access.delay", "network.link_delay"),
    "buffer": ("access.queue_bytes", "access.queue"),
    "buffer_size": ("access.queue_bytes", "access.queue"),
    "queue_size": ("access.queue_bytes", "access.queue"),
    "loss_rate": ("loss.data.probability",),
    "time": ("run.duration",),
    "runs": ("run.replications",),
    "repetitions": ("run.replications",),
}

#: How the name of a field ends that has the same as another one, in bytes or in time.
_ENDS = ("_bytes", "_size", "_time")

#: Places that are named at most.
_MOST = 3

_INDEX = re.compile(r"\[\d+\]")

Field = tuple[str, Mapping[str, Any]]


def corrected(path: str, value: str, problem: str, fix: str) -> tuple[str, str]:
    """Return the problem and the fix of a mistake, which name the field that was meant.

    Parameters
    ----------
    path
        The field.
    value
        The value there, as JSON.
    problem, fix
        The message of the engine.
    """
    table, _, name = path.rpartition(".")
    text = _text(value)
    if problem == "no such choice" and text is not None and not fix.startswith("write"):
        return problem, _choice(table, name, text) or fix
    if problem.endswith("has no such field") or problem == "there is no such table":
        return problem, _named(table, name, fix)
    if problem.endswith("has no unit") and value.startswith("-"):
        what = re.sub("^write a (time|size|rate) in", r"write a positive \1 in", fix)
        return f"{problem}, and is negative", what
    if problem.endswith("has no unit"):
        other = _sibling(table, name, ("integer", "number"))
        if other is not None:
            fix = f"{fix}, or {table}.{other} = {value}: {_said(_fields()[_plain(table)][other])}"
        return problem, fix
    if problem.startswith("it is ") and path:
        return problem, _typed(table, name, value, fix)
    return problem, fix


def _text(value: str) -> str | None:
    """Return the text that a value of JSON is, if it is one."""
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def _choice(table: str, name: str, word: str) -> str | None:
    """Return the fix of a word that another field has among its choices."""
    here = _fields().get(_plain(table), {})
    mine = _choices(here.get(name, {}))
    found = [f"{table}.{one}" for one, schema in here.items() if word in _choices(schema)]
    if not found:
        found = [
            f"{other}.{one}"
            for other, fields in _fields().items()
            if "[" not in other
            for one, schema in fields.items()
            if word in _choices(schema)
        ]
    if not 0 < len(found) <= _MOST:
        return None
    places = " or ".join(f"{one} = {json.dumps(word)}" for one in found)
    if word in LAWS_OF_LINUX:
        places += f' and {table}.profile = "linux"'
    return f"write {places} in its place, or use one of {', '.join(mine)}"


def _named(table: str, name: str, fix: str) -> str:
    """Return the fix for a name that belongs to a field of another table."""
    if not fix.startswith("use one of"):
        return fix  # It is nearly the name of a field that is there.
    here = _plain(table)
    within = [
        one for one in _fields() if one.startswith(f"{here}.") and "[" not in one[len(here) :]
    ]
    places = [f"{table}{one[len(here) :]}.{name}" for one in within if name in _fields()[one]]
    places = places or list(_ALSO.get(name, ()))
    places = places or [
        f"{other}.{name}"
        for other, fields in _fields().items()
        if other and "[" not in other and other != here and name in fields
    ]
    if not 0 < len(places) <= _MOST:
        return fix
    return f"write {' or '.join(places)} in its place, or {fix}"


def _typed(table: str, name: str, value: str, fix: str) -> str:
    """Return the fix of a value of another type than its field has."""
    schema = _followed(_fields().get(_plain(table), {}).get(name, {}))
    words = _choices(schema)
    if words:
        return f"use one of {', '.join(words)}"
    if "properties" in schema:
        return f"write a table, with {', '.join(list(schema['properties'])[:_MOST])} and the like"
    text = _text(value)
    if text is None or not _kinds(schema) & {"integer", "number"}:
        return fix
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", text):
        return f"write {name} = {text.strip()}, without quotes"
    found = _core.quantity(text)
    if found is None:
        return fix
    title = {"B": "size", "s": "time", "b/s": "rate"}[found[1]]
    meant = _sibling(table, name, (title,))
    if meant is not None:
        other = f"{table}.{meant} = {json.dumps(text)}"
        return f"write {other} in its place, or {fix.removeprefix('write ')}"
    return f"{fix}, without a unit: {_said(schema)}"


def _sibling(table: str, name: str, kinds: tuple[str, ...]) -> str | None:
    """Return the field of a table that says the same in another measure, if there is one."""
    here = _fields().get(_plain(table), {})
    stems = [name, *(name.removesuffix(end) for end in _ENDS if name.endswith(end))]
    for stem in stems:
        for other in (stem, *(f"{stem}{end}" for end in _ENDS)):
            if other != name and _kinds(here.get(other, {})) & set(kinds):
                return other
    return None


def _said(schema: Mapping[str, Any]) -> str:
    """Return the first sentence of the description of a field."""
    text = " ".join(str(schema.get("description", "")).split())
    first = re.split(r"(?<=[a-z)`])\. ", text, maxsplit=1)[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _plain(table: str) -> str:
    """Return a table without the places in lists, as `_fields` has it."""
    return _INDEX.sub("[]", table)


@cache
def _fields() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the fields of each table, by the path of the table and their names."""
    found: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for path, table in _tables("", scenario_schema(), 0):
        found[path] = table["properties"]
    return found


#: The largest depth of nested tables that are searched.
_DEPTH = 4


def _tables(path: str, schema: Mapping[str, Any], depth: int) -> Iterator[Field]:
    """Return a table and those within it."""
    yield path, schema
    if depth == _DEPTH:
        return
    for name, field in schema["properties"].items():
        inner = _followed(field)
        ending = ""
        if "items" in inner:
            inner, ending = _followed(inner["items"]), "[]"
        if isinstance(inner.get("properties"), dict):
            yield from _tables(f"{path}.{name}{ending}".lstrip("."), inner, depth + 1)


def _followed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a schema that a reference names, with the description at the reference."""
    found = dict(schema)
    while True:
        options = [one for one in found.get("anyOf", ()) if one.get("type") != "null"]
        if len(options) == 1:
            rest = {name: one for name, one in found.items() if name != "anyOf"}
            found = {**options[0], **rest}
        elif "$ref" in found:
            name = str(found.pop("$ref")).rpartition("/")[2]
            found = {**scenario_schema()["$defs"][name], **found}
        else:
            return found


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """Return the words that a field may be."""
    whole = _followed(schema)
    words = list(whole.get("enum", ()))
    for one in whole.get("oneOf", ()):
        words += one.get("enum") or ([one["const"]] if "const" in one else [])
    return [word for word in words if isinstance(word, str)]


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """Return the types of a field, and the title of a quantity."""
    if not schema:
        return set()
    whole = _followed(schema)
    kinds = whole.get("type", ())
    return {*([kinds] if isinstance(kinds, str) else kinds), str(whole.get("title", ""))}
