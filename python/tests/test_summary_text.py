"""Numbers of runs, read part by part where there are many flows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from burstlab.measures import summary_text
from burstlab.measures.summary_text import read_summary


@pytest.mark.parametrize("count", [0, 1, 3])
def test_flows_that_are_read_in_parts_are_those_of_the_text(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary_text, "_LENGTH", 0)
    flows: list[dict[str, Any]] = [
        {"id": number, "label": '],"flows":[{},{"id":', "rtt_s": None, "bytes": [1, [2]]}
        for number in range(count)
    ]
    numbers = {
        "seed": 1, "warnings": ['x,"flows":[1', "ä]"], "flows": flows, "demand": [{"flows": 3}],
    }  # fmt: skip
    for ensure_ascii in (True, False):
        text = json.dumps(numbers, separators=(",", ":"), ensure_ascii=ensure_ascii)
        assert read_summary(text) == numbers
        assert list(read_summary(text)) == list(numbers), "the order of a file of numbers"


def test_what_is_read_at_once_has_no_flows_or_few(monkeypatch: pytest.MonkeyPatch) -> None:
    few = '{"seed":1,"flows":[{"id":0}]}'
    assert read_summary(few) == json.loads(few)
    monkeypatch.setattr(summary_text, "_LENGTH", 0)
    assert read_summary('{"seed":1}') == {"seed": 1}
