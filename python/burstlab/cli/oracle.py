"""``burstlab oracle``: traces of another simulator, packet by packet."""

from __future__ import annotations

import json
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
    return 0 if all(outcome.match for outcome in report.outcomes) else 1


def _print(report: Report) -> None:
    for outcome in report.outcomes:
        if outcome.match:
            continue
        say(f"{outcome.case.name}: {outcome.difference or outcome.problem}")
        if outcome.difference is not None:
            for title, rows in (
                ("recorded", outcome.difference.theirs),
                ("burstlab", outcome.difference.ours),
            ):
                for row in rows:
                    say(f"  {title}  {row}")
    good = sum(outcome.match for outcome in report.outcomes)
    rows = sum(outcome.compared for outcome in report.outcomes)
    print(f"{good} of {len(report.outcomes)} cases match ({rows:,} rows agree)")
