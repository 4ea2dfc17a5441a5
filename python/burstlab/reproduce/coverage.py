"""The judged part of a paper: everything that it prints, with the verdict of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from burstlab.reproduce.bands import Row
from burstlab.reproduce.claims import Verdict
from burstlab.reproduce.listed import LIST, listed
from burstlab.reproduce.paper import Paper

#: ``"not run"``: the report has no such target; ``"no number"``: there is nothing to judge.
Status: TypeAlias = "Verdict | Literal['not run', 'no number']"

#: Reported targets by their names without the paper.
Reported: TypeAlias = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Line:
    """One printed thing and its verdict.

    Attributes
    ----------
    paper
        Short name of the paper.
    where
        The place, as the paper calls it.
    kind
        ``"figure"``, ``"table"``, ``"equation"`` or ``"sentence"``.
    says
        The statement or value.
    by
        The test that judges it: ``target: row``, ``target/claim``, or nothing.
    verdict
        The outcome, or the reason that there is none.
    evidence
        The measured values, or the reason that there are none.
    """

    paper: str
    where: str
    kind: str
    says: str
    by: str
    verdict: Status
    evidence: str

    def to_json(self) -> dict[str, str]:
        """Return the line as ``burstlab reproduce --coverage --json`` prints it."""
        return {name: str(value) for name, value in vars(self).items()}


def coverage(paper: Paper, reported: Reported) -> list[Line]:
    """List what a paper prints, in its order, with the verdicts of a report.

    Parameters
    ----------
    paper
        The paper.
    reported
        The entries of ``reproduce.json`` about its targets.
    """
    lines: list[Line] = []
    for item in paper.coverage:
        judged = [*_claims(paper, item, reported), *_rows(paper, item, reported)]
        lines += judged or [_line(paper, item, "", "no number", item["not_judged"])]
    return lines


def reports(paper: Paper, out: Path) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Return the targets of a paper that were run, and where each was found.

    Parameters
    ----------
    paper
        The paper.
    out
        Where targets may have been reproduced. Missing targets are taken from the full run that
        comes with this version.

    Raises
    ------
    InputError
        If the files there cannot be read.
    """
    found: dict[str, Mapping[str, Any]] = {}
    origin: dict[str, str] = {}
    recorded = paper.recorded
    if recorded is not None:
        source = f"recorded, {recorded['effort']}, version {recorded['burstlab']}"
        for one in _of(paper, recorded["targets"]):
            found[one["target"].partition("/")[2]] = one
            origin[one["target"].partition("/")[2]] = source
    path = out / LIST
    if path.exists():
        for one in _of(paper, listed(path, "give another --out")):
            name = one["target"].partition("/")[2]
            found[name] = one
            origin[name] = f"{path}, {one['effort']}, version {one['burstlab']}"
    return found, origin


def _of(paper: Paper, targets: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    return (one for one in targets if one["target"].startswith(f"{paper.key}/"))


def _line(paper: Paper, item: Mapping[str, Any], by: str, verdict: Status, evidence: str) -> Line:
    return Line(paper.key, item["where"], item["kind"], item["says"], by, verdict, evidence)


def _claims(paper: Paper, item: Mapping[str, Any], reported: Reported) -> Iterable[Line]:
    for name in item.get("claims", ()):
        target, _, identifier = name.partition("/")
        claims = {str(one.get("id")): one for one in reported.get(target, {}).get("claims", ())}
        if identifier in claims:
            one = claims[identifier]
            yield _line(paper, item, name, one["verdict"], one["evidence"])
        else:
            yield _line(paper, item, name, "not run", f"burstlab reproduce {paper.key}/{target}")


def _rows(paper: Paper, item: Mapping[str, Any], reported: Reported) -> Iterable[Line]:
    explained = any(
        line.verdict in ("differs", "cannot tell") for line in _claims(paper, item, reported)
    )
    for target, label in rows_of(paper, item):
        by = f"{target}: {label}"
        found = [Row(**row) for row in reported.get(target, {}).get("rows", ())]
        row = next((row for row in found if row.label == label), None)
        if row is None:
            yield _line(paper, item, by, "not run", f"burstlab reproduce {paper.key}/{target}")
            continue
        tolerance = paper.tolerances.get((target, label), 0.0)
        verdict = verdict_of(row, tolerance, explained=explained)
        half = "" if row.ci95 is None else f" ± {row.ci95:.2g}"
        text = f"printed {row.published:g} (± {tolerance:.3g}), measured {row.measured:.4g}{half}"
        yield _line(paper, item, by, verdict, text)


def verdict_of(row: Row, tolerance: float, *, explained: bool) -> Verdict:
    """Return the verdict on one printed value.

    Parameters
    ----------
    row
        It and what was measured.
    tolerance
        How far they may be apart.
    explained
        Whether a claim on it says why they are.
    """
    outcome = row.within(tolerance)
    if outcome == "in":
        return "holds"
    if outcome == "open":
        return "cannot tell"
    return "differs" if explained else "fails"


def rows_of(paper: Paper, item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return target and label of every printed value that an item names."""
    found: list[tuple[str, str]] = []
    for name in item.get("rows", ()):
        wanted, _, start = name.partition(":")
        found += [
            (target, label)
            for target, label in paper.published
            if target == wanted and label.startswith(start.strip())
        ]
    return found


def count(lines: Sequence[Line]) -> dict[str, int]:
    """Return how many lines have each verdict."""
    found: dict[str, int] = {}
    for line in lines:
        found[line.verdict] = found.get(line.verdict, 0) + 1
    return found
