"""What ``burstlab run`` prints of a slotted network: its busiest outputs and its edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burstlab.cli.numbers import count, measure, seconds, share

if TYPE_CHECKING:
    from rich.table import Table

    from burstlab.results import Result

_OUTPUTS_SHOWN = 5


def outputs(result: Result) -> Table | None:
    """Make a table of the outputs that are used most, or none where there are no slots.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = [ops["ports"] for ops in result.ops]
    if not runs:
        return None
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("busiest fibres")
    for title in ("used", "slots asked", "lost by contention", "by congestion"):
        table.add_column(title, justify="right")
    every = range(len(runs[0]))
    used = [sum(float(ports[index]["utilisation"]) for ports in runs) for index in every]
    for index in sorted(every, key=lambda index: -used[index])[:_OUTPUTS_SHOWN]:
        port = runs[0][index]
        cells = [measure([float(ports[index]["utilisation"]) for ports in runs], share)]
        for name in ("arrived", "dropped_contention", "dropped_congestion"):
            cells.append(measure([float(ports[index][name]) for ports in runs], count))
        table.add_row(f"{port['from']} to {port['to']}", *cells)
    return table


def lines(result: Result) -> Iterator[str]:
    """Tell of slots, buffers and congestion control in a line each; nothing without slots.

    Parameters
    ----------
    result
        A run with at least one replication.
    """
    runs = result.ops
    if not runs:
        return

    def mean(name: str, within: str | None = None) -> str:
        tables = runs if within is None else [ops[within] for ops in runs]
        return measure([float(ops[name]) for ops in tables], count)

    several = " a replication" if len(runs) > 1 else ""
    length = seconds(float(runs[0]["slot_s"]))
    for kind, carried in (("data", "with data"), ("acks", "of ACKs alone")):
        if any(ops[kind]["slots_sent"] for ops in runs):
            yield (
                f"slots of {length} {carried} sent{several}: {mean('slots_sent', kind)}; "
                f"dropped by contention {mean('slots_dropped_contention', kind)}, "
                f"by congestion {mean('slots_dropped_congestion', kind)}"
            )
    most = max(int(ops["buffer_max"]) for ops in runs)
    yield (
        f"buffer of a node: {mean('buffer_mean')} on average where most, at most {most}; "
        f"at the edges {mean('backlog_mean_bits')} bits wait"
    )
    if any(ops["notifications"] for ops in runs):
        yield (
            f"notifications{several}: {mean('notifications')}; sets of ACKs by the edge "
            f"{mean('ack_sets')}, ACKs dropped there {mean('acks_filtered')}, copies sent "
            f"{mean('copies')}"
        )
    events, delivered = result.counters["events"], result.counters["packets_delivered"]
    yield f"{events:,} events, {events / max(delivered, 1):.3g} a delivered packet"
