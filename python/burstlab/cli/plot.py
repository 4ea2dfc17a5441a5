"""``burstlab plot``: figures of a result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from burstlab.cli.flags import Switch, Whole
from burstlab.cli.printing import say
from burstlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["sequence", "window", "occupancy", "load", "bursts", "sweep"]


def plot(
    directory: str,
    kind: Kind,
    /,
    *,
    flow: Whole = None,
    fibre: str | None = None,
    start: str | None = None,
    end: str | None = None,
    replication: Whole = None,
    x: str | None = None,
    y: str = "goodput_bps",
    by: str | None = None,
    out: str | None = None,
    column: Switch = False,
) -> int:
    """Draw a figure of a result.

    Parameters
    ----------
    directory
        A result: the directory of burstlab run --out; for a sweep the parent of several.
    kind
        sequence (segments, ACKs, losses and time-outs of a flow; needs packets), window (cwnd,
        ssthresh and round trips; needs cwnd), occupancy (wavelengths of a fibre; needs bursts),
        load (how full queues, ports and wavelengths are over time; needs run.occupancy),
        bursts (distributions of length and packets; needs bursts) or sweep (a metric against a
        parameter). With ledger, sequence and window show the truth of each time-out.
    flow
        For sequence and window (default: 0).
    fibre
        For occupancy in a mesh, its nodes by number, such as 4-3, or by name (default: the
        busiest).
    start
        Begin of the part of time, such as "1.5 s" (default: the whole run; for occupancy some
        bursts).
    end
        End of the part of time.
    replication
        Number of the replication (default: the first).
    x
        For a sweep, the parameter, such as tcp.window.
    y
        For a sweep, the metric, as summary.json names it.
    by
        For a sweep, a parameter with one curve per value, such as tcp.variant.
    out
        File whose extension, .svg, .pdf or .png, selects the format (default: KIND.svg in the
        directory). An existing figure is drawn again.
    column
        Draw for a column of a printed paper: 8.5 cm wide, type of at least 7 points.
    """
    from burstlab._core import seconds
    from burstlab.plot import results_in, sweep_chart, write
    from burstlab.storage.directories import note

    path = Path(out) if out is not None else Path(directory) / f"{kind}.svg"
    only = {
        "--flow": (flow, ("sequence", "window")),
        "--fibre": (fibre, ("occupancy",)),
        "--start": (start, ("sequence", "window", "occupancy", "load")),
        "--end": (end, ("sequence", "window", "occupancy", "load")),
        "--x": (x, ("sweep",)),
        "--by": (by, ("sweep",)),
    }
    for flag, (value, kinds) in only.items():
        if value is not None and kind not in kinds:
            of = " and ".join(kinds)
            raise InputError(f"{flag} is of {of}, not of {kind}\n  fix: leave it out")
    if kind == "sweep":
        if x is None:
            raise InputError(
                "a sweep needs a parameter\n  fix: give one, for example --x tcp.window"
            )
        chart = sweep_chart(results_in(Path(directory)), x, y, by=by)
    else:
        times = _times(seconds, start=start, end=end)
        chart = _of_one(directory, kind, flow, fibre, replication, times)
    written = write(chart, path, column=column)
    note(Path(directory), [written])
    say(str(written))
    return 0


def _of_one(
    directory: str,
    kind: Kind,
    flow: int | None,
    fibre: str | None,
    replication: int | None,
    times: dict[str, Any],
) -> Any:
    from burstlab import plot
    from burstlab.results import read

    result = read(directory)
    if kind == "bursts":
        return plot.distribution_chart(result)
    number = replication
    if number is None:
        number = result.replications[0].summary["replication"] if result.replications else 0
    if kind == "occupancy":
        between = _fibre(fibre, result.replications[0].summary if result.replications else {})
        return plot.occupancy_chart(result, between, replication=number, **times)
    if kind == "load":
        return plot.occupied_chart(result, replication=number, **times)
    draw = plot.sequence_chart if kind == "sequence" else plot.window_chart
    return draw(result, flow or 0, replication=number, **times)


def _times(read: Any, **texts: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in texts.items():
        if text is not None:
            try:
                found[f"{name}_s"] = read(text)
            except ValueError as error:
                problem, _, fix = str(error).partition("; ")
                raise InputError(
                    f"--{name}: {problem}\n  fix: {fix or 'write a time, such as 1.5 s'}"
                ) from None
    return found


def _fibre(text: str | None, summary: Mapping[str, Any]) -> tuple[int, int] | None:
    """Read a fibre by the numbers of its nodes, or by their names, which may have hyphens too."""
    if text is None:
        return None
    if found := re.fullmatch(r"(\d+)-(\d+)", text):
        return int(found[1]), int(found[2])
    network = summary.get("network") or {}
    number = {node["name"]: place for place, node in enumerate(network.get("nodes", []), start=1)}
    for link in network.get("links", []):
        if f"{link['from']}-{link['to']}" == text:
            return number[link["from"]], number[link["to"]]
    raise InputError(
        f"--fibre {text}: is no fibre\n  fix: give numbers or names of its nodes, such as 4-3"
    )
