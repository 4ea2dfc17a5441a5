"""``burstlab reproduce --coverage``: everything that the papers print, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.cli.printing import STYLES, console, say
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from burstlab.reproduce.coverage import Line
    from burstlab.reproduce.paper import Paper

#: How a head line counts statements.
_WORDS = {
    "holds": "hold",
    "differs": "differ",
    "differs, cause undecided": "differ with the cause undecided",
    "cannot tell": "undecided",
    "no number": "without a number",
    "fails": "fail",
}

#: How a line that is no verdict on a statement is marked.
_ROLES = {"reading": "a reading not taken", "own": "our own"}


def print_coverage(out: str, keys: Sequence[str], *, json_: bool = False) -> int:
    """Print what papers print, and the verdicts.

    Parameters
    ----------
    out
        Where targets may have been reproduced.
    keys
        Short names of the papers; all if there are none.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.reproduce.coverage import coverage, reports, statements

    if json_:
        print(json.dumps(coverage_json(out, keys)))
        return 0
    lines: list[Line] = []
    papers: list[tuple[Paper, list[Line], list[str]]] = []
    for paper in _named(keys):
        found, origin = reports(paper, Path(out))
        listed = coverage(paper, found)
        papers.append((paper, listed, list(dict.fromkeys(origin.values()))))
        lines += listed
    say(head := _head(lines))
    for paper, listed, origin in papers:
        _print(paper, listed, origin)
    # The list is longer than a screen.
    say(f"\n{head}" if len(statements(lines)) > 1 else "")
    return 0


def _head(lines: Sequence[Line]) -> str:
    """Return the sentence that counts statements, and after it what is none."""
    from burstlab.reproduce.coverage import count, statements

    judged = statements(lines)
    text = f"{several(len(judged), 'statement')}: {_counted(count(judged))}"
    for role, name in (("reading", "of readings not taken"), ("own", "of the project itself")):
        others = [line for line in lines if line.role == role]
        if others:
            text += f"\n  not counted, {several(len(others), 'line')} {name}: "
            text += _counted(count(others))
    return text


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {_WORDS.get(status, status)}" for status, number in counts.items())


def coverage_json(out: str, keys: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the lines and the statements of papers as JSON has them."""
    from burstlab.reproduce.coverage import coverage, reports, statements

    lines = [
        line for paper in _named(keys) for line in coverage(paper, reports(paper, Path(out))[0])
    ]
    return {
        "coverage": [line.to_json() for line in lines],
        "statements": [one.to_json() for one in statements(lines)],
    }


def _named(keys: Sequence[str]) -> list[Paper]:
    from burstlab.reproduce.paper import papers

    return [paper for paper in papers() if not keys or paper.key in keys]


def _print(paper: Paper, lines: Sequence[Line], origin: Sequence[Any]) -> None:
    from rich.text import Text

    terminal = console()
    terminal.print(Text.assemble("\n", (paper.key, "bold"), f"  {'; '.join(origin) or 'not run'}"))
    terminal.print(Text(_head(lines)))
    titles = ("place", "verdict", "what is printed", "judged by", "evidence")
    made = table(titles, plain=True, fold=True)
    for line in lines:
        verdict = Text(line.verdict, style=STYLES.get(line.verdict, "dim"))
        if line.role != "statement":
            verdict.append(f" ({_ROLES[line.role]})", "dim")
        made.add_row(Text(line.where), verdict, Text(line.says), Text(line.by), Text(line.evidence))
    terminal.print(made)
