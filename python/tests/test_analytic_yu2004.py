"""Closed forms of Yu, Qiao and Liu: published values, identities, ranges."""

import inspect
import json
from typing import Any

import numpy as np
import pytest

from burstlab.analytic import MODELS, yu2004
from burstlab.analytic.yu2004 import gains, monte_carlo, packets, windows

# Abscissae of Fig. 5 and of Table III.
FIG5A_P = np.array([0.2, 0.1, 0.05, 10**-1.5, 0.01, 0.001])
UNKNOWN: Any = "x"
TABLE3_P = 10.0 ** np.array([-3, -2.5, -2, -1.5, -1])


class TestFlowClass:
    def test_classes_and_overlap(self):
        # W_m = 20: 0.5, 1, 18, 19, 19.9 and 20 packets arrive while the timer runs.
        rates = np.array([0.5, 1, 18, 19, 19.9, 20]) / 0.2
        expected = ["slow", "medium", "medium", "fast", "fast", "fast"]
        assert yu2004.flow_class(rates, 0.2, 20).tolist() == expected
        printed = ["slow", "medium", "medium", "medium", "medium", "fast"]
        assert yu2004.flow_class(rates, 0.2, 20, as_printed=True).tolist() == printed

    def test_example_of_the_paper(self):
        """2.5 Gb/s, packets of 1 KB, a window of 2 Mb: fast for any T_b above 0.8 ms."""
        rate, window = 2.5e9 / 8000, 2e6 / 8000
        assert yu2004.flow_class(rate, 0.81e-3, window) == "fast"
        assert yu2004.flow_class(rate, 0.79e-3, window) == "medium"

    def test_flows_of_the_simulations(self):
        assert yu2004.flow_class(125, 0.04, 20) == "medium"
        assert yu2004.flow_class(125, 0.2, 20) == "fast"
        assert yu2004.flow_class(1000, 0.01, 20) == "medium"  # the dip of Fig. 7(b)
        assert yu2004.flow_class(1000, 0.02, 20) == "fast"


class TestWindows:
    def test_window_solves_equation_5(self):
        p = np.logspace(-9, np.log10(0.5), 400)
        window = yu2004.mean_window_tcp(p)
        assert np.log2(window / 2) + window / 2 == pytest.approx((1 - p) / p, rel=1e-12)
        p = np.logspace(-9, np.log10(1 / 3), 400)
        window = yu2004.mean_window_tcp(p, slow_start="full")
        assert np.log2(window) + window / 2 == pytest.approx((1 - p) / p, rel=1e-12)

    def test_window_is_not_the_number_of_rounds(self):
        assert yu2004.mean_window_tcp(0.1) == pytest.approx(12.67, abs=0.005)
        assert yu2004.mean_window_tcp(0.1, as_printed=True) == pytest.approx(9)
        assert yu2004.rounds_between_losses(0.1) == pytest.approx(9)

    def test_range_ends_at_a_window_of_two(self):
        assert yu2004.mean_window_tcp(0.5) == pytest.approx(2)
        assert yu2004.mean_window_btcp(0.5) == pytest.approx(2)
        for function in (yu2004.mean_window_tcp, yu2004.mean_window_btcp):
            assert np.isnan(function([0.51, 0.9, 0.999999])).all()
        assert np.isnan(yu2004.mean_window_tcp(0.34, slow_start="full"))

    def test_regimes(self):
        # At p = 0.1: 1/p = 10, E[W] = 12.67, 2(1-p)/p = 18.
        window = [10, 11, 12.6, 12.7, 17.9, 18]
        expected = ["window-limited"] * 3 + ["mixed"] * 2 + ["loss-limited"]
        assert yu2004.window_regime(0.1, window).tolist() == expected
        printed = ["window-limited"] + ["loss-limited"] * 5
        assert yu2004.window_regime(0.1, window, as_printed=True).tolist() == printed


