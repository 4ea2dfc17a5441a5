"""Verdicts of studies from rows that are written down: what is higher, lower, equal, undecided."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.measures.comparing import compare, find
from burstlab.statistics import (
    LEVEL,
    holm,
    mean_ci95,
    paired_difference,
    paired_ratio,
    paired_ratios,
)
from burstlab.studies import plan as plans
from burstlab.studies.outcome import Study
from burstlab.studies.verdicts import significance, versus
from burstlab.tables import from_rows

METRIC = "flows.mean.goodput_bps"


def study(samples: dict[str, list[list[float]]]) -> Study:
    """A study of a metric whose values are given: by scheme, a list of replications a point."""
    points = len(next(iter(samples.values())))
    document: dict[str, Any] = {
        "replications": 2,
        "metrics": [METRIC],
        "scenario": {"run": {"duration": "1 s"}},
        "grid": {"tcp.window": [10 + point for point in range(points)]},
        "schemes": {name: {"run.bursts": 5 + place} for place, name in enumerate(samples)},
    }
    plan = plans.read(document)
    rows = [
        {
            "point": point,
            "scheme": name,
            "replication": number,
            "seed": 1,
            "fingerprint": "",
            METRIC: value,
        }
        for point in range(points)
        for name, values in samples.items()
        for number, value in enumerate(values[point])
    ]
    return Study(plan, from_rows(rows), bl.__version__)


def test_higher_is_higher_and_lower_is_lower():
    found = study(
        {
            "a": [[1.0, 1.1, 0.9], [5.0, 5.1, 4.9], [5.0, 5.1, 4.9], [2.0, 9.0, 4.0], [3.0] * 3],
            "b": [[8.0, 8.1, 7.8], [2.0, 2.2, 1.9], [1.0, 1.3, 0.9], [3.0, 5.0, 6.0], [3.0] * 3],
        }
    )
    (one,) = versus(found, significance(found))
    assert (one.scheme, one.over) == ("b", "a")
    assert (one.higher, one.lower, one.undecided, one.equal) == (1, 2, 1, 1)
    assert one.ratios is not None
    assert one.ratios == pytest.approx((3.2 / 15, 14 / 15, 23.9 / 3))
    turned = study({"b": [[8.0, 8.1, 7.8]], "a": [[1.0, 1.1, 0.9]]})
    (other,) = versus(turned, significance(turned))
    assert (other.scheme, other.higher, other.lower) == ("a", 0, 1)


def test_two_runs_are_tested_and_one_is_not():
    two = study({"a": [[1.0, 1.001]], "b": [[9.0, 9.002]]})
    (p,) = significance(two)
    assert p <= LEVEL
    assert p == pytest.approx(paired_difference([9.0, 9.002], [1.0, 1.001]).p)
    (one,) = versus(two, significance(two))
    assert (one.higher, one.undecided) == (1, 0)
    single = study({"a": [[1.0]], "b": [[9.0]]})
    assert np.isnan(significance(single)).all()
    (shown,) = versus(single, significance(single))
    assert (shown.higher, shown.lower, shown.equal, shown.undecided) == (0, 0, 0, 1)


def test_a_difference_that_never_varies_is_certain_and_none_is_no_test():
    found = study(
        {"a": [[2.0, 2.0], [2.0, 2.0], [1.0, 2.0]], "b": [[3.0, 3.0], [2.0, 2.0], [1.5, 1.4]]}
    )
    p = significance(found)
    assert p[0] == 0.0, "an interval of no width that leaves out zero"
    assert math.isnan(p[1]), "no difference in any run: nothing to test"
    lone = paired_difference([1.5, 1.4], [1.0, 2.0]).p
    assert lone is not None
    assert p[2] == pytest.approx(holm([0.0, lone])[1]), "of a family of two, not of three"
    (one,) = versus(found, p)
    assert (one.higher, one.equal, one.undecided) == (1, 1, 1)


def test_a_gap_that_swaps_its_sign_is_not_one_without_a_gap():
    found = study({"a": [[1.0, 2.0]], "b": [[2.0, 1.0]]})
    (p,) = significance(found)
    assert p == pytest.approx(1.0), "the mean difference is zero, its interval is not"
    (one,) = versus(found, significance(found))
    assert (one.equal, one.undecided) == (0, 1)


def test_a_ratio_over_a_negative_mean_has_an_interval_of_positive_width():
    x, y = [3.0, 4.0, 5.5], [-1.0, -2.0, -2.5]
    below, above = paired_ratio(x, y), paired_ratio(x, [-value for value in y])
    assert below.mean == -above.mean
    assert below.mean == pytest.approx(12.5 / -5.5)
    assert below.ci95 == above.ci95
    assert below.ci95 is not None
    # Cochran, Sampling Techniques, 3rd edition, (6.13): residuals x - R y over the mean of y.
    left = np.array(x) - below.mean * np.array(y)
    wide = 4.302652729911275 * math.sqrt(float((left**2).sum()) / 2 / 3) / (5.5 / 3)
    assert below.ci95 == pytest.approx(wide)
    ratios, halves = paired_ratios(np.array([x, x]), np.array([y, [0.0, 0.0, 0.0]]))
    assert ratios[0] == below.mean
    assert halves[0] == below.ci95
    assert np.isnan(ratios[1])
    assert np.isnan(halves[1])


def test_an_interval_of_no_width_is_precise_whatever_the_mean():
    assert mean_ci95([0.0, 0.0, 0.0]).relative() == 0.0
    assert mean_ci95([4.0, 4.0]).relative() == 0.0
    assert mean_ci95([4.0]).relative() == math.inf
    assert mean_ci95([-1.0, 1.0]).relative() == math.inf
    sample = mean_ci95([-3.0, -5.0])
    assert sample.ci95 is not None
    assert sample.relative() == pytest.approx(sample.ci95 / 4.0)


def test_the_seed_of_a_point_is_not_of_the_order_in_which_it_is_written():
    def seeds(grid: dict[str, Any], seed: int = 1) -> dict[str, int]:
        plan = plans.read(
            {"seed": seed, "seeds": "independent", "scenario": {}, "grid": grid, "replications": 1}
        )
        return {
            json.dumps(point, sort_keys=True): plan.seed_of(number)
            for number, point in enumerate(plan.points)
        }

    grid = {"tcp.window": [10, 20], "edge.timer": ["1 ms", "2 ms"]}
    found = seeds(grid)
    assert len(set(found.values())) == 4
    assert found == seeds(dict(reversed(grid.items())))
    assert found == seeds({name: values[::-1] for name, values in grid.items()})
    assert not set(found.values()) & set(seeds(grid, 2).values())


def test_estimates_of_several_flows_are_of_their_sum(small):
    small["flows"] = [{"label": "x"}, {"label": "y", "start": "3 s"}]
    result = bl.run(small, replications=3)
    shown = result.estimates()
    for name in ("goodput_bps", "packets_sent", "timeouts"):
        parts = [[flow[name] for flow in one.summary["flows"]] for one in result.replications]
        assert all(part > 0 for values in parts for part in values)
        expected = mean_ci95([sum(values) for values in parts])
        assert shown[name] == expected.to_json()
        own = mean_ci95([values[1] for values in parts]).to_json()
        assert shown[f"y[1].{name}"] == own


def test_a_time_of_several_flows_is_their_mean(small):
    small["flows"] = [{"bytes": "20 KB"}, {"bytes": "90 KB"}, {"start": "19.99 s"}]
    result = bl.run(small, replications=2)
    shown = result.estimates()
    for name, having in (("rtt_s", 2), ("completed_s", 2)):
        parts = [
            [flow[name] for flow in one.summary["flows"] if flow[name] is not None]
            for one in result.replications
        ]
        assert [len(values) for values in parts] == [having] * 2
        expected = mean_ci95([sum(values) / having for values in parts])
        assert shown[name] == expected.to_json()


def test_a_comparison_of_results_has_the_sign_of_the_first_less_the_other(small, tmp_path):
    for name, window in (("narrow", 4), ("wide", 60)):
        small["tcp"]["window"] = window
        bl.run(small, replications=12, out=tmp_path / name)
    shown = compare(find([tmp_path / "narrow", tmp_path / "wide"])).differences
    (one,) = [one for one in shown if one.metric == METRIC]
    assert (one.result.rsplit("/", 1)[-1], one.over.rsplit("/", 1)[-1]) == ("wide", "narrow")
    assert one.found.difference.mean == pytest.approx(one.means[0] - one.means[1])
    assert one.significant
    assert one.found.difference.low > 0.0
