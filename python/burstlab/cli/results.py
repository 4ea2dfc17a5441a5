"""``burstlab results``: what lies in directories, and how it differs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burstlab.cli.flags import Json, Switch
from burstlab.cli.numbers import of_metric, spread
from burstlab.cli.printing import console, put_document
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from rich.console import Console

    from burstlab.measures.comparing import Compared, Difference, Entry


def results(
    *directories: str,
    sql: str | None = None,
    verify: Switch = False,
    json_: Json = False,
) -> int:
    """List results of run and study, and compare them with the first: parameters and metrics.

    Results with the same seed are compared replication by replication, others by Welch's test;
    all p-values together are corrected after Holm. With one study its schemes are compared.

    Parameters
    ----------
    directories
        Directories that --out named, or parents of such directories.
    sql
        Answer this query instead, by DuckDB; tables are runs, estimates, differences and points of
        studies, and the tables of runs, with a column "result" for the directory.
    verify
        Compare every file with its checksum from when it was written, and do nothing else; the
        exit status is 1 if one is damaged or missing.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import InputError
    from burstlab.measures.comparing import compare, find

    if not directories:
        raise InputError("no directory is named\n  fix: write burstlab results DIR...")
    if verify:
        if sql is not None:
            raise InputError(
                "--verify and --sql exclude each other\n  fix: leave out --sql, or --verify"
            )
        return _verify(directories, json_=json_)
    entries = find(directories)
    if sql is not None:
        _query(entries, sql, json_)
        return 0
    compared = compare(entries)
    if json_:
        put_document(compared.to_json())
    else:
        _print(compared)
    return 0


def _verify(directories: Sequence[str], *, json_: bool) -> int:
    from burstlab.cli.printing import say
    from burstlab.storage.verifying import BAD, NO_SUM, WHOLE, verify

    found = verify(directories)
    bad = [one for one in found if one.state in BAD]
    if json_:
        put_document({"files": [one.to_json() for one in found], "whole": not bad})
        return 1 if bad else 0
    for one in found:
        if one.state != WHOLE:
            say(f"{one.path}: {one.state}")
    count = {state: sum(one.state == state for one in found) for state in (WHOLE, NO_SUM)}
    say(
        f"{several(count[WHOLE], 'file is', 'files are')} whole, "
        f"{several(len(bad), 'is', 'are')} damaged or missing, "
        f"of {count[NO_SUM]:,} no sum was noted"
    )
    return 1 if bad else 0


def _query(entries: Sequence[Entry], sql: str, json_: bool) -> None:
    from burstlab.studies.sql import query

    found = query(sql, _sources(entries))
    if json_:
        put_document([_as_json(row) for row in found.to_pylist()])
        return
    rows = [list(row.values()) for row in found.to_pylist()]
    made = table(found.columns, fold=True)
    for index, (name, column) in enumerate(zip(found.columns, made.columns, strict=True)):
        # A number over two lines is two numbers to whoever reads it: the table may rather be too
        # wide.
        widest = max(map(len, [name, *(_cell(row[index]) for row in rows)]))
        words = any(isinstance(row[index], str) for row in rows)
        column.justify = "left" if words else "right"
        column.min_width = min(widest, _WORDS) if words else widest
    for row in rows:
        made.add_row(*map(_cell, row))
    terminal = console(_WIDE)
    terminal.print(made, width=max(terminal.width, terminal.measure(made).minimum), crop=False)


