"""Closed forms of Shihada, Zhang and Ho: sums written out, the chain solved, the twin."""

import math
from typing import Any

import numpy as np
import pytest

from burstlab.analytic import MODELS, shihada

PATH: Any = {"rtt_s": 0.1, "rto_s": 0.2}


def climb(window):
    """Windows of the rounds from 2 to below `window`, as Vegas takes them after a time-out."""
    sizes, size = [], 2
    while size < window / 2:
        sizes += [size, size]
        size *= 2
    return sizes, list(range(window // 2, window))


class TestPhases:
    @pytest.mark.parametrize("window", [4, 8, 16, 128, 512])
    def test_sums_written_out(self, window):
        slow_start, avoidance = climb(window)
        assert shihada.slow_start_segments(window) == sum(slow_start)
        assert shihada.slow_start_rounds(window) == len(slow_start)
        assert shihada.avoidance_segments(window) == sum(avoidance)
        assert shihada.avoidance_rounds(window) == len(avoidance)

    def test_printed_sum_of_slow_start(self):
        assert shihada.slow_start_segments([128, 32], as_printed=True).tolist() == [30, 14]

    def test_diff_is_in_segments(self):
        # 100 segments in 100 ms fill the path; 10 ms more are 10 segments of 110.
        assert shihada.diff(110, 0.1, 0.11) == pytest.approx(10)
        assert shihada.diff(110, 0.1, 0.11, as_printed=True) == pytest.approx(100)
        assert shihada.diff(128, 0.1, 0.1) == 0

    def test_stable_window(self):
        assert shihada.stable_window(128, 0.1, 0.1) == 128
        assert shihada.stable_window(400, 0.102, 0.1) == pytest.approx(178.5)
        assert shihada.stable_window(128, 0.102, 0.1) == 128
        window = shihada.stable_window(1e6, 0.102, 0.1, 3, 3)
        assert shihada.diff(window, 0.1, 0.102) == pytest.approx(3)

    @pytest.mark.parametrize(("window", "limit"), [(128, 0.0133), (256, 0.0071), (400, 0.0047)])
    def test_limit_of_the_model(self, window, limit):
        assert shihada.loss_limit(window) == pytest.approx(limit, abs=5e-5)
        assert shihada.stable_rounds(shihada.loss_limit(window), window) == pytest.approx(0)
        with pytest.raises(ValueError, match="negative stable phase"):
            shihada.stable_rounds(shihada.loss_limit(window) * 1.001, window)

    def test_sequence_of_time_outs(self):
        """The sum over lengths: the n-th time-out lasts min(2^(n-1), 64) RTO."""
        for p in (0.001, 0.1, 0.7):
            lengths = np.arange(1, 2000)
            lasts = np.cumsum(np.minimum(2.0 ** np.minimum(lengths - 1, 6), 64))
            mean = np.sum(p ** (lengths - 1) * (1 - p) * lasts)
            assert shihada.timeout_time(p, 0.2) == pytest.approx(0.2 * mean)
            vain = np.sum(p ** (lengths - 1) * (1 - p) * (lengths - 1))
            assert shihada.failed_retransmissions(p) == pytest.approx(vain)


class TestContention:
    def test_shares_add_up(self):
        pc = np.array([1e-4, 0.01, 0.3])
        total = shihada.contended_share(pc) + shihada.uncontended_share(pc)
        assert total == pytest.approx(1, rel=1e-12)
        assert shihada.contended_share(0.1, 0.1) == 0

    def test_lowest_window(self):
        for rtt_r in (0.101, 0.105, 0.11, 0.113, 0.2):
            window = shihada.lowest_window(rtt_r, 0.1)
            assert shihada.diff(window, 0.1, rtt_r) <= 5 + 1e-9
            assert shihada.diff(window + 1, 0.1, rtt_r) > 5
        assert shihada.lowest_window(0.11, 0.1) == 55

    @pytest.mark.parametrize(("pc", "p"), [(0.01, None), (0.3, 0.02), (0.6, 0.2), (0.9, 0.1)])
    @pytest.mark.parametrize("steps", [0, 1, 5, 73])
    def test_the_chain_is_stationary(self, pc, p, steps):
        """Shares solve pi = pi P for the chain of the paper, built as a matrix."""
        down, up = shihada.contended_share(pc, p), shihada.uncontended_share(pc, p)
        matrix = np.zeros((steps + 1, steps + 1))
        for i in range(steps + 1):
            matrix[i, min(i + 1, steps)] += down
            matrix[i, max(i - 1, 0)] += up
        shares = shihada.window_shares(pc, steps, p)
        assert shares.sum() == pytest.approx(1)
        assert shares @ matrix == pytest.approx(shares, abs=1e-14)
        assert shares[0] == pytest.approx(shihada.top_share(pc, steps, p))
        mean = np.dot(shares, 128 - np.arange(steps + 1))
        found = shihada.mean_contended_window(pc, 128, 128 - steps, p)
        assert found == pytest.approx(mean, rel=1e-9)
        printed = shihada.mean_contended_window(pc, 128, 128 - steps, p, as_printed=True)
        assert printed == pytest.approx(mean + steps * shares[-1], rel=1e-9)

    def test_equal_ways_up_and_down(self):
        pc = 0.5
        assert shihada.top_share(pc, 9, 1e-12) == pytest.approx(0.1, rel=1e-6)
        assert shihada.mean_contended_window(pc, 128, 118, 1e-12) == pytest.approx(123, rel=1e-6)

    def test_printed_share_is_no_probability(self):
        assert shihada.top_share(0.2, 5, as_printed=True) > 1
        product = shihada.top_share(0.2, 5) * shihada.top_share(0.2, 5, as_printed=True)
        assert product == pytest.approx(1)


class TestThroughput:
    def test_bare(self):
        p = [1e-5, 1e-4, 1e-3, 3e-3, 1e-2]
        found = shihada.bare_throughput(p, 128, **PATH)
        assert found == pytest.approx([1279.65, 1276.51, 1245.11, 1175.51, 933.88], abs=0.006)
        assert (np.diff(found) < 0).all()

    def test_of_one_cycle_written_out(self):
        """At the limit there is no stable phase: a cycle is the climb and a time-out."""
        p = shihada.loss_limit(64)
        slow_start, avoidance = climb(64)
        segments, rounds = sum(slow_start + avoidance), len(slow_start + avoidance)
        expected = segments / (rounds * 0.1 + shihada.timeout_time(p, 0.2))
        assert shihada.bare_throughput(p, 64, goodput=True, **PATH) == pytest.approx(expected)

    def test_retransmission(self):
        found = shihada.retransmission_throughput([1e-3, 1e-2], 128, 0.1, 0.11, 0.2)
        assert found == pytest.approx([1279.83, 1275.16], abs=0.006)
        delays = [0.105, 0.11, 0.12, 0.14, 0.2]
        found = shihada.retransmission_throughput(1e-2, 128, 0.1, delays, 0.2)
        assert found == pytest.approx([1275.8, 1275.2, 1273.9, 1271.4, 1264.0], abs=0.06)

    def test_retransmission_gains_at_equal_contention(self):
        pc = np.array([1e-5, 1e-4, 1e-3, 1e-2])
        bare = shihada.bare_throughput(pc, 128, **PATH)
        again = shihada.retransmission_throughput(pc, 128, 0.1, 0.11, 0.2)
        assert (again > bare).all()
        # With nothing to send again successfully the two are one.
        none = shihada.retransmission_throughput(pc, 128, 0.1, 0.11, 0.2, pc)
        assert none == pytest.approx(bare, rel=1e-12)

    @pytest.mark.parametrize(("p", "off"), [(1e-3, -0.069), (5e-3, -0.269), (1e-2, -0.423)])
    def test_printed_time_counts_rounds_twice(self, p, off):
        path = (2 * p, 128, 0.1, 0.11, 0.2, p)
        printed = shihada.retransmission_throughput(*path, as_printed=["(25)"])
        assert printed / shihada.retransmission_throughput(*path) - 1 == pytest.approx(
            off, abs=5e-4
        )

    def test_every_misprint_enters_on_its_own(self):
        """(27) written out from the chain, for each choice of what is taken as printed."""
        pc, p, window, rtt, rtt_r, rto = 0.3, 0.01, 32, 0.1, 0.163, 0.2
        psr, pnc = (pc - p) / (1 - p), (1 - pc) / (1 - p)
        r, rounds, climb = psr / pnc, (1 - p) / p, 2 * 3 + 16
        quotient = 5 * rtt_r / (rtt_r - rtt)
        names = ("(21)", "(22)", "E[W_CG]", "(25)")
        assert names == shihada.PRINTED
        found = {}
        for bits in range(16):
            chosen = [name for i, name in enumerate(names) if bits >> i & 1]
            low = math.ceil(quotient) if "(21)" in chosen else math.floor(quotient)
            powers = [r**i for i in range(window - low + 1)]
            top = sum(powers) if "(22)" in chosen else 1 / sum(powers)
            sizes = [window - i for i in range(len(powers))]
            if "E[W_CG]" in chosen:
                sizes[-1] = window
            mean = top * sum(size * power for size, power in zip(sizes, powers, strict=True))
            held = rounds if "(25)" in chosen else rounds - climb
            segments = window - 4 + 3 * window**2 / 8 - window / 4 + mean * (rounds - climb)
            seconds = climb * rtt + held * (pnc * rtt + psr * rtt_r)
            whole = (segments + p / (1 - p)) / (seconds + shihada.timeout_time(p, rto))
            found[tuple(chosen)] = whole
            got = shihada.retransmission_throughput(
                pc, window, rtt, rtt_r, rto, p, as_printed=chosen
            )
            assert got == pytest.approx(whole, rel=1e-9), chosen
        assert len({round(float(one), 9) for one in found.values()}) == 16
        every = shihada.retransmission_throughput(pc, window, rtt, rtt_r, rto, p, as_printed=True)
        assert every == pytest.approx(found["(21)", "(22)", "(25)"], rel=1e-9)

    def test_printed_throughput_is_above_what_the_window_allows(self):
        point = (1e-2, 128, 0.1, 0.121, 0.2)
        assert shihada.retransmission_throughput(*point, as_printed=True) > 1280
        assert shihada.retransmission_throughput(*point) < 1280

    @pytest.mark.parametrize("wrong", [["(26)"], "(25)", ["(22)", "(23)"]])
    def test_only_misprints_can_be_taken_as_printed(self, wrong):
        with pytest.raises(ValueError, match="as_printed"):
            shihada.retransmission_throughput(1e-2, 128, 0.1, 0.11, 0.2, as_printed=wrong)

    def test_arguments_are_broadcast(self):
        shape = shihada.retransmission_throughput(
            np.full((3, 1), 0.01), np.array([64, 128]), 0.1, 0.11, 0.2
        ).shape
        assert shape == (3, 2)


def plain_twin(seed, pc, form, rounds, rtt_r=0.11):
    """One flow, round by round, in the words of the algorithm."""
    draw = np.random.default_rng(seed)
    window, threshold, backoff, held = 128, 2, 1, 0
    segments, seconds = 0, 0.0
    for _ in range(rounds):
        contended = draw.random() < pc
        lost = contended and (form == "bare" or draw.random() < pc)
        if lost:
            seconds += 0.2 * backoff
            if backoff == 1:
                threshold = max(2, math.floor(window / 2))
            else:
                segments += 1
            window, held, backoff = 2, 0, min(64, 2 * backoff)
            continue
        backoff = 1
        rtt = rtt_r if contended else 0.1
        segments, seconds = segments + window, seconds + rtt
        queued = window * (1 - 0.1 / rtt)
        if window < threshold:
            held += 1
            if held == 2:
                held = 0
                if queued > 1:
                    window, threshold = max(2, window - window / 8), 2
                else:
                    window = min(2 * window, threshold)
        elif queued < 2:
            window = min(128, window + 1)
        elif queued > 5:
            window = max(2, window - 1)
    return segments / seconds


class TestRoundLevel:
    @pytest.mark.parametrize(("form", "pc"), [("bare", 0.02), ("retransmission", 0.1)])
    def test_agrees_with_a_plain_twin(self, form, pc):
        mean, half = shihada.round_level(pc, seed=1, form=form, duration_s=3e5).throughput()
        twin = np.array([plain_twin(seed, pc, form, 50_000) for seed in range(10)])
        error = 1.96 * twin.std(ddof=1) / math.sqrt(len(twin))
        assert abs(mean - twin.mean()) < 2 * math.hypot(half, error)
        assert half < 0.03 * mean and error < 0.03 * mean

    @pytest.mark.parametrize("pc", [1e-5, 1e-4, 1e-3, 3e-3, 1e-2])
    def test_judges_the_bare_formula(self, pc):
        mean, half = shihada.round_level(pc, seed=2006).throughput()
        assert half < 0.005 * mean
        assert shihada.bare_throughput(pc, 128, **PATH) == pytest.approx(mean, rel=0.03)

    @pytest.mark.parametrize("pc", [1e-3, 1e-2, 3e-2])
    def test_judges_the_formula_with_retransmission(self, pc):
        run = shihada.round_level(pc, seed=2006, form="retransmission")
        mean, _ = run.throughput()
        formula = shihada.retransmission_throughput(pc, 128, 0.1, 0.11, 0.2)
        assert formula == pytest.approx(mean, rel=0.03)
        assert run.loss == pytest.approx(pc**2, rel=0.15 if pc > 1e-3 else 1)

    def test_judges_the_printed_formula(self):
        run = shihada.round_level(2e-2, p=1e-2, seed=2006, form="retransmission")
        printed = shihada.retransmission_throughput(
            2e-2, 128, 0.1, 0.11, 0.2, 1e-2, as_printed=["(25)"]
        )
        assert printed < 0.65 * run.throughput()[0]

    def test_same_seed_same_numbers(self):
        first, second, other = (
            shihada.round_level(1e-2, seed=seed, duration_s=1e4, flows=50) for seed in (1, 1, 2)
        )
        assert (first.segments == second.segments).all()
        assert (first.segments != other.segments).any()
        assert first.seconds.sum() == pytest.approx(1e4, rel=0.05)

    def test_bad_arguments(self):
        wrong: list[Any] = [{"form": "x"}, {"flows": 1}, {"window": 3}, {"rtt_r_s": 0.05}]
        for bad in wrong:
            with pytest.raises(ValueError, match=next(iter(bad))):
                shihada.round_level(0.01, seed=1, **bad)
        with pytest.raises(ValueError, match="above pc"):
            shihada.round_level(0.01, p=0.02, seed=1, form="retransmission")


class TestModel:
    def test_results_are_those_of_the_functions(self):
        results = MODELS["shihada"].evaluate({"pc": 1e-2})
        bare = shihada.bare_throughput(1e-2, 128, **PATH)
        assert results["bare_throughput"].value == pytest.approx(bare)
        again = shihada.retransmission_throughput(1e-2, 128, 0.1, 0.11, 0.2)
        assert results["retransmission_throughput"].value == pytest.approx(again)
        assert results["timeout_time"].value == pytest.approx(shihada.timeout_time(1e-2, 0.2))

    def test_with_p_the_bare_network_may_be_out_of_range(self):
        results = MODELS["shihada"].evaluate({"pc": 2e-2, "p": 1e-2})
        assert math.isnan(float(results["bare_throughput"].value))
        quantity = results["retransmission_throughput"]
        assert float(quantity.as_printed) / float(quantity.value) - 1 == pytest.approx(
            -0.419, abs=1e-3
        )

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"pc": 2}, "0 < p < 1"),
            ({"p": 2}, "0 < p < 1"),
            ({"pc": 0.1, "p": -0.1}, "0 < p < 1"),
            ({"pc": 0.1, "p": 0.05}, "negative stable phase"),
            ({"pc": 0.05}, "negative stable phase"),
            ({"p": 0.05}, "lost only after it met contention"),
            ({"window": 3}, "slow start that begins with 2"),
            ({"rtt": 0.09}, "shortest of all"),
            ({"rtt_r": 0.1}, "takes time"),
            ({"rto": 0.01}, "at least one round trip"),
            ({"alpha": 9}, "shrinks above beta"),
            ({"alpha": 0}, "alpha"),
            ({"rtt": 1, "rtt_r": 2, "rto": 2}, "W_0"),
        ],
    )
    def test_bad_points_say_which_assumption_fails(self, given, says):
        with pytest.raises(ValueError, match=says):
            MODELS["shihada"].evaluate(given)
