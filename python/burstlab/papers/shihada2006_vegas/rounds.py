"""Rounds of a fast flow, read from the trace of its sender: a round is one burst of ACKs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burstlab.reproduce.context import Context
from burstlab.results import Result
from burstlab.simulation import run_resolved
from burstlab.tables import Table


@dataclass(frozen=True)
class Rounds:
    """The history of a sender by rounds; one element per round or time-out.

    Attributes
    ----------
    start_s
        When its first ACK came, or the time-out.
    segments
        ACKs in it. Without delayed ACKs these are the segments of the window that was sent.
    sample_s
        The round trip that its first ACK measured.
    lost
        Whether it is a time-out instead.
    """

    start_s: NDArray[np.float64]
    segments: NDArray[np.int64]
    sample_s: NDArray[np.float64]
    lost: NDArray[np.bool_]

    def since_top(self, top: int) -> NDArray[np.int64]:
        """Return how many rounds ago the window came to `top` after a time-out, -1 before."""
        since = np.full(len(self.lost), -1, dtype=np.int64)
        count = -1
        for i, lost in enumerate(self.lost):
            if lost:
                count = -1
            elif count >= 0 or self.segments[i] >= top:
                count += 1
            since[i] = count
        return since


def rounds(table: Table, gap_s: float) -> Rounds:
    """Group the events of a sender: what is more than `gap_s` apart belongs to two rounds."""
    times, lost = table.seconds("t_ps"), table["event"] != "ack"
    new = np.ones(len(times), dtype=bool)
    new[1:] = (np.diff(times) > gap_s) | lost[1:] | lost[:-1]
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(times)))
    samples = table.seconds("sample_ps")
    return Rounds(times[starts], counts, samples[starts], np.asarray(lost[starts]))


def one_by_one(
    context: Context, settings: Mapping[str, Any], replications: int
) -> Iterator[Result]:
    """Run replications with a trace of the sender, holding no more than one at a time."""
    scenario = context.scenario({**context.plan.get("set", {}), **settings})
    for number in range(replications):
        result = run_resolved(scenario, range(number, number + 1), trace=["cwnd"])
        context.fingerprints.append(result.fingerprint)
        yield result
