"""``burstlab what-if``: a run, and the same run with operations on some bursts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.cli.flags import Json, Names, Settings, Switch, Whole
from burstlab.cli.printing import console, put_document, say, warn
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from burstlab.surgery import WhatIf

_ROWS_SHOWN = 15


def what_if(
    source: str,
    /,
    *,
    spare: Names = None,
    kill: Names = None,
    delay: Names = None,
    convert: Names = None,
    until: str | None = None,
    set_: Settings = None,
    seed: Whole = None,
    replication: Whole = None,
    trace: Names = None,
    checkpoint: str | None = None,
    out: str | None = None,
    force: Switch = False,
    figure: str | None = None,
    json_: Json = False,
) -> int:
    """Show the effects of a burst: run the same run twice, once with an operation on it.

    Bursts are numbers of the tables bursts and packets (with slots: of the optical packet); ack:7
    is one with ACKs on a path, all is every burst. Several are separated by commas.

    Parameters
    ----------
    source
        A result that burstlab run wrote with --out, or the TOML file of a scenario.
    spare
        Bursts that shall not be lost.
    kill
        Bursts that shall be lost.
    delay
        Bursts that shall land later, with the extra time: 4711=2ms.
    convert
        Bursts whose wavelength every node of a mesh can convert.
    until
        Simulated time at which both runs end, such as "5 s" (default: that of the scenario).
    set_
        For a scenario, change a field: path=value. Repeatable.
    seed
        For a scenario, its seed.
    replication
        Number of the replication (default: the first).
    trace
        Tables to record once the two runs part (default: packets, bursts, cwnd, ledger).
    checkpoint
        File of a checkpoint to start from, before those bursts. If it does not exist, one is
        written, so that the next question about them costs only the rest of the run.
    out
        Directory for both runs (first, other) and their differences.
    force
        Replace the runs in that directory.
    figure
        File for a figure of where they part; .svg, .pdf or .png.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.running.progress import bar
    from burstlab.storage.directories import WHAT_IF, ready_file, vacant
    from burstlab.surgery import what_if as ask
    from burstlab.surgery.operations import delays
    from burstlab.surgery.parting import refuse_pair
    from burstlab.surgery.source import with_settings
    from burstlab.tables import TRACES

    # Both runs may take long: what cannot be written is refused before.
    if out is not None:
        vacant(Path(out), WHAT_IF, force=force)
        refuse_pair(Path(out), force=force)
    if figure is not None:
        ready_file(Path(figure), "--figure")

    with bar("both runs") as watch:
        found = ask(
            with_settings(source, set_, seed=seed),
            spare=_split(spare),
            kill=_split(kill),
            delay=delays(_split(delay)),
            convert=_split(convert),
            until=until,
            seed=seed,
            replication=replication,
            trace=_split(trace) or TRACES,
            checkpoint=checkpoint,
            progress=watch,
        )
    if out is not None:
        found.write(out, force=force)
    if figure is not None:
        from burstlab.plot import write
        from burstlab.plot.parted import parted_chart

        write(parted_chart(found), figure)
    for warning in found.warnings:
        warn(f"warning: {warning}")
    if json_:
        put_document(found.summary)
        return 0
    _print(found)
    for path in (out, figure):
        if path is not None:
            say(f"written to {path}")
    return 0


def _split(names: list[str] | None) -> list[str]:
    return [name.strip() for item in names or [] for name in item.split(",") if name.strip()]


def _print(found: WhatIf) -> None:
    from burstlab.surgery.effects import sentence

    for entry in found.operations:
        if entry["effect"] == "done":
            say(sentence(entry))
    terminal, totals = console(), found.divergence.totals
    connections, bursts = found.connections.to_pylist(), found.bursts.to_pylist()
    if connections:
        numbers = ("first different", "bytes", "then", "done at", "then", "time-outs", "cwnd")
        made = table(["connection", ""], numbers)
        for row in connections[:_ROWS_SHOWN]:
            made.add_row(*_connection(row))
        terminal.print(made)
    if bursts:
        made = table(["burst", "then", "from", "to"], ["closed"], ["fate", "then"])
        for row in bursts[:_ROWS_SHOWN]:
            made.add_row(*_burst(row))
        terminal.print(made)
    for what, rows in (("more connection", connections), ("more burst", bursts)):
        if len(rows) > _ROWS_SHOWN:
            more = several(len(rows) - _ROWS_SHOWN, what)
            print(f"... and {more}; --json and --out have all")
    if not found.same:
        connected = several(totals["connections_different"], "connection")
        others = several(totals["bursts_different"], "burst")
        lost = (totals["bursts_lost_first"], totals["bursts_lost_other"])
        say(
            f"the two part at {found.parted_s:.6g} s; {connected} and {others} end otherwise; "
            f"{totals['bytes_gained']:+,} bytes, {totals['seconds_saved']:+.6g} s saved by "
            f"transfers that are done in both; bursts of data or ACKs lost: {lost[0]:,}, then "
            f"{lost[1]:,}"
        )
    print(
        f"seed {found.first.seed} · fingerprint {found.first.fingerprint}, then "
        f"{found.other.fingerprint}" + (": the same run" if found.same else "")
    )


def _connection(row: dict[str, Any]) -> list[str]:
    def second(value: float | None) -> str:
        return "-" if value is None else f"{value:.6f} s"

    at = row["different_ps"] if row["different_ps"] is not None else row["cwnd_ps"]
    windows = [row[f"cwnd_{side}"] for side in ("first", "other")]
    return [
        str(row["connection"]),
        "in it" if row["aboard"] else "",
        "-" if at is None else f"{at * 1e-12:.6f} s",
        f"{row['bytes_first']:,}",
        f"{row['bytes_other'] - row['bytes_first']:+,}",
        second(row["received_first_s"]),
        second(row["received_other_s"]),
        f"{row['timeouts_first']} -> {row['timeouts_other']}",
        " -> ".join("-" if window is None else f"{window:.4g}" for window in windows),
    ]


def _burst(row: dict[str, Any]) -> list[str]:
    def fate(side: str) -> str:
        if row[f"burst_{side}"] is None:
            return "is not there"
        what = str(row[f"fate_{side}"])
        return f"{what} ({row[f'cause_{side}']})" if what == "lost" else what

    numbers = [row[f"burst_{side}"] for side in ("first", "other")]
    return [
        *("-" if number is None else str(number) for number in numbers),
        *(str(row[name] or "") for name in ("from", "to")),
        f"{row['closed_ps'] * 1e-12:.6f} s",
        fate("first"),
        fate("other"),
    ]
