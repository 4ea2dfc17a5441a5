"""``burstlab study``: a sweep after a plan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.cli.flags import Json, Switch, Whole
from burstlab.cli.numbers import of_metric, spread
from burstlab.cli.printing import console, put_document, say, warn
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from burstlab.studies import Study


def study(
    plan: str,
    /,
    *,
    out: str | None = None,
    jobs: Whole = None,
    scheduler: str | None = None,
    resume: Switch = False,
    allow_code: Switch = False,
    no_report: Switch = False,
    json_: Json = False,
) -> int:
    """Run a study: designs of parameters, replications, schemes compared at each point.

    Each point is stored when it is finished, and --resume continues a study, however it ended.

    Parameters
    ----------
    plan
        The TOML file of the plan.
    out
        Directory of the study (default: out/ and the name of the plan).
    jobs
        Tasks at a time (default: one per processor, or thread of a cluster); it changes no number.
    scheduler
        Run it on the cluster of this Dask scheduler: tcp://host:port, or the path of its file.
    resume
        Continue the study in the directory; finished points are not run again.
    allow_code
        Execute Python code that is stored in the plan itself, or came with a result or a study;
        read it before. Code in files that your own plan names needs no permission.
    no_report
        Leave out report.html, the page that is written when all points are finished.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import EngineError
    from burstlab.running import lazy_load
    from burstlab.running.progress import study_bar
    from burstlab.studies import study as conduct
    from burstlab.studies.outcome import StudyInterrupted

    directory = out if out is not None else str(Path("out") / Path(plan).stem)
    lazy_load.want(*lazy_load.TABLES, "rich.console", "rich.table", "burstlab.studies.verdicts")
    interrupted = False
    failed: EngineError | None = None
    with study_bar(plan) as progress:
        try:
            found = conduct(
                plan,
                out=directory,
                jobs=jobs,
                scheduler=scheduler,
                resume=resume,
                allow_code=allow_code,
                progress=progress,
                report=not no_report,
            )
        except StudyInterrupted as stop:
            found, interrupted = stop.study, True
        except EngineError as error:
            if error.study is None:
                raise
            found, failed = error.study, error
    for warning in found.warnings[:_WARNINGS_SHOWN]:
        warn(f"warning: {warning}")
    if json_:
        put_document(found.summary)
    else:
        print_study(found)
        say(f"written to {directory}")
        if not (no_report or found.interrupted):
            say(f"look at {Path(directory) / 'report.html'}")
    if interrupted:
        total = len(found.plan.points)
        print(
            f"interrupted: {found.done} of {several(total, 'point')} kept; --resume goes on",
            file=sys.stderr,
        )
    if failed is not None:
        print("the points that were done are kept; --resume runs the others again", file=sys.stderr)
        raise failed
    return 130 if interrupted else 0


_WARNINGS_SHOWN = 10
_POINTS_SHOWN = 20
_METRICS_SHOWN = 4


def print_study(found: Study) -> None:
    """Print the first points of a study, with some of its metrics."""
    from burstlab.studies.verdicts import main_metrics

    shown = main_metrics(found)[:_METRICS_SHOWN]
    terminal = console()
    if found.done:
        terminal.print(_estimates(found, shown))
        if len(found.plan.names) > 1:
            terminal.print(_ratios(found, shown))
    total = len(found.plan.points)
    if total > _POINTS_SHOWN:
        print(f"... of {total:,} points; --json and the tables have all")
    more = len(found.metrics) - len(shown)
    print(
        f"seed {found.plan.seed} · {found.done:,} of {several(total, 'point')} · "
        f"{several(len(found.runs), 'run')} · {several(len(found.metrics), 'metric')}"
        + (f", {more} not shown" if more > 0 else "")
    )


def _estimates(found: Study, shown: list[str]) -> Table:
    several = len(found.plan.names) > 1
    made = table(
        [*(found.plan.swept or ["point"]), *(["scheme"] if several else [])], [*shown, "n"]
    )
    cells: dict[tuple[int, str], dict[str, tuple[str, int]]] = {}
    paths = found.plan.metrics or {}
    units = {name: of_metric(paths.get(name, name)) for name in shown}
    least = {name: _is_positive(found, name) for name in shown}
    for row in found.estimates.to_pylist():
        if row["point"] < _POINTS_SHOWN and row["metric"] in shown:
            text = _measure(row["mean"], row["ci95"], units[row["metric"]], least[row["metric"]])
            cells.setdefault((row["point"], row["scheme"]), {})[row["metric"]] = (text, row["n"])
    for (point, scheme), by_metric in cells.items():
        number = max((n for _, n in by_metric.values()), default=0)
        values = [by_metric[name][0] for name in shown]
        names = [scheme] if several else []
        made.add_row(*_where(found, point), *names, *values, str(number))
    return made


def _ratios(found: Study, shown: list[str]) -> Table:
    made = table([*(found.plan.swept or ["point"]), "ratio"], shown)
    cells: dict[tuple[int, str], dict[str, str]] = {}
    for row in found.differences.to_pylist():
        if row["point"] < _POINTS_SHOWN and row["metric"] in shown:
            key = (row["point"], f"{row['scheme']} / {row['over']}")
            cells.setdefault(key, {})[row["metric"]] = _measure(
                row["ratio"], row["ratio_ci95"], None, True
            )
    for (point, name), by_metric in cells.items():
        made.add_row(*_where(found, point), name, *(by_metric[one] for one in shown))
    return made


def _where(found: Study, point: int) -> list[str]:
    values = found.plan.points[point]
    return [str(values.get(path, "")) for path in found.plan.swept] if values else [str(point)]


def _is_positive(found: Study, metric: str) -> bool:
    """Return whether a metric is below 0 in no run, so that no interval of it is drawn there."""
    values = found.runs[metric]
    return not bool((values < 0.0).any())


def _measure(
    mean: float | None, half: float | None, write: Callable[[float], str] | None, positive: bool
) -> str:
    return "-" if mean is None else spread(mean, half, write, positive=positive)
