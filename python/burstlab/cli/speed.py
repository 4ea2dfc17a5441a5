"""The line that a run prints where many packets were taken one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from burstlab.measures.speed import speed

if TYPE_CHECKING:
    from burstlab.results import Result

#: Up to this share nothing is printed.
_FEW = 0.1


def lines(result: Result) -> Iterator[str]:
    """Print the share of packets that hosts took one by one, and why; nothing where it is small."""
    found = speed(result.counters, (one.summary for one in result.replications))
    if found["one_by_one"] <= _FEW:
        return
    because = f", because of {', '.join(found['because'])}" if found["because"] else ""
    yield f"hosts took {found['one_by_one']:.3g} of the packets one by one{because}"
