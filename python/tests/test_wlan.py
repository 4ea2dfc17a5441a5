"""Wireless cells, from a scenario to numbers, as a user meets them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import burstlab as bl
from burstlab.analytic import wlan

SCENARIO: dict[str, Any] = {
    "network": {"link_rate": "1 Gb/s", "link_delay": "1 ms"},
    "access": {"rate": "100 Mb/s", "delay": "1 ms"},
    "edge": {"assembly": "none"},
    "tcp": {"variant": "new-reno", "window": 128, "segment_size": "1500 B", "delayed_ack": False},
    "run": {"duration": "40 s", "warmup": "5 s", "replications": 2},
}


def run(cell: dict[str, Any], jobs: int = 1) -> bl.Result:
    return bl.run({**SCENARIO, "wlan": [cell]}, jobs=jobs)


def goodput(result: bl.Result) -> float:
    return result.estimates()["goodput_bps"]["mean"] / 1e6


@pytest.mark.parametrize("access", ["basic", "rts"])
@pytest.mark.parametrize("basic_mbps", [1, 2])
def test_the_goodput_lies_between_the_closed_forms(access, basic_mbps):
    more = {"rts_threshold": "0 B"} if access == "rts" else {}
    measured = goodput(run({"basic_rate": f"{basic_mbps} Mb/s", **more}))
    timing = wlan.Timing(basic_mbps=basic_mbps)
    least = wlan.tcp_goodput(timing=timing, access=access)
    most = wlan.tcp_goodput(timing=timing, access=access, backoffs="shared")
    assert least < measured < most
    assert measured == pytest.approx(most, rel=0.02)


def test_the_residual_loss_is_the_one_that_was_asked_for():
    error = float(wlan.frame_error(0.05))
    result = run({"loss": "frame-error", "probability": error})
    down = [cells[0]["down"] for cells in result.wlan]
    ended = sum(way["delivered"] + way["retry_dropped"] for way in down)
    lost = sum(way["retry_dropped"] for way in down)
    # Collisions add a little to what errors make of a try.
    assert lost / ended == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / ended) ** 0.5 + 0.006)


def test_retries_lengthen_the_time_at_the_head_of_the_queue_and_residual_losses_do_not():
    plain, retried, lossy = (
        run(cell)
        for cell in (
            {},
            {"loss": "frame-error", "probability": 0.5},
            {"loss": "residual", "probability": 0.05},
        )
    )
    delay = [one.estimates()["wlan.receiver.down.mac_delay_s"]["mean"] for one in (plain, retried)]
    assert delay[1] > 1.8 * delay[0]
    residual = lossy.estimates()["wlan.receiver.down.mac_delay_s"]["mean"]
    assert residual < delay[0], "fewer ACKs contend"


def test_where_nothing_is_delivered_there_are_no_times():
    first = run({"loss": "residual", "probability": 1.0}).replications[0].summary
    (way,) = [cell["down"] for cell in first.get("wlan", [])]
    assert (way["delivered"], way["wait_s"], way["mac_delay_s"]) == (0, None, None)
    assert way["residual_lost"] > 0


def test_a_result_with_cells_is_written_and_read(tmp_path):
    cell = {"loss": "shadowing", "margin_db": 2.0}
    one, two = run(cell), run(cell, jobs=2)
    assert one.fingerprint == two.fingerprint
    scenario = {**SCENARIO, "wlan": [cell], "run": {"duration": "5 s"}}
    bl.run(scenario, out=tmp_path)
    document = json.loads((tmp_path / "summary.json").read_text())
    assert document["wlan"][0]["name"] == "receiver"
    assert bl.read(tmp_path).wlan[0][0]["down"] == document["wlan"][0]["down"]
