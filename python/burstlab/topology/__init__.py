"""Topologies from files of many formats, as the tables ``node`` and ``link`` of ``[network]``.

``docs/models/topology.md`` says what each format means, and what is assumed where a file leaves
something out.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlab.documents.named_files import NamedFiles
from burstlab.errors import ScenarioError, ScenarioWarning
from burstlab.storage.files import Reader, named_bytes
from burstlab.topology import columns, joined, json_file, networkx_file, sndlib, toml_file, xml_file
from burstlab.topology.joined import LENGTHS
from burstlab.topology.parts import Parts

__all__ = ["LENGTHS", "expand", "positions", "read"]


def _text(file: str, content: bytes) -> Parts:
    reader = sndlib.read if sndlib.is_native(content) else columns.edges
    return reader(file, content)


#: Each takes the name of the file, for errors, and its content.
_FORMATS: Mapping[str, Callable[[str, bytes], Parts]] = {
    ".graphml": networkx_file.graphml,
    ".gml": networkx_file.gml,
    ".json": json_file.read,
    ".xml": xml_file.read,
    ".txt": _text,
    ".csv": columns.edges,
    ".graph": columns.repetita,
    ".toml": toml_file.read,
}


def read(
    path: str | os.PathLike[str], lengths: str = "placed", reader: Reader = named_bytes
) -> dict[str, list[dict[str, Any]]]:
    """Read a topology.

    Parameters
    ----------
    path
        A file whose ending says what it is: ``.graphml``, ``.gml``, ``.json`` (node-link, as
        NetworkX and D3 write it, or GNPy), ``.xml`` (SNDlib), ``.txt`` (SNDlib's native format or
        a list of edges), ``.csv`` (a list of edges), ``.graph`` (REPETITA) or ``.toml``.
    lengths
        The length of a link that has neither a length nor two ends with coordinates.
        ``"placed"``: a node without coordinates is placed between its neighbours, if two of them
        have some; else the link gets the median length of the others. ``"hop"``: it gets that
        median. If no length is known at all, it is 100 km. ``"given"``: it is an error.
    reader
        Returns the content of the file.

    Returns
    -------
    dict
        ``node`` and ``link``, lists of tables as ``[[network.node]]`` and ``[[network.link]]``
        have them.

    Raises
    ------
    ScenarioError
        If the file cannot be read or is not such a topology; the error names the file and what
        in it to change.

    Warns
    -----
    ScenarioWarning
        For assumptions, omissions and merged links, with the names of the nodes.
    """
    found, said = joined.tables(*_parts(path, reader), lengths)
    for text in said:
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    return found


def positions(path: str | os.PathLike[str]) -> dict[str, tuple[float, float]]:
    """Read where the nodes of a topology are.

    Parameters
    ----------
    path
        A file as `read` takes.

    Returns
    -------
    dict
        Latitude and longitude in degrees of each node that has both, by name.
    """
    return joined.positions(*_parts(path))


def _parts(path: str | os.PathLike[str], reader: Reader = named_bytes) -> tuple[str, Parts]:
    where = Path(path)
    parse = _FORMATS.get(where.suffix.lower())
    if parse is None:
        endings = ", ".join(_FORMATS)
        if where.suffix.lower() in (".xls", ".xlsx"):
            fix = f"of a network of GNPy, gnpy-convert-xls {where} writes {where.stem}.json"
            raise ScenarioError(str(where), "", "spreadsheets are not read", fix)
        raise ScenarioError(str(where), "", "the ending names no format", f"use one of {endings}")
    return str(where), parse(str(where), reader(where))


def expand(document: dict[str, Any], files: NamedFiles) -> None:
    """Replace the name of ``network.file`` by its content.

    Parameters
    ----------
    document
        A scenario; changed in place. Left unchanged if the engine has to refuse it anyway.
    files
        The files that it names.
    """
    network = document.get("network")
    if not isinstance(network, dict) or not isinstance(network.get("file"), str):
        return
    if network.get("topology", "custom") != "custom":
        return
    for table in ("node", "link"):
        if table in network:
            problem = f"network.{table} is given too"
            raise ScenarioError("network.file", network["file"], problem, "keep one of the two")
    lengths = network.pop("lengths", "placed")
    if lengths not in LENGTHS:
        fix = f"use one of {', '.join(LENGTHS)}"
        raise ScenarioError("network.lengths", lengths, "no such choice", fix)
    name = network.pop("file")
    found = read(files.where(name), lengths, files.reader(name))
    network.update(topology="custom", **found)
