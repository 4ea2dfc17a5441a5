"""``burstlab oracle``: traces of another simulator, packet by packet."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from burstlab.cli.flags import Json, Whole
from burstlab.cli.printing import say, warn

if TYPE_CHECKING:
    from burstlab.oracle import Report


def oracle(
    directory: str,
    /,
    *,
    jobs: Whole = None,
    json_: Json = False,
) -> int:
    """Replay recorded traces of another simulator and compare packet by packet.

    Where several flows share a queue, rows are compared up to the first tie, two events at the
    queue at one instant, whose order is each simulator's own: such a case is a tie, neither a match
    nor a difference. Exit code 0: every case is a match or a tie; 1: one differs or cannot be run.

    Parameters
    ----------
    directory
        Holds index.json and the traces it names.
    jobs
        Cases at a time (default: one per processor); it changes no answer.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.oracle import replay
    from burstlab.progress import bar

    with bar("replaying") as progress:
        report = replay(directory, jobs=jobs, progress=progress)
    if report.skipped:
        reasons = sorted({reason for _, reason in report.skipped})
        warn(f"notice: {len(report.skipped)} cases skipped: {'; '.join(reasons)}")
    if json_:
        print(json.dumps(report.to_json()))
    else:
        _print(report)
    return 0 if all(outcome.outcome in ("match", "tie") for outcome in report.outcomes) else 1


def _print(report: Report) -> None:
    for outcome in report.outcomes:
        if outcome.match:
            continue
        if outcome.outcome == "tie":
            beyond = "agree too" if outcome.agrees_beyond else "are not compared"
            say(
                f"{outcome.case.name}: tie at t = {outcome.tie_s:.9f} s, "
                f"{outcome.compared:,} rows before it agree, those behind it {beyond}"
            )
            continue
        say(f"{outcome.case.name}: {outcome.difference or outcome.problem}")
        if outcome.difference is not None:
            for title, rows in (
                ("recorded", outcome.difference.theirs),
                ("burstlab", outcome.difference.ours),
            ):
                for row in rows:
                    say(f"  {title}  {row}")
    counts = Counter(outcome.outcome for outcome in report.outcomes)
    rows = sum(outcome.compared for outcome in report.outcomes)
    rest = {
        "tie": f", {counts['tie']} tie",
        "differs": f", {counts['differs']} differ",
        "failed": f", {counts['failed']} cannot be run",
    }
    others = "".join(text for outcome, text in rest.items() if counts[outcome])
    print(f"{counts['match']} of {len(report.outcomes)} cases match{others} ({rows:,} rows agree)")
