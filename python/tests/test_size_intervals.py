"""Verdicts of `size`: their intervals, how often these are judged, and of which runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

import burstlab as bl
from burstlab.sizing import bisecting, size
from burstlab.sizing.goals import Choice, Goal
from burstlab.sizing.verdicts import interval

LOSS = Goal.read("burst loss < 1%")
GOODPUT = Goal.read("goodput > 1 Mb/s")


def lossy(lost: int, bursts: int) -> dict[str, Any]:
    """The summary of a run that lost so many of its bursts."""
    counts = {"bursts": bursts, "bursts_lost": lost, "burst_loss_ratio": lost / bursts}
    return {"network": {"all": counts}}


def carrying(goodput: float) -> dict[str, Any]:
    return {"flows": [{"goodput_bps": goodput}]}


def student(values: Sequence[float], level: float) -> tuple[float, float]:
    mean, spread = np.mean(values), stats.sem(values)
    half = stats.t.ppf(1 - level / 2, len(values) - 1) * spread
    return float(mean - half), float(mean + half)


@pytest.mark.parametrize("level", [0.05, 0.0125])
def test_a_mean_has_the_interval_of_student(level):
    values = [1.1e6, 0.9e6, 1.4e6, 1.0e6, 1.25e6]
    found = interval(GOODPUT, [carrying(value) for value in values], level)
    assert (found.low, found.high) == pytest.approx(student(values, level), rel=1e-9)
    assert (found.mean, found.n) == (pytest.approx(np.mean(values)), 5)
    one = interval(GOODPUT, [carrying(1e6)], level)
    assert (one.low, one.high, one.n) == (-math.inf, math.inf, 1)


@pytest.mark.parametrize("level", [0.05, 0.0125])
@pytest.mark.parametrize(
    "runs",
    [
        # They scatter far more than independent bursts would: Student's is the wider one.
        [(0, 1000), (90, 1000), (2, 1000), (60, 1000), (1, 1000)],
        # They are alike by chance: what was counted bounds it.
        [(10, 1000), (10, 1000), (10, 1000)],
        [(0, 400), (0, 400), (0, 400), (0, 400)],
        [(7, 7), (9, 9)],
        # Runs of unlike length: the mean is over runs, the counts are of all together.
        [(1, 10), (50, 4000), (3, 100)],
    ],
)
def test_a_ratio_has_the_wider_end_of_student_and_of_clopper_and_pearson(runs, level):
    found = interval(LOSS, [lossy(*one) for one in runs], level)
    ratios = [lost / bursts for lost, bursts in runs]
    low, high = student(ratios, level) if len(set(ratios)) > 1 else (ratios[0], ratios[0])
    part, whole = (sum(column) for column in zip(*runs, strict=True))
    exact = stats.binomtest(part, whole).proportion_ci(1 - level, method="exact")
    assert found.low == pytest.approx(max(0.0, min(low, exact.low)), abs=1e-9)
    assert found.high == pytest.approx(min(1.0, max(high, exact.high)), rel=1e-6)
    assert found.mean == pytest.approx(np.mean(ratios))


class Runs:
    """Stands in for the engine: replications whose numbers are given, and which were asked for."""

    def __init__(self, summary: Callable[[int], dict[str, Any]]) -> None:
        self._summary = summary
        self.asked: list[tuple[Any, list[int]]] = []

    def __call__(self, resolved: Any, replications: range, **_: Any) -> Any:
        self.asked.append((resolved["network"].get("wavelengths"), list(replications)))
        made = [type("Run", (), {"summary": self._summary(n)})() for n in replications]
        return type("Done", (), {"replications": made})()


LENGTH = {"distribution": "exponential", "mean": "125 KB"}
SCENARIO: dict[str, Any] = {
    "network": {"topology": "line", "nodes": 2, "link_delay": "1 us"},
    "edge": {"port": "shared"},
    "bursts": [{"from": "1", "to": "2", "erlangs": 1.0, "length": LENGTH}],
}


def asked(
    monkeypatch: pytest.MonkeyPatch,
    summary: Callable[[int], dict[str, Any]],
    goal: str = "goodput > 1 Mb/s",
    **more: Any,
) -> tuple[bisecting.Tried, list[list[int]]]:
    """Try one value and return what was found, and which replications each look ran."""
    runs = Runs(summary)
    monkeypatch.setattr(bisecting, "run_resolved", runs)
    monkeypatch.setattr(bisecting, "pressures", lambda _: [])
    found = size(SCENARIO, goal, "network.wavelengths=1,2", **more)
    return found.tried[0], [which for value, which in runs.asked if value == 1]


def test_each_look_runs_replications_of_its_own(monkeypatch):
    """Twice as many are twice as many: none is counted again."""
    seen: list[int] = []

    def summary(number: int) -> dict[str, Any]:
        seen.append(number)
        return carrying(1e6 * (1 + 0.3 * (-1) ** number))

    tried, looks = asked(monkeypatch, summary, replications=4, most=30)
    assert looks == [[*range(4)], [*range(4, 8)], [*range(8, 16)], [*range(16, 30)]]
    assert tried.found.n == 30 and tried.verdict == "open"
    assert sorted(set(seen)) == [*range(30)]
    assert (tried.found.low, tried.found.high) == pytest.approx(
        student([1e6 * (1 + 0.3 * (-1) ** n) for n in range(30)], 0.05)
    )


def test_replications_are_those_of_a_run_of_so_many():
    """The numbers of a value are those of `run` with as many replications, each of its own."""
    scenario = {**SCENARIO, "run": {"duration": "40 ms", "warmup": "5 ms", "seed": 11}}
    found = size(scenario, "burst loss < 20%", "network.wavelengths=2,9", replications=2, most=16)
    (tried,) = (one for one in found.tried if one.value == 2)
    network = {**SCENARIO["network"], "wavelengths": 2}
    whole = bl.run({**scenario, "network": network}, replications=tried.found.n)
    summaries: list[Any] = [one.summary for one in whole.replications]
    alls = [one["network"]["all"] for one in summaries]
    pairs = [(one["bursts_lost"], one["bursts"]) for one in alls]
    assert len({one.summary["fingerprint"] for one in whole.replications}) == tried.found.n
    assert tried.found.mean == pytest.approx(np.mean([lost / all_ for lost, all_ in pairs]))
    low, high = student([lost / all_ for lost, all_ in pairs], 0.05)
    part, count = (sum(column) for column in zip(*pairs, strict=True))
    exact = stats.binomtest(part, count).proportion_ci(0.95, method="exact")
    assert tried.found.low == pytest.approx(max(0.0, min(low, exact.low)))
    assert tried.found.high == pytest.approx(max(high, exact.high))


def test_who_looks_several_times_gives_each_look_a_share(monkeypatch):
    """A mean whose interval of 95 % clears the limit, and that of a fourth of it does not, is open.

    So it stays after one look of four, and is judged where there is one look.
    """
    values = [1.0e6 + 1.0e5 * value for value in (3.0, 1.0, 2.0, 1.4)]
    assert student(values, 0.05)[0] > 1.04e6 > student(values, 0.05 / 4)[0]

    def summary(number: int) -> dict[str, Any]:
        return carrying(values[number % 4])

    goal = "goodput > 1.04 Mb/s"
    once, looks = asked(monkeypatch, summary, goal, replications=4, most=4)
    assert (once.verdict, looks) == ("met", [[0, 1, 2, 3]])
    several, looks = asked(monkeypatch, summary, goal, replications=4, most=32)
    assert looks[:2] == [[0, 1, 2, 3], [4, 5, 6, 7]] and several.verdict == "met"
    # A reported interval has 95 %, however often it was judged.
    assert several.found.low == pytest.approx(
        student([values[n % 4] for n in range(several.found.n)], 0.05)[0]
    )


def test_a_mean_at_the_limit_is_judged_one_time_in_twenty_at_most(monkeypatch):
    """All looks together err as seldom as one may."""
    random = np.random.default_rng(1)
    judged = 0
    choice = Choice("network.wavelengths", [1, 2])
    monkeypatch.setattr(bisecting, "pressures", lambda _: [])
    monkeypatch.setattr(bisecting, "_with", lambda document, *_, **__: document)
    for _ in range(1000):
        values = random.normal(1e6, 2e5, 64).tolist()
        runs = Runs(lambda number, values=values: carrying(values[number]))
        monkeypatch.setattr(bisecting, "run_resolved", runs)
        of = SCENARIO, GOODPUT, choice, 4, 64, None, None
        trials = bisecting._Trials(*of, allow_code=False)  # pyright: ignore[reportPrivateUsage]
        judged += trials.at(0).verdict != "open"
    # Five looks at 5 % each come to 18 %, their shares to 4.8 %; with 1,000 means give or take 2 %.
    assert judged < 70
