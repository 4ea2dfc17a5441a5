"""``burstlab run``: one scenario."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import cli
from burstlab.cli.lean import Lean
from burstlab.cli.numbers import count, rate, seconds
from burstlab.cli.printing import put_document, say, warn
from burstlab.cli.tables import measured
from burstlab.printable import brief, several

if TYPE_CHECKING:
    from burstlab.results import Result


def run(
    scenario: str,
    /,
    *,
    seed: cli.flags.Whole = None,
    replications: cli.flags.Whole = None,
    set_: cli.flags.Settings = None,
    point: cli.flags.Whole = None,
    scheme: str | None = None,
    out: str | None = None,
    force: cli.flags.Switch = False,
    trace: cli.flags.Names = None,
    jobs: cli.flags.Whole = None,
    max_memory: str | None = None,
    checkpoint: str | None = None,
    checkpoint_every: str | None = None,
    resume: cli.flags.Switch = False,
    allow_code: cli.flags.Switch = False,
    json_: cli.flags.Json = False,
) -> int:
    """Run one scenario and print the results of its flows.

    Parameters
    ----------
    scenario
        The TOML file of the scenario, or with --point the directory of a study.
    seed
        Seed of all random decisions, 0 to 2^63 - 1; else that of the scenario.
    replications
        Independent repetitions (default: that of the scenario, else 1); the result is then a mean
        with a 95 % interval.
    set_
        Change a field: path=value, for example --set tcp.window=40. Repeatable; the value is
        read as TOML, a bare word as a string.
    point
        For a study, repeat the runs of this point with their warm-up, seed and replications.
    scheme
        For a study, the scheme to run.
    out
        Directory for scenario.toml, summary.json and one Parquet file per table; one that holds
        a result is refused.
    force
        Replace the result in that directory, once this one is complete.
    trace
        Tables to record, separated by commas: packets, bursts, cwnd, ledger, and datagrams (the
        bytes of packets of third-party hosts) (default: none).
    jobs
        Replications at a time (default: one per processor); it changes no number.
    max_memory
        In place of run.max_memory, such as "2 GB".
    checkpoint
        Directory for checkpoints, from which --resume continues; not with --trace.
    checkpoint_every
        Wall time from one checkpoint to the next (default: "60 s").
    resume
        Continue from the checkpoints, however that run ended; it changes no number.
    allow_code
        Execute Python code that is stored in the scenario itself, or came with a result or a study;
        read it before. Code in files that your own scenario names needs no permission.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import EngineError, InputError, MemoryExceeded
    from burstlab.results import Interrupted
    from burstlab.running import lazy_load
    from burstlab.running.checkpoints import EVERY
    from burstlab.simulation import run as simulate

    if checkpoint is None and (resume or checkpoint_every is not None):
        flag = "--resume" if resume else "--checkpoint-every"
        raise InputError(f"{flag} needs checkpoints\n  fix: add --checkpoint DIR")
    lazy_load.want("burstlab.cli.mesh", "burstlab.cli.slots")
    document = _document((scenario, point, scheme), set_, (seed, replications, max_memory))
    interrupted = False
    try:
        result = simulate(
            document,
            seed=seed,
            replications=replications,
            trace=_names(trace),
            out=out,
            force=force,
            jobs=jobs,
            progress=True,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every or EVERY,
            resume=resume,
            allow_code=allow_code,
            announce=lambda line: warn(f"warning: {line}"),
        )
    except Interrupted as stop:
        result, interrupted = stop.result, True
    except (EngineError, MemoryExceeded) as error:
        if error.result is not None and error.result.replications:
            print_partial(error.result, json_=json_)
        raise
    _print(result, json_=json_)
    if interrupted:
        on = "" if checkpoint is None else "; --resume goes on"
        print(f"interrupted: the numbers cover only the part that was done{on}", file=sys.stderr)
    return 130 if interrupted else 0


def print_partial(result: Result, *, json_: bool) -> None:
    """Print the result of a run that an error has stopped."""
    _print(result, json_=json_)
    print("stopped: the numbers are those of what was done", file=sys.stderr)


def _print(result: Result, *, json_: bool) -> None:
    print_warnings(result)
    if json_:
        put_document(result.document())
        return
    print_tables(result)
    if result.directory is not None:
        say(f"written to {result.directory}")


def _document(
    which: tuple[str, int | None, str | None],
    settings: list[str] | None,
    flags: tuple[int | None, int | None, str | None],
) -> dict[str, Any]:
    """Return the scenario with its settings; refuse settings that repeat a flag."""
    from burstlab.loading import set_by_flags, to_document

    seed, replications, memory = flags
    own = [] if memory is None else [f"run.max_memory={memory}"]
    given = set_by_flags(settings, seed=seed, replications=replications, max_memory=memory)
    return to_document(_given(*which), [*given, *own])


