"""Segments that are shorter than others: where a receiver's window ends within one."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from typing import Any

import pytest
from captures import read

import burstlab as bl
from burstlab.export import export

HEADERS = 52
PAYLOAD = 1448
BYTES = 1_000_000


def scenario(seed: int, **tcp: Any) -> dict[str, Any]:
    return {
        "network": {"topology": "path"},
        "access": {"rate": "20 Mb/s"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "tcp": {"profile": "linux", "grouping": True, "window_clamp": "20000 B", **tcp},
        "flows": [{"bytes": f"{BYTES} B"}],
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "run": {"duration": "120 s", "seed": seed},
    }


@pytest.fixture(scope="module", params=[1, 2, 3])
def result(request):
    return bl.run(scenario(request.param), trace=("packets", "bursts", "cwnd"))


def segments(result: bl.Result) -> list[dict[str, Any]]:
    """Rows of segments with data, in the order in which they were sent."""
    names = ("kind", "seq", "size_bytes", "transmission", "delivered_ps", "fate")
    columns = [result.packets.column(name).to_pylist() for name in names]
    rows: list[dict[str, Any]] = [
        dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)
    ]
    return [row for row in rows if row["kind"] == "data" and row["seq"] > 0]


def begins(result: bl.Result) -> dict[int, int]:
    """Where each segment begins in the data, from 0, by what was sent."""
    found, end = {}, 0
    for row in segments(result):
        if row["seq"] not in found:
            assert row["seq"] == len(found) + 1
            found[row["seq"]] = end
            end += row["size_bytes"] - HEADERS
    assert end == BYTES
    return found


def test_the_rest_of_a_window_takes_part_of_a_segment(result):
    lengths: dict[int, set[int]] = {}
    for row in segments(result):
        lengths.setdefault(row["seq"], set()).add(row["size_bytes"] - HEADERS)
    assert all(len(one) == 1 for one in lengths.values()), "sent again as it was"
    assert sum(one != {PAYLOAD} for one in lengths.values()) >= 5
    assert len(lengths) > -(-BYTES // PAYLOAD)
    begins(result)


def test_what_was_delivered_is_counted_in_bytes(result):
    (flow,) = result.summary["flows"]
    assert flow["bytes_delivered"] == flow["bytes_in_order"] == BYTES
    rows = segments(result)
    assert flow["segments_delivered"] == max(row["seq"] for row in rows)
    arrived: dict[int, int] = {}
    for row in rows:
        if row["fate"] == "delivered":
            at = arrived.get(row["seq"], row["delivered_ps"])
            arrived[row["seq"]] = min(at, row["delivered_ps"])
    # It is there when the last of all of them is.
    assert flow["received_s"] == pytest.approx(max(arrived.values()) * 1e-12, abs=1e-12)
    assert flow["completed_s"] > flow["received_s"]


@pytest.mark.parametrize("place", ["sender", "receiver"])
def test_a_capture_numbers_bytes_as_they_were_sent(result, place, tmp_path):
    path = tmp_path / "out.pcapng"
    export(result, "pcapng", path, at=place)
    known = {1 + begin for begin in begins(result).values()}
    ends: set[int] = set()
    for packet in read(path).packets:
        header = packet.data[20:]
        number, acked = struct.unpack_from(">II", header, 4)
        length = packet.length - 20 - 4 * (header[12] >> 4)
        if length > 0:
            assert number in known
            ends.add(number + length)
        elif number > 0 and packet.data[12] == 10 and packet.data[13] >= 128:
            # From a receiver's address.
            assert acked in known | {0, 1, BYTES + 1}
    assert max(ends) == BYTES + 1
    assert ends <= known | {BYTES + 1}


def test_a_log_of_quic_has_the_offsets(result, tmp_path):
    path = tmp_path / "out.qlog"
    export(result, "qlog", path)
    frames = [
        frame
        for line in path.read_text().lstrip("\x1e").split("\x1e")
        for event in [json.loads(line)]
        if event.get("name") == "transport:packet_sent"
        for frame in event["data"]["frames"]
    ]
    offsets = sorted({(frame["offset"], frame["length"]) for frame in frames if frame["length"]})
    assert all(left[0] + left[1] == right[0] for left, right in pairwise(offsets))
    assert sum(offsets[-1]) == BYTES


def test_without_groups_segments_are_whole():
    result = bl.run(scenario(1, grouping=False), trace=("packets",))
    short = [row for row in segments(result) if row["size_bytes"] - HEADERS < PAYLOAD]
    assert {row["seq"] for row in short} == {-(-BYTES // PAYLOAD)}


def test_what_is_written_before_the_last_write_is_sent_to_its_byte():
    """Where no segment waits for more: a second after the write before."""
    writes = [1_000, 5_000, 100, 10_000]
    script = [{"at": f"{at} s", "bytes": f"{bytes_} B"} for at, bytes_ in enumerate(writes)]
    document: dict[str, Any] = {
        **scenario(1),
        "flows": [{"script": script, "closes": False}],
        "loss": {},
    }
    result = bl.run(document, trace=("packets",))
    lengths = [row["size_bytes"] - HEADERS for row in segments(result)]
    assert lengths == [1_000, *[PAYLOAD] * 3, 656, 100, *[PAYLOAD] * 6, 1_312]
    (flow,) = result.summary["flows"]
    assert flow["bytes_delivered"] == sum(writes) and flow["received_s"] is not None
    document["tcp"] = {**document["tcp"], "grouping": False}
    alone = bl.run(document, trace=("packets",))
    assert [row["size_bytes"] - HEADERS for row in segments(alone)] == lengths
