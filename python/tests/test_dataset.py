"""A data set: what runs did, as Parquet, with a card that says what every column is."""

from __future__ import annotations

import json
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest

import burstlab as bl
import burstlab.papers
from burstlab.dataset import make
from burstlab.dataset.columns import TABLES
from burstlab.loading import read_toml, to_document

SCENARIO = """
[access]
rate = "20 Mb/s"

[edge]
assembly = "timer"
timer = "5 ms"

[[flows]]
count = 2

[loss.data]
process = "bernoulli"
probability = 0.03

[run]
duration = "3 s"
seed = 4
"""

PLANS = """
[paper]
key = "small"
authors = "nobody"
title = "A grid of two by two"
venue = "a test"

[grid]
title = "Two senders, two losses"
scenario = "path.toml"
quick = { duration = "3 s", warmup = "0 s", first = 2, batch = 2, most = 2, precision = 1 }
full = { duration = "6 s", warmup = "0 s", first = 2, batch = 2, most = 2, precision = 1 }

[grid.grid]
points = [
  { label = "none", x = 0, set = { "loss.data.probability" = 0 } },
  { label = "3 %", x = 0.03, set = { "loss.data.probability" = 0.03 } },
]
series = [
  { label = "Reno", set = { "tcp.variant" = "reno" } },
  { label = "CUBIC", set = { "tcp.variant" = "linux", "tcp.profile" = "linux" } },
]

[formulas]
title = "Nothing runs"
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    where = tmp_path / "papers" / "small"
    where.mkdir(parents=True)
    (where / "path.toml").write_text(SCENARIO)
    (where / "plans.toml").write_text(PLANS)
    monkeypatch.setattr(burstlab.papers, "__path__", [str(where.parent)])


def rows(where, name):
    return pq.read_table(where / f"{name}.parquet").to_pylist()


def test_rows_are_what_runs_did(small, tmp_path):
    made = make(tmp_path / "set", ["small/grid"], prices=3)
    runs, events = rows(tmp_path / "set", "runs"), rows(tmp_path / "set", "events")
    prices = rows(tmp_path / "set", "prices")
    assert made.rows == {"runs": 8, "events": len(events), "prices": len(prices)}
    # One of them, run by itself.
    shown = next(
        row
        for row in runs
        if (row["point"], row["series"], row["replication"]) == ("3 %", "CUBIC", 1)
    )
    settings = json.loads(shown["settings"])
    assert settings["loss.data.probability"] == 0.03
    sets = [f"{path}={json.dumps(value)}" for path, value in settings.items()]
    scenario = to_document(
        tmp_path / "papers" / "small" / "path.toml", [one.replace('"', "") for one in sets]
    )
    result = bl.run(scenario, replications=2, trace="ledger")
    summary = result.replications[1].summary
    assert shown["fingerprint"] == summary["fingerprint"]
    stored = json.loads(shown["scenario"])
    assert stored == {**result.scenario, "run": {**stored["run"], "replications": 2}}
    assert stored["run"]["tie_break"] == "fixed"
    assert shown["goodput_bps"] == sum(flow["goodput_bps"] for flow in summary["flows"])
    # Every time-out and every reduction has its row.
    of = Counter((row["point"], row["series"], row["replication"]) for row in events)
    outs = Counter(
        (row["point"], row["series"], row["replication"])
        for row in events
        if row["kind"] == "timeout"
    )
    for row in runs:
        key = row["point"], row["series"], row["replication"]
        assert outs[key] == row["timeouts"], key
        classes = [name for name in row if name.startswith("reductions_")]
        reduced = sum(row[name] for name in classes if not name.endswith(("excused", "undone")))
        assert of[key] >= reduced, key
    assert all(row["reduction"] != "none" or row["kind"] == "timeout" for row in events)
    assert {row["point"] for row in prices} == {"3 %"}
    # A price is that of sparing the burst by itself.
    one = next(row for row in prices if row["series"] == "Reno" and row["direction"] == "data")
    reno = bl.what_if(
        {**scenario, "tcp": {"variant": "reno"}}, spare=one["burst"], replication=0, trace=()
    )
    assert reno.divergence.totals["bytes_gained"] == one["bytes"]


def test_the_card_explains_every_column_and_the_set_is_the_same_again(small, tmp_path, root):
    first = make(tmp_path / "first", ["small/grid"], prices=2, jobs=1)
    again = make(tmp_path / "again", ["small/grid"], prices=2, jobs=2)
    assert first.sums == again.sums
    text = (tmp_path / "first" / "README.md").read_text()
    assert text == (tmp_path / "again" / "README.md").read_text()
    for name, columns in TABLES.items():
        arrow = pq.read_schema(tmp_path / "first" / f"{name}.parquet")
        assert arrow.names == [one.name for one in columns]
        part = text.split(f"## Columns of `{name}`")[1].split("\n## ")[0]
        assert re.findall(r"^\| `([^`]+)`", part, re.M) == arrow.names
        assert f"`{first.sums[f'{name}.parquet']}`" in text
        for field, one in zip(arrow, columns, strict=True):
            assert field.metadata == {b"unit": one.unit.encode(), b"is": one.meaning.encode()}
    assert "burstlab dataset small/grid --quick --prices 2 --out DIR" in text
    assert read_toml(root / "pyproject.toml")["project"]["license"] in text


def test_what_is_asked_wrong_is_refused(small, tmp_path, burstlab):
    for words, shown in (
        (["small/formulas"], "has no grid"),
        (["small/gird"], "small/grid"),
        (["small/grid", "--prices", "-1"], "prices = -1"),
        (["small/grid", "--quick", "--full"], "exclude"),
    ):
        answer = burstlab("dataset", *words, "--out", tmp_path / "set")
        assert answer.status == 2, words
        assert shown in answer.err
        assert "fix:" in answer.err
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine.txt").write_text("mine")
    for more in ([], ["--force"]):
        answer = burstlab("dataset", "small/grid", "--out", tmp_path / "kept", *more)
        assert answer.status == 2
        assert "the directory is not empty" in answer.err
    assert burstlab("dataset", "small/grid", "--prices", 0, "--out", tmp_path / "set").status == 0
    assert burstlab("dataset", "small/grid", "--prices", 0, "--out", tmp_path / "set").status == 2
    again = burstlab("dataset", "small/grid", "--prices", 0, "--out", tmp_path / "set", "--force")
    assert again.status == 0


def test_the_price_of_an_event_is_that_of_its_burst_with_data(small, tmp_path):
    """On a path bursts of ACKs have the same numbers, and prices of their own."""
    scenario = SCENARIO + '\n[loss.ack]\nprocess = "bernoulli"\nprobability = 0.2\n'
    (tmp_path / "papers" / "small" / "path.toml").write_text(scenario)
    make(tmp_path / "set", ["small/grid"], prices=1000)
    prices = {}
    for row in rows(tmp_path / "set", "prices"):
        assert row["replication"] == 0
        key = row["point"], row["series"], row["direction"], row["burst"]
        assert key not in prices
        prices[key] = row["bytes"]
    collide = shown = 0
    for row in rows(tmp_path / "set", "events"):
        key = row["point"], row["series"]
        price = prices.get((*key, "data", row["burst"])) if row["replication"] == 0 else None
        assert row["price_bytes"] == price
        other = prices.get((*key, "ack", row["burst"]))
        collide += other is not None and other != price
        shown += price is not None
    assert shown > 5 and collide > 5
    # The burst of an event is one with data: it is in the table of bursts as such.
    settings = {"tcp.variant": "reno", "loss.data.probability": 0.03}
    sets = [f"{path}={value}" for path, value in settings.items()]
    document = to_document(tmp_path / "papers" / "small" / "path.toml", sets)
    result = bl.run(document, replications=1, trace=("bursts", "ledger"))
    lost = {row["burst"]: row for row in result.bursts.where(direction="data").to_pylist()}
    for row in rows(tmp_path / "set", "events"):
        if (row["point"], row["series"], row["replication"]) != ("3 %", "Reno", 0):
            continue
        if row["burst"] is not None:
            assert (lost[row["burst"]]["fate"], lost[row["burst"]]["lost_ps"]) == (
                "lost",
                row["lost_ps"],
            )
