"""The numbers of a run as the engine tells them, a text of JSON."""

from __future__ import annotations

import json
from typing import Any

#: In front of the flows in the text, and between two of them; within a string its quotes would have
#: backslashes.
_FLOWS, _NEXT = ',"flows":[', '},{"id":'

#: Characters that are read at once, in less than 10 ms.
_LENGTH = 1_000_000


def read_summary(text: str) -> Any:
    """Read the numbers of a run.

    Of many flows some are read at a time. One call of a reader that goes on for seconds would not
    let anyone hear Ctrl-C.

    Parameters
    ----------
    text
        What the engine tells.
    """
    start = text.find(_FLOWS) + len(_FLOWS) if len(text) > _LENGTH else -1
    if start < len(_FLOWS):
        return json.loads(text)
    flows: list[Any] = []
    at = start
    while (cut := text.find(_NEXT, at + _LENGTH) + 1) > 0:
        flows += json.loads(f"[{text[at:cut]}]")
        at = cut + 1
    numbers = json.loads(f"{text[:start]}{text[at:]}")
    numbers["flows"] = flows + numbers["flows"]
    return numbers
