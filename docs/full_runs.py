"""Record full runs, and write the tables of the papers' pages from those that are recorded.

    python docs/full_runs.py [--check | --record DIR | --judge | --rerun]

``--record DIR`` takes the targets that were reproduced in DIR with ``--full`` as records of this
version (``full.json`` in a paper's folder), one line a target, before the pages are written. Other
targets keep their records, and the pages name the versions of all.
``--judge`` holds the claims as they stand now against what the records measured: for a claim that
was changed after its full run.

``--rerun`` makes the full runs of `SHORT` anew and records them: some seconds, after a change that
alters fingerprints. A test holds their numbers, and of this version their fingerprints.

A line ``<!-- full: PAPER -->`` of a page in docs/papers is followed by a table of all targets, and
``<!-- full: PAPER/TARGET -->`` by one of the printed values of a target, or of all its values where
none is printed; both end at the next empty line. Long lists are on pages of docs/papers/measured.

The line behind ``<!-- statements: PAPER -->`` counts the statements of a paper by their verdicts,
as ``burstlab reproduce --coverage`` does.

With ``--check`` nothing is written, and the exit status is 1 if a page is not up to date.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlab.reproduce.bands import Row
from burstlab.reproduce.claims import UNDECIDED, VERDICTS
from burstlab.reproduce.coverage import count, coverage, reports, statements, verdict_of
from burstlab.reproduce.paper import Paper, papers

PAGES = Path(__file__).parent / "papers"

#: Targets of each paper whose full runs take seconds.
SHORT = (
    "yu2004/fig2a", "yu2004/fig6", "yu2004/flow-classes", "lu-hunter/fig1", "lu-hunter/rates",
    "ramantas/fig6a", "shihada/fig1", "shihada/fig2",
)  # fmt: skip

_BLOCK = re.compile(r"(<!-- full: ([\w-]+)(?:/([\w-]+)(?:: ([^>]+))?)? -->\n)(?:[^\n]+\n)*")


#: Verdicts in words, of one statement and of several.
_WORDS = {
    "holds": ("holds", "hold"),
    "differs": ("differs", "differ"),
    UNDECIDED: ("differs with the cause undecided", "differ with the cause undecided"),
    "cannot tell": ("is undecided", "are undecided"),
    "fails": ("fails", "fail"),
    "not run": ("is not run", "are not run"),
    "no number": ("has no number", "have no number"),
}

_COUNTS = re.compile(r"(<!-- statements: ([\w-]+) -->\n)[^\n]*\n")


def main(arguments: Sequence[str]) -> int:
    """Bring every page up to date, or tell which is not."""
    if arguments[:1] == ["--record"]:
        record(Path(arguments[1]))
    if arguments[:1] == ["--judge"]:
        judge()
    if arguments[:1] == ["--rerun"]:
        with tempfile.TemporaryDirectory() as directory:
            command = [sys.executable, "-m", "burstlab", "reproduce", *SHORT, "--full", "--out"]
            subprocess.run([*command, directory], check=True)
            record(Path(directory))
    stale: list[str] = []
    for page in sorted(PAGES.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = filled(text)
        if wanted != text:
            stale.append(page.name)
            if "--check" not in arguments:
                page.write_text(wanted, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)}: {'not up to date' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


def record(directory: Path) -> None:
    """Record the full runs of a directory; targets that it does not have keep their records."""
    document = json.loads((directory / "reproduce.json").read_text(encoding="utf-8"))
    found = {one["target"]: one for one in document["targets"] if one["effort"] == "full"}
    for paper in papers():
        names = [f"{paper.key}/{target}" for target in paper.targets]
        new = [name for name in names if name in found]
        if not new:
            continue
        before = {one["target"]: one for one in (paper.recorded or {"targets": ()})["targets"]}
        every = {**before, **found}
        missing = [name for name in names if name not in every]
        if missing:
            print(f"{paper.key}: not recorded, without a full run of {', '.join(missing)}")
            continue
        write(paper, [every[name] for name in names])
        print(f"recorded: {', '.join(new)}")


def judge() -> None:
    """Judge the measures of every record by the claims as they stand now."""
    for paper in papers():
        if paper.recorded is None:
            continue
        reports = list(paper.recorded["targets"])
        for one in reports:
            target = one["target"].partition("/")[2]
            measures = paper.measured(target)
            rows = [Row(**row) for row in one["rows"]]
            claims = paper.claims(target)
            judged = [claim.judge(measures, rows).to_json() for claim in claims]
            # The evidence of a claim that stands as it stood is what the run itself wrote.
            before = {_stands(claim): claim for claim in one["claims"]}
            one["claims"] = [before.get(_stands(claim), claim) for claim in judged]
        write(paper, reports)


def _stands(claim: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(claim.get(name, "") for name in ("id", "claim", "source", "verdict", "why"))


def write(paper: Paper, reports: Sequence[Mapping[str, Any]]) -> None:
    """Write the record of a paper, one line a target; numbers have seven digits."""
    short = [_without_texts(paper, one) for one in reports]
    lines = ",\n".join(json.dumps(_rounded(one), ensure_ascii=False) for one in short)
    head = json.dumps({"burstlab": reports[0]["burstlab"], "effort": "full"})
    text = f'{head[:-1]}, "targets": [\n{lines}\n]}}\n'
    (paper.directory / "full.json").write_text(text, encoding="utf-8")


def _without_texts(paper: Paper, report: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the sentences of claims that ``claims.toml`` has; `Paper.recorded` adds them."""
    texts = paper.texts(report["target"].partition("/")[2])

    def short(claim: Mapping[str, Any]) -> dict[str, Any]:
        found, known = dict(claim), texts.get(claim.get("id", ""), {})
        if known.get("claim") == found["claim"]:
            del found["claim"]
        if known.get("why") and known["why"] == found.get("explanation"):
            found["explanation"] = ""
        return found

    return {**report, "claims": [short(claim) for claim in report["claims"]]}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return value


