"""``burstlab oracle``: traces of another simulator, or of a kernel, packet by packet."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from burstlab.cli.flags import Json, Whole
from burstlab.cli.printing import say, warn
from burstlab.printable import several

if TYPE_CHECKING:
    from burstlab.oracle import LinuxOutcome, Report


def oracle(
    directory: str | None = None,
    /,
    *,
    level: Literal["replay", "path", "live"] | None = None,
    packetdrill: str | None = None,
    jobs: Whole = None,
    json_: Json = False,
) -> int:
    """Replay recorded traces of another simulator, or of Linux, and compare packet by packet.

    If several flows share a queue, rows are compared up to the first tie: two simultaneous events
    at the queue, whose order each simulator chooses. Such a case is a tie, neither a match nor a
    difference. For recorded Linux connections our sender gets the recorded ACKs. It has to send the
    same segments within 1 ms, and its state has to agree with the kernel after 99 % of the ACKs.
    Or the whole connection is run over its path, within 2 ms. There a packet that reaches an
    assembler in the nanosecond in which its timer closes the burst is a tie too, if the run matches
    with each such packet on the side of the recording. A case with an unknown field or setting is
    named and not judged. Exit code 0: no case differs, and one is a match or a tie; 1: one differs
    or cannot be run, or none is judged.

    With --packetdrill the scripts of a directory run against the Linux sender. Exit code 0: none of
    them differs, and one passes. A script that needs something outside the model is listed with the
    reason, and does not pass.

    Parameters
    ----------
    directory
        Holds index.json and the traces it names.
    level
        The judged part of a Linux connection: our sender alone (replay, the default), our sender,
        receiver and path (path), or our path beneath a kernel of burstlab kernel list (live).
    packetdrill
        A directory with scripts of packetdrill (*.pkt), in place of recorded traces, or one script.
    jobs
        Cases at a time (default: one per processor); it changes no answer.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.oracle import is_linux, live_linux, path_linux, replay, replay_linux
    from burstlab.oracle.cases import wrong
    from burstlab.running.progress import bar

    if packetdrill is not None:
        if directory is not None or level is not None:
            rest = directory if directory is not None else f"--level {level}"
            raise wrong("--packetdrill", f"{rest} besides", "give one of the two")
        return _run_scripts(packetdrill, json_=json_)
    if directory is None:
        raise wrong("burstlab oracle", "there is no directory", "give one, or --packetdrill DIR")
    if is_linux(Path(directory)):
        judges = {"path": path_linux, "live": live_linux}
        judge = judges.get(level or "", replay_linux)
        with bar("replaying") as progress:
            outcomes = judge(directory, jobs=jobs, progress=progress)
        return _tell_linux(outcomes, json_=json_)
    if level is not None:
        raise wrong("--level", f"{level} is of recordings of Linux", "leave it out")
    with bar("replaying") as progress:
        report = replay(directory, jobs=jobs, progress=progress)
    if report.skipped:
        reasons = sorted({reason for _, reason in report.skipped})
        warn(f"notice: {several(len(report.skipped), 'case')} skipped: {'; '.join(reasons)}")
    if json_:
        print(json.dumps(report.to_json()))
    else:
        _print(report)
    return 0 if all(outcome.outcome in ("match", "tie") for outcome in report.outcomes) else 1


def _run_scripts(directory: str, *, json_: bool) -> int:
    from burstlab.oracle.packetdrill import matrix, run_scripts
    from burstlab.running.progress import bar

    with bar("running") as progress:
        outcomes = run_scripts(directory, progress=progress)
    features = matrix(outcomes)
    counts = Counter(outcome.outcome for outcome in outcomes)
    status = 0 if counts["passed"] and not counts["differs"] else 1
    if json_:
        scripts = [outcome.to_json() for outcome in outcomes]
        print(json.dumps({"scripts": scripts, "features": features}))
        return status
    for outcome in outcomes:
        if outcome.outcome != "passed":
            say(f"{outcome.script}: {outcome.outcome}: {outcome.reason}")
    print(f"{'feature':24} passed differs not modelled")
    for feature, row in features.items():
        print(f"{feature:24} {row['passed']:6} {row['differs']:7} {row['not modelled']:12}")
    print(f"{counts['passed']} of {len(outcomes)} scripts pass")
    return status


def _tell_linux(outcomes: list[LinuxOutcome], *, json_: bool) -> int:
    counts = Counter(outcome.outcome for outcome in outcomes)
    # A tie proves nothing, and a case that was not judged is no success.
    status = 0 if counts["match"] + counts["tie"] and not counts["differs"] else 1
    if json_:
        print(json.dumps({"cases": [outcome.to_json() for outcome in outcomes]}))
        return status
    families: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.case.family, Counter())[outcome.outcome] += 1
        if not outcome.match:
            say(f"{outcome.case.name}: {outcome.reason}")
    for family, of_family in sorted(families.items()):
        matches, others = of_family["match"], _beside(of_family)
        print(f"{family:32} {matches:3} of {of_family.total():3}{others}")
    rows = sum(outcome.rows_equal for outcome in outcomes)
    others = _beside(counts)
    print(f"{counts['match']} of {len(outcomes)} cases match{others} ({rows:,} segments agree)")
    return status


def _beside(counts: Counter[str]) -> str:
    """Count the cases that are neither a match nor a difference."""
    named = {"tie": "tie", "not judged": "not judged"}
    return "".join(f", {counts[one]} {word}" for one, word in named.items() if counts[one])


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
