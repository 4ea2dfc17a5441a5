"""The closed forms of 802.11b, against worked values, limits and a simulation of their slots."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from burstlab.analytic import MODELS, wlan

ROOT = Path(__file__).resolve().parents[2]


def test_frames_take_the_times_of_the_standard():
    times = wlan.Timing()
    assert (times.rts, times.cts, times.ack, times.eifs) == (352, 304, 304, 364)
    assert times.data(1500) == 192 + 1112
    short = wlan.Timing(basic_mbps=2, preamble="short")
    assert (short.ack, short.eifs, short.data(1500)) == (96 + 56, 364, 96 + 1112)
    assert wlan.Timing(data_mbps=5.5).data(1500) == 192 + 2223


def test_the_probability_to_send_is_that_of_the_paper():
    """Bianchi, equation (7), as printed."""
    for p in (0.1, 0.3, 0.45, 0.7):
        printed = 2 * (1 - 2 * p) / ((1 - 2 * p) * 33 + p * 32 * (1 - (2 * p) ** 5))
        assert wlan.transmission_probability(p) == pytest.approx(printed, rel=1e-12)
    assert wlan.transmission_probability(0.0) == pytest.approx(2 / 33)
    many = wlan.transmission_probability(0.4, tries=200)
    assert many == pytest.approx(wlan.transmission_probability(0.4), rel=1e-9)


def slots(stations: int, tries: int, count: int) -> tuple[float, int, float]:
    """Simulate the chain itself: collision probability, tries that met, share given up."""
    draw = np.random.default_rng(7)
    stage = [0] * stations
    left = [int(draw.integers(32)) for _ in stage]
    sent = met = ended = given_up = 0
    for _ in range(count):
        ready = [one for one in range(stations) if left[one] == 0]
        sent += len(ready)
        met += len(ready) * (len(ready) > 1)
        left = [one - 1 for one in left]
        for one in ready:
            stage[one] = stage[one] + 1 if len(ready) > 1 else 0
            if stage[one] == tries or stage[one] == 0:
                ended += 1
                given_up += stage[one] == tries
                stage[one] = 0
            left[one] = int(draw.integers(32 * 2 ** min(stage[one], 5)))
    return met / sent, met, given_up / ended


@pytest.mark.parametrize(("stations", "tries"), [(2, 7), (5, 3), (10, 2)])
def test_the_fixed_point_is_that_of_its_slots(stations, tries):
    p, met, given_up = slots(stations, tries, 60_000)
    result = wlan.saturation(stations, tries=tries)
    # Collisions come in pairs; four standard deviations.
    assert p == pytest.approx(result.p, rel=4 / (met / 2) ** 0.5)
    if result.dropped > 0.01:
        assert given_up == pytest.approx(result.dropped, rel=0.1)


def test_one_station_has_the_medium_for_itself():
    alone = wlan.saturation(1)
    assert alone.p == 0
    assert alone.throughput_mbps == pytest.approx(8 * 1500 / wlan.exchange_time(1500), rel=1e-9)
    asked = wlan.saturation(1, access="rts").throughput_mbps
    assert asked == pytest.approx(8 * 1500 / wlan.exchange_time(1500, access="rts"), rel=1e-9)


def test_the_engine_is_judged_by_this_model():
    """The file against which the cell of the engine is tested is what the model says."""
    path = ROOT / "crates" / "link" / "tests" / "bianchi.csv"
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            tries = int(row["tries"]) or None
            model = wlan.saturation(int(row["stations"]), access=row["access"], tries=tries)
            assert float(row["throughput_mbps"]) == pytest.approx(model.throughput_mbps, abs=6e-5)
            assert float(row["collision"]) == pytest.approx(model.p, abs=6e-5)


def test_the_largest_goodput_of_tcp():
    two = wlan.Timing(basic_mbps=2)
    assert wlan.tcp_goodput() == pytest.approx(4.04, abs=0.005)
    assert wlan.tcp_goodput(access="rts") == pytest.approx(2.75, abs=0.005)
    assert wlan.tcp_goodput(timing=two) == pytest.approx(4.20, abs=0.005)
    assert wlan.tcp_goodput(timing=two, access="rts") == pytest.approx(3.03, abs=0.01)
    assert wlan.tcp_goodput(each=2) > wlan.tcp_goodput()


def test_back_offs_that_run_side_by_side_leave_more():
    """Two saturated stations, of which every other packet is an ACK, are those of Bianchi."""
    same = wlan.tcp_goodput(1460, headers=40, backoffs="shared")
    assert same == pytest.approx(4.318, abs=0.002)
    # Segments as short as their ACKs: the two are alike.
    alike = wlan.tcp_goodput(1, headers=1499, backoffs="shared") * 1500
    assert alike == pytest.approx(wlan.saturation(2, 1500, tries=7).throughput_mbps / 2, rel=0.01)


def test_retries_leave_a_power_of_the_error():
    errors = [0.268, 0.373, 0.469, 0.518, 0.652, 0.720]
    losses = [1e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1]
    assert wlan.frame_error(losses) == pytest.approx(errors, abs=6e-4)
    assert wlan.residual_loss(wlan.frame_error(losses)) == pytest.approx(losses)
    extra = (wlan.service_time([0.3, 0.5, 0.6]) - 1978) / 1000
    assert extra == pytest.approx([3.6, 12.2, 19.0], abs=0.05)


def test_an_rts_has_limits_of_its_own():
    draw = np.random.default_rng(11)
    error, arrived, count = 0.4, 0, 100_000
    lost = lambda: draw.random() < error  # noqa: E731
    for _ in range(count):
        short = long = 0
        there = False
        while short < 7 and long < 4:
            if lost() or lost():
                short += 1
                continue
            short = 0
            if lost():
                long += 1
                continue
            there = True
            break
        arrived += there
    expected = float(wlan.residual_loss_rts(error))
    band = 4 * (expected * (1 - expected) / count) ** 0.5
    assert 1 - arrived / count == pytest.approx(expected, abs=band)
    # The engine's cell is tested against these.
    assert wlan.residual_loss_rts([0.3, 0.5]) == pytest.approx([0.02048, 0.26247], abs=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wlan.Timing(data_mbps=54), "no speed of 802.11b"),
        (lambda: wlan.Timing(preamble="none"), "give one of long, short"),
        (lambda: wlan.transmission_probability(1.0), "0 <= p < 1"),
        (lambda: wlan.bianchi(0), "stations = 0 is no count"),
        (lambda: wlan.saturation(2, access="csma"), "access = 'csma' is not known"),
        (lambda: wlan.saturation(2, tries=0), "tries = 0 is no count"),
        (lambda: wlan.residual_loss(1.5), "error = 1.5 is out of range"),
        (lambda: wlan.frame_error(0), "residual = 0 is out of range"),
        (lambda: wlan.tcp_goodput(each=2, backoffs="shared"), "an ACK for each"),
        (lambda: wlan.tcp_goodput(backoffs="none"), "backoffs = 'none' is not known"),
        (lambda: wlan.tcp_goodput(0), "segment = 0 is no count"),
        (lambda: MODELS["wlan-tcp"].evaluate({"rts": 2}), "neither 0 nor 1"),
        (lambda: MODELS["wlan-loss"].evaluate({"error": 0}), "0 < p < 1"),
    ],
)
def test_arguments_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        call()


def test_the_command_offers_the_models():
    assert MODELS["wlan-saturation"].evaluate()["throughput"].value == pytest.approx(
        5.873, abs=1e-3
    )
    assert MODELS["wlan-tcp"].evaluate({"rts": 1})["goodput"].value == pytest.approx(
        2.751, abs=1e-3
    )
    results = MODELS["wlan-loss"].evaluate({"error": 0.518, "residual": 0.05})
    assert results["residual_loss"].value == pytest.approx(0.01, rel=0.01)
    assert results["frame_error"].value == pytest.approx(0.652, abs=1e-3)
