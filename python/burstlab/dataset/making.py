"""Make a data set: run the grids of targets, with the ledger, and price lost bursts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab.dataset.card import card
from burstlab.dataset.columns import TABLES, schema
from burstlab.errors import InputError
from burstlab.extras import extra
from burstlab.loading import Document
from burstlab.reproduce.context import Context
from burstlab.reproduce.grid import Run, runs_of
from burstlab.reproduce.paper import Paper, select
from burstlab.simulation import run
from burstlab.storage.directories import DATA_SET, Room, vacant
from burstlab.storage.files import put, sync
from burstlab.storage.parquet import writing
from burstlab.storage.sums import FIELD, sealed, sum_of
from burstlab.surgery import blame

Progress = Callable[[float, str], None]
Rows = list[dict[str, Any]]

#: Targets that are made by default.
TARGETS = ("today/stacks", "today/ends", "today/nsfnet", "today/wlan")

#: Arrow writes its files; the schema has the unit and definition of each column.
_WHAT = "a data set"

#: How the card of a set is called, and the sums of its files.
CARD, SUMS = "README.md", "dataset.json"


@dataclass(frozen=True)
class Made:
    """A data set that was written.

    Attributes
    ----------
    directory
        Where it is.
    rows
        How many rows each table has.
    sums
        SHA-256 of each file.
    """

    directory: Path
    rows: Mapping[str, int]
    sums: Mapping[str, str]


def make(
    out: str | os.PathLike[str],
    targets: Sequence[str] = TARGETS,
    *,
    effort: str = "quick",
    seed: int | None = None,
    jobs: int | None = None,
    prices: int = 5,
    force: bool = False,
    progress: Progress | None = None,
) -> Made:
    """Run the grids of targets and write all that their runs did as Parquet, with a card.

    Parameters
    ----------
    out
        Directory for ``runs.parquet``, ``events.parquet``, ``prices.parquet``, the card
        (``README.md``) and the sums of these (``dataset.json``).
    targets
        Targets of `burstlab.reproduce` that have a grid.
    effort
        ``"quick"`` or ``"full"``: which table of the plans says how much to run. Each point has the
        first number of replications of its plan.
    seed
        Instead of the seed of the scenarios.
    jobs
        Replications at a time; it changes no number.
    prices
        Number of lost bursts to price in the first replication of each run, drawn by the seed; 0:
        none.
    force
        Replace an existing data set.
    progress
        Called with the finished share, 0 to 1, and the name of the run.

    Raises
    ------
    InputError
        If a target is unknown or has no grid, or ``out`` holds something else.
    """
    if prices < 0:
        raise InputError(f"prices = {prices}: no such number of bursts\n  fix: use 0 or more")
    chosen = select(targets)
    for paper, target in chosen:
        if "grid" not in paper.plans[target]:
            raise InputError(
                f"{paper.key}/{target}: has no grid of runs\n"
                f"  fix: name another target, such as {', '.join(TARGETS)}"
            )
    # Found missing now, and not when all runs are done.
    extra("pyarrow.parquet", _WHAT)
    where = Path(out)
    refuse(where, force=force)
    tables: dict[str, Rows] = {name: [] for name in TABLES}
    share = 1.0 / len(chosen)
    for index, (paper, target) in enumerate(chosen):
        context = Context(paper, target, effort, seed, jobs, lambda share, label: None)
        every = list(runs_of(context, "grid"))
        for number, one in enumerate(every):
            if progress is not None:
                progress((index + number / len(every)) * share, f"{target}: {one.label}")
            _add(tables, paper, context, one, prices)
    recipe = _recipe(targets, effort, seed, prices)
    with Room(where, DATA_SET) as room:
        # Whatever came there meanwhile stays.
        refuse(where, force=force)
        return _write(room, tables, recipe, chosen)


def refuse(where: Path, *, force: bool) -> None:
    """Refuse a directory that holds something else than a set that may be replaced."""
    vacant(where, DATA_SET)
    ours = {CARD, SUMS, *(f"{name}.parquet" for name in TABLES)}
    found = sorted(where.iterdir()) if where.is_dir() else []
    there = [path.name for path in found if not path.name.startswith((".aside", ".lock", ".probe"))]
    if there and (not force or SUMS not in there or set(there) - ours):
        fix = "add --force to replace the set" if SUMS in there else "give another --out"
        raise InputError(f"{where}: the directory is not empty ({there[0]})\n  fix: {fix}")


def _add(tables: dict[str, Rows], paper: Paper, context: Context, one: Run, prices: int) -> None:
    """Run one series at one point, and add its results."""
    key = {
        "target": f"{paper.key}/{context.target}",
        "group": one.group,
        "point": one.point,
        "series": one.series,
    }
    result = run(one.scenario, replications=one.replications, trace="ledger", jobs=context.jobs)
    scenario = json.dumps(result.scenario, sort_keys=True)
    for replication in result.replications:
        summary = replication.summary
        common = {**key, "replication": int(summary["replication"])}
        settings = json.dumps(one.settings, sort_keys=True)
        row = {
            **common,
            "x": one.x,
            "settings": settings,
            "scenario": scenario,
            **_counted(summary),
        }
        tables["runs"].append({**row, "seed": result.seed})
    priced = dict(_priced(tables, {**key, "replication": 0}, one.scenario, prices, context.jobs))
    for event in result.ledger.to_pylist():
        if event["kind"] == "timeout" or event["reduction"] != "none":
            place = event["replication"], event["burst"]
            tables["events"].append({**key, **event, "price_bytes": priced.get(place)})


def _counted(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counters of a run, added over its flows."""
    flows, counters = summary["flows"], summary["counters"]
    names = ("retransmissions", "fast_retransmits", "timeouts")
    truths = ("false_timeouts", "true_timeouts", "spurious_timeouts")
    classes = (
        "one_burst", "several_bursts", "congestion", "outside", "reordering", "excused", "undone",
    )  # fmt: skip
    return {
        "fingerprint": summary["fingerprint"],
        "simulated_s": summary["simulated_s"],
        "flows": len(flows),
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows),
        "bursts_sent": counters["bursts_sent"],
        "bursts_lost": counters["bursts_lost"],
        **{name: sum(flow[name] for flow in flows) for name in (*names, *truths)},
        **{
            f"reductions_{name}": sum(flow["reductions"][name] for flow in flows)
            for name in classes
        },
    }


