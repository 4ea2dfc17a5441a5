"""Claims of a paper, and the verdict that measurements give them.

A band is set from the paper before anything is measured and is never widened. A claim whose test
fails is `fails`, unless the claim carries an explanation whose own, narrower test describes what
was measured instead: then it is `differs`, and the report says why.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from burstlab.statistics import Estimate

Verdict: TypeAlias = Literal["holds", "differs", "fails"]
Measure: TypeAlias = "float | int | Estimate"

_TESTS = ("equals", "band", "at_least", "at_most", "order", "rows_within")


@dataclass(frozen=True)
class Row:
    """One value beside the published one."""

    label: str
    published: float | None
    measured: float
    ci95: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        """Answer the row as ``burstlab reproduce --json`` prints it."""
        return {
            "label": self.label,
            "published": self.published,
            "measured": self.measured,
            "ci95": self.ci95,
            "n": self.n,
        }


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Attributes
    ----------
    evidence
        What was measured, in words and numbers.
    why
        For `differs`: the explanation.
    """

    claim: str
    source: str
    verdict: Verdict
    evidence: str
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Answer the claim as ``burstlab reproduce --json`` prints it."""
        document = {
            "claim": self.claim,
            "verdict": self.verdict,
            "evidence": self.evidence,
        }
        if self.why:
            document["explanation"] = self.why
        return document


@dataclass(frozen=True)
class Claim:
    """One statement of a paper and its test.

    Attributes
    ----------
    entry
        The table of ``claims.toml``: ``claim``, ``source``, ``measure`` (not for ``order`` and
        ``rows_within``), exactly one of ``equals``, ``band``, ``at_least``, ``at_most``,
        ``order`` (names of measures, largest first), ``rows_within`` (tolerance; ``rows`` is the
        start of the labels meant, ``except`` lists labels to leave out), optionally ``evidence``
        (names of further measures to show) and ``differs`` (a table with a test and ``why``).
    """

    entry: Mapping[str, Any]

    def __post_init__(self) -> None:
        tests = [name for name in _TESTS if name in self.entry]
        if len(tests) != 1:
            raise ValueError(f"claim {self.entry.get('claim')!r}: one test is needed, not {tests}")

    def judge(self, measures: Mapping[str, Measure], rows: Sequence[Row]) -> Judged:
        """Hold the claim against what was measured."""
        entry = self.entry
        holds, evidence = _test(entry, entry, measures, rows)
        shown = [f"{name}: {_text(measures[name])}" for name in entry.get("evidence", ())]
        evidence = "; ".join([evidence, *shown])
        verdict: Verdict = "holds" if holds else "fails"
        why = ""
        explained = entry.get("differs")
        if not holds and explained is not None and _test(explained, entry, measures, rows)[0]:
            verdict, why = "differs", explained["why"]
        return Judged(entry["claim"], entry.get("source", ""), verdict, evidence, why)


def _test(
    test: Mapping[str, Any],
    entry: Mapping[str, Any],
    measures: Mapping[str, Measure],
    rows: Sequence[Row],
) -> tuple[bool, str]:
    if "order" in test:
        return _test_order(test["order"], measures)
    if "rows_within" in test:
        start, without = test.get("rows", entry.get("rows", "")), entry.get("except", ())
        return _test_rows(test["rows_within"], start, without, rows)
    name = test.get("measure", entry.get("measure"))
    measure = measures[name]
    low, high = _limits(test)
    text = f"{name} = {_text(measure)}, wanted {_wanted(low, high)}"
    return low <= _value(measure) <= high, text


def _test_order(names: Sequence[str], measures: Mapping[str, Measure]) -> tuple[bool, str]:
    values = [_value(measures[name]) for name in names]
    holds = all(a > b for a, b in itertools.pairwise(values))
    return holds, ", ".join(f"{name} = {_text(measures[name])}" for name in names)


def _test_rows(
    tolerance: float, start: str, without: Sequence[str], rows: Sequence[Row]
) -> tuple[bool, str]:
    meant = [row for row in rows if row.label.startswith(start) and row.label not in without]
    found = [row for row in meant if row.published is not None]
    if not found:
        raise ValueError(f"no row with a published value starts with {start!r}")
    gaps = {row.label: abs(row.measured - (row.published or 0.0)) for row in found}
    out = [row for row in found if not gaps[row.label] <= tolerance]
    worst = max(found, key=lambda row: gaps[row.label])
    text = (
        f"{len(found) - len(out)} of {len(found)} values within ±{tolerance:g}; largest gap "
        f"{gaps[worst.label]:.2f} at {worst.label} "
        f"(published {worst.published:g}, measured {worst.measured:.3g})"
    )
    if out:
        text += "; outside: " + ", ".join(row.label for row in out)
    return not out, text


def _limits(test: Mapping[str, Any]) -> tuple[float, float]:
    if "equals" in test:
        return float(test["equals"]), float(test["equals"])
    if "band" in test:
        low, high = test["band"]
        return float(low), float(high)
    return float(test.get("at_least", "-inf")), float(test.get("at_most", "inf"))


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


def _text(measure: Measure) -> str:
    if isinstance(measure, (Estimate, int)):
        return str(measure)
    return f"{measure:.4g}"