class TestPackets:
    @pytest.mark.parametrize(
        ("slow_start", "rounds", "carried"), [("half", 5, 31), ("full", 6, 63), ("paper", 5, 63)]
    )
    def test_slow_start_to_half_of_64(self, slow_start, rounds, carried):
        """5 rounds carry 31 packets, 6 carry 63; the paper has 63 in 5."""
        doubled = 2 ** np.arange(rounds)
        assert (doubled.sum() == carried) == (slow_start != "paper")
        avoidance = 64 / 2 * (64 / 2 + 64) / 2
        assert yu2004.packets_to_window(64, slow_start=slow_start) == carried + avoidance
        p = 1 / (1 + rounds + 32)
        assert yu2004.mean_window_tcp(p, slow_start=slow_start) == pytest.approx(64)

    def test_equation_4_lines_agree(self):
        window = np.linspace(2, 500, 97)
        first = (window - 1) + window / 2 * (window / 2 + window) / 2
        assert yu2004.packets_to_window(window) == pytest.approx(first)

    def test_equation_6(self):
        p = np.linspace(0.001, 0.5, 97)
        window = yu2004.mean_window_btcp(p)
        middle = (1 - p) / p * (window + window / 2) / 2
        assert yu2004.unlimited_packets_btcp(p) == pytest.approx(middle)
        assert yu2004.unlimited_packets_btcp(0.1) == pytest.approx(121.5)
        assert yu2004.unlimited_packets_btcp(0.1, spacing="geometric") == pytest.approx(166.5)

    def test_geometric_spacing_by_sampling(self):
        """W/2 + X with X geometric, X*W/2 + X^2/2 packets; 40 flows of 20,000 losses."""
        p, generator = 0.1, np.random.default_rng(2004)
        half, total, losses = np.full(40, 9.0), 0.0, 20_000
        for _ in range(losses):
            rounds = generator.geometric(p, 40) - 1
            total += (rounds * half + rounds**2 / 2).sum()
            half = (half + rounds) / 2
        expected = yu2004.unlimited_packets_btcp(p, spacing="geometric")
        assert total / losses / 40 == pytest.approx(float(expected), rel=0.01)

    def test_equation_7_second_line(self):
        assert yu2004.limited_packets_tcp(0.01, 20) == pytest.approx(1902.6, abs=0.05)
        printed = yu2004.limited_packets_tcp(0.01, 20, as_printed=True)
        assert printed == pytest.approx(1760.1, abs=0.05)
        p, window = np.array([[1e-4], [1e-3], [1e-2]]), np.array([2, 3, 10, 20.5, 40, 100])
        second = window / p - window**2 / 8 + window - 1 - window * np.log2(window / 2)
        assert yu2004.limited_packets_tcp(p, window) == pytest.approx(second)

    def test_equation_8_lines_agree_and_differ_from_7_by_slow_start(self):
        p, window = np.array([[1e-4], [1e-3], [1e-2]]), np.array([2, 3, 10, 20.5, 40, 100])
        packets_btcp = yu2004.limited_packets_btcp(p, window)
        assert packets_btcp == pytest.approx(window / p - window**2 / 8)
        saved = window * (np.log2(window / 2) - 1) + 1
        difference = packets_btcp - yu2004.limited_packets_tcp(p, window)
        assert difference == pytest.approx(np.broadcast_to(saved, difference.shape), abs=1e-8)

    def test_limited_and_unlimited_meet_with_the_same_rounds(self):
        p = np.array([0.02, 0.1, 0.3])
        tcp = yu2004.limited_packets_tcp(p, yu2004.mean_window_tcp(p), rounds="delivered")
        # There no round is left at W_m; rounding may push their number below zero.
        known = ~np.isnan(tcp)
        assert tcp[known] == pytest.approx(yu2004.unlimited_packets_tcp(p)[known])
        btcp = yu2004.limited_packets_btcp(p, yu2004.mean_window_btcp(p), rounds="delivered")
        assert btcp == pytest.approx(yu2004.unlimited_packets_btcp(p))

    def test_where_the_limit_is_not_reached(self):
        assert np.isnan(yu2004.limited_packets_tcp(0.1, 15.4))
        assert not np.isnan(yu2004.limited_packets_tcp(0.1, 14))
        assert np.isnan(yu2004.limited_packets_btcp(0.1, 20.1))
        assert yu2004.limited_packets_btcp(0.1, 20) == pytest.approx(150)


