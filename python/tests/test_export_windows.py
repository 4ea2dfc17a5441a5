"""Windows that receivers decide on: exports show those that were advertised, and no other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import captures
import pytest

import burstlab as bl
from burstlab.errors import InputError
from burstlab.export import export
from burstlab.export.packets import Capture

#: A flow that its receiver holds back: with segments of 960 bytes on a path of 40 ms.
NARROW = {"receive_buffer": "64 KB", "receive_buffer_max": "64 KB"}
SEGMENT = {"segment_size": "1 KB"}
SETTINGS: dict[str, dict[str, Any]] = {
    "grows": {},
    "narrow": NARROW,
    "unscaled": {"window_scaling": False},
    "clamped": {"window_clamp": "20 KB"},
    "bounded": {"window": 20},
}
#: 6 MiB need 7 digits beyond 16, 64 KB one less than one, 20 KB none.
SCALES = {"grows": 7, "narrow": 0, "unscaled": 0, "clamped": 0, "bounded": 7}
#: Half of the buffer, in whole segments of 948 bytes (40 bytes of headers and 12 of time stamps).
PAYLOAD = 948
FIRST = {
    "grows": 65_536 // PAYLOAD * PAYLOAD,
    "narrow": 32_000 // PAYLOAD * PAYLOAD,
    "unscaled": 65_536 // PAYLOAD * PAYLOAD,
    "clamped": 20_000 // PAYLOAD * PAYLOAD,
    "bounded": 20 * PAYLOAD,
}


def run(settings: dict[str, Any], **more: Any) -> bl.Result:
    scenario: dict[str, Any] = {
        "network": {"core_nodes": 2, "link_delay": "15 ms"},
        "access": {"rate": "100 Mb/s", "delay": "2 ms"},
        "edge": {"assembly": "timer", "timer": "1 ms"},
        "tcp": {"profile": "linux", "window": 4000, **SEGMENT, **settings},
        "loss": {"data": {"process": "every", "n": 60}, "ack": {"process": "every", "n": 90}},
        "run": {"duration": "2 s", "seed": 3},
    }
    return bl.run({**scenario, **more}, trace=("packets", "bursts"))


def shown(result: bl.Result, flow: int = 0) -> list[dict[str, Any]]:
    """Return the rows of the ACKs of a flow, in the order of sending."""
    return result.packets.where(flow=flow, kind="ack").to_pylist()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_capture_has_the_windows_that_were_advertised(tmp_path, name):
    result = run(SETTINGS[name])
    rows = result.packets.to_pylist()
    Capture(result, "receiver").write(tmp_path / "x.pcapng")
    scale, seen = SCALES[name], 0
    for packet in captures.read(tmp_path / "x.pcapng").packets:
        flags, field = packet.data[33], int.from_bytes(packet.data[34:36], "big")
        row = rows[int.from_bytes(packet.data[4:6], "big")]
        options = packet.data[40 : 20 + 4 * (packet.data[32] >> 4)]
        if flags & 2:
            scaled = re.search(rb"\x01\x03\x03(.)", options)
            assert (scaled[1][0] if scaled else 0) == scale
            # Neither SYN is scaled.
            first = min(FIRST[name], 65_535)
            assert first <= field < first + (1 << scale if row["kind"] == "ack" else 1)
        if row["kind"] == "ack":
            seen += 1
            assert field << (0 if flags & 2 else scale) == row["window_bytes"]
        elif not flags & 2:
            assert FIRST[name] <= field << scale < FIRST[name] + (1 << scale)
    windows = {row["window_bytes"] for row in shown(result)}
    assert seen == len(shown(result)) > 50 and None not in windows
    assert len(windows) > 20 if name == "grows" else len(windows) < 40
    bounds = {"unscaled": 65_535, "bounded": 20 * PAYLOAD + (1 << scale), "narrow": 64_000}
    assert max(windows) <= bounds.get(name, 6 << 20)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_byte_is_sent_beyond_the_window_that_the_sender_has_heard(name):
    """The table's window bounds a sender, and often limits it."""
    result = run(SETTINGS[name])
    events = [
        (row["delivered_ps"], 0, PAYLOAD * row["seq"] + row["window_bytes"])
        for row in shown(result)
        if row["fate"] == "delivered"
    ]
    data = result.packets.where(flow=0, kind="data").to_pylist()
    events += [(row["sent_ps"], 1, PAYLOAD * row["seq"]) for row in data if row["seq"]]
    edge = reached = 0
    for _, sends, byte in sorted(events):
        if not sends:
            edge = max(edge, byte)
            continue
        assert byte <= edge
        reached += byte > edge - PAYLOAD
    if name in ("narrow", "bounded"):
        assert reached > 100, "the window is what bounds it"


