"""Documents of commands: the text of the library's encoder, part by part."""

from __future__ import annotations

import json

import pytest

from burstlab.cli.printing import parts

DOCUMENTS = [
    {},
    [],
    {"a": {}, "b": [], "c": [[]], "d": [{}]},
    {"name": 'a "quote" and ü', "flows": [{"id": 0, "rtt_s": 0.1}, {"id": 1, "rtt_s": None}]},
    [1, [2.5, [True, [None, ["deep", [{"deeper": [1]}]]]]]],
    {"estimates": {"goodput": {"mean": 1e300, "ci95": None, "n": 2}}, "warnings": []},
    {"estimates": {f"{n}": {"mean": n / 7} for n in range(100)}, "flows": [{"sizes": [1]}] * 100},
    {"replications": [{"flows": [{"sizes": []}] * n} for n in (15, 16, 17, 48)] * 20},
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_parts_are_what_the_encoder_writes(document):
    assert "".join(parts(document)) == json.dumps(document)


def test_no_part_has_more_than_a_few_flows():
    """Between two parts Ctrl-C is heard, and one call of the encoder hears none."""
    flow = {f"number_{n}": n / 7 for n in range(60)} | {"sizes": [1, 2]}
    document = {
        "estimates": {f"flow[{n}].number": {"mean": 0.5, "n": 2} for n in range(2000)},
        "replications": [{"flows": [flow] * 1000}] * 2,
    }
    written = list(parts(document))
    assert "".join(written) == json.dumps(document)
    assert max(map(len, written)) <= len(json.dumps([flow] * 16))


def test_a_number_that_json_has_not_is_refused():
    with pytest.raises(ValueError, match="Out of range"):
        list(parts({"flows": [{"rtt_s": float("nan")}]}))