class TestGains:
    def test_fig5a(self):
        figure = yu2004.fig5a(FIG5A_P)
        expected = [1.658, 1.690, 1.462, 1.328, 1.130, 1.019]
        assert figure.throughput_ratio == pytest.approx(expected, abs=5e-4)
        expected = [1.530, 1.420, 1.260, 1.181, 1.071, 1.010]
        assert figure.window_ratio == pytest.approx(expected, abs=5e-4)

    def test_fig5a_has_its_maximum_near_a_seventh(self):
        p = np.linspace(0.05, 0.5, 4501)
        ratio = yu2004.fig5a(p).throughput_ratio
        assert ratio.max() == pytest.approx(1.742, abs=5e-4)
        assert p[ratio.argmax()] == pytest.approx(0.14, abs=0.005)
        assert (yu2004.mean_window_ratio(p[:-1]) > 1).all()

    def test_fig5b(self):
        ratio = yu2004.fig5b(TABLE3_P[:4]).throughput_ratio
        assert ratio[0] == pytest.approx([1.0014, 1.0045, 1.0146, 1.0491], abs=5e-5)
        assert ratio[1] == pytest.approx([1.0024, 1.0076, 1.0249, 1.0887], abs=5e-5)
        assert ratio[2, :3] == pytest.approx([1.0034, 1.0109, 1.0365], abs=5e-5)

    def test_fig5_defaults(self):
        assert yu2004.fig5a().p[[0, 10, -1]] == pytest.approx([1e-3, 10**-2.5, 10**-0.5])
        figure = yu2004.fig5b()
        assert figure.throughput_ratio.shape == (figure.windows.size, figure.p.size) == (3, 51)

    def test_equation_9_is_8_over_7(self):
        p, window = np.array([[1e-4], [1e-3], [1e-2]]), np.array([2, 3, 10, 20, 40, 100])
        for rounds in ("inverse", "delivered"):
            ratio = yu2004.limited_packets_btcp(p, window, rounds=rounds)
            ratio = ratio / yu2004.limited_packets_tcp(p, window, rounds=rounds)
            assert yu2004.limited_gain(p, window, rounds=rounds) == pytest.approx(ratio)

    @pytest.mark.parametrize("slow_start", ("paper", "half", "full"))
    def test_counts_of_slow_start_agree_with_each_other(self, slow_start):
        """Wherever slow start is counted, BTCP sends W_m in each of its rounds instead."""
        ratio = yu2004.limited_packets_btcp(0.01, 20)
        ratio = ratio / yu2004.limited_packets_tcp(0.01, 20, slow_start=slow_start)
        assert yu2004.limited_gain(0.01, 20, slow_start=slow_start) == pytest.approx(float(ratio))
        window = np.linspace(3, 30, 27_001)
        gain = yu2004.gain_ble(0.1, window, rounds="delivered", slow_start=slow_start)
        assert np.abs(np.diff(gain)).max() < 1e-3

    def test_equation_9_rises_with_window_and_loss(self):
        p, window = np.logspace(-5, -0.5, 200), np.arange(4, 400)
        ratio = yu2004.limited_gain(p, window[:, np.newaxis])
        for axis in (0, 1):
            change = np.diff(ratio, axis=axis)
            assert np.isfinite(change).any() and (change[np.isfinite(change)] > 0).all()
        assert np.nanmin(ratio) > 1
        assert yu2004.limited_gain(0.01, 3.22) < 1 < yu2004.limited_gain(0.01, 3.24)

    def test_gain_of_ble_takes_the_regime(self):
        assert yu2004.gain_ble(0.01, 20) == yu2004.limited_gain(0.01, 20)
        assert yu2004.gain_ble(0.1, 200) == yu2004.fig5a(0.1).throughput_ratio
        assert np.isnan(yu2004.gain_ble(0.6, 20))
        # The printed condition takes (6) over (4), though 11 packets limit both.
        assert yu2004.gain_ble(0.1, 11, as_printed=True) == yu2004.fig5a(0.1).throughput_ratio
        assert yu2004.gain_ble(0.1, 11) == yu2004.limited_gain(0.1, 11)

    def test_gain_of_ble_is_continuous_with_delivered_rounds(self):
        window = np.linspace(3, 30, 27_001)
        smooth = yu2004.gain_ble(0.1, window, rounds="delivered")
        assert np.abs(np.diff(smooth)).max() < 1e-3 and (np.diff(smooth) > -1e-12).all()
        assert np.abs(np.diff(yu2004.gain_ble(0.1, window))).max() > 0.04

    def test_equation_10(self):
        factor = yu2004.bnak_time_factor(0.1, 1, 2.5)
        assert factor == pytest.approx(1.15)
        direct = yu2004.timeout_period_tcp(0.1, 1, 2.5) / yu2004.timeout_period_bnak(0.1, 1)
        assert factor == pytest.approx(float(direct))
        printed = yu2004.bnak_time_factor(0.1, 1, 2.5, as_printed=True)
        assert printed == pytest.approx(1.1667, abs=5e-5)
        gain = yu2004.gain_bnak(0.1, 10, 0.14, 0.36)
        assert gain == pytest.approx(float(yu2004.gain_ble(0.1, 10)) * (1 + 0.1 * 0.22 / 0.14))

    def test_rto_that_explains_table_4(self):
        rtt = 0.1 + np.array([0.01, 0.02, 0.04, 0.06, 0.08, 0.1])
        bnak, ble = [1.48, 1.43, 1.35, 1.31, 1.27, 1.16], [1.20, 1.19, 1.17, 1.18, 1.16, 1.07]
        rto = yu2004.rto_from_gains(bnak, ble, 0.1, rtt)
        assert rto == pytest.approx([0.367, 0.362, 0.355, 0.336, 0.351, 0.368], abs=5e-4)
        assert yu2004.bnak_time_factor(0.1, rtt, rto) == pytest.approx(np.divide(bnak, ble))
        # The cell of Table III that Table IV contradicts asks for more than twice as much.
        assert yu2004.rto_from_gains(1.76, 1.17, 0.1, 0.14) == pytest.approx(0.846, abs=5e-4)

    def test_equation_11(self):
        # RTO = 1 and N*RTT = 3.5: 7.5/4.5.
        assert yu2004.gain_batch(1, 1, 4, 1, 0.35, 10) == pytest.approx(1.667, abs=5e-4)
        printed = yu2004.gain_batch(1, 1, 4, 1, 0.35, 10, as_printed=True)
        assert printed == pytest.approx(0.333, abs=5e-4)
        rtt = np.linspace(0.11, 0.2, 10)
        assert (np.diff(yu2004.gain_batch(1.2, 5, 15, 0.36, rtt, 40)) < 0).all()
        assert yu2004.gain_batch(1.2, 1, 1, 0.36, rtt, 40) == pytest.approx(1.2)


