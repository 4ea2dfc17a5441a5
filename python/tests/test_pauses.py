"""Applications that write little, pause, and write again."""

from __future__ import annotations

from typing import Any

import pytest

import burstlab as bl


def path(delay: str, rate: str, **tcp: Any) -> dict[str, Any]:
    return {
        "network": {"core_nodes": 1, "link_rate": "10 Gb/s", "link_delay": delay},
        "access": {"rate": rate, "delay": "1 ms", "queue_bytes": "200 KB"},
        "edge": {"assembly": "none"},
        "tcp": {"profile": "linux", **tcp},
        "run": {"duration": "4 s"},
    }


def script(*writes: tuple[float, int]) -> list[dict[str, Any]]:
    rows = [{"at": f"{at:.3f} s", "bytes": f"{count} B"} for at, count in writes]
    return [{"script": rows}]


def sent(document: dict[str, Any]) -> list[tuple[float, int]]:
    """Run, and return when each data packet left for the first time, in s, and its size."""
    packets = bl.run(document, trace=("packets",), jobs=1).packets.to_pylist()
    first = [row for row in packets if row["kind"] == "data" and row["transmission"] == 1]
    return [(row["sent_ps"] * 1e-12, row["size_bytes"]) for row in first if row["seq"] > 0]


def windows(document: dict[str, Any], begin: float) -> list[float]:
    """Run, and return the congestion window after each ACK from ``begin`` on, in segments."""
    rows = bl.run(document, trace=("cwnd",), jobs=1).cwnd.to_pylist()
    return [row["cwnd"] for row in rows if row["event"] == "ack" and row["t_ps"] > begin * 1e12]


@pytest.mark.parametrize(
    ("tcp", "headers"),
    [
        ({"profile": "linux"}, 52),
        ({"profile": "linux", "grouping": True}, 52),
        ({"profile": "linux", "window_law": "bbr"}, 52),
        ({"profile": "rfc"}, 40),
        ({"profile": "ns2"}, 40),
    ],
)
def test_no_byte_leaves_before_it_is_written(tcp, headers):
    writes = [(0.2 * n, 700 + 10 * n) for n in range(1, 7)]
    (flow,) = script(*writes)
    flows = [{**flow, "closes": False}]
    document = {**path("3 ms", "10 Mb/s"), "tcp": tcp, "flows": flows}
    rows = sent(document)
    assert [size - headers for _, size in rows] == [count for _, count in writes]
    for (left, _), (written, _) in zip(rows, writes, strict=True):
        assert left == pytest.approx(written, abs=1e-6)
    (flow,) = bl.run(document, jobs=1).flows.to_pylist()
    assert flow["bytes_delivered"] == sum(count for _, count in writes)
    assert flow["received_s"] > writes[-1][0]


def test_a_window_that_begins_anew_and_one_that_does_not():
    """After 0.4 s of silence: 10 or 20 segments at once, as the restart says."""
    for window, expected in ((10, 10), (0, 20)):
        document = path("1.5 ms", "3130000 b/s", idle_restart_window=window)
        document["flows"] = script((0.15, 14_480), (0.55, 200_000))
        rows = sent(document)
        assert sum(0.549 < at < 0.552 for at, _ in rows) == expected


def test_without_a_restart_an_unused_window_stays():
    document = path("13 ms", "20 Mb/s", idle_restart_window=0)
    document["access"]["queue_bytes"] = "60 KB"
    document["run"] = {"duration": "7 s"}
    document["flows"] = script((0.0, 6_000_000), (5.0, 1_448), (5.01, 1_448), (5.2, 1_448))
    before = windows(document, 4.5)
    assert len(set(before)) == 1, "the window of 4.5 s is that of 7 s"


def test_bbr_does_not_probe_the_round_trip_as_it_restarts():
    document = path("13 ms", "20 Mb/s", window_law="bbr")
    document["run"] = {"duration": "22 s"}
    document["flows"] = script((0.0, 10_000_000), (20.0, 10_000_000))
    window = windows(document, 20.0)
    assert min(window[:200]) > 20, "no window of four segments"


def test_bbr3_counts_extra_acks_anew_after_each_pause():
    document = path("6 ms", "20 Mb/s", window_law="bbr3")
    pauses = [(0.1 * n, 14_480) for n in range(100)]
    document["flows"] = script(*pauses, (10.0, 5_000_000))
    document["run"] = {"duration": "14 s"}
    result = bl.run(document, trace=("cwnd",), jobs=1)
    rows = [row for row in result.cwnd.to_pylist() if row["event"] == "ack"]
    product = 20e6 * 0.026 / 8 / 1500
    assert max(row["cwnd"] for row in rows if row["t_ps"] < 10e12) < 4 * product
    assert result.flows.to_pylist()[0]["packets_lost"] == 0


def test_a_late_syn_leaves_the_threshold():
    """Round trips on both sides of the first time-out of 1 s: only the first window differs."""
    took: dict[str, float] = {}
    for delay in ("246 ms", "250 ms"):
        document = path(delay, "100 Mb/s")
        document["tcp"] = {"profile": "rfc"}
        document["flows"] = [{"bytes": "200 KB"}]
        document["run"] = {"duration": "100 s"}
        result = bl.run(document, trace=("cwnd",), jobs=1)
        took[delay] = result.flows.to_pylist()[0]["completed_s"]
        assert min(row["ssthresh"] for row in result.cwnd.to_pylist()) > 2
    # From a window of one in place of three or ten: some round trips more.
    assert took["250 ms"] < took["246 ms"] + 5


def test_a_repeated_syn_measures_a_round_trip():
    document = path("5 ms", "100 Mb/s")
    document["flows"] = [{"bytes": "20 KB"}]
    document["loss"] = {"data": {"process": "script", "departures": [1]}}
    rows = bl.run(document, trace=("cwnd",), jobs=1).cwnd.to_pylist()
    first = next(row for row in rows if row["event"] == "ack")
    # A round trip of 24 ms and more, and 200 ms.
    assert 0.224e12 <= first["rto_ps"] <= 0.226e12


def test_a_segment_with_sack_blocks_has_less_data():
    document = path("6 ms", "11700000 b/s", window_law="aimd")
    document["flows"] = [{"bytes": "144800 B", "reverse": {"bytes": "144800 B"}}]
    document["loss"] = {"data": {"process": "script", "departures": [30]}}
    packets = bl.run(document, trace=("packets",), jobs=1).packets.to_pylist()
    data = [row for row in packets if row["kind"] == "data" and row["seq"] > 0]
    assert max(row["size_bytes"] for row in data) == 1_500, "no packet is above the MTU"
    for flow in (0, 1):
        first = {row["seq"]: row for row in data if row["flow"] == flow}
        blocks = 0
        begin = 0
        for _, row in sorted(first.items()):
            begin += row["size_bytes"] - 52
            blocks += row["size_bytes"] == 1_500
        assert begin >= 144_800 and blocks > 90


def test_cubic_over_a_round_trip_below_a_tick_is_warned_of():
    document = path("10 us", "10 Gb/s")
    document["access"] = {"rate": "10 Gb/s", "delay": "10 us"}
    document["flows"] = [{"bytes": "1 MB"}]
    (warning,) = bl.run(document, jobs=1).warnings
    assert "ticks" in warning and "flows[0]" in warning
    document["tcp"]["window_law"] = "aimd"
    assert not bl.run(document, jobs=1).warnings
    document["tcp"]["window_law"] = "cubic"
    document["access"]["delay"] = "1 ms"
    assert not bl.run(document, jobs=1).warnings
