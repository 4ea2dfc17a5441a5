"""Matrices of a demand from files: from where to where how much is asked for.

A weight is a number of any unit, as only shares count. The formats are SNDlib's native one and its
XML, XML of TOTEM, demands of REPETITA, and text in columns: three, or a square of numbers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burstlab.documents.named_files import NamedFiles
from burstlab.errors import ScenarioError
from burstlab.storage.files import Reader, named_bytes
from burstlab.topology import columns, sndlib, xml_file
from burstlab.topology.parts import number

_ENDINGS = (".txt", ".xml", ".csv", ".demands")


def read(
    path: str | os.PathLike[str], nodes: Sequence[str] = (), reader: Reader = named_bytes
) -> list[dict[str, Any]]:
    """Read the weights of pairs of nodes.

    Parameters
    ----------
    path
        A file whose ending gives its format: ``.xml`` (SNDlib or TOTEM), ``.txt`` (SNDlib's native
        format, or columns), ``.csv`` (columns) or ``.demands`` (REPETITA). Columns are ``from``,
        ``to`` and a weight, or a square matrix of weights with one row for each source. A
        header row is optional.
    nodes
        Names of the nodes of the network in their order, for files that number nodes, from 0, or
        hold a square without names.
    reader
        Answers what the file holds.

    Returns
    -------
    list
        As ``matrix`` of ``[[demand]]`` has them, in the order of the file. Weights of 0 and weights
        from a node to itself are left out; a pair that is listed twice has the sum.

    Raises
    ------
    ScenarioError
        If the file cannot be read or holds no table of weights.
    """
    where = Path(path)
    ending = where.suffix.lower()
    if ending not in _ENDINGS:
        fix = f"use one of {', '.join(_ENDINGS)}"
        raise ScenarioError(str(where), "", "the ending names no format", fix)
    found = _weights(str(where), ending, reader(where), nodes)
    summed: dict[tuple[str, str], float] = {}
    for source, to, weight in found:
        if weight < 0:
            problem, fix = "it is negative", "write weights of at least 0"
            raise ScenarioError(f"{where}, {source} to {to}", weight, problem, fix)
        if weight > 0 and source != to:
            summed[source, to] = summed.get((source, to), 0.0) + weight
    if not summed:
        fix = "give it pairs of nodes with weights above 0"
        raise ScenarioError(str(where), "", "there are no demands", fix)
    return [{"from": a, "to": b, "weight": weight} for (a, b), weight in summed.items()]


def expand(document: dict[str, Any], files: NamedFiles) -> None:
    """Replace the name of each ``file`` of a matrix by its weights.

    Parameters
    ----------
    document
        A scenario whose ``network.file`` was read before; changed in place. Left unchanged if the
        engine has to refuse it anyway.
    files
        The files that it names.
    """
    entries = document.get("demand")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            continue
        if entry.get("pattern") == "trace" or entry.get("destination") != "matrix":
            continue
        if "matrix" in entry:
            path = f"demand[{index}].file"
            raise ScenarioError(path, entry["file"], "matrix is given too", "keep one of the two")
        name = entry.pop("file")
        entry["matrix"] = read(files.where(name), _nodes(document), files.reader(name))


def _nodes(document: dict[str, Any]) -> list[str]:
    """Return the names of the nodes that a scenario lists."""
    network = document.get("network")
    listed = network.get("node") if isinstance(network, dict) else None
    nodes = listed if isinstance(listed, list) else []
    return [str(node.get("name")) for node in nodes if isinstance(node, dict)]


def _weights(
    file: str, ending: str, content: bytes, nodes: Sequence[str]
) -> list[tuple[str, str, float]]:
    if ending == ".xml":
        return xml_file.demands(file, content)
    if ending == ".demands":
        numbered = columns.repetita_demands(file, content)
        return [(_node(file, a, nodes), _node(file, b, nodes), weight) for a, b, weight in numbered]
    if sndlib.is_native(content):
        return sndlib.demands(file, content)
    return _columns(file, content, nodes)


def _node(file: str, index: int, nodes: Sequence[str]) -> str:
    if 0 <= index < len(nodes):
        return nodes[index]
    if not nodes:
        fix = 'write topology = "custom" with nodes, or name the nodes in the file'
        raise ScenarioError(file, index, "it numbers nodes, and the scenario lists none", fix)
    fix = f"use numbers from 0 to {len(nodes) - 1}"
    raise ScenarioError(file, index, "the scenario lists no such node", fix)


def _columns(file: str, content: bytes, nodes: Sequence[str]) -> list[tuple[str, str, float]]:
    """Read three columns with names of nodes, or a square of numbers."""
    rows = columns.rows(file, content)
    if not rows:
        raise ScenarioError(file, "", "there are no demands", "write rows such as a,b,12.5")
    head = rows[0][1]
    titled = not any(_is_number(cell) for cell in head)
    body = rows[1:] if titled else rows
    width = max((len(cells) for _, cells in body), default=0)
    listed = titled and {cell.lower() for cell in head[:2]} <= columns.ENDS
    named = width == 3 and not any(_is_number(cell) for cell in body[0][1][:2])
    square = len(body) == width or len(body) == width - 1
    if listed or named or (width == 3 and not square):
        return [_triple(file, place, cells) for place, cells in body]
    return _square(file, body, head if titled else [], nodes)


def _triple(file: str, place: str, cells: list[str]) -> tuple[str, str, float]:
    if len(cells) != 3:
        problem, fix = f"{len(cells)} columns where 3 are needed", "write a row such as a,b,12.5"
        raise ScenarioError(f"{file}, {place}", " ".join(cells)[:60], problem, fix)
    return cells[0], cells[1], number(file, place, cells[2])


def _square(
    file: str, body: list[tuple[str, list[str]]], head: list[str], nodes: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Read a square whose rows are sources; a first column may name them."""
    named = len(body[0][1]) == len(body) + 1 if body else False
    rows = [(place, cells[1:] if named else cells) for place, cells in body]
    if head:
        names = head[-len(rows) :]
    elif named:
        names = [cells[0] for _, cells in body]
    else:
        names = list(nodes)
    if not rows or len(names) != len(rows):
        problem = f"{len(rows)} rows, and {len(names)} nodes"
        raise ScenarioError(file, "", problem, "write a row and a column for each node, in order")
    found: list[tuple[str, str, float]] = []
    for (place, cells), source in zip(rows, names, strict=True):
        if len(cells) != len(names):
            problem = f"{len(cells)} columns, and {len(names)} rows"
            fix = "write a row and a column for each node"
            raise ScenarioError(f"{file}, {place}", " ".join(cells)[:60], problem, fix)
        found += [
            (source, to, number(file, place, cell)) for to, cell in zip(names, cells, strict=True)
        ]
    return found


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
