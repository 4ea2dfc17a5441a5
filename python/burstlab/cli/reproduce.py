"""``burstlab reproduce``: figures and tables of the literature."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from burstlab.cli.background_calls import background_calls
from burstlab.cli.coverage import coverage_json, print_coverage
from burstlab.cli.flags import Json, Switch, Whole
from burstlab.cli.printing import STYLES, console, say, warn
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from burstlab.reproduce.engine import Progress, TargetReport


def reproduce(
    *targets: str,
    quick: Switch = False,
    full: Switch = False,
    seed: Whole = None,
    out: str = "out",
    jobs: Whole = None,
    column: Switch = False,
    coverage: Switch = False,
    json_: Json = False,
) -> int:
    """Reproduce figures and tables, and compare them with the published ones.

    Writes the data, the figures and report.html. The exit status is 1 if a claim fails without
    an explanation.

    Parameters
    ----------
    targets
        yu2004/table1, yu2004 for a whole paper, or all; burstlab list names them.
    quick
        Short runs (this is the default).
    full
        Runs long enough for the precision that the plans state. Runs of an interrupted command
        are kept in --out, and the same command continues with them.
    seed
        Seed of all random decisions, 0 to 2^63 - 1; else that of the plans.
    out
        Directory for data, figures and the report.
    jobs
        Replications at a time (default: one per processor); it changes no number.
    column
        Draw pictures for a column of a printed paper: 8.5 cm wide, type of at least 7 points.
    coverage
        List everything that the papers print, with its verdict. Verdicts come from --out, or from
        the full runs that come with this version. With targets, they are run first; without,
        nothing is run.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import InputError
    from burstlab.report import Report
    from burstlab.reproduce.abreast import reproduce_all
    from burstlab.reproduce.engine import Options
    from burstlab.reproduce.keeping import RunFile
    from burstlab.reproduce.paper import select
    from burstlab.running import lazy_load
    from burstlab.simulation import override
    from burstlab.storage.directories import REPRODUCTION, ready_directory

    if quick and full:
        raise InputError("--quick and --full exclude each other\n  fix: give one of them")
    if not targets:
        if coverage:
            return print_coverage(out, (), json_=json_)
        raise InputError("no target is named\n  fix: name one of burstlab list, or write all")
    wanted = select(targets)
    override({}, seed=seed, replications=None)
    lazy_load.want(*lazy_load.TABLES, "rich.console", "rich.table")
    directory = ready_directory(out, REPRODUCTION)
    names = [f"{paper.key}/{target}" for paper, target in wanted]
    effort = "full" if full else "quick"
    written = Report(directory, Options(effort, seed, jobs, column), names)
    file = RunFile(directory / "runs.sqlite") if full else None  # minutes are made again
    options = Options(effort, seed, jobs, column, file)
    reports: list[TargetReport] = []
    interrupted = False
    with _progress(len(wanted)) as progress, background_calls() as aside:
        try:
            with closing(reproduce_all(wanted, options, progress)) as finished:
                for report in finished:
                    aside.do(written.add, report)
                    reports.append(report)
        except KeyboardInterrupt:
            interrupted = True
            if aside.goes_on():
                fix = "Ctrl-C again leaves it out"
                warn(f"interrupted; the report gets the target before this one ({fix})")
    if file is not None:
        file.close(remove=not interrupted)
    reports.sort(key=lambda report: names.index(report.name))
    if reports:
        written.finish(interrupted=interrupted)
    if json_:
        document: dict[str, object] = {"targets": [report.to_json() for report in reports]}
        if interrupted:
            document["interrupted"] = True
        if coverage and not interrupted:
            document.update(coverage_json(out, [paper.key for paper, _ in wanted]))
        print(json.dumps(document))
    else:
        _print(reports, str(directory))
        if coverage and not interrupted:
            print_coverage(out, list(dict.fromkeys(paper.key for paper, _ in wanted)))
    if interrupted:
        kept = "; the same command goes on with the runs that are done" if full else ""
        print(f"interrupted: the report has the targets that were done{kept}", file=sys.stderr)
        return 130
    return 1 if any(report.failed for report in reports) else 0


@contextmanager
def _progress(count: int) -> Iterator[Callable[[int], Progress | None]]:
    if not sys.stderr.isatty():
        yield lambda index: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=count)

        shares = [0.0] * count

        def of_target(index: int) -> Progress:
            def show(share: float, label: str) -> None:
                shares[index] = share
                bar.update(task, completed=sum(shares), description=label)

            return show

        yield of_target


def _print(reports: list[TargetReport], directory: str) -> None:
    from rich.text import Text

    terminal = console()
    for report in reports:
        title = f"  {report.paper.title(report.target)}"
        terminal.print(Text.assemble("\n", (report.name, "bold"), title))
        rows = report.findings.rows
        if rows:
            printed = any(row.published is not None for row in rows)
            titles = (*(("published",) if printed else ()), "measured", "± 95 %", "n")
            made = table([""], titles, plain=True)
            for row in rows:
                published = "" if row.published is None else f"{row.published:g}"
                made.add_row(
                    row.label,
                    *((published,) if printed else ()),
                    f"{row.measured:.4g}",
                    "" if row.ci95 is None else f"{row.ci95:.2g}",
                    str(row.n),
                )
            terminal.print(made)
        for claim in report.claims:
            style = STYLES[claim.verdict]
            verdict = (f"{claim.verdict:11}", style)
            terminal.print(Text.assemble("  ", verdict, f" {claim.claim}"))
            terminal.print(f"              {claim.evidence}")
            if claim.blind:
                terminal.print(f"              cannot see: {claim.blind}")
    if not reports:
        return
    count = {verdict: 0 for verdict in STYLES}
    for report in reports:
        for claim in report.claims:
            count[claim.verdict] += 1
    open_cause = count["differs, cause undecided"]
    causes = (
        f"{several(open_cause, 'differs, its', 'differ, their')} cause undecided, "
        if open_cause
        else ""
    )
    undecided = (
        f"; of {count['cannot tell']} these runs cannot tell" if count["cannot tell"] else ""
    )
    say(
        f"\n{several(count['holds'], 'claim holds', 'claims hold')}, "
        f"{several(count['differs'], 'differs', 'differ')} with an explanation, {causes}"
        f"{several(count['fails'], 'fails', 'fail')}{undecided}\nlook at {directory}/report.html"
    )
