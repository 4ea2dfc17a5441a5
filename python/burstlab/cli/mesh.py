"""The tables that ``burstlab run`` prints of a mesh or of cells: demands, bursts, fibres, the air.

The result is of a run with at least one replication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burstlab.cli.lean import Lean
from burstlab.cli.numbers import count, measure, rate, seconds, share
from burstlab.cli.tables import busiest, measured
from burstlab.printable import brief

if TYPE_CHECKING:
    from burstlab.results import Result

_COUNTS = (("began", "cohort"), ("censored", "censored"))

_TIMES = (
    ("received: mean", "received_mean"),
    ("p50", "received_p50"),
    ("p99", "received_p99"),
    ("acknowledged: mean", "acknowledged_mean"),
)

#: The load of a demand, which all replications share.
_OFFERED: Sequence[tuple[str, str, Callable[[float], str]]] = (
    ("connections a second", "flows_per_second", count),
    ("data", "bps", rate),
    ("load of sender access", "load_access", "{:.3g}".format),
    ("of receiver access", "load_receiver", "{:.3g}".format),
    ("of busiest fibre", "load_fibre", "{:.3g}".format),
)

_SLOWDOWN = ("mean", "p50", "p99")

_AIR: Sequence[tuple[str, str, Callable[[float], str]]] = (
    ("packets", "offered", count),
    ("lost after retries", "residual_loss_ratio", share),
    ("collisions", "collisions", count),
    ("waited", "wait_s", seconds),
    ("served", "mac_delay_s", seconds),
)

#: Kinds of bursts in the order in which they are printed, with their names.
KINDS = (
    ("data", "data bursts"),
    ("acks", "bursts of ACKs"),
    ("background", "background bursts"),
)

_SHORT = {"data": "data", "acks": "ACKs", "background": "background"}

_RESOLUTIONS = (
    ("injected", "injected"),
    ("no_converter", "without a converter"),
    ("converted", "converted"),
    ("delayed", "delayed"),
    ("deflected", "deflected"),
    ("segmented", "cut to fit"),
    ("packets_cut", "packets cut off"),
    ("resent", "retransmitted"),
    ("refused", "refused"),
)


def demands(result: Result) -> Lean | None:
    """Make a table of the demands, or none where there are none.

    Times are those of the connections that began in the measured time, and tell what is not known
    of them for some are censored.
    """
    runs = result.demand
    if not runs[0]:
        return None
    made = Lean(["demand"], (title for title, _ in (*_COUNTS, *_TIMES)))
    for index, demand in enumerate(runs[0]):
        every = [one[index] for one in runs]
        cells = [measured(every, name, count) for _, name in _COUNTS]
        cells += [_time(every, name) for _, name in _TIMES]
        made.add_row(brief(demand["label"]), *cells)
    return made


def offered(result: Result) -> Lean | None:
    """Make a table of the load that demands offer, or none where they have one round alone."""
    demands = result.demand[0]
    if all(demand["offered_bps"] is None for demand in demands):
        return None
    made = Lean(["offered"], [title for title, _, _ in _OFFERED])
    for demand in demands:
        one: Mapping[str, Any] = demand
        cells = [measured([one], f"offered_{name}", write) for _, name, write in _OFFERED]
        made.add_row(brief(demand["label"]), *cells)
    return made


def _time(runs: Sequence[Mapping[str, Any]], name: str) -> str:
    """Write a completion time: where some is unknown, a bound of a mean from below."""
    values = [float(one[f"{name}_s"]) for one in runs if one[f"{name}_s"] is not None]
    if len(values) == len(runs):
        return measure(values, seconds)
    bounds = [float(one[key]) for one in runs if one.get(key := f"{name}_bound_s") is not None]
    if len(bounds) == len(runs):
        return f"over {seconds(sum(bounds) / len(bounds))}"
    return "unknown" if any(one["cohort"] for one in runs) else "–"


def slowdowns(result: Result) -> Lean | None:
    """Make a table of slow-downs by size, or none where no connection began."""
    runs = result.demand
    if not any(demand["slowdown"] for one in runs for demand in one):
        return None
    made = Lean(["slow-down"], ["began", "censored", *_SLOWDOWN])
    for index, demand in enumerate(runs[0]):
        classes: dict[str, list[Mapping[str, Any]]] = {}
        for one in runs:
            for size in one[index]["slowdown"]:
                classes.setdefault(size["label"], []).append(size)
        for label, found in sorted(classes.items(), key=lambda item: item[1][0]["from_bytes"]):
            # A run in which no connection of that size began has none of the two.
            none = [{"connections": 0, "censored": 0}] * (len(runs) - len(found))
            every = [*found, *none]
            cells = [measured(every, name, count) for name in ("connections", "censored")]
            cells += [measured(found, name, "{:.3g}".format, "unknown") for name in _SLOWDOWN]
            made.add_row(f"{brief(demand['label'])}, from {label}", *cells)
    return made


def air(result: Result) -> Lean | None:
    """Make a table of the wireless cells, or none where there are none."""
    runs = result.wlan
    if not runs[0]:
        return None
    made = Lean(["wireless cell"], (title for title, _, _ in _AIR))
    for index, cell in enumerate(runs[0]):
        for side in ("down", "up"):
            sides = [one[index][side] for one in runs]
            cells = [measured(sides, name, write) for _, name, write in _AIR]
            made.add_row(f"{brief(cell['name'])}, {side}", *cells)
    return made


def fibres(result: Result) -> Lean | None:
    """Make a table of the fibres that are used most, or none on a path."""
    runs = [network["links"] for network in result.network]
    if not runs:
        return None
    kinds = [
        kind for kind, _ in KINDS if any(link[kind]["offered"] for links in runs for link in links)
    ]
    made = Lean(["busiest fibres"], ["used", "bursts", "offered", "blocked", "dropped there"])
    for fibre in busiest(runs):
        name = f"{fibre[0]['from']} to {fibre[0]['to']}"
        head = [name, measured(fibre, "utilisation", share)]
        for kind in kinds:
            bursts = [one[kind] for one in fibre]
            cells = [measured(bursts, of, count) for of in ("offered", "contended", "lost")]
            made.add_row(*head, _SHORT[kind], *cells)
            head = ["", ""]
    return made


def classes(result: Result) -> Lean | None:
    """Make a table of bursts by class and kind, or none where bursts can have one class alone."""
    runs = result.network
    known = runs[0]["all"].get("classes") if runs else None
    if not known:
        return None
    made = Lean(["class"], ["bursts", "ended", "lost", "loss ratio", "bytes lost"])
    for index, one in enumerate(known):
        head = str(one["class"])
        for kind, short in _SHORT.items():
            of_kind: list[Mapping[str, Any]] = [network[kind] for network in runs]
            found = [bursts["classes"][index] for bursts in of_kind]
            if not any(bursts["bursts"] for bursts in found):
                continue
            cells = [measured(found, of, count) for of in ("bursts", "bursts_lost")]
            cells += [measured(found, of, share) for of in ("burst_loss_ratio", "byte_loss_ratio")]
            made.add_row(head, short, *cells)
            head = ""
    return made


def lines(result: Result) -> Iterator[str]:
    """Print bursts by kind, headers and events, one line each; nothing on a path."""
    runs = result.network
    if not runs:
        return
    several = " a replication" if len(runs) > 1 else ""
    for kind, name in KINDS:
        yield from _bursts([network[kind] for network in runs], name, several)
    alike = [network["all"] for network in runs]
    waits = (
        f"{measured(alike, f'{where}_wait_s', seconds)} for a {what}, "
        f"at most {seconds(max(float(one[f'longest_{where}_wait_s']) for one in alike))}"
        for where, what in (("processor", "processor"), ("control", "control channel"))
    )
    yield f"headers wait {'; '.join(waits)}"
    counters: Mapping[str, Any] = result.counters
    delivered = counters["packets_delivered"] + counters["other_delivered"]
    unit = "delivered packet" if delivered else "burst"
    units = delivered or counters["background_bursts_sent"]
    if units:
        yield f"{counters['events']:,} events, {counters['events'] / units:.3g} a {unit}"


def _bursts(runs: Sequence[Mapping[str, Any]], name: str, several: str) -> Iterator[str]:
    """Print the bursts of one kind, if there were any."""
    if not any(one["bursts"] for one in runs) and not any(one["bytes_per_burst"] for one in runs):
        return
    ended, lost = measured(runs, "bursts", count), measured(runs, "bursts_lost", count)
    line = (
        f"{name} that ended{several}: {ended}; lost {lost}, "
        f"a ratio of {measured(runs, 'burst_loss_ratio', share)}"
    )
    if any(one["bytes_cut"] for one in runs):
        line += (
            f"; of {measured(runs, 'bytes', count)} bytes lost "
            f"{measured(runs, 'bytes_lost', count)} with what was cut off, "
            f"a ratio of {measured(runs, 'byte_loss_ratio', share)}"
        )
    yield line
    causes = [
        (cause["cause"], [float(one["causes"][index]["bursts"]) for one in runs])
        for index, cause in enumerate(runs[0]["causes"])
    ]
    steps = [(words, [float(one["resolutions"][of]) for one in runs]) for of, words in _RESOLUTIONS]
    for what, groups in (("lost by cause", causes), ("at contention", steps)):
        if found := _named(groups):
            yield f"  {what}{several}: {found}"
    if any(one["packets_per_burst"] for one in runs):
        yield (
            f"  assembled: {measured(runs, 'packets_per_burst', count)} packets, "
            f"{measured(runs, 'bytes_per_burst', count)} bytes, "
            f"after {measured(runs, 'assembly_delay_s', seconds)}; at the ingress port "
            f"{measured(runs, 'port_wait_s', seconds)}"
        )


def _named(groups: Sequence[tuple[str, list[float]]]) -> str:
    return ", ".join(f"{name} {measure(values, count)}" for name, values in groups if any(values))
