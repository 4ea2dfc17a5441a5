"""Claims of a paper, and the verdict that measurements give them.

A claim *holds* when the whole interval of the measurement passes its test, and *fails* when the
whole interval misses it; between the two, measurements *cannot tell*. A failed claim with an
explanation has the verdict *differs*. An explanation is a narrower test that describes the
measurement, and a measurement without the alleged cause, in which the claim's own test passes. If
only the explanation is undecided, the verdict is *differs, cause undecided*. A test that a wrong
model passes too has no power, and no claim holds by it. A claim about a steady state gets no firm
verdict from a run that begins to measure before this state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from burstlab.reproduce.bands import TESTS, Measure, Outcome, Row, test, text
from burstlab.reproduce.wrong import Wrong

Verdict: TypeAlias = Literal["holds", "differs", "differs, cause undecided", "cannot tell", "fails"]

#: The claim's test is missed with the whole interval; its explanation is not decided.
UNDECIDED: Verdict = "differs, cause undecided"

#: Every verdict, the best first.
VERDICTS: tuple[Verdict, ...] = ("holds", "differs", UNDECIDED, "cannot tell", "fails")

_OF: Mapping[Outcome, Verdict] = {"in": "holds", "out": "fails", "open": "cannot tell"}

__all__ = ["UNDECIDED", "VERDICTS", "Claim", "Judged", "Measure", "Row", "Verdict"]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Attributes
    ----------
    evidence
        The measured values, in words and numbers.
    why
        For `differs`: the explanation.
    id
        Name of the claim within its target; empty where it has none.
    limit
        The origin of the limit of the test: ``"stated"`` (the paper), ``"before"`` (chosen before
        the first run) or ``"after"`` (chosen after runs had been seen).
    wrong
        The wrong models that were tested, and the verdict on each.
    off
        The models with the mechanism of the claim switched off, and the verdict on each.
    blind
        The part that the test cannot see, where one of these passes.
    """

    claim: str
    source: str
    verdict: Verdict
    evidence: str
    why: str = ""
    id: str = ""
    limit: str = ""
    wrong: Mapping[str, Verdict] = field(default_factory=dict)
    off: Mapping[str, Verdict] = field(default_factory=dict)
    blind: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the claim as ``burstlab reproduce --json`` prints it."""
        document: dict[str, Any] = {
            "claim": self.claim,
            "verdict": self.verdict,
            "evidence": self.evidence,
        }
        if self.id:
            document["id"] = self.id
        if self.limit:
            document["limit"] = self.limit
        if self.why:
            document["explanation"] = self.why
        if self.wrong:
            document["wrong_models"] = dict(self.wrong)
        if self.off:
            document["mechanism_off"] = dict(self.off)
        if self.blind:
            document["cannot_see"] = self.blind
        return document


@dataclass(frozen=True)
class Claim:
    """One statement of a paper and its test.

    Attributes
    ----------
    entry
        The table of ``claims.toml``: ``id``, ``claim``, ``source``, ``limit`` (see `Judged`),
        ``measure`` (not for ``order`` and tests of rows), exactly one of ``equals``, ``band``,
        ``at_least``, ``at_most``, ``order`` (names of measures, largest first), ``rows_within``
        (tolerance) and ``rows_share`` (tolerance as a share of the published value; for both,
        ``rows`` is the start of the labels meant, ``except`` lists labels to leave out),
        ``null`` and ``off`` (wrong models, see `burstlab.reproduce.wrong`), optionally ``evidence``
        (names of further measures to show), ``blind`` (what the test cannot see), ``steady``
        (true: it is about a steady state) and ``differs``: a table with a test, ``why``, and
        either ``removed`` (a test of runs without the cause; it inherits the entries of the claim
        that it does not set) or ``open`` (the cause is unknown; it lists what was tried).
    """

    entry: Mapping[str, Any]

    def __post_init__(self) -> None:
        _one_test(self.entry, self.name)
        explained = self.entry.get("differs")
        if explained is not None:
            _one_test(explained, f"{self.name}, differs")

    @property
    def id(self) -> str:
        """Name of the claim within its target."""
        return self.entry.get("id", "")

    @property
    def name(self) -> str:
        """How an error names the claim."""
        return f"claim {self.id or self.entry.get('claim')!r}"

    def judge(
        self, measures: Mapping[str, Measure], rows: Sequence[Row], early: str = ""
    ) -> Judged:
        """Test the claim on the measurements.

        Parameters
        ----------
        early
            Why they are not of the steady state; empty if they are.
        """
        entry = self.entry
        outcome, evidence = test(entry, entry, measures, rows)
        shown = [f"{name}: {text(measures[name])}" for name in entry.get("evidence", ())]
        parts = [evidence, *shown]
        verdict, why = _OF[outcome], ""
        if verdict == "fails" and "differs" in entry:
            verdict, why, found = self._explain(entry["differs"], measures, rows)
            parts += found
        wrong = self.wrong_models(measures, rows)
        passing = [model for model, judged in wrong.items() if judged != "fails"]
        if verdict == "holds" and passing:
            verdict = "cannot tell"
            parts.append(f"a wrong model is not told apart: {', '.join(passing)}")
        if early and entry.get("steady", False):
            verdict, why = "cannot tell", ""
            parts.append(f"no firm verdict: {early}")
        return Judged(
            claim=entry["claim"],
            source=entry.get("source", ""),
            verdict=verdict,
            evidence="; ".join(parts),
            why=why,
            id=self.id,
            limit=entry.get("limit", ""),
            wrong=wrong,
            off=self.wrong_models(measures, rows, "off"),
            blind=entry.get("blind", ""),
        )

    def wrong_models(
        self, measures: Mapping[str, Measure], rows: Sequence[Row], kind: str = "null"
    ) -> dict[str, Verdict]:
        """Return the verdict of the claim's test on each of its wrong models, by their names.

        Parameters
        ----------
        kind
            ``"null"``, or ``"off"`` for those with its mechanism switched off.
        """
        found: dict[str, Verdict] = {}
        for one in self.entry.get(kind, ()):
            wrong = Wrong(one, self.name)
            outcome, _ = test(self.entry, self.entry, *wrong.instead(self.entry, measures, rows))
            found[wrong.model] = _OF[outcome]
        return found

    def _explain(
        self, explained: Mapping[str, Any], measures: Mapping[str, Measure], rows: Sequence[Row]
    ) -> tuple[Verdict, str, list[str]]:
        """Return the verdict on a claim that fails, its explanation, and further evidence."""
        why: str = explained["why"]
        described, text_of = test(explained, self.entry, measures, rows)
        if described == "out":
            return "fails", "", []
        if "open" in explained:
            why = f"{why} No cause is known: {explained['open']}"
        verdict: Verdict = "differs" if described == "in" else UNDECIDED
        found = [] if described == "in" else [f"not decided what describes it: {text_of}"]
        removed = explained.get("removed")
        if removed is None:
            return verdict, why, found
        own = removed if any(name in removed for name in TESTS) else {**self.entry, **removed}
        gone, evidence = test(own, {**self.entry, **removed}, measures, rows)
        if gone == "out":
            return "fails", "", [f"without the alleged cause it stays: {evidence}"]
        if gone == "open":
            verdict = UNDECIDED
        return verdict, why, [*found, f"without the cause: {evidence}"]


def _one_test(table: Mapping[str, Any], name: str) -> None:
    tests = [one for one in TESTS if one in table]
    if len(tests) != 1:
        raise ValueError(f"{name}: one test is needed, not {tests}")
