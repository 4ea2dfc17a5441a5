"""The line that a run prints about ACK pacing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burstlab.cli.numbers import count, seconds
from burstlab.cli.tables import measured

if TYPE_CHECKING:
    from burstlab.results import Result


def lines(result: Result) -> Iterator[str]:
    """Print the ACKs that edge nodes held back; nothing without ACK pacing."""
    found = (one.summary.get("ack_pacing") for one in result.replications)
    runs = [pacing for pacing in found if pacing]
    if not runs:
        return
    several = " a replication" if len(runs) > 1 else ""
    most = seconds(max(float(one["delay_max_s"]) for one in runs))
    yield (
        f"ACKs held back at the edge{several}: {measured(runs, 'acks_delayed', count)}, for "
        f"{measured(runs, 'delay_mean_s', seconds)} on average, at most {most}"
    )
