"""``burstlab blame``: which lost burst cost the most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.cli.flags import Json, Settings, Switch, Whole
from burstlab.cli.printing import console, put_document, say
from burstlab.cli.tables import table
from burstlab.printable import several

if TYPE_CHECKING:
    from burstlab.surgery import Blame


def blame(
    source: str,
    /,
    *,
    flow: Whole = None,
    top: Whole = None,
    sample: Whole = None,
    horizon: str | None = None,
    set_: Settings = None,
    seed: Whole = None,
    replication: Whole = None,
    jobs: Whole = None,
    out: str | None = None,
    resume: Switch = False,
    figure: str | None = None,
    json_: Json = False,
) -> int:
    """Price each lost burst of a run: the bytes that connections gain if it alone arrives.

    Parameters
    ----------
    source
        A result that burstlab run wrote with --out, or the TOML file of a scenario.
    flow
        Price only bursts that had packets or ACKs of this flow, from 0 (default: of any).
    top
        How many of the most expensive ones to print (default: 20).
    sample
        Price so many of them, drawn by the seed (default: all).
    horizon
        Simulated time after the loss for which its price is counted, such as "2 s" (default: to
        the end of the run; only this is the whole price).
    set_
        For a scenario, change a field: path=value. Repeatable.
    seed
        For a scenario, its seed.
    replication
        Number of the replication (default: the first).
    jobs
        Runs at a time (default: one per processor); it changes no number.
    out
        Directory for prices.parquet and blame.json; prices are kept there as they become known.
    resume
        Continue with the prices in that directory.
    figure
        File for a figure of the distribution of prices; .svg, .pdf or .png.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.running.progress import bar
    from burstlab.storage.directories import ready_file
    from burstlab.surgery import blame as price
    from burstlab.surgery.source import with_settings

    if figure is not None:
        ready_file(Path(figure), "--figure")

    with bar("bursts that were lost") as watch:
        found = price(
            with_settings(source, set_, seed=seed),
            flow=flow,
            sample=sample,
            horizon=horizon,
            seed=seed,
            replication=replication,
            jobs=jobs,
            out=out,
            resume=resume,
            progress=watch,
        )
    count = 20 if top is None else max(top, 0)
    if figure is not None:
        from burstlab.plot import write
        from burstlab.plot.prices import price_chart

        write(price_chart(found), figure)
    if json_:
        put_document({**found.summary, "top": found.top(count)})
        return 0
    _print(found, count)
    for path in (out, figure):
        if path is not None:
            say(f"written to {path}")
    return 0


def _print(found: Blame, count: int) -> None:
    words = ["burst", "cause"]
    numbers = ["lost at", "node", "aboard", "seconds", "indirect", "bytes", "indirect", "touched"]
    made = table(words, numbers)
    for row in found.top(count):
        made.add_row(
            f"ack:{row['burst']}"
            if found.apart and row["direction"] == "ack"
            else str(row["burst"]),
            row["cause"],
            f"{row['lost_ps'] * 1e-12:.6f} s",
            str(row["node"]),
            str(row["connections"]),
            f"{row['seconds']:+.6f}",
            f"{row['seconds_indirect']:+.6f}",
            f"{row['bytes']:+,}",
            f"{row['bytes_indirect']:+,}",
            str(row["different"]),
        )
    console().print(made)
    of = f"a sample of {len(found.prices):,}" if found.sampled else "all"
    until = "to the end of the run"
    if found.horizon_s is not None:
        until = f"{found.horizon_s:g} s after each loss, and nothing that a loss does later"
    whose = "connections" if found.flow is None else f"flow {found.flow}"
    lost = several(found.lost, "lost burst")
    print(f"{lost} with packets of {whose}, {of} priced {until}")
    sums = found.sums
    together = "together" if found.flow is None else "that were lost, of any flow"
    for name, unit, form in (("seconds", "s", "+,.6g"), ("bytes", "bytes", "+,.0f")):
        whole, indirect = sums[name], sums[f"{name}_indirect"]
        half = f" ± {whole.ci95:,.3g}" if whole.ci95 else ""
        print(
            f"  the sum of their prices: {whole.mean:{form}}{half} {unit}, of which "
            f"{indirect.mean:{form}} of connections with nothing in the burst; the price of all "
            f"{together}: {found.all[name]:{form}} {unit}"
        )
    print(f"seed {found.seed} · fingerprint {found.fingerprint} · {found.wall_s:.3g} s")
