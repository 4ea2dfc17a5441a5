"""``burstlab run``: one scenario."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from burstlab.cli.flags import Json, Names, Settings, Whole

if TYPE_CHECKING:
    from burstlab.results import Result


def run(
    scenario: str,
    /,
    *,
    seed: Whole = None,
    replications: Whole = None,
    set_: Settings = None,
    out: str | None = None,
    trace: Names = None,
    jobs: Whole = None,
    json_: Json = False,
) -> int:
    """Run one scenario and print what became of its flows.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    seed
        Seed of all random decisions, 0 to 2^63 - 1; else that of the scenario.
    replications
        Independent repetitions; the result is then a mean with a 95 % interval.
    set_
        Change a field: path=value, for example --set tcp.window=40. Repeatable; the value is
        read as TOML, a bare word as a string.
    out
        Directory for scenario.toml, summary.json and one Parquet file per table.
    trace
        Tables to record, separated by commas: packets, bursts, cwnd, ledger.
    jobs
        Replications at a time (default: one per processor); it changes no number.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.cli.progress import progress_bar
    from burstlab.errors import Interrupted
    from burstlab.loading import apply_settings, to_document
    from burstlab.results import ready_directory
    from burstlab.simulation import run as simulate

    document = apply_settings(to_document(scenario), set_ or [])
    directory = ready_directory(out) if out is not None else None
    interrupted = False
    with progress_bar(f"running {scenario}") as progress:
        try:
            result = simulate(
                document,
                seed=seed,
                replications=replications,
                trace=_names(trace),
                jobs=jobs,
                progress=progress,
            )
        except Interrupted as stop:
            result, interrupted = stop.result, True
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if directory is not None and result.replications:
        result.write(directory)
    if json_:
        print(json.dumps(result.summary, allow_nan=False))
    else:
        _print_table(result)
        if directory is not None:
            print(f"written to {directory}")
    if interrupted:
        print("interrupted: the numbers are those of what was done", file=sys.stderr)
    return 130 if interrupted else 0


def _names(trace: list[str] | None) -> list[str]:
    return [name.strip() for item in trace or [] for name in item.split(",") if name.strip()]


_COLUMNS = (
    ("goodput", "goodput_bps"),
    ("sent", "packets_sent"),
    ("resent", "retransmissions"),
    ("time-outs", "timeouts"),
    ("of these false", "false_timeouts"),
    ("fast resends", "fast_retransmits"),
)


_FLOWS_SHOWN = 20


def _print_table(result: Result) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    if not result.replications:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("flow")
    table.add_column("variant")
    for title, _ in _COLUMNS:
        table.add_column(title, justify="right")
    several = len(result.replications) > 1
    flows = result.replications[0].summary["flows"]
    for index, flow in enumerate(flows[:_FLOWS_SHOWN]):
        number = f"{flow['id']} " if len(flows) > 1 else ""
        cells = [f"{number}{flow['label']}", str(flow["variant"])]
        for _, name in _COLUMNS:
            values = [one.summary["flows"][index].get(name) for one in result.replications]
            cells.append(_cell(name, values, several))
        table.add_row(*cells)
    # A pipe has no width; give the table what it needs.
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    if len(flows) > _FLOWS_SHOWN:
        print(f"... and {len(flows) - _FLOWS_SHOWN} more flows; --json and --out have all\n")
    print(_caption(result))


def _cell(name: str, values: list[Any], several: bool) -> str:
    from burstlab.statistics import mean_ci95

    if any(value is None for value in values):
        return "-"
    if not several:
        return rate(values[0]) if name.endswith("_bps") else f"{values[0]:,}"
    estimate = mean_ci95([float(value) for value in values])
    if name.endswith("_bps"):
        return f"{rate(estimate.mean)} ± {rate(estimate.ci95 or 0.0)}"
    return f"{_count(estimate.mean)} ± {_count(estimate.ci95 or 0.0)}"


def _count(mean: float) -> str:
    return f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}"


def rate(bits_per_second: float) -> str:
    """Write a rate with a unit that suits its size."""
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if abs(bits_per_second) >= size:
            return f"{bits_per_second / size:.4g} {unit}"
    return f"{bits_per_second:.4g} b/s"


def _caption(result: Result) -> str:
    summary = result.summary
    counters = result.counters
    lines = [
        (
            f"seed {result.seed} · {len(result.replications)} replication(s) · "
            f"{summary['simulated_s']:g} s simulated in {result.wall_s:.2g} s · "
            f"fingerprint {result.fingerprint}"
        )
    ]
    if counters.get("bursts_sent"):
        share = counters["bursts_lost"] / counters["bursts_sent"]
        lines.append(
            f"{counters['bursts_sent']:,} bursts sent, {counters['bursts_lost']:,} lost "
            f"({share:.3%})"
        )
    return "\n".join(lines)
