"""The numbers that Python adds to a run have rows in the page of metrics, and no others do."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq

import burstlab as bl
from burstlab.dataset.columns import KEY, TABLES

SCENARIO = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
    "flows": [{}, {"start": "10 ms"}],
    "run": {"duration": "1 s"},
}


def rows(root: Path) -> set[str]:
    text = (root / "docs/reference/metrics.md").read_text()
    part = text.split("\n## Made in Python\n")[1]
    found: set[str] = set()
    for line in part.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            assert len(cells) == 5 and all(cells), line
            found.update(re.findall(r"`([^`]+)`", cells[0]))
    return found


def test_each_number_that_python_adds_has_a_row_and_each_row_is_one(root, tmp_path):
    one = bl.run(SCENARIO, replications=1)
    several = bl.run(SCENARIO, replications=2)
    # Rust compares the numbers of the engine.
    ours = {*one.summary, *several.summary} - {"counters", "flows", "replications", "summary"}
    ours |= {f"summary.{name}" for entry in several.summary["summary"].values() for name in entry}
    ours |= study_columns(tmp_path)
    ours |= surgery_columns()
    ours |= dataset_columns()
    assert ours == rows(root)


def dataset_columns() -> set[str]:
    """Return the columns of a data set, but for those that name the run."""
    key = {one.name for one in KEY}
    return {
        f"dataset.{table}.{one.name}"
        for table, columns in TABLES.items()
        for one in columns
        if one.name not in key
    }


def surgery_columns() -> set[str]:
    """Return the numbers about two runs that part, and about the prices of lost bursts."""
    # Of a path the burst with number 10 is there in any run of this length.
    asked = bl.what_if(SCENARIO, kill=10)
    priced = bl.blame(SCENARIO)
    tables = {"connections": asked.connections, "bursts": asked.bursts, "prices": priced.prices}
    found = {f"{table}.{name}" for table, all in tables.items() for name in all.columns}
    general = {"burstlab", "seed", "fingerprint", "wall_s", "replication"}
    found |= {f"what-if.{name}" for name in asked.summary.keys() - general}
    found |= {f"blame.{name}" for name in priced.summary.keys() - (general - {"replication"})}
    return found


def study_columns(where: Path) -> set[str]:
    """Return the columns of the tables of a study, but for metrics and parameters."""
    plan = {
        "scenario": SCENARIO,
        "schemes": {"short": {}, "long": {"edge.timer": "10 ms"}},
        "warmup": {"series": "delivered", "interval": "10 ms", "pilots": 1},
        "grid": {"tcp.window": [10]},
        "metrics": ["flows.mean.goodput_bps"],
        "replications": 2,
    }
    found = bl.study(plan, out=where / "study", report=False)
    names = {path.stem: pq.read_schema(path).names for path in (where / "study").glob("*.parquet")}
    assert set(names) == {"runs", "estimates", "differences"}
    known = {"tcp.window", "flows.mean.goodput_bps"}
    assert known <= set(found.runs.columns)
    return {f"{table}.{name}" for table, all in names.items() for name in all if name not in known}