def _as_json(value: object) -> object:
    """Return a value of a query for JSON: null for NaN, text for times."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def _sources(entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """Return the tables by name, each as the parts that results have of it."""
    from burstlab.studies import Study

    sources: dict[str, dict[str, Any]] = {}
    for entry in entries:
        found: Mapping[str, Any]
        result = entry.result
        if isinstance(result, Study):
            found = {**result.tables(), "points": result.points}
        else:
            # Those that were found to be of this result when it was read.
            run = result
            found = {name: run.stored.file(name) for name in run.recorded}
        for name, part in found.items():
            sources.setdefault(name, {})[entry.label] = part
    return sources


_ROWS_SHOWN = 20

#: Results that are listed, those that each have a column, and values that are named of more.
_RESULTS_SHOWN, _COLUMNS_SHOWN, _VALUES_SHOWN = 50, 12, 4

#: Columns of a table in a pipe, and those that words keep.
_WIDE, _WORDS = 160, 20


def _print(compared: Compared) -> None:
    from burstlab.cli.study import print_study

    terminal = console(_WIDE)
    titles = ("result", "kind", "burstlab", "seed", "points", "runs")
    made = table([*titles, ""], fold=True)
    for entry in compared.entries[:_RESULTS_SHOWN]:
        cells = entry.to_json()
        state = "not finished" if entry.interrupted else ""
        made.add_row(*(str(cells[name]) for name in titles), state)
    terminal.print(made)
    if len(compared.entries) > _RESULTS_SHOWN:
        more = several(len(compared.entries) - _RESULTS_SHOWN, "more result")
        print(f"... and {more}; --json has all")
    first = compared.entries[0].study
    if len(compared.entries) == 1 and first is not None:
        print_study(first)
    if compared.parameters:
        terminal.print(_parameters(compared))
        if len(compared.parameters) > _ROWS_SHOWN:
            more = len(compared.parameters) - _ROWS_SHOWN
            print(f"... and {several(more, 'more parameter differs', 'more parameters differ')}")
    elif len(compared.entries) > 1:
        print("no parameter differs")
    _print_differences(terminal, compared)


def _parameters(compared: Compared) -> Any:
    """Return the parameters that differ, by result, or of many results by value."""
    rows = list(compared.parameters.items())[:_ROWS_SHOWN]
    if len(compared.entries) <= _COLUMNS_SHOWN:
        made = table(["parameter", *(entry.label for entry in compared.entries)], fold=True)
        for path, values in rows:
            made.add_row(path, *map(_value, values))
        return made
    made = table(["parameter", "values", "such as"], fold=True)
    for path, values in rows:
        apart = list(dict.fromkeys(map(_value, values)))
        more = ", ..." if len(apart) > _VALUES_SHOWN else ""
        made.add_row(path, f"{len(apart):,}", ", ".join(apart[:_VALUES_SHOWN]) + more)
    return made


def _value(value: object) -> str:
    return "-" if value is None else _cell(value)


def _print_differences(terminal: Console, compared: Compared) -> None:
    if len(compared.entries) > 1 and not compared.differences:
        print("no point and metric in common")
    if not compared.differences:
        return
    found = compared.differences
    apart = sorted(found.significant(), key=_rank)
    if apart:
        numbers = ("mean", "over's mean", "difference", "n", "p (Holm)", "test")
        made = table(["result", "over", "point", "metric"], numbers, fold=True)
        for one in apart[:_ROWS_SHOWN]:
            made.add_row(*_row(one))
        terminal.print(made)
    if len(apart) > _ROWS_SHOWN:
        print(f"... and {len(apart) - _ROWS_SHOWN} more; --json has all")
    alone = len(found) - found.tested - found.equal
    print(
        f"{len(apart)} of {several(found.tested, 'comparison')} "
        f"{'differs' if len(apart) == 1 else 'differ'} significantly (5 % for all of them "
        f"together, after Holm); {found.paired} paired by replication, "
        f"{found.tested - found.paired} by Welch's test; "
        f"{several(found.equal, 'is', 'are')} equal in every run"
        + (f", {several(alone, 'has', 'have')} too few runs to tell" if alone else "")
    )


def _rank(one: Difference) -> tuple[int, float]:
    """Return where a difference stands: what users ask for first, counters of the engine last."""
    from burstlab.studies.verdicts import USUAL

    if one.metric in USUAL:
        return USUAL.index(one.metric), one.p_holm or 0.0
    return len(USUAL) + one.metric.startswith("counters."), one.p_holm or 0.0


def _row(one: Difference) -> list[str]:
    where = ", ".join(f"{path} = {value}" for path, value in one.point.items())
    gap, write = one.found.difference, of_metric(one.metric)
    return [
        one.result,
        one.over,
        "; ".join(part for part in (where, one.scheme) if part),
        one.metric,
        *(spread(mean, None, write, positive=False) for mean in one.means),
        spread(gap.mean, gap.ci95 or 0.0, write, positive=False),
        str(gap.n),
        f"{one.p_holm:.2g}",
        "paired" if one.found.paired else "Welch",
    ]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
