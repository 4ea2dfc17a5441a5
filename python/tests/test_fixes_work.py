"""The fix of an error is applied, and that error is gone.

Each field of the schema gets values that are out of range, of another kind or of another choice.
Of each message one is corrected as its fix says, if the fix says what to write.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import toggles
from fuzz_scenarios import SCHEMA
from toggles import Document, Place, at, with_field

import burstlab as bl
from burstlab.errors import ScenarioError

#: Values at and beyond the edges, each of a field that takes texts, numbers or lists.
BAD: list[Any] = [
    -1, 0, 1, 3, 1.5, 70_000, 2**40, 1e300, True, "", "x", "1", "0 s", "1 ps", "7 ms", "1e9 s",
    "0 B", "1 B", "100 GB", "1 b/s", "3 Mb/s", "random", "none", "timer", "linux", [],
    [1], ["1 ms"], [["1", 0.5]], {},
]  # fmt: skip

_WORD = r'"[^"]*"|\[[^\]]*\]|\{[^}]*\}|-?\d+(?:\.\d+)?(?:e-?\d+)?|true|false'
_SETTING = re.compile(rf"(?:write|add|or)\s+([\w.\[\]]+) = ({_WORD})")
_CHOICE = re.compile(r"use one of ([^,\s]+)")
_QUOTED = re.compile(r'"([^"]+)"')
_BETWEEN = re.compile(r"a number above ([\d.]+), (?:up to|at most|below) ([\d.]+)")
_QUANTITY = re.compile(
    r"(?<![\w.])(-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?: ?(?:[kKMGT]?i?[Bb](?:/s)?|[munp]?s)\b)?)"
)


def steps(path: str) -> Place:
    """Return a path as its steps."""
    found = re.findall(r"[^.\[\]]+", path)
    return tuple(int(one) if one.isdigit() else one for one in found)


def value_of(text: str) -> Any:
    return tomllib.loads(f"x = {text}")["x"]


def mended(document: Document, error: ScenarioError) -> Iterator[tuple[str, Document]]:
    """Return the document as each setting of its fix leaves it; nothing where the fix is prose."""
    place, fix = steps(error.path), error.fix
    for name, text in _SETTING.findall(fix):
        named = steps(name)
        table = place[:-1] if named[0] not in SCHEMA["properties"] else ()
        try:
            value = value_of(text)
        except tomllib.TOMLDecodeError:
            continue  # a part of a longer value
        # One of several settings, each of which may be in the place of the field.
        start = without(document, place) if place_of(fix, name) else document
        yield f"{name} = {text}", with_field(start, (*table, *named), value)
    value = None if _SETTING.search(fix) else written(fix)
    if value is not None:
        yield f"write {value!r}", with_field(document, place, value)
    if re.match(r"remove it|keep one", fix):
        yield "remove it", without(document, place)


def place_of(fix: str, name: str) -> bool:
    """Whether a fix names another field for what was written."""
    return "in its place" in fix or (
        name in ("access.queue", "access.receiver.queue") and "packets that may wait" in fix
    )


def written(fix: str) -> Any:
    """Return the first value that a fix names; None where it names none."""
    if said := _CHOICE.search(fix):
        return said[1]
    if said := _QUOTED.search(fix):
        return said[1]
    if said := _BETWEEN.search(fix):
        return (float(said[1]) + float(said[2])) / 2
    if said := _QUANTITY.search(fix):
        text = said[1].replace(",", "")
        return value_of(text) if re.fullmatch(r"-?[\d.e-]+", text) else text
    return None


def without(document: Document, place: Place) -> Document:
    """Return a document without a field, or an entry of a list."""
    changed = with_field(document, place, None)
    *table, last = place
    del at(changed, tuple(table))[last]
    return changed


def refused(document: Document) -> ScenarioError | None:
    try:
        bl.resolve(document)
    except ScenarioError as error:
        # One of a file has the path of the file.
        return error if table_of(error) else None
    except bl.InputError:
        return None
    return None


def table_of(error: ScenarioError) -> bool:
    """Whether an error is of a field of the scenario."""
    return re.split(r"[.\[]", error.path)[0] in SCHEMA["properties"]


def kind(error: ScenarioError) -> str:
    """Return a message without what it is of: its numbers, texts and places."""
    text = f"{error.problem}: {error.fix}"
    return re.sub(r'"[^"]*"|[\w.\[\]]+ = |-?\d[\d.,e+-]*|use one of .*', "#", text)


def errors(base: Document) -> Iterator[tuple[Document, ScenarioError]]:
    """Return a bad scenario for each message that the fields of a base bring about."""
    seen = set()
    for place, values in toggles.fields(base):
        for value in [*values, *BAD]:
            document = with_field(base, place, value)
            error = refused(document)
            if error is not None and error.path and kind(error) not in seen:
                seen.add(kind(error))
                yield document, error


@pytest.mark.parametrize("name", ["path", "path, a cell", "mesh, every step", "slots, DLCC"])
def test_every_fix_mends_its_error(name):
    wrong, tried = [], 0
    for document, error in errors(toggles.BASES[name]):
        for done, changed in mended(document, error):
            tried += 1
            after = refused(changed)
            if after is not None and str(after).splitlines()[0] == str(error).splitlines()[0]:
                wrong.append(f"{error}\n    did: {done}")
    assert not wrong, "\n".join(wrong)
    assert tried > 20