def filled(text: str) -> str:
    """Return a page with its tables as the records have them."""
    known = {paper.key: paper for paper in papers()}

    def block(found: re.Match[str]) -> str:
        marker, key, target, words = found.groups()
        paper = known[key]
        if paper.recorded is None:
            return found[0]
        lines = _targets(paper) if target is None else _values(paper, target, words)
        return marker + "".join(f"{line}\n" for line in lines)

    def counts(found: re.Match[str]) -> str:
        return f"{found[1]}> {counted(known[found[2]])}\n"

    return _COUNTS.sub(counts, _BLOCK.sub(block, text))


def counted(paper: Paper) -> str:
    """Say how many statements of a paper hold, by the records of this version."""
    recorded, _ = reports(paper, Path("nowhere"))
    found = count(statements(coverage(paper, recorded)))
    parts = [f"{number} {_WORDS[verdict][number != 1]}" for verdict, number in found.items()]
    listed = ", ".join(parts[:-1]) + " and " + parts[-1]
    return f"**Of {sum(found.values())} statements of the paper {listed}.**"


def _targets(paper: Paper) -> list[str]:
    recorded = paper.recorded or {}
    reports = recorded["targets"]
    minutes = sum(one["wall_s"] for one in reports) / 60.0
    lines = [
        f"| `--full`, {minutes:.0f} minutes on two busy cores | holds | differs "
        "| cause undecided | cannot tell | fails | seconds | version | its fingerprint |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in reports:
        counts = [sum(c["verdict"] == verdict for c in one["claims"]) for verdict in VERDICTS]
        cells = [f"`{one['target'].partition('/')[2]}`", *map(str, counts)]
        made = f"{one['wall_s']:.1f} | {one['burstlab']} | `{one['fingerprint']}`"
        lines.append(f"| {' | '.join(cells)} | {made} |")
    return lines


def _values(paper: Paper, target: str, words: str | None) -> list[str]:
    reports: Sequence[Mapping[str, Any]] = (paper.recorded or {})["targets"]
    (report,) = [one for one in reports if one["target"] == f"{paper.key}/{target}"]
    printed = [row for row in report["rows"] if row["published"] is not None]
    if not printed or words is not None:
        named = [row for row in report["rows"] if (words or "") in row["label"]]
        rows = [f"| {row['label']} | {_measured(row)} |" for row in named]
        return ["| `--full` | measured |", "|---|---|", *rows]
    lines = ["| `--full` | published | tolerance | measured | verdict |", "|---|---|---|---|---|"]
    for row in printed:
        within = paper.tolerances[target, row["label"]]
        # The claims of the target say why.
        verdict = verdict_of(Row(**row), within, explained=True)
        cells = (row["label"], f"{row['published']:g}", f"{within:.3g}", _measured(row), verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _measured(row: Mapping[str, Any]) -> str:
    half = "" if row["ci95"] is None else f" ± {row['ci95']:.2g}"
    return f"{row['measured']:.4g}{half}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
