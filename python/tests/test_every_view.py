"""Every export, plot and view of every kind of host works, or is refused with a fix.

Third-party stacks are looked at where the engine knows them, live hosts where a kernel was built.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.export import FORMATS
from burstlab.live import kernels, live

#: A group and a severity of tshark's remarks.
SEQUENCE, WARNING = "33554432", 0x600000

TABLES = ("packets", "bursts", "cwnd", "ledger")
HOME = os.environ.get(kernels.VARIABLE) or Path.home() / ".cache" / "burstlab" / "kernels"
BUILT = [image for image in sorted(Path(HOME).glob("*/linux")) if not kernels.lacks(image)]

LAW = Path(__file__).parents[2] / "examples/laws/scalable.py"

#: A flow of each kind of host.
KINDS: dict[str, Any] = {
    "classic": {"tcp": {"variant": "sack"}},
    "linux": {"tcp": {"profile": "linux"}},
    "both ways": {"tcp": {"profile": "linux"}, "reverse": {"bytes": "60 KB"}},
    "class": {
        "tcp": {"window_law": "python", "window_law_class": {"file": str(LAW), "class": "Scalable"}}
    },
    "quinn": {"stack": "quinn", "congestion_control": "cubic"},
    "quinn bbr": {"stack": "quinn", "congestion_control": "bbr"},
    "noq": {"stack": "noq", "congestion_control": "bbr3"},
    "quiche": {"stack": "quiche"},
    "smoltcp": {"stack": "smoltcp", "congestion_control": "cubic"},
    "quinn both ways": {"stack": "quinn", "reverse": {"bytes": "60 KB"}, "streams": 3},
    "smoltcp both ways": {"stack": "smoltcp", "reverse": {"bytes": "60 KB", "reply": True}},
    "live": None,
}
#: The same; one of them is tried in every run of the tests.
EVERY = [
    kind if kind == "classic" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS
]
LIVE = pytest.param("live", marks=pytest.mark.slow)
STACKS = ("quinn", "quinn bbr", "noq", "quiche", "smoltcp")
BOTH_WAYS = ("quinn both ways", "smoltcp both ways")

EXPORTS = [
    *(["export", "--format", name] for name in FORMATS),
    *(["export", "--format", "pcapng", "--at", at] for at in ("receiver", "ingress", "node:1")),
]
PLOTS = [["plot", kind] for kind in ("sequence", "window", "occupancy", "load", "bursts")]


def scenario(kind: str) -> dict[str, Any]:
    network: dict[str, Any] = {
        "network": {"core_nodes": 2},
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
        "run": {"duration": "20 s", "seed": 3},
    }
    if kind == "live":
        bulk = [sys.executable, "-m", "burstlab.live.bulk"]
        hosts = [["send", "10.9.0.2", "5001", "100000"], ["receive", "5001"]]
        addresses = ("10.9.0.1", "10.9.0.2")
        return network | {
            "live": [
                {"address": address, "command": [*bulk, *words]}
                for address, words in zip(addresses, hosts, strict=True)
            ]
        }
    return network | {"flows": [{"bytes": "100 KB", **KINDS[kind]}]}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run a kind once, and say where its result is."""
    made: dict[tuple[str, bool], Path] = {}

    def result(kind: str, *, datagrams: bool = False) -> Path:
        if (kind, datagrams) not in made:
            if kind == "live" and not BUILT:
                pytest.skip("no kernel was built: burstlab kernel build")
            document, out = scenario(kind), tmp_path_factory.mktemp("result") / "out"
            try:
                bl.resolve(document)
            except bl.ScenarioError:
                assert kind in (*STACKS, *BOTH_WAYS)
                pytest.skip(f"this engine does not know {kind}")
            traced = (*TABLES, "datagrams") if datagrams else TABLES
            if kind == "live":
                with pytest.MonkeyPatch.context() as patch:
                    patch.setenv(kernels.VARIABLE, str(HOME))
                    live(document, trace=traced, out=out)
            else:
                bl.run(document, trace=traced, out=out)
            made[kind, datagrams] = out
        return made[kind, datagrams]

    return result


def looked_at(burstlab, where, words, file):
    """Call a command; say whether it worked, and that it refuses with a fix alone."""
    command, *rest = words
    more = [] if command == "view" else ["--out", file]
    answer = burstlab(command, where, *rest, *more)
    assert answer.status in (0, 2), (words, answer.err)
    assert "Traceback" not in answer.err
    if answer.status:
        assert "\n  fix: " in answer.err, answer.err
    return answer.status == 0