def _given(scenario: str, point: int | None, scheme: str | None) -> str | Mapping[str, Any]:
    """Return the file of the scenario, or the scenario of a point of a study."""
    from burstlab.errors import InputError

    if point is not None:
        from burstlab.studies import read

        return read(scenario).scenario(point, scheme)
    if (Path(scenario) / "study.json").is_file():
        from burstlab import again

        fix = f"{again.of_first_point(Path(scenario), None)} runs one of its points"
        raise InputError(f"{scenario}: a study is given without a point\n  fix: {fix}")
    if scheme is not None:
        raise InputError(
            "--scheme needs a point of a study\n  fix: add --point, or leave out --scheme"
        )
    return scenario


def _names(trace: list[str] | None) -> list[str]:
    return [name.strip() for item in trace or [] for name in item.split(",") if name.strip()]


_COLUMNS = (
    ("goodput", "goodput_bps"),
    ("sent", "packets_sent"),
    ("retransmitted", "retransmissions"),
    ("time-outs", "timeouts"),
    ("false time-outs", "false_timeouts"),
    ("fast retransmits", "fast_retransmits"),
)


_FLOWS_SHOWN = 20


def print_warnings(result: Result) -> None:
    """Print the warnings of a result to the standard error output, which --json leaves as it is."""
    for warning in result.warnings:
        warn(f"warning: {warning}")


def print_tables(result: Result) -> None:
    """Print the flows of a result, and its other tables."""
    from burstlab.cli import mesh, pacing, slots, speed

    if not result.replications:
        return
    flows = result.replications[0].summary["flows"]
    if flows:
        print(_flow_table(result, flows[:_FLOWS_SHOWN]))
    if len(flows) > _FLOWS_SHOWN:
        more = several(len(flows) - _FLOWS_SHOWN, "more flow")
        print(f"... and {more}; --json and --out have all\n")
    demands = (mesh.offered(result), mesh.demands(result), mesh.slowdowns(result))
    for made in (
        *demands,
        mesh.air(result),
        mesh.classes(result),
        mesh.fibres(result),
        slots.outputs(result),
    ):
        if made is not None:
            print(made)
    for part in (mesh, slots, pacing, speed):
        for line in part.lines(result):
            say(line)
    for one in result.replications[0].summary.get("stacks", []):
        say(f"{one['label']}: {one['crate']} {one['version']} ({one['source']})")
    print(_caption(result))


def _flow_table(result: Result, flows: Sequence[Mapping[str, Any]]) -> Lean:
    finite = any(flow.get("bytes") is not None for flow in flows)
    titles = [title for title, _ in _COLUMNS] + (["complete after"] if finite else [])
    made = Lean(["flow", "variant"], titles)
    for index, flow in enumerate(flows):
        number = f"{flow['id']} " if len(flows) > 1 else ""
        found = [one.summary["flows"][index] for one in result.replications]
        cells = [
            measured(found, name, rate if name.endswith("_bps") else count) for _, name in _COLUMNS
        ]
        if finite:
            cells.append(_completed(found))
        made.add_row(f"{number}{brief(flow['label'])}", str(flow["variant"]), *cells)
    return made


def _completed(found: Sequence[Mapping[str, Any]]) -> str:
    """Return after what time all of a transfer was at its receiver, from the start of its flow."""
    if any(flow.get("bytes") is None for flow in found):
        return "endless"
    return measured(found, "received_after_s", seconds, unknown="not complete")


def _caption(result: Result) -> str:
    counters = result.counters
    lines = [
        (
            f"seed {result.seed} · {several(len(result.replications), 'replication')} · "
            f"{result.simulated_s:g} s simulated in {result.wall_s:.2g} s · "
            f"fingerprint {result.fingerprint}"
        )
    ]
    if counters.get("bursts_sent") and not result.network:
        sent = [
            f"{several(counters[f'{kind}_sent'], *names)} sent, {counters[f'{kind}_lost']:,} lost "
            f"({counters[f'{kind}_lost'] / counters[f'{kind}_sent']:.3%})"
            for kind, names in (
                ("bursts", ("data burst",)),
                ("ack_bursts", ("burst of ACKs", "bursts of ACKs")),
            )
            if counters.get(f"{kind}_sent")
        ]
        lines.append("; ".join(sent))
    return "\n".join(lines)