def test_qlog_and_xplot_have_the_same_windows(tmp_path):
    result = run({})
    heard = [
        (row["delivered_ps"], PAYLOAD * row["seq"], row["window_bytes"])
        for row in shown(result)
        if row["fate"] == "delivered"
    ]
    heard.sort(key=lambda one: one[0])
    (log,) = export(result, "qlog", tmp_path / "x.qlog", flow=0)
    lines = [json.loads(record) for record in log.read_text().split("\x1e")[2:]]
    room = [
        frame["maximum"]
        for line in lines
        if line["name"] == "transport:packet_received"
        for frame in line["data"]["frames"]
        if frame["frame_type"] == "max_data"
    ]
    assert room == [acked + window for _, acked, window in heard]
    (file,) = export(result, "xplot", tmp_path / "x.xpl", flow=0)
    pairs = re.findall(r"yellow\nline (\S+) (\d+) (\S+) (\d+)\n", file.read_text())
    steps = [(float(a), int(low), int(high)) for a, low, b, high in pairs if a == b]
    assert [high for _, _, high in steps] == [1 + acked + wide for _, acked, wide in heard[1:]]
    levels = [int(low) for a, low, b, high in pairs if a != b]
    assert set(levels) <= {1 + acked + wide for _, acked, wide in heard}


def lengths_of(rows: list[dict[str, Any]], flow: int, blocks: Mapping[int, int]) -> dict[int, int]:
    """Return the bytes of data in each segment: SACK blocks take 4 bytes, and 8 each."""
    lengths: dict[int, int] = {}
    for number, row in enumerate(rows):
        if row["kind"] == "data" and row["flow"] == flow and row["seq"] > 0:
            options = 4 + 8 * blocks[number] if blocks[number] else 0
            lengths.setdefault(row["seq"], row["size_bytes"] - 52 - options)
    return lengths


def test_a_window_that_comes_with_data_is_shown_too(tmp_path):
    flows = [{"bytes": "600 KB", "reverse": {"bytes": "600 KB"}}]
    result = run({}, flows=flows, run={"duration": "20 s"})
    rows = result.packets.to_pylist()
    carried = result.table("packets_acks")["packet"].tolist()
    assert carried and all(rows[number]["window_bytes"] is not None for number in carried)
    Capture(result, "sender").write(tmp_path / "x.pcapng")
    seen = 0
    for packet in captures.read(tmp_path / "x.pcapng").packets:
        flags, field = packet.data[33], int.from_bytes(packet.data[34:36], "big")
        row = rows[int.from_bytes(packet.data[4:6], "big")]
        if row["window_bytes"] is not None:
            seen += row["kind"] == "data"
            assert field << (0 if flags & 2 else 7) == row["window_bytes"]
    assert seen > 100
    blocks = Counter(result.table("packets_sack").column("packet").to_pylist())
    for flow in (0, 1):
        (log,) = export(result, "qlog", tmp_path / f"{flow}.qlog", flow=flow)
        lines = [json.loads(record) for record in log.read_text().split("\x1e")[2:]]
        arrived = {
            (row["delivered_ps"] // 1000 / 1e6, row["window_bytes"])
            for row in rows
            if row["delivered_ps"] is not None
            and (row["kind"], row["flow"]) in (("ack", flow), ("data", 1 - flow))
        }
        lengths = lengths_of(rows, flow, blocks)
        for line in lines:
            if line["name"] != "transport:packet_received":
                continue
            (room,) = (
                frame["maximum"]
                for frame in line["data"]["frames"]
                if frame["frame_type"] == "max_data"
            )
            acked = sum(lengths[seq] for seq in range(1, line["data"]["burstlab"]["segment"] + 1))
            assert (line["time"], room - acked) in arrived, line


def test_where_the_scenario_has_the_window_it_is_shown_and_the_table_has_none(tmp_path):
    result = run({"profile": "rfc", "variant": "sack", "window": 50})
    assert {row["window_bytes"] for row in shown(result)} == {None}
    Capture(result, "sender").write(tmp_path / "x.pcapng")
    for packet in captures.read(tmp_path / "x.pcapng").packets:
        if packet.data[12:16] == bytes([10, 128, 0, 0]):
            assert int.from_bytes(packet.data[34:36], "big") == 50 * 960


def test_a_table_without_the_windows_is_refused(tmp_path):
    from burstlab.tables import Recorded, Table

    result = run({})
    held = result.replications[0].tables
    names = [name for name in result.packets.columns if name != "window_bytes"]

    class Older:
        """The packets of a result of an older version."""

        def __init__(self, whole: bl.Result) -> None:
            self._whole = whole
            self.packets = whole.packets.select([name for name in names if name != "replication"])

        def __getattr__(self, name: str) -> Any:
            return getattr(self._whole, name)

    assert isinstance(held, Recorded) and isinstance(result.packets, Table)
    for name in ("pcapng", "qlog", "xplot"):
        with pytest.raises(InputError, match=r"older version(.|\n)*fix: run it again"):
            export(Older(result), name, tmp_path / f"x.{name}", flow=0)  # type: ignore[arg-type]
