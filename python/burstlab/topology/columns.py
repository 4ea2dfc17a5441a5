"""Text in columns: lists of edges, and the two files of REPETITA."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from burstlab.topology.parts import Part, Parts, decoded, number, refuse

_FROM = ("from", "source", "src", "node1", "origin")
_TO = ("to", "target", "dst", "dest", "destination", "node2")

#: Titles of columns of ends.
ENDS = {*_FROM, *_TO}

_KM = ("length_km", "km", "length", "distance", "dist")
_ELSE = ("delay", "wavelengths", "fibres", "one_way")


def edges(file: str, content: bytes) -> Parts:
    """Read a list of edges: two names and, where there is a third column, a length in km.

    Columns are separated by commas, semicolons, tabs or spaces. A first row may name them: two for
    the ends, such as ``from,to``, and of the rest ``km`` (or ``length_km``, ``length``,
    ``distance``, ``dist``), ``delay``, ``wavelengths``, ``fibres`` and ``one_way`` count. Text
    after ``#`` is skipped.
    """
    found = rows(file, content)
    if not found:
        raise refuse(file, "", "", "there are no edges", "write rows such as a,b,120")
    names = [cell.lower() for cell in found[0][1]]
    headed = any(name in _FROM for name in names) and any(name in _TO for name in names)
    columns = names if headed else ["from", "to", "km"][: max(2, len(names))]
    first, second = _column(columns, _FROM), _column(columns, _TO)
    known = [(name, index) for index, name in enumerate(columns) if name in (*_KM, *_ELSE)]
    nodes: dict[str, Part] = {}
    links: list[Part] = []
    for place, cells in found[1 if headed else 0 :]:
        if len(cells) != len(columns):
            problem = f"{len(cells)} columns where {len(columns)} are needed"
            raise refuse(file, place, " ".join(cells)[:60], problem, "write a row such as a,b,120")
        ends = (cells[first], cells[second])
        for end in ends:
            nodes.setdefault(end, Part(place, (end,)))
        links.append(Part(place, ends, {name: cells[index] for name, index in known}))
    return Parts(list(nodes.values()), links)


def repetita(file: str, content: bytes) -> Parts:
    """Read a topology of REPETITA: nodes with coordinates, links with a delay in us."""
    nodes: list[Part] = []
    links: list[Part] = []
    for section, place, cells in _sections(file, content):
        if section == "NODES" and len(cells) >= 1:
            position = dict(zip(("longitude", "latitude"), cells[1:3], strict=False))
            nodes.append(Part(place, (str(len(nodes)),), {"label": cells[0], **position}))
        elif section == "EDGES" and len(cells) >= 6:
            ends = [_node(file, place, cell, nodes) for cell in cells[1:3]]
            us = number(file, f"{place}, delay", cells[5])
            links.append(Part(place, (ends[0], ends[1]), {"delay": f"{us:g} us"}, one_way=True))
        else:
            fix = "write label src dest weight bw delay below EDGES"
            raise refuse(file, place, " ".join(cells)[:60], "no row of REPETITA", fix)
    return Parts(nodes, links)


def repetita_demands(file: str, content: bytes) -> list[tuple[int, int, float]]:
    """Read demands of REPETITA: numbers of two nodes, from 0, and the demand."""
    found: list[tuple[int, int, float]] = []
    for section, place, cells in _sections(file, content):
        if section != "DEMANDS" or len(cells) < 4:
            fix = "write label src dest bw below DEMANDS"
            raise refuse(file, place, " ".join(cells)[:60], "no demand of REPETITA", fix)
        ends = [number(file, place, cell) for cell in cells[1:3]]
        found.append((int(ends[0]), int(ends[1]), number(file, place, cells[3])))
    return found


def _sections(file: str, content: bytes) -> Iterator[tuple[str, str, list[str]]]:
    """Yield rows with the section they are in; the heads of sections are left out."""
    section = ""
    head: tuple[str, list[str]] = ("", [])
    count = 0
    for place, cells in rows(file, content):
        if cells[0] in ("NODES", "EDGES", "DEMANDS"):
            _counted(file, head, count)
            section, head, count = cells[0], (place, cells), 0
        elif cells[0] != "label":
            if not section:
                raise refuse(file, place, cells[0], "no file of REPETITA", "begin with NODES 4")
            count += 1
            yield section, place, cells
    _counted(file, head, count)


def _counted(file: str, head: tuple[str, list[str]], count: int) -> None:
    """Refuse a section that has other than as many rows as its head says."""
    place, cells = head
    if len(cells) > 1 and cells[1] != str(count):
        problem = f"{count} rows follow"
        fix = f"write {cells[0]} {count}, or correct the rows and the head that follows them"
        raise refuse(file, f"{place}, {cells[0]}", cells[1], problem, fix)


def _node(file: str, place: str, cell: str, nodes: list[Part]) -> str:
    if cell.isdigit() and int(cell) < len(nodes):
        return nodes[int(cell)].ends[0]
    fix = f"write a whole number below {len(nodes)}"
    raise refuse(file, place, cell, "there is no such node", fix)


def rows(file: str, content: bytes) -> list[tuple[str, list[str]]]:
    """Read the cells of each row that is not empty, with the line where it stands."""
    found: list[tuple[str, list[str]]] = []
    for line, text in enumerate(decoded(file, content).splitlines(), start=1):
        row = text.partition("#")[0].strip()
        if row:
            found.append((f"line {line}", _cells(file, f"line {line}", row)))
    return found


def _cells(file: str, place: str, row: str) -> list[str]:
    separator = next((sign for sign in (";", ",", "\t") if sign in row), "")
    if not separator:
        return row.split()
    try:
        (cells,) = csv.reader([row], delimiter=separator, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:
        raise refuse(file, place, row[:60], f"not CSV: {error}", "correct it there") from None
    return [cell.strip() for cell in cells]


def _column(columns: list[str], names: tuple[str, ...]) -> int:
    return next(index for index, name in enumerate(columns) if name in names)
