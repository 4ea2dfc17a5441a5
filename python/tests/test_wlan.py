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
    ended = sum(side["delivered"] + side["retry_dropped"] for side in down)
    lost = sum(side["retry_dropped"] for side in down)
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
    (side,) = [cell["down"] for cell in first.get("wlan", [])]
    assert (side["delivered"], side["wait_s"], side["mac_delay_s"]) == (0, None, None)
    assert side["residual_lost"] > 0


def test_a_result_with_cells_is_written_and_read(tmp_path):
    cell = {"loss": "shadowing", "margin_db": 2.0}
    one, two = run(cell), run(cell, jobs=2)
    assert one.fingerprint == two.fingerprint
    scenario = {**SCENARIO, "wlan": [cell], "run": {"duration": "5 s"}}
    bl.run(scenario, out=tmp_path)
    document = json.loads((tmp_path / "summary.json").read_text())
    assert document["wlan"][0]["name"] == "receiver"
    assert bl.read(tmp_path).wlan[0][0]["down"] == document["wlan"][0]["down"]


def _ways(base_queue: int | None) -> dict[str, float]:
    """Goodput of three downloads together, and of three uploads, in Mb/s."""
    bound = {} if base_queue is None else {"base_queue": base_queue}
    scenario = {
        **SCENARIO,
        "network": {"topology": "line", "nodes": 2, "link_rate": "1 Gb/s", "link_delay": "1 ms"},
        "tcp": {**SCENARIO["tcp"], "window": 64},
        "flows": [
            {"label": "down", "from": "1", "to": "2", "count": 3},
            {"label": "up", "from": "2", "to": "1", "count": 3},
        ],
        "wlan": [{"node": "2", **bound}],
        "run": {"duration": "20 s", "warmup": "5 s"},
    }
    (run,) = bl.run(scenario).replications
    found = {"down": 0.0, "up": 0.0}
    for flow in run.summary["flows"]:
        found[flow["label"]] += flow["goodput_bps"] / 1e6
    return found


def test_a_bounded_queue_of_the_base_station_starves_downloads_beside_uploads():
    without, bounded = _ways(None), _ways(100)
    assert without["down"] == pytest.approx(without["up"], rel=0.1)
    assert bounded["down"] < 0.02 * bounded["up"]
    assert bounded["up"] > 2 * without["up"]


def test_stations_have_rates_of_their_own_and_a_slow_one_slows_all():
    flows = [{"count": 4}]
    four = {**SCENARIO, "flows": flows, "run": {"duration": "20 s", "warmup": "5 s"}}
    rates = ["11 Mb/s", "11 Mb/s", "11 Mb/s", "1 Mb/s"]

    def each(cell: dict[str, Any]) -> list[float]:
        (run,) = bl.run({**four, "wlan": [cell]}).replications
        return [flow["goodput_bps"] / 1e6 for flow in run.summary["flows"]]

    alike, slowed = each({}), each({"station_rates": rates})
    assert each({"station_rates": ["11 Mb/s"] * 4}) == alike
    assert sum(slowed) < sum(alike) / 2
    assert sum(slowed[:3]) < 0.6 * sum(alike[:3]), "those at 11 Mb/s lose by the one at 1 Mb/s"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ({"station_rates": ["11 Mb/s"] * 2}, "there are 1 stations"),
        ({"station_rates": ["3 Mb/s"]}, "5.5 Mb/s"),
        ({"station_rates": ["2 Mb/s"], "rate": "2 Mb/s"}, "station_rates says the rate"),
        ({"loss": "bit-error"}, "bit_error_rate"),
        ({"loss": "bit-error", "bit_error_rate": 1.5}, "bit_error_rate"),
        ({"loss": "frame-error", "probability": 0.1, "bit_error_rate": 1e-5}, "bit_error_rate"),
        ({"bit_error_rate": 1e-5}, "bit_error_rate"),
    ],
)
def test_rates_and_errors_of_bits_that_cannot_be_meant(cell: dict[str, Any], words: str):
    with pytest.raises(bl.ScenarioError, match=words):
        run(cell)


def test_errors_of_bits_go_by_the_length_of_a_frame():
    """Frames with data alone: segments of 1,500 B downwards, ACKs of 40 B upwards."""
    bit = 4e-5
    result = run({"loss": "bit-error", "bit_error_rate": bit, "frames": "data"})
    for side, size in (("down", 1500), ("up", 40)):
        cells = [cell[0][side] for cell in result.wlan]
        sent = sum(one["data_frames"] for one in cells)
        collided = sum(one["collisions"] for one in cells)
        errors = sum(one["errors"] for one in cells)
        right = 1 - (1 - bit) ** (8 * (size + 28))
        alone = sent - collided
        spread = 4 * (right * (1 - right) / alone) ** 0.5
        # Answers are counted among collisions too, and few of them collide.
        assert errors / alone == pytest.approx(right, abs=spread + 0.01 * right)