@pytest.mark.parametrize("kind", EVERY)
def test_every_export_plot_and_view_works_or_is_refused(burstlab, results, kind, tmp_path):
    where, refused = results(kind), set()
    page = ["view", "--export", str(tmp_path / "page.html")]
    for number, words in enumerate([*EXPORTS, *PLOTS, page]):
        file = tmp_path / (f"{number}.svg" if words[0] == "plot" else str(number))
        if not looked_at(burstlab, where, words, file):
            refused.add(words[2] if words[0] == "export" else words[1])
    third_party = {"pcapng"} if kind in (*STACKS, *BOTH_WAYS, "live") else set()
    # A load needs run.occupancy; packets of live hosts have several ports.
    assert refused == {"load"} | third_party | ({"flowmon"} if kind == "live" else set())


@pytest.mark.parametrize("kind", [*STACKS, LIVE])
def test_what_a_third_party_does_not_tell_is_null_and_not_written(results, kind, tmp_path):
    result = bl.read(results(kind))
    rows = result.cwnd.to_pylist()
    assert rows
    for name in ("rtt_ps", "sample_ps", "rttvar_ps", "backoff", "base_rtt_ps"):
        assert {row[name] for row in rows} == {None}, name
    shown = {"live": True}.get(kind, False)
    assert all((row["rto_ps"] is not None) == shown for row in rows)
    assert all((row["rto_ps"] is not None) == shown for row in result.ledger.to_pylist())
    known = {row["state"] for row in rows if row["cwnd"] is None}
    assert known <= {"unknown", "recovery"}
    result.export("perfetto", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(), parse_constant=pytest.fail)
    assert any(event["ph"] == "C" for event in events["traceEvents"])
    result.export("qlog", tmp_path / "log.qlog")
    log = [json.loads(one) for one in (tmp_path / "log.qlog").read_text().split("\x1e") if one]
    assert log[0]["trace"]["common_fields"]["protocol_type"] == ["UNKNOWN"]
    sent = [one["data"] for one in log[1:] if one["name"] == "transport:packet_sent"]
    assert len(sent) == result.summary["flows"][0]["packets_sent"]
    assert not any("packet_number" in one["header"] or "frames" in one for one in sent)
    metrics = [one["data"] for one in log[1:] if one["name"] == "recovery:metrics_updated"]
    assert not any({"congestion_window", "latest_rtt", "pto_count"} & one.keys() for one in metrics)


def blocks(file: Path) -> list[tuple[int, bytes]]:
    """Return the kind of each block of a capture, and its body."""
    data, found, place = file.read_bytes(), [], 0
    while place < len(data):
        kind, total = struct.unpack_from("<II", data, place)
        found.append((kind, data[place + 8 : place + total - 4]))
        place += total
    return found


def checksum(packet: bytes) -> int:
    words = sum(struct.unpack(f">{(len(packet) + 1) // 2}H", packet + bytes(len(packet) % 2)))
    return words % 0xFFFF


def in_capture(file: Path) -> list[bytes]:
    """Return the packets of a capture, whose checksums are right."""
    found: list[bytes] = []
    for kind, body in blocks(file):
        if kind != 6:
            continue
        kept, length = struct.unpack_from("<II", body, 12)
        packet = body[20 : 20 + kept]
        assert kept == length == int.from_bytes(packet[2:4], "big")
        assert checksum(packet[:20]) == 0
        rest = packet[20:]
        assert (
            checksum(packet[12:20] + bytes([0, packet[9]]) + struct.pack(">H", len(rest)) + rest)
            == 0
        )
        found.append(packet)
    return found


@pytest.mark.parametrize("kind", [*STACKS, LIVE])
def test_a_capture_has_what_third_parties_sent(burstlab, results, kind, tmp_path):
    where = results(kind, datagrams=True)
    result = bl.read(where)
    for at in ("sender", "receiver", "ingress"):
        file = tmp_path / f"{at}.pcapng"
        assert burstlab("export", where, "--at", at, "--out", file).status == 0
        packets = in_capture(file)
        sizes = Counter(map(len, packets))
        passed = result.packets.to_pylist()
        columns = {"sender": ("sent_ps", "delivered_ps"), "receiver": ("delivered_ps", "sent_ps")}
        data, ack = columns.get(at, ("departed_ps", "egress_ps"))
        seen = [row for row in passed if row[data if row["kind"] == "data" else ack] is not None]
        assert sizes == Counter(row["size_bytes"] for row in seen)
        udp = kind in STACKS and kind != "smoltcp"
        assert {packet[9] for packet in packets} == {17 if udp else 6}
        secrets = [body for one, body in blocks(file) if one == 10]
        assert len(secrets) == udp
        if udp:
            assert b"CLIENT_TRAFFIC_SECRET_0 " in secrets[0]
            # The first packet is the Initial of a client (RFC 9000, section 17.2.2).
            assert at != "sender" or (packets[0][28] & 0xF0 == 0xC0 and len(packets[0]) >= 1228)
    # Data that the kernel or smoltcp sends are those of the application: zeros.
    if not udp:
        assert any(packet.endswith(bytes(1000)) for packet in packets)


