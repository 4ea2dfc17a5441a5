"""Topologies from files: GraphML, GML, node-link JSON, SNDlib's native format, TOML.

`read` answers the tables ``node`` and ``link`` of ``[network]`` for ``topology = "custom"``. What
each format means is told in ``docs/models/topology.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlab.errors import ScenarioError
from burstlab.files import named_bytes
from burstlab.topology import json_file, networkx_file, sndlib, toml_file
from burstlab.topology.parts import Parts, places, tables

__all__ = ["expand", "positions", "read"]

#: Each takes the name of the file, for errors, and what is in it.
_FORMATS: Mapping[str, Callable[[str, bytes], Parts]] = {
    ".graphml": networkx_file.graphml,
    ".gml": networkx_file.gml,
    ".json": json_file.read,
    ".txt": sndlib.read,
    ".toml": toml_file.read,
}


def read(path: str | os.PathLike[str]) -> dict[str, list[dict[str, Any]]]:
    """Read a topology.

    Parameters
    ----------
    path
        A file whose ending says what it is: ``.graphml``, ``.gml``, ``.json`` (node-link, as
        NetworkX writes it), ``.txt`` (SNDlib's native format) or ``.toml``.

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
    """
    return tables(*_parts(path))


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
    return places(*_parts(path))


def _parts(path: str | os.PathLike[str]) -> tuple[str, Parts]:
    where = Path(path)
    reader = _FORMATS.get(where.suffix.lower())
    if reader is None:
        endings = ", ".join(_FORMATS)
        raise ScenarioError(str(where), "", "the ending names no format", f"use one of {endings}")
    return str(where), reader(str(where), named_bytes(where))


def expand(document: dict[str, Any], base: Path) -> None:
    """Put what ``network.file`` says in the place of the name of the file.

    Parameters
    ----------
    document
        A scenario; changed in place. Left alone where the engine has to refuse it anyway.
    base
        The directory from which a relative path counts.
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
    found = read(base / network.pop("file"))
    network.update(topology="custom", **found)
