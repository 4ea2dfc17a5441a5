"""The round-level Monte Carlo: its plain twin, its statistics, and the published tables."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from burstlab.analytic import yu2004

SEED = 2004
TABLE3_P = 10.0 ** np.array([-3, -2.5, -2, -1.5, -1])
TABLE4_ASSEMBLY_S = np.array([0.01, 0.02, 0.04, 0.06, 0.08, 0.1])

# Tables III and IV as printed: data to compare with, not targets. Both have a cell for p = 0.1 and
# T_b = 0.04 s, and the two disagree: 1.76 against 1.35 (BNAK), 1.28 against 1.24 (BLE, even).
TABLE3 = {
    ("bnak", "random"): [1.00, 1.00, 1.05, 1.06, 1.76],
    ("ble", "random"): [1.00, 1.00, 1.05, 1.05, 1.17],
    ("ble", "even"): [1.00, 1.01, 1.02, 1.05, 1.28],
    ("ble", "batch"): [1.01, 1.05, 1.07, 1.193, 1.46],
}
TABLE4 = {
    ("bnak", "random"): [1.48, 1.43, 1.35, 1.31, 1.27, 1.16],
    ("ble", "random"): [1.20, 1.19, 1.17, 1.18, 1.16, 1.07],
    ("ble", "even"): [1.24] * 6,
    ("ble", "batch"): [1.59, 1.58, 1.46, 1.47, 1.43, 1.43],
}
# The same by an independent Monte Carlo of the same model, to two digits.
REFERENCE3 = {
    ("bnak", "random"): [1.00, 1.01, 1.03, 1.11, 1.39],
    ("ble", "random"): [1.00, 1.01, 1.02, 1.06, 1.21],
    ("ble", "even"): [1.00, 1.01, 1.02, 1.07, 1.35],
    ("ble", "batch"): [1.01, 1.02, 1.06, 1.19, 1.53],
}
REFERENCE4 = {
    ("bnak", "random"): [1.47, 1.44, 1.39, 1.35, 1.32, 1.29],
    ("ble", "random"): [1.22, 1.21, 1.21, 1.21, 1.20, 1.20],
    ("ble", "batch"): [1.62, 1.59, 1.53, 1.48, 1.43, 1.40],
}


def run(losses, p: ArrayLike = 0.1, assembly_s: ArrayLike = 0.04, period=None):
    """The runs of docs/errata.md."""
    return yu2004.round_level(
        p,
        10,
        seed=SEED,
        losses=losses,
        variants=("reno", "ble", "bnak") if losses == "random" else ("reno", "ble"),
        assembly_s=assembly_s,
        period=period,
        replications=200 if losses == "random" else 20,
    )


@pytest.fixture(scope="module")
def table3():
    return {losses: run(losses, p=TABLE3_P) for losses in ("random", "even", "batch")}


@pytest.fixture(scope="module")
def table4():
    return {
        losses: run(losses, assembly_s=TABLE4_ASSEMBLY_S) for losses in ("random", "even", "batch")
    }


def plain_flow(variant, lost, limit, rtt, rto, guard=3.0):
    """One flow in plain Python: packets delivered, seconds and slow starts."""
    cwnd, ssthresh, backoff = 1.0, limit, 1
    delivered, elapsed, slow_starts = 0, 0.0, 0
    for is_lost in lost:
        if not is_lost:
            packets = max(1, math.floor(cwnd))
            delivered += packets
            elapsed += rtt
            backoff = 1
            for _ in range(packets):
                cwnd = min(limit, cwnd + (1 if cwnd < ssthresh else 1 / cwnd))
            continue
        ssthresh = max(cwnd / 2, 2)
        if variant == "reno" or cwnd < guard:
            elapsed += rto * backoff
            backoff = min(64, 2 * backoff)
            slow_starts += 1
            cwnd = 1.0
        else:
            elapsed += rtt if variant == "bnak" else rto
            backoff = 1
            cwnd = max(1, cwnd / 2)
    return delivered, elapsed, slow_starts


@pytest.mark.parametrize(("p", "limit", "guard"), [(0.1, 10, 3), (0.02, 64, 3), (0.6, 7, 0)])
def test_equals_the_plain_twin(p, limit, guard):
    rounds = 3000
    result = yu2004.round_level(p, limit, seed=7, rounds=rounds, replications=1, guard=guard)
    lost = np.random.default_rng(7).random(rounds) < p
    for index, variant in enumerate(result.variants):
        delivered, elapsed, slow_starts = plain_flow(variant, lost, limit, 0.14, 0.36, guard)
        assert result.delivered[index, 0] == delivered
        assert result.true_timeouts[index, 0] == slow_starts
        assert result.elapsed_s[index, 0] == pytest.approx(elapsed)
        assert result.losses[index, 0] == lost.sum()


def test_same_seed_same_counts_and_no_influence_of_other_parameters():
    arguments: dict[str, Any] = {"seed": 3, "rounds": 400, "replications": 5}
    first = yu2004.round_level([0.05, 0.1], 10, **arguments)
    again = yu2004.round_level([0.05, 0.1], 10, **arguments)
    alone = yu2004.round_level(0.1, 10, **arguments)
    arguments["seed"] = 4
    other = yu2004.round_level(0.1, 10, **arguments)
    assert (first.delivered == again.delivered).all()
    assert (first.delivered[:, :, 1] == alone.delivered).all()
    assert (alone.delivered != other.delivered).any()


def test_loss_processes_lose_the_share_asked_for():
    for losses in ("random", "even", "batch"):
        result = yu2004.round_level(
            0.1, seed=5, losses=losses, rounds=4000, replications=50, warmup_rounds=40
        )
        share = result.losses.mean() / 4000
        assert share == pytest.approx(0.1, rel=0.02 if losses == "random" else 1e-12)


def test_guard_makes_a_run_of_losses_end_in_slow_start():
    """W = 40, 20, 10, 5 are false, 2.5 is a true time-out (Fig. 6)."""
    lost = [False] * 60 + [True] * 5
    assert plain_flow("ble", lost, 40, 0.14, 0.36)[2] == 1
    assert plain_flow("ble", lost[:-1], 40, 0.14, 0.36)[2] == 0


def test_tables_by_an_independent_monte_carlo(table3, table4):
    for (variant, losses), expected in REFERENCE3.items():
        mean, _ = table3[losses].gain(variant)
        assert mean == pytest.approx(expected, abs=0.015), (variant, losses)
    for (variant, losses), expected in REFERENCE4.items():
        mean, half_width = table4[losses].gain(variant)
        assert mean == pytest.approx(expected, abs=0.02), (variant, losses)
        assert (half_width < 0.005).all()


def test_throughputs_of_fig7a(table4):
    expected = {"reno": (41.8, 26.5), "ble": (50.9, 31.8), "bnak": (61.7, 34.2)}
    rates = table4["random"].throughput_pps.mean(axis=1)
    for row, variant in zip(rates, table4["random"].variants, strict=True):
        assert row[[0, -1]] == pytest.approx(expected[variant], rel=0.015)
        assert (np.diff(row) < 0).all()


def test_gain_for_even_losses_does_not_depend_on_assembly(table4):
    mean, _ = table4["even"].gain("ble")
    assert mean == pytest.approx(mean[0], rel=1e-12)


@pytest.mark.parametrize(("period", "gain"), [(9, 1.43), (10, 1.35), (11, 1.29), (12, 1.25)])
def test_even_losses_at_other_distances(period, gain):
    mean, _ = run("even", period=period).gain("ble")
    assert mean == pytest.approx(gain, abs=0.005)


def test_which_printed_cells_the_model_misses(table3, table4):
    """By more than 0.06, with one burst in 11 for even losses. A finding, not a gate on the paper.

    1.76 is the cell that Table IV contradicts.
    """
    missed = []
    for table, runs, name in ((TABLE3, table3, "III"), (TABLE4, table4, "IV")):
        for (variant, losses), printed in table.items():
            mean, _ = runs[losses].gain(variant)
            if losses == "even":
                mean[-1:] = run("even", period=11).gain("ble")[0]
                mean[:] = mean[-1] if name == "IV" else mean
            for column in np.flatnonzero(np.abs(mean - printed) > 0.06):
                missed.append((name, variant, losses, printed[column]))
    assert missed == [
        ("III", "bnak", "random", 1.76),
        ("III", "ble", "batch", 1.46),
        ("IV", "bnak", "random", 1.16),
        ("IV", "ble", "random", 1.07),
        ("IV", "ble", "batch", 1.46),
    ]


@pytest.mark.parametrize("window", [10, 20, 40])
def test_even_losses_confirm_the_count_of_slow_start(window):
    """Slow start of log2(W/2) rounds carries W/2 - 1 packets, not W - 1."""
    p = np.array([0.01, 10**-1.5, 0.1])
    result = yu2004.round_level(
        p,
        window,
        seed=SEED,
        losses="even",
        variants=("reno", "ble"),
        rounds=1000,
        warmup_rounds=400,
        replications=20,
    )
    simulated, _ = result.gain("ble")
    error = {
        count: np.abs(yu2004.gain_ble(p, window, rounds="delivered", slow_start=count) - simulated)
        for count in ("paper", "half", "full")
    }
    assert (error["half"] < error["paper"]).all() and (error["half"] < error["full"]).all()
    assert error["half"].max() < 0.05


def test_errors():
    odd: Any = "odd"
    with pytest.raises(ValueError, match="losses = 'odd' is not known: give one of random, even"):
        yu2004.round_level(0.1, seed=1, losses=odd)
    with pytest.raises(ValueError, match="variants = 'odd' is not known"):
        yu2004.round_level(0.1, seed=1, variants=(odd,))
    result = yu2004.round_level(0.1, seed=1, variants=("ble",), rounds=5, replications=1)
    with pytest.raises(ValueError, match="over = 'reno' is not known: give one of ble"):
        result.gain("ble")
    assert np.isnan(result.gain("ble", "ble")[1])
