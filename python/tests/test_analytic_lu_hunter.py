"""Closed forms of Lu and Hunter: twins that share no code, sums written out, worked values.

A twin draws rates of UDP, moves windows round trip by round trip and counts what is too much.
"""

from typing import Any, cast

import numpy as np
import pytest

from burstlab.analytic import MODELS, lu_hunter

C = 10e9
PACKET = 16_000
SHARES = np.array([0.1, 0.2, 0.3, 0.4])
UNKNOWN: Any = "hourly"
RTTS = np.array([0.06, 0.1, 0.18, 0.28, 0.42, 0.56])


def saw_windows(peak):
    """Windows of a flow, one a round trip, from one halving to the next."""
    return np.arange(peak // 2, peak)


def near(mean, draws, sigmas=4.5):
    """Whether the mean of draws is as far from `mean` as chance has it."""
    return abs(np.mean(draws) - mean) <= sigmas * np.std(draws) / np.sqrt(len(draws))


class TestSaw:
    def test_round_by_round(self):
        peak, rtt = 100, 0.1
        for start in (50, 63, 99):
            window = start
            for k in range(400):
                # Half a round trip later, off the jump.
                at = lu_hunter.window_at((k + 0.5) * rtt, start, peak, rtt)
                assert at == pytest.approx(window + 0.5)
                window = window + 1 if window + 1 < peak else peak // 2

    def test_printed_saw_has_another_mean_and_start(self):
        """Over all starts, as L_i sums them: half of the peak in place of three quarters."""
        starts = np.arange(1, 101)
        printed = lu_hunter.window_at(3.02, starts, 100, 0.1, as_printed=True)
        assert printed.mean() == pytest.approx(49.4)
        starts = np.arange(50, 100)
        corrected = lu_hunter.window_at(3.02, starts, 100, 0.1)
        assert corrected.mean() == pytest.approx(74.7)
        assert lu_hunter.window_at(0, 70, 100, 0.1) == 70
        assert lu_hunter.window_at(0, 70, 100, 0.1, as_printed=True) != 70

    def test_time_drops_out_of_a_uniform_phase(self):
        starts = np.linspace(50, 100, 5000, endpoint=False)
        means = [lu_hunter.window_at(t, starts, 100, 0.1).mean() for t in (0, 0.77, 3, 12.34)]
        assert means == pytest.approx([75] * 4, rel=1e-3)

    def test_rates_of_windows(self):
        """The largest window fills what UDP leaves, bits, bytes and flows included."""
        for flows in (1, 40, 1000):
            peak = lu_hunter.peak_window(1e9, C, 0.28, flows)
            assert flows * peak * 2000 * 8 / 0.28 == pytest.approx(9e9)
            assert lu_hunter.free_capacity(peak, C, 0.28, flows) == pytest.approx(1e9)
        payload = lu_hunter.peak_cwnd_bits(1e9, C, 0.28)
        assert payload / lu_hunter.peak_window(1e9, C, 0.28) == pytest.approx(1960 * 8)


class TestCongestion:
    def test_joint_probability_of_uniform_rates(self, draws=400_000):
        """The integral of (5) as a count: a = 0.1 C, R = 0.4."""
        rng = np.random.default_rng(1)
        b, x = rng.uniform(0, 0.4 * C, (2, draws))
        joint = lu_hunter.congestion_probability(0.1 * C, C, 0.4, free="uniform")
        assert joint == pytest.approx(0.46875)
        assert near(joint, b > np.maximum(0.1 * C, x))
        printed = lu_hunter.congestion_probability(0.1 * C, C, 0.4, as_printed=True)
        assert near(printed, (b > x)[b > 0.1 * C])
        product = lu_hunter.product_probability(0.1 * C, C, 0.4, free="uniform")
        assert product == pytest.approx(0.375)
        assert not near(product, b > np.maximum(0.1 * C, x))
        assert not near(printed, b > np.maximum(0.1 * C, x))

    @pytest.mark.parametrize("share", SHARES)
    def test_all_changes_counted(self, share, draws=1_000_000):
        """Rates drawn, a window taken from a saw of 10000 segments, what is too much averaged."""
        rng = np.random.default_rng(2009)
        a, b = rng.uniform(0, share * C, (2, draws))
        # A window of this saw, over its peak, is that of any; within a round trip it is spread.
        peak = 10_000
        at = (rng.choice(saw_windows(peak), draws) + rng.uniform(0, 1, draws)) / peak
        excess = np.maximum(b - (C - at * (C - a)), 0)
        assert near(lu_hunter.mean_congestion_probability(C, share), excess > 0)
        assert near(lu_hunter.mean_excess(C, share), excess)
        assert near(lu_hunter.mean_excess(C, share, given_congestion=True), excess[excess > 0])
        assert not near(lu_hunter.mean_excess(C, share, as_printed=True), excess)
        # (2) as printed is not what it defines: the chance of congestion is in the mean already.
        rate = lu_hunter.loss_rate(C, share)
        assert near(rate * C, excess)
        assert lu_hunter.loss_rate(C, share, weight="twice") < 0.3 * rate
        # Windows from 0 up, the printed saw.
        at = rng.uniform(0, 1, draws)
        flat = np.maximum(b - (C - at * (C - a)), 0)
        assert near(lu_hunter.mean_excess(C, share, as_printed=True), flat)

    def test_given_the_rate_before(self, draws=500_000):
        rng = np.random.default_rng(3)
        for a in (0, 1e9, 2.5e9):
            b = rng.uniform(0, 3e9, draws)
            excess = np.maximum(b - (C - rng.uniform(0.5, 1, draws) * (C - a)), 0)
            assert near(lu_hunter.excess(a, C, 0.3), excess)
            assert near(lu_hunter.congestion_probability(a, C, 0.3), excess > 0)
            assert near(lu_hunter.rise_probability(a, C, 0.3), b > a)
            # With the largest window, as (9) has it, whatever UDP gains is too much.
            assert near(lu_hunter.excess(a, C, 0.3, flows=7, as_printed=True), np.maximum(b - a, 0))
            assert near(lu_hunter.mean_rise(a, C, 0.3), np.maximum(b - a, 0))
            assert near(lu_hunter.mean_rise(a, C, 0.3, given_rise=True), (b - a)[b > a])

    def test_closed_means_over_the_rate(self):
        """Polynomials over C - a, integrated by hand."""
        c, g = SHARES, 1 - SHARES
        logarithm = np.log(1 / g)
        cubes = (1 - g**3) / 3 - 3 * g * (1 - g**2) / 2 + 3 * g**2 * (1 - g) - g**3 * logarithm
        assert lu_hunter.mean_excess(C, SHARES) / C == pytest.approx(cubes / (3 * c**2), rel=1e-10)
        squares = (1 - g**2) / 2 - 2 * g * (1 - g) + g**2 * logarithm
        probability = lu_hunter.mean_congestion_probability(C, SHARES)
        assert probability == pytest.approx(squares / c**2, rel=1e-10)

    def test_worked_values(self):
        probability = lu_hunter.mean_congestion_probability(C, SHARES)
        assert np.round(probability, 4).tolist() == [0.0342, 0.0703, 0.1086, 0.1494]
        lost = lu_hunter.mean_loss(C, [[0.1], [0.4]], [0.06, 0.56])
        assert np.round(lost, 1).tolist() == [[31.9, 297.7], [546.5, 5100.5]]
        # 2.2e-3 at R = 0.4 would be the product of two means, not the mean of the products.
        twice = lu_hunter.loss_rate(C, 0.4, weight="twice")
        means = lu_hunter.mean_congestion_probability(C, 0.4) * lu_hunter.loss_rate(C, 0.4)
        assert (f"{twice:.5f}", f"{means:.5f}") == ("0.00404", "0.00218")


class TestDelays:
    @pytest.mark.parametrize(("ratio", "near_share"), [(0.5, 0.5), (0.5, 0.3), (2.0, 0.7)])
    def test_events_along_the_way(self, ratio, near_share):
        """Fig. 1 followed: who hears of the loss when, and when that is felt."""
        t0, t1, t2, t3 = parts = lu_hunter.delays(0.6, ratio, near_share)
        assert sum(parts) == pytest.approx(0.3)
        assert t1 / t0 == pytest.approx(ratio)
        assert t2 / t3 == pytest.approx(ratio)
        options = {"core_ratio": ratio, "near": near_share}
        # The first packet too many reaches the switch at 0.
        edge_hears = t1
        receiver_misses = t2 + t3
        source_hears = {True: edge_hears + t0, False: receiver_misses + sum(parts)}
        assert lu_hunter.exposure(0.6, control=True, **options) == pytest.approx(edge_hears + t1)
        assert lu_hunter.exposure(0.6, **options) == pytest.approx(source_hears[False] + t0 + t1)
        for acks, heard in source_hears.items():
            held = heard + t0 - edge_hears
            assert lu_hunter.buffering(0.6, ops_acks=acks, **options) == pytest.approx(held)

    def test_ratios_of_the_paper(self):
        plain = lu_hunter.mean_loss(C, SHARES[:, None], RTTS)
        kept = lu_hunter.mean_loss(C, SHARES[:, None], RTTS, control=True)
        assert plain / kept == pytest.approx(6, rel=1e-12)
        for buffer in (lu_hunter.edge_buffer, lu_hunter.crowd_edge_buffer):
            first = buffer(C, SHARES[:, None], RTTS, ops_acks=False)
            assert first / buffer(C, SHARES[:, None], RTTS) == pytest.approx(2.5, rel=1e-12)


def flow_by_flow(a, b, rtt, flows):
    """The losses after a rise, and their duration: a flow halves its share, then the next."""
    over, each = b - a, (C - a) / flows / 2
    pace = rtt / 2 * (rtt * (C - a) / (flows * PACKET)) / flows
    lost, time = over * rtt, rtt
    over -= each
    while over > 0:
        lost += over * pace
        time += pace
        over -= each
    return lost / PACKET, time


class TestOutOfStep:
    @pytest.mark.parametrize("share", [0.1, 0.4])
    @pytest.mark.parametrize(("rtt", "flows"), [(0.06, 4000), (0.56, 1000), (0.28, 100)])
    def test_flow_by_flow(self, share, rtt, flows, draws=3000):
        rng = np.random.default_rng(flows)
        # Antithetic pairs: half of all changes are rises.
        a, b = rng.uniform(0, share * C, (2, draws))
        a, b = np.minimum(a, b), np.maximum(a, b)
        lost, time = np.array([flow_by_flow(*ab, rtt, flows) for ab in zip(a, b, strict=True)]).T
        assert near(lu_hunter.crowd_loss(C, share, rtt, flows, given_congestion=True), lost)
        assert near(lu_hunter.crowd_congestion_time(C, share, rtt, flows), time)
        printed = lu_hunter.crowd_loss(C, share, rtt, flows, as_printed=True)
        assert near(lu_hunter.crowd_loss(C, share, rtt, flows) * 2, lost)
        if rtt > 0.06:
            assert printed * 2 > 1.05 * lost.mean()

    def test_one_rise(self):
        """2 Gb/s over 1 Gb/s, 1000 flows: 444.4 of them halve."""
        assert lu_hunter.halvings(2e9, 1e9, C, 1000) == pytest.approx(4000 / 9)
        lost, time = flow_by_flow(1e9, 3e9, 0.28, 1000)
        found = lu_hunter.loss_of_rise(2e9, 1e9, C, 0.28, 1000)
        assert found == pytest.approx(lost, rel=1e-5)
        length = lu_hunter.congestion_time(2e9, 1e9, C, 0.28, 1000)
        assert length == pytest.approx(time, rel=0.003)
        printed = lu_hunter.loss_of_rise(2e9, 1e9, C, 0.28, 1000, as_printed=True)
        assert printed == pytest.approx(2e9 * length / PACKET)
        # One flow is enough, and none.
        assert lu_hunter.congestion_time([4e6, 0], 1e9, C, 0.28, 1000).tolist() == [0.28, 0]

    @pytest.mark.parametrize(("share", "flows"), [(0.02, 30), (0.5, 2), (0.3, 4)])
    def test_means_are_means_of_rises(self, share, flows):
        """Over a fine grid of rates, with a kink where one flow is enough."""
        edges = (np.arange(2000) + 0.5) / 2000 * share * C
        a, b = edges[:, None], edges[None, :]
        rise = np.maximum(b - a, 0)
        lost = lu_hunter.loss_of_rise(rise, a, C, 0.28, flows)
        assert lu_hunter.crowd_loss(C, share, 0.28, flows) == pytest.approx(lost.mean(), rel=1e-3)
        time = lu_hunter.congestion_time(rise, a, C, 0.28, flows)
        mean = time[rise > 0].mean()
        found = lu_hunter.crowd_congestion_time(C, share, 0.28, flows)
        assert found == pytest.approx(mean, rel=2e-3)

    def test_worked_values_as_printed(self):
        lost = lu_hunter.crowd_loss(C, [[0.1], [0.4]], [0.06, 0.56], 1e4, as_printed=True)
        assert np.round(lost).tolist() == [[713, 13480], [3906, 145797]]
        kept = lu_hunter.crowd_controlled_loss(C, [[0.1], [0.4]], [0.06, 0.56])
        assert np.round(kept).tolist() == [[104, 972], [417, 3889]]

    def test_halvings_at_the_usual_pace_only_balance_growth(self):
        """Saws of N flows at all phases: their sum stays, and one halves every (4/3) M_N T/N.

        So the pace of the paper alone does not end congestion. It takes the mean window for the
        peak; the K of the paper halves means, too, and K times the pace is the same.
        """
        flows, mean = 3000, 75
        peak = 4 * mean // 3
        windows = np.resize(saw_windows(peak), flows)
        halved = []
        for _ in range(200):
            windows = windows + 1
            at_peak = windows >= peak
            halved.append(at_peak.sum())
            windows[at_peak] = peak // 2
            assert windows.mean() == pytest.approx(mean, rel=0.01)
        # In round trips: a flow is at its peak every peak/2 of them.
        assert np.mean(halved) == pytest.approx(flows / (4 / 3 * mean / 2))

    def test_the_first_round_trip_loses_enough_packets_to_halve_every_flow_that_has_to(self):
        """d 2T/P packets over K flows are M_N/2."""
        lost = 1e9 * 0.28 / PACKET
        number = lu_hunter.halvings(1e9, 1e9, C, 1000)
        peak = lu_hunter.peak_window(1e9, C, 0.28, 1000)
        assert lost / number == pytest.approx(peak / 2)


class TestArguments:
    def test_shapes(self):
        assert lu_hunter.mean_loss(C, 0.1, 0.06).shape == ()
        assert lu_hunter.mean_loss(C, SHARES[:, None], RTTS).shape == (4, 6)
        assert lu_hunter.crowd_loss(C, 0.3, RTTS[:, None], [100, 1000]).shape == (6, 2)
        assert lu_hunter.excess([0, 1e9], C, 0.3).shape == (2,)

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda: lu_hunter.mean_excess(C, 0.51), "halving its rate once"),
            (lambda: lu_hunter.mean_excess(C, 0), "share = 0"),
            (lambda: lu_hunter.excess(1.1e9, C, 0.1), "at most a share R"),
            (lambda: lu_hunter.excess(-1, C, 0.1), "at least 0"),
            (lambda: lu_hunter.crowd_loss(C, 0.4, 0.06, 20_000), "which are halved"),
            (lambda: lu_hunter.crowd_loss(C, 0.4, 0.06, 1), "flows = 1"),
            (lambda: lu_hunter.window_at(1, 49, 100, 0.1), "congestion avoidance"),
            (lambda: lu_hunter.window_at(1, 101, 100, 0.1, as_printed=True), "not on the saw"),
            (lambda: lu_hunter.delays(0.1, 0.5, 1.0), "near = 1"),
            (lambda: lu_hunter.peak_window(C, C, 0.1), "leaves TCP nothing"),
            (lambda: lu_hunter.loss_rate(C, 0.1, weight=UNKNOWN), "once, twice"),
            (lambda: lu_hunter.crowd_loss_rate(C, 0.1, 0.1, 100, per=UNKNOWN), "round trip"),
        ],
    )
    def test_what_the_model_does_not_cover_is_refused(self, call, says):
        with pytest.raises(ValueError, match=says):
            call()