@pytest.mark.parametrize("kind", BOTH_WAYS)
def test_a_capture_has_both_directions_of_a_connection(burstlab, results, kind, tmp_path):
    where, file = results(kind, datagrams=True), tmp_path / "sender.pcapng"
    rows = bl.read(where).packets.to_pylist()
    assert {row["kind"] for row in rows} == {"data"}
    assert {row["flow"] for row in rows} == {0, 1}
    assert burstlab("export", where, "--out", file).status == 0
    packets = in_capture(file)
    # At the sender of the connection data of the flow back arrive.
    passed = [row for row in rows if row["flow"] == 0 or row["delivered_ps"] is not None]
    assert Counter(map(len, packets)) == Counter(row["size_bytes"] for row in passed)
    ends = Counter((packet[12:16], packet[16:20]) for packet in packets)
    (one, count), (other, others) = ends.most_common()
    assert one == other[::-1]
    counts = Counter(row["flow"] for row in passed)
    assert sorted((count, others)) == sorted(counts.values())


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("kind", [*STACKS, LIVE])
def test_tshark_reads_and_decrypts_it(burstlab, results, kind, tmp_path):
    file = tmp_path / "sender.pcapng"
    assert burstlab("export", results(kind, datagrams=True), "--out", file).status == 0

    def fields(*names: str, only: str = "frame") -> list[list[str]]:
        words = ["tshark", "-r", str(file), "-Y", only, "-T", "fields", "-E", "separator=;"]
        words += [word for name in names for word in ("-e", name)]
        words += [f"-o{name}.check_checksum:TRUE" for name in ("ip", "tcp", "udp")]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return [line.split(";") for line in done.stdout.splitlines()]

    # The verdicts of tshark on the sequence of TCP, such as "out of order", are guesses: the bytes
    # are those that were sent. It warns of nothing in QUIC or other protocols.
    for groups, severities in fields("_ws.expert.group", "_ws.expert.severity"):
        for group, severity in zip(groups.split(","), severities.split(","), strict=False):
            assert group in ("", SEQUENCE) or int(severity) < WARNING
    if kind in ("smoltcp", "live"):
        assert {row[0] for row in fields("_ws.col.Protocol")} == {"TCP"}
        return
    assert {row[0] for row in fields("_ws.col.Protocol")} == {"QUIC"}
    # Decrypted: all that the application wrote is in frames of its stream.
    covered = 0
    names = ("quic.stream.offset", "quic.stream.length", "quic.stream_data")
    parts: list[tuple[int, int]] = []
    for offsets, _, data in fields(*names, only="quic.stream_data"):
        sizes = [len(one) // 2 for one in data.split(",")]
        begins = [int(one) for one in offsets.split(",") if one]
        # The first frame of a stream says no offset.
        begins = [0] * (len(sizes) - len(begins)) + begins
        parts += zip(begins, sizes, strict=True)
    for begin, size in sorted(parts):
        assert begin <= covered, "a part of the stream is in no packet"
        covered = max(covered, begin + size)
    assert covered == 100_000


def test_a_capture_without_datagrams_is_refused_by_the_flow(burstlab, results, tmp_path):
    answer = burstlab("export", results("quinn"), "--out", tmp_path / "none.pcapng")
    assert answer.status == 2
    assert "flow 0: its hosts are third-party" in answer.err
    assert "--trace datagrams" in answer.err
    assert not (tmp_path / "none.pcapng").exists()


def test_datagrams_of_our_own_hosts_are_refused(burstlab, root, tmp_path):
    answer = burstlab(
        "run", root / "examples/one_burst.toml", "--trace", "datagrams", "--out", tmp_path / "out"
    )
    assert answer.status == 2
    assert "only third-party hosts record datagrams" in answer.err
    assert "\n  fix: leave out the trace of datagrams" in answer.err