class TestArguments:
    def test_broadcasting_and_scalars(self):
        p, window = np.full((3, 1, 1), 0.05), np.full((4, 1), 10.0)
        assert yu2004.gain_bnak(p, window, np.full(5, 0.14), 0.36).shape == (3, 4, 5)
        assert yu2004.flow_class(p, 1, window).shape == (3, 4, 1)
        assert isinstance(yu2004.gain_ble(0.1, 10), float)
        assert isinstance(yu2004.flow_class(1, 1, 1), str)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: yu2004.gain_ble(0, 10), "p = 0 is out of range: give a probability"),
            (lambda: yu2004.gain_ble([0.1, 1], 10), "p = 1 is out of range"),
            (lambda: yu2004.gain_ble(float("nan"), 10), "p = nan is out of range"),
            (lambda: yu2004.gain_ble("x", 10), "p = 'x' is no number"),
            (lambda: yu2004.gain_ble(0.1, 1), "window = 1 is out of range: give .* at least 2"),
            (lambda: yu2004.limited_packets_tcp(0.1, 0), "window = 0 is out of range"),
            (lambda: yu2004.flow_class(0, 1, 1), "rate_pps = 0 .* above 0"),
            (lambda: yu2004.flow_class(1, -1, 1), "assembly_s = -1 is out of range"),
            (lambda: yu2004.gain_bnak(0.1, 10, [0.1, 0.5], 0.36), "rto_s = 0.36 is below rtt_s"),
            (lambda: yu2004.gain_batch(1, -1, 1, 1, 1, 1), "alpha_btcp = -1"),
            (lambda: yu2004.round_level(0.1, seed=1, rounds=0), "rounds = 0 is no count"),
            (lambda: yu2004.round_level(0.1, seed=1, period=0.5), "period = 0.5 is out of range"),
            (
                lambda: yu2004.mean_window_tcp(0.1, slow_start=UNKNOWN),
                "slow_start = 'x' is not known",
            ),
        ],
    )
    def test_errors_name_argument_value_and_mend(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()

    def test_every_function_cites_its_source(self):
        for module in (windows, packets, gains, monte_carlo):
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and not name.startswith("_"):
                    for part in ("Parameters", "Returns", "Raises", "INFOCOM 2004"):
                        assert part in (function.__doc__ or ""), (name, part)


class TestModel:
    model = MODELS["yu2004"]

    def test_results_at_the_defaults(self):
        results = self.model.evaluate()
        assert results["flow_class"].value == "fast"
        assert results["gain_ble"].value == pytest.approx(1.1940, abs=5e-5)
        assert results["bnak_time_factor"].value == pytest.approx(1 + 0.1 * 0.22 / 0.14)
        assert results["limited_packets_tcp"].as_printed == pytest.approx(39.53, abs=0.005)
        assert all(quantity.equation and quantity.description for quantity in results.values())

    def test_settings_are_texts_or_numbers(self):
        assert self.model.evaluate({"p": "0.01", "window": 20})["limited_gain"].value == (
            pytest.approx(1.0249, abs=5e-5)
        )
        with pytest.raises(ValueError, match="q is no parameter of the model yu2004: give some of"):
            self.model.evaluate({"q": 1})
        with pytest.raises(ValueError, match="rto = '5 ms' is no number: give a number in s"):
            self.model.evaluate({"rto": "5 ms"})

    def test_document_is_json_without_nan(self):
        document = self.model.document({"p": 0.8})
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["results"]["gain_ble"]["value"] is None
