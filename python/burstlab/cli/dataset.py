"""``burstlab dataset``: what reproductions ran, as a set that can be cited."""

from __future__ import annotations

import json

from burstlab.cli.flags import Json, Switch, Whole


def dataset(
    *targets: str,
    quick: Switch = False,
    full: Switch = False,
    seed: Whole = None,
    jobs: Whole = None,
    prices: Whole = None,
    out: str,
    force: Switch = False,
    json_: Json = False,
) -> int:
    """Run the grids of targets, and write runs, time-outs, reductions and prices as Parquet.

    Parameters
    ----------
    targets
        Targets of burstlab reproduce with a grid (default: today/stacks, today/ends,
        today/nsfnet and today/wlan).
    quick
        Short runs (this is the default).
    full
        Runs as long as the plans state.
    seed
        Seed of all random decisions, 0 to 2^63 - 1; else that of the plans.
    jobs
        Replications at a time (default: one per processor); it changes no number.
    prices
        Number of lost bursts to price, of the first replication of each run (default: 5; 0: none).
    out
        Directory for runs.parquet, events.parquet, prices.parquet and the card, README.md.
    force
        Replace the set in that directory.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.cli.printing import say
    from burstlab.dataset import TARGETS, make
    from burstlab.errors import InputError
    from burstlab.running.progress import bar

    if quick and full:
        raise InputError("--quick and --full exclude each other\n  fix: give one of them")
    with bar("runs") as watch:
        made = make(
            out,
            targets or TARGETS,
            effort="full" if full else "quick",
            seed=seed,
            jobs=jobs,
            prices=5 if prices is None else prices,
            force=force,
            progress=None if watch is None else lambda share, _label: watch(share),
        )
    if json_:
        found = {"out": str(made.directory), "rows": dict(made.rows), "sha256": dict(made.sums)}
        print(json.dumps(found))
        return 0
    for name, count in made.rows.items():
        say(f"{name}.parquet: {count:,} rows, SHA-256 {made.sums[f'{name}.parquet']}")
    say(f"written to {made.directory}; README.md there says what every column is")
    return 0