def _priced(
    tables: dict[str, Rows],
    key: Mapping[str, Any],
    scenario: Document,
    count: int,
    jobs: int | None,
) -> Iterator[tuple[tuple[int, int], int]]:
    """Price a sample of the bursts that the first replication lost."""
    if not count:
        return
    try:
        found = blame(scenario, sample=count, jobs=jobs)
    except InputError as error:
        # A run that loses nothing has nothing to price.
        if "has lost no burst" not in str(error):
            raise
        return
    for row in found.prices.to_pylist():
        tables["prices"].append({**key, **row, "of_lost": found.lost})
        if row["direction"] == "data":
            yield (0, int(row["burst"])), int(row["bytes"])


def _recipe(targets: Sequence[str], effort: str, seed: int | None, prices: int) -> str:
    words = ["burstlab", "dataset", *targets, f"--{effort}", "--prices", str(prices)]
    if seed is not None:
        words += ["--seed", str(seed)]
    return " ".join([*words, "--out", "DIR"])


def _write(
    room: Room,
    tables: Mapping[str, Rows],
    recipe: str,
    chosen: Sequence[tuple[Paper, str]],
) -> Made:
    pa, pq = (extra(name, _WHAT) for name in ("pyarrow", "pyarrow.parquet"))
    sums: dict[str, str] = {}
    with writing(room.path):
        new = room.begin()
        for name, rows in tables.items():
            path = new / f"{name}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, schema(name)), path)
            sync(path)
            sums[path.name] = sum_of(path)
        counts = {name: len(rows) for name, rows in tables.items()}
        seeds = sorted({int(row["seed"]) for row in tables["runs"]})
        titles = {f"{paper.key}/{target}": paper.title(target) for paper, target in chosen}
        text = card(recipe, titles, seeds, counts, sums)
        put(new / CARD, text.encode())
        document = sealed({"recipe": recipe, "seeds": seeds, "rows": counts, FIELD: sums})
        put(new / SUMS, f"{json.dumps(document, indent=2)}\n".encode())
    room.move_in()
    return Made(room.path, counts, sums)
