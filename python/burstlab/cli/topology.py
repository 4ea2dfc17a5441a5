"""``burstlab topology``: the content of a topology file."""

from __future__ import annotations

import statistics
import warnings
from pathlib import Path
from typing import Any

from burstlab.cli.flags import Json, Switch
from burstlab.cli.printing import put_document, say, warn


def topology(
    file: str,
    /,
    *,
    lengths: str = "placed",
    out: str | None = None,
    force: Switch = False,
    json_: Json = False,
) -> int:
    """Describe a topology file and the assumptions about it; write it as TOML.

    Parameters
    ----------
    file
        The file: .graphml, .gml, .json (node-link, D3, GNPy), .xml or .txt (SNDlib), .csv or .txt
        (a list of edges), .graph (REPETITA) or .toml.
    lengths
        The length of a link without a length, and with an end without coordinates: placed (such
        nodes lie between their neighbours), hop (the median of the others) or given (an error).
    out
        A TOML file to write nodes and links to, which network.file of a scenario may name.
    force
        Replace an existing file.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import InputError, ScenarioWarning
    from burstlab.topology import LENGTHS, read

    if lengths not in LENGTHS:
        raise InputError(
            f"--lengths {lengths}: is not one of the choices\n  fix: use {', '.join(LENGTHS)}"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ScenarioWarning)
        found = read(file, lengths)
    said = [str(one.message) for one in caught]
    if out is not None:
        _write(Path(out), found, said, force=force)
    if json_:
        put_document({"file": file, "lengths": lengths, "warnings": said, **found})
        return 0
    for text in said:
        warn(f"warning: {text}")
    _print(found)
    if out is not None:
        say(f"written to {out}")
    return 0


def _write(
    path: Path, found: dict[str, list[dict[str, Any]]], said: list[str], *, force: bool
) -> None:
    import tomli_w

    from burstlab.errors import InputError
    from burstlab.storage.directories import ready_file
    from burstlab.storage.files import put

    ready_file(path)
    if path.suffix != ".toml":
        raise InputError(f"--out {path}: not a TOML file\n  fix: let its name end in .toml")
    if path.exists() and not force:
        raise InputError(f"--out {path}: the file exists\n  fix: give another name, or --force")
    notes = "".join(f"# {line}\n" for text in said for line in text.splitlines())
    try:
        put(path, f"{notes}{tomli_w.dumps(found)}".encode())
    except OSError as error:
        raise InputError(
            f"--out {path}: cannot be written ({error.strerror})\n  fix: give another place"
        ) from None


def _print(found: dict[str, list[dict[str, Any]]]) -> None:
    nodes, links = found["node"], found["link"]
    fibres = sum(int(link.get("fibres", 1)) for link in links)
    hosts = sum(node.get("role", "both") != "core" for node in nodes)
    say(f"{len(nodes)} nodes, {hosts} of them with hosts")
    single = sum("one_way" in one for one in links)
    say(f"{len(links)} links of {fibres} fibres, {single} in one direction")
    km = [link["length_km"] for link in links if "length_km" in link]
    if km:
        middle = statistics.median(km)
        say(f"{min(km):g} to {max(km):g} km long, {middle:g} km in the median")
    if len(km) < len(links):
        say(f"{len(links) - len(km)} links have a delay in place of a length")
