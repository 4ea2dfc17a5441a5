"""``burstlab size``: the least value of a field at which a goal is met."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from burstlab.cli.flags import Json, Settings, Switch, Whole
from burstlab.cli.printing import console, say, warn
from burstlab.cli.tables import table

if TYPE_CHECKING:
    from rich.table import Table

    from burstlab.sizing import Sizing, Tried


def size(
    scenario: str,
    /,
    *,
    for_: str,
    over: str,
    set_: Settings = None,
    seed: Whole = None,
    replications: Whole = None,
    most: Whole = None,
    jobs: Whole = None,
    max_memory: str | None = None,
    allow_code: Switch = False,
    json_: Json = False,
) -> int:
    """Find the least value of a field at which a goal is met, and the bottlenecks below it.

    Bisects over the values. At each value the scenario is run until the 95 % interval of the number
    lies on one side of the limit, or all allowed runs are done. Exit status 1: no value meets the
    goal.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    for_
        The goal: a number of a run, < or >, and a limit with its unit: 'burst loss < 0.1%' (or
        1e-3), 'goodput > 2 Gb/s', 'completion p99 < 20 ms', or a path of summary.json such as
        network.links.max.utilisation.
    over
        The field and its values: network.wavelengths=1..32, or access.rate=1 Gb/s,10 Gb/s. Later
        values should meet the goal more easily.
    set_
        Change another field first: path=value. Repeatable.
    seed
        Seed of all random decisions; else that of the scenario. All values have the same.
    replications
        Runs at a value before it is judged, at least 2 (default: 8); doubled while it is open.
    most
        The largest number of runs at a value (default: 64, or as many as --replications).
    jobs
        Runs at a time (default: one per processor); it changes no number.
    max_memory
        In place of run.max_memory, such as "2 GB".
    allow_code
        Execute Python code that is stored in the scenario, or came with a result; read it before.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.sizing import size as find

    first = 8 if replications is None else replications

    def tell(tried: Tried) -> None:
        if not json_:
            say(f"{over.partition('=')[0].strip()} = {tried.value}: {_WORDS[tried.verdict]}")

    found = find(
        scenario,
        for_,
        over,
        settings=set_ or (),
        seed=seed,
        replications=first,
        most=max(64, first) if most is None else most,
        jobs=jobs,
        max_memory=max_memory,
        allow_code=allow_code,
        tell=tell,
        announce=lambda line: warn(f"warning: {line}"),
    )
    for warning in found.warnings:
        warn(f"warning: {warning}")
    if json_:
        print(json.dumps(found.to_json(), allow_nan=False))
    else:
        _print(found)
    return 0 if found.least is not None else 1


_WORDS = {"met": "met", "missed": "missed", "open": "cannot tell"}


def _print(found: Sizing) -> None:
    terminal = console()
    terminal.print(_trials(found))
    name = found.choice.field
    if found.least is None:
        say(f"no value of {name} is shown to meet {found.goal.text}")
    else:
        say(f"{name} = {found.least.value} is the least that meets {found.goal.text}")
    if found.below is None:
        say("nothing binds: the first value meets the goal")
        return
    if not found.binding:
        return
    worst = found.binding[0]
    where = f", most from {worst.where}" if worst.where else ""
    say(f"at {name} = {found.below.value}, what binds is the {worst.part}{where}")
    terminal.print(_pressures(found))


def _trials(found: Sizing) -> Table:
    made = table([found.choice.field], ["mean", "95 % interval", "runs"], ["goal"])
    for one in found.tried:
        ends = f"{_end(one.found.low)} to {_end(one.found.high)}"
        mean = "-" if one.found.n == 0 else f"{one.found.mean:.4g}"
        made.add_row(str(one.value), mean, ends, str(one.found.n), _WORDS[one.verdict])
    return made


def _end(value: float) -> str:
    return f"{value:.4g}" if abs(value) < float("inf") else "-"


def _pressures(found: Sizing) -> Any:
    made = table(["what binds"], ["of lost bursts", "load"], ["where"])
    for one in found.binding:
        load = f"{one.load:.3g}" if one.load else "-"
        made.add_row(one.part, f"{100 * one.lost:.3g} %", load, one.where)
    return made
