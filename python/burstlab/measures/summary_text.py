"""The summary of a run, as JSON text of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

#: In front of the flows in the text, and between two of them; within a string its quotes would have
#: backslashes.
_FLOWS, _NEXT = ',"flows":[', '},{"id":'

#: Characters that are read at once, in less than 10 ms.
_LENGTH = 1_000_000


#: Number of flows in the summary of a run that is stopped, as in the engine.
FLOWS_WHEN_STOPPED = 4096


def read_summary(text: str, stopped: Callable[[], bool] = lambda: False) -> Any:
    """Read the numbers of a run.

    Many flows are parsed a few at a time. One call of the parser for seconds would delay Ctrl-C.

    Parameters
    ----------
    text
        The summary, as JSON.
    stopped
        Whether the run is asked to end: then some flows are enough.
    """
    start = text.find(_FLOWS) + len(_FLOWS) if len(text) > _LENGTH else -1
    if start < len(_FLOWS):
        return json.loads(text)
    flows: list[Any] = []
    at, left_out = start, 0
    while (cut := text.find(_NEXT, at + _LENGTH) + 1) > 0:
        flows += json.loads(f"[{text[at:cut]}]")
        at = cut + 1
        if len(flows) > FLOWS_WHEN_STOPPED and stopped():
            last = text.rfind(_NEXT) + 2
            left_out = text.count(_NEXT, at, last + len(_NEXT))
            at = max(at, last)
            break
    numbers = json.loads(f"{text[:start]}{text[at:]}")
    numbers["flows"] = flows + numbers["flows"]
    return shortened(numbers, left_out) if left_out else numbers


def shortened(numbers: Any, left_out: int = 0) -> Any:
    """Return the numbers of a run that somebody waits for with those of its first flows alone.

    Parameters
    ----------
    numbers
        The numbers.
    left_out
        Flows that are not among them already.
    """
    count = len(numbers["flows"]) + left_out
    if count <= FLOWS_WHEN_STOPPED:
        return numbers
    note = (
        f"flows: the run was stopped, and only the first {FLOWS_WHEN_STOPPED} of {count} flows "
        "have numbers here; the totals include all"
    )
    flows, warnings = numbers["flows"][:FLOWS_WHEN_STOPPED], numbers["warnings"]
    return {**numbers, "flows": flows, "warnings": [*warnings, note]}
