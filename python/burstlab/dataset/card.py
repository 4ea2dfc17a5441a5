"""The card of a data set: its content, the command that makes it again, and its licence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burstlab import _core
from burstlab.dataset.columns import ROW, TABLES

#: The licence of the program, and so of its output.
LICENCE = "MIT OR Apache-2.0"

_LIMITS = """\
* Simulated, not measured in a network. The documentation of this version defines senders, edges and
  cores. The series `today/kernel` compares senders with recordings of a kernel.
* Runs of one `group`, `point` and `replication` share their random numbers, so that series are to
  be compared in pairs; their rows are not independent of one another.
* A series with only the name of its sender has no detector. A detector spares a sender of 2004
  (Reno, SACK) the slow start after a time-out; it spares a Linux sender the whole reduction.
* Prices are of the first replication alone, and of a simple random sample of its lost bursts, by
  `of_lost` of how many. A price is of sparing one burst; prices do not add up.
* Where nothing is missing at an event, `burst`, `node` and `lost_ps` are null."""


def card(
    recipe: str,
    titles: Mapping[str, str],
    seeds: Sequence[int],
    rows: Mapping[str, int],
    sums: Mapping[str, str],
) -> str:
    """Write the card.

    Parameters
    ----------
    recipe
        The command that makes the set again.
    titles
        The subject of each target, by its name.
    seeds
        Seeds of its runs.
    rows
        How many rows each table has.
    sums
        SHA-256 of each file.
    """
    parts = [
        "# TCP over optical burst switching: runs, time-outs, reductions and prices of lost bursts",
        _about(titles),
        "## Recipe",
        f"```sh\n{recipe}\n```",
        f"Made by burstlab {_core.__version__}, seed {', '.join(map(str, seeds))}. The same "
        "version, command and seed give the same rows. Each run has its fingerprint, of scenario, "
        "seed and results, in `runs`; `settings` there is what it sets in the scenario of its "
        "plan.",
        "## Files",
        _files(rows, sums),
        *(_table(name) for name in TABLES),
        "## Limits",
        _LIMITS,
        "## Licence",
        f"{LICENCE}, at your choice, as the program that made it.",
        "## How to cite",
        f"Burstlab {_core.__version__}, data set {', '.join(f'`{name}`' for name in titles)}, with "
        "the SHA-256 of the file.",
    ]
    return "\n\n".join(parts) + "\n"


def _about(titles: Mapping[str, str]) -> str:
    return "\n".join(f"* `{name}`: {title}" for name, title in titles.items())


def _files(rows: Mapping[str, int], sums: Mapping[str, str]) -> str:
    lines = ["| file | rows | one row is | SHA-256 |", "|---|---|---|---|"]
    for name, count in rows.items():
        file = f"{name}.parquet"
        lines.append(f"| `{file}` | {count:,} | {ROW[name]} | `{sums[file]}` |")
    return "\n".join(lines)


def _table(name: str) -> str:
    lines = [f"## Columns of `{name}`", "", "| column | type | unit | is |", "|---|---|---|---|"]
    for one in TABLES[name]:
        lines.append(f"| `{one.name}` | {one.kind} | {one.unit or '1'} | {one.meaning} |")
    return "\n".join(lines)
