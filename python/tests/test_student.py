"""Student's t distribution against another implementation, and against what it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burstlab.measures import student

DEGREES = [0.5, 1.0, 2.0, 4.0, 9.0, 29.7, 199.0, 9_999.0, 1e5]


@pytest.mark.parametrize("degrees", DEGREES)
def test_it_is_that_of_scipy(degrees):
    special = pytest.importorskip("scipy.special")
    for share in (0.6, 0.9, 0.975, 0.9999):
        found = student.quantile(degrees, share)
        assert found == pytest.approx(float(special.stdtrit(degrees, share)), rel=1e-11)
        assert student.quantile(degrees, 1.0 - share) == pytest.approx(-found, rel=1e-12)
    for value in (0.1, 0.5, 1.0, 1.96, 3.0, 20.0):
        shown = float(special.stdtr(degrees, -value))
        assert student.below(degrees, -value) == pytest.approx(shown, rel=1e-10)
        assert student.below(degrees, value) == pytest.approx(1.0 - shown, rel=1e-10)


def test_it_is_known_in_closed_form_with_one_and_two_degrees():
    for value in (-3.0, -0.2, 0.0, 0.7, 5.0):
        assert student.below(1.0, value) == pytest.approx(0.5 + math.atan(value) / math.pi)
        known = 0.5 + value / (2.0 * math.sqrt(2.0 + value**2))
        assert student.below(2.0, value) == pytest.approx(known)


def test_with_many_degrees_it_is_the_normal_one():
    assert student.quantile(1e9, 0.975) == pytest.approx(1.959963984540054, rel=1e-12)
    assert student.below(1e9, -1.0) == pytest.approx(0.15865525393145707, rel=1e-12)


def test_what_is_no_share_has_no_value():
    for degrees, share in ((0.0, 0.9), (5.0, 0.0), (5.0, 1.0), (math.nan, 0.9)):
        assert math.isnan(student.quantile(degrees, share))
    assert student.quantile(5.0, 0.5) == 0.0
    assert student.below(5.0, math.inf) == 1.0


def test_arrays_are_taken_value_by_value():
    found = student.two_sided(np.array([[0.0, 2.0], [np.inf, 1.0]]), 3.0)
    assert found.shape == (2, 2) and found[0, 0] == 1.0 and found[1, 0] == 0.0
    assert found[0, 1] == 2.0 * student.below(3.0, -2.0)
    assert student.quantiles([1.0, 9.0], 0.975) == pytest.approx([12.7062, 2.26216], rel=1e-5)
