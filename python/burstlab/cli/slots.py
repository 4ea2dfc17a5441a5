"""The tables that ``burstlab run`` prints of a slotted network: its busiest outputs and its edges.

The result is of a run with at least one replication.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burstlab.cli.lean import Lean
from burstlab.cli.numbers import count, seconds, share
from burstlab.cli.tables import busiest, measured

if TYPE_CHECKING:
    from burstlab.results import Result


def outputs(result: Result) -> Lean | None:
    """Make a table of the outputs that are used most, or none where there are no slots."""
    runs = [ops["ports"] for ops in result.ops]
    if not runs:
        return None
    titles = ("used", "slots asked", "lost by contention", "by congestion")
    made = Lean(["busiest fibres"], titles)
    for fibre in busiest(runs):
        cells = [measured(fibre, "utilisation", share)]
        for name in ("arrived", "dropped_contention", "dropped_congestion"):
            cells.append(measured(fibre, name, count))
        made.add_row(f"{fibre[0]['from']} to {fibre[0]['to']}", *cells)
    return made


def lines(result: Result) -> Iterator[str]:
    """Print slots, buffers and congestion control, one line each; nothing without slots."""
    runs = result.ops
    if not runs:
        return

    def mean(name: str, within: str | None = None) -> str:
        return measured(runs if within is None else [ops[within] for ops in runs], name, count)

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
    if any(ops["rerouted"] for ops in runs):
        yield f"UDP packets on another route than the first{several}: {mean('rerouted')}"
    events, delivered = result.counters["events"], result.counters["packets_delivered"]
    yield f"{events:,} events, {events / max(delivered, 1):.3g} a delivered packet"
