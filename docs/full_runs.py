"""Write the tables of the papers' pages from the full runs that are recorded.

    python docs/full_runs.py [--check]

A line ``<!-- full: PAPER -->`` of a page in docs/papers is followed by a table of all targets, and
``<!-- full: PAPER/TARGET -->`` by one of the printed values of a target, or of all its values where
none is printed; both end at the next empty line.
With ``--check`` nothing is written, and the exit status is 1 if a page is not up to date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlab.reproduce.bands import Row
from burstlab.reproduce.claims import VERDICTS
from burstlab.reproduce.coverage import verdict_of
from burstlab.reproduce.paper import Paper, papers

PAGES = Path(__file__).parent / "papers"

_BLOCK = re.compile(r"(<!-- full: ([\w-]+)(?:/([\w-]+))? -->\n)(?:[^\n]+\n)*")


def main(arguments: Sequence[str]) -> int:
    """Bring every page up to date, or tell which is not."""
    stale: list[str] = []
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = filled(text)
        if wanted != text:
            stale.append(page.name)
            if "--check" not in arguments:
                page.write_text(wanted, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)}: {'not up to date' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


def filled(text: str) -> str:
    """Answer a page with its tables as the records have them."""
    known = {paper.key: paper for paper in papers()}

    def block(found: re.Match[str]) -> str:
        marker, key, target = found.groups()
        paper = known[key]
        if paper.recorded is None:
            return found[0]
        lines = _targets(paper) if target is None else _values(paper, target)
        return marker + "".join(f"{line}\n" for line in lines)

    return _BLOCK.sub(block, text)


def _targets(paper: Paper) -> list[str]:
    recorded = paper.recorded or {}
    reports = recorded["targets"]
    version = reports[0]["burstlab"]
    minutes = sum(one["wall_s"] for one in reports) / 60.0
    lines = [
        f"| `--full`, version {version}, {minutes:.0f} minutes on two busy cores "
        "| holds | differs | cannot tell | fails | seconds | fingerprint |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in reports:
        counts = [sum(c["verdict"] == verdict for c in one["claims"]) for verdict in VERDICTS]
        cells = [f"`{one['target'].partition('/')[2]}`", *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} | {one['wall_s']:.1f} | `{one['fingerprint']}` |")
    return lines


def _values(paper: Paper, target: str) -> list[str]:
    reports: Sequence[Mapping[str, Any]] = (paper.recorded or {})["targets"]
    (report,) = [one for one in reports if one["target"] == f"{paper.key}/{target}"]
    lines = ["| `--full` | published | tolerance | measured | verdict |", "|---|---|---|---|---|"]
    printed = [row for row in report["rows"] if row["published"] is not None]
    for row in printed or report["rows"]:
        half = "" if row["ci95"] is None else f" ± {row['ci95']:.2g}"
        published, tolerance, verdict = "", "", ""
        if row["published"] is not None:
            published = f"{row['published']:g}"
            within = paper.tolerances[target, row["label"]]
            tolerance = f"{within:.3g}"
            # The claims below the table say why.
            verdict = verdict_of(Row(**row), within, explained=True)
        cells = (row["label"], published, tolerance, f"{row['measured']:.4g}{half}", verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
