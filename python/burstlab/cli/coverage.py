"""``burstlab reproduce --coverage``: everything that the papers print, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.cli.printing import STYLES, console, say
from burstlab.cli.tables import table

if TYPE_CHECKING:
    from burstlab.reproduce.coverage import Line
    from burstlab.reproduce.paper import Paper


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
    from burstlab.reproduce.coverage import count, coverage, reports

    if json_:
        print(json.dumps({"coverage": coverage_json(out, keys)}))
        return 0
    lines: list[Line] = []
    for paper in _named(keys):
        found, origin = reports(paper, Path(out))
        listed = coverage(paper, found)
        _print(paper, listed, list(dict.fromkeys(origin.values())))
        lines += listed
    counts = count(lines)
    counted = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    say(f"\n{len(lines)} printed statements and values: {counted}")
    return 0


def coverage_json(out: str, keys: Sequence[str]) -> list[dict[str, str]]:
    """Return the lines of papers as JSON has them."""
    from burstlab.reproduce.coverage import coverage, reports

    return [
        line.to_json()
        for paper in _named(keys)
        for line in coverage(paper, reports(paper, Path(out))[0])
    ]


def _named(keys: Sequence[str]) -> list[Paper]:
    from burstlab.reproduce.paper import papers

    return [paper for paper in papers() if not keys or paper.key in keys]


def _print(paper: Paper, lines: Sequence[Line], origin: Sequence[Any]) -> None:
    from rich.text import Text

    terminal = console()
    terminal.print(Text.assemble("\n", (paper.key, "bold"), f"  {'; '.join(origin) or 'not run'}"))
    titles = ("place", "verdict", "what is printed", "judged by", "evidence")
    made = table(titles, plain=True, fold=True)
    for line in lines:
        verdict = Text(line.verdict, style=STYLES.get(line.verdict, "dim"))
        made.add_row(Text(line.where), verdict, Text(line.says), Text(line.by), Text(line.evidence))
    terminal.print(made)
