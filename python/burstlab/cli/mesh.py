"""What ``burstlab run`` prints of a mesh or of cells: demands, bursts, fibres, the air."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burstlab.cli.numbers import count, measure, seconds, share
from burstlab.shown import brief

if TYPE_CHECKING:
    from rich.table import Table

    from burstlab.results import Result

_FIBRES_SHOWN = 5

_COUNTS = (("began", "cohort"), ("censored", "censored"))

_TIMES = (
    ("received: mean", "received_mean"),
    ("p50", "received_p50"),
    ("p99", "received_p99"),
    ("acknowledged: mean", "acknowledged_mean"),
)

_SLOWDOWN = (("mean", "mean"), ("p50", "p50"), ("p99", "p99"))

_AIR: Sequence[tuple[str, str, Callable[[float], str]]] = (
    ("packets", "offered", count),
    ("lost after retries", "residual_loss_ratio", share),
    ("collisions", "collisions", count),
    ("waited", "wait_s", seconds),
    ("served", "mac_delay_s", seconds),
)

_RESOLUTIONS = (
    ("injected", "injected"),
    ("converted", "converted"),
    ("delayed", "delayed"),
    ("deflected", "deflected"),
    ("segmented", "cut to fit"),
    ("resent", "sent again"),
    ("refused", "refused"),
)


def demands(result: Result) -> Table | None:
    """Make a table of the demands, or none where there are none.

    Times are those of the connections that began in the measured time, and tell what is not known
    of them for some are censored.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = result.demand
    if not runs[0]:
        return None
    table = _table("demand", *(title for title, _ in (*_COUNTS, *_TIMES)))
    for index, demand in enumerate(runs[0]):
        every = [one[index] for one in runs]
        cells = [measure([float(one[name]) for one in every], count) for _, name in _COUNTS]
        cells += [_time(every, name) for _, name in _TIMES]
        table.add_row(brief(demand["label"]), *cells)
    return table


def _time(runs: Sequence[Mapping[str, Any]], name: str) -> str:
    """Write a completion time: where some is unknown, a bound of a mean from below."""
    values = [float(one[f"{name}_s"]) for one in runs if one[f"{name}_s"] is not None]
    if len(values) == len(runs):
        return measure(values, seconds)
    bounds = [float(one[key]) for one in runs if one.get(key := f"{name}_bound_s") is not None]
    if len(bounds) == len(runs):
        return f"over {seconds(sum(bounds) / len(bounds))}"
    return "unknown" if any(one["cohort"] for one in runs) else "–"


def slowdowns(result: Result) -> Table | None:
    """Make a table of slow-downs by size, or none where no connection began.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = result.demand
    if not any(demand["slowdown"] for one in runs for demand in one):
        return None
    table = _table("slow-down", "began", "censored", *(title for title, _ in _SLOWDOWN))
    for index, demand in enumerate(runs[0]):
        classes: dict[str, list[Mapping[str, Any]]] = {}
        for one in runs:
            for size in one[index]["slowdown"]:
                classes.setdefault(size["label"], []).append(size)
        for label, found in sorted(classes.items(), key=lambda item: item[1][0]["from_bytes"]):
            cells = [str(sum(one[name] for one in found)) for name in ("connections", "censored")]
            for _, name in _SLOWDOWN:
                known = [one[name] for one in found if one[name] is not None]
                complete = len(known) == len(found)
                cells.append(measure(known, "{:.3g}".format) if complete else "unknown")
            table.add_row(f"{brief(demand['label'])}, from {label}", *cells)
    return table


def air(result: Result) -> Table | None:
    """Make a table of the wireless cells, or none where there are none.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = result.wlan
    if not runs[0]:
        return None
    table = _table("wireless cell", *(title for title, _, _ in _AIR))
    for index, cell in enumerate(runs[0]):
        for way in ("down", "up"):
            cells = [
                measure([float(one[index][way][name]) for one in runs], write)
                for _, name, write in _AIR
            ]
            table.add_row(f"{brief(cell['name'])}, {way}", *cells)
    return table


def fibres(result: Result) -> Table | None:
    """Make a table of the fibres that are used most, or none on a path.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = [network["links"] for network in result.network]
    if not runs:
        return None
    table = _table("busiest fibres", "used", "bursts asked", "found it taken", "lost there")
    every = range(len(runs[0]))
    used = [sum(float(links[index]["utilisation"]) for links in runs) for index in every]
    for index in sorted(every, key=lambda index: -used[index])[:_FIBRES_SHOWN]:
        link = runs[0][index]
        cells = [measure([float(links[index]["utilisation"]) for links in runs], share)]
        for name in ("offered", "contended", "lost"):
            cells.append(measure([float(links[index][name]) for links in runs], count))
        table.add_row(f"{link['from']} to {link['to']}", *cells)
    return table


def lines(result: Result) -> Iterator[str]:
    """Tell of bursts, headers and events in a line each; nothing on a path.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = result.network
    if not runs:
        return
    several = " a replication" if len(runs) > 1 else ""

    def values(name: str) -> list[float]:
        return [float(network[name]) for network in runs]

    ended, lost = measure(values("bursts"), count), measure(values("bursts_lost"), count)
    ratio = measure(values("burst_loss_ratio"), share)
    yield f"bursts that ended{several}: {ended}; lost {lost}, a ratio of {ratio}"
    causes = [
        (cause["cause"], [float(network["causes"][index]["bursts"]) for network in runs])
        for index, cause in enumerate(runs[0]["causes"])
    ]
    if found := _named(causes):
        yield f"lost by cause{several}: {found}"
    steps = [
        (words, [float(network["resolutions"][name]) for network in runs])
        for name, words in _RESOLUTIONS
    ]
    if found := _named(steps):
        yield f"contention{several}: {found}"
    if any(values("packets_per_burst")):
        yield (
            f"assembled bursts: {measure(values('packets_per_burst'), count)} packets, "
            f"{measure(values('bytes_per_burst'), count)} bytes, "
            f"after {measure(values('assembly_delay_s'), seconds)}; at the ingress port "
            f"{measure(values('port_wait_s'), seconds)}"
        )
    longest = [
        max((float(node["longest_header_wait_s"]) for node in network["nodes"]), default=0.0)
        for network in runs
    ]
    yield (
        f"headers wait {measure(values('header_wait_s'), seconds)} at a node, at most "
        f"{seconds(max(longest))}"
    )
    counters: Mapping[str, Any] = result.counters
    delivered = counters["packets_delivered"] + counters["other_delivered"]
    unit = "delivered packet" if delivered else "burst"
    units = delivered or counters["background_bursts_sent"]
    if units:
        yield f"{counters['events']:,} events, {counters['events'] / units:.3g} a {unit}"


def _named(groups: Sequence[tuple[str, list[float]]]) -> str:
    return ", ".join(f"{name} {measure(values, count)}" for name, values in groups if any(values))


def _table(first: str, *titles: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for title in titles:
        table.add_column(title, justify="right")
    return table
