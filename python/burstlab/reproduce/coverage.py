"""The judged part of a paper: everything that it prints, with the verdict of a report.

An item of ``coverage.toml`` is one printed statement, with the claims and ``rows`` of published
values that judge it in the reading that is taken. Its ``readings`` are claims and rows of readings
that are not taken, its ``own`` are claims of the project about it. Neither is a verdict on the
statement: that no reading reaches a printed number may hold, and the printed number does not. An
item that has only these is no statement of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from burstlab.reproduce.bands import Row
from burstlab.reproduce.claims import UNDECIDED, VERDICTS, Verdict
from burstlab.reproduce.listed import LIST, listed
from burstlab.reproduce.paper import Paper

#: ``"not run"``: the report has no such target; ``"no number"``: there is nothing to judge.
Status: TypeAlias = "Verdict | Literal['not run', 'no number']"

#: The subject of a line: the reading of the statement that is taken, another one, or our own claim.
Role: TypeAlias = Literal["statement", "reading", "own"]

#: Every status, the worst first: a statement has the worst of its judges.
WORST: tuple[Status, ...] = (
    "fails", UNDECIDED, "differs", "not run", "cannot tell", "holds", "no number",
)  # fmt: skip

#: Under which name an item lists the claims of a role.
ROLES: Mapping[Role, str] = {"statement": "claims", "reading": "readings", "own": "own"}

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
    role
        ``"statement"``: the test is a verdict on the statement; ``"reading"``: on a reading of it
        that is not taken; ``"own"``: on a claim of the project.
    """

    paper: str
    where: str
    kind: str
    says: str
    by: str
    verdict: Status
    evidence: str
    role: Role = "statement"

    def to_json(self) -> dict[str, str]:
        """Return the line as ``burstlab reproduce --coverage --json`` prints it."""
        return {name: str(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Statement:
    """One printed statement, with the worst verdict of its judges.

    Attributes
    ----------
    paper, where, kind, says
        See `Line`.
    verdict
        The worst of those of its lines.
    lines
        How many judges it has.
    """

    paper: str
    where: str
    kind: str
    says: str
    verdict: Status
    lines: int

    def to_json(self) -> dict[str, Any]:
        """Return the statement as ``burstlab reproduce --coverage --json`` prints it."""
        return dict(vars(self))


def coverage(paper: Paper, reported: Reported) -> list[Line]:
    """List what a paper prints, in its order, with the verdicts of a report.

    Parameters
    ----------
    paper
        The paper.
    reported
        The entries of ``reproduce.json`` about its targets.

    Returns
    -------
    list[Line]
        The lines of each item, and those of the claims that no item names.
    """
    lines: list[Line] = []
    for item in paper.coverage:
        judged = _judged(paper, item, reported, "statement")
        if not judged and "not_judged" in item:
            judged = [_line(paper, item, "", "no number", item["not_judged"])]
        lines += judged
        lines += _judged(paper, _of_role(item, "readings"), reported, "reading")
        lines += _judged(paper, _of_role(item, "own"), reported, "own")
    return lines + _unnamed(paper, reported)


def statements(lines: Sequence[Line]) -> list[Statement]:
    """Return the statements of papers, each with the worst verdict of its lines."""
    found: dict[tuple[str, str, str, str], list[Line]] = {}
    for line in lines:
        if line.role == "statement":
            key = (line.paper, line.where, line.kind, line.says)
            found.setdefault(key, []).append(line)
    judged: list[Statement] = []
    for (paper, where, kind, says), own in found.items():
        worst = min(own, key=lambda line: WORST.index(line.verdict)).verdict
        judged.append(Statement(paper, where, kind, says, worst, len(own)))
    return judged


def _judged(paper: Paper, item: Mapping[str, Any], reported: Reported, role: Role) -> list[Line]:
    claims = list(_claims(paper, item, reported))
    # A reading that is not taken needs no explanation for what it misses.
    explained = role != "statement" or any(
        line.verdict in ("differs", UNDECIDED, "cannot tell") for line in claims
    )
    found = [*claims, *_rows(paper, item, reported, explained=explained)]
    return [replace(line, role=role) for line in found]


def _of_role(item: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    """Return an item whose judges are those of another role: claims and, by the colon, rows."""
    names: Sequence[str] = item.get(role, ())
    rows = [name for name in names if ":" in name]
    return {**item, "rows": rows, "claims": [name for name in names if name not in rows]}


def _unnamed(paper: Paper, reported: Reported) -> list[Line]:
    """Return lines of the claims that no item names: they are the project's own."""
    named = {
        name for item in paper.coverage for role in ROLES.values() for name in item.get(role, ())
    }
    lines: list[Line] = []
    for target in paper.targets:
        for claim in paper.claims(target):
            name = f"{target}/{claim.id}"
            if name not in named:
                item = {
                    "where": "our own", "kind": "sentence",
                    "says": claim.entry["claim"], "claims": [name],
                }  # fmt: skip
                lines += _judged(paper, item, reported, "own")
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
        for one in _of(paper, recorded["targets"]):
            found[one["target"].partition("/")[2]] = one
            source = f"recorded, {one['effort']}, version {one['burstlab']}"
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


def _rows(
    paper: Paper, item: Mapping[str, Any], reported: Reported, *, explained: bool
) -> Iterable[Line]:
    for target, label in rows_of(paper, item):
        by = f"{target}: {label}"
        found = [Row(**row) for row in reported.get(target, {}).get("rows", ())]
        row = next((row for row in found if row.label == label), None)
        if row is None:
            yield _line(paper, item, by, "not run", f"burstlab reproduce {paper.key}/{target}")
            continue
        tolerance = paper.tolerances.get((target, label), 0.0)
        early = paper.early(target, reported[target]["effort"])
        verdict = "cannot tell" if early else verdict_of(row, tolerance, explained=explained)
        half = "" if row.ci95 is None else f" ± {row.ci95:.2g}"
        text = f"printed {row.published:g} (± {tolerance:.3g}), measured {row.measured:.4g}{half}"
        text += f"; no firm verdict: {early}" if early else ""
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


def count(judged: Iterable[Line | Statement]) -> dict[str, int]:
    """Return how many lines or statements have each verdict."""
    found = [one.verdict for one in judged]
    every: Sequence[Status] = (*VERDICTS, "not run", "no number")
    return {status: found.count(status) for status in every if status in found}
