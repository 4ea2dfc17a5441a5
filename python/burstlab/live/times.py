"""Flows between live hosts over their own time, and how their connections stood."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import _core
from burstlab.errors import InputError

if TYPE_CHECKING:
    from burstlab.results import Result
    from burstlab.tables import Table

#: Where in the directory of a result that is kept which is of live hosts alone.
FOLDER = "live"

_ROWS = "connections.parquet"


def own_times(
    summary: dict[str, Any],
    resolved: Mapping[str, Any],
    outcome: Mapping[str, Any],
    carried_ps: Sequence[Sequence[int | None]],
) -> dict[str, Any]:
    """Put rates of flows between live hosts over their own time, and say when they were complete.

    The run goes on for as long as any program does. The own time of a flow is from its first packet
    to its last data, without the warm-up. It is complete when the programs of its two hosts have
    ended well that are not servers.

    Parameters
    ----------
    summary
        That of the engine.
    resolved
        The scenario.
    outcome
        The facts about live hosts.
    carried_ps
        For each flow, when its first packet was sent, and when its last data came.
    """
    begun_s = _core.seconds(resolved["run"].get("warmup") or "0 s")
    measured_s = summary["simulated_s"] - begun_s
    ends = {one["address"]: one for one in outcome["programs"]}
    flows = [flow for flow in summary["flows"] if flow["variant"] == "live"]
    for flow, (first, last) in zip(flows, carried_ps, strict=True):
        if first is not None and last is not None:
            own_s = last / 1e12 - max(first / 1e12, begun_s)
            for name in ("goodput_bps", "throughput_bps") if own_s > 0 else ():
                flow[name] *= measured_s / own_s
        awaited = [
            ends[address]
            for address in str(flow["label"]).split(" - ")
            if address in ends and not ends[address]["server"]
        ]
        if awaited and all(one["status"] == 0 and not one["stopped"] for one in awaited):
            flow["completed_s"] = max(one["ended_s"] for one in awaited)
    return summary


def connections(result: Result | str | os.PathLike[str]) -> Table:
    """Read how each connection of live hosts stood in its kernel, after each ACK and as data left.

    Parameters
    ----------
    result
        A result of `live` that was written, or its directory.

    Raises
    ------
    InputError
        If the result was not written, or is not of live hosts.
    """
    from burstlab.results import Result
    from burstlab.storage.parquet import read_table

    directory = result.directory if isinstance(result, Result) else Path(result)
    if directory is None:
        raise InputError(
            "connections of live hosts are files of a result, but this one has no directory\n"
            "  fix: run it with --out DIR (out=)"
        )
    file = directory / FOLDER / _ROWS
    if not file.is_file():
        raise InputError(
            f"{file}: there is no such file\n"
            "  fix: name the directory that burstlab live --out wrote"
        )
    return read_table(file)
