"""How much of a run its hosts took packet by packet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burstlab.summaries import Counters, Summary


def speed(counters: Counters, summaries: Iterable[Summary]) -> dict[str, Any]:
    """Return the share of packets that hosts took one by one, and the fields because of which.

    The summaries of earlier versions say nothing of it.
    """
    taken = counters.get("packets_one_by_one", 0) / max(counters.get("packets_delivered", 0), 1)
    found = (one.get("speed", {}) for one in summaries)
    because = dict.fromkeys(field for one in found for field in one.get("because", ()))
    return {"one_by_one": taken, "because": list(because)}
