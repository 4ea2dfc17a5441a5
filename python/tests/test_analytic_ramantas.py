"""Arithmetic of Ramantas et al. against evaluations of its own: sums, integrals, simulations."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from burstlab.analytic import ramantas

ASSEMBLY_S = (0.001, 0.005, 0.010)
PATH_S = 0.017


def thresholds():
    return [(b, c) for b in (1, 32, 100) for c in (32, 100, 200) if b <= c]


@pytest.mark.parametrize(("medium", "fast"), thresholds())
def test_assembly_time_is_the_case_that_applies(medium, fast):
    for window in range(1, 300):
        (wanted,) = [
            seconds
            for seconds, low, high in (
                (0.001, 1, medium),
                (0.005, medium, fast),
                (0.010, fast, math.inf),
            )
            if low <= window < high
        ]
        assert ramantas.assembly_time(window, medium, fast) == wanted


@pytest.mark.parametrize("bits", [552 * 8, 8000, 8320, 12000])
@pytest.mark.parametrize("assembly_s", ASSEMBLY_S)
def test_cap_is_what_the_access_link_delivers_while_the_timer_runs(assembly_s, bits):
    # In whole microseconds x rate, so that no rounding decides.
    span = round(assembly_s * 1e6) * 100
    count = 0
    while count * bits <= span:
        count += 1
    assert ramantas.segments_cap(assembly_s, 100e6, bits) == count


@pytest.mark.parametrize("cap", [1, 13, 61, 121])
@pytest.mark.parametrize("segments", [1, 40, 700, 2000, 10_000])
def test_bursts_of_a_file_sent_segment_by_segment(segments, cap):
    bursts, sent, window = 0, 0, 1
    while sent < segments:
        room = 0
        for _ in range(window):
            if sent == segments:
                break
            if room == 0:
                bursts, room = bursts + 1, cap
            sent, room = sent + 1, room - 1
        window *= 2
    assert ramantas.bursts_of_flow(segments, cap) == bursts


@pytest.mark.parametrize("assembly_s", ASSEMBLY_S)
def test_doublings_are_rounds_of_a_window_that_grows_by_each_ack(assembly_s):
    rtt = PATH_S + 2 * assembly_s
    window, at = 1, 0.0
    while window < 512:
        window += window
        at += rtt
    assert ramantas.time_to_window(512, assembly_s, PATH_S) == pytest.approx(at, rel=1e-14)
    starts = np.arange(1000) * rtt
    for span in (0.0, 0.01, 0.15, 1.0):
        found = ramantas.rounds_within(span, assembly_s, PATH_S)
        assert found == np.count_nonzero(starts <= span)


@pytest.mark.parametrize("assembly_s", ASSEMBLY_S)
def test_a_full_window_lasts_a_round(assembly_s):
    full = ramantas.full_window(assembly_s, PATH_S)
    rtt = ramantas.round_time(assembly_s, PATH_S)
    assert full * ramantas.SEGMENT_BITS / ramantas.ACCESS_BPS == pytest.approx(rtt, rel=1e-14)
    below, above = math.floor(full), math.ceil(full)
    data = ramantas.ACCESS_BPS * ramantas.PAYLOAD_BITS / ramantas.SEGMENT_BITS
    assert ramantas.window_rate(below, rtt) < data
    assert ramantas.window_rate(above, rtt) == data


def test_the_printed_rate_is_that_of_ten_milliseconds():
    rounds = ramantas.round_time(np.array(ASSEMBLY_S), PATH_S)
    rates = ramantas.window_rate(128, rounds)
    assert (np.diff(rates) < 0).all() and rates[0] < 60e6
    printed = ramantas.window_rate(128, rounds, as_printed=True)
    assert printed == pytest.approx(np.full(3, 1000 / 1040 * 100e6), rel=1e-14)
    assert ramantas.window_rate(100, rounds, as_printed=True)[0] == pytest.approx(80e6)


@pytest.mark.parametrize("completion_s", [1.25, 1.6, 6.7])
def test_littles_law_of_a_node_whose_flows_come_and_go(completion_s):
    rng = np.random.default_rng(2007)
    span, rate = 4000.0, 50.0
    starts = np.sort(rng.uniform(0.0, span, rng.poisson(rate * span)))
    ends = starts + rng.exponential(completion_s, len(starts))
    looks = np.linspace(100.0, span, 3001)
    active = np.searchsorted(starts, looks) - np.searchsorted(np.sort(ends), looks)
    law = ramantas.active_sources(rate, completion_s)
    assert active.mean() == pytest.approx(law, rel=0.02)
    assert ramantas.completion_time(law, rate) == pytest.approx(completion_s, rel=1e-14)
    everywhere = ramantas.active_sources(rate, completion_s, as_printed=True)
    assert everywhere == pytest.approx(8 * law, rel=1e-14)


@pytest.mark.parametrize("packets_per_s", [100.0, 1000.0, 1e5])
@pytest.mark.parametrize("assembly_s", ASSEMBLY_S)
def test_bursts_of_a_queue_packet_by_packet(packets_per_s, assembly_s):
    rng = np.random.default_rng(2007)
    times = np.cumsum(rng.exponential(1 / packets_per_s, 200_000))
    bursts, closes = 0, -1.0
    for at in times.tolist():
        if at > closes:
            bursts, closes = bursts + 1, at + assembly_s
    rate = ramantas.burst_rate(packets_per_s, assembly_s)
    assert bursts / times[-1] == pytest.approx(rate, rel=0.02)
    assert ramantas.burst_rate(packets_per_s, assembly_s, as_printed=True) == 1 / assembly_s


@pytest.mark.parametrize("shape", [1e-6, 0.3, 0.455, 1 - 1e-9, 1.0, 1.06, 2.5])
@pytest.mark.parametrize("largest", [501.0, 2000.0, 10_000.0])
def test_mean_file_is_the_integral_of_its_density(shape, largest):
    def density(logarithm):
        return shape * math.exp(-shape * logarithm)

    top = math.log(largest / 40)
    mass = quad(density, 0, top, epsabs=0, epsrel=1e-12)[0]
    first = quad(lambda u: 40 * math.exp(u) * density(u), 0, top, epsabs=0, epsrel=1e-12)[0]
    mean = ramantas.file_mean(shape, 40, largest)
    assert mean == pytest.approx(first / mass, rel=1e-9)
    assert ramantas.file_shape(mean, 40, largest) == pytest.approx(shape, rel=1e-6, abs=1e-9)


def test_files_without_an_end():
    shape = ramantas.file_shape(700, 40, 10_000, as_printed=True)
    assert shape == pytest.approx(700 / 660, rel=1e-14)
    assert ramantas.file_mean(shape, 40) == pytest.approx(700, rel=1e-12)
    assert math.isinf(ramantas.file_mean(1.0, 40))
    # The part that a run of 10^4 flows shows.
    rng = np.random.default_rng(2007)
    seen = 40 * rng.uniform(size=(500, 10_000)) ** (-1 / shape)
    assert np.median(seen.mean(axis=1)) < 400
    assert math.isnan(ramantas.file_shape(700, 40, 2000))
    assert ramantas.file_mean(1e-9, 40, 2000) == pytest.approx(1960 / math.log(50), rel=1e-6)


@pytest.mark.parametrize(("bursts", "loss"), [(80, 0.02), (40, 0.02), (34, 0.02), (80, 0.05)])
def test_lost_bursts_are_a_quantile_of_the_binomial_sum(bursts, loss):
    below, count = 0.0, -1
    while below < 0.8:
        count += 1
        below += math.comb(bursts, count) * loss**count * (1 - loss) ** (bursts - count)
    assert ramantas.lost_bursts(bursts, loss) == count
    assert count < 5 or loss > 0.02


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("assembly_time", (0, 32, 100), "window = 0"),
        ("assembly_time", (1, 100, 32), "B <= C"),
        ("segments_cap", (0,), "assembly_s = 0"),
        ("bursts_of_flow", (1.5, 13), "segments = 1.5 is no count"),
        ("round_time", (0.001, 0), "path_s = 0"),
        ("doublings", (0.5,), "window = 0.5"),
        ("rounds_within", (-1, 0.001, 0.017), "seconds = -1"),
        ("active_sources", (-1, 1), "flows_per_s = -1"),
        ("completion_time", (1, 0), "flows_per_s = 0"),
        ("burst_rate", (0, 0.001), "packets_per_s = 0"),
        ("file_mean", (0, 40), "shape = 0"),
        ("file_mean", (1, 40, 40), "largest = 40"),
        ("file_shape", (40, 40, 2000), "mean = 40"),
        ("lost_bursts", (80, 1.0), "loss = 1"),
    ],
)
def test_what_is_out_of_range_is_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(ramantas, function)(*arguments)
