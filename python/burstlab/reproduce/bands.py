"""Tests of measured values against limits, an order, or published values, with their intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from burstlab.statistics import Estimate

Measure: TypeAlias = "float | int | Estimate"

#: Whether all of an interval passes a test, none of it, or a part.
Outcome: TypeAlias = Literal["in", "out", "open"]

#: The tests that a table can name.
TESTS = ("equals", "band", "at_least", "at_most", "order", "rows_within", "rows_share")


@dataclass(frozen=True)
class Row:
    """A measured value with the published one.

    Attributes
    ----------
    ci95
        Half-width of the interval; None for an exact value, without random numbers.
    """

    label: str
    published: float | None
    measured: float
    ci95: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        """Return the row as ``burstlab reproduce --json`` prints it."""
        return {
            "label": self.label,
            "published": self.published,
            "measured": self.measured,
            "ci95": self.ci95,
            "n": self.n,
        }

    def within(self, tolerance: float) -> Outcome:
        """Tell whether the value is as published, to a tolerance in the unit of the value."""
        gap = abs(self.measured - (math.nan if self.published is None else self.published))
        half = self.ci95 or 0.0
        # The printed digits are decimal: 1.25 is within 0.05 of 1.20.
        slack = 1e-9 * max(1.0, abs(self.measured))
        if gap + half <= tolerance + slack:
            return "in"
        return "open" if gap - half <= tolerance else "out"


def test(
    table: Mapping[str, Any],
    entry: Mapping[str, Any],
    measures: Mapping[str, Measure],
    rows: Sequence[Row],
) -> tuple[Outcome, str]:
    """Return the outcome of a test, and what was measured.

    Parameters
    ----------
    table
        One of `TESTS` with its limits; ``measure``, ``rows`` and ``except`` where they are not
        those of the claim.
    entry
        The claim.
    """
    if "order" in table:
        return _order(table["order"], measures)
    for name in ("rows_within", "rows_share"):
        if name in table:
            return _rows(float(table[name]), name == "rows_share", meant(table, entry, rows))
    name = table.get("measure", entry.get("measure"))
    measure = measures[name]
    low, high = _limits(table)
    found = f"{name} = {text(measure)}, wanted {_wanted(low, high)}"
    return _against(measure, low, high), found


def meant(table: Mapping[str, Any], entry: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a published value that a test of rows is about."""
    start = table.get("rows", entry.get("rows", ""))
    without = table.get("except", entry.get("except", ()))
    found = [
        row
        for row in rows
        if row.label.startswith(start) and row.label not in without and row.published is not None
    ]
    if not found:
        raise ValueError(f"no row with a published value starts with {start!r}")
    return found


def all_of(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a test that has all of these parts."""
    found = set(outcomes)
    if "out" in found:
        return "out"
    return "open" if "open" in found else "in"


def text(measure: Measure) -> str:
    """Return a measure as evidence shows it."""
    if isinstance(measure, (Estimate, int)):
        return str(measure)
    return f"{measure:.4g}"


def stored(measure: Measure) -> Any:
    """Return a measure as a report stores it."""
    if isinstance(measure, Estimate):
        return measure.to_json()
    value = measure if isinstance(measure, int) else float(measure)
    return value if math.isfinite(value) else None


def restored(value: Any) -> Measure:
    """Read a measure as a report stores it."""
    if isinstance(value, dict):
        return Estimate(value["mean"], value["ci95"], value["n"])
    return math.nan if value is None else value


def _against(measure: Measure, low: float, high: float) -> Outcome:
    value, half = _value(measure), _half(measure)
    if math.isnan(value):
        return "out"
    if low <= value - half and value + half <= high:
        return "in"
    return "out" if value + half < low or value - half > high else "open"


def _order(names: Sequence[str], measures: Mapping[str, Measure]) -> tuple[Outcome, str]:
    pairs = itertools.pairwise(measures[name] for name in names)
    found = ", ".join(f"{name} = {text(measures[name])}" for name in names)
    return all_of(_larger(a, b) for a, b in pairs), found


def _larger(a: Measure, b: Measure) -> Outcome:
    difference = _value(a) - _value(b)
    half = math.hypot(_half(a), _half(b))
    if difference - half > 0.0:
        return "in"
    return "open" if difference + half > 0.0 else "out"


def _rows(tolerance: float, share: bool, rows: Sequence[Row]) -> tuple[Outcome, str]:
    def allowed(row: Row) -> float:
        return tolerance * abs(row.published or 0.0) if share else tolerance

    def gap(row: Row) -> float:
        """Return the gap in parts of the allowed one."""
        return abs(row.measured - (row.published or 0.0)) / (allowed(row) or math.ulp(0.0))

    outcomes: dict[str, Outcome] = {row.label: row.within(allowed(row)) for row in rows}
    inside = sum(outcome == "in" for outcome in outcomes.values())
    worst = max(rows, key=gap)
    limit = f"{100 * tolerance:g} %" if share else f"{tolerance:g}"
    found = (
        f"{inside} of {len(rows)} values within ±{limit}; largest gap "
        f"{abs(worst.measured - (worst.published or 0.0)):.3g} at {worst.label} "
        f"(published {worst.published:g}, measured {worst.measured:.3g})"
    )
    for outcome, named in (("out", "outside"), ("open", "undecided")):
        labels = [label for label, one in outcomes.items() if one == outcome]
        if labels:
            found += f"; {named}: {', '.join(labels)}"
    return all_of(outcomes.values()), found


def _limits(table: Mapping[str, Any]) -> tuple[float, float]:
    if "equals" in table:
        return float(table["equals"]), float(table["equals"])
    if "band" in table:
        low, high = table["band"]
        return float(low), float(high)
    return float(table.get("at_least", "-inf")), float(table.get("at_most", "inf"))


def _wanted(low: float, high: float) -> str:
    if low == high:
        return f"{low:g}"
    if high == float("inf"):
        return f"at least {low:g}"
    if low == float("-inf"):
        return f"at most {high:g}"
    return f"{low:g} to {high:g}"


def _value(measure: Measure) -> float:
    return measure.mean if isinstance(measure, Estimate) else float(measure)


def _half(measure: Measure) -> float:
    """Return the half-width of the interval; a single random sample has none."""
    if not isinstance(measure, Estimate):
        return 0.0
    return math.inf if measure.ci95 is None else measure.ci95