class TestModel:
    def test_every_equation_is_there(self):
        document = MODELS["lu-hunter"].document()
        equations = " ".join(entry["equation"] for entry in document["results"].values())
        for number in range(2, 11):
            assert f"({number})" in equations
        printed = [
            name
            for name, entry in document["results"].items()
            if entry["value"] != entry["as_printed"]
        ]
        assert len(printed) >= 15

    def test_values_are_those_of_the_functions(self):
        results = MODELS["lu-hunter"].evaluate({"share": 0.1, "rtt": 0.06, "udp": 5e8})
        assert results["mean_loss"].value == lu_hunter.mean_loss(C, 0.1, 0.06)
        assert results["crowd_loss"].as_printed == pytest.approx(712.8, abs=0.05)
        assert results["free_capacity_each"].as_printed == pytest.approx(5e8)


class TestEdgeRate:
    """Equation (1), and what notifications take off."""

    def test_the_average_forgets_as_its_weight_says(self):
        rate = lu_hunter.smoothed_rate(0.0, 8e6, 0.0)
        assert rate == pytest.approx(1.6e6)
        assert lu_hunter.smoothed_rate(8e6, 8e6, 0.0) == pytest.approx(8e6)
        waiting = lu_hunter.smoothed_rate(8e6, 8e6, 4e6, interval_s=0.4)
        assert waiting == pytest.approx(8e6 + 0.2 * 1e7)
        assert lu_hunter.smoothed_rate([1e6, 2e6], 0.0, 0.0, weight=0.5).tolist() == [5e5, 1e6]
        with pytest.raises(ValueError, match="weight"):
            lu_hunter.smoothed_rate(1.0, 1.0, 1.0, weight=1.5)

    def test_each_reading_takes_off_what_its_name_says(self):
        heard = [0.2, 0.1, 0.3, 0.1]
        expected = {
            "recommended": [0.2, 0.15, 0.2, 0.175],
            "literal": [0.2, 0.1, 0.1, 0.1],
            "last": heard,
            "largest": [0.2, 0.2, 0.3, 0.3],
            "present": [0.2, 0.3, 0.6, 0.7],
        }
        for reading, cuts in expected.items():
            found = lu_hunter.cut(heard, cast("Any", reading))
            assert found == pytest.approx(cuts), reading
        with pytest.raises(ValueError, match="reading"):
            lu_hunter.cut(heard, cast("Any", "mode"))

    def test_a_mean_of_what_is_still_lost_settles_at_half(self):
        excess, total, cut = 0.3, 0.0, 0.0
        for heard in range(1, 100_001):
            total += excess - cut
            cut = total / heard
        assert excess - cut == pytest.approx(lu_hunter.settled_excess(excess), rel=1e-3)
        assert lu_hunter.settled_excess(excess, "largest") == 0
        with pytest.raises(ValueError, match="last"):
            lu_hunter.settled_excess(excess, "last")
