"""``burstlab live``: programs of the machine over a Linux kernel, over the simulated network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from burstlab.cli.flags import Json, Names, Settings, Switch, Whole
from burstlab.cli.lean import Lean
from burstlab.cli.printing import put_document, say, warn
from burstlab.printable import brief


def live(
    scenario: str,
    /,
    *,
    clock: str | None = None,
    kernel: str | None = None,
    seed: Whole = None,
    set_: Settings = None,
    trace: Names = None,
    out: str | None = None,
    force: Switch = False,
    beside: Whole = None,
    patience: str = "60 s",
    allow_code: Switch = False,
    json_: Json = False,
) -> int:
    """Run a scenario whose [[live]] hosts run programs of this machine over a Linux kernel.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    clock
        virtual: in a user-mode kernel, where code takes no time; wall: on the running kernel, as
        root. Default: virtual.
    kernel
        Name or path of the kernel of virtual time; see burstlab kernel list.
    seed
        Seed of all random decisions of the network; else that of the scenario.
    set_
        Change a field: path=value. Repeatable.
    trace
        Tables to record, separated by commas: packets, bursts, cwnd, ledger, and datagrams (the
        bytes of packets of third-party hosts) (default: none).
    out
        Directory of the result. Its folder live gets the output of the programs, and the state of
        connections at each ACK.
    force
        Replace the result in that directory, once this one is complete.
    beside
        Run with this many seeds, one after the other, and again with our senders of the same names
        in place of the live hosts; print both, with 95 % intervals.
    patience
        A kernel in which nothing happens for so long is ended.
    allow_code
        Run the commands of a scenario that came inside a result or a study; read them before.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab import _core
    from burstlab.cli.run import print_partial, print_warnings
    from burstlab.documents.provenance import came_inside
    from burstlab.errors import EngineError, InputError, MemoryExceeded
    from burstlab.live import running
    from burstlab.live.watching import Stopped
    from burstlab.loading import admitted, set_by_flags
    from burstlab.running.progress import bar

    try:
        patience_s = _core.seconds(patience)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise InputError(f"--patience: {problem}\n  fix: {fix or 'write 60 s'}") from None
    document = admitted(scenario, set_by_flags(set_, seed=seed), allow_code=allow_code)
    running.refuse_commands(document, inside=came_inside(scenario), allow=allow_code)
    tables = [name.strip() for item in trace or [] for name in item.split(",") if name.strip()]
    how: dict[str, Any] = {"clock": clock, "kernel": kernel, "allow_code": allow_code}
    how["patience_s"] = patience_s
    if beside is not None:
        if out is not None or tables:
            raise InputError("--beside keeps no result\n  fix: leave out --out and --trace")
        return _compare(document, seed, beside, how, json_=json_)
    try:
        with bar("running") as progress:
            done = running.live(
                document, seed=seed, trace=tables, out=out, force=force, progress=progress, **how
            )
    except Stopped as stopped:
        warn(f"interrupted: {stopped}")
        return 130
    except (EngineError, MemoryExceeded) as error:
        if error.result is not None:
            print_partial(error.result, json_=json_)
        raise
    print_warnings(done.result)
    if json_:
        put_document({**done.result.document(), "live": done.outcome})
    else:
        _print(done.result, done.outcome)
    return _status(done.result.interrupted, done.outcome)


def _compare(
    document: dict[str, Any], seed: int | None, runs: int, how: Mapping[str, Any], *, json_: bool
) -> int:
    from dataclasses import asdict

    from burstlab.cli.numbers import count as number
    from burstlab.cli.numbers import measure, rate
    from burstlab.errors import InputError
    from burstlab.live.shared_kernel import MEASURES, compare_senders
    from burstlab.running.progress import bar

    if runs < 1:
        raise InputError(f"--beside {runs}: at least one seed is needed\n  fix: write 1 or more")
    first = seed if seed is not None else int(document.get("run", {}).get("seed", 1))
    with bar("running") as progress:
        found = compare_senders(
            document, seeds=range(first, first + runs), progress=progress, **how
        )
    if json_:
        print(json.dumps(asdict(found)))
        return 0
    made = Lean(["of all connections"], ("kernel", "ours"))
    for name in MEASURES:
        write = rate if name.endswith("_bps") else number
        made.add_row(name, *(measure(side[name], write) for side in (found.kernel, found.ours)))
    print(made)
    say(f"seeds {first} to {first + runs - 1}; mean and 95 % interval")
    return 0


def _print(result: Any, outcome: Mapping[str, Any]) -> None:
    from burstlab.cli.run import print_tables

    print_tables(result)
    made = Lean(["host", "program", "ended"], ("at",))
    for program in outcome["programs"]:
        at = "" if program["ended_s"] is None else f"{program['ended_s']:.6g} s"
        words = brief(" ".join(program["command"]))
        made.add_row(program["address"], words, _end_of(program), at)
    print(made)
    say(f"{outcome['clock']} clock, Linux {outcome['kernel']}")
    if outcome["unroutable"]:
        say(
            f"{outcome['unroutable']:,} packets had no live host of another node as destination "
            "and were dropped"
        )
    if "lateness_s" in outcome:
        late = outcome["lateness_s"]
        parts = ", ".join(f"{name} {1e3 * value:.3g} ms" for name, value in late.items())
        say(f"lateness: {parts}")
    if outcome.get("late"):
        warn("warning: LATE: the machine was too slow, so the numbers do not describe the scenario")
    if result.directory is not None:
        say(f"written to {result.directory}")


def _end_of(program: Mapping[str, Any]) -> str:
    if program["problem"] is not None:
        return str(program["problem"])
    if program["started_s"] is None:
        return "not started"
    if program["stopped"]:
        return "by the run's end"
    if program["signal"] is not None:
        return f"by signal {program['signal']}"
    return f"with status {program['status']}"


def _status(interrupted: bool, outcome: Mapping[str, Any]) -> int:
    """Return the exit status, after messages about the programs that failed."""
    if interrupted:
        warn("interrupted: the numbers cover only the part that was done")
        return 130
    worst = 0
    for program in outcome["programs"]:
        killed = program["signal"] is not None and not program["stopped"]
        if program["problem"] is not None or killed:
            worst = 2
        elif program["status"] and not program["stopped"]:
            worst = max(worst, 1)
        else:
            continue
        fix = "see what it printed, in the folder live of the result (--out)"
        warn(f"error: the program of {program['address']} ended {_end_of(program)}\n  fix: {fix}")
    return worst
